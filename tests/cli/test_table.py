"""`ziggurat table`: one row for each person, one table of two, for the steward alone."""

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ziggurat.data import Schema, read

Command = Callable[..., Any]
VISITS = """\
patient_id,visit_date,age,diagnosis,bmi,cost,smoker
p1,2024-01-01,34,flu,22.5,12.35,yes
p1,2024-03-01,34,asthma,23.5,900,no
p2,2024-02-02,71,flu,,50,no
,2024-02-02,50,flu,20,50,no
p3,2024-05-01,36,flu,30,10,yes
p4,2024-05-02,72,asthma,31,20,no
"""
SCHEMA = """
name: visits
unit: {person: patient_id}
columns:
  patient_id: {kind: text, role: identifier}
  visit_date: {kind: date}
  age: {kind: integer, role: quasi-identifier, bounds: [0, 120]}
  diagnosis: {kind: category, role: sensitive, categories: [asthma, flu]}
  bmi: {kind: real, bounds: [10, 60]}
  cost: {kind: real, bounds: [0, 500]}
  smoker: {kind: boolean}
"""
RESHAPE = ("table", "reshape", "visits.csv", "--latest", "visit_date")


@pytest.fixture
def run(command: Command) -> Command:
    """Commands in a folder with visits and laboratory values."""
    Path("visits.csv").write_text(VISITS)
    Path("visits.yaml").write_text(SCHEMA)
    Path("labs.csv").write_text("pid,hb,bmi\np1,14,20\np9,12,21\n")
    return command


def _rows(file: str) -> list[dict[str, Any]]:
    return read(file, Path(file).with_suffix(".yaml")).raw.rows().to_pylist()


@pytest.mark.parametrize("out", ["patients.parquet", "patients.csv"])
def test_the_latest_row_of_everybody_is_written_with_its_schema_for_its_owner(run: Command, out: str) -> None:
    told = run(*RESHAPE, "--out", out)
    assert (told.code, told.err) == (0, "")
    assert [(row["patient_id"], row["diagnosis"]) for row in _rows(out)] == [
        ("p1", "asthma"),
        ("p2", "flu"),
        ("p3", "flu"),
        ("p4", "asthma"),
    ]
    for file in (out, "patients.yaml"):
        assert stat.S_IMODE(Path(file).stat().st_mode) == 0o600
    assert "6 rows of 4 people became 4 rows; 1 row of nobody left out (exact, for the steward only)." in told.out
    assert f"ziggurat anonymize {out}" in told.out
    assert "ziggurat ledger register patients" in told.out


def test_every_option_adds_its_column(run: Command) -> None:
    options = (
        *(
            "--count",
            "visits",
            "--count",
            "weighed=bmi",
            "--count-where",
            "diagnosis=flu",
            "--count-where",
            "a=diagnosis=asthma",
        ),
        *("--sum", "total=cost", "--mean", "bmi,cost", "--min", "bmi", "--max", "bmi", "--latest-of", "bmi"),
        *("--first-of", "bmi", "--mode", "diagnosis", "--distinct", "diagnosis", "--any", "smoker", "--all", "smoker"),
    )
    assert run(*RESHAPE, *options, "--columns", "age", "--most", "20", "--out", "p.parquet").code == 0
    assert _rows("p.parquet")[0] == {
        "patient_id": "p1",
        "age": 34,
        "visits": 2,
        "weighed": 2,
        "diagnosis_flu": 1,
        "a": 1,
        "total": 512.35,
        "bmi_mean": 23.0,
        "cost_mean": 256.175,
        "bmi_min": 22.5,
        "bmi_max": 23.5,
        "bmi_latest": 23.5,
        "bmi_first": 22.5,
        "diagnosis_mode": "asthma",
        "diagnosis_distinct": 2,
        "smoker_any": True,
        "smoker_all": False,
    }


def test_aggregates_alone_need_no_row_that_is_kept(run: Command) -> None:
    asked = ("table", "reshape", "visits.csv", "--mean", "bmi", "--first-of", "diagnosis", "--by", "visit_date")
    assert run(*asked, "--out", "p.csv", "--schema-out", "other.yaml").code == 0
    assert Schema.from_yaml(Path("other.yaml")).names == ("patient_id", "bmi_mean", "diagnosis_first")
    assert not Path("p.yaml").exists()


def test_what_anonymize_refuses_it_takes_once_it_is_reshaped(run: Command) -> None:
    asked = ("--k", "2", "--drop", "visit_date,cost,bmi,smoker", "--suppress", "1", "--out")
    refused = run("anonymize", "visits.csv", *asked, "a.parquet")
    assert refused.code == 6
    assert "ziggurat table reshape" in refused.err
    assert "--rows-per-unit" in refused.err
    run(*RESHAPE, "--columns", "age,diagnosis", "--out", "patients.parquet")
    done = run("anonymize", "patients.parquet", "--k", "2", "--suppress", "0.9", "--out", "a.parquet")
    assert (done.code, done.err) == (0, "")


def test_two_tables_become_one(run: Command) -> None:
    run(*RESHAPE, "--out", "patients.parquet")
    told = run("table", "join", "patients.parquet", "labs.csv", "--on", "patient_id=pid", "--out", "both.csv")
    assert (told.code, told.err) == (0, "")
    assert "4 rows and 2 rows became 4 rows of 4 people" in told.out
    first, second, *_ = _rows("both.csv")
    assert (first["hb"], first["bmi"], first["bmi_labs"]) == (14, 23.5, 20)
    assert (second["hb"], second["bmi_labs"]) == (None, None)


def test_json_says_what_was_done_and_marks_what_is_private(run: Command) -> None:
    told = run(*RESHAPE, "--out", "p.csv", "--json")
    found = json.loads(told.out)
    assert (found["out"], found["schema"], told.err) == ("p.csv", "p.yaml", "")
    assert found["private"] == {"rows": 6, "people": 4, "rows_of_nobody": 1, "written": 4}
    assert not any(digit in " ".join(found["said"]) for digit in "0123456789")


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--sum", "cost", "--out", "p.csv"), 2, "--most 20"),
        (("--count", "age", "--most", "3", "--out", "p.csv"), 2, "'age' already"),
        (("--first", "age", "--out", "p.csv"), 2, "one of --latest, --first and --by"),
        (("--count-where", "flu", "--most", "3", "--out", "p.csv"), 2, "--count-where diagnosis=flu"),
        (("--sum", "x=cost", "--sum", "x=bmi", "--most", "3", "--out", "p.csv"), 2, "one name"),
        (("--out", "p.xml"), 6, ".parquet or .csv"),
        (("--out", "visits.csv", "--force"), 6, "what is read"),
        (("--out", "visits.parquet", "--force"), 6, "'visits.yaml' is what is read"),
        (("--out", "nowhere/p.csv"), 6, "create it first"),
        (("--person", "nobody", "--out", "p.csv"), 6, "'nobody'"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_written(
    run: Command, options: tuple[str, ...], code: int, said: str
) -> None:
    before = sorted(Path().iterdir())
    told = run(*RESHAPE, *options)
    assert (told.code, told.out) == (code, "")
    assert said in told.err
    assert len(told.err.strip().splitlines()) == 1
    assert sorted(Path().iterdir()) == before
    assert Path("visits.csv").read_text() == VISITS


def test_columns_need_a_row_that_is_kept(run: Command) -> None:
    told = run("table", "reshape", "visits.csv", "--mean", "bmi", "--columns", "age", "--out", "p.csv")
    assert (told.code, "--latest or --first" in told.err) == (2, True)


def test_nothing_is_replaced_without_force(run: Command) -> None:
    run(*RESHAPE, "--out", "p.csv")
    for change in ("p.csv", "p.yaml"):
        before = Path(change).read_bytes()
        refused = run(*RESHAPE, "--columns", "age", "--out", "p.csv" if change == "p.csv" else "p.parquet")
        assert (refused.code, "--force" in refused.err) == (6, True)
        assert Path(change).read_bytes() == before
    assert run(*RESHAPE, "--columns", "age", "--out", "p.csv", "--force").code == 0


def test_a_second_table_with_several_rows_is_refused_with_the_remedy(run: Command) -> None:
    run(*RESHAPE, "--out", "patients.parquet")
    told = run("table", "join", "patients.parquet", "visits.csv", "--out", "both.csv")
    assert (told.code, "ziggurat table reshape" in told.err) == (6, True)
    assert not Path("both.csv").exists()

"""`ziggurat anonymize` and `ziggurat mask`, as a steward meets them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as parquet
import pytest

from ziggurat.anonymize import KAnonymity, anonymize
from ziggurat.anonymize.generalizing import _solutions as solutions
from ziggurat.cli.anonymize._command import _describe_search
from ziggurat.cli.anonymize._page import outcome

Command = Callable[..., Any]

SCHEMA = """
columns:
  name: {kind: text, role: identifier}
  age: {kind: integer, role: quasi-identifier}
  zip: {kind: text, role: quasi-identifier}
  illness: {kind: text, role: sensitive}
  cost: {kind: integer}
"""
KEPT = ("--keep", "cost")
ILLNESSES = ("flu", "gout", "cold")


def patients(rows: int = 200) -> pa.Table:
    return pa.table(
        {
            "name": [f"secretperson{i}" for i in range(rows)],
            "age": [20 + i * 7 % 41 for i in range(rows)],
            "zip": [f"{81600 + i * 13 % 60}" for i in range(rows)],
            "illness": [ILLNESSES[i % 3] for i in range(rows)],
            "cost": [100 + i for i in range(rows)],
        }
    )


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    csv.write_csv(patients(), tmp_path / "patients.csv")
    (tmp_path / "patients.yaml").write_text(SCHEMA)
    return tmp_path


def test_help_teaches_with_examples(command: Command) -> None:
    shown = command("anonymize", "--help").out
    assert shown.count("ziggurat anonymize ") >= 3
    assert "not differential privacy" in " ".join(shown.split())
    assert "ziggurat mask patients.csv --plan plan.yaml" in command("mask", "--help").out


def test_a_table_from_the_question_to_the_ledger(command: Command, clinic: Path) -> None:
    pictures = ("--picture", "f.png", "--solutions", "all.csv")
    asked = ("--k", "5", "--l", "illness=2", "--suppress", "0.05", "--out", "safe.parquet", "--budget", "patients")
    held = command("anonymize", "patients.csv", *asked, *pictures)
    assert (held.code, list(clinic.glob("safe*")), "patients" in held.out) == (2, [], False)
    assert "with 'cost' beside the quasi-identifiers" in held.err
    made = command("anonymize", "patients.csv", *asked, *pictures, "--keep", "cost=known to the insurer only")
    assert made.code == 0, made.err
    for piece in ("age", "zip", "rows that look alike", "the optimum of", "people who stand alone", "not differential"):
        assert piece in made.out
    assert "The ledger remembers it: entry 2" in made.out
    assert "As they were: illness, cost." in made.out
    assert "by it alone: cost (100%)" in made.out
    assert "Not in the file: name." in made.out
    assert "Kept by decision of the steward: 'cost' (known to the insurer only)." in " ".join(made.out.split())
    shown = parquet.read_table(clinic / "safe.parquet")
    assert shown.column_names == ["age", "zip", "illness", "cost"]
    assert min(shown.group_by(["age", "zip"]).aggregate([([], "count_all")])["count_all"].to_pylist()) >= 5
    assert (clinic / "f.png").read_bytes().startswith(b"\x89PNG")
    assert csv.read_csv(clinic / "all.csv")["satisfied"].to_pylist().count(True) > 0
    assert "1 release without a guarantee" in command("ledger", "show", "patients").out
    judged = command("risk", "patients.csv", "--after", "safe.parquet", "--qi", "age,zip", "--json")
    assert json.loads(judged.out)["after"]["risk"]["uniques"] == 0


def test_the_banner_is_green_only_if_nothing_was_found(command: Command, clinic: Path) -> None:
    asked = ("--k", "5", "--l", "illness=2", "--suppress", "0.05", "--out", "safe.parquet", "--force")
    look = ("risk", "patients.csv", "--after", "safe.parquet", "--report", "page.html", "--force")

    def page(*decided: str) -> str:
        made = command("anonymize", "patients.csv", *asked, *decided)
        assert made.code == 0, made.err
        assert command(*look).code == 0
        return (clinic / "page.html").read_text()

    green, kept = page("--drop", "cost"), page("--keep", "cost=known to the insurer only")
    assert 'class="verdict good"' in green
    assert 'class="verdict "' in kept
    assert "kept by decision of the steward: cost" in kept
    for piece in ("level of age", "loss", "rows suppressed", "known to the insurer only", "not in the file"):
        assert piece in kept
    (clinic / "safe.parquet.certificate.json").unlink()
    assert command(*look).code == 0
    bad = (clinic / "page.html").read_text()
    assert 'class="verdict bad"' in bad
    assert "undone by columns that left as they were: cost" in bad
    assert not any(cell in green + kept + bad for cell in ("secretperson", "81613", "gout"))


def test_too_many_generalisations_to_list_name_the_option(
    command: Command, clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solutions, "MOST_NODES", 1)
    found = command("anonymize", "patients.csv", "--k", "5", "--out", "safe.csv", *KEPT, "--picture", "f.png")
    assert "leave out --picture and --solutions" in found.err
    assert not (clinic / "safe.csv").exists()


def test_no_cell_is_shown(command: Command, clinic: Path) -> None:
    made = command("anonymize", "patients.csv", "--k", "5", "--out", "safe.csv", *KEPT, "--picture", "f.svg")
    assert made.code == 0, made.err
    certificate = (clinic / "safe.csv.certificate.json").read_text()
    for text in (made.out, made.err, certificate, (clinic / "f.svg").read_text()):
        assert not any(cell in text for cell in ("secretperson", "81600", "81613", "gout"))


def test_json_is_the_certificate_and_quiet_is_silent(command: Command, clinic: Path) -> None:
    made = command("anonymize", "patients.csv", "--k", "5", "--out", "safe.csv", *KEPT, "--json")
    assert json.loads(made.out) == json.loads((clinic / "safe.csv.certificate.json").read_text())
    quiet = command("anonymize", "patients.csv", "--k", "5", "--out", "safe.csv", *KEPT, "--quiet", "--force")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")


@pytest.mark.parametrize(
    "options",
    [
        ("--l", "illness=2:entropy"),
        ("--l", "illness=2:recursive:3"),
        ("--t", "illness=0.5"),
        ("--t", "cost=0.4:ordered"),
        ("--t", "illness=0.5:hierarchical", "--hierarchies", "trees"),
        ("--k-map", "3", "--population", "patients.csv"),
        ("--presence", "0:1", "--population", "patients.csv"),
        ("--highest-risk", "0.2", "--metric", "discernibility"),
        ("--average-risk", "0.1", "--metric", "precision", "--weight", "age=2"),
        ("--k", "3", "--recoding", "local"),
        ("--k", "3", "--recoding", "mondrian"),
        ("--k", "3", "--time-limit", "60", "--qi", "age", "--qi", "zip"),
    ],
)
def test_every_model_can_be_asked_for(command: Command, clinic: Path, options: tuple[str, ...]) -> None:
    (clinic / "trees").mkdir()
    (clinic / "trees/illness.csv").write_text("flu;acute;*\ncold;acute;*\ngout;chronic;*\n")
    (clinic / "trees/age.csv").write_text("".join(f"{age};{age // 10}0s;*\n" for age in range(20, 61)))
    made = command("anonymize", "patients.csv", *options, "--suppress", "0.5", "--out", "safe.csv", *KEPT, "--json")
    assert made.code == 0, made.err
    assert json.loads(made.out)["promise"] is None


def test_hierarchies_come_from_files_and_folders(command: Command, clinic: Path) -> None:
    (clinic / "zip.csv").write_text("".join(f"{code};zone {code % 2};*\n" for code in range(81600, 81660)))
    asked = ("--qi", "zip", "--k", "5", "--hierarchies", "zip.csv", "--drop", "age,cost", "--out", "safe.csv")
    made = command("anonymize", "patients.csv", *asked)
    assert made.code == 0, made.err
    assert "zone 0, zone 1" in made.out
    assert set(csv.read_csv(clinic / "safe.csv")["zip"].to_pylist()) == {"zone 0", "zone 1"}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ((), "Say what classes must satisfy"),
        (("--k", "1"), "at least 2"),
        (("--k", "500"), "500 rows, but the table has 200"),
        (("--k", "5", "--l", "illness"), "must name a column and a number"),
        (("--l", "illness=x"), "is not a number"),
        (("--l", "illness=2:odd"), "l-diversity is written as"),
        (("--l", "illnes=2"), "did you mean 'illness'"),
        (("--t", "illness=0.2:far"), "t-closeness is written as"),
        (("--t", "illness=nan"), "not a number that can be used"),
        (("--k-map", "5"), "need --population"),
        (("--presence", "0.1", "--population", "patients.csv"), "--presence 0.1:0.5"),
        (("--k", "5", "--metric", "los"), "did you mean 'loss'"),
        (("--k", "5", "--weight", "age"), "--weight age=2"),
        (("--k", "5", "--weight", "cost=2"), "not a quasi-identifier"),
        (("--k", "5", "--suppress", "2"), "between 0 and 1"),
        (("--k", "5", "--recoding", "other"), "'global', 'local' or 'mondrian'"),
        (("--k", "5", "--qi", "agee"), "did you mean 'age'"),
        (("--k", "5", "--hierarchies", "none.csv"), "does not exist"),
        (("--k", "5", "--hierarchies", "odd.csv"), "name the file after the column"),
        (("--k", "5", "--hierarchies", "empty"), "no .csv file in the folder"),
        (("--k", "5", "--hierarchies", "age.csv"), "column 'age'"),
        (("--l", "illness=4"), "would have to be"),
        (("--k", "5", "--picture", "f.pdf"), ".svg or .png"),
        (("--k", "5", "--solutions", "none/all.csv"), "create it first"),
        (("--k", "5", "--missing-counts", "illness"), "neither --l nor --t speaks"),
        (("--k", "5", "--keep", "age"), "nothing to decide about it"),
        (("--k", "5", "--keep", "cots"), "did you mean 'cost'"),
        (("--k", "5", "--drop", "age"), "one that the models speak of"),
        (("--k", "5", "--keep", "cost", "--drop", "cost"), "choose one"),
    ],
)
def test_bad_input_is_one_sentence(command: Command, clinic: Path, options: tuple[str, ...], sentence: str) -> None:
    (clinic / "odd.csv").write_text("1;*\n")
    (clinic / "age.csv").write_text("20;*\n")
    (clinic / "empty").mkdir()
    found = command("anonymize", "patients.csv", *options, "--out", "safe.csv")
    assert found.code in (2, 6)
    assert sentence in found.err
    assert found.err.count("\n") == 1
    assert not (clinic / "safe.csv").exists()


def test_a_ledger_that_cannot_be_written_lets_nothing_go(command: Command, clinic: Path) -> None:
    (clinic / "book.db").write_text("this is no ledger, and long enough to be told from an empty file" * 20)
    found = command("anonymize", "patients.csv", "--k", "5", "--out", "safe.csv", *KEPT)
    assert found.code == 4
    assert not (clinic / "safe.csv").exists()


def test_a_search_that_is_stopped_says_how_far_it_may_be_from_the_optimum() -> None:
    draws = np.random.default_rng(0).integers(0, 100, (9, 300))
    names = [f"c{place}" for place in range(len(draws))]

    def stop(_: float, best: float) -> None:
        if np.isfinite(best):
            raise KeyboardInterrupt

    table = pa.table(dict(zip(names, draws, strict=True)))
    made = anonymize(table, KAnonymity(3), quasi_identifiers=names, suppression="0.9", progress=stop)
    assert not made.best.optimal
    assert "stopped early, so this is the best so far" in list(outcome(made))[1]


def test_a_local_recoding_that_is_stopped_says_so(command: Command, clinic: Path) -> None:
    options = ("--k", "3", "--recoding", "local", "--suppress", "0.5", "--out", "safe.csv", *KEPT)
    stopped = command("anonymize", "patients.csv", *options, "--time-limit", "0")
    assert stopped.code == 0, stopped.err
    whole = command("anonymize", "patients.csv", *options, "--force")
    told = "stopped early: every model holds"
    assert [told in " ".join(made.out.split()) for made in (stopped, whole)] == [True, False]


def test_the_bar_says_what_the_search_does() -> None:
    assert _describe_search(0.0, np.inf, 0.2) == "Searching …"
    assert _describe_search(0.0, np.inf, 5.0) == "Compiling the search (once) …"
    assert _describe_search(0.4, 0.25, 5.0) == "Searching, best so far 0.25 (Ctrl-C takes it)"


PLAN = """
name: {technique: keyed-hash, secret: {file: key.txt}}
age: [{technique: top-code, bound: 50}, round-off]
zip: drop
"""


def test_a_plan_masks_columns_and_keeps_the_secret(command: Command, clinic: Path) -> None:
    (clinic / "key.txt").write_text("a secret of enough characters\n")
    (clinic / "plan.yaml").write_text(PLAN.replace("round-off", "{technique: round, base: 10}"))
    made = command("mask", "patients.csv", "--plan", "plan.yaml", "--out", "masked.csv", "--budget", "patients")
    assert made.code == 0, made.err
    shown = csv.read_csv(clinic / "masked.csv")
    assert shown.column_names == ["name", "age", "illness", "cost"]
    assert set(shown["age"].to_pylist()) == {20, 30, 40, 50}
    written = "".join((clinic / name).read_text() for name in ("masked.csv", "masked.csv.mask.json"))
    assert not any(text in written + made.out for text in ("secretperson", "a secret of"))
    assert "without a guarantee" in command("ledger", "show", "patients").out
    assert "Entry 2 of the ledger says for ever that the people in 'patients' were in a release without" in made.out


def test_a_masked_table_about_people_is_always_written_down_and_the_entry_is_said(
    command: Command, clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = command("mask", "patients.csv", "--safe-harbor", "--out", "masked.csv")
    assert "Entry 2 of the ledger says for ever that the people in 'patients'" in made.out
    again = ("--out", "masked.csv", "--force", "--json")
    noted = json.loads(command("mask", "patients.csv", "--safe-harbor", *again).out)["recorded"]
    assert (noted["budget"], noted["seq"]) == ("patients", 3)
    monkeypatch.delenv("ZIGGURAT_LEDGER")
    monkeypatch.setenv("XDG_DATA_HOME", str(clinic / "home"))
    made = command("mask", "patients.csv", "--safe-harbor", "--out", "masked.csv", "--force")
    assert "Entry 2 of the ledger says for ever" in made.out
    assert "without a guarantee" in command("ledger", "show", "patients").out
    (clinic / "plan.yaml").write_text("patient_id: drop\n")
    open_data = command("mask", "clinic", "--plan", "plan.yaml", "--out", "open.csv")
    assert "Nothing was written into a ledger: the table is invented or public." in open_data.out
    assert "clinic" not in command("ledger", "show").out


def test_what_cannot_be_written_is_not_written_down(command: Command, clinic: Path) -> None:
    (clinic / "plan.yaml").write_text("name: {technique: tokens, vault: patients.vault}\n")
    for out in ("nowhere/masked.csv", "masked.csv"):
        assert command("mask", "patients.csv", "--plan", "plan.yaml", "--out", out).code in (2, 6)
    assert not (clinic / "book.db").exists()


def test_safe_harbor_explains_itself(command: Command, clinic: Path) -> None:
    made = command("mask", "patients.csv", "--safe-harbor", "--out", "masked.parquet")
    assert made.code == 0, made.err
    assert "name: A, names: removed." in made.out
    assert "zip: B, places" in made.out
    assert "name" not in parquet.read_schema(clinic / "masked.parquet").names


def test_safe_harbor_keeps_no_postcode_under_another_name(command: Command, clinic: Path) -> None:
    table = pa.table({"post_code": ["81601", "81602"] * 9, "quarter": ["81601", "81602"] * 9, "sex": ["f", "m"] * 9})
    csv.write_csv(table, clinic / "places.csv")
    kinds = "".join(f"  {name}: {{kind: category, categories: [{', '.join(values)}]}}\n" for name, values in (
        ("post_code", ["'81601'", "'81602'"]), ("quarter", ["'81601'", "'81602'"]), ("sex", ["f", "m"])))  # fmt: skip
    (clinic / "places.yaml").write_text(f"columns:\n{kinds}")
    made = command("mask", "places.csv", "--safe-harbor", "--out", "masked.csv")
    assert "quarter: B, places: its cells look like postcodes" in made.out
    assert set(csv.read_csv(clinic / "masked.csv")["post_code"].to_pylist()) == {81}
    assert set(csv.read_csv(clinic / "masked.csv")["quarter"].to_pylist()) == {81}
    (clinic / "places.yaml").write_text(f"columns:\n{kinds.replace('quarter: {', 'quarter: {role: sensitive, ')}")
    made = command("mask", "places.csv", "--safe-harbor", "--out", "masked.csv", "--force")
    assert made.code == 0, made.err
    assert set(csv.read_csv(clinic / "masked.csv")["quarter"].to_pylist()) == {81601, 81602}


@pytest.mark.parametrize(
    ("plan", "sentence"),
    [
        ("age: {technique: round, base: 10}\n", "Column 'name' tells people apart"),
        ("name: dropp\n", "line 1: There is no technique 'dropp'; did you mean 'drop'"),
        ("name: drop\nage: {technique: round}\n", "line 2: The technique 'round' does not take"),
        ("name: {technique: keyed-hash, secret: abc}\n", "Say where the secret is"),
        ("name: {technique: keyed-hash, secret: {variable: NOWHERE_SET}}\n", "'NOWHERE_SET' is not set"),
        ("name: {technique: tokens}\n", "need a vault"),
        ("name: drop\nage: {technique: suppress-cells}\n", "among, outside, rare"),
        ("nam: drop\n", "did you mean 'name'"),
        ("- a\n", "a plan names columns"),
        ("name: [\n", "not valid YAML"),
    ],
)
def test_a_bad_plan_is_one_sentence(command: Command, clinic: Path, plan: str, sentence: str) -> None:
    (clinic / "plan.yaml").write_text(plan)
    found = command("mask", "patients.csv", "--plan", "plan.yaml", "--out", "masked.csv")
    assert found.code in (2, 6)
    assert sentence in found.err
    assert found.err.count("\n") == 1
    assert not (clinic / "masked.csv").exists()


def test_a_plan_or_safe_harbor_is_needed(command: Command, clinic: Path) -> None:
    assert "one of the two" in command("mask", "patients.csv", "--out", "masked.csv").err

"""`ziggurat synthesize`, as a steward meets it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as parquet
import pytest

from ziggurat.cli.synthesize import _command as _synthesize
from ziggurat.cli.synthesize._command import _describe_step
from ziggurat.release import check_synthetic

Command = Callable[..., Any]

SCHEMA = """
columns:
  name: {kind: text, role: identifier}
  age: {kind: integer, role: quasi-identifier, bounds: [18, 99]}
  town: {kind: category, role: quasi-identifier, categories: [Aville, Beton, Cove]}
  illness: {kind: category, role: sensitive, categories: [cold, flu, gout]}
  income: {kind: integer, bounds: [-8, 90000]}
"""
NAMES = ["age", "town", "illness", "income"]
CELLS = ("secretperson", "Aville", "Beton", "gout")


def patients(rows: int = 240) -> pa.Table:
    draw = np.random.default_rng(2)
    age = draw.integers(20, 80, rows)
    return pa.table(
        {
            "name": [f"secretperson{i}" for i in range(rows)],
            "age": age,
            "town": draw.choice(["Aville", "Beton", "Cove"], rows),
            "illness": np.where(age < 30, "cold", draw.choice(["cold", "flu", "gout"], rows)),
            "income": np.where(draw.random(rows) < 0.1, -8, draw.integers(1000, 80_000, rows)),
        }
    )


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    csv.write_csv(patients(), tmp_path / "patients.csv")
    (tmp_path / "patients.yaml").write_text(SCHEMA)
    return tmp_path


def test_help_teaches_with_examples_and_promises_nothing(command: Command) -> None:
    shown = " ".join(command("synthesize", "--help").out.split())
    assert shown.count("ziggurat synthesize ") >= 4
    assert "Without aim, mst, markov or recurrent nothing is promised" in shown


def test_a_table_from_the_question_to_the_ledger(command: Command, clinic: Path) -> None:
    asked = ("--copies", "2", "--methods", "income=linear,town=sample", "--rule", "age < 30 -> illness = 'cold'")
    more = ("--order", "town,age", "--missing", "income=-8", "--save", "m.ziggurat", "--note", "For class.")
    made = command("synthesize", "patients.csv", "--out", "copies.parquet", *asked, *more, "--budget", "patients")
    assert made.code == 0, made.err
    for piece in ("income", "linear", "left out", "2 copies of 240 rows, fully synthetic", "No privacy is promised"):
        assert piece in made.out
    assert "closest" in made.out
    assert "'illness'" in made.out
    assert "The ledger remembers it: entry 2" in made.out
    assert "it is not to be published" in made.out
    facts = check_synthetic(clinic / "copies.parquet.certificate.json")
    assert facts["details"]["order"][:2] == ["town", "age"]
    assert facts["evidence"]["facts"]["kept_back"] == 24
    shown = parquet.read_table(clinic / "copies.2.parquet")
    assert shown.column_names == NAMES
    young = [ill for age, ill in zip(shown["age"].to_pylist(), shown["illness"].to_pylist(), strict=True) if age < 30]
    assert set(young) == {"cold"}
    assert "1 release without a guarantee" in command("ledger", "show", "patients").out
    again = command("synthesize", "patients.csv", "--from", "m.ziggurat", "--rows", "50", "--out", "more.csv", "--json")
    assert again.code == 0, again.err
    assert json.loads(again.out)["artefacts"][0]["rows"] == 50
    assert "no control" in json.loads(again.out)["evidence"]["skipped"]["inferring"]


def test_no_cell_is_shown(command: Command, clinic: Path) -> None:
    made = command("synthesize", "patients.csv", "--out", "copy.csv", "--known", "age,town", "--secret", "income")
    assert made.code == 0, made.err
    for text in (made.out, made.err, (clinic / "copy.csv.certificate.json").read_text()):
        assert not any(cell in text for cell in CELLS)
        assert "private" not in text.lower()


def test_the_invented_clinic_works_out_of_the_box(command: Command, tmp_path: Path) -> None:
    made = command("synthesize", "clinic", "--out", "synthetic.parquet", "--rows", "400", "--holdout", "0", "--json")
    assert made.code == 0, made.err
    facts = json.loads(made.out)
    assert facts == json.loads((tmp_path / "synthetic.parquet.certificate.json").read_text())
    assert facts["details"]["left_out"] == ["patient_id"]
    assert facts["recorded"]["budget"] == "clinic"


def test_only_some_cells_are_drawn_anew(command: Command, clinic: Path) -> None:
    (clinic / "intruder.yaml").write_text("known: {age: {within: 2}, town: exact}\ntargets: income > 60000\n")
    given = ("--partial", "income > 60000", "--columns", "income,age", "--scenario", "intruder.yaml")
    made = command("synthesize", "patients.csv", *given, "--out", "copy.csv", "--rehearse", "7")
    assert made.code == 0, made.err
    assert "partially synthetic" in made.out
    assert "matching" in made.out
    assert "may not be published" in made.out
    rich = np.array(patients()["income"]) > 60_000
    before, after = (np.array(each["income"].to_pylist()) for each in (patients(), csv.read_csv(clinic / "copy.csv")))
    assert (before[~rich] == after[~rich]).all()
    assert (before[rich] != after[rich]).any()


def test_quiet_is_silent_and_a_rehearsal_repeats(command: Command, clinic: Path) -> None:
    for name in ("a.csv", "b.csv"):
        made = command("synthesize", "patients.csv", "--rehearse", "1", "--holdout", "0", "--quiet", "--out", name)
        assert (made.code, made.out, made.err) == (0, "", "")
    assert (clinic / "a.csv").read_bytes() == (clinic / "b.csv").read_bytes()


@pytest.mark.parametrize("method", ["mst", "aim"])
def test_a_guarantee_is_paid_for(command: Command, clinic: Path, method: str) -> None:
    assert command("ledger", "budget", "patients", "--epsilon", "3", "--delta", "1e-6").code == 0
    assert command("ledger", "grant", "patients", "ada", "--epsilon", "2", "--delta", "1e-7").code == 0
    paid = ("--epsilon", "1", "--delta", "1e-9", "--bins", "8", "--budget", "patients", "--analyst", "ada")
    more = ("--leave-out", "income", *(("--workload", "age,illness") if method == "aim" else ()))
    made = command(
        "synthesize", "patients.csv", "--method", method, *paid, *more, "--out", "dp.csv", "--save", "dp.zig"
    )
    assert made.code == 0, made.err
    assert "1e-9)-differential privacy (one row" in made.out
    assert "The ledger paid for it: entry 5" in made.out
    assert csv.read_csv(clinic / "dp.csv").column_names == ["age", "town", "illness"]
    assert "on 1 question" in command("ledger", "show", "patients").out
    assert not any(cell in made.out for cell in CELLS)
    refused = command("synthesize", "patients.csv", "--method", method, "--epsilon", "9", *paid[2:], "--out", "no.csv")
    assert refused.code == 3
    assert not (clinic / "no.csv").exists()


def test_ctrl_c_leaves_nothing_and_a_checkpoint_is_taken_up(
    command: Command, clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    given = ("synthesize", "patients.csv", "--out", "copy.csv", "--checkpoint", "kept", "--holdout", "0.05")
    with monkeypatch.context() as patched:
        patched.setattr("ziggurat.synthesize.columns._synthesizer.Synthesizer.write", stop)
        stopped = command(*given)
    assert stopped.code == 130
    assert (stopped.err.count("\n"), stopped.err.startswith("Stopped by Ctrl-C")) == (1, True)
    assert not [each.name for each in clinic.iterdir() if "copy.csv" in each.name]
    assert "take it up with --resume" in command(*given).err
    assert command(*given, "--resume", "--quiet").code == 0
    assert (clinic / "copy.csv").exists()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--method", "carrt"), "did you mean 'cart'"),
        (("--methods", "income"), "--methods income=forest"),
        (("--methods", "income=aim"), "whole tables"),
        (("--methods", "incom=cart"), "'incom'"),
        (("--copies", "0"), "at least 1"),
        (("--rows", "0"), "at least 1"),
        (("--partial", "income >"), "condition"),
        (("--partial", "incme > 3"), "income"),
        (("--partial", "income > 60000", "--rows", "5"), "has the rows of its table"),
        (("--columns", "income"), "give that condition too"),
        (("--rule", "age <"), "cannot be read"),
        (("--order", "agee"), "did you mean 'age'"),
        (("--leave-out", "agee"), "did you mean 'age'"),
        (("--missing", "income"), "--missing income=-8"),
        (("--missing", "income=x"), "must give a number"),
        (("--holdout", "2"), "below 1"),
        (("--holdout", "none.csv"), "a share such as 0.1, or a file"),
        (("--known", "agee"), "did you mean 'age'"),
        (("--secret", "ilness"), "did you mean 'illness'"),
        (("--scenario", "none.yaml", "--partial", "income > 60000"), "no file"),
        (("--scenario", "odd.yaml", "--partial", "income > 60000"), "not valid YAML"),
        (("--from", "none.ziggurat"), "no file"),
        (("--from", "m.ziggurat", "--method", "cart"), "leave it out"),
        (("--save", "none/m.ziggurat"), "create it first"),
        (("--resume",), "name that folder too"),
        (("--resume", "--checkpoint", "new"), "nothing to take up"),
        (("--checkpoint", "patients.csv"), "is a file"),
        (("--epsilon", "1"), "--method aim, mst, markov or recurrent"),
        (("--method", "aim", "--epsilon", "1"), "name --epsilon, --budget and --analyst"),
        (("--method", "aim", "--partial", "age > 3"), "those with a guarantee do not take it"),
        (("--method", "mst", "--epsilon", "1", "--budget", "b", "--analyst", "a", "--workload", "age"), "aim"),
        (("--note", "a\nb"), "printable text"),
    ],
)
def test_bad_input_is_one_sentence(command: Command, clinic: Path, options: tuple[str, ...], sentence: str) -> None:
    (clinic / "odd.yaml").write_text("a: [\n")
    found = command("synthesize", "patients.csv", *options, "--out", "copy.csv")
    assert found.code in (2, 6), found.err
    assert sentence in found.err
    assert found.err.count("\n") == 1
    assert not any(cell in found.err for cell in CELLS)
    assert not (clinic / "copy.csv").exists()


def test_a_ledger_without_the_budget_lets_nothing_go(command: Command, clinic: Path) -> None:
    command("ledger", "budget", "others", "--epsilon", "1", "--delta", "1e-6")
    paid = ("--method", "mst", "--epsilon", "1", "--budget", "patients", "--analyst", "ada")
    found = command("synthesize", "patients.csv", *paid, "--out", "copy.csv")
    assert found.code == 2
    assert "patients" in found.err
    assert not (clinic / "copy.csv").exists()


def test_the_bar_says_what_is_done() -> None:
    assert _describe_step("learning", "age") == "Learning: age"
    assert _describe_step("drawing", "rows") == "Drawing rows …"
    with _synthesize.show_progress(True) as told:
        assert told is None

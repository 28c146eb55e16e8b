"""`ziggurat hierarchy`: propose, show and check, as a steward meets it."""

import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ziggurat.data import read_hierarchy

PATIENTS = "age,country,zip,note\n34,NO,81667,a\n71,IT,81675,b\n,JP,10115,c\n"
WORLD = "Europe:\n  North: [NO, SE]\n  South: [IT]\nAsia: [JP]\n"

Command = Callable[..., Any]


@pytest.fixture
def patients(tmp_path: Path) -> Path:
    (tmp_path / "patients.csv").write_text(PATIENTS)
    (tmp_path / "world.yaml").write_text(WORLD)
    return tmp_path


def test_help_teaches_with_examples(command: Command) -> None:
    shown = command("hierarchy", "--help").out
    for piece in ("34;30-34;30-39;*", "ziggurat hierarchy propose patients.csv age", "hierarchy: {file: age.csv}"):
        assert piece in shown
    for name in ("propose", "show", "check"):
        assert f"ziggurat hierarchy {name}" in command("hierarchy", name, "--help").out


def test_a_hierarchy_from_the_proposal_to_the_schema(command: Command, patients: Path) -> None:
    made = command("hierarchy", "propose", "patients.csv", "age", "--width", "10", "--out", "age.csv")
    assert made.code == 0, made.err
    assert "Intervals 10, then 20, then 40 wide" in made.err
    assert "2 values at 5 levels: age.csv" in made.out
    assert (patients / "age.csv").read_text() == "34;30-39;20-39;0-39;*\n71;70-79;60-79;40-79;*\n"
    shown = command("hierarchy", "show", "age.csv").out
    assert "age (2 values, 5 levels)" in shown
    assert "30-39" in shown
    assert "covers every value" in command("hierarchy", "check", "age.csv", "patients.csv", "age").out
    (patients / "patients.yaml").write_text("columns:\n  age: {kind: integer, hierarchy: {file: age.csv}}\n")
    assert command("schema", "check", "patients.csv", "--schema", "patients.yaml").code == 0


def test_values_of_the_data_are_written_for_their_owner_only(command: Command, patients: Path) -> None:
    assert "for your eyes" in command("hierarchy", "propose", "patients.csv", "age", "--out", "age.csv").out
    assert stat.S_IMODE((patients / "age.csv").stat().st_mode) == 0o600
    public = command("hierarchy", "propose", "clinic", "age", "--out", "public.csv")
    assert "for your eyes" not in public.out
    assert len(read_hierarchy(patients / "public.csv").levels) == 82


def test_postcodes_and_trees(command: Command, patients: Path) -> None:
    masked = command("hierarchy", "propose", "patients.csv", "zip")
    assert "look like postcodes" in masked.err
    assert "816*" in masked.out
    drawn = command("hierarchy", "propose", "patients.csv", "country", "--tree", "world.yaml", "--out", "c.csv")
    assert drawn.code == 0, drawn.err
    assert read_hierarchy(patients / "c.csv").levels["SE"] == ("North", "Europe", "*")


def test_values_that_are_not_covered_are_counted_and_not_shown(command: Command, patients: Path) -> None:
    (patients / "c.csv").write_text("NO;*\nSE;*\n")
    found = command("hierarchy", "check", "c.csv", "patients.csv", "country")
    assert found.code == 1
    assert "2 values of column 'country', in 2 rows, are not in the hierarchy" in found.err
    assert not any(cell in found.out + found.err for cell in ("IT", "JP"))


def test_a_file_of_many_columns_is_shown_and_checked_column_by_column(command: Command, patients: Path) -> None:
    (patients / "all.csv").write_text("attribute,level0,level1\nage,34,*\nage,71,*\nsex,f,*\n")
    checked = command("hierarchy", "check", "all.csv")
    assert checked.out == "age: a tree of 2 integer values at 2 levels.\nsex: a tree of 1 text value at 2 levels.\n"
    assert "sex" not in command("hierarchy", "show", "all.csv", "--column", "age").out
    assert command("hierarchy", "check", "all.csv", "patients.csv", "age").code == 0


def test_a_large_tree_is_cut_unless_the_whole_is_asked_for(command: Command, tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("".join(f"{n};{n // 10}x;*\n" for n in range(500)))
    cut, whole = (command("hierarchy", "show", "h.csv", *more).out for more in ((), ("--whole",)))
    assert len(cut.splitlines()) < 20
    assert "… 45 more" in cut
    assert len(whole.splitlines()) == 1 + 1 + 50 + 500


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("show", "none.csv"), "does not exist"),
        (("show", "bad.csv"), "not a tree: at level 1"),
        (("check", "bad.csv"), "not a tree: at level 1"),
        (("check", "ragged.csv"), "line 2: this row has 2 fields"),
        (("check", "good.csv", "patients.csv"), "name a table and a column"),
        (("show", "good.csv", "--column", "goot"), "did you mean 'good'"),
        (("propose", "patients.csv", "agee"), "did you mean 'age'"),
        (("propose", "clinic", "patient_id"), "is an identifier"),
        (("propose", "patients.csv", "age", "--width", "wide"), "must be a number"),
        (("propose", "patients.csv", "age", "--width", "5", "--tree", "world.yaml"), "not both"),
        (("propose", "patients.csv", "note", "--tree", "world.yaml"), "3 values are not in the tree"),
        (("propose", "patients.csv", "note", "--width", "5"), "all whole numbers"),
        (("propose", "none.csv", "age"), "There is no file"),
    ],
)
def test_bad_input_is_one_sentence(command: Command, patients: Path, arguments: tuple[str, ...], sentence: str) -> None:
    (patients / "bad.csv").write_text("1;x;p\n2;x;q\n")
    (patients / "ragged.csv").write_text("1;x;p\n2;x\n")
    (patients / "good.csv").write_text("1;*\n")
    found = command("hierarchy", *arguments)
    assert found.code in (2, 6)
    assert sentence in found.err
    assert found.err.count("\n") == 1

"""`ziggurat mask` with options for single columns: notes, codes, drop and keep."""

import pytest
from typer.testing import CliRunner

from ziggurat.cli import app

ROWS = """first_name,last_name,age,note
Ilse,Meier,34,"Ilse Meier rief am 3.4.2024 an, Tel. 0341/123456."
Jan,Kowalski,51,"Kowalskis Frau (Okonkwo) kam, Kopie an jan@example.org."
Mia,Wu,40,"Herr Wu wohnt jetzt Hauptstr. 5, 04109 Leipzig."
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.csv").write_text(ROWS, encoding="utf-8")

    def call(*options):
        found = CliRunner().invoke(app, ["mask", "notes.csv", "--out", "out.csv", "--ledger", "book.db", *options])
        written = tmp_path / "out.csv"
        return found, written.read_text(encoding="utf-8") if written.exists() else ""

    return call


def test_notes_are_masked_and_the_recall_is_said(run, tmp_path):
    (tmp_path / "names.txt").write_text("Okonkwo\n", encoding="utf-8")
    found, written = run("--text", "note", "--names", "names.txt", "--drop", "first_name,last_name")
    assert found.exit_code == 0
    said = " ".join(found.output.split())
    assert "Measured recall on 2,000 invented notes" in said
    assert "Masked text is not anonymous" in said
    assert "without a guarantee (unbounded)" in said
    assert written.splitlines()[0] == '"age","note"'
    assert not any(each in written for each in ("Ilse", "Kowalski", "Okonkwo", "Wu", "0341", "Hauptstr", "example.org"))


def test_a_name_that_no_list_knows_stays(run):
    assert "Okonkwo" in run("--text", "note", "--drop", "first_name,last_name")[1]


def test_free_text_that_nobody_names_is_dropped_and_said(run):
    found, written = run("--drop", "first_name,last_name")
    assert "'note' holds free text and was dropped." in found.output
    assert written.splitlines() == ['"age"', "34", "51", "40"]


def test_text_becomes_codes(run):
    found, written = run("--codes", "note", "--drop", "first_name", "--drop", "last_name")
    assert "Equal cells have equal codes" in found.output
    assert {line.split(",")[1] for line in written.splitlines()[1:]} == {'"c1"', '"c2"', '"c3"'}


def test_negative_control_text_that_is_kept_for_a_reason_is_there(run):
    assert "Okonkwo" in run("--keep", "note=read by two people", "--drop", "first_name,last_name")[1]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "--text note"),
        (("--names", "names.txt", "--drop", "age"), "go with --text"),
        (("--keep", "note"), "and why"),
        (("--text", "note", "--codes", "note"), "named by two options"),
        (("--text", "nota"), "'note'"),
        (("--text", "note", "--names", "absent.txt"), "does not exist"),
        (("--text", "note", "--countries", "xx"), "No forms of the country"),
        (("--text", "note", "--safe-harbor"), "leave --text out"),
    ],
)
def test_what_does_not_go_together_is_refused_and_nothing_is_written(run, options, said):
    found, written = run(*options)
    assert found.exit_code != 0
    assert said in " ".join(found.output.split()) or said in str(found.exception)
    assert written == ""


def test_an_option_and_a_plan_must_not_name_the_same_column(run, tmp_path):
    (tmp_path / "plan.yaml").write_text("note: drop\n", encoding="utf-8")
    found, _ = run("--plan", "plan.yaml", "--text", "note")
    assert "in the plan and named by an option" in " ".join(found.output.split()) + str(found.exception)


def test_safe_harbor_lets_somebody_decide_about_a_column(run, tmp_path):
    (tmp_path / "notes.csv").write_text("area,cost\n4109,1.5\n80331,2.5\n69002,3.5\n", encoding="utf-8")
    found, written = run("--safe-harbor")
    assert found.exit_code != 0
    assert written == ""
    assert "80331" in run("--safe-harbor", "--keep", "area=a code of wards")[1]

"""The command line as a person meets it: real processes, real files."""

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

ZIGGURAT = str(Path(sys.executable).parent / "ziggurat")


@pytest.fixture
def run(tmp_path):
    def call(*arguments, **environment):
        clean = {**os.environ, "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "share"), "COLUMNS": "160"}
        clean.pop("ZIGGURAT_LEDGER", None)
        return subprocess.run(
            [ZIGGURAT, *arguments],
            cwd=tmp_path,
            env={**clean, **environment},
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )

    return call


def test_help_teaches_and_names_every_command(run):
    shown = run("--help").stdout
    for word in ("tour", "doctor", "ledger", "schema", "data", "ziggurat tour"):
        assert word in shown
    assert "one tenth" in run("ledger", "--help").stdout


def test_the_tour_shows_every_scene_and_leaves_nothing_behind(run, tmp_path):
    result = run("tour", "--rows", "2000")
    assert result.returncode == 0, result.stderr
    for piece in ("quasi-identifier", "95% confidence", "replayed", "Refused", "Intact", "Entry 6 was changed"):
        assert piece in result.stdout
    assert not list(tmp_path.glob("*.db"))


def test_a_rehearsal_of_the_tour_repeats_itself_and_says_so(run):
    first, second = (run("tour", "--rows", "1000", "--rehearse", "7").stdout for _ in range(2))
    assert first == second
    assert "rehearsal" in first


def test_the_tour_can_be_kept_and_drawn(run, tmp_path):
    result = run("tour", "--rows", "1000", "--keep", "tour.db", "--picture", "tour.svg")
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "tour.svg").read_text().startswith("<svg")
    assert run("ledger", "verify", "--ledger", "tour.db").returncode == 0
    assert run("tour", "--keep", "tour.db").returncode == 6


def test_the_doctor_finds_this_machine_well_and_a_forged_ledger_ill(run, tmp_path):
    assert run("tour", "--rows", "1000", "--keep", "mine.db").returncode == 0
    well = run("doctor", "--ledger", "mine.db")
    assert (well.returncode, "All is well" in well.stdout) == (0, True)
    with sqlite3.connect(tmp_path / "mine.db") as book:
        book.execute("DROP TRIGGER entries_keep")
        book.execute("UPDATE entries SET time = '2020-01-01T00:00:00.000000Z' WHERE seq = 3")
    ill = run("doctor", "--ledger", "mine.db")
    assert ill.returncode == 1
    assert "Entry 3" in ill.stdout


def test_a_budget_from_the_first_command_to_the_last(run, tmp_path):
    book = ("--ledger", "book.db")
    assert run("ledger", "budget", "clinic", "--epsilon", "1", "--person", "patient", *book).returncode == 0
    assert run("ledger", "grant", "clinic", "ana", "--epsilon", "0.3", *book).returncode == 0
    assert run("ledger", "quote", "clinic", "ana", "--epsilon", "0.3", *book).returncode == 0
    assert run("ledger", "quote", "clinic", "ana", "--epsilon", "0.31", *book).returncode == 3
    too_much = run("ledger", "grant", "clinic", "bo", "--epsilon", "0.8", *book)
    assert (too_much.returncode, "0.7" in too_much.stderr) == (3, True)
    assert "one person (column patient)" in run("ledger", "show", *book).stdout
    assert run("ledger", "unbounded", "clinic", "a k-anonymous extract", *book).returncode == 0
    assert "without a guarantee" in run("ledger", "show", "clinic", *book).stdout
    assert run("ledger", "close", "clinic", "ana", *book).returncode == 0
    assert "reserve" not in run("ledger", "history", *book).stdout


def test_a_signed_receipt_shows_that_the_end_was_cut_off(run, tmp_path):
    book = ("--ledger", "book.db")
    run("ledger", "budget", "clinic", "--epsilon", "1", *book)
    run("ledger", "grant", "clinic", "ana", "--epsilon", "0.3", *book)
    assert run("ledger", "keygen", "key").returncode == 0
    assert run("ledger", "sign", "--key", "key", "--out", "receipt.json", *book).returncode == 0
    checked = ("ledger", "verify", "--receipt", "receipt.json", "--public-key", "key.pub", *book)
    assert run(*checked).returncode == 0
    with sqlite3.connect(tmp_path / "book.db") as raw:
        raw.execute("DROP TRIGGER entries_stay")
        raw.execute("DELETE FROM entries WHERE seq = 3")
    cut = run(*checked)
    assert cut.returncode == 4
    assert json.loads((tmp_path / "receipt.json").read_text())["seq"] == 3


def test_invented_data_and_a_schema_round(run, tmp_path):
    made = run("data", "invent", "clinic", "--rows", "500", "--out", "clinic.csv", "--schema", "clinic.yaml")
    assert made.returncode == 0, made.stderr
    assert run("schema", "check", "clinic.csv", "--schema", "clinic.yaml").returncode == 0
    proposed = run("schema", "suggest", "clinic.csv", "--out", "proposed.yaml")
    assert proposed.returncode == 0, proposed.stderr
    assert "learned" in (tmp_path / "proposed.yaml").read_text()
    assert "quasi-identifier" in run("schema", "show", "clinic.yaml").stdout


def test_problems_are_counted_and_never_shown(run, tmp_path):
    (tmp_path / "t.csv").write_text("age\n30\n987654\n")
    (tmp_path / "s.yaml").write_text("columns:\n  age: {kind: integer, bounds: [0, 120]}\n")
    result = run("schema", "check", "t.csv", "--schema", "s.yaml")
    assert result.returncode == 1
    assert "987654" not in result.stdout + result.stderr
    assert "age" in result.stderr


BAD = [
    ("ledger", "budget", "t", "--epsilon", "0", "--ledger", "b.db"),
    ("ledger", "budget", "t", "--epsilon", "nan", "--ledger", "b.db"),
    ("ledger", "budget", "t", "--epsilon", "1", "--delta", "1", "--ledger", "b.db"),
    ("ledger", "budget", "t", "--epsilon", "1", "--relation", "magic", "--ledger", "b.db"),
    ("ledger", "show", "--ledger", "absent.db"),
    ("ledger", "show", "--ledger", "garbage.db"),
    ("ledger", "verify", "--ledger", "garbage.db"),
    ("ledger", "budget", "t", "--epsilon", "1", "--ledger", "no/such/folder/b.db"),
    ("schema", "check", "absent.csv", "--schema", "corrupt.yaml"),
    ("schema", "show", "corrupt.yaml"),
    ("schema", "show", "absent.yaml"),
    ("data", "fetch", "adlut"),
    ("data", "invent", "clinic", "--out", "x.docx"),
    ("data", "invent", "nothing", "--out", "x.csv"),
]


@pytest.mark.parametrize("arguments", BAD, ids=" ".join)
def test_bad_input_gets_one_sentence_and_a_non_zero_exit(run, tmp_path, arguments):
    (tmp_path / "garbage.db").write_bytes(b"not a ledger at all" * 50)
    (tmp_path / "corrupt.yaml").write_text("columns: {age: [")
    before = sorted(tmp_path.rglob("*"))
    result = run(*arguments)
    assert result.returncode not in (0, 70)
    assert result.stderr.startswith("Error: ")
    assert len(result.stderr.strip().splitlines()) == 1
    assert "Traceback" not in result.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_names_with_brackets_are_shown_as_they_are(run, tmp_path):
    book = ("--ledger", "book.db")
    run("ledger", "budget", "t", "--epsilon", "1", *book)
    assert run("ledger", "grant", "t", "[/bold]", "--epsilon", "0.1", *book).returncode == 0
    assert run("ledger", "grant", "t", "[red]bo", "--epsilon", "0.1", *book).returncode == 0
    shown = run("ledger", "show", *book)
    assert shown.returncode == 0
    assert "[red]bo" in shown.stdout
    (tmp_path / "s.yaml").write_text("columns:\n  '[bold]x[/]': {kind: text}\n")
    assert "[bold]x[/]" in run("schema", "show", "s.yaml").stdout


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_an_output_that_cannot_show_every_letter_is_no_reason_to_stop(run, encoding):
    result = run("tour", "--rows", "500", PYTHONIOENCODING=encoding)
    assert (result.returncode, result.stderr) == (0, "")


def test_a_full_output_device_gets_one_sentence(tmp_path):
    with Path("/dev/full").open("w") as full:
        result = subprocess.run([ZIGGURAT, "data", "list"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert result.returncode == 7
    assert result.stderr.startswith("Error: ")
    assert len(result.stderr.strip().splitlines()) == 1


def test_the_short_help_option_is_understood(run):
    assert run("-h").returncode == 0
    assert run("ledger", "-h").returncode == 0

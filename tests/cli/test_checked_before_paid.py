"""No command pays, or writes into the ledger, before its file is checked whole; its holder is told what is wrong."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from ziggurat.data import read
from ziggurat.errors import DataError, ZigguratError
from ziggurat.ledger import Ledger
from ziggurat.privacy import Neighbours, Relation
from ziggurat.release import Session, release_synthetic_private
from ziggurat.synthesize import AIM

SCHEMA = """
columns:
  id: {kind: text, role: identifier}
  age: {kind: integer, role: quasi-identifier, bounds: [0, 100]}
  bmi: {kind: real, bounds: [0, 100]}
  ill: {kind: category, role: sensitive, categories: ["no", "yes"]}
"""
GOOD = [f"p{row};{row % 90};{20 + row % 10}.5;{'yes' if row % 3 else 'no'}".encode() for row in range(400)]
BAD = {
    "a cell of more than 2 MB": (b"p;1;2.5;" + b"x" * 2_100_000, "line 202 is longer than"),
    "an extra field": (b"p;1;2.5;no;no", "line 202 has 5 fields, but the header has 4"),
    "a missing field": (b"p;1;2.5", "line 202 has 3 fields, but the header has 4"),
    "an open quote": (b'p;1;"2.5;no', "line 202 has quotation marks that do not match"),
    "invalid UTF-8": (b"p\xff;1;2.5;no", "line 202 is not UTF-8"),
    "a zero byte": (b"p\0;1;2.5;no", "line 202 holds a zero byte"),
    "a German decimal": (b"p;1;2,5;no", "Line 202, column 'bmi': not a number as the schema says"),
}
COMMANDS = {
    "ask": ("ask {file} --analyst ana --epsilon 1", ["SELECT AVG(bmi) AS m, COUNT(*) AS n FROM t"]),
    "sweep": ("ask {file} --analyst ana --sweep 0.1,0.2", ["SELECT COUNT(*) AS n FROM t"]),
    "model fit": ("model fit {file} --label ill --column bmi --epsilon 1 --budget other --analyst ana --out {out}", []),
    "model serve": (
        "model serve {file} --kind kernel-density --column bmi --epsilon 1 --budget other --analyst ana --out {out}",
        [],
    ),
    "pate teach": ("pate teach {file} --label ill --column bmi --teachers 2 --out {out}", []),
    "anonymize": ("anonymize {file} --k 2 --suppress 1 --budget t --out {out}.csv", []),
    "mask": ("mask {file} --plan {plan} --budget t --out {out}.csv", []),
    "synthesize": ("synthesize {file} --budget t --out {out}.csv", []),
    "synthesize aim": ("synthesize {file} --method aim --epsilon 1 --budget t --analyst ana --out {out}.csv", []),
    "risk": ("risk {file}", []),
    "compare": ("compare {file} --try sample", []),
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.yaml").write_text(SCHEMA)
    (tmp_path / "plan.yaml").write_text("id: drop\n")
    with Ledger.open(tmp_path / "book.db") as book:
        for name, neighbours in (("t", Neighbours()), ("other", Neighbours(relation=Relation.REPLACE_ONE))):
            book.create_budget(name, "10", "0.1", neighbours)
            book.grant(name, "ana", "10", "0.1", "sum")
    return tmp_path


def written(place: Path, row: bytes) -> Path:
    lines = [b"id;age;bmi;ill", *GOOD[:200], row, *GOOD[200:]]
    (place / "t.csv").write_bytes(b"\n".join(lines) + b"\n")
    return place / "t.csv"


def entries(place: Path) -> int:
    with Ledger.open(place / "book.db", create=False) as book:
        return sum(1 for name in ("t", "other") for _ in book.history(name))


def asked(command, kind: str, *more: str):
    text, rest = COMMANDS[kind]
    words = text.format(file="t.csv", out="out", plan="plan.yaml").split()
    return command(*words[:2], *rest, *words[2:], *more)


@pytest.mark.parametrize("row", BAD)
@pytest.mark.parametrize("kind", ["ask", "sweep"])
def test_a_question_about_a_malformed_file_costs_nothing(kind: str, row: str, command, place: Path) -> None:
    cell, sentence = BAD[row]
    written(place, cell)
    before = entries(place)
    done = asked(command, kind)
    assert (done.code, entries(place)) == (6, before)
    assert sentence in done.err
    assert "2,5" not in done.err


@pytest.mark.parametrize("kind", COMMANDS)
def test_no_command_pays_or_records_before_the_file_is_checked(kind: str, command, place: Path) -> None:
    written(place, b"p;1;2,5;no")
    before = entries(place)
    done = asked(command, kind)
    assert done.code == 6
    assert "Line 202, column 'bmi': not a number as the schema says" in done.err
    assert entries(place) == before
    assert not list(place.glob("out*"))


def test_a_column_of_german_decimals_is_refused_and_not_answered(command, place: Path) -> None:
    rows = [line.replace(b".5", b",5") for line in GOOD]
    (place / "t.csv").write_bytes(b"id;age;bmi;ill\n" + b"\n".join(rows))
    before = entries(place)
    done = asked(command, "ask")
    assert (done.code, entries(place)) == (6, before)
    assert "Line 2, column 'bmi': not a number as the schema says; 400 cells" in done.err


def test_a_share_that_the_steward_allows_counts_as_missing(command, place: Path) -> None:
    written(place, b"p;1;2,5;no")
    before = entries(place)
    assert asked(command, "ask", "--unreadable", "0.002").code == 6
    assert entries(place) == before
    assert asked(command, "ask", "--unreadable", "0.01").code == 0
    assert entries(place) > before


def test_a_well_formed_file_is_paid_for_and_answered(command, place: Path) -> None:
    written(place, GOOD[0])
    before = entries(place)
    assert asked(command, "ask").code == 0
    assert entries(place) > before


def test_a_file_that_changed_since_it_was_opened_is_found_before_it_is_paid_for(place: Path) -> None:
    table = pa.table({"age": [30, 40]})
    parquet.write_table(table, place / "t.parquet")
    with Ledger.open(place / "book.db", create=False) as book:
        session = Session(book, "ana", {"t": read(place / "t.parquet")})
        parquet.write_table(pa.table({"age": [30, 40, 50]}), place / "t.parquet")
        with pytest.raises(DataError, match="changed since it was opened"):
            session.ask("SELECT COUNT(*) AS n FROM t", "1")
        assert book.left("t", "ana") == 10


def test_a_mask_that_cannot_be_written_is_not_recorded(command, place: Path) -> None:
    written(place, GOOD[0])
    before = entries(place)
    done = command("mask", "t.csv", "--plan", "plan.yaml", "--budget", "t", "--out", "nowhere/out.csv")
    assert (done.code, entries(place)) == (6, before)


@pytest.mark.parametrize(
    "wrong",
    [{"rows": 0}, {"holdout": "others"}, {"model": AIM(epsilon=1, solver="none")}],
    ids=["rows", "hold-out", "solver"],
)
def test_a_private_copy_that_cannot_be_made_is_not_paid_for(wrong: dict[str, Any], place: Path) -> None:
    written(place, GOOD[0])
    table = read(place / "t.csv", place / "t.yaml")
    given = {"model": AIM(epsilon=1), **wrong}
    if "holdout" in wrong:
        given["holdout"] = read(pa.table({"age": [1]}))
    with Ledger.open(place / "book.db", create=False) as book:
        with pytest.raises(ZigguratError):
            release_synthetic_private(table, place / "out.csv", ledger=book, budget="t", analyst="ana", **given)
        assert book.left("t", "ana") == 10

"""`ziggurat write`: something works out of the box, writers are kept and read, and what is written is marked."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ziggurat.sequences.text import NOTE

pytest.importorskip("torch")
Run = Callable[..., Any]
TRAIN = ("--train", "t.csv", "--architecture", "clstm", "--embedding", "8", "--hidden", "8", "--epochs", "2")


@pytest.mark.slow
def test_out_of_the_box_headlines_begin_as_asked_and_are_marked(command: Run) -> None:
    pytest.importorskip("HanTa")
    told = command("write", "--topic", "business", "--seed", "kim jong un", "--rehearse", "1", "--json")
    assert told.code == 0, told.err
    found = json.loads(told.out)
    assert len(found["headlines"]) == 3
    assert all(each.startswith("kim jong un ") and len(each.split()) == 13 for each in found["headlines"])
    assert found["note"] == NOTE
    assert found["promise"] is None
    assert found["rehearsal"]


@pytest.fixture
def titles(command: Run) -> Run:
    rows = ["title,category", *("The bank raises rates again,b", "A new phone gets a screen,t") * 6, "Too short,b"]
    Path("t.csv").write_text("\n".join(rows), encoding="utf-8")
    return command


def test_a_writer_is_trained_kept_read_and_writes_a_file(titles: Run) -> None:
    told = titles("write", *TRAIN, "--save", "w.zip", "--rehearse", "4")
    assert told.code == 0, told.err
    assert "Nothing is promised" in told.out
    assert "REHEARSAL" in told.out
    asked = ("write", "--model", "w.zip", "--topic", "t", "--seed", "a new phone", "--words", "2", "--out", "h.csv")
    told = titles(*asked, "--count", "2", "--temperature", "0.5")
    assert told.code == 0, told.err
    assert NOTE in told.out
    with Path("h.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["note"] for row in rows] == [NOTE, NOTE]
    assert all(row["headline"].startswith("a new phone ") and row["topic"] == "technology" for row in rows)
    assert titles(*asked).code != 0  # without --force
    assert titles(*asked, "--force").code == 0


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--topic", "business"), 2),
        (("--seed", "only two"), 2),
        (("--model", "absent.zip", "--seed", "a b c"), 6),
        (("--model", "t.csv", "--seed", "a b c"), 6),
        (("--model", "w.zip", "--train", "t.csv", "--seed", "a b c"), 2),
        ((*TRAIN, "--title", "headline", "--seed", "a b c"), 6),
        ((*TRAIN, "--seed", "a b c", "--topic", "sports"), 2),
        (("--train", "t.csv", "--architecture", "gpt", "--seed", "a b c"), 2),
    ],
)
def test_what_cannot_be_done_ends_with_its_code_and_one_sentence(
    titles: Run, arguments: tuple[str, ...], code: int
) -> None:
    if "only two" in arguments:
        arguments = (*TRAIN, *arguments)
    told = titles("write", *arguments)
    assert told.code == code, told.err
    assert told.err.strip().count("\n") == 0

"""An option of one name means the same in every command that has it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from ziggurat.cli import app
from ziggurat.cli._options import OUT, PICTURE, rehearsal_seed

REFERENCE = (Path(__file__).parents[2] / "docs/reference/cli.md").read_text(encoding="utf-8")
SHARED = {
    "--out": (OUT, str),
    "--picture": (PICTURE, str),
    "--report": ("Also write a page with pictures to this .html file.", str),
    "--force": ("Replace files that are there already.", bool),
    "--rehearse": ("A seed: repeatable, and marked as not to be published.", str),
    "--quote": ("Say what it would cost, and stop: nothing is paid or made.", bool),
    "--json": ("Print JSON and nothing else; errors, too.", bool),
    "--quiet": ("Print nothing but errors.", bool),
}
OLD = ("--plot", "--frontier", "--csv")
FOLDERS = (
    "model fit",
    "model let-go",
    "model serve",
    "pate teach",
    "pate privatize",
    "pate student",
    "release hand-out",
)


def walk(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from walk(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


COMMANDS = dict(walk(typer.main.get_command(app)))
OPTIONS = [(name, text, each) for name, command in COMMANDS.items() for each in command.params for text in each.opts]


@pytest.mark.parametrize(
    ("name", "text", "option"), [each for each in OPTIONS if each[1] in SHARED], ids=lambda each: str(each)
)
def test_a_shared_option_has_the_shared_words_and_type(name: str, text: str, option: Any) -> None:
    words, kind = SHARED[text]
    assert option.help.startswith(words)
    assert option.type_descriptor.annotation is kind


def test_every_shared_option_is_used_and_described_once() -> None:
    assert {text for _, text, _ in OPTIONS} >= set(SHARED)
    for text in SHARED:
        assert REFERENCE.count(f"\n| `{text}` |") == 1


def test_no_command_has_another_word_for_them() -> None:
    assert not [(name, text) for name, text, _ in OPTIONS if text in OLD]


def test_whatever_writes_a_file_asks_before_it_replaces_one() -> None:
    writing = {name for name, text, _ in OPTIONS if text in ("--out", "--picture", "--report")}
    assert writing - {name for name, text, _ in OPTIONS if text == "--force"} == set(FOLDERS)


@pytest.mark.parametrize(("text", "seed"), [("", None), ("7", 7), ("0", 0)])
def test_the_seed_of_a_rehearsal_is_its_number(text: str, seed: int | None) -> None:
    assert rehearsal_seed(text) == seed


def test_any_text_is_a_seed_of_its_own() -> None:
    seeds = [rehearsal_seed(text) for text in ("one", "two", str(2**40))]
    assert len(set(seeds)) == 3
    assert all(isinstance(seed, int) and 0 <= seed < 2**32 for seed in seeds)
    assert rehearsal_seed("one") == seeds[0]


def test_nothing_is_replaced_without_force(command: Any) -> None:
    made = ("data", "invent", "clinic", "--rows", "20", "--out", "c.csv")
    assert command(*made).code == 0
    before = Path("c.csv").read_bytes()
    refused = command(*made, "--seed", "5")
    assert (refused.code, "--force" in refused.err, Path("c.csv").read_bytes() == before) == (6, True, True)
    assert command(*made, "--seed", "5", "--force").code == 0
    assert Path("c.csv").read_bytes() != before


def test_json_is_one_document_and_nothing_else(command: Any) -> None:
    command("ledger", "budget", "clinic", "--epsilon", "2", "--person", "patient_id")
    command("ledger", "grant", "clinic", "ana", "--epsilon", "1")
    command("data", "invent", "clinic", "--rows", "100", "--out", "clinic.csv", "--schema", "clinic.yaml")
    count = "SELECT COUNT(*) AS n FROM clinic"
    for words in (
        ("ledger", "show"),
        ("ledger", "history"),
        ("ledger", "verify"),
        ("ledger", "quote", "clinic", "ana", "--epsilon", "1"),
        ("data", "list"),
        ("schema", "check", "clinic.csv"),
        ("ask", "clinic.csv", count, "--epsilon", "1", "--rows-per-unit", "1", "--analyst", "ana", "--quote"),
        ("decide", "--query", "count"),
    ):
        told = command(*words, "--json")
        assert (told.code, told.err) == (0, ""), words
        assert json.loads(told.out)


def test_a_price_reads_nothing_and_pays_nothing(command: Any) -> None:
    command("ledger", "budget", "clinic", "--epsilon", "2", "--person", "patient_id", "--relation", "replace-one")
    command("ledger", "grant", "clinic", "ana", "--epsilon", "1")
    command("data", "invent", "clinic", "--rows", "20", "--out", "clinic.csv", "--schema", "clinic.yaml")
    Path("clinic.csv").write_text("not the columns of the schema\n", encoding="utf-8")
    before = command("ledger", "history", "--json").out
    given = ("collect", "clinic.csv", "--column", "smoker", "--analyst", "ana")
    assert command(*given, "--epsilon", "1", "--quote").code == 0
    assert command(*given, "--epsilon", "1.01", "--quote").code == 3
    assert command("ledger", "history", "--json").out == before
    assert command(*given, "--epsilon", "1", "--out", "r.csv").code == 6  # the file is read when it is collected

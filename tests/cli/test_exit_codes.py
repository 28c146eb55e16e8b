"""Exit codes tell kinds of ends apart: as documented, as the classes say, and as commands reach them."""

import inspect
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ziggurat import errors
from ziggurat.cli import EXIT_CODES

PAGE = (Path(__file__).parents[2] / "docs/reference/exit-codes.md").read_text(encoding="utf-8")
ROWS = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if re.match(r"\| \d", line)]
CLASSES = {
    name: each
    for name, each in vars(errors).items()
    if inspect.isclass(each) and issubclass(each, errors.ZigguratError)
}
SCHEMA = "unit: {person: p}\ncolumns:\n  p: {kind: integer}\n  age: {kind: integer, bounds: [0, 100]}\n"
ASK = ("ask", "t.csv", "SELECT COUNT(*) AS n FROM t", "--rows-per-unit", "1", "--analyst", "ana")
Run = Callable[..., Any]


def test_the_page_and_the_help_list_every_code(command: Run) -> None:
    assert {int(code): words.strip(" |") for code, words, *_ in ROWS} == EXIT_CODES
    shown = " ".join(command("--help").out.split())
    for code, words in EXIT_CODES.items():
        assert f"{code} {words}" in shown


def test_the_page_names_every_class_beside_its_code() -> None:
    told = {name: int(row[0]) for row in ROWS for name in re.findall(r"`(\w+Error)`", row[-1])}
    assert told == {name: each.exit_code for name, each in CLASSES.items() if name != "ZigguratError"}


@pytest.fixture
def asked(command: Run) -> Run:
    Path("t.csv").write_text("p,age\n" + "".join(f"{i},{20 + i}\n" for i in range(50)), encoding="utf-8")
    Path("t.yaml").write_text(SCHEMA, encoding="utf-8")
    Path("bad.csv").write_text("p,age\n1,old\n", encoding="utf-8")
    Path("garbage.db").write_bytes(b"no ledger at all" * 100)
    assert command("ledger", "budget", "t", "--epsilon", "1", "--person", "p").code == 0
    assert command("ledger", "grant", "t", "ana", "--epsilon", "1").code == 0
    return command


REACHED = {
    0: (*ASK, "--epsilon", "0.5"),
    1: ("schema", "check", "bad.csv", "--schema", "t.yaml"),
    2: (*ASK,),
    3: (*ASK, "--epsilon", "2"),
    4: ("ledger", "show", "--ledger", "garbage.db"),
    6: (*ASK, "--epsilon", "0.5", "--schema", "absent.yaml"),
    7: ("risk", "postgresql://nobody@127.0.0.1:1/none", "--table", "t", "--qi", "age"),
}


@pytest.mark.parametrize("code", REACHED)
def test_a_command_reaches_each_code(code: int, asked: Run) -> None:
    told = asked(*REACHED[code])
    assert told.code == code, told.err


@pytest.mark.parametrize("code", [code for code in REACHED if code > 1])
def test_the_same_error_is_one_object_under_json(code: int, asked: Run) -> None:
    plain, told = asked(*REACHED[code]), asked(*REACHED[code], "--json")
    assert (told.code, told.err) == (code, "")
    error = json.loads(told.out)["error"]
    assert set(error) == {"kind", "message", "exit_code"}
    assert error["exit_code"] == code
    assert plain.err == f"Error: {error['message']}\n"
    assert CLASSES[error["kind"]].exit_code == code


@pytest.mark.parametrize(
    "arguments", [("ask",), ("ledger", "show", "--bogus"), ("nothing",), ("tour", "--rows", "many")], ids=" ".join
)
def test_usage_errors_are_json_too(arguments: tuple[str, ...], command: Run) -> None:
    plain, told = command(*arguments), command(*arguments, "--json")
    assert (plain.code, told.code, told.err) == (2, 2, "")
    assert json.loads(told.out)["error"]["kind"] == "UsageError"


def test_what_follows_two_dashes_is_no_option(command: Run) -> None:
    told = command("schema", "show", "--", "--json")
    assert (told.code, told.out, told.err.startswith("Error: ")) == (6, "", True)


def test_what_nobody_expected_shows_its_kind_and_no_cell(asked: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("a cell: 4711")

    monkeypatch.setattr("ziggurat.cli._tables.find_table", fail)
    monkeypatch.setattr("ziggurat.cli.ask._options.find_table", fail)
    told = asked(*ASK, "--epsilon", "0.5")
    assert (told.code, "RuntimeError" in told.err, "4711" in told.err) == (70, True, False)
    assert json.loads(asked(*ASK, "--epsilon", "0.5", "--json").out)["error"]["exit_code"] == 70


def test_an_answer_that_was_paid_for_is_printed_with_the_error_of_its_file(
    asked: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise errors.DataError("The file could not be written.")

    monkeypatch.setattr("ziggurat.cli.ask._answers.write_table", fail)
    told = asked(*ASK, "--epsilon", "0.5", "--out", "n.csv", "--json")
    found = json.loads(told.out)
    assert (told.code, found["error"]["exit_code"], found["epsilon"]) == (6, 6, "1/2")


def test_a_decision_that_nothing_meets_is_one_document(command: Run) -> None:
    told = command("decide", "--query", "count", "--epsilon", "0.1", "--error", "1", "--json")
    found = json.loads(told.out)
    assert (told.code, found["error"]["kind"], found["error"]["message"]) == (2, "PrivacyError", found["refused"])

"""Ctrl-C and SIGTERM end every command with one sentence, a true ledger and no half-written file.

Nothing races: a wrapper replaces one step of the command by one that sends the signal to its own process.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import typer.core
import typer.main

from ziggurat import Ledger, Unit
from ziggurat.cli import app
from ziggurat.ledger import verify_ledger
from ziggurat.privacy import Neighbours, Relation

WRAPPER = """
import contextlib, os, signal, sys
from ziggurat.cli import main
from ziggurat.errors import EngineError
from ziggurat.ledger import Ledger
from ziggurat.release import Purse

where, number = sys.argv.pop(1), getattr(signal, sys.argv.pop(1))

def strike(*_, **__):
    os.kill(os.getpid(), number)
    raise AssertionError("the signal was not heard")

def engine(*_, **__):
    try:
        strike()
    except KeyboardInterrupt:  # as engines do, which only know that somebody interrupted them
        raise EngineError("The engine failed.") from None

spend = Ledger.spend

@contextlib.contextmanager
def inside(*given, **options):
    with spend(*given, **options) as made:
        strike()
        yield made

if where == "before":
    Purse.require_room = strike
elif where == "inside":
    Ledger.spend = inside
elif where == "engine":
    import ziggurat.data.engines as engines
    engines.DuckDBEngine.__init__ = engine
elif where == "loading":
    import importlib
    importlib.import_module = strike
main()
"""
SCHEMA = (
    "unit: {person: p}\ncolumns:\n  p: {kind: integer, role: identifier}\n"
    "  age: {kind: integer, role: quasi-identifier, bounds: [0, 100]}\n"
    "  ill: {kind: boolean, role: sensitive}\n"
)
PAYING = {
    "ask": ("ask", "t.csv", "SELECT COUNT(*) AS n FROM t", "--rows-per-unit", "1", "--epsilon", "1/4"),
    "model fit": ("model", "fit", "t.csv", "--label", "ill", "--column", "age", "--epsilon", "1/4", "--budget", "t",
                  "--out", "m", "--delta", "0", "--model", "naive-bayes"),
    "model serve": ("model", "serve", "t.csv", "--kind", "histogram", "--column", "age", "--epsilon", "1/4",
                    "--delta", "0", "--budget", "t", "--out", "m"),
    "collect": ("collect", "t.csv", "--column", "ill", "--epsilon", "1/4", "--out", "r.csv", "--budget", "reports"),
}  # fmt: skip


@pytest.fixture(autouse=True)
def hearing() -> Iterator[None]:
    """Whoever runs the tests in the background has them, and all they start, ignore Ctrl-C."""
    usual = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in usual.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    rows = "".join(f"{i},{20 + i % 60},{('true', 'false')[i % 3 == 0]}\n" for i in range(200))
    (tmp_path / "t.csv").write_text("p,age,ill\n" + rows)
    (tmp_path / "t.yaml").write_text(SCHEMA)
    with Ledger.open(tmp_path / "book.db") as book:
        for name, relation in (("t", Relation.ADD_OR_REMOVE_ONE), ("reports", Relation.REPLACE_ONE)):
            book.create_budget(name, 1, 0, Neighbours(Unit.person("p"), relation))
            book.grant(name, "ana", 1)
    return tmp_path


def names(group: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    for name, command in group.commands.items():
        yield from names(command, (*path, name)) if hasattr(command, "commands") else [" ".join((*path, name))]


def struck(place: Path, where: str, number: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (place / "wrapper.py").write_text(WRAPPER)
    return subprocess.run(
        [sys.executable, "wrapper.py", where, number, *arguments],
        cwd=place,
        env={**os.environ, "ZIGGURAT_LEDGER": "book.db"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def left(place: Path, budget: str) -> Fraction:
    assert verify_ledger(place / "book.db").ok
    with Ledger.open(place / "book.db", create=False) as book:
        return book.left(budget, "ana")


def require_one_sentence(ended: subprocess.CompletedProcess[str], code: int, by: str) -> None:
    assert ended.returncode == code, ended.stderr
    assert (ended.stdout, ended.stderr.count("\n")) == ("", 1)
    assert ended.stderr.startswith(f"Stopped by {by}")


@pytest.mark.parametrize("kind", PAYING)
def test_ctrl_c_after_the_reservation_leaves_it_spent_and_nothing_half_written(kind: str, place: Path) -> None:
    budget = "reports" if kind == "collect" else "t"
    before = sorted(place.iterdir())
    ended = struck(place, "inside", "SIGINT", *PAYING[kind], "--analyst", "ana")
    require_one_sentence(ended, 130, "Ctrl-C")
    assert left(place, budget) == Fraction(3, 4)
    assert [each.name for each in sorted(place.iterdir()) if each not in before] == ["wrapper.py"]


@pytest.mark.parametrize("where", ["before", "loading"])
def test_ctrl_c_before_the_reservation_costs_nothing(where: str, place: Path) -> None:
    require_one_sentence(struck(place, where, "SIGINT", *PAYING["ask"], "--analyst", "ana"), 130, "Ctrl-C")
    assert left(place, "t") == 1


def test_sigterm_ends_in_the_same_way(place: Path) -> None:
    require_one_sentence(struck(place, "inside", "SIGTERM", *PAYING["ask"], "--analyst", "ana"), 143, "SIGTERM")
    assert left(place, "t") == Fraction(3, 4)


def test_an_engine_that_was_interrupted_is_no_engine_that_failed(place: Path) -> None:
    require_one_sentence(struck(place, "engine", "SIGINT", "risk", "clinic"), 130, "Ctrl-C")


def test_the_sentence_is_json_where_json_was_asked_for(place: Path) -> None:
    ended = struck(place, "inside", "SIGINT", *PAYING["ask"], "--analyst", "ana", "--json")
    assert (ended.returncode, ended.stderr) == (130, "")
    error = json.loads(ended.stdout)["error"]
    assert (error["kind"], error["exit_code"]) == ("Stopped", 130)


def test_without_a_signal_the_same_question_is_answered(place: Path) -> None:
    ended = struck(place, "nowhere", "SIGINT", *PAYING["ask"], "--analyst", "ana")
    assert (ended.returncode, left(place, "t")) == (0, Fraction(3, 4)), ended.stderr


@pytest.mark.parametrize("name", list(names(typer.main.get_command(app))))
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_every_command_ends_with_one_sentence(
    name: str, number: signal.Signals, command: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def strike(*_: Any) -> None:
        os.kill(os.getpid(), number)
        raise AssertionError("the signal was not heard")

    before = signal.getsignal(number)
    monkeypatch.setattr(typer.core.TyperCommand, "invoke", strike)
    monkeypatch.setattr(typer.core.TyperCommand, "parse_args", lambda *_: [])
    told = command(*name.split())
    assert (told.code, told.out, told.err.count("\n")) == (128 + number, "", 1)
    assert signal.getsignal(number) is before

"""Words that many sentences share."""

import ast
from pathlib import Path

import pytest

import ziggurat
from ziggurat.wording import count_noun, list_names, nearest, printable

_SOURCE = Path(ziggurat.__file__).parent


@pytest.mark.parametrize(
    ("number", "nouns", "said"),
    [
        (0, ("row",), "0 rows"),
        (1, ("row",), "1 row"),
        (2000, ("row",), "2,000 rows"),
        (5, ("synthetic copy",), "5 synthetic copies"),
        (1, ("copy",), "1 copy"),
        (3, ("day",), "3 days"),
        (2, ("person", "people"), "2 people"),
        (1, ("cell is", "cells are"), "1 cell is"),
    ],
)
def test_a_noun_follows_its_number(number: int, nouns: tuple[str, ...], said: str) -> None:
    assert count_noun(number, *nouns) == said


def test_names_are_listed_as_in_a_sentence() -> None:
    assert list_names(["a"]) == "'a'"
    assert list_names(["a", "b", "c"]) == "'a', 'b' and 'c'"


def test_the_nearest_name_is_named_or_some_that_are_known() -> None:
    assert nearest("Agee", ["ward", "age"]) == "did you mean 'age'?"
    assert nearest("x", []) == "none is known."
    assert nearest("zzz", ["ward", "age"]) == "known: 'ward', 'age'."
    assert nearest("zzz", map(str, range(20))).endswith("'11', ...")


def test_what_would_steer_a_terminal_is_shown() -> None:
    assert printable("Zoë\n\x1b[2J") == r"Zoë\n\x1b[2J"


def _makes_plural(node: ast.AST) -> bool:
    """Whether a choice is between a noun and the same with an s, by whether there is one of it."""
    if (
        not isinstance(node, ast.IfExp)
        or not isinstance(node.body, ast.Constant)
        or not isinstance(node.orelse, ast.Constant)
    ):
        return False
    return (node.body.value, node.orelse.value) == ("", "s") or f"{node.body.value}s" == node.orelse.value


def test_nobody_else_makes_plurals() -> None:
    found = {
        file.relative_to(_SOURCE).as_posix()
        for file in _SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if _makes_plural(node)
    }
    # These two need the noun without its number.
    assert found <= {"ledger/_populations.py", "experiments/showing/_report.py"}

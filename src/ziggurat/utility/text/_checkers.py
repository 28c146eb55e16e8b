"""Checkers of grammar that are at hand: link-grammar's parser and Harper."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from ziggurat.errors import EngineError, MissingExtraError

Checker = Callable[[Sequence[str]], Sequence[bool]]
"""Says of each of several headlines whether it finds no fault with it."""

_PARSER = "link-parser"
_SECONDS = 2  # for one headline
_START = 60
_OPTIONS = (
    "-dialect=headline",
    "-null=0",
    "-panic=0",
    "-spell=0",
    "-limit=100",
    "-graphics=0",
    "-echo=1",
    "-verbosity=1",
)
_COMPLETE = "UNUSED=0"  # of the cost of a linkage: it leaves out no word
_ODD = re.compile(r"[^\w\s']|_")
# Kinds of lints that mean something for words in lower case without punctuation. Left out are Spelling (names),
# Capitalization, Punctuation and Formatting; Typo and WordChoice, which join and split words that lost their hyphens
# and apostrophes; and matters of taste (Enhancement, Readability, Redundancy, Regionalism, Style).
_GRAVE = frozenset(
    {
        "Agreement",
        "BoundaryError",
        "Eggcorn",
        "Grammar",
        "Malapropism",
        "Miscellaneous",
        "Nonstandard",
        "Repetition",
        "Usage",
    }
)
_SLOW = "SpellCheck"


def find_missing(name: str) -> str:
    """Say what to install for a checker; nothing if it is there."""
    if name == "link-grammar" and shutil.which(_PARSER) is None:
        return "link-parser is not installed (Debian: apt-get install link-grammar)."
    if name == "harper":
        try:
            _make_linter()
        except MissingExtraError as error:
            return str(error)
    return ""


def parse_completely(headlines: Sequence[str]) -> list[bool]:
    """Say of each headline whether link-grammar finds a parse that leaves out no word, within two seconds.

    All go to one process, in its dialect for headlines, in which articles may be missing.
    """
    asked = [" ".join(_ODD.sub(" ", each).split()) or "0" for each in headlines]
    try:
        done = subprocess.run(  # noqa: S603 - no shell; headlines are its input, not its arguments
            [_PARSER, "en", f"-timeout={_SECONDS}", *_OPTIONS],
            input="\n".join(asked) + "\n",
            capture_output=True,
            text=True,
            encoding="utf-8",
            env={**os.environ, "LC_ALL": "C.UTF-8"},
            timeout=_START + _SECONDS * len(asked),
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        raise EngineError("link-parser failed or took too long; leave the checker link-grammar out.") from None
    return _read_parses(done.stdout, asked)


def _read_parses(text: str, asked: Sequence[str]) -> list[bool]:
    """Each headline is echoed before what was found of it."""
    found: list[bool] = []
    for line in text.splitlines():
        if len(found) < len(asked) and line.strip() == asked[len(found)]:
            found.append(False)
        elif found and _COMPLETE in line:
            found[-1] = True
    if len(found) != len(asked):
        raise EngineError("link-parser answered otherwise than its version 5.12; leave the checker link-grammar out.")
    return found


def lint_free(headlines: Sequence[str]) -> list[bool]:
    """Say of each headline whether Harper finds nothing of a kind that matters in lower case without punctuation."""
    linter = _make_linter()
    return [all(lint.lint_kind not in _GRAVE for lint in linter.lint(each, language="plaintext")) for each in headlines]


@cache
def _make_linter() -> Any:
    try:
        import harper
    except ImportError:
        raise MissingExtraError("Harper is not installed; add it with: pip install 'ziggurat[text]'.") from None
    linter = harper.Linter()
    linter.set_lint_config({**linter.get_lint_config(), _SLOW: False})
    return linter


CHECKERS: dict[str, Checker] = {"link-grammar": parse_completely, "harper": lint_free}
"""The checkers that are tried unless others are given."""

"""What is looked for in a note: one rule for each form, tried in order; what one took is not looked at again."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

COUNTRIES = ("de", "fr", "gb", "us")
"""The countries whose forms are known: Germany, France, the United Kingdom, the United States."""

E_MAIL, URL, IBAN, CARD, PHONE = "E-MAIL", "URL", "IBAN", "CARD", "PHONE"
ID, DATE, ADDRESS, NAME = "ID", "DATE", "ADDRESS", "NAME"
KINDS = (E_MAIL, URL, IBAN, CARD, ID, DATE, ADDRESS, PHONE, NAME)
"""What masks say in place of what they took, in brackets."""


@dataclass(frozen=True)
class NoteRule:
    """One form of one kind.

    Parameters
    ----------
    kind
        Which of `KINDS`.
    pattern
        Where it may be; a group named "it" is what is masked, else all that matches.
    passes
        What the text must pass, such as a check digit.
    country
        The country whose form it is; nothing if it is everybody's.
    digits
        Whether it has digits, so that a note without any need not be looked at.
    """

    kind: str
    pattern: re.Pattern[str]
    passes: Callable[[str], bool] | None = None
    country: str = ""
    digits: bool = True


def make_rule(
    kind: str,
    pattern: str,
    passes: Callable[[str], bool] | None = None,
    country: str = "",
    *,
    digits: bool = True,
    exact: bool = False,
) -> NoteRule:
    """Return a rule; the case of letters counts only if it is exact."""
    return NoteRule(kind, re.compile(pattern, 0 if exact else re.IGNORECASE), passes, country, digits)

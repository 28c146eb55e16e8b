"""Numbers as people write them: 1.234,56 or 1 234,5 or (12) or 5- or 12 €."""

import re
from functools import cache

from sqlglot import exp

from ziggurat.data.engines import captured
from ziggurat.data.schema import Kind, Notation

BLANKS = " \u00a0\u202f\u2009"
"""Blanks, also those that do not break."""
_APOSTROPHES = "'\u2019"
_MINUS = "\u2212-"
_GROUPS = {".": "[.]", ",": ",", " ": f"[{BLANKS}]", "'": f"[{_APOSTROPHES}]"}
_NO_AFFIX = str.maketrans("", "", f"0123456789.,+{BLANKS}{_APOSTROPHES}(){_MINUS}")
_DIGIT = re.compile("[0-9]")
_EXPONENT = "(?:[eE][+-]?[12]?[0-9]{1,2})?"
_MOST_DIGITS = 18
_BELOW_ZERO = f"^[^0-9]*[({_MINUS}]|[{_MINUS}][^0-9]*$"
_UNITS = ("%", "‰", "kg", "g", "mg", "µg", "cm", "mm", "m", "km", "l", "ml", "°C", "mmHg", "bpm", "kcal")
_CURRENCIES = (
    ("€", "EUR", "Euro", "euro", "Eur"),
    ("$", "USD", "US$"),
    ("£", "GBP"),
    ("CHF", "SFr"),
    ("zł", "PLN"),
    ("kr", "SEK", "NOK", "DKK"),
    ("¥", "JPY"),
    ("₹", "INR"),
    ("Kč", "CZK"),
    ("Ft", "HUF"),
)


def number_pattern(kind: Kind, notation: Notation, *, typical: bool = False) -> str:
    """Return the pattern of a cell, without blanks around it, that is read as a number.

    Parameters
    ----------
    kind
        Whole numbers or reals.
    notation
        The decimal mark, what groups digits, and what may stand around the number.
    typical
        Leave out what is rather a code: numbers padded with zeros or of more than 18 digits.
    """
    core, (before, after), (opening, closing) = _core(kind, notation, typical), *_surroundings(notation)
    return f"(?:{before}{core}{after}|{opening}{core}{closing})"


def number_text(cell: exp.Expr, kind: Kind, notation: Notation) -> exp.Expr:
    """Return the number in a cell that fits the pattern as text that every engine reads as a number."""
    body: exp.Expr = captured(cell, _capture(kind, notation))
    for mark in _marks(notation.thousands):
        body = _replace(body, mark, "")
    body = body if notation.decimal == "." else _replace(body, notation.decimal, ".")
    below = exp.RegexpLike(this=cell, expression=exp.Literal.string(_BELOW_ZERO))
    sign = exp.Case(ifs=[exp.If(this=below, true=exp.Literal.string("-"))], default=exp.Literal.string(""))
    return exp.Concat(expressions=[sign, body], safe=False, coalesce=False)


def read_number(text: str, notation: Notation, *, typical: bool = False) -> float | None:
    """Return the number that a cell is read as, or None."""
    cell = text.strip(BLANKS)
    if not _compiled(number_pattern(Kind.REAL, notation, typical=typical)).fullmatch(cell):
        return None
    found = _compiled(_capture(Kind.REAL, notation)).fullmatch(cell)
    body = "" if found is None else found[1]
    for mark in _marks(notation.thousands):
        body = body.replace(mark, "")
    number = float(body.replace(notation.decimal, "."))
    return -number if _compiled(_BELOW_ZERO).search(cell) else number


def affix_in(cell: str) -> str | None:
    """Return what stands around the digits of a cell: nothing, a currency or a unit; None if it is something else."""
    rest = cell.translate(_NO_AFFIX)
    rest = _without_exponent(cell).translate(_NO_AFFIX).strip() if rest else rest
    if not rest:
        return "" if _DIGIT.search(cell) else None
    return rest if rest in _UNITS or any(rest in known for known in _CURRENCIES) else None


def same_affix(first: str, second: str) -> bool:
    """Return whether two affixes mean the same, such as € and EUR."""
    return first == second or any(first in known and second in known for known in _CURRENCIES)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _without_exponent(cell: str) -> str:
    return re.sub(r"(?<=[0-9.,])[eE][+-]?[0-9]{1,3}", "", cell)


def _core(kind: Kind, notation: Notation, typical: bool) -> str:
    """The digits, with a fraction if they may have one."""
    whole = f"(?:0|[1-9][0-9]{{0,{_MOST_DIGITS - 1}}})" if typical else "[0-9]+"
    if notation.thousands:
        first = "[1-9][0-9]{0,2}" if typical else "[0-9]{1,3}"
        whole = f"(?:{first}(?:{_GROUPS[notation.thousands]}[0-9]{{3}})+|{whole})"
    if kind is Kind.INTEGER:
        return whole
    mark = "[.]" if notation.decimal == "." else ","
    return f"(?:{whole}(?:{mark}[0-9]*)?|{mark}[0-9]+){_EXPONENT}"


def _capture(kind: Kind, notation: Notation) -> str:
    """What takes the digits out of a cell that is known to be a number."""
    (before, after), (opening, closing) = _surroundings(notation)
    return f"^(?:{before}|{opening})({_core(kind, notation, False)})(?:{closing}|{after})$"


def _surroundings(notation: Notation) -> tuple[tuple[str, str], tuple[str, str]]:
    """What may stand before and after the digits: a sign and affixes, or brackets and affixes."""
    blank = f"[{BLANKS}]*"
    listed = "|".join(re.sub(r"([.$*?|(){}])", r"[\1]", each) for each in notation.affixes)
    affix = f"(?:{listed})?{blank}" if listed else ""
    signed = f"{affix}[+{_MINUS}]?{blank}{affix}", f"{blank}{affix}[{_MINUS}]?"
    return signed, (f"{affix}[(]{blank}{affix}", f"{blank}{affix}[)]{blank}{affix}")


def _marks(thousands: str) -> str:
    return {" ": BLANKS, "'": _APOSTROPHES}.get(thousands, thousands)


def _replace(text: exp.Expr, old: str, new: str) -> exp.Expr:
    words = [text, exp.Literal.string(old), exp.Literal.string(new)]
    return exp.Anonymous(this="REPLACE", expressions=words)

"""Dates as people write them: 31.12.1980, 12/31/80, 12 mars 2024 or 2024-03-31T14:00:00+02:00."""

import re
from datetime import date
from functools import cache

from sqlglot import exp

from ziggurat.data.engines import captured
from ziggurat.data.expressions import cast_to, is_one_of, only_where
from ziggurat.data.schema import GRAMMAR, Kind, Notation
from ziggurat.data.written._numbers import BLANKS
from ziggurat.data.written._words import MONTHS

_UPPER = str.maketrans({"ä": "[äÄ]", "é": "[éÉ]", "û": "[ûÛ]"})  # not every engine has capitals with accents in order
_NAMES = "|".join(name.translate(_UPPER) for names in MONTHS for name in sorted(names, key=len, reverse=True))
_PIECES = {
    "d": "0?[1-9]|[12][0-9]|3[01]",
    "m": "0?[1-9]|1[0-2]",
    "Y": "[0-9]{4}",
    "y": "[0-9]{2}",
    "b": f"(?:{_NAMES})[.]?",
    "B": f"(?:{_NAMES})[.]?",
    "H": "[01]?[0-9]|2[0-3]",
    "M": "[0-5][0-9]",
    "S": "[0-5][0-9](?:[.,][0-9]+)?",
    "z": "z|utc|gmt|[+-][0-9]{2}:?(?:[0-9]{2})?",
    "p": "[ap][.]?m[.]?",
}
_WIDTHS = {"d": 2, "m": 2, "Y": 4, "y": 2}
_PADDED = _PIECES | {"d": "0[1-9]|[12][0-9]|3[01]", "m": "0[1-9]|1[0-2]"}


def date_pattern(form: str) -> str:
    """Return the pattern of a cell, in lower case and without blanks around it, that has this form of a date."""
    return _pattern(form, "")


def date_value(cell: exp.Expr, notation: Notation) -> exp.Expr:
    """Return the date that a cell of text means in any of the notation's forms, and otherwise NULL.

    The day on the clock that is written: a time of day and a time zone are left behind.
    """
    lowered = exp.Lower(this=cell)
    days = [_day(lowered, form, notation.century) for form in notation.dates]
    return days[0] if len(days) == 1 else exp.Coalesce(this=days[0], expressions=days[1:])


def read_date(text: str, form: str, century: int | None = None) -> date | None:
    """Return the date that a cell of this form means, or None."""
    cell = text.strip(BLANKS).lower()
    if not _compiled(date_pattern(form)).fullmatch(cell):
        return None
    found = {each: _compiled(_pattern(form, each)).fullmatch(cell) for each in _directives(form)}
    pieces = {each: match[1] for each, match in found.items() if match is not None}
    year = int(pieces["Y"]) if "Y" in pieces else _whole_year(int(pieces["y"]), century or 1)
    name = pieces.get("b", pieces.get("B", "")).rstrip(".")
    month = (
        int(pieces["m"]) if "m" in pieces else 1 + next(place for place, names in enumerate(MONTHS) if name in names)
    )
    try:
        return date(year, month, int(pieces["d"]))
    except ValueError:
        return None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _directives(form: str) -> list[str]:
    return [each for each in re.findall("%(.)", form) if each in "dmYybB"]


@cache
def _pattern(form: str, wanted: str, padded: bool = False) -> str:
    """The pattern of a form; the piece that is wanted is its only group."""
    made, shapes = "", _PADDED if padded else _PIECES
    for part in re.split("(%.|[ ]+)", form):
        if part.startswith("%"):
            made += f"({shapes[part[1]]})" if part[1] == wanted else f"(?:{shapes[part[1]]})"
        elif part.strip():
            made += re.sub(r"([.^$*+?{}\[\]|()])", r"[\1]", part.lower())
        elif part:
            made += f"[{BLANKS}]+"
    return made.replace(f"[{BLANKS}]+(?:{_PIECES['p']})", f"[{BLANKS}]*(?:{_PIECES['p']})")


@cache
def _find_places(form: str) -> dict[str, int] | None:
    """Where the pieces of a date begin if days and months have two digits; None if that differs from cell to cell."""
    places: dict[str, int] = {}
    at, left = 1, set(_directives(form))
    for part in re.split("(%.|[ ]+)", form):
        if not left:
            return places
        width = _WIDTHS.get(part[1:]) if part.startswith("%") else len(part) if part.strip() or not part else None
        if width is None:
            return None
        if part.startswith("%"):
            places[part[1]] = at
            left.discard(part[1])
        at += width
    return None if left else places


def _day(lowered: exp.Expr, form: str, century: int | None) -> exp.Expr:
    """The day of a form; where its pieces stand at fixed places they are cut out, which takes a fifth of the time."""
    written = _write_iso({each: captured(lowered, f"^{_pattern(form, each)}$") for each in _directives(form)}, century)
    ways = [exp.If(this=_matches(lowered, date_pattern(form)), true=written)]
    places = _find_places(form)
    if places is not None:
        cut = {each: _cut(lowered, at, _WIDTHS[each]) for each, at in places.items()}
        ways.insert(0, exp.If(this=_matches(lowered, _pattern(form, "", padded=True)), true=_write_iso(cut, century)))
    iso = exp.Case(ifs=ways, default=exp.Null())
    return only_where(_matches(iso, f"({GRAMMAR[Kind.DATE]})"), cast_to(iso, "DATE"))


def _write_iso(pieces: dict[str, exp.Expr], century: int | None) -> exp.Expr:
    year = pieces["Y"] if "Y" in pieces else _year_text(pieces["y"], century or 1)
    month = _padded(pieces["m"]) if "m" in pieces else _month(pieces["b"] if "b" in pieces else pieces["B"])
    dash = exp.Literal.string("-")
    return exp.Concat(expressions=[year, dash, month, dash, _padded(pieces["d"])], safe=False, coalesce=False)


def _matches(cell: exp.Expr, pattern: str) -> exp.Expr:
    return exp.RegexpLike(this=cell, expression=exp.Literal.string(f"^{pattern}$"))


def _cut(text: exp.Expr, at: int, width: int) -> exp.Expr:
    return exp.Substring(this=text, start=exp.Literal.number(at), length=exp.Literal.number(width))


def _padded(number: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="LPAD", expressions=[number, exp.Literal.number(2), exp.Literal.string("0")])


def _month(name: exp.Expr) -> exp.Expr:
    bare = exp.Anonymous(this="REPLACE", expressions=[name, exp.Literal.string("."), exp.Literal.string("")])
    ifs = []
    for place, names in enumerate(MONTHS, start=1):
        spelt = (exp.Literal.string(each) for name in names for each in {name, _capitals(name)})
        ifs.append(exp.If(this=is_one_of(bare, spelt), true=exp.Literal.string(f"{place:02}")))
    return exp.Case(ifs=ifs, default=exp.Literal.string("00"))


def _capitals(name: str) -> str:
    return name.replace("ä", "Ä").replace("é", "É").replace("û", "Û")


def _whole_year(short: int, century: int) -> int:
    return century + (short - century) % 100


def _year_text(short: exp.Expr, century: int) -> exp.Expr:
    """The year of the hundred from `century` on that ends in two digits."""
    ending = f"{century % 100:02}"
    later = exp.GTE(this=short, expression=exp.Literal.string(ending))
    hundreds = [exp.Literal.string(f"{century // 100 + each:02}") for each in (0, 1)]
    first = exp.Case(ifs=[exp.If(this=later, true=hundreds[0])], default=hundreds[1])
    return exp.Concat(expressions=[first, short], safe=False, coalesce=False)

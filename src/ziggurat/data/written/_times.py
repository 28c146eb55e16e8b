"""Times of day and lengths of time as people write them, in seconds: 14:35, 2:35 pm, 26:10:00, 1h 30m, PT1H30M."""

from functools import reduce

from sqlglot import exp

from ziggurat.data.engines import captured
from ziggurat.data.expressions import cast_to
from ziggurat.data.written._numbers import BLANKS

_BLANK = f"[{BLANKS}]*"
_SECOND = "[0-5][0-9](?:[.,][0-9]+)?"
_AMOUNT = "[0-9]+(?:[.,][0-9]+)?"
_NAMED = (
    (86_400, "days?|d|tage?|jours?|j"),
    (3_600, "hours?|hrs?|h|stunden?|std[.]?|heures?"),
    (60, "minutes?|minuten|mins?[.]?|mn|m"),
    (1, "seconds?|secondes?|sekunden?|secs?[.]?|sek[.]?|s"),
)
_COUNTED = {3_600: "^([0-9]+):[0-9]", 60: "^[0-9]+:([0-5][0-9])", 1: f"^[0-9]+:[0-9]+:({_SECOND})"}


def clock_pattern(wanted: str = "") -> str:
    """Return the pattern of a time of day, in lower case; the part that is wanted (hour, minute, ...) is its group."""
    hour, minute = _group("[01]?[0-9]|2[0-4]", wanted == "hour"), _group("[0-5][0-9]", wanted == "minute")
    second, half = _group(_SECOND, wanted == "second"), _group("[ap]", wanted == "half")
    return f"{hour}[:h]{minute}(?::{second})?(?:{_BLANK}(?:{half}[.]?m[.]?|uhr|h))?"


def duration_pattern() -> str:
    """Return the pattern of a length of time, in lower case: 26:10:00, 1h 30m or PT1H30M; one part at least."""
    named = [f"{_AMOUNT}{_BLANK}(?:{words})" for _, words in _NAMED]
    days, *rest = (f"{_AMOUNT}{letter}" for letter in "dhms")
    iso = [f"p{days}", *(f"p(?:{days})?t{each}" for each in _one_or_more(rest))]
    return f"(?:{'|'.join([f'[0-9]+:[0-5][0-9](?::{_SECOND})?', *_one_or_more(named), *iso])})"


def clock_value(cell: exp.Expr) -> exp.Expr:
    """Return the seconds since midnight of a cell that is a time of day."""
    lowered = exp.Lower(this=cell)
    hour, minute, second, half = (
        captured(lowered, f"^{clock_pattern(each)}$") for each in ("hour", "minute", "second", "half")
    )
    twelve = exp.EQ(this=_number(hour), expression=_real(12))
    noon = exp.Case(
        ifs=[
            exp.If(this=exp.And(this=_is(half, "p"), expression=exp.Not(this=twelve)), true=_real(12)),
            exp.If(this=exp.And(this=_is(half, "a"), expression=twelve), true=_real(-12)),
        ],
        default=_real(0),
    )
    return _sum([_times(_number(hour), 3_600), _times(noon, 3_600), _times(_number(minute), 60), _number(second)])


def duration_value(cell: exp.Expr) -> exp.Expr:
    """Return the seconds of a cell that is a length of time."""
    lowered = exp.Lower(this=cell)
    amounts = []
    for seconds, words in _NAMED:
        # In P1DT2H a letter follows the days.
        found = [captured(lowered, f"({_AMOUNT}){_BLANK}(?:{words})(?:[^a-z]|t[0-9]|$)")]
        found += [captured(lowered, _COUNTED[seconds])] if seconds in _COUNTED else []
        amounts.append(_times(_sum([_number(each) for each in found]), seconds))
    return _sum(amounts)


def _group(pattern: str, is_wanted: bool) -> str:
    return f"({pattern})" if is_wanted else f"(?:{pattern})"


def _one_or_more(parts: list[str]) -> list[str]:
    """Alternatives of which each begins with another part, and may go on with those after it."""
    return [first + "".join(f"(?:{_BLANK}{each})?" for each in parts[place + 1 :]) for place, first in enumerate(parts)]


def _number(text: exp.Expr) -> exp.Expr:
    """A part as a number; 0 if it is not there, which engines say as NULL or as nothing."""
    pointed = exp.Anonymous(this="REPLACE", expressions=[text, exp.Literal.string(","), exp.Literal.string(".")])
    given = exp.Nullif(this=pointed, expression=exp.Literal.string(""))
    return exp.Coalesce(this=cast_to(given, "DOUBLE"), expressions=[_real(0)])


def _is(text: exp.Expr, letter: str) -> exp.Expr:
    return exp.EQ(this=text, expression=exp.Literal.string(letter))


def _real(number: int) -> exp.Expr:
    return cast_to(exp.Literal.string(str(number)), "DOUBLE")


def _times(value: exp.Expr, factor: int) -> exp.Expr:
    return exp.Mul(this=exp.Paren(this=value), expression=_real(factor))


def _sum(parts: list[exp.Expr]) -> exp.Expr:
    return exp.Paren(this=reduce(lambda first, second: exp.Add(this=first, expression=second), parts))

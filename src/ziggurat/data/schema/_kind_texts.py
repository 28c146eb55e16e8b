"""How values of each kind are written as text, whoever reads them: an engine, a schema or a hierarchy."""

import re
from collections.abc import Callable
from functools import cache

from ziggurat.data.schema._known import Kind

_YEAR = "([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)"  # not 0000, which neither Python nor PostgreSQL has
_LEAP_YEAR = "([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)"
_DAYS = "((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))"
GRAMMAR = {
    Kind.INTEGER: "[+-]?[0-9]+",
    Kind.REAL: "[+-]?([0-9]+[.]?|[0-9]*[.][0-9]+)([eE][+-]?[12]?[0-9]{1,2})?",
    Kind.DATE: f"({_YEAR}-{_DAYS}|{_LEAP_YEAR}-02-29)",
}
"""The texts that are read as a kind, as a pattern that every engine and Python understand alike."""
LONGEST = {Kind.INTEGER: 38, Kind.REAL: 100, Kind.DATE: 10}  # {1,99} in a pattern would take long to compile
"""The most characters of a text that is read as a kind."""
_UNPADDED = "(0|[1-9][0-9]{0,17})"
TYPICAL = {
    Kind.INTEGER: f"[+-]?{_UNPADDED}",
    Kind.REAL: f"[+-]?(({_UNPADDED}([.][0-9]*)?|[.][0-9]+)([eE][+-]?[12]?[0-9]{{1,2}})?"
    "|nan|NaN|NAN|inf|Inf|INF|Infinity)",
    Kind.DATE: GRAMMAR[Kind.DATE],
}
"""The texts that people write for a kind; a number padded with zeros is rather a code."""
PLAIN_TRUTH = ("true", "false")
"""The texts, in lower case, that read as truth values."""


def looks_like(text: str, kind: Kind) -> bool:
    """Return whether a piece of text follows the grammar of a kind."""
    return re.fullmatch(GRAMMAR[kind], text.strip()) is not None


def cell_reads_as(cell: str, kind: Kind) -> bool:
    """Return whether `reads_as` holds for a filled cell that is no missing code."""
    return kind_reader(kind)(cell.strip(" "))


@cache
def kind_reader(kind: Kind) -> Callable[[str], bool]:
    """Return `cell_reads_as` of one kind, for cells without blanks around them."""
    if kind is Kind.BOOLEAN:
        return lambda cell: cell.lower() in PLAIN_TRUTH
    longest, typical = LONGEST[kind], re.compile(TYPICAL[kind]).fullmatch
    return lambda cell: typical(cell) is not None and len(cell) <= longest

"""What files of Stata and SPSS allow: names of variables, how many codes for missing values, how long texts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ziggurat.errors import DataError

if TYPE_CHECKING:
    from ziggurat.data.writing._statistics_columns import StatisticsColumn

_STATA_WORDS = """
    _all _b _coef _cons _n _N _pi _pred _rc _se _skip byte double float if in int long str strL using with
"""
_SPSS_WORDS = "ALL AND BY EQ GE GT LE LT NE NOT OR TO WITH"
_MOST_DISCRETE = 3


@dataclass(frozen=True)
class StatisticsRules:
    """What a statistics program allows.

    Parameters
    ----------
    program
        Its name.
    name
        A pattern of names of variables.
    longest_name
        In bytes.
    words
        Names that it keeps for itself, in upper case.
    longest_description
        In characters; longer ones are cut.
    dates, moments
        How it shows dates, and dates with a time.
    """

    program: str
    name: str
    longest_name: int
    words: frozenset[str]
    longest_description: int
    dates: str
    moments: str


STATA = StatisticsRules("Stata", r"[^\W\d]\w*", 32, frozenset(_STATA_WORDS.upper().split()), 80, "%td", "%tc")
SPSS = StatisticsRules(
    "SPSS", r"[^\W\d_][\w.$#@]*(?<![._])", 64, frozenset(_SPSS_WORDS.split()), 250, "DATE11", "DATETIME20"
)


def check_name(name: str, rules: StatisticsRules) -> None:
    """Raise DataError unless a program allows the name of a column; the sentence says a name that it does.

    Parameters
    ----------
    name
        Of the column.
    rules
        Of the program.
    """
    fits = re.fullmatch(rules.name, name) and len(name.encode()) <= rules.longest_name
    if not fits or name.upper() in rules.words:
        raise DataError(
            f"{rules.program} does not allow the name {name!r} of a column; call it {_allowed(name, rules)!r}, or "
            "write .xlsx, .csv or .parquet."
        )


def _allowed(name: str, rules: StatisticsRules) -> str:
    made = re.sub(r"\W+", "_", name).strip("_")
    made = made if re.match(r"[^\W\d_]", made) else f"v_{made}".strip("_")
    made = made.encode()[: rules.longest_name - 2].decode("utf-8", "ignore").rstrip("_")
    return f"{made}_1" if made.upper() in rules.words else made


def missing_ranges(column: "StatisticsColumn") -> list[Any]:
    """Return the codes of a column as SPSS keeps them: three values, or a range and one value.

    Parameters
    ----------
    column
        With its cells; a range may hold none that is not missing.
    """
    codes = sorted(column.missing, key=lambda code: (isinstance(code, str), code))
    if len(codes) <= _MOST_DISCRETE:
        return list(codes)
    numbers = [code for code in codes if not isinstance(code, str)]
    for single in (None, numbers[0], numbers[-1]) if len(numbers) == len(codes) else ():
        within = [code for code in numbers if code != single]
        if _is_free(within, column.cells):
            return [{"lo": within[0], "hi": within[-1]}, *([] if single is None else [single])]
    raise DataError(
        f"SPSS keeps at most three codes for missing values, or a range and one; column {column.name!r} has "
        f"{len(codes)}; fold some together, or write .parquet."
    )


def _is_free(codes: Sequence[Any], cells: Sequence[Any]) -> bool:
    """Whether codes are neighbouring whole numbers, so that a range of them is read back as these, and nothing else."""
    close = all(isinstance(code, int) for code in codes) and all(after - code == 1 for code, after in pairwise(codes))
    return close and all(cell is None or cell in codes or not codes[0] <= cell <= codes[-1] for cell in cells)

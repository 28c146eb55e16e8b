"""What a file of a statistics program says of a variable, as a column of a schema."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ziggurat.data.reading.formats._statistics_times import Meaning
from ziggurat.data.schema import Categories, Column, Kind, MissingCode, Provenance

_MOST_OF_A_RANGE = 100


@dataclass(frozen=True)
class Variable:
    """What a file says of a variable.

    Parameters
    ----------
    name, description
        Of the column.
    labels
        What values stand for; those of missing values of Stata and SAS under their letter.
    ranges
        Which values count as missing in SPSS, each as {"lo": ..., "hi": ...}.
    meaning
        What its numbers are.
    program
        Whose file it is.
    is_text
        Whether its cells are text.
    """

    name: str
    description: str = ""
    labels: Mapping[Any, str] = field(default_factory=dict)
    ranges: Sequence[Mapping[str, Any]] = ()
    meaning: Meaning = Meaning.NUMBER
    program: str = ""
    is_text: bool = False


def describe(variable: Variable, kind: Kind, missing: tuple[MissingCode, ...], numbers: Iterable[float] = ()) -> Column:
    """Return the column that a variable is.

    Parameters
    ----------
    variable
        What the file says.
    kind
        Of its cells.
    missing
        Its codes for missing values.
    numbers
        Its cells; if each has a label or is missing, the column is a category of the labelled codes.
    """
    labels = {} if kind is Kind.DATE else {_code(variable, value): text for value, text in variable.labels.items()}
    listed = [code for code in labels if code not in missing and isinstance(code, int)]
    known = {*listed, *missing}
    if kind is Kind.INTEGER and listed and all(number in known for number in numbers):
        categories = Categories(tuple(listed), Provenance.LEARNED)
        kind = Kind.CATEGORY
    else:
        categories = None
    return Column(
        variable.name,
        kind,
        categories=categories,
        missing=missing,
        description=variable.description,
        labels=tuple(labels.items()),
    )


def missing_codes(variable: Variable, cells: Iterable[Any]) -> tuple[MissingCode, ...]:
    """Return every code of a variable that counts as missing: told, labelled, or met where the file says so.

    A range of SPSS becomes its whole numbers if they are few, and otherwise those of its values that occur or have a
    label, with its ends.
    """
    if variable.program != "SPSS":
        letters = {cell for cell in cells if isinstance(cell, str)} if not variable.is_text else set()
        labelled = {value for value in variable.labels if isinstance(value, str)} if not variable.is_text else set()
        return tuple(f".{letter}" for letter in sorted(letters | labelled))
    found: dict[MissingCode, None] = {}
    for each in variable.ranges:
        found |= dict.fromkeys(_codes_of(variable, each["lo"], each["hi"], cells))
    return tuple(sorted(found))


def _codes_of(variable: Variable, low: Any, high: Any, cells: Iterable[Any]) -> list[MissingCode]:
    if isinstance(low, str) or low == high:
        return [_plain(low)]
    ends = [_plain(end) for end in (low, high) if math.isfinite(end) and abs(end) < 1e300]
    if len(ends) == 2 and all(isinstance(end, int) for end in ends) and high - low < _MOST_OF_A_RANGE:
        between: list[MissingCode] = list(range(int(low), int(high) + 1))
    else:
        between = ends
    met = {_plain(cell) for cell in (*cells, *variable.labels) if cell is not None and low <= cell <= high}
    return [*between, *sorted(met.difference(between))]


def _code(variable: Variable, value: Any) -> MissingCode:
    letter = isinstance(value, str) and not variable.is_text
    return f".{value}" if letter else _plain(value)


def _plain(value: Any) -> MissingCode:
    if isinstance(value, str):
        return value
    return int(value) if float(value).is_integer() else float(value)

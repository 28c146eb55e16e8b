"""What every builder of hierarchies starts from and ends with: counted values, and labels put together."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ziggurat.data import Hierarchy, Kind
from ziggurat.data.schema import Value, kind_of_values
from ziggurat.errors import DataError, ParameterError

Values = Iterable[Value | None] | Mapping[Value | None, int]
"""Values, each as often as it occurs, or each with the number of rows that hold it."""

Integers = npt.NDArray[Any]
TOP = "*"

_NAMES = {
    Kind.TEXT: "text",
    Kind.INTEGER: "whole numbers",
    Kind.REAL: "numbers",
    Kind.DATE: "dates",
    Kind.BOOLEAN: "truth values",
}


class Builder(Protocol):
    """Makes a hierarchy for the values of a column."""

    def build(self, values: Values, /) -> Hierarchy:
        """Return a hierarchy of these values; missing ones (None, NaN and the infinities) are left out."""
        ...

    def describe(self) -> str:
        """Return a sentence on the levels that `build` makes."""
        ...


def count_values(values: Values, *kinds: Kind) -> tuple[Kind, dict[Value, int]]:
    """Return what the values are, and each with its number of rows, sorted; errors name no value.

    Parameters
    ----------
    values
        As given to `build`.
    kinds
        What they may be; anything if nothing is said.
    """
    given = values if isinstance(values, Mapping) else Counter(values)
    if set(map(type, given.values())) - {int} or min(given.values(), default=0) < 0:
        raise ParameterError("The number of rows of a value must be a whole number, not below zero.")
    missing = [value for value in given if value is None or (isinstance(value, float) and not math.isfinite(value))]
    filled: dict[Any, int] = dict(given)
    for value in missing:
        del filled[value]
    if not filled:
        raise DataError("There are no values to build a hierarchy of.")
    sort = kind_of_values(tuple(filled))
    if sort is None or (kinds and sort not in kinds):
        wanted = " or ".join(f"all {_NAMES[kind]}" for kind in kinds or _NAMES)
        raise ParameterError(f"The values must be {wanted}.")
    if sort is Kind.REAL:
        filled = {float(value): count for value, count in filled.items()}
    return sort, {value: filled[value] for value in sorted(filled)}


def label_codes(codes: Integers, label: Callable[[int], str]) -> list[str]:
    """Return the label of every code; each distinct code is put into words once."""
    distinct, places = np.unique(codes, return_inverse=True)
    words = np.array([label(code) for code in distinct.tolist()], dtype=object)
    return words[places].tolist()  # type: ignore[no-any-return]


def assemble(values: Iterable[Value], levels: Sequence[Sequence[str]]) -> Hierarchy:
    """Return the hierarchy whose labels are given level by level."""
    return Hierarchy(dict(zip(values, zip(*levels, strict=True), strict=True)))


def require_whole(value: object, what: str, least: int) -> None:
    """Refuse what is not a whole number of at least `least`."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ParameterError(f"{what} must be a whole number of at least {least}.")

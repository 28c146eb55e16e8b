"""Between cells of a table and the numbers and codes that methods learn from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ziggurat.data import Column, Kind
from ziggurat.data.coded import CodedColumn, Reals, code_alike, read_numbers
from ziggurat.errors import DataError
from ziggurat.plain import fields_to_plain
from ziggurat.synthesize._method import Codes

MOST_CATEGORIES = 1000
_DECIMALS = range(7)
_EXACT = 2.0**53
_TYPES = {
    Kind.INTEGER: pa.int64(),
    Kind.REAL: pa.float64(),
    Kind.BOOLEAN: pa.bool_(),
    Kind.DATE: pa.date32(),
    Kind.TEXT: pa.string(),
}


@dataclass(frozen=True)
class ColumnCoding:
    """How the cells of one column are coded.

    Parameters
    ----------
    name
        The column.
    kind
        What its cells are stored as: integer, real, date, boolean or text.
    labels
        Of categories: the values in the order of their codes, None where a missing cell is one. Of numbers: what
        stands for a missing one, from code 1 on.
    numeric
        Whether cells are numbers; dates are, as days.
    ordered
        Whether the order of categories means something.
    decimals
        Numbers are rounded to so many; None leaves them as they are.
    usual
        The code of the commonest category, which stands for categories that were not learned.
    """

    name: str
    kind: Kind
    labels: tuple[Any, ...]
    numeric: bool = False
    ordered: bool = False
    decimals: int | None = None
    usual: int = 0

    @property
    def size(self) -> int:
        """How many codes there are."""
        return len(self.labels) + self.numeric

    @property
    def type(self) -> pa.DataType:
        """What the column is written as."""
        return _TYPES[self.kind]

    def encode(self, column: pa.ChunkedArray) -> CodedColumn:
        """Return cells as the methods see them."""
        return self._numbers(column) if self.numeric else self._categories(column)

    def decode(self, codes: Codes, values: Reals | None = None) -> pa.Array:
        """Return drawn codes and numbers as cells of a table."""
        if not self.numeric:
            return pa.array(self.labels, self.type).take(pa.array(codes))
        assert values is not None
        numbers = np.where(codes == 0, values, 0.0)
        if self.kind is Kind.REAL:
            cells = pa.array(numbers, pa.float64())
        else:
            cells = pa.array(np.rint(numbers).astype(np.int64)).cast(
                pa.int32() if self.kind is Kind.DATE else self.type
            )
        cells = cells.cast(self.type)
        for place, label in enumerate(self.labels, start=1):
            cells = pc.if_else(pa.array(codes == place), pa.scalar(label, self.type), cells)
        return cells

    def rounded(self, values: Reals) -> Reals:
        """Return numbers at the resolution of the column."""
        return values if self.decimals is None else np.round(values, self.decimals)

    def value(self, label: object) -> tuple[int, float]:
        """Return the code and the number of a cell; DataError if the column has no such value."""
        if not self.numeric:
            if label in self.labels:
                return self.labels.index(label), math.nan
        elif isinstance(label, int | float) and not isinstance(label, bool):
            return (self.labels.index(label) + 1, math.nan) if label in self.labels else (0, float(label))
        elif self.kind is Kind.DATE and isinstance(label, str) and looks_like_a_day(label):
            return 0, float((date.fromisoformat(label) - date(1970, 1, 1)).days)
        raise DataError(f"A rule sets column {self.name!r} to a value that is none of its own.")

    def to_dict(self) -> dict[str, Any]:
        """Return the encoding as values that JSON can hold."""
        return fields_to_plain(self)

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> ColumnCoding:
        """Return what `to_dict` described."""
        kind = Kind(facts["kind"])
        labels = tuple(
            date.fromisoformat(each) if kind is Kind.DATE and each is not None else each for each in facts["labels"]
        )
        return cls(**{**facts, "kind": kind, "labels": labels})

    def _categories(self, column: pa.ChunkedArray) -> CodedColumn:
        (codes,), values = code_alike([column])
        places = {label: place for place, label in enumerate(self.labels)}
        known = np.array([places.get(each, self.usual) for each in values.to_pylist()], np.int32)
        return CodedColumn(known[codes], self.size, None, self.ordered)

    def _numbers(self, column: pa.ChunkedArray) -> CodedColumn:
        values = finite_numbers(column)
        codes = np.zeros(len(values), np.int32)
        for place, label in enumerate(self.labels, start=1):
            codes[np.isnan(values) if label is None else values == _as_number(label)] = place
        values = np.where(codes == 0, values, math.nan)
        # A missing cell in a column that had none when it was learned: a number in the middle stands for it.
        strange = (codes == 0) & np.isnan(values)
        if strange.any():
            rest = values[~np.isnan(values)]
            values[strange] = np.median(rest) if rest.size else 0.0
        return CodedColumn(codes, self.size, values)


def looks_like_a_day(text: str) -> bool:
    """Whether a text is a day of the calendar, as in 2024-02-29."""
    try:
        return date.fromisoformat(text) is not None
    except ValueError:
        return False


def finite_numbers(cells: pa.ChunkedArray) -> Reals:
    """Return a column of numbers or dates as reals, NaN where a cell is missing or infinite."""
    values = read_numbers(cells)
    values[np.isinf(values)] = math.nan
    return values


def learn_coding(column: Column, cells: pa.ChunkedArray, missing: Iterable[object] = ()) -> ColumnCoding:
    """Learn how a column is coded from its cells; what cannot be synthesised is refused with advice.

    `missing` are codes for missing cells besides those that the schema declares.
    """
    kind = column.storage
    if kind in (Kind.INTEGER, Kind.REAL, Kind.DATE) and column.kind is not Kind.CATEGORY:
        codes = [each for each in (*column.missing, *missing) if not isinstance(each, str)]
        return _learn_numbers(column.name, kind, cells, codes)
    return _learn_categories(column, cells)


def _learn_numbers(name: str, kind: Kind, cells: pa.ChunkedArray, codes: Sequence[Any]) -> ColumnCoding:
    values = finite_numbers(cells)
    used = [code for code in dict.fromkeys(codes) if (values == _as_number(code)).any()]
    labels = (*((None,) if np.isnan(values).any() else ()), *used)
    rest = values[~np.isnan(values) & ~np.isin(values, [_as_number(each) for each in used])]
    if rest.size and np.abs(rest).max() > _EXACT:
        raise DataError(
            f"Column {name!r} holds numbers beyond 2^53, which are rather codes; "
            "declare it as an identifier or a category in the schema, or leave it out."
        )
    return ColumnCoding(name, kind, labels, numeric=True, decimals=_resolution(rest) if kind is Kind.REAL else 0)


def _learn_categories(column: Column, cells: pa.ChunkedArray) -> ColumnCoding:
    (codes,), values = code_alike([cells])
    counts = dict(zip(values.to_pylist(), np.bincount(codes, minlength=len(values)).tolist(), strict=True))
    present = [each for each in counts if each is not None]
    declared = column.categories
    if declared is not None and declared.ordered:
        ranks = {label: place for place, label in enumerate(declared.values)}
        present.sort(key=lambda label: (ranks.get(label, len(ranks)), label))
    else:
        present.sort()
    labels: tuple[Any, ...] = (*present, *((None,) if None in counts else ()))
    made = ColumnCoding(column.name, column.storage, labels, ordered=declared is not None and declared.ordered)
    return replace(made, usual=labels.index(max(counts, key=lambda label: counts[label])) if counts else 0)


def _as_number(code: Any) -> float:
    return float((code - date(1970, 1, 1)).days) if isinstance(code, date) else float(code)


def _resolution(values: Reals) -> int | None:
    """The fewest decimals that write every number; None if there are many."""
    for decimals in _DECIMALS:
        if np.array_equal(np.round(values, decimals), values):
            return decimals
    return None

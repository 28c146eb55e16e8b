"""What every technique is: columns in, columns out, and a record of what was done to them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from ziggurat.cards import Shown
from ziggurat.errors import DataError, ParameterError
from ziggurat.randomness import Source, secure
from ziggurat.wording import nearest

Reals = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool]

_LARGEST = 1e150  # beyond it squares overflow
_LARGEST_WHOLE = 2.0**53  # beyond it a real no longer tells neighbouring whole numbers apart


@dataclass(frozen=True)
class Tally:
    """What a technique did to some rows, in numbers that add up over batches of rows.

    Parameters
    ----------
    cells
        Cells that held a value.
    changed
        Cells that no longer hold the value they held, because it was replaced, blanked or taken out.
    rows_removed
        Rows that were taken out.
    counts
        Further counts of the technique's own.
    learned
        What was read off the data in order to do it, such as a quantile; only where the whole table was seen at once.
    """

    cells: int = 0
    changed: int = 0
    rows_removed: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    learned: dict[str, Any] = field(default_factory=dict)

    def __add__(self, other: Tally) -> Tally:
        names = dict.fromkeys((*self.counts, *other.counts))
        return Tally(
            self.cells + other.cells,
            self.changed + other.changed,
            self.rows_removed + other.rows_removed,
            {name: self.counts.get(name, 0) + other.counts.get(name, 0) for name in names},
            self.learned | other.learned,
        )


@dataclass(frozen=True)
class MaskRecord(Shown):
    """What one technique did, in facts that hold no secret and that JSON can carry.

    Parameters
    ----------
    columns
        The columns it was given.
    technique
        Its name, such as "keyed-hash".
    parameters
        How it was set, without secrets.
    tally
        What it did.
    stated
        What follows from that, such as the probability that two pseudonyms coincide.
    origin
        "secure" or "seeded" where something was drawn at random, else None.
    """

    columns: tuple[str, ...]
    technique: str
    parameters: dict[str, Any]
    tally: Tally
    stated: dict[str, Any]
    origin: str | None = None

    @property
    def share(self) -> float:
        """The share of the filled cells that were changed; 0 if there was none."""
        return self.tally.changed / self.tally.cells if self.tally.cells else 0.0

    @property
    def rehearsal(self) -> bool:
        """Whether it was drawn with a seed, so that it must not be published."""
        return self.origin == "seeded"

    def to_dict(self) -> dict[str, Any]:
        """Give the record in JSON; the promise is always "unbounded", for no technique here bounds what is learned."""
        tally = self.tally
        return {
            "columns": list(self.columns),
            "technique": self.technique,
            "parameters": self.parameters,
            "cells": tally.cells,
            "changed": tally.changed,
            "share": self.share,
            "rows_removed": tally.rows_removed,
            **({"counts": tally.counts} if tally.counts else {}),
            **({"learned": tally.learned} if tally.learned else {}),
            **({"stated": self.stated} if self.stated else {}),
            **({"randomness": self.origin} if self.origin else {}),
            "promise": "unbounded",
        }


@dataclass(frozen=True)
class Masked(Shown):
    """A table after one technique, and the record of it."""

    table: pa.Table
    record: MaskRecord


class Technique(ABC):
    """A way to mask columns. None promises differential privacy, and none leaves an event.

    A technique says its name, whether it is `row_wise` (a row's output depends on that row and public parameters
    alone, so that a table can pass in batches), and whether it is `random`.
    """

    name: ClassVar[str]
    random: ClassVar[bool] = False

    @property
    def row_wise(self) -> bool:
        """Whether rows can be masked batch by batch, with the same result as all at once."""
        return True

    def parameters(self) -> dict[str, Any]:
        """Return how it is set, in JSON and without secrets."""
        return {}

    def derive_facts(self, tally: Tally) -> dict[str, Any]:  # noqa: ARG002
        """Return what follows from what was done, in JSON."""
        return {}

    @abstractmethod
    def mask(self, table: pa.Table, columns: tuple[str, ...], source: Source) -> tuple[pa.Table, Tally]:
        """Return the table with these columns masked, and what was done; `apply` checks what this takes for granted."""

    def apply(self, table: pa.Table, columns: str | Sequence[str], source: Source | None = None) -> Masked:
        """Mask these columns of an Arrow table; the randomness is secure unless a rehearsal passes its own."""
        names = (columns,) if isinstance(columns, str) else tuple(columns)
        drawn_from = check_source(source)
        after, tally = self.mask(plain_columns(table, names), names, drawn_from)
        return Masked(after, self.record(names, tally, drawn_from))

    def record(self, columns: tuple[str, ...], tally: Tally, source: Source) -> MaskRecord:
        """Return the record of what was done to these columns."""
        origin = source.origin if self.random else None
        return MaskRecord(columns, self.name, self.parameters(), tally, self.derive_facts(tally), origin)


class CellTechnique(Technique):
    """A technique that masks each of its columns by itself and keeps every row."""

    @abstractmethod
    def column(self, cells: pa.ChunkedArray, name: str, source: Source) -> tuple[pa.ChunkedArray, Tally]:
        """Return one column masked, and counts of its own; how many cells changed is counted by the caller."""

    def mask(self, table: pa.Table, columns: tuple[str, ...], source: Source) -> tuple[pa.Table, Tally]:
        """Mask one column after the other."""
        total = Tally()
        for name in columns:
            before = table.column(name)
            after, own = self.column(before, name, source)
            table = replace_column(table, name, after)
            total = total + own + Tally(count_filled(before), count_changed(before, after))
        return table, total


def check_source(source: Source | None) -> Source:
    """Return the source to draw from: secure unless a rehearsal passes its own."""
    if source is not None and not isinstance(source, Source):
        raise ParameterError("Give the source of randomness: secure(), or seeded(...) for a rehearsal.")
    return secure() if source is None else source


def plain_columns(table: pa.Table, names: Iterable[str]) -> pa.Table:
    """Return the table with these columns as plain values (no dictionaries); DataError if one is not there."""
    if not isinstance(table, pa.Table):
        raise DataError(f"A technique masks an Arrow table, not a {type(table).__name__}; mask() takes other frames.")
    for name in names:
        if name not in table.column_names:
            raise DataError(f"The table has no column {name!r}; {nearest(name, table.column_names)}")
        column = table.column(name)
        if kinds.is_dictionary(column.type):
            table = replace_column(table, name, column.cast(column.type.value_type))
    return table


def replace_column(table: pa.Table, name: str, column: pa.ChunkedArray) -> pa.Table:
    """Return the table with another column under this name."""
    return table.set_column(table.column_names.index(name), name, column)


def count_filled(column: pa.ChunkedArray) -> int:
    """Return how many cells of a column hold a value; NaN is none."""
    return len(column) - int(column.null_count) - _nans(column)


def _nans(column: pa.ChunkedArray) -> int:
    return int(pc.sum(pc.is_nan(column)).as_py() or 0) if kinds.is_floating(column.type) else 0


def count_changed(before: pa.ChunkedArray, after: pa.ChunkedArray) -> int:
    """Return how many filled cells no longer hold the value they held, compared as text where the type changed."""
    if kinds.is_null(before.type):
        return 0
    if before.type != after.type and kinds.is_integer(before.type) and kinds.is_floating(after.type):
        before = before.cast(after.type, safe=False)
    elif before.type != after.type and not has_text(before.type):
        return count_filled(before)
    elif before.type != after.type:
        before, after = before.cast(pa.string()), after.cast(pa.string())
    present = pc.is_valid(before)
    if kinds.is_floating(before.type):
        present = pc.and_(present, pc.invert(pc.fill_null(pc.is_nan(before), True)))
    same = pc.fill_null(pc.equal(before, after), False)
    return int(pc.sum(pc.and_(present, pc.invert(same))).as_py() or 0)


def as_column(array: pa.Array | pa.ChunkedArray) -> pa.ChunkedArray:
    """Return an array as a column."""
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array], type=array.type)


def identifier_text(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Return identifiers as text; reals are refused, because 7 and 7.0 would be two people."""
    given = column.type
    if kinds.is_floating(given) or kinds.is_decimal(given):
        raise DataError(
            f"Column {name!r} holds reals, which no identifier should be; turn them into whole numbers or text first."
        )
    if not has_text(given):
        raise DataError(f"Column {name!r} holds values that have no text; drop it or turn it into text first.")
    return column.cast(pa.string())


def has_text(given: pa.DataType) -> bool:
    """Return whether every value of a type has one text."""
    tests = (kinds.is_string, kinds.is_large_string, kinds.is_string_view, kinds.is_null, kinds.is_boolean)
    others = (kinds.is_integer, kinds.is_floating, kinds.is_decimal, kinds.is_date, kinds.is_timestamp, kinds.is_time)
    return any(test(given) for test in (*tests, *others))


def check_comparable(column: pa.ChunkedArray, name: str) -> None:
    """Refuse lists and records, of which Arrow cannot say whether two are equal or which comes first."""
    if kinds.is_nested(column.type):
        raise DataError(f"Column {name!r} holds lists or records, which have no order and no ranks; drop or unpack it.")


def look_up(column: pa.ChunkedArray, distinct: pa.Array, replacements: pa.Array) -> pa.ChunkedArray:
    """Return the column with the i-th of `distinct` replaced by the i-th of `replacements`; missing cells stay."""
    places = pc.index_in(column, value_set=distinct)
    return as_column(pc.take(replacements, places))


def distinct_of(column: pa.ChunkedArray) -> pa.Array:
    """Return the distinct values of a column, without the missing one."""
    unique = column.unique()
    array = unique.combine_chunks() if isinstance(unique, pa.ChunkedArray) else unique
    return array.drop_null()


def sortable(array: pa.Array) -> pa.Array:
    """Return values in a type that Arrow can sort, in the same order."""
    if kinds.is_boolean(array.type):
        return array.cast(pa.int8())
    return array.cast(pa.string()) if kinds.is_null(array.type) else array


def is_number(given: pa.DataType) -> bool:
    """Return whether a type holds numbers."""
    return bool(kinds.is_integer(given) or kinds.is_floating(given) or kinds.is_decimal(given))


def check_number(column: pa.ChunkedArray, name: str, technique: str) -> None:
    """Refuse a column that does not hold numbers; one of nothing but missing cells will do."""
    if not (is_number(column.type) or kinds.is_null(column.type)):
        raise DataError(f"Column {name!r} does not hold numbers, which {technique} needs.")


def reals(column: pa.ChunkedArray, name: str, technique: str) -> tuple[Reals, Truths]:
    """Return the cells as reals and whether each is a finite number; the others are 0."""
    check_number(column, name, technique)
    cast = column.cast(pa.float64(), safe=False)
    values = np.array(pc.fill_null(cast, np.nan).to_numpy(), dtype=np.float64)
    there = np.isfinite(values)
    values[~there] = 0.0
    if np.abs(values).max(initial=0.0) > (_LARGEST_WHOLE if kinds.is_integer(column.type) else _LARGEST):
        raise DataError(f"Column {name!r} holds numbers too large to compute with; {technique} would spoil them.")
    return values, there


def column_of(values: Reals, there: Truths, like: pa.DataType) -> pa.ChunkedArray:
    """Return a column of these values, missing where they are not there: whole numbers if `like` is, else reals.

    Whole numbers are rounded to the nearest; one that leaves its type or 2**53 comes out as that end.
    """
    if not kinds.is_integer(like):
        return as_column(pa.array(values, type=pa.float64(), mask=~there))
    low, high = _ends(like)
    whole = np.clip(np.rint(values), max(low, -_LARGEST_WHOLE), min(high, _LARGEST_WHOLE))
    return as_column(pa.array(whole.astype(np.int64), mask=~there).cast(like))


def _ends(like: pa.DataType) -> tuple[float, float]:
    limits = np.iinfo(like.to_pandas_dtype())
    return float(limits.min), float(limits.max)

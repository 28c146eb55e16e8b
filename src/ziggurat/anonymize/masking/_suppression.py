"""Cells blanked and rows taken out, by a rule."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from ziggurat.anonymize.masking._coarser import as_tuple, is_end, orderable, plain_end
from ziggurat.anonymize.masking._technique import (
    Tally,
    Technique,
    as_column,
    check_comparable,
    count_filled,
    replace_column,
)
from ziggurat.errors import DataError, ParameterError
from ziggurat.randomness import Source


class SuppressionRule(ABC):
    """Which cells to suppress. A missing cell meets no rule, save as part of a rare combination."""

    name: ClassVar[str]
    row_wise: ClassVar[bool] = True

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """Return how it is set, without values that are to be suppressed."""

    @abstractmethod
    def find_cells(self, table: pa.Table, columns: tuple[str, ...]) -> list[pa.ChunkedArray]:
        """Return for each of the columns which of its cells meet the rule."""


class _CellRule(SuppressionRule):
    """A rule that looks at one cell at a time."""

    def find_cells(self, table: pa.Table, columns: tuple[str, ...]) -> list[pa.ChunkedArray]:
        """Return which cells meet the rule, column by column."""
        return [as_column(pc.fill_null(self.cells(table.column(name), name), False)) for name in columns]

    @abstractmethod
    def cells(self, cells: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
        """Return which of the cells meet the rule."""


@dataclass(frozen=True)
class Among(_CellRule):
    """Cells that hold one of these values; the record says how many they are, not which."""

    name: ClassVar[str] = "among"
    values: tuple[Any, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", as_tuple(self.values))
        if not self.values:
            raise ParameterError("Name at least one value to suppress.")

    def parameters(self) -> dict[str, Any]:
        """Return how many values are named."""
        return {"values": len(self.values)}

    def cells(self, cells: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
        """Return which cells hold one of the values."""
        try:
            listed = pa.array(self.values, cells.type)
        except (pa.ArrowException, TypeError, OverflowError):  # it may quote a value
            listed = None
        if listed is None:
            raise DataError(f"The values to suppress in column {name!r} are not of its type.")
        return pc.is_in(cells, value_set=listed)


@dataclass(frozen=True)
class Outside(_CellRule):
    """Cells below `lower` or above `upper`: numbers or dates; leave one end out for none."""

    name: ClassVar[str] = "outside"
    lower: int | float | date | None = None
    upper: int | float | date | None = None

    def __post_init__(self) -> None:
        ends = [end for end in (self.lower, self.upper) if end is not None]
        if not ends or not all(is_end(end) for end in ends):
            raise ParameterError("Give lower or upper, or both, as finite numbers or as dates.")

    def parameters(self) -> dict[str, Any]:
        """Return the ends."""
        return {"lower": plain_end(self.lower), "upper": plain_end(self.upper)}

    def cells(self, cells: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
        """Return which cells lie outside."""
        ordered = orderable(cells, name)
        if kinds.is_null(ordered.type):
            return as_column(pa.array([False] * len(ordered), pa.bool_()))
        ends = [end for end in (self.lower, self.upper) if end is not None]
        if any(isinstance(end, date) != kinds.is_temporal(ordered.type) for end in ends):
            raise DataError(f"The ends for column {name!r} must be dates if it holds dates, else numbers.")
        below = False if self.lower is None else pc.less(ordered, pa.scalar(self.lower))
        above = False if self.upper is None else pc.greater(ordered, pa.scalar(self.upper))
        return as_column(pc.or_(below, above))


@dataclass(frozen=True)
class Rare(SuppressionRule):
    """Values, or combinations over several columns, of fewer than `fewer_than` rows.

    Missing cells count as a value of their own in a combination. It must see the whole table.
    """

    name: ClassVar[str] = "rare"
    row_wise: ClassVar[bool] = False
    fewer_than: int

    def __post_init__(self) -> None:
        if isinstance(self.fewer_than, bool) or not isinstance(self.fewer_than, int) or self.fewer_than < 1:
            raise ParameterError("A value is rare in fewer rows than a whole number of at least 1.")

    def parameters(self) -> dict[str, Any]:
        """Return the number of rows from which a value is not rare."""
        return {"fewer_than": self.fewer_than}

    def find_cells(self, table: pa.Table, columns: tuple[str, ...]) -> list[pa.ChunkedArray]:
        """Return which rows hold a rare combination, the same for each column."""
        for name in columns:
            check_comparable(table.column(name), name)
        codes = pa.table({f"c{i}": _codes(table.column(name)) for i, name in enumerate(columns)})
        counted = codes.group_by(codes.column_names).aggregate([([], "count_all")])
        numbered = codes.append_column("row", pa.array(range(len(codes)), pa.int64()))
        joined = numbered.join(counted, codes.column_names).sort_by("row")
        rare = as_column(pc.less(joined.column("count_all"), self.fewer_than))
        return [rare for _ in columns]


def _codes(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Number the distinct values, missing among them, for a join that would not match missing cells."""
    places = pc.index_in(column, value_set=column.unique().drop_null())
    return pc.fill_null(places, -1)


@dataclass(frozen=True)
class _Suppression(Technique):
    rule: SuppressionRule

    def __post_init__(self) -> None:
        if not isinstance(self.rule, SuppressionRule):
            raise ParameterError("Suppression needs a rule: Among(...), Outside(...) or Rare(...).")

    @property
    def row_wise(self) -> bool:
        """Whether the rule looks at one row at a time."""
        return self.rule.row_wise

    def parameters(self) -> dict[str, Any]:
        """Return the rule."""
        return {"rule": self.rule.name, **self.rule.parameters()}


@dataclass(frozen=True)
class SuppressCells(_Suppression):
    """Blank the cells that meet a rule.

    It does not hide that something was blanked, and what the rest of a row says about a blank stays.

    Parameters
    ----------
    rule
        `Among`, `Outside` or `Rare`; a rare combination over several columns loses all of its cells.
    """

    name: ClassVar[str] = "suppress-cells"

    def mask(self, table: pa.Table, columns: tuple[str, ...], source: Source) -> tuple[pa.Table, Tally]:  # noqa: ARG002
        """Blank the cells."""
        tally = Tally()
        for name, met in zip(columns, self.rule.find_cells(table, columns), strict=True):
            before = table.column(name)
            after = as_column(pc.if_else(met, pa.scalar(None, before.type), before))
            tally = tally + Tally(count_filled(before), count_filled(before) - count_filled(after))
            table = replace_column(table, name, after)
        return table, tally


@dataclass(frozen=True)
class SuppressRows(_Suppression):
    """Take out the rows in which any of the columns meets a rule.

    It does not hide how many there were if the number of rows is known from elsewhere. A rule for rare combinations
    leaves classes of that size in *these* columns only.

    Parameters
    ----------
    rule
        `Among`, `Outside` or `Rare`.
    """

    name: ClassVar[str] = "suppress-rows"

    def mask(self, table: pa.Table, columns: tuple[str, ...], source: Source) -> tuple[pa.Table, Tally]:  # noqa: ARG002
        """Take the rows out."""
        first, *others = self.rule.find_cells(table, columns)
        for other in others:
            first = pc.or_(first, other)
        kept = table.filter(pc.invert(first))
        before, after = (sum(count_filled(each.column(name)) for name in columns) for each in (table, kept))
        return kept, Tally(before, before - after, table.num_rows - kept.num_rows)

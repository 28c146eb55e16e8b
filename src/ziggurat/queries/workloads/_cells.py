"""The cells of a column: a finite list of public values or bins, and a last cell for everything else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from typing import Any

from sqlglot import exp

from ziggurat.data import Bounds, Column, Kind
from ziggurat.data.expressions import constant, is_present, reference
from ziggurat.errors import NotPublicError, ParameterError
from ziggurat.privacy import whole_number

MOST_CELLS = 1 << 22
"""The most cells that are counted together."""

_MOST_BINS = 1 << 16

Label = bool | int | str
Edge = int | float | date


@dataclass(frozen=True)
class ColumnCells:
    """What the cells of one column are; every row is in exactly one of them.

    Cells 0 to size - 1 hold public values. Cell `size` holds every row whose value is missing or outside the public
    domain: it belongs to no query about this column, but to every query that does not name it.

    Attributes
    ----------
    column
        The column.
    edges
        None if every value is its own cell; otherwise cell i holds edges[i] <= x < edges[i + 1], the last one its
        upper edge as well.
    """

    column: Column
    edges: tuple[Edge, ...] | None = None

    @property
    def size(self) -> int:
        """How many cells hold public values."""
        if self.edges is not None:
            return len(self.edges) - 1
        if self._listed:
            return len(self._values)
        lower, upper = self._whole_bounds
        return upper - lower + 1

    @property
    def ordered(self) -> bool:
        """Whether ranges over the cells mean something."""
        return not self._listed or bool(self.column.categories and self.column.categories.ordered)

    def labels(self) -> list[Label]:
        """Name every cell: its value, or its edges in words."""
        if self.edges is not None:
            return [self.range_label(cell, cell + 1) for cell in range(self.size)]
        return list(self._values) if self._listed else list(range(self._whole_bounds[0], self._whole_bounds[1] + 1))

    def range_label(self, low: int, high: int) -> str:
        """Name the cells from `low` up to and without `high`."""
        if self.edges is not None:
            return f"[{self.edges[low]}, {self.edges[high]}{']' if high == self.size else ')'}"
        first, last = (self._values[low], self._values[high - 1]) if self._listed else self._ends(low, high)
        return f"{first} to {last}"

    def between(self, low: object, high: object) -> tuple[int, int]:
        """Give the cells of a range: its first cell, and the one after its last.

        Both ends count, except that of binned columns both ends are edges, and the upper one is left out unless it
        is the last edge.
        """
        if not self.ordered:
            raise ParameterError(f"Column {self.column.name!r} has no order; ranges need one.")
        first, last = self._place(low), self._place(high) + (self.edges is None)
        if first >= last:
            raise ParameterError(f"A range of column {self.column.name!r} must begin before it ends.")
        return first, last

    def code(self) -> exp.Expr:
        """Return the number of a row's cell as an SQL expression; every engine gives a BIGINT that is never NULL."""
        cell = reference(self.column)
        if self._listed:
            chosen = exp.Case(this=cell, ifs=self._choices(), default=_number(self.size))
            return exp.cast(chosen, "BIGINT")
        lower, upper = (self.edges[0], self.edges[-1]) if self.edges else self._whole_bounds
        inside = exp.and_(
            is_present(self.column), exp.GTE(this=cell, expression=self._constant(lower)),
            exp.LTE(this=cell, expression=self._constant(upper)), copy=False,
        )  # fmt: skip
        place = self._bin(0, self.size) if self.edges else exp.Sub(this=cell, expression=self._constant(lower))
        return exp.cast(exp.Case(ifs=[exp.If(this=inside, true=place)], default=_number(self.size)), "BIGINT")

    @property
    def _listed(self) -> bool:
        return self.edges is None and self.column.kind in (Kind.CATEGORY, Kind.BOOLEAN)

    @property
    def _values(self) -> tuple[Label, ...]:
        if self.column.kind is Kind.BOOLEAN:
            return (False, True)
        return self.column.public_categories().values

    @property
    def _whole_bounds(self) -> tuple[int, int]:
        bounds: Any = self.column.public_bounds()
        return bounds.lower, bounds.upper

    def _ends(self, low: int, high: int) -> tuple[int, int]:
        return self._whole_bounds[0] + low, self._whole_bounds[0] + high - 1

    def _place(self, value: Any) -> int:
        known: Any = self.edges if self.edges is not None else self._values if self._listed else range(
            self._whole_bounds[0], self._whole_bounds[1] + 1
        )  # fmt: skip
        if isinstance(value, bool) or value not in known:
            what = "edges" if self.edges is not None else "public values"
            raise ParameterError(f"A range of column {self.column.name!r} must begin and end at one of its {what}.")
        return int(known.index(value))

    def _choices(self) -> list[exp.If]:
        kind = self.column.storage
        wanted = [exp.true() if value is True else exp.false() if value is False else constant(value, kind)
                  for value in self._values]  # fmt: skip
        return [exp.If(this=value, true=_number(place)) for place, value in enumerate(wanted)]

    def _bin(self, first: int, last: int) -> exp.Expr:
        """Search the edges by halves, so that a row costs few comparisons however many bins there are."""
        if last - first == 1:
            return _number(first)
        assert self.edges is not None
        middle = (first + last) // 2
        below = exp.LT(this=reference(self.column), expression=self._constant(self.edges[middle]))
        return exp.Case(ifs=[exp.If(this=below, true=self._bin(first, middle))], default=self._bin(middle, last))

    def _constant(self, value: Edge) -> exp.Expr:
        return constant(value, self.column.storage)


def cells_of(column: Column, edges: Sequence[Edge] | None = None, bins: int | None = None) -> ColumnCells:
    """Return the cells of a column, or raise if its domain is not public and finite."""
    if edges is not None and bins is not None:
        raise ParameterError(f"Give edges or bins for column {column.name!r}, not both.")
    if edges is None and bins is None:
        return _small_enough(_cells_unbinned(column))
    if column.kind not in (Kind.INTEGER, Kind.REAL, Kind.DATE):
        raise ParameterError(f"Column {column.name!r} is {column.kind}; only numbers and dates have edges or bins.")
    chosen = _check_edges(column, edges) if edges is not None else _even(column, whole_number(bins, "bins"))
    return _small_enough(ColumnCells(column, chosen))


def _cells_unbinned(column: Column) -> ColumnCells:
    if column.kind in (Kind.REAL, Kind.DATE):
        raise ParameterError(f"Column {column.name!r} is {column.kind}; state edges= or bins= for it.")
    if column.kind is Kind.TEXT:
        raise NotPublicError(f"Column {column.name!r} is text; declare it as a category with public categories.")
    if column.kind is Kind.INTEGER:
        column.public_bounds()
    else:
        column.public_categories()
    return ColumnCells(column)


def _small_enough(cells: ColumnCells) -> ColumnCells:
    if cells.size >= MOST_CELLS:
        raise ParameterError(f"Column {cells.column.name!r} has more than {MOST_CELLS - 1:,} cells; state bins for it.")
    return cells


def _check_edges(column: Column, edges: Sequence[Edge]) -> tuple[Edge, ...]:
    if isinstance(edges, str | bytes) or not isinstance(edges, Sequence):
        raise ParameterError(f"The edges of column {column.name!r} must be a list.")
    try:
        # The rules for bounds (finite, of the column's kind, in order) are the rules for two edges.
        pairs = [_pair(column, low, high) for low, high in pairwise(edges)]
    except Exception:  # noqa: BLE001  (whatever is wrong with an edge, the sentence is the same)
        pairs = []
    if not 0 < len(pairs) <= _MOST_BINS or any(each.lower == each.upper for each in pairs):
        raise ParameterError(
            f"The edges of column {column.name!r} must be at least two increasing {column.kind} values."
        )
    return (*(each.lower for each in pairs), pairs[-1].upper)


def _pair(column: Column, low: Edge, high: Edge) -> Bounds:
    bounds = Column(column.name, column.kind, bounds=Bounds(low, high)).bounds
    assert bounds is not None
    return bounds


def _even(column: Column, bins: int) -> tuple[Edge, ...]:
    """Edges of bins that are as even as the kind of value allows."""
    if bins > _MOST_BINS:
        raise ParameterError(f"At most {_MOST_BINS:,} bins are counted; state fewer for column {column.name!r}.")
    bounds: Any = column.public_bounds()
    lower, upper = bounds.lower, bounds.upper
    if column.kind is Kind.REAL:
        edges: list[Edge] = [lower + (upper - lower) * (place / bins) for place in range(bins)]
    else:
        one = timedelta(days=1) if column.kind is Kind.DATE else 1
        values = (upper - lower) // one + 1
        edges = [lower + one * (place * values // bins) for place in range(bins)]
    found = (*edges, upper)
    if any(not low < high for low, high in pairwise(found)) or not all(map(_finite, found)):
        raise ParameterError(f"Column {column.name!r} cannot be cut into {bins} bins; state fewer.")
    return found


def _finite(edge: Edge) -> bool:
    return not isinstance(edge, float) or math.isfinite(edge)


def _number(value: int) -> exp.Expr:
    return exp.Literal.number(value)

"""A workload: many counting queries, known in advance, to be answered together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ziggurat.cards import Shown
from ziggurat.data import Schema, Unit
from ziggurat.errors import ParameterError
from ziggurat.privacy import Amount, exact_positive, whole_number
from ziggurat.queries.workloads._cells import MOST_CELLS, ColumnCells, Edge, Label, cells_of

if TYPE_CHECKING:
    from ziggurat.queries.workloads._plan import WorkloadPlan

Places = npt.NDArray[np.int64]

MOST_QUERIES = 1 << 22
"""The most queries of one workload."""


@dataclass(frozen=True, eq=False)
class Ranges:
    """Ranges over the cells of one column: the cells from `lows[i]` up to and without `highs[i]`."""

    lows: Places
    highs: Places

    def __len__(self) -> int:
        return len(self.lows)

    def coverage(self, size: int) -> Places:
        """How many of the ranges hold each cell."""
        steps = np.bincount(self.lows, minlength=size + 1) - np.bincount(self.highs, minlength=size + 1)
        return np.asarray(np.cumsum(steps)[:size], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Group(Shown):
    """Queries of one shape: one for every combination of a cell, or a range, of each of its columns.

    Attributes
    ----------
    name
        What the answer calls it.
    factors
        For every column its ranges (of one column at most), or None where every cell is asked for; columns that are
        not named are summed over.
    weight
        How much the squared error of each of its queries counts.
    """

    name: str
    factors: Mapping[str, Ranges | None]
    weight: float = 1.0

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that its queries name."""
        return tuple(self.factors)

    def shape(self, cells: Mapping[str, ColumnCells]) -> tuple[int, ...]:
        """How many cells or ranges of each column are asked for."""
        return tuple(cells[name].size if each is None else len(each) for name, each in self.factors.items())

    def labels(self, cells: Mapping[str, ColumnCells]) -> dict[str, list[Label]]:
        """Name what is asked for, column by column."""
        return {
            name: cells[name].labels()
            if each is None
            else [cells[name].range_label(low, high) for low, high in zip(each.lows, each.highs, strict=True)]
            for name, each in self.factors.items()
        }


class Workload:
    """Counting queries about one table, known in advance; immutable, every method returns a larger workload.

    A query counts rows: those in one cell of a marginal, or those in a range. Rows whose value is missing, or outside
    its public domain, are in no query that names the column, as in SQL.

    Parameters
    ----------
    schema
        The columns; those that are used need public categories or bounds.
    edges
        For integer, real and date columns: the edges of their bins. A bin holds its lower edge and not its upper one,
        the last bin holds both.
    bins
        For the same columns: how many even bins to cut their public bounds into.
    """

    def __init__(
        self,
        schema: Schema,
        *,
        edges: Mapping[str, Sequence[Edge]] | None = None,
        bins: Mapping[str, int] | None = None,
    ) -> None:
        if not isinstance(schema, Schema):
            raise ParameterError("A workload is about a schema: give table.schema.")
        self._schema, self._edges, self._bins = schema, dict(edges or {}), dict(bins or {})
        self._groups: tuple[Group, ...] = ()
        self._cells: dict[str, ColumnCells] = {}
        for name in (*self._edges, *self._bins):
            self._cells[name] = self._make_cells(name)

    @property
    def schema(self) -> Schema:
        """The columns that may be asked about."""
        return self._schema

    @property
    def edges(self) -> dict[str, tuple[Edge, ...]]:
        """The edges of bins that were stated, by column."""
        return {name: tuple(each) for name, each in self._edges.items()}

    @property
    def bins(self) -> dict[str, int]:
        """Into how many even bins columns are cut, where that was stated."""
        return dict(self._bins)

    @property
    def groups(self) -> tuple[Group, ...]:
        """What is asked, in the order in which it was added."""
        return self._groups

    @property
    def cells(self) -> dict[str, ColumnCells]:
        """The cells of every column that is asked about, in the order of the schema."""
        used = {name for group in self._groups for name in group.columns}
        return {name: self._cells[name] for name in self._schema.names if name in used}

    def __len__(self) -> int:
        """The number of queries."""
        return sum(math.prod(group.shape(self._cells)) for group in self._groups)

    def __repr__(self) -> str:
        return f"<Workload of {len(self):,} queries in {len(self._groups)} groups>"

    def total(self, *, weight: Amount = 1) -> Workload:
        """Add the number of all rows."""
        return self._with("total", {}, weight)

    def marginal(self, *columns: str, weight: Amount = 1) -> Workload:
        """Add one count for every combination of the cells of these columns."""
        names = self._check_columns(columns)
        if not names:
            raise ParameterError("Name the columns of the marginal; the number of all rows is total().")
        return self._with(", ".join(names), dict.fromkeys(names), weight)

    def marginals(self, k: int, columns: Iterable[str] | None = None, *, weight: Amount = 1) -> Workload:
        """Add every marginal over `k` of these columns (by default of all columns of the schema)."""
        names = self._check_columns(self._schema.names if columns is None else columns)
        if whole_number(k, "k") > len(names):
            raise ParameterError(f"There are fewer than {k} columns to combine.")
        grown = self
        for chosen in combinations(names, k):
            grown = grown.marginal(*chosen, weight=weight)
        return grown

    def ranges(
        self, column: str, ranges: Sequence[tuple[Any, Any]], *, by: Sequence[str] = (), weight: Amount = 1
    ) -> Workload:
        """Add the number of rows in each of these ranges, in every combination of the cells of `by`.

        Both ends of a range count. Of a binned column both ends are edges, and the upper one is left out, as it is
        the lower edge of the next bin, unless it is the last.
        """
        cells = self._of(column)
        try:
            places = [cells.between(low, high) for low, high in ranges]
        except (TypeError, ValueError) as error:
            if isinstance(error, ParameterError):
                raise
            raise ParameterError(
                "Ranges are pairs of a lower and an upper end, such as [(17, 30), (31, 90)]."
            ) from None
        return self._with_ranges(column, "ranges", np.array(places, dtype=np.int64).reshape(-1, 2), by, weight)

    def all_ranges(self, column: str, *, by: Sequence[str] = (), weight: Amount = 1) -> Workload:
        """Add every range over the cells of a column."""
        size = self._require_ordered(column)
        if size * (size + 1) // 2 > MOST_QUERIES:
            raise ParameterError(f"All ranges over {size:,} cells are too many; state fewer bins for {column!r}.")
        low, high = np.triu_indices(size)
        return self._with_ranges(column, "all ranges", np.stack([low, high + 1], axis=1), by, weight)

    def prefixes(self, column: str, *, by: Sequence[str] = (), weight: Amount = 1) -> Workload:
        """Add the number of rows up to each cell of a column: its cumulative distribution."""
        high = np.arange(1, self._require_ordered(column) + 1)
        return self._with_ranges(column, "prefixes", np.stack([np.zeros_like(high), high], axis=1), by, weight)

    def plan(
        self,
        unit: Unit,
        epsilon: Amount,
        delta: Amount = 0,
        *,
        noise: Literal["laplace", "gaussian"] | None = None,
        rows_per_unit: int | None = None,
    ) -> WorkloadPlan:
        """Choose the measurements that answer this workload with the least expected squared error.

        Nothing is read. Laplace noise promises `epsilon`, Gaussian noise (`epsilon`, `delta`); by default the noise
        is Laplace where delta is 0. If the unit is not a row, `rows_per_unit` must be stated: at most so many rows of
        each unit are counted, chosen by lot.
        """
        from ziggurat.queries.workloads._plan import plan_workload

        return plan_workload(self, unit, epsilon, delta, noise, rows_per_unit)

    def _with_ranges(self, column: str, what: str, places: Places, by: Sequence[str], weight: Amount) -> Workload:
        others = self._check_columns(by)
        if column in others:
            raise ParameterError(f"Column {column!r} cannot be both the range and among by=.")
        if not len(places):
            raise ParameterError("Give at least one range.")
        factors: dict[str, Ranges | None] = {column: Ranges(places[:, 0].copy(), places[:, 1].copy())}
        name = f"{column}: {what}" + (f" by {', '.join(others)}" if others else "")
        return self._with(name, {**factors, **dict.fromkeys(others)}, weight)

    def _with(self, name: str, factors: Mapping[str, Ranges | None], weight: Amount) -> Workload:
        grown = Workload(self._schema)
        grown._edges, grown._bins = self._edges, self._bins
        grown._cells = {**self._cells, **{column: self._of(column) for column in factors}}
        added = Group(self._find_unused(name), dict(factors), float(exact_positive(weight, "weight")))
        _check_sizes(added, grown._cells)
        grown._groups = (*self._groups, added)
        if len(grown) > MOST_QUERIES:
            raise ParameterError(f"A workload holds at most {MOST_QUERIES:,} queries; ask for fewer.")
        return grown

    def _find_unused(self, name: str) -> str:
        """A name of its own for every group, so that answers can be told apart."""
        taken = {group.name for group in self._groups}
        names = (name if again == 1 else f"{name} ({again})" for again in range(1, len(taken) + 2))
        return next(each for each in names if each not in taken)

    def _check_columns(self, columns: Iterable[str]) -> tuple[str, ...]:
        if isinstance(columns, str):
            raise ParameterError("Columns are given as a list of names.")
        names = tuple(columns)
        for name in names:
            self._of(name)
        if len(set(names)) != len(names):
            raise ParameterError("A column is named twice.")
        return names

    def _of(self, name: str) -> ColumnCells:
        return self._cells[name] if name in self._cells else self._make_cells(name)

    def _make_cells(self, name: str) -> ColumnCells:
        return cells_of(self._schema[name], self._edges.get(name), self._bins.get(name))

    def _require_ordered(self, column: str) -> int:
        cells = self._of(column)
        if not cells.ordered:
            raise ParameterError(f"Column {column!r} has no order; ranges need one.")
        return cells.size


def _check_sizes(group: Group, cells: Mapping[str, ColumnCells]) -> None:
    joint = math.prod(cells[name].size + 1 for name in group.columns)
    if joint > MOST_CELLS:
        raise ParameterError(
            f"The columns {group.name} have {joint:,} cells together; at most {MOST_CELLS:,} are counted together, "
            "so state fewer bins or ask for fewer columns at a time."
        )


def coarsen(workload: Workload) -> tuple[dict[str, Places], tuple[Group, ...]]:
    """Merge cells that no query tells apart: where each cell of a column went, and the groups over merged cells.

    Only columns of which nothing but ranges are asked can be merged. A cell in no range joins the cell of everything
    else, so that disjoint ranges become cells themselves. The last entry of each map is that cell.
    """
    maps = {name: _merge(name, cells.size, workload.groups) for name, cells in workload.cells.items()}
    return maps, tuple(
        replace(group, factors={name: _restate(each, maps[name]) for name, each in group.factors.items()})
        for group in workload.groups
    )


def _merge(name: str, size: int, groups: Sequence[Group]) -> Places:
    asked = [group.factors[name] for group in groups if name in group.factors]
    ranges = [each for each in asked if each is not None]
    if len(ranges) < len(asked):
        return np.arange(size + 1)
    cuts = np.unique(np.concatenate([np.concatenate([each.lows, each.highs]) for each in ranges]))
    cuts = cuts[cuts < size]
    covered = np.sum([each.coverage(size) for each in ranges], axis=0)[cuts] > 0
    number = np.where(covered, np.cumsum(covered) - 1, int(covered.sum()))
    place = np.searchsorted(cuts, np.arange(size), side="right") - 1
    return np.append(np.where(place < 0, int(covered.sum()), number[place]), int(covered.sum()))


def _restate(ranges: Ranges | None, target: Places) -> Ranges | None:
    """Restate ranges over merged cells; every cell of a range is covered, so its merged cells are consecutive."""
    if ranges is None:
        return None
    return Ranges(target[ranges.lows], target[ranges.highs - 1] + 1)

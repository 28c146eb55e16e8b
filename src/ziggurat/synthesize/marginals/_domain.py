"""The cells of every column: which values the counts tell apart, known before any row is read.

A promise of differential privacy covers what is counted, not what is counted by. So categories and bounds must be
public (declared in the schema) or paid for (`_paying`); a value that is not in them is put where a rule that knows no
data puts it: numbers are moved to the nearest bound, text goes to the cell "other", codes to the missing ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ziggurat.data import Column, Kind, Provenance, Schema
from ziggurat.errors import NotPublicError, ParameterError
from ziggurat.plain import fields_to_plain
from ziggurat.privacy import whole_number
from ziggurat.synthesize.marginals._cliques import Integers

MOST_CELLS = 1 << 17
"""The most cells of one column."""

OTHER = "other"
_EPOCH = date(1970, 1, 1)

Bins = int | Mapping[str, int | Sequence[Any]]
Label = str | int | bool


@dataclass(frozen=True)
class Axis:
    """The cells of one column: its values or bins, and then one for what is missing if it may be.

    Attributes
    ----------
    name, kind
        Of the column; a category is told apart from text by nothing here.
    labels
        The values, for categories and truth values; otherwise None.
    edges
        For numbers and days (since 1970): cell i holds edges[i] <= x < edges[i + 1]; of reals the last holds its end.
    missing
        Whether the last cell stands for missing values; if not, they are put into the first.
    """

    name: str
    kind: Kind
    labels: tuple[Label, ...] | None = None
    edges: tuple[float, ...] | tuple[int, ...] | None = None
    missing: bool = True

    @property
    def values(self) -> int:
        """How many cells hold values."""
        return len(self.labels) if self.labels is not None else len(self.edges or ()) - 1

    @property
    def size(self) -> int:
        """How many cells there are."""
        return self.values + self.missing

    def codes(self, cells: pa.ChunkedArray) -> Integers:
        """Number the cells of a column; whatever it holds, it gets one of the numbers."""
        codes = self._code_listed(cells) if self.labels is not None else self._code_binned(cells)
        return np.asarray(codes, dtype=np.int64)

    def _code_listed(self, cells: pa.ChunkedArray) -> Any:
        labels = pa.array(self.labels, type=cells.type)
        places = pc.index_in(cells, value_set=labels, skip_nulls=True)
        unknown = self.labels.index(OTHER) if self.labels and OTHER in self.labels else self._without
        found = pc.if_else(pc.is_null(cells), self._without, pc.fill_null(places, unknown))
        return found.to_numpy()

    def _code_binned(self, cells: pa.ChunkedArray) -> Any:
        if self.kind is Kind.DATE:
            cells = pc.cast(pc.cast(cells, pa.date32()), pa.int32())
        empty = pc.is_null(cells, nan_is_null=True).to_numpy()
        inner = np.asarray((self.edges or ())[1:-1])
        numbers = pc.fill_null(cells, 0).to_numpy()
        return np.where(empty, self._without, np.searchsorted(inner, numbers, side="right"))

    @property
    def _without(self) -> int:
        return self.values if self.missing else 0

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        return fields_to_plain(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Axis:
        """Read the JSON form."""
        labels, edges = (None if data[key] is None else tuple(data[key]) for key in ("labels", "edges"))
        return cls(str(data["name"]), Kind(data["kind"]), labels, edges, bool(data["missing"]))


def is_public(column: Column, bins: Bins) -> bool:
    """Whether the cells of a column are known without a look at the data."""
    if column.kind is Kind.BOOLEAN or _declared_edges(column, bins) is not None:
        return True
    known = column.categories if column.kind is Kind.CATEGORY else column.bounds
    return known is not None and known.provenance is Provenance.PUBLIC


def require_public(schema: Schema, names: Sequence[str], bins: Bins) -> None:
    """Refuse columns whose cells are not public, with the words to declare."""
    for name in names:
        column = schema[name]
        if not is_public(column, bins):
            raise NotPublicError(_advice(column))


def _advice(column: Column) -> str:
    ways = "declare it in the schema, pay for it with domain='pay', or leave the column out"
    if column.kind is Kind.TEXT:
        return (
            f"Column {column.name!r} is text, whose values are not public: leave the column out (--leave-out "
            f"{column.name}), make it a category with public categories, pay for those with domain='pay', or mask it "
            f"or turn it into codes first (ziggurat mask ... --text or --codes {column.name})."
        )
    if column.kind is Kind.CATEGORY:
        return f"Column {column.name!r} has no public list of categories; {ways}."
    return f"Column {column.name!r} has no public bounds; {ways}."


def axis_of(column: Column, bins: Bins, missing: bool) -> Axis:
    """Return the cells of a column with a public domain."""
    if column.kind is Kind.BOOLEAN:
        return Axis(column.name, column.kind, labels=(False, True), missing=missing)
    if column.kind is Kind.CATEGORY:
        return list_cells(column, column.public_categories().values, missing)
    edges = _declared_edges(column, bins)
    if edges is not None:
        return Axis(column.name, column.kind, edges=_close_end(column, edges), missing=missing)
    bounds = column.public_bounds()
    return cut_bounds(column, number(bounds.lower), number(bounds.upper), bins, missing)


def list_cells(column: Column, values: Sequence[Label], missing: bool) -> Axis:
    """Return one cell for every category; text has one more for all other values."""
    labels = tuple(values)
    if column.storage is Kind.TEXT and OTHER not in labels:
        labels = (*labels, OTHER)
    return _small_enough(Axis(column.name, column.kind, labels=labels, missing=missing))


def cut_bounds(column: Column, lower: float, upper: float, bins: Bins, missing: bool) -> Axis:
    """Cut bounds into cells that are as equal as the kind of value allows."""
    wanted = bins if isinstance(bins, int) else bins.get(column.name, 32)
    count = whole_number(wanted, f"The number of bins of column {column.name!r}")
    if column.kind is Kind.REAL:
        places = np.unique(np.linspace(float(lower), float(upper), count + 1))
        edges: list[Any] = places.tolist() if places.size > 1 else [float(lower), float(upper)]
    else:
        values = int(upper) - int(lower) + 1
        count = min(count, values)
        edges = [int(lower) + place * values // count for place in range(count + 1)]
    return _small_enough(Axis(column.name, column.kind, edges=tuple(edges), missing=missing))


def number(value: Any) -> Any:
    """A number, or the days since 1970 of a date (as such, or as text: 2024-02-29)."""
    given = date.fromisoformat(value) if isinstance(value, str) else value
    return (given - _EPOCH).days if isinstance(given, date) else given


def _declared_edges(column: Column, bins: Bins) -> tuple[Any, ...] | None:
    given = bins.get(column.name) if isinstance(bins, Mapping) else None
    if given is None or isinstance(given, int) or column.kind not in (Kind.INTEGER, Kind.REAL, Kind.DATE):
        return None
    try:
        edges = tuple(number(each) for each in given)
        increasing = len(edges) > 1 and all(low < high for low, high in pairwise(edges))
        finite = all(np.isfinite(edge) for edge in edges)
    except (TypeError, ValueError):
        increasing = finite = False
        edges = ()
    if not (increasing and finite):
        raise ParameterError(f"The edges of column {column.name!r} must be at least two increasing values of its kind.")
    return edges


def _close_end(column: Column, edges: tuple[Any, ...]) -> tuple[Any, ...]:
    """Of whole numbers the last cell holds its end: it ends before the next number."""
    if column.kind is Kind.REAL:
        return tuple(float(edge) for edge in edges)
    return (*(int(np.ceil(edge)) for edge in edges[:-1]), int(np.floor(edges[-1])) + 1)


def _small_enough(axis: Axis) -> Axis:
    if axis.size > MOST_CELLS:
        raise ParameterError(
            f"Column {axis.name!r} would have {axis.size:,} cells, of at most {MOST_CELLS:,}; give fewer bins, or "
            "coarser categories."
        )
    return axis


def check_bins(bins: object, names: Sequence[str]) -> Bins:
    """Read how numbers are cut."""
    if isinstance(bins, Mapping):
        unknown = [name for name in bins if name not in names]
        if unknown:
            raise ParameterError(f"bins names {unknown[0]!r}, which is no column to synthesise.")
        return dict(bins)
    return whole_number(bins, "bins")

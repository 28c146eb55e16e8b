"""Domains that are paid for: which categories there are, and how far numbers reach.

Categories: those are named whose noisy number of units reaches a threshold (`PartitionSelection`); all others share a
cell. That needs a delta of its own, and is proven for add-or-remove-one neighbours only. Bounds: noisy counts of the
values between neighbouring powers of two, positive and negative; the bounds are the outer ends of the outermost
buckets that are surely not empty (Wilson et al. 2020). A unit with r rows moves these counts as it moves any others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ziggurat.data import Column, Kind
from ziggurat.mechanisms import DiscreteGaussian, PartitionSelection
from ziggurat.privacy import Event
from ziggurat.randomness import Source
from ziggurat.synthesize.marginals._cliques import Integers
from ziggurat.synthesize.marginals._counts import CountedUnit, part_of, root_below
from ziggurat.synthesize.marginals._domain import Axis, Bins, cut_bounds, list_cells

_SURELY = Fraction(99, 100)
_POWERS = 2.0 ** np.arange(-20, 41)
_EDGES = np.concatenate([-_POWERS[::-1], [0.0], _POWERS])


@dataclass(frozen=True)
class Price:
    """How each column whose domain is not public will be looked at, and what that costs together."""

    mechanisms: Mapping[str, PartitionSelection | DiscreteGaussian]

    @property
    def events(self) -> list[Event]:
        """What to write down: one event for each column."""
        return [each.event for each in self.mechanisms.values()]


def share_price(columns: list[Column], rho: Fraction, delta: Fraction, unit: CountedUnit) -> Price:
    """Share rho evenly among the columns, and delta among those whose categories are looked for.

    Laplace noise of epsilon is epsilon^2/2-zCDP (Bun & Steinke 2016), so epsilon is the root of twice the share.
    """
    share = part_of(rho, Fraction(1, len(columns)))
    named = sum(map(is_listed, columns))
    return Price(
        {
            column.name: PartitionSelection(
                root_below(2 * share), delta / named, groups=unit.rows, neighbours=unit.neighbours
            )
            if is_listed(column)
            else unit.noise(share)
            for column in columns
        }
    )


def is_listed(column: Column) -> bool:
    """Whether the domain of a column is a list of values rather than bounds."""
    return column.kind in (Kind.CATEGORY, Kind.TEXT)


def learn_axis(
    column: Column, cells: pa.ChunkedArray, units: Integers, price: Price, bins: Bins, missing: bool, source: Source
) -> Axis:
    """Pay for the domain of one column."""
    mechanism = price.mechanisms[column.name]
    if isinstance(mechanism, PartitionSelection):
        named = mechanism.release(_units_by_value(cells, units), source).value
        values = sorted(named) or ([] if column.storage is Kind.TEXT else [0])
        return list_cells(column, values, missing)
    noisy = np.asarray(mechanism.release(_bucket_counts(cells), source).value)
    lower, upper = _ends(noisy, float(mechanism.half_width(_SURELY, answers=noisy.size)))
    if column.kind is not Kind.REAL:
        lower, upper = math.floor(lower), math.ceil(upper)
    return cut_bounds(column, lower, upper, bins, missing)


def _units_by_value(cells: pa.ChunkedArray, units: Integers) -> dict[object, int]:
    """How many units hold each value; a unit that holds it twice counts once."""
    pairs = pa.table({"value": cells, "unit": units}).filter(pc.is_valid(cells)).group_by(["value", "unit"])
    counted = pairs.aggregate([]).group_by("value").aggregate([([], "count_all")])
    return dict(zip(counted["value"].to_pylist(), counted["count_all"].to_pylist(), strict=True))


def _bucket_counts(cells: pa.ChunkedArray) -> Integers:
    if pa.types.is_date(cells.type):
        cells = pc.cast(pc.cast(cells, pa.date32()), pa.int32())
    numbers = pc.cast(cells.drop_null(), pa.float64(), safe=False).to_numpy()
    numbers = numbers[np.isfinite(numbers)]
    return np.bincount(np.searchsorted(_EDGES, numbers), minlength=_EDGES.size + 1)


def _ends(noisy: Integers, sure: float) -> tuple[float, float]:
    found = noisy > sure
    places = np.flatnonzero(found if found.any() else noisy == noisy.max())
    last = _EDGES.size - 1
    high = max(min(int(places[-1]), last), 1)
    low = min(max(int(places[0]) - 1, 0), high - 1)
    return float(_EDGES[low]), float(_EDGES[high])

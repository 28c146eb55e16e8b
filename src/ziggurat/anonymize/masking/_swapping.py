"""Rank swapping: every value changes places with one of nearly the same rank."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from ziggurat.anonymize.masking._technique import CellTechnique, Tally, as_column, check_comparable, sortable
from ziggurat.errors import ParameterError
from ziggurat.randomness import Source


@dataclass(frozen=True)
class RankSwap(CellTechnique):
    """Exchange values between rows whose ranks differ by at most a percentage of the rows.

    Ranks are taken from the lowest up; each that is still free draws a partner among the free ones above it within
    reach (Moore 1996, "Controlled data-swapping techniques for masking public use microdata"). The column holds the
    same values as before, so its own distribution is exact; several columns are swapped independently of each other,
    which weakens what they say together.

    It does not hide any value, only whose it is, and that within a known distance: a lone largest value is still seen,
    at one of few rows. It must see the whole column.

    Parameters
    ----------
    percent
        How far apart the ranks of partners may be, in per cent of the filled cells; at least one rank.
    """

    name: ClassVar[str] = "rank-swap"
    random: ClassVar[bool] = True
    percent: int | float

    def __post_init__(self) -> None:
        number = isinstance(self.percent, int | float) and not isinstance(self.percent, bool)
        if not number or not 0 < self.percent <= 100:
            raise ParameterError("The percentage of ranks to swap within must be above 0 and at most 100.")

    @property
    def row_wise(self) -> bool:
        """Never: ranks are of all rows."""
        return False

    def parameters(self) -> dict[str, Any]:
        """Return the percentage."""
        return {"percent": self.percent}

    def column(self, cells: pa.ChunkedArray, name: str, source: Source) -> tuple[pa.ChunkedArray, Tally]:
        """Swap the filled cells; the others keep their places."""
        check_comparable(cells, name)
        array = cells.combine_chunks() if cells.num_chunks != 1 else cells.chunk(0)
        order = _rank(array)
        partner = _partners(order.size, self.percent, source)
        places = np.arange(len(array))
        places[order] = order[partner]
        return as_column(array.take(pa.array(places))), Tally()


def _rank(array: pa.Array) -> npt.NDArray[np.int64]:
    """The places of the filled cells, from the lowest value to the highest."""
    there = pc.is_valid(array)
    if kinds.is_floating(array.type):
        there = pc.and_(there, pc.invert(pc.fill_null(pc.is_nan(array), True)))
    kept = np.flatnonzero(there.to_numpy(zero_copy_only=False))
    ranks = pc.sort_indices(sortable(array).take(pa.array(kept)))
    return kept[np.asarray(ranks, dtype=np.int64)]


def _partners(n: int, percent: float, source: Source) -> npt.NDArray[np.int64]:
    from ziggurat.anonymize.masking._grouping import swap_partners

    partner = np.empty(n, dtype=np.int64)
    swap_partners(max(1, math.floor(n * percent / 100)), source.words(n), partner)
    return partner

"""Cells of a column that noise hides are counted together, as one.

A cell whose noisy count is within three deviations of 0 tells little by itself, and in a table of two columns it would
add a row or a column of nothing but noise. So after the columns have been measured one by one, such cells of each are
taken together (McKenna, Miklau & Sheldon 2021); which ones follows from noisy counts, so it costs nothing. When rows
are drawn, a cell is drawn among them in proportion to the noisy counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ziggurat.mechanisms import DiscreteGaussian
from ziggurat.randomness import Source
from ziggurat.synthesize.marginals._cliques import Floats, Integers
from ziggurat.synthesize.marginals._counts import ExactCounts, NoisyCounts

_DEVIATIONS = 3.0


@dataclass(frozen=True, eq=False)
class Folded:
    """How the cells of a column are taken together.

    Attributes
    ----------
    name
        Of the column.
    places
        The group of every cell.
    weights
        How likely every cell is within its group, relative to the others of it.
    """

    name: str
    places: Integers
    weights: Floats

    @property
    def size(self) -> int:
        """How many groups there are."""
        return int(self.places.max()) + 1

    def unfold(self, groups: Integers, draw: np.random.Generator) -> Integers:
        """Draw a cell of its group for every row."""
        order = np.argsort(self.places, kind="stable")
        reach = np.concatenate([[0.0], np.cumsum(self.weights[order])])
        ends = np.searchsorted(self.places[order], np.arange(self.size + 1))
        low, high = reach[ends[groups]], reach[ends[groups + 1]]
        found = np.searchsorted(reach, low + (high - low) * draw.random(groups.size), side="right") - 1
        return np.asarray(order[np.clip(found, ends[groups], ends[groups + 1] - 1)])


def fold(measured: NoisyCounts) -> Folded:
    """Take together what one measured column leaves in doubt; with one such cell or none, all stay as they are."""
    doubtful = measured.counts < _DEVIATIONS * float(measured.sigma)
    if doubtful.sum() <= 1:
        return Folded(measured.columns[0], np.arange(doubtful.size), np.ones(doubtful.size))
    group = np.where(doubtful, int((~doubtful).sum()), np.cumsum(~doubtful) - 1)
    return Folded(measured.columns[0], group, np.maximum(measured.counts, 1e-6))


def one_by_one(
    counts: ExactCounts, noise: DiscreteGaussian, source: Source
) -> tuple[list[NoisyCounts], list[Folded], ExactCounts]:
    """Measure every column by itself, and take together the cells that this leaves in doubt."""
    measured = [counts.measured((name,), noise, source) for name in counts.sizes]
    found = [fold(each) for each in measured]
    smaller = counts.fold({each.name: each.places for each in found})
    return [each.fold(how.places) for each, how in zip(measured, found, strict=True)], found, smaller

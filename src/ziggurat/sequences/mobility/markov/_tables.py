"""Tables of counts of which one unit moves at most a bound: counted, bounded and protected before anyone sees them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ziggurat.privacy import PureEvent
from ziggurat.randomness import Source
from ziggurat.sequences._counting_noise import CountingNoise, Reals, Table, weigh
from ziggurat.sequences.mobility.counting import CountedVisits, CountingRule, NormedCounts

Whole = npt.NDArray[np.int64]

# Counts are kept in so many parts of one: fine enough for someone with a hundred thousand visits.
WHOLE = 2**20
MOST_PER_UNIT = 2**11
"""How many trajectories of a unit may count: the square of the bound is carried in 64 bits."""


class NoisyTable(NamedTuple):
    """Counts with noise, how wide the noise is, and whether it is Gaussian rather than Laplace."""

    counts: Reals
    width: float
    gaussian: bool


class BoundedTables:
    """The tables of one fit. What a unit adds to each is weighed down until its norm is at most `most`.

    Proof: a unit's own counts in a table are whole numbers whose sum (or root of the sum of squares) is its norm. They
    are all multiplied by the largest whole weight that keeps the norm within most * 2^20, at most 2^20. A unit's weight
    depends on its own visits and on what was published before, on nothing of others; so adding or removing it moves
    the table by its own weighed counts: at most most * 2^20, for which `CountingNoise` makes the noise.
    """

    def __init__(self, most: int, noises: Mapping[str, CountingNoise], source: Source) -> None:
        self.most, self.noises, self.source = most, noises, source

    def width(self, name: str) -> float:
        """How wide the noise of a table will be, in counts; public."""
        event = self.noises[name].event
        return float(self.most / event.epsilon if isinstance(event, PureEvent) else self.most * event.sigma)

    def measure(self, name: str, visits: CountedVisits, rules: Sequence[CountingRule], size: int) -> NoisyTable:
        """Count, bound and protect: every event counts in the cell that its rule gives it."""
        noise = self.noises[name]
        table = bound_counts(visits.tally(rules, square=noise.square), size, self.most, noise.square)
        noisy, width = noise.protect(table, self.most * WHOLE, self.source.child(name))
        return NoisyTable(noisy / WHOLE, width / WHOLE, noise.square)


def bound_counts(found: NormedCounts, size: int, most: int, square: bool) -> Table:
    """Counts in parts of one, so that no unit adds more than `most` (see the proof above)."""
    return found.weighed(size, lambda norms: weigh(norms, most * WHOLE, square, WHOLE))


def tally(cells: Whole, weights: Reals, size: int = 0) -> Reals:
    """Sum weights by cell."""
    summed: Reals = np.bincount(cells, weights, minlength=size).astype(np.float64, copy=False)
    return summed

"""Smoothing: a number that few people have is not copied out as it is.

Methods that draw donors return real numbers. One that at least `SHARED` rows hold tells of nobody and stays. Any other
is replaced by a draw between its neighbours `REACH` places below and above; in the tails, where there are no
neighbours, by an exponential draw beyond the last number that has them, with the mean excess of the rows there. None
of these draws is one of the three outermost numbers on either side. A column of at most six distinct numbers is left
as it is. This is a courtesy, no guarantee: it hides exact values, not people.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ziggurat.data.coded import Reals

SHARED = 5
REACH = 3
_TRIES = 20

Rounding = Callable[[Reals], Reals]


@dataclass(frozen=True)
class Smoother:
    """The distinct numbers of a column, in order, and how many rows hold each."""

    numbers: Reals
    counts: npt.NDArray[np.int64]

    @classmethod
    def of(cls, values: Reals) -> Smoother:
        """Learn from the numbers of a column."""
        numbers, counts = np.unique(values, return_counts=True)
        return cls(numbers, counts.astype(np.int64))

    def smooth(self, drawn: Reals, rounded: Rounding, draw: np.random.Generator) -> Reals:
        """Return drawn numbers, those that few rows hold replaced."""
        if len(self.numbers) <= 2 * REACH:
            return drawn
        place = np.minimum(np.searchsorted(self.numbers, drawn), len(self.numbers) - 1)
        rare = (self.numbers[place] == drawn) & (self.counts[place] < SHARED)
        result = drawn.copy()
        result[rare] = self._replace(place[rare], rounded, draw)
        return result

    def _replace(self, place: npt.NDArray[np.int64], rounded: Rounding, draw: np.random.Generator) -> Reals:
        numbers, last = self.numbers, len(self.numbers) - 1
        # Between the edges of the tails, so that no draw can be rounded to an extreme number.
        low = np.maximum(numbers[np.maximum(place - REACH, 0)], numbers[REACH])
        high = np.minimum(numbers[np.minimum(place + REACH, last)], numbers[last - REACH])
        result = rounded(low + (high - low) * draw.random(place.size))
        top, bottom = place + REACH > last, place - REACH < 0
        result[top] = self._tail(int(top.sum()), numbers[-REACH - 1], numbers[-REACH:], rounded, draw)
        result[bottom] = self._tail(int(bottom.sum()), numbers[REACH], numbers[:REACH], rounded, draw)
        return result

    def _tail(self, size: int, edge: float, beyond: Reals, rounded: Rounding, draw: np.random.Generator) -> Reals:
        """Draws beyond `edge`; none is one of the numbers there, and none changes sign if no real number does."""
        excess = float(np.mean(beyond - edge))
        found = np.full(size, edge)
        left = np.arange(size)
        for _ in range(_TRIES):
            found[left] = rounded(edge + excess * draw.exponential(size=left.size))
            wrong = np.isin(found[left], beyond) | (found[left] * np.sign(self._sign) < 0)
            left = left[wrong]
            if not left.size:
                return found
        found[left] = rounded(np.full(left.size, edge))
        return found

    @property
    def _sign(self) -> int:
        """1 if no number is negative, -1 if none is positive, else 0."""
        return 1 if self.numbers[0] >= 0 else -1 if self.numbers[-1] <= 0 else 0

"""A histogram over all columns at once: the rows of a table of few columns, seen through cells."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ziggurat.errors import ParameterError
from ziggurat.learn._budget import FitBudget
from ziggurat.learn._clipping import Floats, Integers
from ziggurat.mechanisms import AdditiveNoise
from ziggurat.privacy import Relation

_MOST_CELLS = 1 << 18
_MOST_AXES = 5


@dataclass(frozen=True)
class CellGrid:
    """The box [-1, 1]^axes in `bins` equal parts along every axis.

    A replaced row changes two counts by 1, an added or removed one changes one.
    """

    bins: int
    axes: int

    @classmethod
    def fitting(cls, rows: int, axes: int) -> CellGrid:
        """Choose cells of width (log n / n)^(1/(axes + 1)) (Lei 2011), from public facts alone.

        Raises
        ------
        ParameterError
            If there are too many columns for cells to hold more rows than noise.
        """
        bins = max(2, math.floor((max(rows, 3) / math.log(max(rows, 3))) ** (1 / (axes + 1))))
        if axes > _MOST_AXES or bins**axes > _MOST_CELLS:
            raise ParameterError(
                f"A histogram over {axes} columns has more cells than rows could fill; use method 'adassp'."
            )
        return cls(bins, axes)

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return int(self.bins**self.axes)

    def noise(self, budget: FitBudget) -> AdditiveNoise:
        """Noise for the counts."""
        changed = 2 if budget.neighbours.relation is Relation.REPLACE_ONE else 1
        return budget.whole_noise(changed, changed)

    def counts(self, rows: Floats) -> Integers:
        """Count the rows of every cell."""
        place = np.clip(np.floor((rows + 1) / 2 * self.bins), 0, self.bins - 1).astype(np.int64)
        number = np.ravel_multi_index(tuple(place.T), (self.bins,) * self.axes)
        return np.bincount(number, minlength=self.cells)

    def centres(self) -> Floats:
        """The middle of every cell, in the order of their numbers."""
        middle = (np.arange(self.bins) + 0.5) / self.bins * 2 - 1
        return np.stack(np.meshgrid(*[middle] * self.axes, indexing="ij"), axis=-1).reshape(-1, self.axes)

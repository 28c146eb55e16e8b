"""Growing a tree: every node chooses one of the public splits by a private score.

What a side of a split is worth comes from its counts of classes n_1, n_2, ... with total n; a row changes one side.

- "majority": the largest of them, so that a split scores how many rows the commonest classes get right. Adding a row
  raises a score by 0 or 1, and never lowers it.
- "gini": the sum of n_c^2 / n, rounded down, which is n times 1 less the Gini impurity. With S the sum of squares, a
  row of class c added changes S/n by (n (2 n_c + 1) - S) / (n (n + 1)): at most 1, where n_c = n, and at least
  -(n - 1)/(n + 1), where n_c = 0 and S = n^2. Rounded down that is -1, 0 or 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ziggurat.learn._clipping import Floats, Integers, Scale
from ziggurat.mechanisms import Selection
from ziggurat.randomness import Source

Criterion = Callable[[Integers], Integers]


def public_grid(scale: Scale, thresholds: int) -> Floats:
    """Thresholds of every column, equally far apart between its bounds."""
    part = np.arange(1, thresholds + 1) / (thresholds + 1)
    return scale.lower[:, None] * (1 - part) + scale.upper[:, None] * part


def count_below(table: Floats, grid: Floats) -> Integers:
    """How many thresholds of its column every value lies above."""
    return np.column_stack([np.searchsorted(ends, column) for ends, column in zip(grid, table.T, strict=True)])


def majority(counts: Integers) -> Integers:
    """How many rows the commonest class gets right."""
    return np.asarray(counts.max(axis=-1))


def gini(counts: Integers) -> Integers:
    """The sum of squared counts over their total, rounded down."""
    return np.asarray((counts**2).sum(axis=-1) // np.maximum(counts.sum(axis=-1), 1))


CRITERIA: dict[str, Criterion] = {"majority": majority, "gini": gini}


def split_scores(
    bins: Integers, codes: Integers, node: Integers, shape: tuple[int, int, int], worth: Criterion = majority
) -> Integers:
    """Score every split (column, threshold) of every node; `shape` is (nodes, thresholds, classes)."""
    nodes, thresholds, classes = shape
    parts = thresholds + 1
    scores = []
    for column in bins.T:
        cells = np.bincount((node * parts + column) * classes + codes, minlength=nodes * parts * classes)
        below = cells.reshape(nodes, parts, classes).cumsum(axis=1)
        left, right = below[:, :-1], below[:, -1:] - below[:, :-1]
        scores.append(worth(left) + worth(right))
    return np.stack(scores, axis=1)


@dataclass(frozen=True)
class Growth:
    """How a tree grows; `choice` is what one node does."""

    choice: Selection
    worth: Criterion
    depth: int
    thresholds: int
    classes: int
    source: Source

    def grow(self, bins: Integers, codes: Integers) -> tuple[Integers, Integers]:
        """Give the column and the threshold's place of every node, level by level."""
        node = np.zeros(len(bins), dtype=np.int64)
        left = np.ones((1, bins.shape[1], self.thresholds), dtype=np.bool_)
        found: list[Integers] = []
        for level in range(self.depth):
            shape = (2**level, self.thresholds, self.classes)
            scores = split_scores(bins, codes, node, shape, self.worth)
            splits = np.array([self._choose(*item) for item in zip(scores, left, strict=True)])
            node = 2 * node + (bins[np.arange(len(bins)), splits[node, 0]] > splits[node, 1])
            left = _still_open(left, splits)
            found.append(splits)
        column, place = np.concatenate(found).T
        return column, place

    def _choose(self, scores: Integers, still_open: npt.NDArray[np.bool_]) -> tuple[int, int]:
        """Choose among the splits that earlier ones, which are known, have left open, or among all where none is."""
        columns, places = np.nonzero(still_open if still_open.any() else np.ones_like(still_open))
        at = self.choice.release(scores[columns, places], self.source).value
        return int(columns[at]), int(places[at])


def _still_open(still_open: npt.NDArray[np.bool_], splits: Integers) -> npt.NDArray[np.bool_]:
    """The splits that are left for both children of every node: thresholds on their own side."""
    after = np.repeat(still_open, 2, axis=0)
    for node, (column, place) in enumerate(splits):
        after[2 * node, column, place:] = False
        after[2 * node + 1, column, : place + 1] = False
    return after

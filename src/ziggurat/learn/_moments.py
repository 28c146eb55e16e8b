"""Second moments of rows, summed exactly in integers, and how far one row moves them.

A row is z = (x, u, w y): scaled features with |x_j| <= 1 (and |x|_2^2 <= r), a constant u for the intercept, and the
target |y| <= 1 times a weight w. Released is the upper triangle of the sum of z z', every entry once, without y^2 and,
where the number of rows is public, without u^2. Larger u and w buy less noise on the entries that they multiply.

Sensitivity. With v = (x, u), s = x^2, t = x'^2 by entry, p = |v|^2, q = |v'|^2 and c = v.v', one replaced row moves the
entries by, squared, (p^2 + q^2 - 2 c^2)/2 + sum (s - t)^2/2 + w^2 (p y^2 + q y'^2 - 2 y y' c), and as
2 w^2 |c| - c^2 <= w^4 that is at most ((p + w^2)^2 + (q + w^2)^2 + sum (s - t)^2)/2.

- Box: this is convex in (s, t), so largest where all are 0 or 1. If s and t differ in k places it is at most
  (M^2 + (M - k)^2 + k^2)/2 <= M^2 with M = d + u^2 + w^2, since k <= M. So the l2 sensitivity is M.
- Ball: sum (s - t)^2 <= sum s^2 + t^2 <= 2 r min(1, r), so it is the root of (r + u^2 + w^2)^2 + r min(1, r).
- A row added or removed moves them, squared, by (p^2 + sum s^2 + u^4)/2 + w^2 p.
- In l1, with u = w = 1 and D entries in z, it is D(D+1)/2: half of the full matrix, D^2 as |zz' - z'z''|_1 is at most
  |z - z'|_1 |z + z'|_1, plus half of the diagonal, D. A row added or removed moves every entry by at most 1, and all
  but y^2 are released: D(D+1)/2 - 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from ziggurat.data.withheld import RowsError
from ziggurat.learn._clipping import STEPS, Floats, Integers, root_above
from ziggurat.privacy import Relation

_EXACT = 1 << 53
_LARGEST = 1 << 61


@dataclass(frozen=True)
class Quadratic:
    """Noisy sums over scaled rows: of x x', of x y, of x, of y, and how many rows there are; `spread` is the noise.

    `sums` is None for a model without intercept. `spread` is the standard deviation of an entry of `gram`.
    """

    gram: Floats
    cross: Floats
    sums: Floats | None
    total: float
    rows: float
    spread: float

    def centre(self) -> tuple[Floats, Floats]:
        """The quadratic that is left when the best intercept is put in."""
        if self.sums is None:
            return self.gram, self.cross
        outer = np.outer(self.sums, self.sums) / self.rows
        return self.gram - outer, self.cross - self.sums * (self.total / self.rows)

    def intercept(self, weights: Floats) -> float:
        """The best intercept for these weights."""
        return 0.0 if self.sums is None else float((self.total - self.sums @ weights) / self.rows)


@dataclass(frozen=True)
class Moments:
    """Which moments are released; weights are in whole steps, `norm` is the largest squared norm of x."""

    columns: int
    norm: Fraction
    constant: int
    target: int
    relation: Relation

    @cached_property
    def places(self) -> tuple[Integers, Integers]:
        """The entries of the triangle that are released."""
        size = self.columns + (self.constant > 0) + 1
        row, column = np.triu_indices(size)
        kept = row < size - 1
        if self.constant and self.relation is Relation.REPLACE_ONE:
            kept &= ~((row == self.columns) & (column == self.columns))
        return row[kept], column[kept]

    @property
    def l2(self) -> Fraction:
        """Sensitivity in l2, in squared steps."""
        r, one = self.norm * STEPS**2, Fraction(STEPS**2)
        u2, w2 = self.constant**2, self.target**2
        fourth = r * min(one, r)
        if self.relation is Relation.ADD_OR_REMOVE_ONE:
            return root_above(((r + u2) ** 2 + fourth + u2**2) / 2 + w2 * (r + u2))
        if self.norm >= self.columns:
            return Fraction(self.columns * STEPS**2 + u2 + w2)
        return root_above((r + u2 + w2) ** 2 + fourth)

    @property
    def l1(self) -> Fraction:
        """Sensitivity in l1, in squared steps, for weights of 1."""
        size = self.columns + (self.constant > 0) + 1
        added = self.relation is Relation.ADD_OR_REMOVE_ONE
        return Fraction((size * (size + 1) // 2 - added) * STEPS**2)

    def sum_up(self, features: Integers, target: Integers) -> Integers:
        """The exact sums, entry by entry; floats carry whole numbers up to 2**53 exactly, so blocks go through them."""
        parts = [features, np.full((len(features), 1), self.constant), target[:, None]]
        rows = np.hstack(parts if self.constant else parts[::2]).astype(np.float64)
        largest = max(STEPS, self.constant, self.target) ** 2
        if len(rows) * largest > _LARGEST:
            raise RowsError("There are too many rows or columns for exact sums; fit on a sample of public size.")
        block = _EXACT // largest
        blocks = (rows[at : at + block] for at in range(0, len(rows), block))
        total = np.zeros((rows.shape[1], rows.shape[1]), dtype=np.int64)
        for part in blocks:
            total += (part.T @ part).astype(np.int64)
        return np.asarray(total[self.places])

    def place(self, noisy: Floats, rows: int, spread: float) -> Quadratic:
        """Put the entries of the triangle in their places."""
        d, size = self.columns, self.columns + (self.constant > 0) + 1
        matrix = np.zeros((size, size))
        matrix[self.places] = noisy
        matrix = matrix + matrix.T - np.diag(np.diag(matrix))
        gram, cross = matrix[:d, :d] / STEPS**2, matrix[:d, -1] / (STEPS * self.target)
        if not self.constant:
            return Quadratic(gram, cross, None, 0.0, rows, spread)
        counted = matrix[d, d] / self.constant**2 if self.relation is Relation.ADD_OR_REMOVE_ONE else rows
        total = matrix[d, -1] / (self.constant * self.target)
        return Quadratic(gram, cross, matrix[:d, d] / (STEPS * self.constant), total, max(counted, 1.0), spread)

"""Naive Bayes classifiers to publish: noisy counts and sums of every class, released once.

Numbers. A row of scaled features |x_j| <= 1 adds to its class a weight A, and for every column two polynomials; all
of it is in whole steps, so sums are exact. Both choices release what (1, x, x^2) would, for less noise:

- Gaussian noise: 12 x and 18 x^2 - 13. Their squares together, 144 t + (18 t - 13)^2 with t = x^2, are convex in t and
  169 at both ends. Two rows of different classes move the sums, squared, by at most 2 (A^2 + 169 d); two of the same
  class by the sum of 144 (x - x')^2 + 324 (x^2 - x'^2)^2, which is q^2 (144 + 324 p^2) with q = |x - x'| and
  p = |x + x'| <= 2 - q, so at most 576 a column. (At p = 2 - q, 576 less it is 36 (2 - q) times
  8 + 4 q - 18 q^2 + 9 q^3, whose least value for q in [0, 2], at q = 1.21, is above 2.) With A^2 <= 119 d both are at
  most 576 d: the l2 sensitivity is 24 sqrt(d), which a row that moves between opposite corners attains. An added or
  removed row moves them by A^2 + 169 d at most.
- Laplace noise: 8 x and 8 x^2 - 7, of which |8 x| + |8 x^2 - 7| <= 9 (attained at 1 and at 1/2). Two rows of different
  classes move the sums by at most 2 (A + 9 d), two of the same class by q (8 + 8 p) <= 18 a column, at q = 3/2.

With (1, x, x^2) itself the l2 sensitivity would be the root of 2 + 4 d, and 2 + 4 d in l1: as much noise on the sums of
x in l2 and twice as much in l1, about twice the variance on those of x^2, and far more noise on the counts.

Categories. A row adds 1 to one count in every column: a replaced row changes 2 d counts by 1, an added one d.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted

from ziggurat.data.withheld import RowsError
from ziggurat.errors import ParameterError
from ziggurat.learn._budget import FitBudget, Kind, deviation_of, lesser_noise
from ziggurat.learn._clipping import STEPS, Floats, Integers, Scale, check_rows, in_steps, read_bounds, root_above
from ziggurat.learn.counting._base import (
    BoundedClassifier,
    CountingClassifier,
    CountingFacts,
    public_number,
    with_bounds,
)
from ziggurat.mechanisms import AdditiveNoise, Gaussian, Laplace
from ziggurat.privacy import Event, Relation, whole_number
from ziggurat.randomness import Source

_LARGEST = 1 << 61
_UNIT = STEPS**2
_NARROWEST, _WIDEST = 1e-140, 1e140


@dataclass(frozen=True)
class ClassSums:
    """Sums of a weight and of two polynomials a column, class by class: f x and s x^2 - m."""

    columns: int
    kind: Kind
    relation: Relation

    @property
    def polynomials(self) -> tuple[int, int, int]:
        """The factors f and s, and m."""
        return (12, 18, 13) if self.kind == "gaussian" else (8, 8, 7)

    @property
    def weight(self) -> int:
        """The weight of a row in the count of its class; in l1 a third root balances the noise of all sums."""
        if self.kind == "gaussian":
            return math.isqrt(119 * self.columns)
        return 8 * max(1, round(math.cbrt(self.columns)))

    @property
    def sensitivity(self) -> Fraction:
        """How far one row moves all sums together, in squared steps; l2 or l1 by the kind of noise."""
        replaced = self.relation is Relation.REPLACE_ONE
        if self.kind == "laplace":
            return Fraction((self.weight + 9 * self.columns) * (1 + replaced) * _UNIT)
        square = 576 * self.columns if replaced else self.weight**2 + 169 * self.columns
        return root_above(Fraction(square * _UNIT**2))

    def noise(self, budget: FitBudget) -> Laplace | Gaussian:
        """Noise for all sums at once."""
        changed = (1 + 2 * self.columns) * (1 + (self.relation is Relation.REPLACE_ONE))
        return budget.noise(self.sensitivity, changed)

    def sum_up(self, steps: Integers, codes: Integers, classes: int) -> Integers:
        """The exact sums: a row for each class with its count, its sums of x and its sums of squares."""
        first, second, shift = self.polynomials
        if len(steps) * max(first, second, self.weight) * _UNIT > _LARGEST:
            raise RowsError("There are too many rows or columns for exact sums; fit on a sample of public size.")
        total = np.zeros((classes, 1 + 2 * self.columns), dtype=np.int64)
        for code in range(classes):
            part = steps[codes == code]
            counted = [len(part) * self.weight * _UNIT]
            squares = second * (part**2).sum(axis=0) - len(part) * shift * _UNIT
            total[code] = np.concatenate([counted, first * STEPS * part.sum(axis=0), squares])
        return total

    def read(self, noisy: Floats, rows: int | None) -> tuple[Floats, Floats, Floats]:
        """Counts, sums of x and sums of x^2; counts are moved to add up to the number of rows where it is public."""
        first, second, shift = self.polynomials
        in_units = noisy / float(_UNIT)
        counts = in_units[:, 0] / self.weight
        if rows is not None:
            counts = counts + (rows - counts.sum()) / len(counts)
        counts = np.maximum(counts, 1.0)
        squares = (in_units[:, 1 + self.columns :] + shift * counts[:, None]) / second
        return counts, in_units[:, 1 : 1 + self.columns] / first, squares


@dataclass(eq=False, repr=False, kw_only=True)
class GaussianNB(BoundedClassifier):
    """Gaussian naive Bayes, protected.

    Formal guarantee: (epsilon, delta)-differential privacy for a row, add-or-remove-one by default (the number of rows
    is private) or replace-one, pure for delta 0. Features are moved into public bounds and scaled to [-1, 1]; of every
    class a count, the sums of 12 x and those of 18 x^2 - 13 are released once, with Gaussian noise of l2 sensitivity
    sqrt(A^2 + 169 d) <= 17 sqrt(d) (24 sqrt(d) under replace-one), or with Laplace noise on like sums of l1 sensitivity
    (A + 9 d) / 8 (twice that under replace-one), whichever is less. Proof: `_naive_bayes`. Means, variances and all
    that is done to them is post-processing: they lean on those of all classes as far as noise makes them doubtful.

    Parameters
    ----------
    epsilon, delta
        What fitting may cost; exact ("0.1" is one tenth).
    classes
        The classes, which must be public: a list, or a number k for the labels 0 to k - 1.
    bounds
        Public (lower, upper): numbers, or one for every column. None buys them with `bounds_share` of the budget.
    bounds_share
        The part of the budget that bounds cost where they are not declared.
    least_spread
        The least standard deviation of a feature in a class, as a part of half the width of its bounds; public.
    relation
        "add-or-remove-one", or "replace-one" (the number of rows is public).
    expected_rows
        Under add-or-remove-one about how many rows there are: a public number, never counted for this, by which a
        warning can tell of too much noise. Nothing else needs it.
    random_state
        None for secure randomness; a whole number makes a rehearsal, which must not be published.

    Attributes
    ----------
    classes_
        The labels in order.
    class_prior_
        The probability of every class.
    theta_, var_
        Means and variances of every class in every column, in the units of the data.
    bounds_
        The lower and the upper bounds of the features, declared or bought.
    n_features_in_
        How many columns the rows have.
    event_, origin_
        What fitting did and with which randomness, for the ledger.
    """

    least_spread: float = 0.01

    class_prior_: Floats = field(init=False)
    theta_: Floats = field(init=False)
    var_: Floats = field(init=False)

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """Return the probability of every class, row by row; rows are moved into the bounds first."""
        check_is_fitted(self)
        scale = Scale(*self.bounds_)
        inside = scale.scale(check_rows(self, X))[:, None, :]
        means, spread = scale.scale(self.theta_), self.var_ / scale.half**2
        densities = -((inside - means) ** 2 / spread + np.log(spread)).sum(axis=2) / 2
        return np.asarray(softmax(densities + np.log(self.class_prior_), axis=1))

    def _plan(self, facts: CountingFacts) -> tuple[AdditiveNoise | None, ClassSums, Laplace | Gaussian]:
        self._require_squares(facts.columns)
        kinds: list[Kind] = ["laplace", "gaussian"]
        relation, columns = self._neighbours.relation, facts.columns
        rival = [ClassSums(columns, kind, relation) for kind in kinds]
        apart = [float(sums.sensitivity) / sums.polynomials[0] for sums in rival]
        chosen = rival[kinds.index(lesser_noise(apart[0], apart[1], self._epsilon, self._delta))]
        bounds_noise, left = self._shares(columns, chosen.kind)
        return bounds_noise, chosen, chosen.noise(left)

    def _require_squares(self, columns: int) -> None:
        public_number(self.least_spread, "least_spread")
        half = read_bounds((-1, 1) if self.bounds is None else self.bounds, columns, "bounds").half
        if half.min() < _NARROWEST or half.max() > _WIDEST:
            raise ParameterError("The bounds are too close or too far apart for variances; change the unit.")

    def _costs(self, facts: CountingFacts) -> Event:
        bounds_noise, _, noise = self._plan(facts)
        return with_bounds(bounds_noise, noise.event)

    def _doubt(self, facts: CountingFacts, rows: int) -> float:
        return 4 * self._deviation(facts) * facts.classes / rows

    def _deviation(self, facts: CountingFacts) -> float:
        """The standard deviation of the noise on a sum of scaled features."""
        _, sums, noise = self._plan(facts)
        return deviation_of(noise) / (sums.polynomials[0] * _UNIT)

    def _learn(self, features: Floats, codes: Integers, facts: CountingFacts, source: Source) -> None:
        bounds_noise, sums, noise = self._plan(facts)
        scale = self._scale(features, bounds_noise, source)
        exactly = sums.sum_up(in_steps(scale.scale(features)), codes, facts.classes)
        noisy = np.asarray(noise.release(exactly, source).value)
        rows = facts.rows if sums.relation is Relation.REPLACE_ONE else None
        counts, totals, squares = sums.read(noisy, rows)
        means = np.clip(_leaning(totals, counts, self._deviation(facts)), -1.0, 1.0)
        spread = _leaning(squares, counts, self._deviation(facts)) - means**2
        self.class_prior_ = counts / counts.sum()
        self.theta_ = scale.centre + scale.half * means
        self.var_ = np.clip(spread, public_number(self.least_spread, "least_spread") ** 2, 1.0) * scale.half**2


def _leaning(totals: Floats, counts: Floats, weight: float) -> Floats:
    """Means of every class that lean on the mean of all with the weight of so many rows."""
    overall = totals.sum(axis=0) / counts.sum()
    return np.asarray((totals + weight * overall) / (counts[:, None] + weight))


@dataclass(eq=False, repr=False, kw_only=True)
class CategoricalNB(CountingClassifier):
    """Naive Bayes for categories, protected.

    Formal guarantee: (epsilon, delta)-differential privacy for a row, add-or-remove-one by default (the number of rows
    is private) or replace-one, pure for delta 0. Released once is how often every category of every column occurs in
    every class. A row is counted once in every column: adding or removing it changes d counts by 1, so the sensitivity
    is d in l1 (Laplace noise) and sqrt(d) in l2 (Gaussian noise); replacing it changes 2d counts. The noise of less
    deviation is taken.

    Parameters
    ----------
    epsilon, delta, classes, relation, expected_rows, random_state
        As for `GaussianNB`.
    categories
        How many categories each column has: a number, or one for every column; public. The cells of a column are the
        whole numbers from 0 below that; fractions are rounded down, and what lies outside counts as the first or the
        last. Text goes through an `OrdinalEncoder` with declared categories and `handle_unknown`: one that learns
        them from the rows, or quotes a cell it does not know, tells what nobody paid for.

    Attributes
    ----------
    classes_
        The labels in order.
    class_prior_
        The probability of every class.
    feature_prob_
        For every column the probability of each category (along) in each class (down).
    n_features_in_
        How many columns the rows have.
    event_, origin_
        What fitting did and with which randomness, for the ledger.
    """

    categories: Any = None

    class_prior_: Floats = field(init=False)
    feature_prob_: list[Floats] = field(init=False)

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """Return the probability of every class, row by row."""
        check_is_fitted(self)
        places = self._places(check_rows(self, X))
        told = [np.log(table[:, place].T) for table, place in zip(self.feature_prob_, places.T, strict=True)]
        return np.asarray(softmax(np.sum(told, axis=0) + np.log(self.class_prior_), axis=1))

    def _sizes(self, columns: int) -> list[int]:
        given = [self.categories] * columns if np.ndim(self.categories) == 0 else list(self.categories)
        if self.categories is None or len(given) != columns:
            raise ParameterError(f"State how many categories columns have: a number, or one for each of {columns}.")
        return [whole_number(size, "categories", 2) for size in given]

    def _places(self, table: Floats) -> Integers:
        most = np.array(self._sizes(table.shape[1])) - 1.0
        return np.clip(np.floor(table), 0.0, most).astype(np.int64)

    def _noise(self, facts: CountingFacts) -> Laplace | Gaussian:
        self._sizes(facts.columns)
        changed = self._changed * facts.columns
        kind = lesser_noise(changed, math.sqrt(changed), self._epsilon, self._delta)
        return FitBudget(self._epsilon, self._delta, kind, self._neighbours).whole_noise(changed, changed)

    def _costs(self, facts: CountingFacts) -> Event:
        return self._noise(facts).event

    def _doubt(self, facts: CountingFacts, rows: int) -> float:
        return 4 * deviation_of(self._noise(facts)) * facts.classes / rows

    def _learn(self, features: Floats, codes: Integers, facts: CountingFacts, source: Source) -> None:
        sizes, noise = self._sizes(facts.columns), self._noise(facts)
        exactly = category_counts(self._places(features), codes, sizes, facts.classes)
        noisy = np.asarray(noise.release(exactly, source).value, dtype=np.float64)
        tables = np.split(noisy, np.cumsum(sizes)[:-1], axis=1)
        counts = np.maximum(noisy.sum(axis=1) / facts.columns, 1.0)
        self.class_prior_ = counts / counts.sum()
        self.feature_prob_ = [_frequencies(np.maximum(table, 0.0), deviation_of(noise)) for table in tables]


def category_counts(places: Integers, codes: Integers, sizes: list[int], classes: int) -> Integers:
    """Count the categories of every column, side by side, in every class."""
    tables = [
        np.bincount(codes * size + place, minlength=classes * size).reshape(classes, size)
        for place, size in zip(places.T, sizes, strict=True)
    ]
    return np.hstack(tables)


def _frequencies(table: Floats, weight: float) -> Floats:
    """Shares of categories in every class that lean on those in all classes, and these on equal ones."""
    overall = table.sum(axis=0) + 1.0
    leaning = table + weight * overall / overall.sum()
    return np.asarray(leaning / leaning.sum(axis=1, keepdims=True))

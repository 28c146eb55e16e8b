"""A forest to publish: splits that see no data, classes counted privately in the leaves."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted

from ziggurat.learn._budget import Kind, deviation_of, lesser_noise
from ziggurat.learn._clipping import Floats, Integers, Scale, check_rows
from ziggurat.learn.counting._base import BoundedClassifier, CountingFacts, with_bounds
from ziggurat.learn.counting._splits import (
    ONE_ROW,
    exact_depth,
    leaf_counts,
    leaf_probabilities,
    leaves_of,
    random_splits,
)
from ziggurat.mechanisms import AdditiveNoise, Gaussian, Laplace
from ziggurat.privacy import Event, whole_number
from ziggurat.randomness import Source

_MOST, _DEPTH, _QUIET = 10, 6, 0.2
_SHARPER = 1.5  # than a mean of log odds: leaves of random splits know little, and much of it apart from each other


@dataclass(eq=False, repr=False, kw_only=True)
class RandomForestClassifier(BoundedClassifier):
    """Trees with random splits, protected.

    Formal guarantee: (epsilon, delta)-differential privacy for a row, add-or-remove-one by default (the number of rows
    is private) or replace-one, pure for delta 0. Splits are drawn between public bounds without a look at the rows
    (Geurts, Ernst & Wehenkel 2006, with one candidate), so all that is released of these are the counts of classes in
    the leaves of all trees, once. A row is in one leaf of each of the k trees: adding or removing it changes k counts
    by 1, so the sensitivity is k in l1 (Laplace noise) and sqrt(k) in l2 (Gaussian noise); replacing it changes 2k
    counts. The noise of less deviation is taken. Dealing the rows out among the trees would change one count only, but
    of k times smaller ones: as much noise beside them in l1, more than in l2, and more chance in who is dealt to whom.

    Parameters
    ----------
    epsilon, delta
        What fitting may cost; exact ("0.1" is one tenth).
    trees
        How many trees there are.
    depth
        How many splits lie above each leaf. None takes up to 10, as many as leave the noise well below what the rows
        can tell by the number of rows, the classes and epsilon; or 6 where the number of rows is neither public nor
        declared.
    classes, bounds, bounds_share, relation, expected_rows, random_state
        As for `GaussianNB`.

    Attributes
    ----------
    classes_
        The labels in order.
    feature_, threshold_
        The column and the threshold of every node of every tree, level by level; rows that are not above go left.
    value_
        The probability of every class in every leaf of every tree.
    class_prior_
        The probability of every class.
    bounds_
        The lower and the upper bounds of the features, declared or bought.
    n_features_in_
        How many columns the rows have.
    event_, origin_
        What fitting did and with which randomness, for the ledger.
    """

    trees: int = 20
    depth: int | None = None

    feature_: Integers = field(init=False)
    threshold_: Floats = field(init=False)
    value_: Floats = field(init=False)
    class_prior_: Floats = field(init=False)

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """Return the probability of every class, row by row, by the mean of what trees add in log odds.

        That names classes better than the mean of probabilities, but tells of a rare class somewhat too seldom: 0.07
        where 0.083 is true.
        """
        check_is_fitted(self)
        table = Scale(*self.bounds_).clip(check_rows(self, X))
        grown = zip(self.feature_, self.threshold_, self.value_, strict=True)
        told = [np.log(value)[leaves_of(table, feature, threshold)] for feature, threshold, value in grown]
        prior = np.log(self.class_prior_)
        return np.asarray(softmax(prior + _SHARPER * (np.mean(told, axis=0) - prior), axis=1))

    def _plan(self, facts: CountingFacts) -> tuple[AdditiveNoise | None, Laplace | Gaussian]:
        changed = self._changed * whole_number(self.trees, "trees")
        kind: Kind = lesser_noise(changed, math.sqrt(changed), self._epsilon, self._delta)
        bounds_noise, left = self._shares(facts.columns, kind)
        return bounds_noise, left.whole_noise(changed, changed)

    def _costs(self, facts: CountingFacts) -> Event:
        bounds_noise, noise = self._plan(facts)
        self._levels(facts)
        return with_bounds(bounds_noise, noise.event)

    def _doubt(self, facts: CountingFacts, rows: int) -> float:
        return self._noise_in_rows(facts, self._levels(facts)) / rows

    def _levels(self, facts: CountingFacts) -> int:
        """How deep trees are, by public facts alone."""
        if self.depth is not None:
            return exact_depth(self.depth)
        if facts.rows is None:
            return _DEPTH
        most = _QUIET * facts.rows
        quiet = [depth for depth in range(1, _MOST + 1) if self._noise_in_rows(facts, depth) < most]
        return max(quiet, default=1)

    def _noise_in_rows(self, facts: CountingFacts, depth: int) -> float:
        """The noise in the classes of a whole tree, in rows, evened out over the trees."""
        noise = deviation_of(self._plan(facts)[1])
        return float(noise * facts.classes * math.sqrt(2**depth / self.trees))

    def _learn(self, features: Floats, codes: Integers, facts: CountingFacts, source: Source) -> None:
        bounds_noise, noise = self._plan(facts)
        scale = self._scale(features, bounds_noise, source)
        draw = source.simulation()
        splits = [random_splits(scale, self._levels(facts), draw) for _ in range(self.trees)]
        self.feature_, self.threshold_ = (np.stack(part) for part in zip(*splits, strict=True))
        counts = self._counts(scale.clip(features), codes, facts.classes)
        noisy = np.asarray(noise.release(counts, source).value)
        total = np.maximum(noisy.sum(axis=(0, 1)), self.trees)
        self.class_prior_ = total / total.sum()
        self.value_ = np.stack([leaf_probabilities(tree, ONE_ROW + deviation_of(noise)) for tree in noisy])

    def _counts(self, table: Floats, codes: Integers, classes: int) -> Integers:
        """Count the classes in the leaves of all trees."""
        leaves = [leaves_of(table, *splits) for splits in zip(self.feature_, self.threshold_, strict=True)]
        shape = (self.feature_.shape[1] + 1, classes)
        return np.stack([leaf_counts(places, codes, shape) for places in leaves])

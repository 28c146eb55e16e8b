"""A decision tree to publish: splits chosen privately, classes counted privately in the leaves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ziggurat.data import Unit
from ziggurat.errors import ParameterError
from ziggurat.learn._budget import FitBudget, deviation_of, exact_share
from ziggurat.learn._clipping import Floats, Integers, Scale, check_rows
from ziggurat.learn.counting._base import BoundedClassifier, CountingFacts, with_bounds
from ziggurat.learn.counting._growing import CRITERIA, Growth, count_below, public_grid
from ziggurat.learn.counting._splits import ONE_ROW, exact_depth, leaf_counts, leaf_probabilities, leaves_of
from ziggurat.mechanisms import AdditiveNoise, Selection
from ziggurat.privacy import (
    Amount,
    Event,
    Neighbours,
    ParallelEvent,
    Relation,
    RepeatedEvent,
    compose_events,
    whole_number,
)
from ziggurat.randomness import Source


class TreePlan:
    """What growing a tree will do, and what it costs, before a row is read."""

    def __init__(
        self, bounds_noise: AdditiveNoise | None, grow: FitBudget, leaves: AdditiveNoise, depth: int, criterion: str
    ) -> None:
        self.bounds_noise, self.leaves, self.depth = bounds_noise, leaves, depth
        whom = grow.neighbours
        level = grow.epsilon * grow.share / depth
        moving = whom.relation is Relation.REPLACE_ONE
        one = Neighbours(Unit.row(), Relation.ADD_OR_REMOVE_ONE)
        rising = criterion == "majority"
        self.choice = Selection(level / 2 if moving else level, 1, monotone=rising, neighbours=one)
        # The nodes of a level are alike, so that one part stands for all of them.
        self.level = ParallelEvent(whom, (self.choice.event,))

    @property
    def event(self) -> Event:
        """What bounds, splits and leaves cost together."""
        levels = RepeatedEvent(self.level.neighbours, self.level, self.depth)
        return with_bounds(self.bounds_noise, compose_events([levels, self.leaves.event]))


@dataclass(eq=False, repr=False, kw_only=True)
class DecisionTreeClassifier(BoundedClassifier):
    """A decision tree, grown greedily level by level and protected.

    Formal guarantee: epsilon-differential privacy for a row, add-or-remove-one by default (the number of rows is
    private) or replace-one. A node chooses one of the public splits (a column, a threshold among equal steps between
    its bounds) by a score that an added row changes by at most 1 (proof in `_growing`), through permute-and-flip
    (McKenna & Sheldon 2020), which promises e_0 under add-or-remove-one. The nodes of a level hold different rows, so a
    level promises e_0 too; a replaced row leaves one node and enters one, which is two steps: 2 e_0. Leaves count
    classes, where a replaced row changes two counts by 1 (l1 sensitivity 2, Laplace noise; 1 for an added one).
    `leaf_share` of epsilon is for the leaves, the rest in equal parts for the levels.

    Parameters
    ----------
    epsilon
        What fitting may cost; exact ("0.1" is one tenth). The promise is pure: there is no delta.
    depth
        How many splits lie above each leaf.
    criterion
        "majority": how many rows the commonest classes of both sides get right; all scores rise with a row, which
        halves the noise. "gini": Gini impurity, which sees more where one class is far commoner and rows are many.
    thresholds
        How many thresholds a column offers, equally far apart between its bounds.
    leaf_share
        The part of epsilon (what bounds leave of it) for the counts in the leaves.
    classes, bounds, bounds_share, relation, expected_rows, random_state
        As for `GaussianNB`.

    Attributes
    ----------
    classes_
        The labels in order.
    feature_, threshold_
        The column and the threshold of every node, level by level; rows that are not above it go left.
    value_
        The probability of every class in every leaf, from the left. Where noise outweighs the counts they lean on the
        node above: post-processing.
    bounds_
        The lower and the upper bounds of the features, declared or bought.
    n_features_in_
        How many columns the rows have.
    event_, origin_
        What fitting did and with which randomness, for the ledger.
    """

    delta: Amount = field(default=0, init=False)
    depth: int = 4
    criterion: str = "majority"
    thresholds: int = 15
    leaf_share: Amount = "0.5"

    feature_: Integers = field(init=False)
    threshold_: Floats = field(init=False)
    value_: Floats = field(init=False)

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """Return the probability of every class, row by row."""
        check_is_fitted(self)
        table = Scale(*self.bounds_).clip(check_rows(self, X))
        return np.asarray(self.value_[leaves_of(table, self.feature_, self.threshold_)])

    def _plan(self, facts: CountingFacts) -> TreePlan:
        whole_number(self.thresholds, "thresholds")
        if self.criterion not in CRITERIA:
            raise ParameterError("criterion must be 'majority' or 'gini'.")
        bounds_noise, left = self._shares(facts.columns, "laplace")
        leaves, grow = left.split(exact_share(self.leaf_share, "leaf_share"))
        noise = leaves.whole_noise(self._changed, self._changed)
        return TreePlan(bounds_noise, grow, noise, exact_depth(self.depth), self.criterion)

    def _costs(self, facts: CountingFacts) -> Event:
        return self._plan(facts).event

    def _doubt(self, facts: CountingFacts, rows: int) -> float:
        """The noise in all classes of a leaf but one beside its part of the rows."""
        plan = self._plan(facts)
        return float(deviation_of(plan.leaves) * (facts.classes - 1) * 2**plan.depth / rows)

    def _learn(self, features: Floats, codes: Integers, facts: CountingFacts, source: Source) -> None:
        plan = self._plan(facts)
        scale = self._scale(features, plan.bounds_noise, source)
        table = scale.clip(features)
        grid = public_grid(scale, self.thresholds)
        growth = Growth(plan.choice, CRITERIA[self.criterion], plan.depth, self.thresholds, facts.classes, source)
        column, step = growth.grow(count_below(table, grid), codes)
        self.feature_, self.threshold_ = column, grid[column, step]
        leaves = leaves_of(table, column, self.threshold_)
        counts = leaf_counts(leaves, codes, (2**plan.depth, facts.classes))
        noisy = np.asarray(plan.leaves.release(counts, source).value)
        self.value_ = leaf_probabilities(noisy, ONE_ROW + deviation_of(plan.leaves))

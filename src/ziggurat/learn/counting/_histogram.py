"""A histogram to publish: a density that is one."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ziggurat.learn._budget import FitBudget, lesser_noise
from ziggurat.learn._clipping import Floats
from ziggurat.learn.served import ServedHistogram
from ziggurat.mechanisms import Gaussian, Laplace
from ziggurat.privacy import Relation, whole_number
from ziggurat.randomness import choose_source


@dataclass(eq=False, repr=False, kw_only=True)
class Histogram(ServedHistogram):
    """A histogram over a public grid of bins, non-negative and with total 1, to publish and to draw from.

    Formal guarantee: for one row, (epsilon, delta)-DP, add-or-remove-one by default (the number of rows is private) or
    replace-one, pure with delta 0. A row added or removed changes one count by 1: sensitivity 1 in l1 (Laplace noise)
    and in l2 (Gaussian noise). A replaced row leaves one bin and enters another: 2 and sqrt(2). The noise of less
    deviation is taken. Shares are of the noisy total, or of the public number of rows, and are moved to the nearest
    ones that are not negative and add up to 1, which is post-processing.

    Parameters
    ----------
    epsilon, delta
        What fitting may cost; exact ("0.1" is one tenth).
    bins
        How many bins for each column: a whole number, or one for each.
    bounds
        Public (lower, upper), numbers or one for each column; rows outside are clipped.
    relation
        "add-or-remove-one", or "replace-one" (the number of rows is public).
    expected_rows
        As for `ServedHistogram`.
    random_state
        None for secure randomness; a whole number makes a rehearsal, which must not be published.

    Attributes
    ----------
    shares_
        The share of every bin, an axis for each column.
    noise_scale_
        Standard deviation of the noise in a count, before it was made a density.
    count_
        The number of rows: the total of noisy counts, or the public one.
    n_features_in_
        How many columns the rows have.
    event_, origin_
        What fitting did and with which randomness, for the ledger.
    """

    as_published: bool = field(default=False, init=False)

    shares_: Floats = field(init=False)

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803 - as in scikit-learn
        """Count the rows in every bin, add noise, and make a density of the counts."""
        super().fit(X, y)
        self.shares_ = nearest_shares(self.shares_)
        return self

    def density(self, X: Any) -> Floats:  # noqa: N803
        """Return the density at every row, 0 outside the bounds."""
        return super().density(X)

    def sample(self, n_samples: int = 1, random_state: int | None = None) -> Floats:
        """Draw rows from the density, anew each time or, with a whole number, the same ones again: post-processing."""
        check_is_fitted(self)
        count = whole_number(n_samples, "n_samples")
        draw = choose_source(random_state).simulation()
        shape, box = self.shares_.shape, self._box(self.n_features_in_)
        places = np.unravel_index(draw.choice(self.shares_.size, size=count, p=self.shares_.ravel()), shape)
        part = (np.column_stack(places) + draw.random((count, len(shape)))) / np.array(shape)
        return np.asarray(box.lower * (1 - part) + box.upper * part)

    def _mechanism(self, rows: int, columns: int) -> Gaussian | Laplace:  # noqa: ARG002
        self._box(columns)
        self._shape(columns)
        whom = self._neighbours()
        changed = 2 if whom.relation is Relation.REPLACE_ONE else 1
        kind = lesser_noise(changed, math.sqrt(changed), self._epsilon, self._delta)
        return FitBudget(self._epsilon, self._delta, kind, whom).whole_noise(changed, changed)


def nearest_shares(noisy: Floats) -> Floats:
    """Move to the nearest point, in l2, that is not negative and has total 1 (Duchi et al. 2008)."""
    ordered = np.sort(noisy.ravel())[::-1]
    excess = (np.cumsum(ordered) - 1) / np.arange(1, ordered.size + 1)
    moved = np.maximum(noisy - excess[np.flatnonzero(ordered > excess)[-1]], 0.0)
    return np.asarray(moved / moved.sum())

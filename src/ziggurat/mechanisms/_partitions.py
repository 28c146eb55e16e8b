"""Thresholded partition selection: which groups may be named at all."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from ziggurat.errors import MixedNeighboursError, ParameterError
from ziggurat.mechanisms._additive import Laplace
from ziggurat.mechanisms._base import Mechanism, Noisy
from ziggurat.privacy import (
    Amount,
    ApproximateEvent,
    Neighbours,
    Relation,
    exact_delta,
    exact_epsilon,
    in_words,
)
from ziggurat.randomness import Source


class PartitionSelection(Mechanism):
    """Name a group only if its noisy number of units reaches a threshold; give the noisy number with it.

    Promise: (epsilon, delta)-differential privacy under add-or-remove-one, if each unit is in at most `groups` groups.
    Proof: a unit changes at most `groups` counts by 1 each, and the noise has scale groups/epsilon, so on groups that
    both neighbours have the promise is epsilon. A group that only one neighbour has holds a single unit, and is named
    with probability at most p = P[1 + noise >= threshold]; any of `groups` such with at most 1 - (1-p)^groups, which
    the threshold keeps at or below delta (Korolova et al. 2009; Wilson et al. 2020).
    """

    event: ApproximateEvent

    def __init__(
        self, epsilon: Amount, delta: Amount, *, groups: int = 1, neighbours: Neighbours | None = None
    ) -> None:
        eps, allowed = exact_epsilon(epsilon), exact_delta(delta)
        whom = neighbours or Neighbours()
        if whom.relation is not Relation.ADD_OR_REMOVE_ONE:
            raise MixedNeighboursError("Partition selection is proven for add-or-remove-one neighbours only.")
        if isinstance(groups, bool) or not isinstance(groups, int) or groups < 1:
            raise ParameterError("groups must be the most groups one unit can be in, at least 1.")
        if allowed == 0:
            raise ParameterError("Naming groups found in the data needs a delta greater than 0; or declare the groups.")
        self.noise = Laplace(groups, groups / eps, values="integers", coordinates=groups, neighbours=whom)
        self.threshold = _threshold(self.noise.scale, float(allowed), groups)
        self.event = ApproximateEvent(whom, self.noise.epsilon, allowed)

    def release(self, counts: Mapping[Any, int], source: Source | None = None) -> Noisy[dict[Any, int]]:
        """Give the groups that pass with their noisy counts of units, in an order that tells nothing.

        `counts` holds, for every group present in the data, its number of distinct units (at least 1).
        """
        keys = sorted(counts, key=repr)
        values = np.array([counts[key] for key in keys], dtype=np.int64)
        if values.size and values.min() < 1:
            raise ParameterError("Every group present must hold at least one unit; leave empty groups out.")
        noisy = self.noise.release(values, source)
        named = {key: int(n) for key, n in zip(keys, noisy.value, strict=True) if n >= self.threshold}
        return Noisy(named, self.event, noisy.origin)

    def half_width(self, confidence: Amount = "0.95") -> Fraction:
        """Half the width of the interval around the noisy count of one group, before thresholding."""
        return self.noise.half_width(confidence)

    def chance_of_naming(self, units: int) -> float:
        """The probability that a group of this many units is named."""
        return _tail_at_least(self.threshold - units, float(1 / self.noise.scale))

    def __repr__(self) -> str:
        return (
            f"PartitionSelection({in_words(self.event.epsilon)}, {in_words(self.event.delta)}, from {self.threshold})"
        )


def _tail_at_least(x: int, rate: float) -> float:
    """P[X >= x] for discrete Laplace noise: a^x / (1 + a) for x >= 1, by symmetry otherwise."""
    if x >= 1:
        return math.exp(-rate * x) / (1 + math.exp(-rate))
    return 1 - math.exp(-rate * (1 - x)) / (1 + math.exp(-rate))


def _threshold(scale: Fraction, delta: float, groups: int) -> int:
    """Least threshold at which a lone unit's groups stay unnamed with probability at least 1 - delta.

    A hair (1e-9) is kept back for round-off.
    """
    rate = float(1 / scale)
    single = -math.expm1(math.log1p(-delta) / groups) * (1 - 1e-9)
    needed = (-math.log(single) - math.log1p(math.exp(-rate))) / rate
    threshold = 1 + max(math.ceil(needed), 1)
    while _tail_at_least(threshold - 1, rate) > single:
        threshold += 1
    while threshold > 2 and _tail_at_least(threshold - 2, rate) <= single:
        threshold -= 1
    return threshold

"""Thresholded partition selection: which groups may be named at all."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from ziggurat.errors import MixedNeighboursError, ParameterError
from ziggurat.mechanisms._base import Mechanism, Noisy, neighbours_or_usual
from ziggurat.mechanisms._laplace import Laplace
from ziggurat.mechanisms._lattice import MOST_STEPS
from ziggurat.mechanisms._tails import log_of
from ziggurat.privacy import (
    Amount,
    ApproximateDP,
    ApproximateEvent,
    Neighbours,
    PureDP,
    Relation,
    exact_delta,
    exact_epsilon,
    in_words,
    whole_number,
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
        whom, most = neighbours_or_usual(neighbours), whole_number(groups, "groups")
        if whom.relation is not Relation.ADD_OR_REMOVE_ONE:
            raise MixedNeighboursError("Partition selection is proven for add-or-remove-one neighbours only.")
        if allowed == 0:
            raise ParameterError("Naming groups found in the data needs a delta greater than 0; or declare the groups.")
        self.noise = Laplace(most, most / eps, values="integers", coordinates=most, neighbours=whom)
        self.threshold = _threshold(self.noise.scale, allowed, most)
        self.event = ApproximateEvent(whom, self.noise.epsilon, allowed)

    def guarantee(self, delta: Amount | None = None) -> PureDP | ApproximateDP:
        """Give the tightest proven promise at `delta`, by default at the delta of the mechanism itself."""
        return super().guarantee(self.event.delta if delta is None else delta)

    def release(self, counts: Mapping[Any, int] | Any, source: Source | None = None) -> Noisy[dict[Any, int]]:
        """Give the groups that pass with their noisy counts of units, in an order that tells nothing.

        `counts` holds, for every group present in the data, its number of distinct units (a whole number of at least
        1): a mapping, or anything else whose `items()` are pairs of group and count, such as a pandas Series.
        """
        held = _groups(counts)
        keys = sorted(held, key=repr)
        noisy = self.noise.release(np.array([held[key] for key in keys], dtype=np.int64), source)
        named = {key: int(n) for key, n in zip(keys, noisy.value, strict=True) if n >= self.threshold}
        return Noisy(named, self.event, noisy.origin)

    def half_width(self, confidence: Amount = "0.95", answers: int = 1) -> Fraction:
        """Half the width of the interval around the noisy count of one group, before thresholding.

        With `answers=n` the intervals of n groups hold all their counts together (union bound).
        """
        return self.noise.half_width(confidence, answers)

    def chance_of_naming(self, units: int) -> float:
        """The probability that a group of this many units is named."""
        return _tail_at_least(
            self.threshold - min(whole_number(units, "units"), MOST_STEPS), float(1 / self.noise.scale)
        )

    def __repr__(self) -> str:
        return (
            f"PartitionSelection({in_words(self.event.epsilon)}, {in_words(self.event.delta)}, from {self.threshold})"
        )


def _groups(counts: Any) -> dict[Any, int]:
    """Read the pairs of group and count, each group once; neither is ever shown."""
    try:
        pairs = [(key, value) for key, value in counts.items()]
        held = dict(pairs)
    except (AttributeError, TypeError, ValueError):
        raise ParameterError("Give a mapping from each group to its number of units, or a pandas Series.") from None
    if len(held) < len(pairs):
        raise ParameterError("A group is listed more than once; add up its units first.")
    return {key: _units(value) for key, value in held.items()}


def _units(value: Any) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise ParameterError("The number of units of every group must be a whole number; round nothing, count again.")
    if value < 1:
        raise ParameterError("Every group present must hold at least one unit; leave empty groups out.")
    return min(int(value), MOST_STEPS)


def _tail_at_least(x: int, rate: float) -> float:
    """P[X >= x] for discrete Laplace noise: a^x / (1 + a) for x >= 1, by symmetry otherwise."""
    if x >= 1:
        return math.exp(-rate * x) / (1 + math.exp(-rate))
    return 1 - math.exp(-rate * (1 - x)) / (1 + math.exp(-rate))


def _threshold(scale: Fraction, delta: Fraction, groups: int) -> int:
    """Least threshold at which a lone unit's groups stay unnamed with probability at least 1 - delta.

    P[1 + X >= t] = a^(t-1) / (1 + a) must not exceed `_log_single`; a hair (1e-9) is kept back for round-off.
    """
    rate = float(1 / scale)
    needed = (-(_log_single(delta, groups) - 1e-9) - math.log1p(math.exp(-rate))) / rate
    return 1 + max(math.ceil(needed), 1)


def _log_single(delta: Fraction, groups: int) -> float:
    """Logarithm of the chance 1 - (1 - delta)^(1/groups) that each group may have.

    Very small deltas use the lower bound delta/groups (Bernoulli's inequality), which is as good there.
    """
    if delta < Fraction(1, 10**9):
        return log_of(delta / groups)
    return math.log(-math.expm1(log_of(1 - delta) / groups))

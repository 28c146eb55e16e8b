"""Privacy at risk of any event, and of one pair of tables between two bounds, composed ones included."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property, singledispatch
from typing import Any, TypeVar

import numpy as np

from ziggurat.errors import ParameterError, PrivacyError, UnknownEventError
from ziggurat.privacy import accounting as ev
from ziggurat.privacy.accounting import (
    LOSS_STEP,
    Account,
    Amount,
    Array,
    Cumulative,
    Losses,
    exact_epsilon,
    gaussian_delta,
)
from ziggurat.privacy.at_risk._at_risk import LatticeLaplaceAtRisk, PrivacyAtRisk, Sided, exact_sided

# The rounded law of one event is a few float operations, and dp_accounting cuts its tails at e^-50.
_ROUND_OFF = 1e-14
# Points at which the curve is read when the best one is sought; any of them gives a valid bound.
_POINTS = 64

Found = TypeVar("Found")
# Distributions of dp_accounting, each with how often it counts.
_Parts = list[tuple[Any, int]]


def privacy_at_risk(event: ev.Event) -> PrivacyAtRisk:
    """Give the privacy at risk of an event, valid for every pair of neighbouring tables.

    Laplace noise of which one unit changes one coordinate is exact; everything else goes by its proven delta curve
    (`CurveAtRisk`), which is a lower bound.
    """
    if isinstance(event, ev.LaplaceEvent) and event.coordinates == 1:
        return LatticeLaplaceAtRisk(event)
    return CurveAtRisk(event)


class CurveAtRisk(PrivacyAtRisk):
    """What a proven delta curve says about the privacy loss, for every pair of neighbours and after any processing.

    For e' < epsilon, delta(e') >= E[1 - e^(e' - L); L > epsilon] >= (1 - e^(e' - epsilon)) P(L > epsilon), so
    P(L > epsilon) <= inf over e' of delta(e')/(1 - e^(e' - epsilon)) =: t. Towards the other side, P(L < -epsilon) is
    at most e^-epsilon times the same tail of the swapped pair, so P(|L| <= epsilon) >= 1 - (1 + e^-epsilon) t.

    A pair that dominates all others in its delta curve need not have the largest tail of the loss. This bound needs
    no such pair, and holds for outputs that were rounded or merged; it is lower than the probability of one pair.
    """

    scope = "every pair of neighbouring tables, also after any processing"

    def __init__(self, event: ev.Event, step: float = LOSS_STEP) -> None:
        self.account = Account(event)
        self._read, self._pure = _curve(self.account, step)

    def _one(self, epsilon: Fraction) -> float:
        return 1.0 if self._certain(epsilon) else 1 - self._tail(float(epsilon))

    def _two(self, epsilon: Fraction) -> float:
        if self._certain(epsilon):
            return 1.0
        return 1 - (1 + math.exp(-float(epsilon))) * self._tail(float(epsilon))

    def _certain(self, epsilon: Fraction) -> bool:
        return self._pure is not None and epsilon >= self._pure

    def _tail(self, epsilon: float) -> float:
        gaps = np.geomspace(1e-4, 0.999, _POINTS) * epsilon
        return float(np.min(self._read(epsilon - gaps) * (1 + 1e-9) / -np.expm1(-gaps)))

    def _delta(self, epsilon: Fraction) -> float:
        return 0.0 if self._certain(epsilon) else float(self.account.delta(epsilon).delta)

    def _top(self) -> Fraction | None:
        return self._pure


def _curve(account: Account, step: float) -> tuple[Callable[[Array], Array], Fraction | None]:
    """Give a function that bounds delta at many epsilons, and the level no loss exceeds, if there is one."""
    pure = _or_none(lambda: account.pure().epsilon)
    mu = _or_none(lambda: account.gaussian().mu) if pure is None else None
    if mu is not None:
        return lambda points: np.array([gaussian_delta(x, mu) for x in points]), None
    loss = _or_none(lambda: account.loss(step).distribution)
    if loss is not None:
        return loss.deltas, pure
    return lambda points: np.array([_least_delta(account, x) for x in points]), pure


def _or_none(ask: Callable[[], Found]) -> Found | None:
    try:
        return ask()
    except PrivacyError:
        return None


def _least_delta(account: Account, epsilon: float) -> float:
    return float(min(account.delta_routes(Fraction(epsilon)).values(), default=Fraction(1)))


class PairAtRisk:
    """Privacy at risk of the pair of tables at full sensitivity, between two bounds, by privacy-loss distributions.

    Losses are rounded up for one bound and down for the other (connecting the dots dominates in delta only, and says
    nothing about tails). Rounding survives composition, so P(L <= x) lies between the two; the round-off of the sums is
    part of the bounds. Laplace, Gaussian and sampled Gaussian noise and compositions of them are known. For a statement
    about all neighbours use `privacy_at_risk`.
    """

    def __init__(self, event: ev.Event, step: float = LOSS_STEP) -> None:
        if not (isinstance(step, float) and 1e-7 <= step <= 1):
            raise ParameterError("The step of a loss distribution must be a number from 1e-7 to 1.")
        self._step = step
        self._rounded = [_loss_of(event, step, pessimistic) for pessimistic in (True, False)]

    def bounds(self, epsilon: Amount, sided: Sided = "two") -> tuple[float, float]:
        """Give a lower and an upper bound on the probability that the loss keeps within `epsilon`."""
        bound, two = float(exact_epsilon(epsilon)), exact_sided(sided) == "two"
        sides = [self._between(up, down, bound, two) for up, down in zip(*self._sums, strict=True)]
        return max(min(low for low, _ in sides), 0.0), min(min(high for _, high in sides), 1.0)

    @cached_property
    def _sums(self) -> list[list[Cumulative]]:
        """Losses when a unit is removed and when it is added, rounded up and rounded down."""
        return [[_sum_losses(parts, side) for side in ("_pmf_remove", "_pmf_add")] for parts in self._rounded]

    def _between(self, up: Cumulative, down: Cumulative, epsilon: float, two: bool) -> tuple[float, float]:
        """A loss within a millionth of a step of a lattice point counts as it."""
        place = epsilon / self._step
        place = round(place) if abs(place - round(place)) < 1e-6 else place
        low, high = up.up_to(math.floor(place)), down.up_to(math.floor(place))
        if two:
            below = math.ceil(-place) - 1
            low, high = low - down.up_to(below), high - up.up_to(below)
        error = up.error + down.error
        return low - error, high + error


def _sum_losses(parts: _Parts, side: str) -> Cumulative:
    dense = [(getattr(single, side).to_dense_pmf(), count) for single, count in parts]
    losses = [(Losses(pmf._lower_loss, np.maximum(pmf._probs, 0.0)), count) for pmf, count in dense]
    return Cumulative.of(losses, _ROUND_OFF)


@singledispatch
def _loss_of(event: object, _step: float, _pessimistic: bool) -> _Parts:
    raise UnknownEventError(
        f"The losses of an event of type {type(event).__name__} cannot be rounded in both directions; use "
        "privacy_at_risk."
    )


@_loss_of.register
def _(event: ev.GaussianEvent, step: float, pessimistic: bool) -> _Parts:
    from dp_accounting.pld import privacy_loss_distribution as pld

    once = pld.from_gaussian_mechanism(
        float(event.sigma / event.sensitivity),
        pessimistic_estimate=pessimistic,
        value_discretization_interval=step,
        use_connect_dots=False,
    )
    return [(once, 1)]


@_loss_of.register
def _(event: ev.SampledGaussianEvent, step: float, pessimistic: bool) -> _Parts:
    from dp_accounting.pld import privacy_loss_distribution as pld

    once = pld.from_gaussian_mechanism(
        float(event.noise_multiplier),
        pessimistic_estimate=pessimistic,
        value_discretization_interval=step,
        sampling_prob=float(event.sampling),
        use_connect_dots=False,
    )
    return [(once, event.steps)]


@_loss_of.register
def _(event: ev.LaplaceEvent, step: float, pessimistic: bool) -> _Parts:
    """Write the lattice losses (d - 2x) grid/scale down and round them; one probability for each point of noise."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    shift, rate = int(event.sensitivity / event.grid), float(event.grid / event.scale)
    if event.coordinates > 1 or shift > 1_000_000:
        raise PrivacyError("Only Laplace noise on one coordinate, of at most a million steps, is rounded both ways.")
    x = np.arange(shift + 1)
    mass = np.exp(-rate * x) * math.tanh(rate / 2)
    mass[0] = 1 / (1 + math.exp(-rate))
    mass[-1] = math.exp(-rate * shift) / (1 + math.exp(-rate))
    turn: Callable[[Array], Array] = np.ceil if pessimistic else np.floor
    places = turn(np.round((shift - 2 * x) * rate / step, 6)).astype(int)
    table = np.bincount(places - places[-1], weights=mass)
    rounded = {int(place + places[-1]): float(table[place]) for place in np.flatnonzero(table)}
    once = pld.PrivacyLossDistribution.create_from_rounded_probability(
        rounded, 0.0, step, pessimistic_estimate=pessimistic
    )
    return [(once, 1)]


@_loss_of.register
def _(event: ev.ComposedEvent, step: float, pessimistic: bool) -> _Parts:
    return [part for item in event.events for part in _loss_of(item, step, pessimistic)]


@_loss_of.register
def _(event: ev.RepeatedEvent, step: float, pessimistic: bool) -> _Parts:
    return [(once, count * event.count) for once, count in _loss_of(event.event, step, pessimistic)]

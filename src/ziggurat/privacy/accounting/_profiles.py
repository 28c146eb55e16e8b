"""What each kind of event proves, on every route an accountant can take.

A `Profile` holds only proven facts; a route that is not proven for an event is None there, and the accountant then
does not take it. Events without a profile raise: nothing is ever guessed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from typing import TYPE_CHECKING, TypeAlias

from ziggurat._lazy import deferred
from ziggurat.cards import Shown
from ziggurat.errors import UnknownEventError
from ziggurat.privacy.accounting import _events as ev
from ziggurat.privacy.accounting._amounts import float_above, float_below, upper_rational
from ziggurat.privacy.accounting._curves import UNIT, Array, discrete_laplace_renyi, pure_mu_squared, pure_renyi
from ziggurat.privacy.accounting._neighbours import Relation

# A ledger that is read asks what events prove and evaluates no curve.
if TYPE_CHECKING:
    import numpy as np

    from ziggurat.privacy.accounting import _loss
else:
    np, _loss = deferred("numpy"), deferred("ziggurat.privacy.accounting._loss")

Renyi = Callable[[Array], Array]
Loss: TypeAlias = "Callable[[float], list[tuple[_loss.Ways, int]]]"


@dataclass(frozen=True)
class Profile(Shown):
    """Proven facts about one event, all holding up to a failure probability `delta`.

    Attributes
    ----------
    epsilon
        The event is (epsilon, delta)-DP.
    delta
        The failure probability; 0 for most events.
    rho
        The event is delta-approximately rho-zCDP.
    mu_squared
        The event is delta-approximately mu-Gaussian DP.
    renyi
        Rényi curve as a function of the orders, delta-approximately.
    normal
        Whether mu_squared is exact: the loss is normal, and no other route can prove more than the Gaussian one.
    loss
        Builds, at a step, dominating privacy-loss distributions and how often each counts; includes delta.
    rough_rho
        About how concentrated the losses are; it promises nothing and only tells whether a loss distribution is small
        enough to compute.
    """

    epsilon: Fraction | None = None
    delta: Fraction = Fraction(0)
    rho: Fraction | None = None
    mu_squared: Fraction | None = None
    renyi: Renyi | None = None
    normal: bool = False
    loss: Loss | None = None
    rough_rho: float = 0.0

    def concentration(self) -> float:
        """About how concentrated the losses are: rho where it is known."""
        return _as_float(self.rho) if self.rho is not None else self.rough_rho


def _as_float(amount: Fraction) -> float:
    try:
        return float(amount)
    except OverflowError:
        return math.inf


def profile(event: ev.Event) -> Profile:
    """Say what an event proves; an event of an unknown kind raises `UnknownEventError`.

    Events are frozen, so what one proves is worked out once and kept with it.
    """
    known: Profile | None = getattr(event, "_profile", None)
    if known is None:
        known = _interpret(event)
        object.__setattr__(event, "_profile", known)
    return known


@singledispatch
def _interpret(event: object) -> Profile:
    raise UnknownEventError(f"No accountant can interpret an event of type {type(event).__name__}.")


@_interpret.register
def _(event: ev.LaplaceEvent) -> Profile:
    epsilon = event.sensitivity / event.scale
    shift, scale = event.sensitivity / event.grid, event.scale / event.grid
    if event.coordinates > 1:
        return _pure(epsilon)
    return Profile(
        epsilon=epsilon,
        rho=epsilon**2 / 2,
        mu_squared=pure_mu_squared(epsilon),
        renyi=lambda orders: discrete_laplace_renyi(shift, scale, orders),
        loss=lambda step: [(_loss.discrete_laplace_loss(shift, scale, step), 1)],
    )


@_interpret.register
def _(event: ev.GaussianEvent) -> Profile:
    """Rounding is post-processing of N(f, sigma^2 I), which is exactly (Delta/sigma)-Gaussian DP (Dong et al.)."""
    return _normal((event.sensitivity / event.sigma) ** 2)


def _normal(mu_squared: Fraction) -> Profile:
    """Facts about N(0, 1) and N(mu, 1), exact on the Gaussian route."""
    return Profile(
        rho=mu_squared / 2,
        mu_squared=mu_squared,
        renyi=lambda orders: orders * float(mu_squared) / 2,
        normal=True,
        loss=lambda step: [(_loss.gaussian_loss(mu_squared, step), 1)],
    )


@_interpret.register
def _(event: ev.DiscreteGaussianEvent) -> Profile:
    """rho = Delta^2 / (2 sigma^2) in any dimension (Canonne, Kamath & Steinke 2020, Theorem 14)."""
    rho = (event.sensitivity / event.sigma) ** 2 / 2
    scalar = event.coordinates == 1 and event.sensitivity.denominator == 1 and event.sigma < 10_000
    loss = (
        (lambda step: [(_loss.discrete_gaussian_loss(int(event.sensitivity), float(event.sigma), step), 1)])
        if scalar
        else None
    )
    return Profile(rho=rho, renyi=lambda orders: orders * float(rho), loss=loss)


def _pure(epsilon: Fraction, loss: Loss | None = None) -> Profile:
    """Facts about any epsilon-DP mechanism; epsilon^2/2 is Bun & Steinke 2016, Proposition 3.3."""
    return Profile(
        epsilon=epsilon,
        rho=epsilon**2 / 2,
        mu_squared=pure_mu_squared(epsilon),
        renyi=lambda orders: pure_renyi(float(epsilon), orders),
        loss=loss or (lambda step: [(_loss.approximate_loss(float(epsilon), 0.0, step), 1)]),
    )


@_interpret.register
def _(event: ev.PureEvent) -> Profile:
    return _pure(event.epsilon)


@_interpret.register
def _(event: ev.RandomizedResponseEvent) -> Profile:
    return _pure(
        event.epsilon,
        lambda step: [(_loss.randomized_response_loss(float(event.epsilon), event.categories, step), 1)],
    )


@_interpret.register
def _(event: ev.ExponentialEvent) -> Profile:
    """epsilon-bounded range implies epsilon^2/8-zCDP (Cesar & Rogers 2021, Lemma 3)."""
    rho = event.epsilon**2 / 8
    pure = _pure(event.epsilon)
    return Profile(
        epsilon=event.epsilon,
        rho=rho,
        mu_squared=pure.mu_squared,
        renyi=lambda orders: np.minimum(orders * float(rho), pure_renyi(float(event.epsilon), orders)),
        loss=pure.loss,
    )


@_interpret.register
def _(event: ev.ApproximateEvent) -> Profile:
    """(eps, delta)-DP is, up to delta, an eps-DP mechanism (Kairouz, Oh & Viswanath 2015)."""
    pure = _pure(event.epsilon)
    return Profile(
        epsilon=event.epsilon,
        delta=event.delta,
        rho=pure.rho,
        mu_squared=pure.mu_squared,
        renyi=pure.renyi,
        loss=lambda step: [(_loss.approximate_loss(float(event.epsilon), float(event.delta), step), 1)],
    )


@_interpret.register
def _(event: ev.ZeroConcentratedEvent) -> Profile:
    return Profile(rho=event.rho, renyi=lambda orders: orders * float(event.rho))


@_interpret.register
def _(event: ev.RenyiEvent) -> Profile:
    known = np.array([float_below(order) for order in event.orders])
    values = np.array([float_above(item) for item in event.epsilons])

    def curve(orders: Array) -> Array:
        """The divergence grows with the order, so the next known order, rounded down, bounds those below it."""
        position = np.searchsorted(known, orders, side="left")
        padded = np.append(values, np.inf)
        return np.asarray(padded[position])

    return Profile(renyi=curve)


@_interpret.register
def _(event: ev.SampledGaussianEvent) -> Profile:
    if event.sampling == 1:
        return _normal(event.steps / event.noise_multiplier**2)
    sampling, multiplier = float_above(event.sampling), float_below(event.noise_multiplier)

    def curve(orders: Array) -> Array:
        """dp_accounting's logarithm of the moment, and what it may be too small by.

        It adds the absolute values of a series (Mironov, Talwar & Zhang 2019, Section 3.3), which is safe, and stops
        where terms fall below e^-30 of the sum: the rest alternates, so it is no more than that. Logarithms of terms
        reach `size` and err by a few units of that. Both count once for every step.
        """
        from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent
        from dp_accounting.rdp import RdpAccountant

        accountant = RdpAccountant(list(orders))
        accountant.compose(PoissonSampledDpEvent(sampling, GaussianDpEvent(multiplier)))
        size = 1 + orders * (
            np.log(orders + 1) - math.log(sampling) - math.log1p(-min(sampling, 1 - UNIT)) + orders / multiplier**2
        )
        missing = 2 * math.exp(-30) + 64 * UNIT * size
        return np.asarray(event.steps * (np.asarray(accountant.rdp, dtype=float) + missing / (orders - 1)))

    rough = min(1 / (2 * multiplier**2), sampling**2 * math.expm1(min(multiplier**-2, 700.0)))
    return Profile(
        renyi=curve,
        loss=lambda step: [
            (_loss.sampled_gaussian_loss(event.sampling, 1 / event.noise_multiplier, step), event.steps)
        ],
        rough_rho=event.steps * rough,
    )


@_interpret.register
def _(_event: ev.UnboundedEvent) -> Profile:
    return Profile()


@_interpret.register
def _(event: ev.ComposedEvent) -> Profile:
    return total([profile(item) for item in event.events])


@_interpret.register
def _(event: ev.RepeatedEvent) -> Profile:
    return total([profile(event.event)], [event.count])


@_interpret.register
def _(event: ev.ParallelEvent) -> Profile:
    worst = _worst([profile(part) for part in event.parts])
    moving = event.neighbours.relation is Relation.REPLACE_ONE and event.may_move
    return _group(worst, 2) if moving else worst


@_interpret.register
def _(event: ev.GroupEvent) -> Profile:
    return _group(profile(event.event), event.size)


def total(profiles: Sequence[Profile], counts: Sequence[int] | None = None) -> Profile:
    """Add up profiles, each taken `counts` times: what the whole sequence proves on each route."""
    times = list(counts) if counts is not None else [1] * len(profiles)
    pairs = list(zip(profiles, times, strict=True))
    return Profile(
        epsilon=_sum([(item.epsilon, n) for item, n in pairs]),
        delta=sum((item.delta * n for item, n in pairs), Fraction(0)),
        rho=_sum([(item.rho, n) for item, n in pairs]),
        mu_squared=_sum([(item.mu_squared, n) for item, n in pairs]),
        renyi=_sum_renyi([(item.renyi, n) for item, n in pairs]),
        normal=all(item.normal for item in profiles),
        loss=_compose_loss(pairs),
        rough_rho=sum(item.concentration() * n for item, n in pairs),
    )


def _sum(terms: Sequence[tuple[Fraction | None, int]]) -> Fraction | None:
    known = [value * n for value, n in terms if value is not None]
    return sum(known, Fraction(0)) if len(known) == len(terms) else None


def _sum_renyi(terms: Sequence[tuple[Renyi | None, int]]) -> Renyi | None:
    known = [(curve, n) for curve, n in terms if curve is not None]
    if len(known) < len(terms):
        return None
    return lambda orders: sum((n * curve(orders) for curve, n in known), np.zeros_like(orders))


def _compose_loss(pairs: Sequence[tuple[Profile, int]]) -> Loss | None:
    """Put the distributions of all parts together; normal losses add up to one normal loss first."""
    squares = sum((item.mu_squared * n for item, n in pairs if item.normal and item.mu_squared), Fraction(0))
    known = [(item.loss, n) for item, n in pairs if item.loss is not None and not item.normal]
    if any(item.loss is None for item, _ in pairs) or not pairs:
        return None

    def build(step: float) -> list[tuple[_loss.Ways, int]]:
        parts = [(_loss.gaussian_loss(squares, step), 1)] if squares else []
        return parts + [(ways, each * n) for loss, n in known for ways, each in loss(step)]

    return build


def _worst(profiles: Sequence[Profile]) -> Profile:
    """Give what holds for whichever of the profiles applies."""
    if len(profiles) == 1:
        return profiles[0]
    curves = [item.renyi for item in profiles if item.renyi is not None]
    complete = len(curves) == len(profiles)
    return Profile(
        epsilon=_most([item.epsilon for item in profiles]),
        delta=max(item.delta for item in profiles),
        rho=_most([item.rho for item in profiles]),
        mu_squared=_most([item.mu_squared for item in profiles]),
        renyi=(lambda orders: np.max([curve(orders) for curve in curves], axis=0)) if complete else None,
    )


def _most(values: Sequence[Fraction | None]) -> Fraction | None:
    known = [value for value in values if value is not None]
    return max(known) if len(known) == len(values) else None


def _group(one: Profile, size: int) -> Profile:
    """Group privacy: size eps, size^2 rho, size mu; delta grows to delta (1 + e^eps + ... + e^((size-1) eps)).

    For delta > 0 only the (epsilon, delta) form is carried over: group privacy of the approximate notions is not
    stated sharply enough in the literature to be relied upon.
    """
    epsilon = None if one.epsilon is None else one.epsilon * size
    if one.delta > 0:
        if one.epsilon is None:
            return Profile(delta=one.delta)
        return Profile(epsilon=epsilon, delta=min(one.delta * _growth(_as_float(one.epsilon), size), Fraction(1)))
    return Profile(
        epsilon=epsilon,
        rho=None if one.rho is None else one.rho * size**2,
        mu_squared=None if one.mu_squared is None else one.mu_squared * size**2,
    )


def _growth(epsilon: float, size: int) -> Fraction:
    """1 + e^eps + ... + e^((size-1) eps) = (e^(size eps) - 1) / (e^eps - 1), rounded up."""
    if epsilon * size > 700:
        return Fraction(2**1100)
    return upper_rational(math.expm1(size * epsilon) / math.expm1(epsilon))

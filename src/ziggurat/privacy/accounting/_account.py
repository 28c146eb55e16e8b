"""Composition: from events to guarantees, by the tightest route that is proven for all of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from fractions import Fraction

import numpy as np

from ziggurat.errors import ParameterError, PrivacyError
from ziggurat.privacy.accounting import _loss
from ziggurat.privacy.accounting._amounts import (
    Amount,
    exact_delta,
    exact_epsilon,
    float_above,
    float_below,
    upper_rational,
)
from ziggurat.privacy.accounting._convolution import LossDistribution
from ziggurat.privacy.accounting._curves import (
    Array,
    gaussian_delta,
    gaussian_epsilon,
    renyi_to_delta,
    renyi_to_epsilon,
    zcdp_delta,
    zcdp_epsilon,
)
from ziggurat.privacy.accounting._events import ComposedEvent, Event, RenyiEvent, RepeatedEvent, compose_events
from ziggurat.privacy.accounting._guarantees import (
    ApproximateDP,
    GaussianDP,
    PrivacyLoss,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
)
from ziggurat.privacy.accounting._profiles import Profile, profile, total

ORDERS: Array = 1 + np.geomspace(0.01, 1000, 160)


Route = Callable[[Profile, Fraction, Array], Fraction | None]


def compose(*events: Event) -> Account:
    """Account for several events on the same data; mixing units or relations raises.

    The events' parameters must be fixed in advance; for parameters chosen after seeing answers use a `Filter`.
    """
    return Account(compose_events(events))


class Account:
    """What a sequence of events proves, on every route.

    Routes: `sum` (epsilons and deltas add), `zcdp` (rhos add), `renyi` (curves add), `gaussian` (squares of mu add),
    `loss` (privacy-loss distributions convolve). Every route is an upper bound, so the least one holds.
    """

    def __init__(self, event: Event) -> None:
        self.event = event
        self.neighbours = event.neighbours
        counts = _leaves(event)
        own = [float_below(order) for leaf in counts if isinstance(leaf, RenyiEvent) for order in leaf.orders]
        self._orders: Array = np.unique(np.concatenate([ORDERS, own]))
        self._profile = total([profile(item) for item in counts], list(counts.values()))

    def pure(self) -> PureDP:
        """Give the exact epsilon with delta 0, or raise if some event has none."""
        if self._profile.epsilon is None or self._profile.delta > 0:
            raise PrivacyError("Not every event is epsilon-DP with delta 0; ask for approximate(delta=...) instead.")
        return PureDP(self.neighbours, self._profile.epsilon)

    def zcdp(self) -> ZeroConcentratedDP:
        """Give the exact rho, or raise if some event has none."""
        if self._profile.rho is None:
            raise PrivacyError("Not every event is proven zero-concentrated; use another form of guarantee.")
        return ZeroConcentratedDP(self.neighbours, self._profile.rho, self._profile.delta)

    def gaussian(self) -> GaussianDP:
        """Give the exact mu, or raise if some event is not Gaussian DP."""
        if self._profile.mu_squared is None or self._profile.delta > 0:
            raise PrivacyError("Not every event is proven Gaussian DP; use another form of guarantee.")
        return GaussianDP(self.neighbours, self._profile.mu_squared)

    def renyi(self, orders: Array | None = None) -> RenyiDP:
        """Give the Rényi curve at `orders` (all above 1), or raise if some event has none."""
        if self._profile.renyi is None:
            raise PrivacyError("Not every event has a Rényi curve; use another form of guarantee.")
        asked = self._orders if orders is None else np.asarray(orders, dtype=float)
        if asked.ndim != 1 or not bool(np.all(asked > 1)):
            raise ParameterError("Rényi orders must be a list of numbers greater than 1.")
        curve = self._profile.renyi(asked)
        return RenyiDP(self.neighbours, tuple(map(float, asked)), tuple(map(float, curve)), self._profile.delta)

    def loss(self, step: float = _loss.LOSS_STEP) -> PrivacyLoss:
        """Give the composed privacy-loss distribution, or raise if some event has none."""
        if self._profile.loss is None:
            raise PrivacyError("Not every event has a privacy-loss distribution; use another form of guarantee.")
        if not (isinstance(step, float) and 1e-7 <= step <= 1):
            raise ParameterError("The step of a loss distribution must be a number from 1e-7 to 1.")
        if not _worthwhile(self._profile, step):
            raise PrivacyError("The loss distribution of these events is too large to compute; use another form.")
        return PrivacyLoss(self.neighbours, LossDistribution(step, self._profile.loss(step)))

    def approximate(self, delta: Amount) -> ApproximateDP:
        """Give the least proven epsilon at `delta`, and the route that proved it."""
        allowed = exact_delta(delta)
        found = self.routes(allowed)
        if not found:
            raise PrivacyError("No finite epsilon is proven for these events at this delta; allow a larger delta.")
        route = min(found, key=lambda name: found[name])
        return ApproximateDP(self.neighbours, found[route], allowed, route)

    def delta(self, epsilon: Amount) -> ApproximateDP:
        """Give the least proven delta at `epsilon`, and the route that proved it."""
        wanted = exact_epsilon(epsilon)
        found = self.delta_routes(wanted)
        if not found:
            raise PrivacyError("No delta below 1 is proven for these events at this epsilon.")
        route = min(found, key=lambda name: found[name])
        return ApproximateDP(self.neighbours, wanted, found[route], route)

    def routes(self, delta: Amount) -> dict[str, Fraction]:
        """Give the epsilon of every route that applies at `delta`."""
        spare = exact_delta(delta) - self._profile.delta
        return _applicable(_ROUTES, self._profile, spare, self._orders)

    def delta_routes(self, epsilon: Amount) -> dict[str, Fraction]:
        """Give the delta of every route that applies at `epsilon`; those that reach 1 prove nothing."""
        wanted = exact_epsilon(epsilon)
        found = _applicable(_DELTAS, self._profile, wanted, self._orders)
        return {name: bound for name, bound in found.items() if bound < 1}

    def gaussian_epsilon(self, delta: Amount) -> Fraction:
        """Give the epsilon of the Gaussian route alone, which is exact for Gaussian noise."""
        self.gaussian()
        bound = _by_gaussian(self._profile, exact_delta(delta), self._orders)
        if bound is None:
            raise PrivacyError("Gaussian noise has no finite epsilon at delta 0; allow a delta.")
        return bound


def _applicable(routes: Mapping[str, Route], facts: Profile, amount: Fraction, orders: Array) -> dict[str, Fraction]:
    """Try every route; one whose numbers leave the range of floats proves nothing and is left out."""
    found = {}
    for name, route in routes.items():
        with suppress(ArithmeticError, ValueError, MemoryError, PrivacyError):
            bound = route(facts, amount, orders)
            if bound is not None:
                found[name] = bound
    return found


def _leaves(event: Event) -> Counter[Event]:
    """Take sequences apart, so that equal events are composed in one step."""
    if isinstance(event, ComposedEvent):
        return sum((_leaves(item) for item in event.events), Counter())
    if isinstance(event, RepeatedEvent):
        return Counter({leaf: n * event.count for leaf, n in _leaves(event.event).items()})
    return Counter([event])


def _by_sum(facts: Profile, spare: Fraction, _orders: Array) -> Fraction | None:
    return facts.epsilon if spare >= 0 else None


def _by_zcdp(facts: Profile, spare: Fraction, _orders: Array) -> Fraction | None:
    if facts.rho is None or spare <= 0:
        return None
    return upper_rational(zcdp_epsilon(float_below(spare), float_above(facts.rho)))


def _by_renyi(facts: Profile, spare: Fraction, orders: Array) -> Fraction | None:
    if facts.renyi is None or spare <= 0:
        return None
    value = renyi_to_epsilon(orders, facts.renyi(orders), float_below(spare))
    return upper_rational(value) if math.isfinite(value) else None


def _by_gaussian(facts: Profile, spare: Fraction, _orders: Array) -> Fraction | None:
    if facts.mu_squared is None or spare <= 0:
        return None
    return upper_rational(gaussian_epsilon(float_below(spare), _root(facts.mu_squared)))


def _root(square: Fraction) -> float:
    """A float that is not below the square root."""
    return math.nextafter(math.sqrt(float_above(square)), math.inf)


def _by_loss(facts: Profile, spare: Fraction, _orders: Array) -> Fraction | None:
    """The distribution holds the events' own delta already, so the whole allowance is asked of it."""
    losses = _losses(facts)
    value = math.inf if losses is None else losses.epsilon(float_below(spare + facts.delta))
    return upper_rational(value) if math.isfinite(value) else None


def _losses(facts: Profile) -> LossDistribution | None:
    """Give the loss distribution where it may prove more than the Gaussian route, which is exact for normal losses."""
    if facts.loss is None or facts.normal or not _worthwhile(facts, _loss.LOSS_STEP):
        return None
    return LossDistribution(_loss.LOSS_STEP, facts.loss(_loss.LOSS_STEP))


def _worthwhile(facts: Profile, step: float) -> bool:
    """Tell whether the loss distribution stays small enough to compute.

    Losses lie within the sum of epsilons, or about rho + 12 sqrt(rho).
    """
    rho = facts.concentration()
    bounds = [rho + 12 * math.sqrt(rho)] + ([float(facts.epsilon)] if facts.epsilon is not None else [])
    return 2 * min(bounds) / step <= _loss.MOST_CELLS


def _delta_by_sum(facts: Profile, epsilon: Fraction, _orders: Array) -> Fraction | None:
    return facts.delta if facts.epsilon is not None and facts.epsilon <= epsilon else None


def _delta_by_zcdp(facts: Profile, epsilon: Fraction, _orders: Array) -> Fraction | None:
    return (
        None
        if facts.rho is None
        else facts.delta + upper_rational(zcdp_delta(float_below(epsilon), float_above(facts.rho)))
    )


def _delta_by_renyi(facts: Profile, epsilon: Fraction, orders: Array) -> Fraction | None:
    if facts.renyi is None:
        return None
    return facts.delta + upper_rational(renyi_to_delta(orders, facts.renyi(orders), float_below(epsilon)))


def _delta_by_gaussian(facts: Profile, epsilon: Fraction, _orders: Array) -> Fraction | None:
    if facts.mu_squared is None:
        return None
    return facts.delta + upper_rational(gaussian_delta(float_below(epsilon), _root(facts.mu_squared)))


def _delta_by_loss(facts: Profile, epsilon: Fraction, _orders: Array) -> Fraction | None:
    losses = _losses(facts)
    return None if losses is None else upper_rational(losses.delta(float_below(epsilon)))


_ROUTES: dict[str, Route] = {
    "sum": _by_sum,
    "zcdp": _by_zcdp,
    "renyi": _by_renyi,
    "gaussian": _by_gaussian,
    "loss": _by_loss,
}
_DELTAS: dict[str, Route] = {
    "sum": _delta_by_sum,
    "zcdp": _delta_by_zcdp,
    "renyi": _delta_by_renyi,
    "gaussian": _delta_by_gaussian,
    "loss": _delta_by_loss,
}

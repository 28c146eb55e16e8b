"""Composition: from events to guarantees, by the tightest route that is proven for all of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from ziggurat.errors import PrivacyError
from ziggurat.privacy import _loss
from ziggurat.privacy._amounts import Amount, exact_delta, exact_epsilon, upward
from ziggurat.privacy._curves import (
    Array,
    gaussian_delta,
    gaussian_epsilon,
    renyi_to_delta,
    renyi_to_epsilon,
    zcdp_delta,
    zcdp_epsilon,
)
from ziggurat.privacy._events import ComposedEvent, Event, RepeatedEvent, composed
from ziggurat.privacy._guarantees import (
    ApproximateDP,
    GaussianDP,
    PrivacyLoss,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
)
from ziggurat.privacy._profiles import Profile, profile, total

ORDERS: Array = 1 + np.geomspace(0.01, 1000, 160)

# A loss distribution spans about the total epsilon on both sides; beyond this many cells it is not worth its time.
_LARGEST_LOSS = 4_000_000


def compose(*events: Event) -> Account:
    """Account for several events on the same data; mixing units or relations raises.

    The events' parameters must be fixed in advance; for parameters chosen after seeing answers use a `Filter`.
    """
    return Account(composed(events))


class Account:
    """What a sequence of events proves, on every route.

    Routes: `sum` (epsilons and deltas add), `zcdp` (rhos add), `renyi` (curves add), `gaussian` (squares of mu add),
    `loss` (privacy-loss distributions convolve). Every route is an upper bound, so the least one holds.
    """

    def __init__(self, event: Event) -> None:
        self.event = event
        self.neighbours = event.neighbours
        counts = _leaves(event)
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

    def renyi(self, orders: Array = ORDERS) -> RenyiDP:
        """Give the Rényi curve at `orders`, or raise if some event has none."""
        if self._profile.renyi is None:
            raise PrivacyError("Not every event has a Rényi curve; use another form of guarantee.")
        curve = self._profile.renyi(np.asarray(orders, dtype=float))
        return RenyiDP(self.neighbours, tuple(map(float, orders)), tuple(map(float, curve)), self._profile.delta)

    def loss(self, step: float = _loss.STEP) -> PrivacyLoss:
        """Give the composed privacy-loss distribution, or raise if some event has none."""
        if self._profile.loss is None:
            raise PrivacyError("Not every event has a privacy-loss distribution; use another form of guarantee.")
        return PrivacyLoss(self.neighbours, self._profile.loss(step))

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
        found = {name: bound for name, bound in self._deltas(wanted).items() if bound is not None}
        if not found:
            raise PrivacyError("No delta below 1 is proven for these events at this epsilon.")
        route = min(found, key=lambda name: found[name])
        return ApproximateDP(self.neighbours, wanted, min(found[route], Fraction(1)), route)

    def routes(self, delta: Amount) -> dict[str, Fraction]:
        """Give the epsilon of every route that applies at `delta`."""
        spare = exact_delta(delta) - self._profile.delta
        return {name: bound for name, route in _ROUTES.items() if (bound := route(self._profile, spare)) is not None}

    def gaussian_epsilon(self, delta: Amount) -> Fraction:
        """Give the epsilon of the Gaussian route alone, which is exact for Gaussian noise."""
        self.gaussian()
        bound = _by_gaussian(self._profile, exact_delta(delta))
        if bound is None:
            raise PrivacyError("Gaussian noise has no finite epsilon at delta 0; allow a delta.")
        return bound

    def _deltas(self, epsilon: Fraction) -> dict[str, Fraction | None]:
        facts, eps = self._profile, float(epsilon)
        plain = facts.epsilon is not None and facts.epsilon <= epsilon
        return {
            "sum": facts.delta if plain else None,
            "zcdp": None if facts.rho is None else facts.delta + upward(zcdp_delta(eps, float(facts.rho))),
            "renyi": None
            if facts.renyi is None
            else facts.delta + upward(renyi_to_delta(ORDERS, facts.renyi(ORDERS), eps)),
            "gaussian": None if facts.mu_squared is None else upward(gaussian_delta(eps, math.sqrt(facts.mu_squared))),
            "loss": upward(self.loss().delta(eps)) if facts.loss is not None and _worthwhile(facts) else None,
        }


def _leaves(event: Event) -> Counter[Event]:
    """Take sequences apart, so that equal events are composed in one step."""
    if isinstance(event, ComposedEvent):
        return sum((_leaves(item) for item in event.events), Counter())
    if isinstance(event, RepeatedEvent):
        return Counter({leaf: n * event.count for leaf, n in _leaves(event.event).items()})
    return Counter([event])


def _by_sum(facts: Profile, spare: Fraction) -> Fraction | None:
    return facts.epsilon if spare >= 0 else None


def _by_zcdp(facts: Profile, spare: Fraction) -> Fraction | None:
    if facts.rho is None or spare <= 0:
        return None
    return upward(zcdp_epsilon(float(spare), float(facts.rho)))


def _by_renyi(facts: Profile, spare: Fraction) -> Fraction | None:
    if facts.renyi is None or spare <= 0:
        return None
    value = renyi_to_epsilon(ORDERS, facts.renyi(ORDERS), float(spare))
    return upward(value) if math.isfinite(value) else None


def _by_gaussian(facts: Profile, spare: Fraction) -> Fraction | None:
    if facts.mu_squared is None or spare <= 0:
        return None
    return upward(gaussian_epsilon(float(spare), math.sqrt(facts.mu_squared)))


def _by_loss(facts: Profile, spare: Fraction) -> Fraction | None:
    """The distribution holds the events' own delta already, so the whole allowance is asked of it."""
    allowed = float(spare + facts.delta)
    if facts.loss is None or allowed <= 0 or not _worthwhile(facts):
        return None
    value = facts.loss(_loss.STEP).get_epsilon_for_delta(allowed)
    return upward(float(value)) if math.isfinite(value) else None


def _worthwhile(facts: Profile) -> bool:
    """Tell whether the loss distribution stays small enough to compute."""
    bounds = [float(facts.epsilon)] if facts.epsilon is not None else []
    bounds += [float(facts.rho) + 12 * math.sqrt(facts.rho)] if facts.rho is not None else []
    return 2 * min(bounds, default=0.0) / _loss.STEP <= _LARGEST_LOSS


_ROUTES: dict[str, Callable[[Profile, Fraction], Fraction | None]] = {
    "sum": _by_sum,
    "zcdp": _by_zcdp,
    "renyi": _by_renyi,
    "gaussian": _by_gaussian,
    "loss": _by_loss,
}

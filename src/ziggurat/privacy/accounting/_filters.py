"""Privacy filters: when may one more question be asked, if it was chosen after seeing earlier answers?

An analyst picks the next question, and its noise, in the light of the answers so far. Ordinary composition theorems
fix the parameters in advance, so a running budget needs a *filter*: a rule that looks at the parameters spent so far
and stops in time, with the whole interaction still (epsilon, delta)-DP.

`sum`: stop before the epsilons add up to more than epsilon, or the deltas to more than delta (Rogers et al. 2016).

`zcdp` and `gaussian`: half of delta is kept for the events' own deltas. Go on while these fit their half and *either*
the epsilons add up to at most epsilon *or* the rhos (squares of mu) to at most the amount that implies
(epsilon, delta/2)-DP. The rho rule alone is a valid filter (Feldman & Zrnic 2021; Whitehouse et al. 2023), and so is
the mu rule (Smith & Thakurta 2022). The union is valid too: split the outcomes by which rule holds at the end. Where
the sum of epsilons holds, P <= e^epsilon Q pointwise, so these outcomes add nothing to delta; the others are
outcomes, with the same probabilities, of the interaction that the second rule alone would have stopped, so they add
at most delta/2. The events' own deltas add at most the other half.

The first question is special in every rule: its parameters cannot depend on answers, so any route of `compose` may
admit it with the whole (epsilon, delta). If only such a route does, the totals already exceed the rule and nothing
more is admitted.

Loss distributions and Rényi orders are not used after that: taking the best of them after the fact is not proven for
parameters chosen on the way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from ziggurat.cards import Shown
from ziggurat.errors import ParameterError
from ziggurat.privacy.accounting._amounts import Amount, exact_delta, exact_epsilon, float_below, lower_rational
from ziggurat.privacy.accounting._curves import gaussian_mu, zcdp_rho
from ziggurat.privacy.accounting._events import Event
from ziggurat.privacy.accounting._neighbours import Neighbours
from ziggurat.privacy.accounting._profiles import Profile, profile


@dataclass(frozen=True)
class Spent(Shown):
    """Exact totals of what was spent; None means that some event has no such amount."""

    count: int = 0
    epsilon: Fraction | None = Fraction(0)
    delta: Fraction = Fraction(0)
    rho: Fraction | None = Fraction(0)
    mu_squared: Fraction | None = Fraction(0)
    neighbours: Neighbours | None = None

    def plus(self, event: Event) -> Spent:
        """Add one event's facts; an event about other neighbours raises."""
        if self.neighbours is not None and self.neighbours is not event.neighbours:
            self.neighbours.require(event.neighbours)
        cost: Profile = profile(event)
        return Spent(
            self.count + 1,
            _add(self.epsilon, cost.epsilon),
            self.delta + cost.delta if cost.delta else self.delta,
            _add(self.rho, cost.rho),
            _add(self.mu_squared, cost.mu_squared),
            self.neighbours or event.neighbours,
        )


def _add(total: Fraction | None, cost: Fraction | None) -> Fraction | None:
    return None if total is None or cost is None else total + cost


@dataclass(frozen=True)
class Filter(ABC):
    """A rule that decides from exact totals whether spending may go on within (epsilon, delta)."""

    name: ClassVar[str] = ""
    epsilon: Fraction
    delta: Fraction

    @abstractmethod
    def shares(self, spent: Spent) -> list[Fraction | None]:
        """How much of each total the rule allows is used; one total at most 1 is enough to go on."""

    @abstractmethod
    def delta_for_events(self) -> Fraction:
        """How much the events' own deltas may add up to."""

    def allows(self, spent: Spent) -> bool:
        """Tell whether these totals keep the promise: the sum of epsilons always does while it fits."""
        if spent.delta > self.delta_for_events():
            return False
        return (spent.epsilon is not None and spent.epsilon <= self.epsilon) or self.share_used(spent) <= 1

    def admits(self, event: Event, spent: Spent) -> bool:
        """Tell whether one more event may follow what was spent."""
        return self.allows(spent.plus(event)) or (spent.count == 0 and self._admits_alone(event))

    def _admits_alone(self, event: Event) -> bool:
        from ziggurat.privacy.accounting._account import compose

        return any(epsilon <= self.epsilon for epsilon in compose(event).routes(self.delta).values())

    def share_used(self, spent: Spent) -> Fraction:
        """How much of the budget is used, by the total that has used least; above 1 when it is exhausted."""
        known = [share for share in self.shares(spent) if share is not None]
        return min(known, default=Fraction(2))

    def left(self, spent: Spent) -> Fraction:
        """Epsilon certainly left for further epsilon-DP questions; never below 0."""
        if spent.epsilon is None or not self.allows(spent):
            return Fraction(0)
        return max(self.epsilon - spent.epsilon, Fraction(0))

    def _sum_share(self, spent: Spent) -> Fraction | None:
        return None if spent.epsilon is None else spent.epsilon / self.epsilon


@dataclass(frozen=True)
class SumFilter(Filter):
    """Epsilons add up to at most epsilon and deltas to at most delta; exact rationals throughout."""

    name: ClassVar[str] = "sum"

    def delta_for_events(self) -> Fraction:
        """All of delta."""
        return self.delta

    def shares(self, spent: Spent) -> list[Fraction | None]:
        """The sum of epsilons alone."""
        return [self._sum_share(spent)]


@dataclass(frozen=True)
class _ConvertedFilter(Filter):
    """Either the epsilons fit, or another total that converts to (epsilon, delta/2)-DP does (see the module)."""

    def delta_for_events(self) -> Fraction:
        """Half of delta; the other half pays for the conversion."""
        return self.delta / 2

    def shares(self, spent: Spent) -> list[Fraction | None]:
        """The sum of epsilons, and the other total if that does not fit."""
        by_sum = self._sum_share(spent)
        if by_sum is not None and by_sum <= 1:
            return [by_sum]
        other = self._other(spent)
        return [by_sum, None if other is None else other / self._allowance()]

    @abstractmethod
    def _other(self, spent: Spent) -> Fraction | None:
        """What was spent of the other total."""

    @abstractmethod
    def _allowance(self) -> Fraction:
        """How much of the other total this budget allows."""


@dataclass(frozen=True)
class ZcdpFilter(_ConvertedFilter):
    """Either the epsilons or the rhos fit; best for many small questions of any kind."""

    name: ClassVar[str] = "zcdp"

    def _other(self, spent: Spent) -> Fraction | None:
        return spent.rho

    def _allowance(self) -> Fraction:
        return lower_rational(zcdp_rho(self.epsilon, self.delta / 2))


@dataclass(frozen=True)
class GaussianFilter(_ConvertedFilter):
    """Either the epsilons or the squares of mu fit; best for questions with Gaussian noise."""

    name: ClassVar[str] = "gaussian"

    def _other(self, spent: Spent) -> Fraction | None:
        return spent.mu_squared

    def _allowance(self) -> Fraction:
        return lower_rational(gaussian_mu(float_below(self.epsilon), float_below(self.delta / 2)) ** 2)


_RULES: dict[str, type[Filter]] = {"sum": SumFilter, "zcdp": ZcdpFilter, "gaussian": GaussianFilter}


def make_filter(epsilon: Amount, delta: Amount = 0, rule: str | None = None) -> Filter:
    """Make the filter for a budget: `zcdp` unless another rule is named, `sum` when delta is 0."""
    exact_eps, exact_del = exact_epsilon(epsilon), exact_delta(delta)
    chosen = rule or ("zcdp" if exact_del > 0 else "sum")
    if chosen not in _RULES:
        raise ParameterError(f"The accounting rule must be one of {', '.join(_RULES)}, not {chosen!r}.")
    if chosen != "sum" and exact_del == 0:
        raise ParameterError(f"The {chosen} rule needs a delta greater than 0; use the sum rule for delta 0.")
    return _RULES[chosen](exact_eps, exact_del)

"""Which epsilon: candidates judged by error, privacy at risk and money, and why none will do."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from ziggurat.cards import Shown
from ziggurat.errors import ParameterError
from ziggurat.privacy.at_risk import best_posterior
from ziggurat.privacy.cost._money import Money
from ziggurat.privacy.cost._noise import PricedNoise

if TYPE_CHECKING:
    from ziggurat.privacy.cost._cost import Cheapest, CostModel

PRIORS = ("0.01", "0.1", "0.5")
"""What somebody may believe of a person before the release."""
EPSILON_GRID = ("0.05", "0.1", "0.2", "0.5", "1", "2", "5")
"""The epsilons that a decision compares where none are named."""
LEAST, MOST = Fraction(1, 10**6), 600


@dataclass(frozen=True)
class Wanted(Shown):
    """What the steward and the analyst need; None where nothing is asked."""

    error: Fraction | None = None
    confidence: Fraction = Fraction(19, 20)
    budget: Money | None = None
    within: Fraction | None = None
    at_risk: Fraction | None = None

    @property
    def anything(self) -> bool:
        return any(each is not None for each in (self.error, self.budget, self.at_risk))


@dataclass(frozen=True)
class EpsilonCandidate(Shown):
    """One epsilon: what it does to the answer, to people and to the purse.

    `confidence` is that the loss stays within `promised`; `unmet` names the constraints that are not met.
    """

    epsilon: Fraction
    error: float
    within: float
    promised: Fraction
    confidence: float
    posteriors: tuple[float, ...]
    compensation: Money | None
    unmet: tuple[str, ...]


@dataclass(frozen=True)
class Limit:
    """A constraint: which epsilons meet it, from which on or up to which, and what it is called."""

    name: str
    holds: Callable[[Fraction], bool]
    from_below: bool


@dataclass(frozen=True)
class Decision(Shown):
    """Something to release with some noise, for people who may have to be compensated."""

    noise: PricedNoise
    wanted: Wanted
    cost: CostModel | None = None

    def candidates(self, epsilons: Sequence[Fraction]) -> list[EpsilonCandidate]:
        """Judge every epsilon, in increasing order."""
        return [self.judged(epsilon) for epsilon in sorted(set(epsilons))]

    def judged(self, epsilon: Fraction) -> EpsilonCandidate:
        """Judge one epsilon."""
        promised = self.wanted.within or epsilon / 2
        return EpsilonCandidate(
            epsilon,
            self.noise.error(epsilon),
            self.noise.within(epsilon, self.wanted.confidence),
            promised,
            self.noise.at_risk(epsilon).confidence(promised),
            tuple(best_posterior(epsilon, prior) for prior in PRIORS),
            self.compensation(epsilon),
            tuple(limit.name for limit in self.limits() if not limit.holds(epsilon)),
        )

    def compensation(self, epsilon: Fraction) -> Money | None:
        """What is owed at this epsilon, rounded up.

        What is (epsilon, delta)-DP can be simulated by what is epsilon-DP but tells everything with probability delta
        (Kairouz, Oh & Viswanath 2015); the whole compensation is owed then.
        """
        if self.cost is None:
            return None
        whole = sum((Fraction(each.compensation.amount) * each.people for each in self.cost.groups), Fraction(0))
        delta = self.noise.delta
        return Money.from_fraction((1 - delta) * self.cost.owed(epsilon) + delta * whole, self.cost.currency)

    def cheapest(self, epsilon: Fraction) -> Cheapest | None:
        """The promise at risk below epsilon with the least expected compensation, where the noise has a level."""
        if self.cost is None or self.noise.delta:
            return None
        noise = self.noise.at_risk(epsilon)
        return self.cost.cheapest(epsilon, lambda x: noise.confidence(Fraction(x)))

    def limits(self) -> list[Limit]:
        """The constraints that were given."""
        error, budget, sure = self.wanted.error, self.wanted.budget, self.wanted.at_risk
        found = []
        if error is not None:
            # A billionth covers the last digits of a float, so that a bound which is met exactly is met.
            most = float(error) * (1 + 1e-9)
            found.append(Limit("error", lambda x: self.noise.within(x, self.wanted.confidence) <= most, True))
        if budget is not None:
            found.append(Limit("budget", lambda x: self._affordable(x, budget), False))
        if sure is not None:
            least, within = float(sure), self.wanted.within
            if within is None:
                raise ParameterError(
                    "How sure the loss keeps to an epsilon says nothing without that epsilon: 'within'."
                )
            found.append(
                Limit("privacy at risk", lambda x: self.noise.at_risk(x).confidence(within) >= least, False)
            )  # fmt: skip
        return found

    def _affordable(self, epsilon: Fraction, budget: Money) -> bool:
        owed = self.compensation(epsilon)
        if owed is None:
            raise ParameterError("A budget needs to know who is compensated: how many people, and what each is owed.")
        return owed <= budget

    def recommended(self, candidates: Sequence[EpsilonCandidate]) -> EpsilonCandidate | None:
        """The most private candidate that is precise enough, or the most precise one where no error is given."""
        good = [each for each in candidates if not each.unmet]
        if not good or (not self.wanted.anything and len(candidates) > 1):
            return None
        return good[0] if self.wanted.error is not None or len(good) == 1 else good[-1]

    def least_for_error(self) -> list[Fraction]:
        """The least epsilon that meets the error, three digits rounded up, if one does."""
        found = [edge_of(limit) for limit in self.limits() if limit.from_below]
        return [Fraction(round_to_digits(each, 3)) for each in found if each is not None]


def edge_of(limit: Limit) -> float | None:
    """Where a constraint begins or ceases to be met, on the side where it is; None if no epsilon meets it."""

    def holds(x: float) -> bool:
        return limit.holds(Fraction(x))

    least, most = float(LEAST), float(MOST)
    good, bad = (most, least) if limit.from_below else (least, most)
    if not holds(good):
        return None
    if holds(bad):
        return bad
    while abs(good - bad) > 1e-12 * good:
        middle = math.sqrt(good * bad)
        good, bad = (middle, bad) if holds(middle) else (good, middle)
    return good


def round_to_digits(value: float, digits: int = 3, up: bool = True) -> Decimal:
    """A number to so many digits, up or down; a last digit that is only round-off does not count."""
    near = Decimal(repr(value)) * (1 + Decimal("1e-10") * (-1 if up else 1))
    return Context(prec=digits, rounding=ROUND_CEILING if up else ROUND_FLOOR).plus(near)

"""What a privacy level costs in money: the compensation that people may ask for after a breach.

The model (Dandekar's thesis, section 8.4.2) is an assumption, not a theorem: a person who would be owed E after a
breach of unprotected data is owed E_min + (E - E_min) e^(-c/epsilon) when epsilon-differential privacy was used. The
thesis prints E_min + E e^(-c/epsilon), which exceeds E as epsilon grows; the form here never does.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction

from ziggurat.cards import Shown
from ziggurat.errors import ParameterError, PrivacyError
from ziggurat.privacy.accounting import (
    Amount,
    exact,
    exact_epsilon,
    exact_positive,
    in_words,
    smallest_where,
    whole_number,
)
from ziggurat.privacy.at_risk import LaplaceAtRisk, Sided
from ziggurat.privacy.cost._money import Direction, Money

Confidence = Callable[[float], float]
# Exponentials are taken to this many digits, far beyond any cent.
_EXACT = decimal.Context(prec=60)


@dataclass(frozen=True)
class Stakeholders(Shown):
    """A group of people who would be compensated alike.

    Attributes
    ----------
    people
        How many they are.
    compensation
        What each is owed after a breach of unprotected data (E).
    least
        What each is owed however private the release was (E_min); nothing by default.
    rate
        How fast protection wears off as epsilon grows (c).
    """

    people: int
    compensation: Money
    least: Money | None = None
    rate: Fraction = Fraction(1)
    name: str = "people"

    def __post_init__(self) -> None:
        if not isinstance(self.compensation, Money):
            raise ParameterError("compensation must be Money, such as Money(5500, 'EUR').")
        object.__setattr__(self, "people", whole_number(self.people, "people"))
        object.__setattr__(self, "rate", exact_positive(self.rate, "rate"))
        least = Money(Decimal(0), self.compensation.currency) if self.least is None else self.least
        object.__setattr__(self, "least", least)
        self.compensation.same(least)
        if not 0 <= least.amount <= self.compensation.amount or self.compensation.amount <= 0:
            raise ParameterError("Compensation must be positive, and the least of it between 0 and the whole.")

    def owed(self, epsilon: Fraction) -> Fraction:
        """What the whole group is owed at `epsilon`, to far more digits than a cent."""
        top, floor = Fraction(self.compensation.amount), self.floor()
        return self.people * (floor + (top - floor) * _exp(-self.rate / epsilon))

    def floor(self) -> Fraction:
        """What each is owed in any case."""
        return Fraction(self.least.amount) if self.least is not None else Fraction(0)

    def scaled(self, factor: Amount) -> Stakeholders:
        """The same group with every amount of money multiplied by a decimal factor."""
        times = exact_positive(factor, "factor")
        amounts = (Fraction(self.compensation.amount) * times, self.floor() * times)
        compensation, least = (Money.from_fraction(item, self.compensation.currency, places=12) for item in amounts)
        return replace(self, compensation=compensation, least=least)


def _exp(power: Fraction) -> Fraction:
    if power < -100_000:
        return Fraction(0)
    return Fraction(_EXACT.exp(_EXACT.divide(Decimal(power.numerator), Decimal(power.denominator))))


@dataclass(frozen=True)
class Cheapest(Shown):
    """The epsilon at which the expected compensation is least, and what it then is.

    `error` bounds how far the true least budget may lie below `budget`; `saving` is against the plain guarantee.
    """

    epsilon: float
    confidence: float
    budget: Money
    saving: Money
    error: Money


@dataclass(frozen=True)
class Levels:
    """The levels of noise that meet all constraints; `highest` is infinite where the budget does not bind."""

    lowest: float
    highest: float


@dataclass(frozen=True)
class CostModel(Shown):
    """Compensation budgets for one or several groups of people, all in one currency.

    >>> centre = CostModel([Stakeholders(100, Money(5500, "USD"))])
    >>> str(centre.budget("0.5"))
    '74,434.41 USD'
    """

    groups: tuple[Stakeholders, ...]
    currency: str = field(init=False)

    def __init__(self, groups: Sequence[Stakeholders] | Stakeholders) -> None:
        given = (groups,) if isinstance(groups, Stakeholders) else tuple(groups)
        if not given or not all(isinstance(group, Stakeholders) for group in given):
            raise ParameterError("A cost model needs at least one group of stakeholders.")
        for group in given[1:]:
            given[0].compensation.same(group.compensation)
        object.__setattr__(self, "groups", given)
        object.__setattr__(self, "currency", given[0].compensation.currency)

    def budget(self, epsilon: Amount, direction: Direction = "up") -> Money:
        """Give the budget for an epsilon-differentially private release, rounded up to the cent.

        The thesis prints 74,434.40 for what is 74,434.405...: that is rounded down.
        """
        return self._money(self.owed(exact_epsilon(epsilon)), direction)

    def owed(self, epsilon: Fraction) -> Fraction:
        """Give the same before rounding to cents."""
        return sum((group.owed(epsilon) for group in self.groups), Fraction(0))

    def at_risk(
        self,
        level: Amount,
        epsilon: Amount,
        confidence: Amount | None = None,
        sided: Sided = "two",
        direction: Direction = "up",
    ) -> Money:
        """Equation 8.20: gamma E(epsilon) + (1 - gamma) E(level), rounded up, for Laplace noise of this level.

        gamma is the exact confidence unless another is given (as published, or of another mechanism). A confidence
        that is too low only makes the budget larger.
        """
        top, bound = exact_epsilon(level, "level"), exact_epsilon(epsilon)
        if bound > top:
            raise ParameterError("The promised epsilon must not exceed the level of the noise.")
        share = Fraction(LaplaceAtRisk(top).confidence(bound, sided)) if confidence is None else _share(confidence)
        return self._money(share * self.owed(bound) + (1 - share) * self.owed(top), direction)

    def cheapest(
        self,
        level: Amount,
        confidence: Confidence | None = None,
        sided: Sided = "two",
        direction: Direction = "up",
    ) -> Cheapest:
        """Find the epsilon below `level` with the least expected compensation, assuming no convexity.

        `confidence(epsilon)` may be any non-decreasing function; by default that of Laplace noise. The saving is
        gamma(e)(E(level) - E(e)), a product of one factor that grows and one that falls, so on [a, b] it is at most
        gamma(b)(E(level) - E(a)). Intervals that cannot hold the maximum are discarded until the bound is within
        half a cent (or a part in 1e7) of the best value seen: that is a proof of global optimality, up to `error`.
        """
        from ziggurat.privacy.cost._search import largest_saving

        top = exact_epsilon(level, "level")
        noise = LaplaceAtRisk(top)
        gamma = _check_confidence(confidence or (lambda x: noise.confidence(Fraction(x), sided)))
        best = largest_saving(self._saving_from(float(top)), gamma, float(top))
        share, plain = Fraction(gamma(best.epsilon)), self.owed(top)
        least = self._money(share * self.owed(Fraction(best.epsilon)) + (1 - share) * plain, direction)
        saving = self._money(plain, direction) - least
        return Cheapest(best.epsilon, float(share), least, saving, self._money(Fraction(best.error)))

    def _saving_from(self, level: float) -> Callable[[float], float]:
        """E(level) - E(epsilon) as a function of epsilon, in floats; what is owed in any case cancels."""
        terms = [
            (float(item.people * (Fraction(item.compensation.amount) - item.floor())), float(item.rate))
            for item in self.groups
        ]
        plain = sum(size * math.exp(-rate / level) for size, rate in terms)
        return lambda epsilon: plain - sum(size * math.exp(-rate / epsilon) for size, rate in terms)

    def largest_promise(self, budget: Money, level: Amount, confidence: Amount) -> float:
        """Equation 8.23, upper bound: the largest epsilon promised with `confidence` that keeps within a budget."""
        self.groups[0].compensation.same(budget)
        top, share = exact_epsilon(level, "level"), _share(confidence)
        left = (Fraction(budget.amount) - (1 - share) * self.owed(top)) / share
        least = sum((group.people * group.floor() for group in self.groups), Fraction(0))
        if left <= least:
            short = self._money((least - left) * share)
            raise PrivacyError(
                f"The budget binds: noise of level {in_words(top)} at this confidence costs more whatever is promised, "
                f"and it falls short by at least {short}."
            )
        if self.owed(top) <= left:
            return float(top)
        return self._largest(left)

    def _largest(self, left: Fraction) -> float:
        """Invert the budget from below."""
        inverse = smallest_where(lambda x: self.owed(Fraction(1 / x)) <= left, 1e-9, 1.0)
        return 1 / inverse

    def levels(self, budget: Money, error: Amount, sensitivity: Amount = 1) -> Levels:
        """Equation 8.23, corrected: which levels keep the mean absolute error and the budget.

        The error of Laplace noise is sensitivity/level, so it bounds the *level of the noise* from below, not the
        epsilon that is promised at risk: no promise makes the answer more precise.
        """
        self.groups[0].compensation.same(budget)
        lowest = exact_positive(sensitivity, "sensitivity") / exact_positive(error, "error")
        least = sum((group.people * group.floor() for group in self.groups), Fraction(0))
        most = sum((group.people * Fraction(group.compensation.amount) for group in self.groups), Fraction(0))
        left = Fraction(budget.amount)
        if left <= least:
            raise PrivacyError(
                f"The budget binds: {self._money(least)} are owed however private the release is, "
                f"{self._money(least - left)} more than the budget."
            )
        highest = math.inf if left >= most else self._largest(left)
        if Fraction(lowest) > (highest if math.isfinite(highest) else lowest):
            raise PrivacyError(self._conflict(budget, lowest, highest, exact(sensitivity)))
        return Levels(float(lowest), highest)

    def _conflict(self, budget: Money, lowest: Fraction, highest: float, sensitivity: Fraction) -> str:
        cost = self.budget(lowest)
        reached = float(sensitivity) / highest
        return (
            f"The error limit and the budget contradict each other: the error needs a level of at least "
            f"{in_words(lowest)}, which costs {cost}, {cost - budget} too much; within the budget the level is at most "
            f"{highest:.4g} and the error at least {reached:.4g}."
        )

    def sensitivity_to_compensation(
        self, level: Amount, factors: Sequence[Amount] = ("0.5", "0.8", 1, "1.25", 2), group: str | None = None
    ) -> dict[str, Cheapest]:
        """Redo `cheapest` with the compensation of all, or of one named group, multiplied by each factor.

        When all change alike the epsilon does not move, since E is a common factor; the budget grows in proportion.
        """
        if group is not None and group not in {item.name for item in self.groups}:
            raise ParameterError(f"No group of stakeholders is called {group!r}.")
        return {str(factor): self._scale(factor, group).cheapest(level) for factor in factors}

    def _scale(self, factor: Amount, name: str | None) -> CostModel:
        return CostModel([item.scaled(factor) if name in (None, item.name) else item for item in self.groups])

    def _money(self, amount: Fraction, direction: Direction = "up") -> Money:
        return Money.from_fraction(amount, self.currency, direction)


def _check_confidence(confidence: Confidence) -> Confidence:
    def read(epsilon: float) -> float:
        share = float(confidence(epsilon))
        if not 0 <= share <= 1:
            raise ParameterError("confidence must give a probability for every epsilon.")
        return share

    return read


def _share(confidence: Amount) -> Fraction:
    share = exact(confidence, "confidence")
    if not 0 < share <= 1:
        raise ParameterError("confidence must be greater than 0 and at most 1.")
    return share

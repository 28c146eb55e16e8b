"""Privacy at risk: how likely the privacy loss of one release stays within epsilon.

The privacy loss of an output z for two neighbouring tables is L(z) = log p(z)/q(z), with z drawn from p. *Privacy at
risk* is a probability over the mechanism's own coin, for the worst pair of neighbouring tables: P(|L| <= epsilon)
two-sided, P(L <= epsilon) one-sided.

What it is not. It is not differential privacy at epsilon: with the remaining probability the loss is larger, and only
the mechanism's own level bounds it. P(L > epsilon) <= delta implies (epsilon, delta)-DP, but not the reverse. It is
not kept by post-processing either (merging outputs may turn two harmless losses and a large one into a large one), so
it speaks of the noisy value as it was drawn. Use it to choose a level; publish the level.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Literal

import numpy as np

from ziggurat.errors import ParameterError, PrivacyError
from ziggurat.privacy.accounting import (
    Amount,
    LaplaceEvent,
    discrete_laplace_delta,
    exact,
    exact_confidence,
    exact_epsilon,
    exact_positive,
    factor_in_words,
    float_above,
    float_below,
    gaussian_delta,
    in_words,
    smallest_where,
    whole_number,
)

Sided = Literal["two", "one"]
"""Whether |L| is bounded, or L from above only."""

# Closed forms below are a few float operations, each good to a part in 1e16; this covers them, downwards.
_ROUND_OFF = 1e-13
# The least epsilon ever given, where an atom at loss 0 would allow any.
_SMALLEST = 1e-12
# Steps of the upper sum that bounds a delta where no closed form is proven.
_STEPS = 4_000


def exact_sided(value: str) -> Sided:
    """Read which losses count: 'two' bounds |L|, 'one' bounds L from above only."""
    if value == "two":
        return "two"
    if value == "one":
        return "one"
    raise ParameterError("sided must be 'two' (the loss in either direction) or 'one' (upwards only).")


class PrivacyAtRisk(ABC):
    """The probability that the privacy loss of a mechanism stays within an epsilon.

    Every confidence is a lower bound (rounded down), every epsilon and delta an upper bound: a claim is never too good.
    """

    scope: str = "the worst pair of neighbouring tables"

    def confidence(self, epsilon: Amount, sided: Sided = "two") -> float:
        """Give P(|L| <= epsilon), or P(L <= epsilon) for `sided="one"`, for the worst pair of neighbours.

        Not a promise of epsilon-differential privacy: see the module for what it means and does not mean.
        """
        bound = exact_epsilon(epsilon)
        value = self._two(bound) if exact_sided(sided) == "two" else self._one(bound)
        return min(max(value, 0.0), 1.0)

    def epsilon(self, confidence: Amount, sided: Sided = "two") -> float:
        """Give the least epsilon that the loss keeps within with at least this confidence."""
        wanted, side = float(exact_confidence(confidence)), exact_sided(sided)

        def holds(value: float) -> bool:
            return self.confidence(value, side) >= wanted

        if holds(_SMALLEST):
            return _SMALLEST
        top = self._top()
        if top is None:
            return smallest_where(holds, _SMALLEST, 1.0)
        if not holds(float(top) * (1 - 1e-12)):
            return _not_below(top)
        return smallest_where(holds, _SMALLEST, float(top) * (1 - 1e-12))

    def delta(self, epsilon: Amount) -> float:
        """Give the least proven delta at which the mechanism is (epsilon, delta)-DP: the tight curve where known."""
        return min(max(self._delta(exact_epsilon(epsilon)), 0.0), 1.0)

    def sentence(self, epsilon: Amount, sided: Sided = "two") -> str:
        """Say in one sentence what may be promised at `epsilon`."""
        bound = exact_epsilon(epsilon)
        share = self.confidence(bound, sided)
        verb = "changes" if sided == "two" else "raises"
        factor = factor_in_words(bound)
        what = f"the published value {verb} anyone's odds about one person by no more than a factor of {factor}"
        if share == 1:
            return f"Whatever the noise, {what}."
        # Rounded down, so that it is never shown as certain.
        shown = min(math.floor(share * 1000) / 10, 99.9)
        return (
            f"With probability at least {shown:.1f}% over the noise, {what}; with the rest it may, so this is no "
            f"{in_words(bound)}-differential privacy."
        )

    @abstractmethod
    def _two(self, epsilon: Fraction) -> float: ...

    @abstractmethod
    def _one(self, epsilon: Fraction) -> float: ...

    @abstractmethod
    def _delta(self, epsilon: Fraction) -> float: ...

    def _top(self) -> Fraction | None:
        """Give the level that no loss exceeds, if there is one."""
        return None


def _not_below(amount: Fraction) -> float:
    """Give the least float whose shortest decimal is not below an amount."""
    value = float(amount)
    return value if exact(value) >= amount else math.nextafter(value, math.inf)


class LaplaceAtRisk(PrivacyAtRisk):
    """Laplace noise of scale (l1 sensitivity)/level on each of at most `coordinates` numbers that one unit changes.

    One coordinate, epsilon < level: P(|L| <= epsilon) = e^(-level/2) sinh(epsilon/2), P(L <= epsilon) =
    e^((epsilon - level)/2)/2 and the tight delta 1 - e^((epsilon - level)/2). No confidence above
    (1 - e^-level)/2 exists at any epsilon below the level, and at the level it is 1.

    Several coordinates: the unit may split the sensitivity among them in any way. Putting it all on one is worst, so
    the value does not depend on their number. This is *proven* for up to two coordinates, and for any number of them up
    to epsilon = 2 asinh(1) = 1.76 two-sided and 2 log 2 = 1.38 one-sided. Beyond, with s = sinh(epsilon/2), the proven
    bound e^(-level/2) (1 - 2^(1-j) + j 2^(1-j) s), the least over j up to `coordinates`, is used where it is lower;
    that the concentrated split is worst there too has only been computed, and is not claimed. The proof is in the
    guide on privacy at risk.

    >>> round(LaplaceAtRisk(1).confidence("0.5"), 4), LaplaceAtRisk(1).confidence(1)
    (0.1532, 1.0)
    """

    def __init__(self, level: Amount, coordinates: int = 1) -> None:
        self.level = exact_epsilon(level, "level")
        if self.level > 600:
            raise ParameterError("A level above 600 protects nobody and is outside the range of floats.")
        self.coordinates = whole_number(coordinates, "coordinates")

    @classmethod
    def noise_for(
        cls, epsilon: Amount, confidence: Amount, sided: Sided = "two", coordinates: int = 1
    ) -> LaplaceAtRisk:
        """Give the least noise whose loss keeps within `epsilon` with this confidence.

        The level is epsilon itself unless the confidence is below (1 - e^-epsilon)/2 (two-sided) or 1/2 (one-sided):
        only then may the level exceed epsilon.
        """
        bound, wanted = exact_epsilon(epsilon), exact_confidence(confidence)
        mass = (_two_mass if exact_sided(sided) == "two" else _one_mass)(
            bound, whole_number(coordinates, "coordinates")
        )
        level = 2 * (math.log(mass) - math.log(wanted)) - 1e-12
        return cls(max(bound, Fraction(level)), coordinates)

    def scale(self, sensitivity: Amount = 1) -> Fraction:
        """Give the scale of the noise, which is also the expected absolute error of each coordinate."""
        return exact_positive(sensitivity, "sensitivity") / self.level

    def _two(self, epsilon: Fraction) -> float:
        return 1.0 if epsilon >= self.level else self._lower(_two_mass(epsilon, self.coordinates))

    def _one(self, epsilon: Fraction) -> float:
        return 1.0 if epsilon >= self.level else self._lower(_one_mass(epsilon, self.coordinates))

    def _lower(self, mass: float) -> float:
        return math.exp(-float(self.level) / 2) * mass * (1 - _ROUND_OFF)

    def _delta(self, epsilon: Fraction) -> float:
        if epsilon >= self.level:
            return 0.0
        gap = float(self.level - epsilon)
        if self.coordinates <= 2 or _one_mass(self.level, self.coordinates) >= math.exp(float(self.level) / 2) / 2:
            return -math.expm1(-gap / 2) * (1 + _ROUND_OFF)
        return min(self._delta_by_tails(epsilon), math.expm1(gap) / (math.exp(gap) + math.exp(-float(epsilon))))

    def _delta_by_tails(self, epsilon: Fraction) -> float:
        """Bound delta = integral over x > epsilon of e^(epsilon - x) P(L > x) by an upper sum, as P falls with x."""
        points = np.linspace(float(epsilon), float(self.level), _STEPS + 1)
        tails = np.array([1 - self._one(Fraction(x)) for x in points[:-1]])
        weights = -np.diff(np.exp(float(epsilon) - points))
        return float(np.sum(tails * weights)) * (1 + 1e-9)

    def _top(self) -> Fraction:
        return self.level


def _two_mass(epsilon: Fraction, coordinates: int) -> float:
    """Give what P(|L| <= epsilon) e^(level/2) is at least, whatever the split among the coordinates."""
    s = math.sinh(min(float(epsilon), 1400.0) / 2)
    return min([s, *(_spread(j, s) for j in range(2, min(coordinates, 64) + 1))])


def _one_mass(epsilon: Fraction, coordinates: int) -> float:
    half = min(float(epsilon), 1400.0) / 2
    s, back = math.sinh(half), math.exp(-half)
    return min([math.exp(half) / 2, *(_spread(j, s) + back * 2.0**-j for j in range(2, min(coordinates, 64) + 1))])


def _spread(coordinates: int, s: float) -> float:
    """Bound the mass within epsilon of a split of which fewer than a quarter of the sign patterns lie beyond."""
    return 1 - 2.0 ** (1 - coordinates) + coordinates * 2.0 ** (1 - coordinates) * s


class GaussianAtRisk(PrivacyAtRisk):
    """Gaussian noise with mu = (l2 sensitivity)/sigma, in any dimension.

    L is N(mu^2/2, mu^2), so P(|L| <= epsilon) = Phi(epsilon/mu - mu/2) - Phi(-epsilon/mu - mu/2). Both this and the
    one-sided probability fall as mu grows, so the largest distance is the worst.

    >>> round(GaussianAtRisk("0.25").confidence("0.5"), 4)
    0.9528
    """

    def __init__(self, mu: Amount) -> None:
        self.mu = exact_positive(mu, "mu")
        if not 1e-6 <= self.mu <= 1000:
            raise ParameterError("mu must lie between 0.000001 and 1000: beyond, the noise hides all or nothing.")

    @classmethod
    def noise_for(cls, epsilon: Amount, confidence: Amount, sided: Sided = "two") -> GaussianAtRisk:
        """Give the least noise (largest mu) whose loss keeps within `epsilon` with this confidence."""
        bound, wanted, side = exact_epsilon(epsilon), float(exact_confidence(confidence)), exact_sided(sided)

        def holds(inverse: float) -> bool:
            return cls(Fraction(1 / inverse)).confidence(bound, side) >= wanted

        try:
            return cls(Fraction(1 / smallest_where(holds, 1e-3, 2e-3)))
        except ParameterError:
            raise PrivacyError(
                "No usable amount of Gaussian noise gives this confidence; allow more epsilon."
            ) from None

    def sigma(self, sensitivity: Amount = 1) -> Fraction:
        """Give the standard deviation of the noise for an l2 sensitivity."""
        return exact_positive(sensitivity, "sensitivity") / self.mu

    def _two(self, epsilon: Fraction) -> float:
        from scipy.special import ndtr

        mu, eps = float(self.mu), float(epsilon)
        return 1 - float(ndtr(mu / 2 - eps / mu) + ndtr(-mu / 2 - eps / mu)) * (1 + _ROUND_OFF) - 1e-15

    def _one(self, epsilon: Fraction) -> float:
        from scipy.special import ndtr

        mu, eps = float(self.mu), float(epsilon)
        return 1 - float(ndtr(mu / 2 - eps / mu)) * (1 + _ROUND_OFF) - 1e-15

    def _delta(self, epsilon: Fraction) -> float:
        return gaussian_delta(float_below(epsilon), float_above(self.mu))


class LatticeLaplaceAtRisk(PrivacyAtRisk):
    """Discrete Laplace noise on a lattice, as our own mechanism draws it, exactly.

    With a = e^(-grid/scale), x the noise in steps and a shift of d steps, L = (d - 2x) grid/scale between 0 and d, so
    P(L <= epsilon) = a^m/(1+a), m the least integer >= (d - epsilon scale/grid)/2. One-sided the largest shift is
    worst. Two-sided the probability falls by the factor a whenever d grows by 2, but may rise when it grows by 1 (the
    lattice has an even or an odd number of points within reach), so the two largest shifts are compared.
    """

    def __init__(self, event: LaplaceEvent) -> None:
        if not isinstance(event, LaplaceEvent) or event.coordinates > 1:
            raise ParameterError("Give the event of Laplace noise of which one unit changes one coordinate.")
        self.event = event
        self.level = event.sensitivity / event.scale
        self._shift = int(event.sensitivity / event.grid)
        self._steps = event.scale / event.grid

    def _one(self, epsilon: Fraction) -> float:
        if epsilon >= self.level:
            return 1.0
        return self._tail(math.ceil((self._shift - epsilon * self._steps) / 2)) * (1 - _ROUND_OFF)

    def _two(self, epsilon: Fraction) -> float:
        return min(self._within(self._shift, epsilon), self._within(self._shift - 1, epsilon)) * (1 - _ROUND_OFF)

    def _within(self, shift: int, epsilon: Fraction) -> float:
        reach = epsilon * self._steps
        if shift <= reach:
            return 1.0 / (1 - _ROUND_OFF)
        first, last = math.ceil((shift - reach) / 2), math.floor((shift + reach) / 2)
        return self._tail(first) * -math.expm1(-float((last - first + 1) / self._steps)) if last >= first else 0.0

    def _tail(self, first: int) -> float:
        """P(x >= first) for a first of at least 1."""
        return math.exp(-float(first / self._steps)) / (1 + math.exp(-float(1 / self._steps)))

    def _delta(self, epsilon: Fraction) -> float:
        point = np.array([float_below(epsilon)])
        return float(discrete_laplace_delta(point, Fraction(self._shift), self._steps)[0])

    def _top(self) -> Fraction:
        return self.level


def best_posterior(epsilon: Amount, prior: Amount) -> float:
    """Give the largest belief about one person that a loss within `epsilon` leaves, from a belief of `prior` before.

    Bayes: the odds grow by at most e^epsilon.

    >>> round(best_posterior("0.5", "0.1"), 4)
    0.1548
    """
    bound, before = float(exact_epsilon(epsilon)), float(exact_confidence(prior, "prior"))
    return min((1 + _ROUND_OFF) / (1 + math.exp(-bound) * (1 - before) / before), 1.0)

"""Guarantees: promises computed from events, each about a stated unit and neighbour relation."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from ziggurat.cards import Card, Shown, describe_briefly
from ziggurat.privacy.accounting._amounts import in_words, upper_rational
from ziggurat.privacy.accounting._convolution import LossDistribution
from ziggurat.privacy.accounting._neighbours import Neighbours, Relation


@dataclass(frozen=True)
class Guarantee(Shown):
    """The root of all guarantees; `neighbours` is part of the promise."""

    neighbours: Neighbours

    def _card(self) -> Card:
        brief = describe_briefly(self)
        return brief if type(self).__str__ is object.__str__ else replace(brief, line=str(self))

    def _change(self) -> str:
        verb = "adding or removing" if self.neighbours.relation is Relation.ADD_OR_REMOVE_ONE else "replacing"
        return f"{verb} {self.neighbours.unit}"


@dataclass(frozen=True)
class PureDP(Guarantee):
    """epsilon-differential privacy: P[S] <= e^epsilon Q[S] for every set of outputs S and all neighbours."""

    epsilon: Fraction

    def __str__(self) -> str:
        return f"{in_words(self.epsilon)}-differential privacy ({self.neighbours})"

    def sentence(self) -> str:
        """Say the promise in one sentence."""
        return f"No output becomes more than {factor_in_words(self.epsilon)} times as likely by {self._change()}."


@dataclass(frozen=True)
class ApproximateDP(Guarantee):
    """(epsilon, delta)-differential privacy: P[S] <= e^epsilon Q[S] + delta; `route` says how it was proven."""

    epsilon: Fraction
    delta: Fraction
    route: str = "stated"

    def __str__(self) -> str:
        amounts = f"({in_words(self.epsilon)}, {in_words(self.delta)})"
        return f"{amounts}-differential privacy ({self.neighbours}; {self.route})"

    def sentence(self) -> str:
        """Say the promise in one sentence."""
        return (
            f"No set of outputs becomes more than {factor_in_words(self.epsilon)} times as likely, "
            f"plus {in_words(self.delta)}, by {self._change()}."
        )


@dataclass(frozen=True)
class ZeroConcentratedDP(Guarantee):
    """rho-zCDP, up to a failure probability `delta`: Rényi divergence at most rho a at every order a > 1."""

    rho: Fraction
    delta: Fraction = Fraction(0)

    def __str__(self) -> str:
        return f"{in_words(self.rho)}-zero-concentrated differential privacy ({self.neighbours}{_but(self.delta)})"


@dataclass(frozen=True)
class RenyiDP(Guarantee):
    """Rényi differential privacy: divergence at most `epsilons[i]` at order `orders[i]`."""

    orders: tuple[float, ...]
    epsilons: tuple[float, ...]
    delta: Fraction = Fraction(0)

    def __str__(self) -> str:
        return f"Rényi differential privacy at {len(self.orders)} orders ({self.neighbours}{_but(self.delta)})"


@dataclass(frozen=True)
class GaussianDP(Guarantee):
    """mu-Gaussian DP: at least as hard to tell apart as N(0, 1) and N(mu, 1); the square is kept, being exact."""

    mu_squared: Fraction

    @property
    def mu(self) -> float:
        """The parameter mu."""
        return math.sqrt(self.mu_squared)

    def __str__(self) -> str:
        return f"{in_words(upper_rational(self.mu))}-Gaussian differential privacy ({self.neighbours})"


@dataclass(frozen=True)
class PrivacyLoss(Guarantee):
    """A privacy-loss distribution that dominates the true one, all round-off of its sums included."""

    distribution: LossDistribution

    def delta(self, epsilon: float) -> float:
        """Upper bound on delta at `epsilon`."""
        return self.distribution.delta(epsilon)

    def epsilon(self, delta: float) -> float:
        """Upper bound on epsilon at `delta`; infinite where none is proven."""
        return self.distribution.epsilon(delta)


def factor_in_words(epsilon: Fraction) -> str:
    """e^epsilon for people, rounded up; left as a power where it is beyond imagination."""
    if epsilon > 20:
        return f"e^{in_words(epsilon)}"
    growth = math.expm1(float(epsilon))
    decimals = max(2, 1 - math.floor(math.log10(growth)))
    step = Fraction(1, 10**decimals)
    return in_words(math.ceil(upper_rational(1 + growth) / step) * step, decimals + 10)


def _but(delta: Fraction) -> str:
    return f"; except with probability {in_words(delta)}" if delta else ""

"""Noise that could protect a number: its error in the analyst's units, and its privacy at risk."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from ziggurat.errors import ParameterError
from ziggurat.privacy.accounting import LaplaceEvent, Neighbours, gaussian_mu, in_words
from ziggurat.privacy.at_risk import GaussianAtRisk, LaplaceAtRisk, LatticeLaplaceAtRisk, PrivacyAtRisk


class PricedNoise(Protocol):
    """Noise that protects a released number at any epsilon."""

    @property
    def words(self) -> str:
        """What it is called."""

    @property
    def delta(self) -> Fraction:
        """0 where the loss never exceeds epsilon."""

    def error(self, epsilon: Fraction) -> float:
        """The expected absolute error of each number."""

    def within(self, epsilon: Fraction, confidence: Fraction) -> float:
        """What the error of a number stays within, with this probability."""

    def at_risk(self, epsilon: Fraction) -> PrivacyAtRisk:
        """How likely the loss is to be smaller."""


@dataclass(frozen=True)
class LaplaceNoise:
    """Laplace noise of scale sensitivity/epsilon on each of so many numbers."""

    sensitivity: Fraction
    coordinates: int = 1
    words = "Laplace noise"
    delta = Fraction(0)

    def error(self, epsilon: Fraction) -> float:
        """Return the expected absolute error of each number."""
        return float(self.sensitivity / epsilon)

    def within(self, epsilon: Fraction, confidence: Fraction) -> float:
        """Return what the error of a number stays within, with this probability."""
        return self.error(epsilon) * -math.log(1 - confidence)

    def at_risk(self, epsilon: Fraction) -> PrivacyAtRisk:
        """Return how likely the loss is to be smaller."""
        return LaplaceAtRisk(epsilon, self.coordinates)


@dataclass(frozen=True)
class GeometricNoise:
    """Laplace noise on whole numbers: P[X = x] is proportional to e^(-|x| epsilon/sensitivity)."""

    sensitivity: Fraction
    words = "Laplace noise on whole numbers"
    delta = Fraction(0)

    def error(self, epsilon: Fraction) -> float:
        """Return the expected absolute error of each number."""
        # 2a/(1 - a^2) with a = e^-rate
        return 1 / math.sinh(self._rate(epsilon))

    def within(self, epsilon: Fraction, confidence: Fraction) -> float:
        """Return what the error of a number stays within, with this probability."""
        # P(|X| > t) = 2 a^(t+1)/(1 + a) for a whole t.
        rate = self._rate(epsilon)
        needed = math.log(2 / (1 - confidence) / (1 + math.exp(-rate))) / rate - 1
        return float(max(math.ceil(needed), 0))

    def at_risk(self, epsilon: Fraction) -> PrivacyAtRisk:
        """Return how likely the loss is to be smaller."""
        scale = self.sensitivity / epsilon
        return LatticeLaplaceAtRisk(LaplaceEvent(Neighbours(), self.sensitivity, scale, Fraction(1)))

    def _rate(self, epsilon: Fraction) -> float:
        if epsilon > 600:
            raise ParameterError("A level above 600 protects nobody and is outside the range of floats.")
        return float(epsilon / self.sensitivity)


@dataclass(frozen=True)
class GaussianNoise:
    """The least Gaussian noise for (epsilon, delta)-differential privacy; the sensitivity is in the l2 norm."""

    sensitivity: Fraction
    delta: Fraction

    @property
    def words(self) -> str:
        """Return what it is called."""
        return f"Gaussian noise at delta {in_words(self.delta)}"

    def error(self, epsilon: Fraction) -> float:
        """Return the expected absolute error of each number."""
        return self._sigma(epsilon) * math.sqrt(2 / math.pi)

    def within(self, epsilon: Fraction, confidence: Fraction) -> float:
        """Return what the error of a number stays within, with this probability."""
        from scipy.special import ndtri

        return self._sigma(epsilon) * float(ndtri(float(1 + confidence) / 2))

    def at_risk(self, epsilon: Fraction) -> PrivacyAtRisk:
        """Return how likely the loss is to be smaller."""
        return GaussianAtRisk(self._mu(epsilon))

    def _sigma(self, epsilon: Fraction) -> float:
        return float(self.sensitivity) / self._mu(epsilon)

    def _mu(self, epsilon: Fraction) -> float:
        return gaussian_mu(float(epsilon), float(self.delta))

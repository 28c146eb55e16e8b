"""Privacy at risk of Laplace noise when it is known how much each coordinate may change."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np

from ziggurat.errors import ParameterError
from ziggurat.privacy.accounting import Amount, Cumulative, Losses, exact_epsilon, exact_positive
from ziggurat.privacy.at_risk._at_risk import PrivacyAtRisk, Sided, exact_sided

# At least this many cells over the whole level: a finer lattice is tighter, never more right.
_CELLS = 20_000
# One coordinate's law is an exponential, good to a few units of round-off.
_ROUND_OFF = 1e-15


class SplitLaplaceAtRisk(PrivacyAtRisk):
    """Laplace noise on several coordinates for a pair of tables that differs by `split` levels in them.

    Coordinate i has L_i in [-e_i, e_i]: atoms 1/2 at e_i and e^(-e_i)/2 at -e_i, between them the density
    e^((l - e_i)/2)/4. The losses are added on a lattice, rounded up for the lower bound of a confidence and down for
    the upper one, so that `bounds` certainly enclose the probability for this split. Atoms lie on the lattice where
    the split is in simple proportions, so that ties with epsilon are decided exactly.

    The statement is about this split. A unit that may split the sensitivity otherwise needs `LaplaceAtRisk`.
    """

    scope = "the stated split of the sensitivity among the coordinates"

    def __init__(self, split: Sequence[Amount]) -> None:
        if isinstance(split, (str, bytes)) or not 1 <= len(split) <= 64:
            raise ParameterError("A split is a list of 1 to 64 levels, one for each coordinate.")
        self.split = tuple(exact_positive(item, "level") for item in split)
        self.level = sum(self.split, Fraction(0))
        if self.level > 100:
            raise ParameterError("A level above 100 protects nobody; divide the split.")

    def bounds(self, epsilon: Amount, sided: Sided = "two") -> tuple[float, float]:
        """Give a lower and an upper bound on the probability that the loss keeps within `epsilon`."""
        bound = exact_epsilon(epsilon)
        if bound >= self.level:
            return 1.0, 1.0
        up, down = math.floor(bound / self._step), math.ceil(-bound / self._step) - 1
        low, high = self._above.up_to(up), self._below.up_to(up)
        if exact_sided(sided) == "two":
            low, high = low - self._below.up_to(down), high - self._above.up_to(down)
        error = self._above.error + self._below.error
        return max(low - error, 0.0), min(high + error, 1.0)

    @cached_property
    def _step(self) -> Fraction:
        """A step that divides every level, where one exists that is not too fine."""
        shared = _common(self.split)
        if self.level / shared > _CELLS:
            return self.level / _CELLS
        return shared / math.ceil(_CELLS * shared / self.level)

    @cached_property
    def _above(self) -> Cumulative:
        return Cumulative.of([(_round_loss(item, self._step, up=True), 1) for item in self.split], _ROUND_OFF)

    @cached_property
    def _below(self) -> Cumulative:
        return Cumulative.of([(_round_loss(item, self._step, up=False), 1) for item in self.split], _ROUND_OFF)

    def _two(self, epsilon: Fraction) -> float:
        return self.bounds(epsilon, "two")[0]

    def _one(self, epsilon: Fraction) -> float:
        return self.bounds(epsilon, "one")[0]

    def _delta(self, epsilon: Fraction) -> float:
        """Losses rounded up bound E[1 - e^(epsilon - L)]_+ from above, because it grows with the loss."""
        if epsilon >= self.level:
            return 0.0
        losses = (self._above.first + np.arange(len(self._above.sums) - 1)) * float(self._step)
        share = -np.expm1(np.minimum(float(epsilon) - losses, 0.0))
        return float(np.diff(self._above.sums) @ share) + 2 * self._above.error

    def _top(self) -> Fraction:
        return self.level


def _common(split: Sequence[Fraction]) -> Fraction:
    """Give the largest number of which every level is a multiple."""
    below = math.lcm(*(item.denominator for item in split))
    return Fraction(math.gcd(*(int(item * below) for item in split)), below)


def _round_loss(level: Fraction, step: Fraction, up: bool) -> Losses:
    """Lay the loss of one coordinate on the lattice, every part moved up (or down) to the next point.

    P(L <= x) = e^((x - e)/2)/2 for -e <= x < e, where the atom at -e is included, and 1 from e on.
    """
    turn = math.ceil if up else math.floor
    low, high = turn(-level / step), turn(level / step)
    ends = (np.arange(low, high) + (0 if up else 1)) * float(step)
    cumulative = np.exp(np.minimum(ends - float(level), 0.0) / 2) / 2
    return Losses(low, np.diff(np.append(cumulative, 1.0), prepend=0.0))

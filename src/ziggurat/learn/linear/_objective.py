"""Objective perturbation: the minimiser of a loss to which a random linear term was added.

For rows v with |v| <= R the model minimises sum l(v.t) + L/2 |t|^2 + b.t, where |l'| <= m and 0 <= l'' <= h: a
gradient of at most g = m R and a Hessian of rank 1 and at most h R^2 for every row (the conditions of Kifer, Smith &
Thakurta 2012). The proof here has sharper constants. The map from b to the minimiser is one to one, so the log ratio of
densities at t is a ratio of Jacobians plus a ratio of the densities of b. Replace-one:

- Jacobians: one row adds a rank-1 term of at most h R^2 to a matrix of at least L: at most J = log(1 + h R^2 / L).
- Gaussian b of deviation s: b moves by e = l'(v.t) v - l'(v'.t) v', so the ratio is at most
  (2 |b.e| + |e|^2) / (2 s^2) <= (g/s) (|Z| + |Z'|) + 2 (g/s)^2 with standard normal Z, Z'. |Z| + |Z'| exceeds T with
  probability at most 2 Q(T/sqrt(2 + 2c)) + 2 Q(T/sqrt(2 - 2c)), c their correlation; as Q(T/sqrt(x)) is convex in x up
  to T^2/3, this is at most 2 Q(T/2) for T^2 >= 12. So epsilon = J + 2 (g/s)^2 + T g/s with delta = 2 Q(T/2).
- Laplace b of scale s in each coordinate: epsilon = J + 2 m |v|_1 / s, with delta 0.

Add-or-remove-one: a row more adds its loss to a sum in which no number of rows stands (a row whose loss is constant, in
the place of none), and J is the same. Of b's move one term is left, e = l'(v.t) v with |e| <= g.

- Gaussian b: the ratio is at most (2 |b.e| + |e|^2) / (2 s^2) <= (g/s) |Z| + (g/s)^2 / 2 with Z = b.v/(s |v|) standard
  normal, so epsilon = J + (g/s)^2 / 2 + T g/s with delta = 2 Q(T): about half the noise.
- Laplace b: epsilon = J + m |v|_1 / s.

All this is about real numbers. What is computed from b on a fine lattice, in floats and with a gradient that is only
nearly 0, lies within tau of the true minimiser, by strong convexity: |t - t*| <= |gradient|/L. So a little noise
is added at the end, which hides tau at (e2, d2): the computed and the ideal model, protected alike, are (e2, d2) from
each other on either table, and the whole is (e1 + 2 e2, e^e2 d1 + (1 + e^(e1 + e2)) d2) (as Iyengar et al. 2019 do).
tau grows with the number of rows, so where that is private it is taken for the most rows that are allowed for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from ziggurat import randomness
from ziggurat.errors import PrivacyError
from ziggurat.learn._budget import FitBudget, Kind
from ziggurat.learn._clipping import Floats
from ziggurat.mechanisms import Gaussian, Laplace
from ziggurat.privacy import ApproximateEvent, Event, PureEvent, Relation, gaussian_mu
from ziggurat.randomness import Source

Slopes = Callable[[Floats], tuple[Floats, Floats, Floats]]
"""From fitted values to the losses and their first and second derivatives."""

# Of epsilon: what the Jacobians may cost, which sets the least regularisation, and what hides the round-off.
_JACOBIANS = 0.25
# Of many rows round-off is larger, and to hide it with little noise is worth more of epsilon.
_ROUND_OFF = {False: Fraction(1, 1000), True: Fraction(1, 100)}
_MANY = 1 << 15
# A gradient summed in blocks errs by less than this for every row and unit of its size.
_PRECISION = 2.0**-36
# A few additions of numbers of up to 64 spreads err by less than this for every spread.
_TILT = 2.0**-44
_BLOCK = 1024
_LATTICE = 45
_STEPS = 200
_LARGEST = 50.0


@dataclass(frozen=True)
class Objective:
    """The noise and the regularisation for rows of at most this length.

    Parameters
    ----------
    rows, dimension
        How many rows there may be, and how many weights, an intercept included.
    length, length_l1
        The largest l2 and l1 norm of a row.
    slope, curvature
        The largest first and second derivative of the loss.
    ridge
        The regularisation asked for; more is used if the proof needs it.
    budget
        Its share is of epsilon; what else is paid from it must be pure, so delta is used up here.
    """

    rows: int
    dimension: int
    length: float
    length_l1: float
    slope: float
    curvature: float
    ridge: float
    budget: FitBudget

    @property
    def event(self) -> Event:
        """What is promised; nothing finer than epsilon and delta is proven."""
        epsilon = self.budget.epsilon * self.budget.share
        if self.kind == "gaussian":
            return ApproximateEvent(self.budget.neighbours, epsilon, self.budget.delta)
        return PureEvent(self.budget.neighbours, epsilon)

    @cached_property
    def strength(self) -> float:
        """The regularisation that is used."""
        least = self.curvature * self.length**2 / math.expm1(_JACOBIANS * self._epsilon)
        return max(self.ridge, least) * (1 + 1e-12)

    @cached_property
    def kind(self) -> Kind:
        """Which noise b is: the one of less deviation; Laplace noise leaves delta unused."""
        if not self.budget.delta:
            return "laplace"
        return "gaussian" if self._gaussian < math.sqrt(2) * self._laplace else "laplace"

    @property
    def spread(self) -> float:
        """The deviation or scale of b, in every coordinate."""
        return self._gaussian if self.kind == "gaussian" else self._laplace

    @property
    def deviation(self) -> float:
        """The standard deviation of b, in every coordinate."""
        return self.spread * (1.0 if self.kind == "gaussian" else math.sqrt(2))

    @property
    def _left(self) -> float:
        return self._ideal - math.log1p(self.curvature * self.length**2 / self.strength)

    @property
    def _laplace(self) -> float:
        return self._rows_changed * self.slope * self.length_l1 / self._left * (1 + 1e-12)

    @cached_property
    def _gaussian(self) -> float:
        reach = _quantile(self._delta * 0.9 * math.exp(-self._hidden) / 2)
        if self._rows_changed == 2:
            reach = max(math.sqrt(12), 2 * reach)
        ratio = 2 * self._left / (math.sqrt(reach**2 + 2 * self._rows_changed**2 * self._left) + reach)
        return self.slope * self.length / ratio * (1 + 1e-12)

    @property
    def _rows_changed(self) -> int:
        """How many losses neighbours do not share."""
        return 2 if self.budget.neighbours.relation is Relation.REPLACE_ONE else 1

    @cached_property
    def tau(self) -> float:
        """How far what is computed may lie from the ideal minimiser."""
        lattice = self._lattice * math.sqrt(self.dimension)
        return (2 * self._tolerance + lattice) / self.strength

    def minimize(self, rows: Floats, slopes: Slopes, source: Source) -> Floats:
        """Give the protected minimiser."""
        tilt = self._tilt(source)
        found = newton(rows, slopes, self.strength, tilt, self._tolerance)
        return np.asarray(self._last_noise().release(found, source).value)

    @property
    def _epsilon(self) -> float:
        """What is calibrated for: up to here the regularisation is strong enough for floats to find the minimum."""
        return min(float(self.budget.epsilon * self.budget.share), _LARGEST)

    @property
    def _delta(self) -> float:
        return float(self.budget.delta)

    @property
    def _hidden(self) -> float:
        return self._epsilon * float(_ROUND_OFF[self.rows > _MANY])

    @property
    def _ideal(self) -> float:
        return (self._epsilon - 2 * self._hidden) * (1 - 1e-12)

    @property
    def _tolerance(self) -> float:
        """The floats of the sum over rows, and of the tilt beside it: its size is below 64 spreads but for e^-60."""
        return precision(self.rows, self.slope * self.length) + _TILT * self.spread * math.sqrt(self.dimension)

    @property
    def _lattice(self) -> float:
        """A power of two that floats multiply exactly."""
        return 2.0 ** (math.floor(math.log2(self.spread)) - _LATTICE)

    def _tilt(self, source: Source) -> Floats:
        """Draw b within one step of a lattice.

        A rounded normal deviate is one by definition; a discrete Laplace deviate is the difference of the whole parts
        of two exponential ones, whose own difference is Laplace.
        """
        width = Fraction(math.ceil(self.spread / self._lattice))
        draw = randomness.rounded_gaussian if self.kind == "gaussian" else randomness.discrete_laplace
        return np.asarray(draw(width, size=self.dimension, source=source), dtype=np.float64) * self._lattice

    def _last_noise(self) -> Gaussian | Laplace:
        neighbours, coordinates = self.budget.neighbours, self.dimension
        if self.kind == "laplace":
            apart = Fraction(self.tau) * (math.isqrt(coordinates) + 1)
            return Laplace.calibrated(Fraction(self._hidden), apart, coordinates=coordinates, neighbours=neighbours)
        spare = math.log(self._delta * 0.1) - self._epsilon - math.log(2)
        mu = gaussian_mu(self._hidden, math.exp(spare)) * (1 - 1e-4)
        return Gaussian(Fraction(self.tau), Fraction(self.tau / mu), coordinates=coordinates, neighbours=neighbours)


def precision(rows: int, gradient: float) -> float:
    """How small a gradient is asked for, which is also how far its sum in floats may be off."""
    return _PRECISION * rows * gradient


def _quantile(miss: float) -> float:
    """Where a standard normal deviate exceeds with this probability, rounded up."""
    from scipy.special import ndtri

    return -float(ndtri(miss)) + 1e-12


def _gradient(rows: Floats, slope: Floats) -> Floats:
    """Sum in blocks, whose sums NumPy adds in pairs: the error does not grow with the number of rows."""
    whole = len(rows) // _BLOCK * _BLOCK
    shape = (whole // _BLOCK, _BLOCK)
    blocks = np.einsum("bij,bi->bj", rows[:whole].reshape(*shape, rows.shape[1]), slope[:whole].reshape(shape))
    parts = np.vstack([blocks, (rows[whole:].T @ slope[whole:])[None]])
    return np.asarray(np.ascontiguousarray(parts.T).sum(axis=1), dtype=np.float64)


def newton(rows: Floats, slopes: Slopes, strength: float, tilt: Floats, tolerance: float) -> Floats:
    """Newton's method with halved steps on a strongly convex function, until the gradient is as good as 0."""
    at: Floats = np.zeros(rows.shape[1])
    for _ in range(_STEPS):
        value, first, second = slopes(rows @ at)
        gradient = _gradient(rows, first) + strength * at + tilt
        if np.linalg.norm(gradient) <= tolerance:
            return at
        hessian = (rows * second[:, None]).T @ rows + strength * np.eye(at.size)
        step = np.asarray(np.linalg.solve(hessian, gradient), dtype=np.float64)
        here = value.sum() + strength / 2 * (at @ at) + tilt @ at
        at = at - _halve(rows, slopes, strength, tilt, at, step, here) * step
    raise PrivacyError("The minimum was not found to the precision that the promise needs; use another method.")


def _halve(rows: Floats, slopes: Slopes, strength: float, tilt: Floats, at: Floats, step: Floats, here: float) -> float:
    """How much of the step to take: the first half, quarter, ... that does not go up, round-off aside."""
    part = 1.0
    for _ in range(40):
        there = at - part * step
        if slopes(rows @ there)[0].sum() + strength / 2 * (there @ there) + tilt @ there <= here + 1e-9 * abs(here):
            break
        part /= 2
    return part

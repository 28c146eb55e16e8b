"""Privacy-loss distributions of single events, on a grid, made so that they surely dominate.

A measure with `masses[k]` at the loss (first + k) step, and `infinite` at an infinite one, stands for a pair (P, Q): P
has those masses, Q the masses times e^-loss. It *dominates* an event if its hockey-stick curve, the sum of
mass (1 - e^(epsilon - loss))+, is nowhere below the event's delta(epsilon). A measure may weigh more than 1, so
round-off is always taken as more mass or as a larger loss, never as less.

Dots are connected (Doroshenko, Ghazi, Kamath, Kumar & Manurangsi 2022): what lies within a cell of the grid is put on
the cell's two ends so that A = P(cell) and B = Q(cell) e^(lower end) are kept. An upper bound on A and a lower bound on
B put more on the upper end, so the result dominates. Proof, with all round-off:
docs/decisions/0006-loss-distribution-allowance.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from ziggurat.errors import PrivacyError
from ziggurat.privacy.accounting._curves import SMALLEST_DELTA, UNIT, Array

LOSS_STEP = 1e-4
"""Losses lie on multiples of this step; it costs tightness, never correctness."""
# Beyond this many cells, or losses beyond this, a distribution is not worth its time.
MOST_CELLS = 1 << 22
_MOST_LOSS = 600.0
# Normal laws are cut this many deviations out; what lies beyond, below 1e-57, counts as an infinite loss.
_FAR = 16.0
# The lowest losses that together weigh no more than this are moved up to one place.
_LOWEST = 1e-22


@dataclass(frozen=True, eq=False)
class Losses:
    """A measure on multiples of a step that dominates one event once every loss is moved up by `slip`."""

    first: int
    masses: Array
    infinite: float = 0.0
    slip: float = 0.0

    @cached_property
    def places(self) -> Array:
        """The losses, in steps."""
        return np.arange(self.first, self.first + len(self.masses), dtype=np.float64)

    @cached_property
    def logs(self) -> Array:
        """Logarithms of the masses."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.masses))


# The losses when a unit is removed and when one is added: the same object twice where they do not differ.
Ways = tuple[Losses, Losses]


def gaussian_loss(mu_squared: Fraction, step: float) -> Ways:
    """Losses of Gaussian noise, sensitivity over sigma equal to mu."""
    return sampled_gaussian_loss(1.0, _up(math.sqrt(_up(mu_squared))), step)


def sampled_gaussian_loss(sampling: Fraction | float, mu: Fraction | float, step: float) -> Ways:
    """Losses of Gaussian noise on a Poisson sample, sensitivity over sigma equal to `mu`.

    With Z standard normal where the unit is away and N(mu, 1) where it was drawn, the loss
    l(z) = log(1 - q + q e^(mu z - mu^2/2)) grows with z: a cell of the grid is an interval of z. Both parameters are
    rounded up, which only makes neighbours easier to tell apart.
    """
    q, m = min(_up(sampling), 1.0), _up(mu)
    low, high = _sampled_loss(-_FAR, q, m), _sampled_loss(_FAR + m, q, m)
    first, last = _ends(low, high, step)
    levels = np.arange(first, last + 1, dtype=np.float64) * step
    z = (_log_odds(levels, q) + m * m / 2) / m
    slip = 16 * UNIT * (1 + max(abs(low), abs(high)) + m * m - math.log(q))
    (away, off), (drawn, other) = _normal_cells(z), _normal_cells(z - m)
    mixed, both = (1 - q) * away + q * drawn, (1 - q) * off + q * other
    under, over = _tail(-z[0]), _tail(z[-1])
    lowest, beyond = (1 - q) * under + q * _tail(m - z[0]), (1 - q) * over + q * _tail(z[-1] - m)
    cells = mixed + both, (away - off) * np.exp(levels[:-1])
    removed = _put_on_ends(first, *cells, step, slip, below=lowest, infinite=beyond)
    if q == 1:
        return removed, removed
    swapped = (away + off)[::-1], ((mixed - both) * np.exp(-levels[1:]))[::-1]
    return removed, _put_on_ends(-last, *swapped, step, slip, below=over, infinite=under)


def _up(amount: Fraction | float) -> float:
    return math.nextafter(float(amount), math.inf)


def _ends(low: float, high: float, step: float) -> tuple[int, int]:
    """The places of a grid that holds these losses; at least one cell."""
    if not (high - low <= MOST_CELLS * step and max(-low, high) <= _MOST_LOSS):
        raise PrivacyError("The loss distribution of these events is too large to compute; use another form.")
    first = math.floor(low / step)
    return first, max(math.ceil(high / step), first + 1)


def _sampled_loss(z: float, q: float, mu: float) -> float:
    with np.errstate(divide="ignore"):
        return float(np.logaddexp(np.log1p(-q), math.log(q) + mu * z - mu * mu / 2))


def _log_odds(levels: Array, q: float) -> Array:
    """log((e^level - 1 + q) / q), or -inf where no loss is as low as the level."""
    with np.errstate(divide="ignore"):
        return np.asarray(levels + np.log1p(-np.minimum((1 - q) * np.exp(-levels), 1.0)) - math.log(q))


def _normal_cells(z: Array) -> tuple[Array, Array]:
    """Probabilities of N(0, 1) between neighbouring points, and how far off each may be.

    Differences are taken in the nearer tail. A tail is right to 16 (1 + z^2) units of round-off: a test holds scipy to
    half of that, and the other half pays for a rounded z.
    """
    from scipy.special import ndtr

    below, above = ndtr(z), ndtr(-z)
    size = np.where(z[:-1] + z[1:] > 0, above[:-1] - above[1:], below[1:] - below[:-1])
    off = 16 * UNIT * (1 + np.minimum(np.abs(z), 40.0) ** 2) * np.minimum(below, above)
    straddling = np.where((z[:-1] < 0) & (z[1:] > 0), 16 * UNIT, SMALLEST_DELTA)
    return np.asarray(size), np.asarray(off[:-1] + off[1:] + straddling)


def _tail(z: float) -> float:
    """P(Z > z), rounded up."""
    from scipy.special import ndtr

    return float(ndtr(-z)) * (1 + 16 * UNIT * (1 + min(abs(z), 40.0) ** 2)) + SMALLEST_DELTA


def approximate_loss(epsilon: float, delta: float, step: float) -> Ways:
    """Losses that dominate every (epsilon, delta)-DP mechanism (Kairouz, Oh & Viswanath 2015)."""
    kept, more = 1 - delta, math.exp(-epsilon)
    masses = [kept / (1 + more), kept * more / (1 + more)]
    return _alike(np.array([epsilon, -epsilon]), np.array(masses), step, infinite=_up(delta) if delta else 0.0)


def randomized_response_loss(epsilon: float, categories: int, step: float) -> Ways:
    """Losses of randomised response over several categories."""
    less = math.exp(-epsilon)
    weights = np.array([1.0, (categories - 2) * less, less])
    return _alike(np.array([epsilon, 0.0, -epsilon]), weights / (1 + (categories - 1) * less), step)


def discrete_laplace_loss(shift: Fraction, scale: Fraction, step: float) -> Ways:
    """Losses of discrete Laplace noise on any lattice, `shift` and `scale` in its steps.

    Noise at 0 or below has the largest loss, noise at `shift` or above its opposite. Between, the loss
    (shift - 2x)/scale falls with x, and the masses of a cell are geometric series: a fine lattice costs nothing.
    """
    rate, top = float(1 / scale), float(shift / scale)
    first, last = _ends(-top, top, step)
    levels = np.arange(first, last + 1, dtype=np.float64) * step
    most = np.clip(np.floor((top - levels) / (2 * rate)), 0, float(shift) - 1)
    share = -np.expm1(-rate * (most[:-1] - most[1:])) / (1 + math.exp(-rate))
    upper = np.exp(-rate * (most[1:] + 1)) * share
    lower = np.exp(levels[:-1] - rate * (float(shift) - most[:-1])) * share
    ends = np.array([1.0, math.exp(-top)]) / (1 + math.exp(-rate))
    outer = _cells(np.array([top, -top]), ends, step, first, last - first)
    one = _put_on_ends(first, upper + outer[0], lower + outer[1], step, 32 * UNIT * (1 + top))
    return one, one


def discrete_gaussian_loss(sensitivity: int, sigma: float, step: float) -> Ways:
    """Losses of scalar discrete Gaussian noise; what lies beyond 16 sigma is an infinite loss, or the lowest one.

    There the ratio of neighbouring weights is at most e^(-reach/sigma^2), and all weights together exceed 1.
    """
    reach = math.ceil(_FAR * sigma) + sensitivity
    x = np.arange(-reach, reach + 1, dtype=np.float64)
    weights = np.exp(-(x**2) / (2 * sigma**2))
    beyond = 2 * float(weights[0]) / math.expm1(reach / sigma**2)
    masses = weights / weights.sum()
    masses[-1] += beyond
    return _alike(sensitivity * (sensitivity - 2 * x) / (2 * sigma**2), masses, step, infinite=beyond)


def _alike(losses: Array, masses: Array, step: float, infinite: float = 0.0) -> Ways:
    """Connect the dots of single losses, which are the same whether a unit is removed or added.

    Exponents up to the largest loss (and 200 for normal weights) and sums of as many terms as there are losses err by
    that many units of round-off at most.
    """
    low, high = float(losses.min()), float(losses.max())
    first, last = _ends(low, high, step)
    slip = 32 * UNIT * (1 + max(-low, high))
    cells = _cells(losses, masses * (1 + UNIT * (800 + len(losses))), step, first, last - first)
    one = _put_on_ends(first, cells[0], cells[1] * (1 - 2 * UNIT * (800 + len(losses))), step, slip, infinite=infinite)
    return one, one


def _cells(losses: Array, masses: Array, step: float, first: int, count: int) -> tuple[Array, Array]:
    """Sum masses, and masses times e^-(loss above the lower end), in each of `count` cells."""
    cell = np.clip(np.floor(losses / step).astype(np.int64) - first, 0, count - 1)
    inside = np.clip(losses - (cell + first) * step, 0.0, step)
    sums = (np.bincount(cell, weights, count) for weights in (masses, masses * np.exp(-inside)))
    upper, lower = (np.asarray(each, dtype=np.float64) for each in sums)
    return upper, lower


def _put_on_ends(
    first: int, upper: Array, lower: Array, step: float, slip: float, below: float = 0.0, infinite: float = 0.0
) -> Losses:
    """Put what is in every cell on its two ends; what is `below` the grid goes to its first place."""
    most = upper * (1 + 8 * UNIT + slip)
    least = np.maximum(lower, 0.0) * (1 - 8 * UNIT - 3 * slip)
    top = np.clip((most - least) / -math.expm1(-step) * (1 + 8 * UNIT), 0.0, most)
    masses = np.append(most - top, 0.0)
    masses[1:] += top
    masses[0] += below
    summed = np.cumsum(masses)
    start = min(int(np.searchsorted(summed, _LOWEST)), len(masses) - 1)
    masses[start] = summed[start] * (1 + 8 * UNIT * (start + 1))
    return Losses(first + start, masses[start:] * (1 + 8 * UNIT), infinite, slip)

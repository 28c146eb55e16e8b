"""Sums of many privacy losses, by Fourier transforms of tilted measures, with a proven bound on all round-off.

For one way (a unit is removed, or one is added) let p_k be the measures of the events, n_k how often each happened, h
the step. With w_k(l) = p_k(l) e^(t l - s_k), s_k such that they weigh about 1, the convolution of all p is that of all
w times e^(S - t l), S = sum of n_k s_k. The w are transformed on N cells, a power of two, raised to powers, multiplied
and transformed back, which gives c. Then at every place x of the window

    delta(x) <= e^rho (sum over l > x of c+(l) e^(S - t l) (1 - e^(x - l)) + E G e^(S - t x)) + T + I.

- E bounds the l2 error of c: E = A gamma sum of n_k |w_k|_2 + (2.5 n u + gamma) |c|_2, with u = 2^-53, n = sum of n_k,
  gamma = 10 u log2 N (one transform, relative, in l2: Higham 2002, Theorem 24.2) and
  A = product of (|w_k|_1 + gamma sqrt(N) |w_k|_2)^n_k.
- G is the l2 norm of e^(-t k h) (1 - e^(-k h)) over k >= 1 (Cauchy and Schwarz).
- rho holds the errors that are relative to positive terms; those of w_k count n_k times.
- T is what lies above the window, by Markov's inequality at a steeper tilt. What leaves the window wraps around, which
  only adds to the sum.
- I is the probability of an infinite loss.

The tilt t makes the error relative to e^(S - t x), Chernoff's bound on delta(x) itself, however small that is; without
one it would be absolute. It is chosen for the epsilon or delta asked for; elsewhere the bound holds, less tightly.
Proof: docs/decisions/0006-loss-distribution-allowance.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.errors import PrivacyError
from ziggurat.privacy.accounting._curves import SMALLEST_DELTA, UNIT, Array
from ziggurat.privacy.accounting._loss import MOST_CELLS, Losses, Ways

_TILTS: Array = np.geomspace(1e-3, 1e4, 141)
# Tilts beside the chosen one, in standard deviations of the tilted loss: where its law ends is judged by them.
_BESIDE: Array = np.array([0.5, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48])
# What wraps around weighs about e^-36 of the tilted law.
_WRAPPED = 36.0
# Errors that grow with the number of events stay far below 1 up to here.
_MOST_EVENTS = 10**12
# Tilts and windows are chosen on this many cells at most; they promise nothing.
_COARSE = 2048


class LossDistribution:
    """The privacy losses of a sequence of events, removing a unit and adding one; every answer is an upper bound."""

    def __init__(self, step: float, parts: Sequence[tuple[Ways, int]]) -> None:
        same = all(removed is added for (removed, added), _ in parts)
        ways = (0,) if same else (0, 1)
        self._sums = [_Sum(step, [(pair[way], n) for pair, n in parts]) for way in ways]

    def delta(self, epsilon: float) -> float:
        """Bound delta at `epsilon` from above."""
        return float(self.deltas(np.array([epsilon]))[0])

    def deltas(self, epsilons: Array) -> Array:
        """Bound delta at many epsilons from above, each by the best of three tilts."""
        return np.asarray(np.max([item.deltas(epsilons) for item in self._sums], axis=0))

    def epsilon(self, delta: float) -> float:
        """Bound the epsilon at `delta` from above; infinite where none is proven."""
        return max(item.epsilon(delta) for item in self._sums)


@dataclass(frozen=True)
class _TiltedPart:
    """A measure of a part, tilted and scaled to weigh about 1, and how far its logarithms may be off."""

    places: Array
    weights: Array
    scale: float
    size: float
    count: int

    @classmethod
    def of(cls, losses: Losses, count: int, slope: float) -> _TiltedPart:
        exponents = losses.logs + slope * losses.places
        peak = float(exponents.max())
        scale = peak + math.log(float(np.exp(exponents - peak).sum()))
        # Weights that are too small for a float are made larger, never left out.
        weights = np.exp(exponents - scale) + SMALLEST_DELTA
        largest = -float(losses.logs.min(where=np.isfinite(losses.logs), initial=0.0))
        reach = max(abs(losses.places[0]), abs(losses.places[-1]))
        return cls(losses.places, weights, scale, largest + slope * float(reach) + abs(scale), count)

    @cached_property
    def coarse(self) -> tuple[Array, Array]:
        """Weights and mean places of groups of cells, to choose a window by."""
        return _coarse(self.weights, self.places)

    def log_moment(self, slope: float) -> float:
        """log of the sum of weights e^(slope place), with its round-off added."""
        exponents = np.log(self.weights) + slope * self.places
        peak = float(exponents.max())
        off = 8 * UNIT * (1000 + abs(slope) * float(np.abs(self.places).max()) + len(self.weights))
        return peak + math.log(float(np.exp(exponents - peak).sum())) + off


class _Sum:
    """The sum of independent losses, one way."""

    def __init__(self, step: float, parts: Sequence[tuple[Losses, int]]) -> None:
        self.step, self.parts = step, parts
        if sum(n for _, n in parts) > _MOST_EVENTS:
            raise PrivacyError("The loss distribution of so many events cannot be computed; use another form.")
        self.slip = sum(n * item.slip for item, n in parts)
        self.highest = sum(n * (item.first + len(item.masses) - 1) for item, n in parts)
        self.lowest = sum(n * item.first for item, n in parts)
        finite = sum(n * math.log1p(-min(item.infinite, 0.5)) for item, n in parts)
        certain = any(item.infinite >= 0.5 for item, _ in parts)
        self.infinite = 1.0 if certain else min(-math.expm1(finite) * (1 + 32 * UNIT), 1.0)

    def deltas(self, epsilons: Array) -> Array:
        """Bound delta at each epsilon by the best of the tilts for the least, the middle and the largest of them."""
        asked = np.unique(np.quantile(epsilons, [0.0, 0.5, 1.0]))
        tilts = {float(_TILTS[np.argmin(self._moments - _TILTS * epsilon)]) for epsilon in asked}
        return np.asarray(np.min([self.curve(tilt).deltas(epsilons) for tilt in tilts], axis=0))

    def epsilon(self, delta: float) -> float:
        """Bound epsilon at `delta`."""
        if delta <= self.infinite:
            return math.inf
        least = np.argmin((self._moments - math.log(delta - self.infinite)) / _TILTS)
        return self.curve(float(_TILTS[least])).epsilon(delta)

    @cached_property
    def _moments(self) -> Array:
        """About the log moments at all tilts; they only choose one."""
        total = np.zeros_like(_TILTS)
        for losses, count in self.parts:
            weights, places = _coarse(losses.masses + SMALLEST_DELTA, losses.places)
            total += count * _log_sum(np.log(weights) + np.multiply.outer(_TILTS * self.step, places))
        return total

    def curve(self, tilt: float) -> Curve:
        """Bound delta in a window around the losses that count at this tilt."""
        slope = tilt * self.step
        tilted = [_TiltedPart.of(losses, count, slope) for losses, count in self.parts]
        window = _window(tilted, self.lowest, self.highest)
        found = _convolve(tilted, window)
        log_scale = sum(part.count * part.scale for part in tilted)
        return self._bounds(tilted, window, found, slope, log_scale)

    def _bounds(
        self, tilted: list[_TiltedPart], window: _Window, found: _WindowLaw, slope: float, log_scale: float
    ) -> Curve:
        from scipy.signal import lfilter

        places = np.arange(window.first, window.first + window.cells, dtype=np.float64)
        falling = slope * (window.middle - places)
        decay = np.exp(np.minimum(falling, 600.0))
        above = np.append(np.cumsum((found.weights * decay)[:0:-1])[::-1], 0.0)
        # delta(i) = e^-h delta(i + 1) + (1 - e^-h) (what lies above i): positive terms only, nothing cancels.
        sums = lfilter([-math.expm1(-self.step)], [1.0, -math.exp(-self.step)], above[::-1])[::-1]
        reach = slope * float(max(abs(places[0]), abs(places[-1])))
        rho = sum(part.count * (4 * part.size + 20 + len(part.weights) / window.cells) for part in tilted)
        rho += 8 * (abs(log_scale) + reach + window.cells + 8)
        log_factor = log_scale - slope * window.middle + 1.01 * UNIT * rho
        allowed = found.error * _norm(slope, self.step, window.cells) * decay + SMALLEST_DELTA
        with np.errstate(over="ignore"):
            finite = np.exp(np.log(sums + allowed) + log_factor)
        top = self._above(tilted, window, slope, log_scale)
        bounds = np.where(falling > 600.0, 1.0, finite + top + self.infinite + SMALLEST_DELTA)
        return Curve(window.first, self.step, np.minimum.accumulate(np.minimum(bounds, 1.0)), self.slip)

    def _above(self, tilted: list[_TiltedPart], window: _Window, slope: float, log_scale: float) -> float:
        """Bound the mass above the window: e^(log moment - slope place) at a steeper slope."""
        last = window.first + window.cells - 1
        if last >= self.highest:
            return 0.0
        steeper = slope + window.steeper
        moments = sum(part.count * part.log_moment(window.steeper) for part in tilted)
        size = abs(log_scale) + abs(moments) + steeper * abs(last)
        return math.exp(min(log_scale + moments - steeper * last + 16 * UNIT * size, 0.0))


@dataclass(frozen=True)
class _Window:
    """Which cells are computed, which is in the middle of the tilted law, and a steeper slope for what lies above."""

    first: int
    cells: int
    middle: int
    steeper: float


def _window(tilted: list[_TiltedPart], lowest: int, highest: int) -> _Window:
    """Cover the tilted law but for about e^-36; promises nothing, as what wraps around only adds."""
    means, variances = zip(*(_mean_and_variance(*part.coarse) for part in tilted), strict=True)
    mean = sum(part.count * each for part, each in zip(tilted, means, strict=True))
    spread = math.sqrt(sum(part.count * each for part, each in zip(tilted, variances, strict=True)) + 1.0)
    slopes = _BESIDE / spread
    highs = (_coarse_moments(tilted, slopes) + _WRAPPED) / slopes
    lows = (-_coarse_moments(tilted, -slopes) - _WRAPPED) / slopes
    margin = 8 + 0.05 * (float(highs.min()) - float(lows.max()))
    low = max(math.floor(lows.max() - margin), lowest)
    high = min(math.ceil(highs.min() + margin), highest)
    cells = 1 << max(10, (high - low).bit_length())
    if cells > MOST_CELLS:
        raise PrivacyError("The loss distribution of these events is too large to compute; use another form.")
    return _Window(low, cells, min(max(round(mean), low), high), float(slopes[highs.argmin()]))


def _coarse(weights: Array, places: Array) -> tuple[Array, Array]:
    """Weights and mean places of groups of neighbouring cells."""
    starts = np.arange(0, len(weights), -(-len(weights) // _COARSE))
    grouped = np.add.reduceat(weights, starts)
    return grouped, np.add.reduceat(weights * places, starts) / grouped


def _mean_and_variance(weights: Array, places: Array) -> tuple[float, float]:
    mean = float(weights @ places / weights.sum())
    return mean, float(weights @ (places - mean) ** 2 / weights.sum())


def _coarse_moments(tilted: list[_TiltedPart], slopes: Array) -> Array:
    parts = (
        part.count * _log_sum(np.log(part.coarse[0]) + np.multiply.outer(slopes, part.coarse[1])) for part in tilted
    )
    return np.asarray(sum(parts, np.zeros_like(slopes)))


def _log_sum(exponents: Array) -> Array:
    peak = exponents.max(axis=-1)
    return np.asarray(peak + np.log(np.exp(exponents - peak[..., None]).sum(axis=-1)))


@dataclass(frozen=True)
class _WindowLaw:
    """The tilted law of the sum in a window, none of it negative, and a bound on its error in l2."""

    weights: Array
    error: float


def _convolve(tilted: list[_TiltedPart], window: _Window) -> _WindowLaw:
    """Convolve on a circle of a power of two cells, and bound the round-off (see the module)."""
    cells = window.cells
    gamma = 10 * UNIT * math.log2(cells)
    product: Any = 1.0
    count, log_growth, entered = 0, 0.0, 0.0
    for part in tilted:
        circle = np.bincount(part.places.astype(np.int64) % cells, part.weights, cells)
        product = product * _power(np.fft.rfft(circle), part.count)
        length = float(np.linalg.norm(circle))
        log_growth += part.count * max(math.log(float(circle.sum()) + gamma * math.sqrt(cells) * length), 0.0)
        entered += part.count * length
        count += part.count
    found = np.roll(np.fft.irfft(product, cells), -(window.first % cells))
    error = math.exp(log_growth) * gamma * entered + (2.5 * count * UNIT + gamma) * float(np.linalg.norm(found))
    return _WindowLaw(np.maximum(found, 0.0), 1.01 * error + SMALLEST_DELTA)


def _power(values: npt.NDArray[np.complex128], count: int) -> npt.NDArray[np.complex128]:
    """Raise to a power by squaring: `count` - 1 products' worth of round-off, each at most sqrt(5) u."""
    result = None
    while True:
        if count & 1:
            result = values.copy() if result is None else result * values
        count >>= 1
        if not count:
            return values if result is None else result
        values = values * values


def _norm(slope: float, step: float, cells: int) -> float:
    """Bound the l2 norm of e^(-slope k)(1 - e^(-step k)) over k = 1 to `cells`, by 1 - e^-x <= min(1, x)."""
    gap = -math.expm1(-2 * slope)
    return math.sqrt(min(cells, 1 / gap, 2 * step**2 / gap**3)) * (1 + 16 * UNIT)


@dataclass(frozen=True)
class Cumulative:
    """The probability that a sum of losses is at most a place on the grid, and how far each may be off."""

    first: int
    sums: Array
    error: float

    @classmethod
    def of(cls, parts: Sequence[tuple[Losses, int]], own_error: float) -> Cumulative:
        """Add losses up without a tilt; each single law is off by `own_error` at most, which counts for every event.

        A sum over cells is off by their number's root times the error in l2; what is outside the window wraps around.
        """
        tilted = [_TiltedPart.of(losses, count, 0.0) for losses, count in parts]
        lowest, highest = (sum(n * int(item.places[end]) for item, n in parts) for end in (0, -1))
        window = _window(tilted, lowest, highest)
        found = _convolve(tilted, window)
        scale = math.exp(sum(part.count * part.scale for part in tilted))
        relative = sum(part.count * (4 * part.size + 20 + len(part.weights)) for part in tilted) + 8 * window.cells
        error = math.sqrt(window.cells) * found.error + math.expm1(2 * UNIT * relative)
        error += _outside(tilted, window, lowest, highest) + own_error * sum(part.count for part in tilted)
        return cls(window.first, np.append(0.0, np.cumsum(found.weights)) * scale, error)

    def up_to(self, place: int) -> float:
        """Give the probability of a sum of at most `place` steps."""
        return float(self.sums[min(max(place - self.first + 1, 0), len(self.sums) - 1)])


def _outside(tilted: list[_TiltedPart], window: _Window, lowest: int, highest: int) -> float:
    """Bound what lies above and below the window, by Markov's inequality."""
    last, slope, total = window.first + window.cells - 1, window.steeper, 0.0
    for side, place, beyond in ((slope, last, highest > last), (-slope, window.first, lowest < window.first)):
        if beyond:
            total += math.exp(min(sum(part.count * part.log_moment(side) for part in tilted) - side * place, 0.0))
    return total * (1 + 1e-9)


@dataclass(frozen=True)
class Curve:
    """Upper bounds on delta at consecutive places of the grid.

    Between places delta is convex in e^epsilon, so the chord bounds it. All losses may be larger by `slip`.
    """

    first: int
    step: float
    bounds: Array
    slip: float

    def deltas(self, epsilons: Array) -> Array:
        """Bound delta at each epsilon; 1 below the window, and the last bound above it."""
        off = 8 * UNIT * (1 + abs(self.first) + len(self.bounds))
        within = (epsilons - self.slip) / self.step - self.first - off
        cell = np.clip(np.floor(within), 0, len(self.bounds) - 2).astype(np.int64)
        share = np.clip(np.expm1((within - cell) * self.step) / math.expm1(self.step) - off, 0.0, 1.0)
        chord = (1 - share) * self.bounds[cell] + share * self.bounds[cell + 1]
        return np.asarray(np.where(within < 0, 1.0, chord * (1 + 8 * UNIT)))

    def epsilon(self, delta: float) -> float:
        """Bound epsilon at `delta`: where the chord crosses it; infinite if no bound is as low."""
        place = len(self.bounds) - int(np.searchsorted(self.bounds[::-1], delta, side="right"))
        if place == len(self.bounds):
            return math.inf
        if place > 0:
            before, after = self.bounds[place - 1], self.bounds[place]
            sharp = before - after > 1e-6 * before
            share = min((before - delta) / (before - after) + 1e-9, 1.0) if sharp else 1.0
            loss = (self.first + place - 1) * self.step + math.log1p(share * math.expm1(self.step))
        else:
            loss = self.first * self.step
        return max(loss + self.slip + 8 * UNIT * abs(loss), 0.0)

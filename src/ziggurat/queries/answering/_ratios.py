"""Intervals for what is computed from several noisy numbers: means and variances.

Both by Fieller's argument: at the true parameters a certain combination of what was measured is pure noise of a known
law, so the parameters at which that combination is not surprising hold the true ones with the confidence asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_ROUNDS = 45
_APART = 1.01
_MEAN_PART = 0.1


@dataclass(frozen=True)
class NoiseLaw:
    """The law of an integer noise, for intervals: Laplace of this scale, or Gaussian of this deviation."""

    width: float
    gaussian: bool

    def reach(self, miss: float) -> float:
        """What its absolute value exceeds with at most this probability."""
        return float(_tail_inverse(self, miss)) + 0.5


def _tail_inverse(spread: NoiseLaw, miss: float) -> float:
    if not spread.gaussian:
        return spread.width * math.log(1 / miss)
    from scipy.special import ndtri

    return float(-ndtri(miss / 2) * spread.width)


def surprise(noises: Sequence[NoiseLaw], factors: Sequence[Floats], at: Floats) -> Floats:
    """Bound P[|sum of factor * noise| >= at] for independent integer noises.

    A discrete Laplace law is more peaked than a Laplace deviate rounded to whole numbers, and stays so when a
    symmetric unimodal law is added (Birnbaum 1948); so the continuous law, with half a step of each noise taken off,
    bounds it. For rounded Gaussian deviates the same holds by construction.
    """
    slack = sum((np.abs(factor) / 2 for factor in factors), np.zeros_like(at))
    beyond = np.maximum(at - slack, 0.0)
    scales = [np.abs(factor) * noise.width for noise, factor in zip(noises, factors, strict=True)]
    if noises[0].gaussian:
        from scipy.special import ndtr

        return np.asarray(2 * ndtr(-beyond / np.sqrt(sum(scale**2 for scale in scales))))
    return _laplace_tail(scales, beyond)


def least_reach(noises: Sequence[NoiseLaw], factors: Sequence[float], miss: float) -> float:
    """The least value that |sum of factor * noise| exceeds with at most this probability, as `surprise` bounds it.

    It grows with every factor: so do the slack and the scales, and with these the tail.
    """
    parts = [np.array([factor]) for factor in factors]
    low, high = 0.0, 1.0
    while surprise(noises, parts, np.array([high]))[0] > miss:
        low, high = high, 2 * high
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        low, high = (middle, high) if surprise(noises, parts, np.array([middle]))[0] > miss else (low, middle)
    return high


def fewest(values: int, count: NoiseLaw, spare: float) -> float:
    """What the noisy count of so many values falls below with probability `spare` at most."""
    return values - count.reach(2 * spare)


def _laplace_tail(scales: Sequence[Floats], at: Floats) -> Floats:
    """Tail of a sum of Laplace deviates by partial fractions: sum of c_i e^(-x/s_i), c_i = prod s_i^2/(s_i^2 - s_j^2).

    Scales that are (nearly) equal would cancel, so the larger of two is widened by a percent, which bounds the tail.
    """
    ordered = list(np.sort(np.stack(np.broadcast_arrays(*scales)), axis=0))
    floor = np.maximum(ordered[-1] * 1e-6, 1e-300)
    spaced = [np.maximum(ordered[0], floor)]
    for scale in ordered[1:]:
        spaced.append(np.maximum(scale, spaced[-1] * _APART))
    tail = np.zeros_like(at)
    with np.errstate(under="ignore"):
        for i, scale in enumerate(spaced):
            weight = np.ones_like(at)
            for j, other in enumerate(spaced):
                if i != j:
                    weight = weight * (scale**2 / (scale**2 - other**2))
            tail = tail + weight * np.exp(-at / scale)
    return np.asarray(np.clip(tail, 0.0, 1.0))


def furthest(plausible: Callable[[Floats], npt.NDArray[np.bool_]], start: Floats, end: Floats) -> Floats:
    """The parameter furthest from `start` towards `end` that is plausible, by bisection, rounded outwards.

    Both ends of an interval are sought at once, a row of `end` for each: that takes as many steps as one.
    """
    inside, outside = (each.astype(np.float64) for each in np.broadcast_arrays(start, end))
    at_end = plausible(outside)
    for _ in range(_ROUNDS):
        middle = (inside + outside) / 2
        fits = plausible(middle)
        inside, outside = np.where(fits, middle, inside), np.where(fits, outside, middle)
    return np.asarray(np.where(at_end, end, outside))


def mean_interval(
    totals: Floats, counts: Floats, total: NoiseLaw, count: NoiseLaw, ends: tuple[float, float], miss: float
) -> tuple[Floats, Floats]:
    """Interval for t = S/n between public bounds: S~ - t n~ is the noise of S less t times that of n.

    Where the noisy count could well be that of an empty group, nothing is known but the bounds.
    """
    known = counts > count.reach(miss)
    centre = np.clip(totals / np.maximum(counts, 1.0), *ends)

    def plausible(mean: Floats) -> npt.NDArray[np.bool_]:
        chance = surprise((total, count), (np.ones_like(mean), mean), np.abs(totals - mean * counts))
        return np.asarray(chance > miss)

    low, high = furthest(plausible, centre, np.array(ends)[:, None])
    return np.where(known, low, ends[0]), np.where(known, high, ends[1])


def mean_reach(
    values: int, total: NoiseLaw, count: NoiseLaw, ends: tuple[float, float], miss: float, spare: float
) -> float:
    """How far `mean_interval` reaches, and the mean is off, at worst, for at least so many values between `ends`.

    Promise: with probability 1 - spare the interval is at most twice as wide, and with probability 1 - miss - spare
    the mean of the noisy sums is at most so far off, whatever the values. Proof: let k(t) be what |X - t Y| exceeds
    with probability `miss`, X and Y the noises of S and n. An end t of the interval has |S~ - t n~| <= k(t), so
    it lies within k(t)/n~ of S~/n~; and S~/n~ - S/n = (X - (S/n) Y)/n~, which is at most k(S/n)/n~ with probability
    1 - miss. `k` grows with |t|, which is at most w, the larger of the ends; and n~ is at least f = `fewest` with
    probability 1 - spare. So both are at most k(w)/f; moving the mean into the bounds brings it nearer. Nothing is
    further off than the bounds are apart, which is all that is known where f is as small as that of an empty group.
    """
    width, least = ends[1] - ends[0], fewest(values, count, spare)
    if least <= count.reach(miss):
        return width
    return min(least_reach((total, count), (1.0, max(-ends[0], ends[1])), miss) / least, width)


def variance_interval(
    sums: tuple[Floats, Floats, Floats],
    noises: tuple[NoiseLaw, NoiseLaw, NoiseLaw],
    ends: tuple[float, float],
    miss: float,
    shift: float,
) -> tuple[Floats, Floats]:
    """Interval for the population variance v, from noisy sum A of squares less `shift`, sum B and count n.

    With the mean m, A - 2 m B + (shift + m^2) n = v n, so that A~ - 2 m B~ + (shift + m^2 - v) n~ is pure noise. The
    mean is known to an interval, for which a tenth of the miss is set aside; being off by d adds n d^2 to the left
    side, which is of second order.
    """
    squares, totals, counts = sums
    most = np.full_like(counts, (ends[1] - ends[0]) ** 2 / 4)  # Popoviciu
    part = miss * _MEAN_PART
    known = counts > noises[2].reach(part / 2)
    safe = np.where(known, counts, 1.0)
    means = mean_interval(totals, counts, noises[1], noises[2], ends, part)
    best = np.clip(totals / safe, *means)
    off = np.maximum(means[1] - best, best - means[0])
    left = squares - 2 * best * totals + (shift + best**2) * safe
    widest = np.maximum(np.abs(means[0]), np.abs(means[1]))
    nearest = np.where((means[0] <= 0) & (means[1] >= 0), 0.0, np.minimum(np.abs(means[0]), np.abs(means[1])))

    def plausible(variance: Floats) -> npt.NDArray[np.bool_]:
        gap = left - variance * safe
        short = np.maximum(np.maximum(gap, -gap - safe * off**2), 0.0)
        last = np.maximum(np.abs(shift + widest**2 - variance), np.abs(shift + nearest**2 - variance))
        chance = surprise(noises, (np.ones_like(gap), 2 * widest, last), short)
        return np.asarray(chance > miss - part)

    start = np.clip(left / safe, 0.0, most)
    low, high = furthest(plausible, start, np.stack([np.zeros_like(start), most]))
    return np.where(known, low, 0.0), np.where(known, high, most)


def variance_reach(
    values: int,
    noises: tuple[NoiseLaw, NoiseLaw, NoiseLaw],
    ends: tuple[float, float],
    miss: float,
    spare: float,
    shift: float,
) -> float:
    """How far `variance_interval` reaches, and the variance is off, at worst, as `mean_reach` says it of a mean.

    Proof: with n~ >= f and |m~ - m| <= d, which fails with probability spare + miss/10, let L be what is left of the
    squares at the mean that `variance_interval` takes. That mean is within d of both ends of its interval, so
    the variances not surprising lie in [L - k/f, L + k/f + d^2], k being what the noise exceeds with probability
    9/10 miss at the largest factors: 1, 2 w, and |shift + m^2 - v| with m^2 <= w^2 and 0 <= v <= `most`. The variance
    of the noisy sums, A~/n~ + shift - (B~/n~)^2, is L less the square of how far B~/n~ lies outside the bounds: in
    [L - d^2, L]. So it is within k/f + 2 d^2 of all of them, the true one included, and half the width is less.
    """
    most, furthest_out = (ends[1] - ends[0]) ** 2 / 4, max(-ends[0], ends[1])
    part, least = miss * _MEAN_PART, fewest(values, noises[2], spare)
    if least <= noises[2].reach(part / 2):
        return most
    off = least_reach(noises[1:], (1.0, furthest_out), part) / least
    last = max(shift + furthest_out**2, most - shift)
    return min(least_reach(noises, (1.0, 2 * furthest_out, last), miss - part) / least + 2 * off**2, most)

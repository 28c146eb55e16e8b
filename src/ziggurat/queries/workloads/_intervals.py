"""How far the error of an answer reaches: it is a weighted sum of many independent integer noises.

Two routes, both above the true quantile; where a step was checked numerically and not proven, it says so.

Law by law (few different laws). Let X be the error, s its deviation, and V independent normal noise of deviation
tau = s/50. For every x above k + d, x + V exceeds k unless V < -d, so
P[|X| > k + d] <= P[|X + V| > k] / P[V >= -d]. The law of X + V is smooth; its distribution function follows from the
product of the characteristic functions by the midpoint rule, whose error is the probability beyond ten deviations.

For many laws at once. (1) Let u be uniform on [-1/2, 1/2]. Discrete Laplace noise of scale b plus u is unimodal and
at most as spread as Laplace noise of scale c = 1 / (2 tanh(1/(2b))): both tails are compared on [j - 1/2, j + 1/2],
where one is the line a^j (1 - (x - j)/c) and the other, e^(-x/c), lies above its tangent at j, which lies above that
line. Peakedness of symmetric unimodal laws is kept by sums (Birnbaum 1948), so X + U, with U the sum of the uniforms,
is at most as spread as a sum Y of Laplace variables. For a rounded normal deviate, plus u, the same holds with a normal
variable of variance sigma^2 + 0.28: both tails were compared numerically over the whole range of sigma (see the tests).
(2) U is sub-Gaussian with variance proxy |coefficients|^2 / 12, which removes it as V above. (3) Y is normal with a
random variance W, a sum of exponentials with mean s^2 and variance v s^4, v the sum of squared shares. Among all W of
this mean and at most this variance, the one that makes |Y| > k most likely has two values (h(w) = P[|N(0, w)| > k] is
convex and then concave in w, so a parabola above h touches it at most twice), which leaves a search over one number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any

import numpy as np

from ziggurat.mechanisms import AdditiveNoise, Laplace
from ziggurat.queries.workloads._noise import rounded_probabilities, variance
from ziggurat.queries.workloads._strategy import Chain, Floats, Levels, Space, Strategy
from ziggurat.queries.workloads._workload import Group

Query = dict[str, tuple[int, int] | None]

_SMOOTHING, _SPARED = 1 / 50, 0.01
# Below this deviation noise is mostly 0, and Chebyshev's inequality says enough.
_MOSTLY_ZERO = 0.3
# Below this miss the sum that inverts a characteristic function has too few digits.
_LEAST_MISS = 1e-9
_MOST_ENDS = 2048
_SPARES = (0.01, 0.03, 0.1, 0.3)


@dataclass(frozen=True, eq=False)
class Errors:
    """What is needed to know the law of every answer's error.

    Attributes
    ----------
    strategy, mechanisms, weights
        The histograms, their noise, and the weight of each in the least squares.
    miss
        With which probability an interval may miss the true value.
    """

    strategy: Strategy
    mechanisms: Sequence[AdditiveNoise]
    weights: Floats
    miss: float

    @property
    def space(self) -> Space:
        """The columns and their chains."""
        return self.strategy.space

    def half_widths(self, group: Group, inverse: Floats, deviations: Floats, most_laws: int) -> Floats:
        """Half the width of the interval around every answer of a group, in the shape of `deviations`.

        Up to `most_laws` laws are taken one by one; single cells of a column all have the same.
        """
        if deviations.size <= most_laws and self.miss >= _LEAST_MISS:
            found = [
                self._one(group, inverse, place, float(deviations[place])) for place in np.ndindex(deviations.shape)
            ]
            return np.array(found).reshape(deviations.shape)
        if min(map(variance, self.mechanisms)) < _MOSTLY_ZERO**2:
            return deviations / math.sqrt(self.miss)
        return deviations * self._factor(self._concentrations(group, inverse, deviations))

    def _one(self, group: Group, inverse: Floats, place: tuple[int, ...], deviation: float) -> float:
        chebyshev = deviation / math.sqrt(self.miss)
        if deviation < _MOSTLY_ZERO:
            return chebyshev
        query = {
            name: None if each is None else (int(each.lows[where]), int(each.highs[where]))
            for (name, each), where in zip(group.factors.items(), place, strict=True)
        }
        return min(chebyshev, self._quantile(self._terms(group, inverse, query), deviation))

    def _terms(self, group: Group, inverse: Floats, query: Query) -> list[tuple[Floats, Floats]]:
        """The coefficients of every histogram's noise in the answer to a query, and how often each occurs.

        But for a factor they are the same for all histograms with the same levels in the columns of the group.
        """
        places = [self.space.columns.index(name) for name in group.columns]
        known: dict[Levels, tuple[Floats, Floats, int]] = {}
        terms = []
        for levels, cells, weight in zip(self.strategy.measured, self._cells, self.weights.tolist(), strict=True):
            here = tuple(levels[place] for place in places)
            if here not in known:
                known[here] = self._shared_terms(group, inverse, query, here)
            coefficients, often, blocks = known[here]
            terms.append((coefficients * (weight / cells), often * float(cells // blocks)))
        return terms

    def _shared_terms(self, group: Group, inverse: Floats, query: Query, levels: Levels) -> tuple[Floats, Floats, int]:
        """The same at these levels of the group's columns, before weighing, and how many blocks these have."""
        coefficients, counts, blocks = inverse[tuple(slice(level + 1) for level in levels)], np.array(1.0), 1
        for name, level in zip(group.columns, levels, strict=True):
            chain = self.space.chain(name)
            parts, often = _distinct(chain, level, query[name])
            coefficients = np.tensordot(coefficients, parts, axes=([0], [0]))
            counts = np.multiply.outer(counts, often)
            blocks *= chain.blocks[level]
        return coefficients.ravel(), counts.ravel(), blocks

    @cached_property
    def _cells(self) -> list[int]:
        """How many counts each histogram has."""
        return [self.space.cells(levels) for levels in self.strategy.measured]

    def _level(self, levels: Levels, name: str) -> int:
        return levels[self.space.columns.index(name)]

    def _scale(self, number: int) -> float:
        return float(self.weights[number]) / self._cells[number]

    def _alike(self, levels: Levels, group: Group) -> int:
        """How many blocks there are for each one in the columns of the group."""
        others = [name for name in self.space.columns if name not in group.factors]
        return math.prod(self.space.chain(name).blocks[self._level(levels, name)] for name in others)

    def _quantile(self, terms: Sequence[tuple[Floats, Floats]], deviation: float) -> float:
        """Invert the characteristic function of the smoothed error."""
        from scipy.special import ndtri

        period = deviation * (12 - 4 * math.log10(self.miss))
        step, smooth = 2 * math.pi / period, deviation * _SMOOTHING
        points = (np.arange(math.ceil(6 / (smooth * step))) + 0.5) * step
        logs = -((points * smooth) ** 2) / 2
        for mechanism, (coefficients, counts) in zip(self.mechanisms, terms, strict=True):
            logs += counts @ log_characteristic(mechanism, np.multiply.outer(coefficients, points))
        heights = 2 * step / math.pi * np.exp(logs) / points
        low, high = 0.0, period / 2
        for _ in range(50):
            middle = (low + high) / 2
            beyond = 1 - float(np.sin(middle * points) @ heights)
            low, high = (low, middle) if beyond <= self.miss * (1 - _SPARED) else (middle, high)
        return high - float(ndtri(_SPARED)) * smooth

    def _concentrations(self, group: Group, inverse: Floats, deviations: Floats) -> Floats:
        """An upper bound on the sum of squared variance shares of each answer: 1 is always one."""
        if not isinstance(self.mechanisms[0], Laplace):
            return np.zeros_like(deviations)
        ranged = [name for name, each in group.factors.items() if each is not None]
        found = self._fourth_moments(group, inverse, ranged[0]) if ranged else None
        if found is None:
            return np.ones_like(deviations)
        return np.minimum(self._widening() ** 2 * found.reshape(deviations.shape) / deviations**4, 1.0)

    def _fourth_moments(self, group: Group, inverse: Floats, column: str) -> Floats | None:
        """The sum of (squared coefficient times variance)^2 for every range, None if there are too many ends.

        Coefficients are linear in the query and a range is the difference of two prefixes, so the fourth powers
        follow from products of the prefixes' coefficients.
        """
        ranges, size = group.factors[column], self.space.chain(column).size
        assert ranges is not None
        ends, place = np.unique(np.concatenate([ranges.lows, ranges.highs]), return_inverse=True)
        if len(ends) > _MOST_ENDS or len(ends) * size > 1 << 22:
            return None
        low, high = place[: len(ranges)], place[len(ranges) :]
        found = np.zeros(len(ranges))
        for number, mechanism in enumerate(self.mechanisms):
            first, counts = self._prefix_terms(group, inverse, number, column, ends)
            counts = counts * variance(mechanism) ** 2
            fourth, mixed = (first**4) @ counts, (first**3 * counts) @ first.T
            square = (first**2 * counts) @ (first**2).T
            found += fourth[high] + fourth[low] - 4 * (mixed[high, low] + mixed[low, high]) + 6 * square[high, low]
        return np.maximum(found, 0.0)

    def _prefix_terms(
        self, group: Group, inverse: Floats, number: int, column: str, ends: Any
    ) -> tuple[Floats, Floats]:
        """The coefficients of one histogram's noise in the prefix up to each end, and how often each occurs."""
        levels, axis = self.strategy.measured[number], group.columns.index(column)
        depth = self._level(levels, column)
        factors = inverse[tuple(slice(self._level(levels, name) + 1) for name in group.columns)]
        factors, counts = np.moveaxis(factors, axis, -1), np.array(float(self._alike(levels, group)))
        for name in (each for each in group.columns if each != column):
            parts, often = _distinct(self.space.chain(name), self._level(levels, name), None)
            factors = np.tensordot(factors, parts, axes=([0], [0]))
            counts = np.multiply.outer(counts, often)
        prefixes = _prefix_means(self.space.chain(column), ends, depth)
        coefficients = np.tensordot(prefixes, factors.reshape(depth + 1, -1), axes=([1], [0])) * self._scale(number)
        often = np.broadcast_to(counts.ravel(), coefficients.shape[1:])
        return coefficients.reshape(len(ends), -1), often.ravel()

    def _widening(self) -> float:
        """How much larger the variance of the continuous noise is that dominates the integer noise."""
        return max(_dominating(each) / variance(each) for each in self.mechanisms)

    def _factor(self, concentrations: Floats) -> Floats:
        """Deviations to go on either side, for all answers at once."""
        coarse = 1 / math.sqrt(min(variance(each) for each in self.mechanisms))
        wide = math.sqrt(self._widening())
        found = [
            wide * _quantiles(concentrations, self.miss * (1 - spare)) + coarse * math.sqrt(-math.log(spare) / 6)
            for spare in _SPARES
        ]
        return np.asarray(np.minimum(np.minimum.reduce(found), 1 / math.sqrt(self.miss)))


def log_characteristic(mechanism: AdditiveNoise, points: Floats) -> Floats:
    """The logarithm of the characteristic function of integer noise, which is real and positive."""
    if isinstance(mechanism, Laplace):
        return np.asarray(-np.log1p(variance(mechanism) * 2 * np.sin(points / 2) ** 2))
    sigma = float(mechanism.sigma)  # type: ignore[attr-defined]
    if sigma < 1:
        values = np.arange(1, 12)
        swings = 2 * np.sin(np.multiply.outer(points, values) / 2) ** 2
        return np.asarray(np.log(np.maximum(1 - 2 * swings @ rounded_probabilities(sigma, values), 1e-300)))
    # Rounding adds a uniform deviate, but for the images at multiples of 2 pi (Poisson summation).
    near = np.remainder(points + np.pi, 2 * np.pi) - np.pi
    images = [np.exp(-((sigma * (near + turn)) ** 2) / 2) * np.sinc((near + turn) / (2 * np.pi))
              for turn in (-2 * np.pi, 0.0, 2 * np.pi)]  # fmt: skip
    return np.asarray(np.log(np.maximum(sum(images), 1e-300)))


@lru_cache(maxsize=1024)
def _distinct(chain: Chain, level: int, cells: tuple[int, int] | None) -> tuple[Floats, Floats]:
    """The parts of one query (a single cell if `cells` is None) in the blocks of a level, and how often each occurs."""
    low, high = cells or (0, 1)
    query = np.zeros(chain.size)
    query[low:high] = 1.0
    different, counts = np.unique(chain.means(query, level), axis=1, return_counts=True)
    return different, counts.astype(float)


def _prefix_means(chain: Chain, ends: Any, level: int) -> Floats:
    """As `Chain.means`, for the prefixes up to every end: ends, levels, blocks."""
    kept = []
    for count in chain.blocks[: level + 1]:
        width = chain.size // count
        filled = np.clip((ends[:, None] - width * np.arange(count)) / width, 0.0, 1.0)
        kept.append(np.repeat(filled, chain.blocks[level] // count, axis=1))
    return np.diff(np.stack(kept, axis=1), axis=1, prepend=0.0)


def _dominating(mechanism: AdditiveNoise) -> float:
    """The variance of continuous noise that is at least as spread as the integer noise plus a uniform deviate."""
    if isinstance(mechanism, Laplace):
        return 2 / (2 * math.tanh(0.5 / float(mechanism.scale))) ** 2
    return float(mechanism.sigma) ** 2 + 0.28  # type: ignore[attr-defined]


_GRID = np.concatenate([[0.0], np.geomspace(1e-4, 1.0, 80)])


def _quantiles(concentrations: Floats, miss: float) -> Floats:
    """The least k, in deviations, with P[|Y| > k] <= miss for every Y of at most this concentration."""
    return _table(miss)[np.searchsorted(_GRID, concentrations)]


@cache
def _table(miss: float) -> Floats:
    low, high = np.zeros(len(_GRID)), np.full(len(_GRID), 1 / math.sqrt(miss))
    for _ in range(40):
        middle = (low + high) / 2
        enough = _most_beyond(middle) <= miss
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    # The search over the lower value is on a grid; the rounding is far below this allowance.
    return np.maximum.accumulate(high) * 1.001


def _most_beyond(reach: Floats) -> Floats:
    """The most that P[|Y| > reach] can be for each concentration of the grid, over variances of two values."""
    from scipy.special import ndtr

    lower = np.linspace(0.0, 1.0, 400, endpoint=False)[None, :]
    spread = _GRID[:, None]
    upper = 1 + spread / (1 - lower)
    share = (1 - lower) ** 2 / ((1 - lower) ** 2 + spread)
    with np.errstate(divide="ignore"):
        tails = [2 * ndtr(-reach[:, None] / np.sqrt(each)) for each in (lower, upper)]
    return np.asarray(((1 - share) * tails[0] + share * tails[1]).max(axis=1))

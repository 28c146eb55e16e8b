"""Means and variances: ratios of noisy sums, with Fieller's intervals."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from math import sqrt

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from ziggurat.data import Kind
from ziggurat.errors import QuestionError
from ziggurat.queries._answer import Estimate
from ziggurat.queries._question import Aggregate, Measure
from ziggurat.queries._value import Value
from ziggurat.queries.answering._additive import (
    Estimator,
    Foreseen,
    Need,
    NoisyTotals,
    count_need,
    grid_for,
    minus,
    unmoved_where,
    where,
)
from ziggurat.queries.answering._grid import quantize_range, quantize_unmoved, quantize_value
from ziggurat.queries.answering._ratios import (
    NoiseLaw,
    fewest,
    mean_interval,
    mean_reach,
    variance_interval,
    variance_reach,
)

Floats = npt.NDArray[np.float64]
Sums = tuple[Floats, Floats, Floats]

SQUARE_BITS = 15
_WIDEST = 2**500


class MeanEstimator(Estimator):
    """AVG of a bounded number: the sum of deviations from the middle of the bounds, over the count.

    Deviations reach half as far as the bounds are apart, so their sum needs the least noise.
    """

    def __init__(self, aggregate: Aggregate, value: Value, bits: int, learned: bool = False) -> None:
        super().__init__(aggregate)
        self.grid = grid_for(value, bits, learned, spread=True)
        self.value, self.fixed = value, 1 << bits if learned else None
        self.middle = sum(quantize_range(value, self.grid)) // 2
        self.ends = quantize_range(value, self.grid, self.middle)

    @cached_property
    def needs(self) -> tuple[Need, ...]:
        """Half of the budget for the total, half for the count of the values that are there."""
        largest = max(self.ends[1], -self.ends[0], 1)
        count = count_need(self.aggregate, Fraction(1, 2))
        deviation = where(quantize_value(self.value, self.grid, self.middle), self.aggregate.where)
        unmoved = unmoved_where(quantize_unmoved(self.value, self.grid, self.middle), self.aggregate.where)
        return Need("sum", deviation, self.fixed or largest, Fraction(1, 2), count.input, unmoved=unmoved), count

    def estimates(self, measured: Mapping[tuple[str, str], NoisyTotals], confidence: Fraction) -> list[Estimate]:
        """The ratio, kept within the bounds, with Fieller's interval."""
        total, count = (measured[need.identity] for need in self.needs)
        sums, counts = total.values, count.values
        ends = (float(self.ends[0]), float(self.ends[1]))
        miss = float(1 - confidence)
        lows, highs = mean_interval(sums, counts, total.spread, count.spread, ends, miss)
        means = np.where(counts >= 1, np.clip(sums / np.maximum(counts, 1.0), *ends), 0.0)
        scaled = [(each + self.middle) * float(self.grid) for each in (means, lows, highs)]
        return [Estimate(float(mean), float(low), float(high)) for mean, low, high in zip(*scaled, strict=True)]

    def half_width(self, foreseen: Foreseen) -> float:
        """That of `mean_reach`."""
        total, count = (foreseen.spread(need) for need in self.needs)
        ends = _fewest_steps(self.ends, self.fixed)
        reach = mean_reach(foreseen.values, total, count, ends, float(1 - foreseen.confidence), foreseen.spare)
        return self._quote(reach)

    @property
    def widest(self) -> float:
        """How far off it can be: as far as the bounds are apart."""
        ends = _fewest_steps(self.ends, self.fixed)
        return self._quote(ends[1] - ends[0])

    def _quote(self, reach: float) -> float:
        """Steps in units, or as a share of the learned range; laying values on the grid moves them by half a step."""
        ends = _fewest_steps(self.ends, self.fixed)
        unit = float(self.grid) if self.fixed is None else 1 / (ends[1] - ends[0])
        return (reach + _rounding(self.value, self.grid)) * unit


class VarianceEstimator(Estimator):
    """VARIANCE and STDDEV of a bounded number, from count, sum and sum of squares of deviations from the middle."""

    def __init__(self, aggregate: Aggregate, value: Value, learned: bool = False) -> None:
        super().__init__(aggregate)
        self.grid = grid_for(value, SQUARE_BITS, learned, spread=True)
        self.value, self.fixed = value, 1 << SQUARE_BITS if learned else None
        self.middle = sum(quantize_range(value, self.grid)) // 2
        self.ends = quantize_range(value, self.grid, self.middle)
        self.reach = self.fixed or max(self.ends[1], -self.ends[0], 1)
        self.sample = int(aggregate.parameter or 0)
        if (self.ends[1] - self.ends[0]) * self.grid > _WIDEST:
            raise QuestionError(f"No number holds {aggregate.name!r} between such bounds; CLAMP it to narrower ones.")

    @cached_property
    def needs(self) -> tuple[Need, ...]:
        """A third each; squares are measured as deviations from the middle of their range, too."""
        cell = quantize_value(self.value, self.grid, self.middle)
        square = minus(exp.Mul(this=exp.paren(cell), expression=exp.paren(cell.copy())), self._square_middle)
        third = Fraction(1, 3)
        limit = max(self.reach**2 - self._square_middle, 1)
        count = count_need(self.aggregate, third)
        return (
            Need("sum", where(square, self.aggregate.where), limit, third, count.input),
            Need("sum", where(cell, self.aggregate.where), self.reach, third, count.input),
            count,
        )

    @property
    def _square_middle(self) -> int:
        return self.reach**2 // 2

    def estimates(self, measured: Mapping[tuple[str, str], NoisyTotals], confidence: Fraction) -> list[Estimate]:
        """The variance of the noisy sums, kept between 0 and what the bounds allow, with Fieller's interval."""
        square, total, count = (measured[need.identity] for need in self.needs)
        sums = (square.values, total.values, count.values)
        return self._estimates(sums, (square.spread, total.spread, count.spread), confidence)

    def _estimates(
        self, sums: Sums, spreads: tuple[NoiseLaw, NoiseLaw, NoiseLaw], confidence: Fraction
    ) -> list[Estimate]:
        # A = S + n M is measured through S, whose noise is independent of that of n: Fieller's combination is then
        # S~ - 2 m B~ + (M + m^2 - v) n~, which `variance_interval` is given as squares less M per row.
        square, total, count = sums
        ends = (float(self.ends[0]), float(self.ends[1]))
        lows, highs = variance_interval(sums, spreads, ends, float(1 - confidence), self._square_middle)
        counts = np.maximum(count, 1.0)
        most = (self.ends[1] - self.ends[0]) ** 2 / 4
        best = np.clip(square / counts + self._square_middle - (total / counts) ** 2, 0.0, most)
        surely = np.maximum(count - spreads[2].reach(float(1 - confidence) / 20), 2.0)
        return self._in_units(best * _sample(counts, self.sample), lows, highs * _sample(surely, self.sample))

    def half_width(self, foreseen: Foreseen) -> float:
        """That of `variance_reach`; for a deviation its root, which it is where the values are all the same.

        Of a sample the interval is stretched by up to f = n/(n - 1) at the least likely n, and so are value and truth:
        the error is at most f times that of the population, and (f - 1) times the largest variance.
        """
        square, total, count = (foreseen.spread(need) for need in self.needs)
        ends, miss = _fewest_steps(self.ends, self.fixed), float(1 - foreseen.confidence)
        spreads = (square, total, count)
        reach = variance_reach(foreseen.values, spreads, ends, miss, foreseen.spare, self._square_middle)
        surely = fewest(foreseen.values, count, foreseen.spare) - count.reach(miss / 20)
        factor = float(_sample(np.maximum(surely, 2.0), self.sample))
        most = (ends[1] - ends[0]) ** 2 / 4
        return self._quote(min(factor * reach + (factor - 1) * most, most * (1 + self.sample)))

    def evenly(self, foreseen: Foreseen) -> float:
        """Half the width of the interval where values are spread evenly between the bounds, without noise in the sums.

        Far less than at worst, above all for a deviation; the count is the least likely, as there.
        """
        spreads = tuple(foreseen.spread(need) for need in self.needs)
        count = max(fewest(foreseen.values, spreads[2], foreseen.spare), 1.0)
        mean, variance = sum(self.ends) / 2, (self.ends[1] - self.ends[0]) ** 2 / 12
        sums = [count * (variance + mean**2 - self._square_middle), count * mean, count]
        square, total, counts = (np.array([each]) for each in sums)
        (found,) = self._estimates((square, total, counts), (spreads[0], spreads[1], spreads[2]), foreseen.confidence)
        return float(found.high - found.low) / 2  # type: ignore[operator,arg-type]

    @property
    def widest(self) -> float:
        """How far off it can be: by the largest variance that the bounds allow, or its root."""
        ends = _fewest_steps(self.ends, self.fixed)
        return self._quote((ends[1] - ends[0]) ** 2 / 4 * (1 + self.sample))

    def _quote(self, reach: float) -> float:
        """A reach in squared steps, in units or as a share of what is learned.

        Laying values on the grid moves them by half a step r, a deviation d by as much, and a variance by 2 d r + r^2;
        that of a sample is at most twice as much.
        """
        ends = _fewest_steps(self.ends, self.fixed)
        unit = float(self.grid) if self.fixed is None else 1 / (ends[1] - ends[0])
        moved = _rounding(self.value, self.grid)
        if self.aggregate.measure is Measure.DEVIATION:
            return (sqrt(reach) + moved * (1 + self.sample)) * unit
        return (reach + ((ends[1] - ends[0]) * moved + moved**2) * (1 + self.sample)) * unit**2

    def _in_units(self, *parts: Floats) -> list[Estimate]:
        step = float(self.grid)
        root = self.aggregate.measure is Measure.DEVIATION
        scaled = [np.sqrt(part) * step if root else part * step**2 for part in parts]
        return [Estimate(float(value), float(low), float(high)) for value, low, high in zip(*scaled, strict=True)]


def _fewest_steps(ends: tuple[int, int], fixed: int | None) -> tuple[float, float]:
    """The ends of the range in steps; of learned bounds, which reach over half of the steps laid out or more, half.

    The noise is the same however many steps they reach, and so is largest beside the fewest.
    """
    return (float(ends[0]), float(ends[1])) if fixed is None else (-fixed / 2, fixed / 2)


def _rounding(value: Value, grid: Fraction) -> float:
    """By how many steps a value is moved when it is laid on the grid."""
    return 0.0 if value.kind is Kind.INTEGER and grid == 1 else 0.5


def _sample(counts: Floats, subtracted: int) -> Floats:
    """What turns the variance of the values at hand into that of a sample: n/(n - 1)."""
    counts = np.maximum(counts, 1.0 + subtracted)
    return np.asarray(counts / (counts - subtracted))

"""Aggregates that are computed from sums: counts, sums, means, variances.

Everything measured is a sum of whole numbers, one per row, of which a row moves one group by at most `largest`. Reals
lie on a grid; the sums the engine returns are exact, so that sensitivities are those of the mathematics.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, floor

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from ziggurat.data import Kind
from ziggurat.mechanisms import AdditiveNoise, Gaussian
from ziggurat.queries._answer import Estimate
from ziggurat.queries._grid import quantised_range, quantised_value
from ziggurat.queries._question import Aggregate, Measure
from ziggurat.queries._ratios import Spread, mean_interval, variance_interval
from ziggurat.queries._value import Value

Integers = npt.NDArray[np.int64]

SUM_BITS, SQUARE_BITS, _FINE_BITS = 30, 15, 10


@dataclass(frozen=True)
class Need:
    """Something to measure for every group: `combine` over the rows of `input`, a whole number of at most `largest`.

    `combine` is "rows" (count all), "count" (count where `input` is not NULL), "units", "distinct" or "sum". A sum is
    NULL exactly where `of` is, so that counting the one counts the other. `fineness` is how many steps of the noise
    make 1, where rows may count in part.
    """

    combine: str
    input: exp.Expr | None
    largest: int
    weight: Fraction
    of: exp.Expr | None = None
    fineness: int = 1

    @property
    def once(self) -> bool:
        """Whether a unit counts once in a group, however many rows it has there."""
        return self.combine == "units"

    def weighed(self) -> Need:
        """The same where rows count in part: in steps so fine that rounding them means little."""
        if self.combine in ("rows", "units"):
            return self
        return replace(self, fineness=2 ** max(min(_FINE_BITS, SUM_BITS - self.largest.bit_length()), 0))

    @cached_property
    def identity(self) -> tuple[str, str]:
        """Needs with the same identity are measured once, with the budgets of all."""
        return self.combine, "" if self.input is None else self.input.sql()


@dataclass(frozen=True)
class Measured:
    """Noisy whole numbers, one for each group, and the noise in them."""

    noisy: Integers
    noise: AdditiveNoise
    fineness: int = 1

    @property
    def values(self) -> npt.NDArray[np.float64]:
        """The noisy numbers, in units of 1."""
        return np.asarray(self.noisy / self.fineness)

    @property
    def spread(self) -> Spread:
        """The law of the noise, for intervals."""
        return Spread(width_of(self.noise) / self.fineness, isinstance(self.noise, Gaussian))

    def interval(self, confidence: Fraction) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Lows and highs for every group."""
        low, high = self.noise.interval(self.noisy, confidence)
        return low / self.fineness, high / self.fineness


class Estimator(ABC):
    """How one aggregate is had from what is measured."""

    def __init__(self, aggregate: Aggregate) -> None:
        self.aggregate = aggregate

    @abstractmethod
    def needs(self) -> tuple[Need, ...]:
        """What has to be measured."""

    @abstractmethod
    def estimates(self, measured: Mapping[tuple[str, str], Measured], confidence: Fraction) -> list[Estimate]:
        """Values and intervals for every group."""


class Counted(Estimator):
    """COUNT in its kinds: one whole number with its noise."""

    def needs(self) -> tuple[Need, ...]:
        """One count."""
        return (count_need(self.aggregate),)

    def estimates(self, measured: Mapping[tuple[str, str], Measured], confidence: Fraction) -> list[Estimate]:
        """The noisy count; the interval is cut at 0, below which no count lies, or at the noisy one below that."""
        found = measured[self.needs()[0].identity]
        lows, highs = found.interval(confidence)
        return [
            Estimate(round(value), max(floor(low), 0), max(ceil(high), 0))
            for value, low, high in zip(found.values, lows, highs, strict=True)
        ]


class Summed(Estimator):
    """SUM of a bounded number."""

    def __init__(self, aggregate: Aggregate, value: Value, bits: int, learned: bool = False) -> None:
        super().__init__(aggregate)
        self.grid = grid_for(value, bits, learned)
        self.value, self.fixed = value, 2**bits if learned else None

    def needs(self) -> tuple[Need, ...]:
        """One total; a row moves it by at most the larger bound."""
        largest = max(map(abs, quantised_range(self.value, self.grid)))
        cell = where(quantised_value(self.value, self.grid), self.aggregate.where)
        of = where(self.value.sql, self.aggregate.where)
        return (Need("sum", cell, self.fixed or max(largest, 1), Fraction(1), of),)

    def estimates(self, measured: Mapping[tuple[str, str], Measured], confidence: Fraction) -> list[Estimate]:
        """The noisy total in the units of the column."""
        found = measured[self.needs()[0].identity]
        lows, highs = found.interval(confidence)
        step = float(self.grid)
        whole = self.value.kind is Kind.INTEGER
        return [
            Estimate(round(n * step), floor(low * step), ceil(high * step)) if whole
            else Estimate(float(n * step), float(low * step), float(high * step))
            for n, low, high in zip(found.values, lows, highs, strict=True)
        ]  # fmt: skip


class Averaged(Estimator):
    """AVG of a bounded number: the sum of deviations from the middle of the bounds, over the count.

    Deviations reach half as far as the bounds are apart, so their sum needs the least noise.
    """

    def __init__(self, aggregate: Aggregate, value: Value, bits: int, learned: bool = False) -> None:
        super().__init__(aggregate)
        self.grid = grid_for(value, bits, learned, spread=True)
        self.value, self.fixed = value, 2**bits if learned else None
        self.middle = sum(quantised_range(value, self.grid)) // 2
        self.ends = quantised_range(value, self.grid, self.middle)

    def needs(self) -> tuple[Need, ...]:
        """Half of the budget for the total, half for the count of the values that are there."""
        largest = max(self.ends[1], -self.ends[0], 1)
        count = count_need(self.aggregate, Fraction(1, 2))
        deviation = where(quantised_value(self.value, self.grid, self.middle), self.aggregate.where)
        return Need("sum", deviation, self.fixed or largest, Fraction(1, 2), count.input), count

    def estimates(self, measured: Mapping[tuple[str, str], Measured], confidence: Fraction) -> list[Estimate]:
        """The ratio, kept within the bounds, with Fieller's interval."""
        total, count = (measured[need.identity] for need in self.needs())
        sums, counts = total.values, count.values
        ends = (float(self.ends[0]), float(self.ends[1]))
        miss = float(1 - confidence)
        lows, highs = mean_interval(sums, counts, total.spread, count.spread, ends, miss)
        means = np.where(counts >= 1, np.clip(sums / np.maximum(counts, 1.0), *ends), 0.0)
        scaled = [(each + self.middle) * float(self.grid) for each in (means, lows, highs)]
        return [Estimate(float(mean), float(low), float(high)) for mean, low, high in zip(*scaled, strict=True)]


class Varied(Estimator):
    """VARIANCE and STDDEV of a bounded number, from count, sum and sum of squares of deviations from the middle."""

    def __init__(self, aggregate: Aggregate, value: Value, learned: bool = False) -> None:
        super().__init__(aggregate)
        self.grid = grid_for(value, SQUARE_BITS, learned, spread=True)
        self.value = value
        self.middle = sum(quantised_range(value, self.grid)) // 2
        self.ends = quantised_range(value, self.grid, self.middle)
        self.reach = 2**SQUARE_BITS if learned else max(self.ends[1], -self.ends[0], 1)
        self.sample = int(aggregate.parameter or 0)

    def needs(self) -> tuple[Need, ...]:
        """A third each; squares are measured as deviations from the middle of their range, too."""
        cell = quantised_value(self.value, self.grid, self.middle)
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

    def estimates(self, measured: Mapping[tuple[str, str], Measured], confidence: Fraction) -> list[Estimate]:
        """The variance of the noisy sums, kept between 0 and what the bounds allow, with Fieller's interval."""
        found = [measured[need.identity] for need in self.needs()]
        square, total, count = (each.values for each in found)
        # A = S + n M is measured through S, whose noise is independent of that of n: Fieller's combination is then
        # S~ - 2 m B~ + (M + m^2 - v) n~, which `variance_interval` is given as squares less M per row.
        ends = (float(self.ends[0]), float(self.ends[1]))
        spreads = (found[0].spread, found[1].spread, found[2].spread)
        sums = (square, total, count)
        lows, highs = variance_interval(sums, spreads, ends, float(1 - confidence), self._square_middle)
        counts = np.maximum(count, 1.0)
        most = (self.ends[1] - self.ends[0]) ** 2 / 4
        best = np.clip(square / counts + self._square_middle - (total / counts) ** 2, 0.0, most)
        fewest = np.maximum(count - found[2].spread.reach(float(1 - confidence) / 20), 2.0)
        return self._in_units(best * _sample(counts, self.sample), lows, highs * _sample(fewest, self.sample))

    def _in_units(self, *parts: npt.NDArray[np.float64]) -> list[Estimate]:
        step = float(self.grid)
        root = self.aggregate.measure is Measure.DEVIATION
        scaled = [np.sqrt(part) * step if root else part * step**2 for part in parts]
        return [Estimate(float(value), float(low), float(high)) for value, low, high in zip(*scaled, strict=True)]


def _sample(counts: npt.NDArray[np.float64], subtracted: int) -> npt.NDArray[np.float64]:
    """What turns the variance of the values at hand into that of a sample: n/(n - 1)."""
    counts = np.maximum(counts, 1.0 + subtracted)
    return np.asarray(counts / (counts - subtracted))


def width_of(noise: AdditiveNoise) -> float:
    """The scale of Laplace noise, the standard deviation of Gaussian noise, in steps."""
    return float(noise.sigma if isinstance(noise, Gaussian) else noise.event.scale)  # type: ignore[attr-defined]


def count_need(aggregate: Aggregate, weight: Fraction = Fraction(1)) -> Need:
    """What to count for an aggregate: rows, units, distinct values, or the values that are there."""
    if aggregate.measure is Measure.COUNT_UNITS:
        cell = None if aggregate.where is None else where(exp.Literal.number(1), aggregate.where)
        return Need("units", cell, 1, weight)
    if aggregate.value is None:
        if aggregate.where is None:
            return Need("rows", None, 1, weight)
        return Need("count", where(exp.Literal.number(1), aggregate.where), 1, weight)
    kind = "distinct" if aggregate.measure is Measure.COUNT_DISTINCT else "count"
    return Need(kind, where(aggregate.value.sql, aggregate.where), 1, weight)


def grid_for(value: Value, bits: int, learned: bool = False, spread: bool = False) -> Fraction:
    """The finest power of two on which a bounded number spans at most 2**bits steps; 1 for small whole numbers.

    With `spread` the distance from the middle of the bounds has to fit, otherwise that from 0. Learned bounds are
    unknown when the cost is stated, so whatever they are, they are laid on the same number of steps.
    """
    lower, upper = Fraction(value.lower), Fraction(value.upper)  # type: ignore[arg-type]
    reach = (upper - lower) / 2 if spread else max(abs(lower), abs(upper))
    # The index itself is computed in doubles, which are exact up to 2**51 steps.
    reach = max(reach, max(abs(lower), abs(upper)) / 2**20)
    if value.kind is Kind.INTEGER and reach <= 2**bits and not learned:
        return Fraction(1)
    return power_of_two_above(reach / 2**bits) if reach else Fraction(1)


def power_of_two_above(wanted: Fraction) -> Fraction:
    """The least power of two that is not below a positive rational."""
    exponent = wanted.numerator.bit_length() - wanted.denominator.bit_length() - 1
    step = Fraction(2) ** exponent
    while step < wanted:
        step *= 2
    return step


def where(cell: exp.Expr, condition: exp.Expr | None) -> exp.Expr:
    """The cell where the condition holds, and NULL elsewhere."""
    if condition is None:
        return cell
    return exp.Case(ifs=[exp.If(this=condition.copy(), true=cell)], default=exp.Null())


def minus(cell: exp.Expr, middle: int) -> exp.Expr:
    """The cell less a whole number."""
    return cell if middle == 0 else exp.Sub(this=exp.paren(cell), expression=exp.Literal.number(middle))

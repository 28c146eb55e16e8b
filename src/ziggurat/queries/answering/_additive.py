"""Aggregates that are computed from sums: counts and sums; means and variances are in `_averages`.

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
from ziggurat.queries._question import Aggregate, Measure
from ziggurat.queries._value import Value
from ziggurat.queries.answering._grid import (
    UnmovedCell,
    leave_unmoved,
    quantize_range,
    quantize_unmoved,
    quantize_value,
)
from ziggurat.queries.answering._ratios import NoiseLaw

Integers = npt.NDArray[np.int64]

SUM_BITS, _FINE_BITS = 30, 10


@dataclass(frozen=True)
class Need:
    """Something to measure for every group: `combine` over the rows of `input`, a whole number of at most `largest`.

    `combine` is "rows" (count all), "count" (count where `input` is not NULL), "units", "distinct" or "sum". A sum is
    NULL exactly where `of` is, so that counting the one counts the other. `fineness` is how many steps of the noise
    make 1, where rows may count in part. `unmoved` may be read instead of `input` where no cell has to be moved.
    """

    combine: str
    input: exp.Expr | None
    largest: int
    weight: Fraction
    of: exp.Expr | None = None
    fineness: int = 1
    unmoved: UnmovedCell | None = None

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
class NoisyTotals:
    """Noisy whole numbers, one for each group, and the noise in them."""

    noisy: Integers
    noise: AdditiveNoise
    fineness: int = 1

    @property
    def values(self) -> npt.NDArray[np.float64]:
        """The noisy numbers, in units of 1."""
        return np.asarray(self.noisy / self.fineness)

    @property
    def spread(self) -> NoiseLaw:
        """The law of the noise, for intervals."""
        return NoiseLaw(width_of(self.noise) / self.fineness, isinstance(self.noise, Gaussian))

    def interval(self, confidence: Fraction) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Lows and highs for every group."""
        low, high = self.noise.interval(self.noisy, confidence)
        return low / self.fineness, high / self.fineness


@dataclass(frozen=True)
class Foreseen:
    """What is known of a measurement before it is made: its noise, and how likely that may be further out.

    `values` is how many values the smallest group has that a quote is for; `spare` is the probability left for a
    noisy count to be lower than expected, where `confidence` is that of the interval.
    """

    noises: Mapping[tuple[str, str], tuple[Need, AdditiveNoise]]
    values: int
    confidence: Fraction
    spare: float

    def spread(self, need: Need) -> NoiseLaw:
        """The law of the noise of a need, in units of 1."""
        measured, noise = self.noises[need.identity]
        return NoisyTotals(np.zeros(0, np.int64), noise, measured.fineness).spread

    def half_width(self, need: Need, whole: bool) -> float:
        """Half the width of the interval of one noisy number; rounded outwards to whole numbers if it has parts."""
        measured, noise = self.noises[need.identity]
        half = float(noise.half_width(self.confidence)) / measured.fineness
        return half + 1 if whole and measured.fineness > 1 else half


class Estimator(ABC):
    """How one aggregate is had from what is measured."""

    def __init__(self, aggregate: Aggregate) -> None:
        self.aggregate = aggregate

    @property
    @abstractmethod
    def needs(self) -> tuple[Need, ...]:
        """What has to be measured."""

    @abstractmethod
    def estimates(self, measured: Mapping[tuple[str, str], NoisyTotals], confidence: Fraction) -> list[Estimate]:
        """Values and intervals for every group."""

    @abstractmethod
    def half_width(self, foreseen: Foreseen) -> float:
        """How far off it is at worst, whatever the values: what noise makes of the answer and of its interval.

        In the units of the answer; where bounds are learned, as a share of the range (of its square for a variance,
        in larger bounds for a sum) that will be learned.
        """


class CountEstimator(Estimator):
    """COUNT in its kinds: one whole number with its noise."""

    @cached_property
    def needs(self) -> tuple[Need, ...]:
        """One count."""
        return (count_need(self.aggregate),)

    def estimates(self, measured: Mapping[tuple[str, str], NoisyTotals], confidence: Fraction) -> list[Estimate]:
        """The noisy count; the interval is cut at 0, below which no count lies, or at the noisy one below that."""
        found = measured[self.needs[0].identity]
        lows, highs = found.interval(confidence)
        return [
            Estimate(round(value), max(floor(low), 0), max(ceil(high), 0))
            for value, low, high in zip(found.values, lows, highs, strict=True)
        ]

    def half_width(self, foreseen: Foreseen) -> float:
        """That of the noise."""
        return foreseen.half_width(self.needs[0], whole=True)


class SumEstimator(Estimator):
    """SUM of a bounded number."""

    def __init__(self, aggregate: Aggregate, value: Value, bits: int, learned: bool = False) -> None:
        super().__init__(aggregate)
        self.grid = grid_for(value, bits, learned)
        self.value, self.fixed = value, 1 << bits if learned else None

    @cached_property
    def needs(self) -> tuple[Need, ...]:
        """One total; a row moves it by at most the larger bound."""
        largest = max(map(abs, quantize_range(self.value, self.grid)))
        cell = where(quantize_value(self.value, self.grid), self.aggregate.where)
        of = where(self.value.presence, self.aggregate.where)
        unmoved = unmoved_where(quantize_unmoved(self.value, self.grid), self.aggregate.where)
        return (Need("sum", cell, self.fixed or max(largest, 1), Fraction(1), of, unmoved=unmoved),)

    def estimates(self, measured: Mapping[tuple[str, str], NoisyTotals], confidence: Fraction) -> list[Estimate]:
        """The noisy total in the units of the column."""
        found = measured[self.needs[0].identity]
        lows, highs = found.interval(confidence)
        step = float(self.grid)
        whole = self.value.kind is Kind.INTEGER
        return [
            Estimate(round(n * step), floor(low * step), ceil(high * step)) if whole
            else Estimate(float(n * step), float(low * step), float(high * step))
            for n, low, high in zip(found.values, lows, highs, strict=True)
        ]  # fmt: skip

    def half_width(self, foreseen: Foreseen) -> float:
        """That of the noise; a learned bound is a power of two, and laid on exactly `fixed` steps."""
        if self.fixed is not None:
            return foreseen.half_width(self.needs[0], whole=False) / self.fixed
        step = float(self.grid)
        return foreseen.half_width(self.needs[0], whole=self.value.kind is Kind.INTEGER) * step


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
    if aggregate.measure is Measure.COUNT_DISTINCT:
        return Need("distinct", where(aggregate.value.sql, aggregate.where), 1, weight)
    unmoved = unmoved_where(leave_unmoved(aggregate.value), aggregate.where)
    return Need("count", where(aggregate.value.presence, aggregate.where), 1, weight, unmoved=unmoved)


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


def unmoved_where(unmoved: UnmovedCell | None, condition: exp.Expr | None) -> UnmovedCell | None:
    """The same, read only where the condition holds."""
    return unmoved if unmoved is None or condition is None else replace(unmoved, read=where(unmoved.read, condition))


def minus(cell: exp.Expr, middle: int) -> exp.Expr:
    """The cell less a whole number."""
    return cell if middle == 0 else exp.Sub(this=exp.paren(cell), expression=exp.Literal.number(middle))

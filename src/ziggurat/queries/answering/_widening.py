"""How an estimated effect stretches an interval: from the error of the noise to the total error.

With n values that count and at most r others (left out, or moved to a bound) the share f = r/(n + r) of the truth is
not seen. Whatever those others are within the bounds, a mean lies in (1 - f) [low, high] + f [lower, upper], and a
variance in [(1 - f) low, (1 - f) high + 2 f w^2], w the width of the bounds; cells outside them add what they may.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ziggurat.queries._answer import Estimate
from ziggurat.queries._question import Aggregate, Measure
from ziggurat.queries.answering.watching import Clipped, LeftOut, Reach, Watch


def widen(estimate: Estimate, aggregate: Aggregate, watch: Watch, reach: Reach, count: float | None) -> Estimate:
    """The estimate of one aggregate of a single group, its interval stretched by what a watch found.

    `count` is the noisy number of values that a mean or a variance is over.
    """
    if isinstance(watch, LeftOut):
        return _rows_missing(estimate, aggregate, reach.rows, count)
    if isinstance(watch, Clipped) and aggregate.value is not None and aggregate.value.column == watch.value.column:
        return _cells_moved(estimate, aggregate, reach, count)
    return estimate


def _rows_missing(estimate: Estimate, aggregate: Aggregate, rows: float, count: float | None) -> Estimate:
    """A count may be higher by the rows left out, a sum by as many times the bounds."""
    if aggregate.measure is Measure.COUNT:
        return _stretch(estimate, 0.0, rows)
    if aggregate.value is None or not aggregate.value.bounded or not aggregate.value.is_number:
        return estimate
    lower, upper = float(aggregate.value.lower), float(aggregate.value.upper)  # type: ignore[arg-type]
    if aggregate.measure is Measure.SUM:
        return _stretch(estimate, max(-lower, 0.0) * rows, max(upper, 0.0) * rows)
    share = _share(rows, count)
    if aggregate.measure is Measure.MEAN:
        return _mix(estimate, share, lower, upper)
    if aggregate.measure in (Measure.VARIANCE, Measure.DEVIATION):
        return _spread(estimate, aggregate, share, 2 * share * (upper - lower) ** 2)
    return estimate


def _cells_moved(estimate: Estimate, aggregate: Aggregate, reach: Reach, count: float | None) -> Estimate:
    """The sum of the cells as they are lies further out by what was cut off, and the mean by its share of that."""
    if aggregate.measure is Measure.SUM:
        return _stretch(estimate, reach.below, reach.above)
    if count is None or count < 1:
        return estimate
    if aggregate.measure is Measure.MEAN:
        return _stretch(estimate, reach.below / count, reach.above / count)
    if aggregate.measure in (Measure.VARIANCE, Measure.DEVIATION) and aggregate.value is not None:
        width = float(aggregate.value.upper) - float(aggregate.value.lower)  # type: ignore[arg-type]
        return _spread(estimate, aggregate, 0.0, min(reach.rows / count, 1.0) * (width + reach.furthest) ** 2)
    return estimate


def _share(rows: float, count: float | None) -> float:
    return 0.0 if rows == 0 else rows / (max(count or 0.0, 0.0) + rows)


def _mix(estimate: Estimate, share: float, lower: float, upper: float) -> Estimate:
    low: Any = estimate.low
    high: Any = estimate.high
    return replace(estimate, low=(1 - share) * low + share * lower, high=(1 - share) * high + share * upper)


def _spread(estimate: Estimate, aggregate: Aggregate, share: float, more: float) -> Estimate:
    """Stretch a variance, or a deviation by way of its square."""
    low: Any = estimate.low
    high: Any = estimate.high
    if aggregate.measure is Measure.VARIANCE:
        return replace(estimate, low=(1 - share) * low, high=(1 - share) * high + more)
    return replace(estimate, low=((1 - share) * low**2) ** 0.5, high=((1 - share) * high**2 + more) ** 0.5)


def _stretch(estimate: Estimate, down: float, up: float) -> Estimate:
    low: Any = estimate.low
    high: Any = estimate.high
    if isinstance(low, int):
        return replace(estimate, low=low - round(down), high=high + round(up))
    return replace(estimate, low=low - down, high=high + up)

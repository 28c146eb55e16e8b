"""How an estimated effect stretches an interval: from the error of the noise to the total error."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ziggurat.queries._answer import Estimate
from ziggurat.queries._effects import Clipped, LeftOut, Watch
from ziggurat.queries._question import Aggregate, Measure


def widened(
    estimate: Estimate, aggregate: Aggregate, watch: Watch, by: tuple[float, float], count: float | None
) -> Estimate:
    """The estimate of one aggregate of a single group, its interval stretched by what a watch found.

    `count` is the noisy number of values that a mean is over.
    """
    if isinstance(watch, LeftOut):
        return _rows_missing(estimate, aggregate, by[1])
    if isinstance(watch, Clipped) and aggregate.value is not None and aggregate.value.column == watch.value.column:
        return _cells_moved(estimate, aggregate, by, count)
    return estimate


def _rows_missing(estimate: Estimate, aggregate: Aggregate, rows: float) -> Estimate:
    """A count may be higher by the rows left out; a sum by as many times the bounds."""
    if aggregate.measure is Measure.COUNT:
        return _stretched(estimate, 0.0, rows)
    if aggregate.measure is Measure.SUM and aggregate.value is not None and aggregate.value.bounded:
        lower, upper = float(aggregate.value.lower), float(aggregate.value.upper)  # type: ignore[arg-type]
        return _stretched(estimate, max(-lower, 0.0) * rows, max(upper, 0.0) * rows)
    return estimate


def _cells_moved(estimate: Estimate, aggregate: Aggregate, by: tuple[float, float], count: float | None) -> Estimate:
    """The sum of the cells as they are lies further out by what was cut off, and the mean by its share of that."""
    if aggregate.measure is Measure.SUM:
        return _stretched(estimate, *by)
    if aggregate.measure is Measure.MEAN and count is not None and count >= 1:
        return _stretched(estimate, by[0] / count, by[1] / count)
    return estimate


def _stretched(estimate: Estimate, down: float, up: float) -> Estimate:
    low: Any = estimate.low
    high: Any = estimate.high
    if isinstance(low, int):
        return replace(estimate, low=low - round(down), high=high + round(up))
    return replace(estimate, low=low - down, high=high + up)

"""Errors that are not noise, estimated privately and paid for: rows left out, cells moved to their bounds, groups
that are not shown.

Every watch is a histogram in which one unit is counted once (or `total` rows of it), with its own Laplace noise. What
it says is an estimate, labelled as such. A bucket counts if noise alone would hardly fill it: the k-th with probability
2**-k percent, so that all of them together stay empty in 98 of 100 tables without such errors. What counts, counts
with its upper end, in number and in size, because an interval should reach as far as the error may.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import log
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from ziggurat.mechanisms import Laplace
from ziggurat.privacy import Neighbours
from ziggurat.queries._answer import Effect, in_figures
from ziggurat.queries._question import Question
from ziggurat.queries.answering._contribution import Contribution
from ziggurat.queries.answering._counted import UNIT, group_rows, key_names, rows_of

Integers = npt.NDArray[np.int64]
BUCKET, COUNT = "bucket", "units"
"""What the columns of an answer to a watch are called."""

_DOUBLINGS = 20


class Watch(ABC):
    """One histogram of what noise does not explain."""

    title: str
    size: int

    def __init__(self, question: Question, shared: Contribution, neighbours: Neighbours) -> None:
        self.question, self.shared, self.neighbours = question, shared, neighbours

    @property
    def sensitivity(self) -> int:
        """How much one unit moves the histogram in l1."""
        return 1

    def noise(self, epsilon: Fraction) -> Laplace:
        """The noise on the histogram."""
        reach = self.sensitivity
        return Laplace(reach, reach / epsilon, values="integers", coordinates=reach, neighbours=self.neighbours)

    def half_width(self, noise: Laplace) -> float:
        """How far off the estimate is told to be, in units: that of every bucket together."""
        return float(noise.half_width("0.95", answers=self.size))

    @abstractmethod
    def query(self) -> exp.Select:
        """SELECT bucket and count."""

    def read(self, rows: Iterable[dict[str, Any]]) -> Integers:
        """The histogram, from the answer to `query`."""
        found = {row[BUCKET]: row[COUNT] for row in rows}
        return np.array([found.get(place, 0) for place in range(self.size)], dtype=np.int64)

    @abstractmethod
    def effect(self, noisy: Integers, noise: Laplace, shown: int) -> Effect:
        """What the noisy histogram says; `shown` is the noisy number of units in the groups that are named."""

    def reach(self, noisy: Integers, noise: Laplace) -> Reach:
        """How far the whole truth may lie beyond what was counted."""
        del noisy, noise
        return Reach()


@dataclass(frozen=True)
class Reach:
    """How much may be missing from an answer: `rows` that did not count or were moved, totals `below` and `above`.

    `furthest` is how far a single moved cell may lie outside its bounds.
    """

    rows: float = 0.0
    below: float = 0.0
    above: float = 0.0
    furthest: float = 0.0


def surely(noisy: Integers, noise: Laplace, orders: Integers) -> Integers:
    """The counts of the buckets that noise alone would hardly fill; the others as 0. Far buckets need more."""
    scale = float(noise.scale)
    return np.where(noisy > scale * (log(50) + orders * log(2)), noisy, 0)


def at_most(sure: Integers, noise: Laplace) -> npt.NDArray[np.float64]:
    """The upper ends of the counts that are not 0."""
    return np.where(sure > 0, sure + 3 * float(noise.scale), 0.0)


def tell(some: int, half: float, known: str, unknown: str) -> tuple[float, float, float, str]:
    """The number, its interval and the sentence of an effect."""
    limit = in_figures(int(some + half))
    told = f"Estimate: about {in_figures(some)} {known}" if some else f"Estimate: at most about {limit} {unknown}"
    return float(some), max(some - half, 0.0), some + half, told


class LeftOut(Watch):
    """How many rows of units with too many rows or groups do not count: units by the rows they lose, in doublings."""

    title = "rows left out"
    size = _DOUBLINGS + 1

    def query(self) -> exp.Select:
        """Of every unit: its rows, and how many of them count (in expectation, if it is in too many groups)."""
        keys = key_names(self.question)
        rows = exp.Count(this=exp.Star()).as_("held")
        per_group = group_rows(rows_of(self.question, {}), [UNIT, *keys], [rows])
        least = exp.Least(this=exp.column("held"), expressions=[exp.Literal.number(self.shared.rows)])
        total, kept = exp.Sum(this=exp.column("held")), exp.Sum(this=least)
        groups = exp.Count(this=exp.Star())
        part = exp.Least(
            this=exp.cast(exp.Literal.number(1), "DOUBLE"),
            expressions=[
                exp.Div(
                    this=exp.cast(exp.Literal.number(self.shared.groups), "DOUBLE"),
                    expression=exp.cast(groups, "DOUBLE"),
                )
            ],
        )
        counted = exp.Floor(this=exp.Mul(this=exp.cast(kept, "DOUBLE"), expression=part))
        lost = exp.cast(exp.Sub(this=exp.cast(total, "DOUBLE"), expression=counted), "BIGINT").as_("lost")
        per_unit = group_rows(per_group, [UNIT], [lost])
        bucket = _doubling(exp.column("lost", quoted=True)).as_(BUCKET, quoted=True)
        buckets = exp.select(bucket).from_(per_unit.subquery("lost_rows", copy=False))
        return group_rows(buckets, [BUCKET], [exp.Count(this=exp.Star()).as_(COUNT)])

    def effect(self, noisy: Integers, noise: Laplace, shown: int) -> Effect:  # noqa: ARG002
        """How many units lose rows, and about how many rows."""
        sure = self._sure(noisy, noise)
        rows, unit = in_figures(int((sure * self._middles).sum())), self.question.relation.unit.name
        told = tell(
            int(sure.sum()),
            self.half_width(noise),
            f"units ({unit}) had more rows or groups than count, and about {rows} rows were left out.",
            f"units ({unit}) had more rows or groups than count; the noise hides whether any did.",
        )
        return Effect("rows-left-out", unit, *told)

    def reach(self, noisy: Integers, noise: Laplace) -> Reach:
        """As many rows as the units that lose some may lose."""
        tops = np.array([0.0, *(2.0**power - 1 for power in range(1, _DOUBLINGS + 1))])
        return Reach(rows=float((at_most(self._sure(noisy, noise), noise) * tops).sum()))

    def _sure(self, noisy: Integers, noise: Laplace) -> Integers:
        sure = surely(noisy, noise, np.arange(self.size))
        sure[0] = 0
        return sure

    @property
    def _middles(self) -> npt.NDArray[np.float64]:
        return np.array([0.0, 1.0, *(1.5 * 2**power for power in range(1, _DOUBLINGS))])


class NotShown(Watch):
    """How many units there are in all, of which those in named groups are known: each is in one group only."""

    title = "units in groups that are not shown"
    size = 1

    def query(self) -> exp.Select:
        """Count every unit that the question is about, in a named group or not; each once, however many rows it has."""
        bucket = exp.Literal.number(0).as_(BUCKET, quoted=True)
        rows = rows_of(self.question, {}, keys=False)
        counted: exp.Expr = exp.Count(this=exp.Star())
        if self.question.relation.unit_column is not None:
            counted = exp.Count(this=exp.Distinct(expressions=[exp.column(UNIT, quoted=True)]))
        return exp.select(bucket, counted.as_(COUNT)).from_(rows.subquery("counted", copy=False))

    def effect(self, noisy: Integers, noise: Laplace, shown: int) -> Effect:
        """The difference between all and those shown."""
        hidden, half = max(int(noisy[0]) - shown, 0), self.half_width(noise)
        total = max(int(noisy[0]), 1)
        sentence = (
            f"Estimate: about {in_figures(hidden)} of {in_figures(total)} units ({100 * hidden / total:.1f}%) "
            "are in groups too small to be shown."
        )
        return Effect("groups-not-shown", "groups", float(hidden), max(hidden - half, 0.0), hidden + half, sentence)


def _doubling(cell: exp.Expr) -> exp.Expr:
    """0 for 0, and k for whole numbers from 2**(k-1) below 2**k; the last bucket is open."""
    cases = [
        exp.If(this=exp.LT(this=cell.copy(), expression=exp.Literal.number(2**power)), true=exp.Literal.number(power))
        for power in range(_DOUBLINGS)
    ]
    return exp.Case(ifs=cases, default=exp.Literal.number(_DOUBLINGS))

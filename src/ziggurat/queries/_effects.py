"""Errors that are not noise, estimated privately and paid for: rows left out, cells moved to their bounds, groups
that are not shown.

Every watch is a histogram in which one unit is counted once (or `total` rows of it), with its own Laplace noise. What
it says is an estimate, labelled as such; buckets that may well be empty count as empty.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from ziggurat.data import Kind
from ziggurat.data._expressions import constant
from ziggurat.mechanisms import Laplace
from ziggurat.privacy import Neighbours
from ziggurat.queries._answer import Effect, in_figures
from ziggurat.queries._budget import has_private_keys
from ziggurat.queries._contribution import Contribution
from ziggurat.queries._counted import UNIT, grouped, key_names, rows_of
from ziggurat.queries._grid import guarded
from ziggurat.queries._question import Measure, Question
from ziggurat.queries._terms import Terms
from ziggurat.queries._value import Value

Integers = npt.NDArray[np.int64]
BUCKET, COUNT, _CELL = "bucket", "units", "cell"

_DOUBLINGS = 20
_OVERSHOOTS = 8


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

    @abstractmethod
    def query(self) -> exp.Select:
        """SELECT bucket and count."""

    @abstractmethod
    def effect(self, noisy: Integers, noise: Laplace, shown: int) -> Effect:
        """What the noisy histogram says; `shown` is the noisy number of units in the groups that are named."""

    def widening(self, noisy: Integers, noise: Laplace) -> tuple[float, float]:
        """How far a total may lie below and above what was counted, in rows or in the units of the column."""
        del noisy, noise
        return 0.0, 0.0


def surely(noisy: Integers, noise: Laplace) -> Integers:
    """The counts of the buckets that are surely not empty; the others as 0."""
    return np.where(noisy > float(noise.half_width("0.95", answers=noisy.size)), noisy, 0)


class LeftOut(Watch):
    """How many rows of units with too many rows or groups do not count: units by the rows they lose, in doublings."""

    title = "rows left out"
    size = _DOUBLINGS + 1

    def query(self) -> exp.Select:
        """Of every unit: its rows, and how many of them count (in expectation, if it is in too many groups)."""
        keys = key_names(self.question)
        rows = exp.Count(this=exp.Star()).as_("held")
        per_group = grouped(rows_of(self.question, {}), [UNIT, *keys], [rows])
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
        per_unit = grouped(per_group, [UNIT], [lost])
        bucket = _doubling(exp.column("lost", quoted=True)).as_(BUCKET, quoted=True)
        buckets = exp.select(bucket).from_(per_unit.subquery("lost_rows", copy=False))
        return grouped(buckets, [BUCKET], [exp.Count(this=exp.Star()).as_(COUNT)])

    def effect(self, noisy: Integers, noise: Laplace, shown: int) -> Effect:  # noqa: ARG002
        """How many units lose rows, and about how many rows."""
        some, rows = int(surely(noisy[1:], noise).sum()), self._rows(noisy, noise)
        half = float(noise.half_width("0.95", answers=self.size))
        unit = self.question.relation.unit.name
        sentence = (
            f"Estimate: about {in_figures(some)} units ({unit}) had more rows or groups than count, and about "
            f"{in_figures(int(rows))} rows were left out."
            if some
            else f"Estimate: too few units ({unit}) had more rows or groups than count to be told from none."
        )
        return Effect("rows-left-out", unit, float(some), max(some - half, 0.0), some + half, sentence)

    def widening(self, noisy: Integers, noise: Laplace) -> tuple[float, float]:
        """A count may be higher by the rows left out."""
        return 0.0, self._rows(noisy, noise)

    def _rows(self, noisy: Integers, noise: Laplace) -> float:
        middles = np.array([0.0, *(1.5 * 2**power for power in range(_DOUBLINGS))])
        middles[1] = 1.0
        return float((surely(noisy, noise) * middles).sum())


class Clipped(Watch):
    """How many cells of a column lie outside its bounds, and by how much: in doublings of the width of the bounds."""

    size = 2 * _OVERSHOOTS

    def __init__(self, question: Question, shared: Contribution, neighbours: Neighbours, value: Value) -> None:
        super().__init__(question, shared, neighbours)
        self.value = value
        self.title = f"cells of {value.column} outside the bounds"

    @property
    def sensitivity(self) -> int:
        """A unit with a column is counted once, by its furthest cell; a row as often as it occurs."""
        return 1 if self.question.relation.unit_column is not None else self.shared.total

    @property
    def _width(self) -> float:
        return max(float(self.value.upper) - float(self.value.lower), 1e-300)  # type: ignore[arg-type]

    def query(self) -> exp.Select:
        """Rows (or units, by their largest bucket) outside the bounds, by bucket.

        The rows are found by the bare cell, which engines do from their statistics; a missing one that passes is in
        no bucket.
        """
        present = self.value.raw
        assert present is not None
        _, bare = guarded(present)
        ends = [constant(end, self.value.kind) for end in (self.value.lower, self.value.upper)]  # type: ignore[arg-type]
        outside = exp.or_(exp.LT(this=bare, expression=ends[0]), exp.GT(this=bare, expression=ends[1]), copy=False)
        found = rows_of(self.question, {_CELL: exp.cast(present, "DOUBLE")}, keys=False).where(exp.paren(outside))
        unit = [exp.column(UNIT, quoted=True)] if self.question.relation.unit_column is not None else []
        rows = exp.select(*unit, self._bucket().as_(BUCKET, quoted=True)).from_(found.subquery("outside", copy=False))
        if unit:
            largest = exp.Max(this=exp.column(BUCKET, quoted=True)).as_(BUCKET, quoted=True)
            rows = grouped(rows, [UNIT], [largest])
        return grouped(rows, [BUCKET], [exp.Count(this=exp.Star()).as_(COUNT)])

    def _bucket(self) -> exp.Expr:
        lower, upper = float(self.value.lower), float(self.value.upper)  # type: ignore[arg-type]
        cases: list[exp.If] = []
        for step in reversed(range(_OVERSHOOTS)):
            beyond = self._width * (2**step - 1)
            cases.append(_case(exp.GT, upper + beyond, 2 * step + 1))
            cases.append(_case(exp.LT, lower - beyond, 2 * step))
        return exp.Case(ifs=cases, default=exp.Null())

    def effect(self, noisy: Integers, noise: Laplace, shown: int) -> Effect:  # noqa: ARG002
        """How many lie outside."""
        some = int(surely(noisy, noise).sum())
        half = float(noise.half_width("0.95", answers=self.size))
        whom = "rows" if self.question.relation.unit_column is None else "units"
        sentence = (
            f"Estimate: about {in_figures(some)} {whom} have a value of {self.value.column} outside its bounds; "
            "they count as the bound."
            if some
            else f"Estimate: too few {whom} have {self.value.column} outside its bounds to be told from none."
        )
        return Effect("clipping", self.value.column or "", float(some), max(some - half, 0.0), some + half, sentence)

    def widening(self, noisy: Integers, noise: Laplace) -> tuple[float, float]:
        """By how much the true total may lie below and above: bucket by bucket, the count times its middle."""
        sure = surely(noisy, noise).astype(np.float64)
        middles = self._width * np.array([1.5 * 2**step - 1 for step in range(_OVERSHOOTS)])
        return float((sure[0::2] * middles).sum()), float((sure[1::2] * middles).sum())


class NotShown(Watch):
    """How many units there are in all, of which those in named groups are known."""

    title = "units in groups that are not shown"
    size = 1

    @property
    def sensitivity(self) -> int:
        """A unit is counted once, or as often as it has rows."""
        return self.shared.total

    def query(self) -> exp.Select:
        """Count every row that the question is about, in a named group or not."""
        bucket = exp.Literal.number(0).as_(BUCKET, quoted=True)
        rows = rows_of(self.question, {}, keys=False)
        return exp.select(bucket, exp.Count(this=exp.Star()).as_(COUNT)).from_(rows.subquery("counted", copy=False))

    def effect(self, noisy: Integers, noise: Laplace, shown: int) -> Effect:
        """The difference between all and those shown."""
        hidden, half = max(int(noisy[0]) - shown, 0), float(noise.half_width("0.95"))
        total = max(int(noisy[0]), 1)
        sentence = (
            f"Estimate: about {in_figures(hidden)} of {in_figures(total)} rows ({100 * hidden / total:.1f}%) "
            "are in groups too small to be shown."
        )
        return Effect("groups-not-shown", "groups", float(hidden), max(hidden - half, 0.0), hidden + half, sentence)


def watches_of(question: Question, terms: Terms, shared: Contribution, neighbours: Neighbours) -> tuple[Watch, ...]:
    """What has to be watched, so that the answer tells of more than noise; nothing if the terms set aside nothing."""
    if terms.effects == 0:
        return ()
    watches: list[Watch] = []
    if shared.bounding:
        watches.append(LeftOut(question, shared, neighbours))
    watches += [Clipped(question, shared, neighbours, value) for value in _clippable(question)]
    if has_private_keys(question) and shared.total == 1:
        watches.append(NotShown(question, shared, neighbours))
    return tuple(watches)


def _clippable(question: Question) -> list[Value]:
    """The columns, each once, whose cells are moved into public bounds before they are added up."""
    found: dict[str, Value] = {}
    for each in question.aggregates:
        value = each.value
        summed = each.measure in (Measure.SUM, Measure.MEAN, Measure.VARIANCE, Measure.DEVIATION)
        if summed and value is not None and value.column is not None and value.raw is not None and value.bounded:
            found[value.column] = value
    return list(found.values())


def _doubling(cell: exp.Expr) -> exp.Expr:
    """0 for 0, and k for whole numbers from 2**(k-1) below 2**k; the last bucket is open."""
    cases = [
        exp.If(this=exp.LT(this=cell.copy(), expression=exp.Literal.number(2**power)), true=exp.Literal.number(power))
        for power in range(_DOUBLINGS)
    ]
    return exp.Case(ifs=cases, default=exp.Literal.number(_DOUBLINGS))


def _case(operator: type[exp.Binary], limit: float, bucket: int) -> exp.If:
    far = operator(this=exp.column(_CELL, quoted=True), expression=constant(limit, Kind.REAL))
    return exp.If(this=far, true=exp.Literal.number(bucket))

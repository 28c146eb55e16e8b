"""Cells that are moved to their bounds, of all columns in one query; and what has to be watched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sqlglot import exp

from ziggurat.data import Kind
from ziggurat.data.expressions import constant
from ziggurat.mechanisms import Laplace
from ziggurat.privacy import Neighbours
from ziggurat.queries._answer import Effect
from ziggurat.queries._question import Measure, Question
from ziggurat.queries._terms import Terms
from ziggurat.queries._value import Value
from ziggurat.queries.answering._budget import has_private_keys
from ziggurat.queries.answering._contribution import Contribution
from ziggurat.queries.answering._counted import UNIT, group_rows, rows_of
from ziggurat.queries.answering._grid import split_guard
from ziggurat.queries.answering.watching._effects import (
    COUNT,
    Integers,
    LeftOut,
    NotShown,
    Reach,
    Watch,
    at_most,
    surely,
    tell,
)

_OVERSHOOTS = 8


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
        """Count what lies outside these bounds alone."""
        return count_outside([self])

    def read(self, rows: Iterable[dict[str, Any]]) -> Integers:
        """The histogram, from the answer to `query`."""
        return read_outside([self], rows)[0]

    @property
    def is_outside(self) -> exp.Expr:
        """The condition that a cell lies outside, about the bare one, which engines do from their statistics."""
        present = self.value.raw
        assert present is not None
        _, bare = split_guard(present)
        ends = [constant(end, self.value.kind) for end in (self.value.lower, self.value.upper)]  # type: ignore[arg-type]
        return exp.or_(exp.LT(this=bare, expression=ends[0]), exp.GT(this=bare, expression=ends[1]), copy=False)

    def bucket(self, cell: exp.Column) -> exp.Expr:
        """In which bucket a cell is: NULL if it lies inside, or is missing."""
        lower, upper = float(self.value.lower), float(self.value.upper)  # type: ignore[arg-type]
        cases: list[exp.If] = []
        for step in reversed(range(_OVERSHOOTS)):
            beyond = self._width * (2**step - 1)
            cases.append(_case(cell, exp.GT, upper + beyond, 2 * step + 1))
            cases.append(_case(cell, exp.LT, lower - beyond, 2 * step))
        return exp.Case(ifs=cases, default=exp.Null())

    def effect(self, noisy: Integers, noise: Laplace, shown: int) -> Effect:  # noqa: ARG002
        """How many lie outside."""
        whom = "rows" if self.question.relation.unit_column is None else "units"
        name = self.value.column or ""
        told = tell(
            int(self._sure(noisy, noise).sum()),
            self.half_width(noise),
            f"{whom} have a value of {name} outside its bounds; they count as the bound.",
            f"{whom} have a value of {name} outside its bounds; the noise hides whether any do.",
        )
        return Effect("clipping", name, *told)

    def reach(self, noisy: Integers, noise: Laplace) -> Reach:
        """By how much the true total may lie below and above: bucket by bucket, the count times the far end."""
        most = at_most(self._sure(noisy, noise), noise)
        ends = self._width * np.array([2.0 ** (step + 1) - 1 for step in range(_OVERSHOOTS)])
        far = float(np.repeat(ends, 2)[most > 0].max()) if most.any() else 0.0
        return Reach(float(most.sum()), float((most[0::2] * ends).sum()), float((most[1::2] * ends).sum()), far)

    def _sure(self, noisy: Integers, noise: Laplace) -> Integers:
        return surely(noisy, noise, np.arange(self.size) // 2 + 1)


def count_outside(watches: Sequence[Clipped]) -> exp.Select:
    """SELECT for every watch and bucket how many rows (or units, by their largest bucket) lie in it, in one pass.

    The buckets of a watch stand in a column of its own, `bucket_0` for the first; in the others there is NULL.
    """
    first = watches[0]
    cells = [exp.column(f"cell_{place}", quoted=True) for place in range(len(watches))]
    buckets = [exp.column(f"bucket_{place}", quoted=True) for place in range(len(watches))]
    present = {cell.name: exp.cast(each.value.raw, "DOUBLE") for cell, each in zip(cells, watches, strict=True)}  # type: ignore[arg-type]
    found = rows_of(first.question, present, keys=False)
    found = found.where(exp.paren(is_any_outside(watches), copy=False), copy=False)
    unit = [exp.column(UNIT, quoted=True)] if first.question.relation.unit_column is not None else []
    named = [
        each.bucket(cell).as_(bucket.name, quoted=True, copy=False)
        for each, cell, bucket in zip(watches, cells, buckets, strict=True)
    ]
    rows = exp.select(*unit, *named, copy=False).from_(found.subquery("outside", copy=False), copy=False)
    if unit:
        largest = [exp.Max(this=bucket).as_(bucket.name, quoted=True) for bucket in buckets]
        rows = group_rows(rows, [UNIT], largest)
    counted = exp.select(*buckets, exp.Count(this=exp.Star()).as_(COUNT), copy=False)
    counted = counted.from_(rows.subquery("counted", copy=False), copy=False)
    apart = exp.GroupingSets(expressions=[exp.Tuple(expressions=[bucket]) for bucket in buckets])
    counted.set("group", exp.Group(grouping_sets=[apart]))
    return counted


def is_any_outside(watches: Sequence[Clipped]) -> exp.Expr:
    """The condition that a row has a cell outside the bounds of its column."""
    return exp.or_(*(each.is_outside for each in watches), copy=False)


def read_outside(watches: Sequence[Clipped], rows: Iterable[dict[str, Any]]) -> list[Integers]:
    """The histogram of every watch, from the answer to `count_outside`."""
    counts = [np.zeros(each.size, dtype=np.int64) for each in watches]
    for row in rows:
        for place, histogram in enumerate(counts):
            bucket = row[f"bucket_{place}"]
            if bucket is not None:
                histogram[bucket] = row[COUNT]
    return counts


def watches_of(question: Question, terms: Terms, shared: Contribution, neighbours: Neighbours) -> tuple[Watch, ...]:
    """What has to be watched, so that the answer tells of more than noise; nothing if the terms set aside nothing."""
    if terms.effects == 0:
        return ()
    watches: list[Watch] = []
    if shared.bounding:
        watches.append(LeftOut(question, shared, neighbours))
    watches += [Clipped(question, shared, neighbours, value) for value in _find_clippable(question)]
    if has_private_keys(question) and shared.groups == 1 and (shared.total == 1 or shared.bounding):
        watches.append(NotShown(question, shared, neighbours))
    return tuple(watches)


def _find_clippable(question: Question) -> list[Value]:
    """The columns, each once, whose cells are moved into public bounds before they are added up."""
    found: dict[str, Value] = {}
    for each in question.aggregates:
        value = each.value
        summed = each.measure in (Measure.SUM, Measure.MEAN, Measure.VARIANCE, Measure.DEVIATION)
        if summed and value is not None and value.column is not None and value.raw is not None and value.bounded:
            found[value.column] = value
    return list(found.values())


def _case(cell: exp.Column, operator: type[exp.Binary], limit: float, bucket: int) -> exp.If:
    return exp.If(this=operator(this=cell, expression=constant(limit, Kind.REAL)), true=exp.Literal.number(bucket))

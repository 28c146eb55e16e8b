"""Aggregates of a person's rows as relational expressions.

Sums of floats depend on the order of the rows, and so on how an engine shares them out: somebody else's rows would move
the last bits of a person's sum. Reals are therefore laid on a decimal grid, fine enough to hold 15 digits of the public
bounds, and added up as integers.
"""

import math
from dataclasses import dataclass

from sqlglot import exp

from ziggurat.data.engines import WIDE
from ziggurat.data.expressions import (
    cast_to,
    clamp,
    constant,
    count_where,
    is_present,
    only_where,
    reference,
    sql_type,
)
from ziggurat.data.people._aggregates import PersonAggregate, read_value
from ziggurat.data.people._windows import flag, named
from ziggurat.data.schema import BoundValue, Column, Kind

_FINEST, _WIDEST = 2**51, 2**62  # of one index, which a double holds with a half; of a capped sum, which 64 bits hold


@dataclass(frozen=True)
class Computed:
    """A new column: what it is, how it is computed, and from which column.

    `rank` names the column of the query that numbers the rows from which a picked cell is taken.
    """

    asked: PersonAggregate
    made: Column
    origin: Column | None
    most: int | None
    rank: str

    def compute(self) -> exp.Expr:
        """Return the aggregate of a person's rows, in the type of the new column."""
        value = self._capped_count() if self.made.kind is Kind.INTEGER and self._counts() else self._value()
        return cast_to(value, sql_type(self.made.storage))

    def _counts(self) -> bool:
        return self.asked.what in ("count", "distinct")

    def _capped_count(self) -> exp.Expr:
        return within(self._count(), self.made)

    def _count(self) -> exp.Expr:
        if self.origin is None:
            return exp.Count(this=exp.Star())
        present = is_present(self.origin)
        if self.asked.what == "distinct":
            return exp.Count(this=exp.Distinct(expressions=[only_where(present, reference(self.origin))]))
        if self.asked.equals is None:
            return count_where(present)
        return count_where(exp.and_(present, _is_value(self.origin, self.asked), copy=False))

    def _value(self) -> exp.Expr:
        assert self.origin is not None
        if self.asked.what in ("latest", "first", "mode"):
            return pick(self.origin, self.rank, is_present(self.origin))
        if self.asked.what in ("any", "all"):
            return _truth(self.origin, self.asked.what)
        if self.asked.what in ("min", "max"):
            combine = exp.Min if self.asked.what == "min" else exp.Max
            return combine(this=clamp(self.origin))
        return self._sum() if self.asked.what == "sum" else self._mean()

    def _sum(self) -> exp.Expr:
        assert self.origin is not None
        if self.origin.kind is Kind.INTEGER:
            return within(exp.Sum(this=cast_to(clamp(self.origin), WIDE)), self.made)
        steps = steps_per_one(self.origin, self.most or 1)
        ends = [_index(end, steps) for end in _numbers(self.made)]
        total = _between(_total(self.origin, steps), *(cast_to(exp.Literal.string(str(end)), WIDE) for end in ends))
        return within(_unscale(cast_to(total, "BIGINT"), steps), self.made)

    def _mean(self) -> exp.Expr:
        assert self.origin is not None
        integer = self.origin.kind is Kind.INTEGER
        steps = 1.0 if integer else steps_per_one(self.origin, 1)
        total = exp.Sum(this=cast_to(clamp(self.origin), WIDE)) if integer else _total(self.origin, steps)
        count = cast_to(count_where(is_present(self.origin)), "DOUBLE")
        # NULL below, where there is no cell: PostgreSQL and Spark fail at a division by zero.
        below = exp.Nullif(this=count, expression=constant(0.0, Kind.REAL))
        return within(exp.Div(this=_unscale(total, steps), expression=below), self.made)


def pick(column: Column, rank: str, condition: exp.Expr | None = None) -> exp.Expr:
    """Return the cell of the one row of a person whose number is 1, and that meets a condition."""
    first = exp.EQ(this=named(rank), expression=exp.Literal.number(1))
    where = first if condition is None else exp.and_(first, condition, copy=False)
    if column.storage is not Kind.BOOLEAN:
        return exp.Max(this=only_where(where, reference(column)))
    # Not every engine has a largest truth value.
    cell = exp.Max(this=only_where(where, cast_to(reference(column), "INT")))
    return exp.EQ(this=cell, expression=exp.Literal.number(1))


def within(value: exp.Expr, column: Column) -> exp.Expr:
    """Return a value moved into the bounds of its column; NULL stays NULL."""
    return _between(value, *(constant(end, column.storage) for end in _ends(column)))


def steps_per_one(column: Column, most: int) -> float:
    """Return by what a real is multiplied before it is rounded and summed: a power of ten, by declared facts."""
    largest = max(map(abs, _numbers(column)))
    if not largest:
        return 1.0
    room = min(_FINEST / largest, _WIDEST / largest / most)
    return float(10.0 ** min(max(math.floor(math.log10(room)), -300), 300))


def _ends(column: Column) -> tuple[BoundValue, BoundValue]:
    bounds = column.public_bounds()
    return bounds.lower, bounds.upper


def _numbers(column: Column) -> list[float]:
    return [float(end) for end in _ends(column)]  # type: ignore[arg-type]


def _between(value: exp.Expr, lower: exp.Expr, upper: exp.Expr) -> exp.Expr:
    least = exp.Least(this=value, expressions=[upper], ignore_nulls=True)
    moved = exp.Greatest(this=least, expressions=[lower], ignore_nulls=True)
    return only_where(exp.Not(this=exp.Is(this=exp.Paren(this=value), expression=exp.Null())), moved)


def _index(value: float, steps: float) -> int:
    return math.floor(value * steps + 0.5)


def _total(column: Column, steps: float) -> exp.Expr:
    """The sum of the indices of clamped cells on the grid; NULL if there is none."""
    scaled = exp.Mul(this=cast_to(clamp(column), "DOUBLE"), expression=constant(steps, Kind.REAL))
    index = exp.Floor(this=exp.Add(this=scaled, expression=constant(0.5, Kind.REAL)))
    return exp.Sum(this=cast_to(cast_to(index, "BIGINT"), WIDE))


def _unscale(total: exp.Expr, steps: float) -> exp.Expr:
    return exp.Div(this=cast_to(total, "DOUBLE"), expression=constant(steps, Kind.REAL))


def _is_value(column: Column, asked: PersonAggregate) -> exp.Expr:
    value = read_value(asked, column)
    if isinstance(value, bool):
        return reference(column) if value else exp.Not(this=reference(column))
    return exp.EQ(this=reference(column), expression=constant(value, column.storage))


def _truth(column: Column, what: str) -> exp.Expr:
    """Whether any or all of the cells are true; NULL if all are missing."""
    combine = exp.Max if what == "any" else exp.Min
    cell = combine(this=only_where(is_present(column), flag(reference(column))))
    return exp.EQ(this=cell, expression=exp.Literal.number(1))

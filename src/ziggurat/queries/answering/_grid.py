"""Bounded values on a grid, so that they can be summed as integers: a sum that no order of rows can change."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from sqlglot import exp

from ziggurat.data import Bounds, Column, Kind
from ziggurat.data.engines import finite_cell
from ziggurat.data.expressions import cast_to, constant, is_filled, only_where, quantize_bounds
from ziggurat.errors import ParameterError
from ziggurat.queries._value import Value

_TINY = 1e-150


@dataclass(frozen=True)
class UnmovedCell:
    """What may be read of a column for as long as none of its cells lies outside its bounds: it need not be moved.

    `read` is what is then the same as the moved cell, or as its index; `value` has the bounds that it has to lie in.
    With a cell far outside, every engine may fail to `read` it if it `may_fail`.
    """

    read: exp.Expr
    value: Value
    may_fail: bool = False

    @property
    def cell(self) -> exp.Expr:
        """The bare cell."""
        return split_guard(self.value.presence)[1]


def leave_unmoved(value: Value) -> UnmovedCell | None:
    """Return the bare cell of a column, if it is NULL where it is missing, or else no number, which no bounds hold."""
    if value.raw is None or not value.bounded:
        return None
    guard, cell = split_guard(value.raw)
    if guard and finite_cell(guard[0]) is None:
        return None
    return UnmovedCell(cell, value)


def is_moved(value: Value) -> exp.Expr:
    """Return the condition that a column's cell is there and lies outside the bounds."""
    guard, cell = split_guard(value.presence)
    low, high = constant(value.lower, value.kind), constant(value.upper, value.kind)  # type: ignore[arg-type]
    beyond = exp.or_(exp.LT(this=cell, expression=low), exp.GT(this=cell, expression=high), copy=False)
    return exp.and_(beyond, *guard, copy=False)


def quantize_unmoved(value: Value, grid: Fraction, less: int = 0) -> UnmovedCell | None:
    """Return what `quantize_value` does, for cells within their bounds alone; None if others cannot be told apart."""
    unmoved = leave_unmoved(value)
    if unmoved is None:
        return None
    # Of a cell far outside no index is needed. Where an engine knows how, it gives NULL instead of failing.
    read = _index(unmoved.cell, value.kind, grid, less, exp.TryCast)
    return replace(unmoved, read=read, may_fail=less != 0 and _stays(value.kind, grid))


def quantize_value(value: Value, grid: Fraction, less: int = 0) -> exp.Expr:
    """Return the index of the grid point nearest to a value, less a whole number: floor(x / grid + (1/2 - less)).

    It is an integer, and NULL where the value is missing.

    Parameters
    ----------
    value
        A bounded number; integers on the grid of step 1 stay as they are.
    grid
        The step, a power of two, so that dividing by it is exact.
    less
        What is taken off every index, so that sums of deviations need no step of their own.
    """
    ends = quantize_range(value, grid, less)
    if value.raw is not None:
        return _of_cell(value, value.raw, grid, less, ends)
    # The range is proven. Held to it all the same, a flaw in that proof would cost accuracy and not privacy.
    index = _index(value.sql, value.kind, grid, less)
    low, high = (constant(end, Kind.INTEGER) for end in ends)
    held = exp.Greatest(
        this=exp.Least(this=index, expressions=[high], ignore_nulls=True), expressions=[low], ignore_nulls=True
    )
    return only_where(is_filled(value.sql), held)


def quantize_range(value: Value, grid: Fraction, less: int = 0) -> tuple[int, int]:
    """Return the smallest and the largest index that `quantize_value` can give, by the same arithmetic.

    Dividing, adding and rounding down are monotone in doubles, too, so the ends of the range give the ends of it.
    """
    if not value.is_number or value.lower is None or value.upper is None:
        raise ParameterError("Only a number with a lower and an upper bound has a grid.")
    named = Column(value.column or "value", value.kind, bounds=Bounds(value.lower, value.upper))
    lower, upper = quantize_bounds(named, grid)
    if less == 0 or _stays(value.kind, grid):
        return lower - less, upper - less
    ends = (math.floor(float(end) / float(grid) + (0.5 - less)) for end in (value.lower, value.upper))  # type: ignore[arg-type]
    low, high = ends
    return low, high


def _of_cell(value: Value, present: exp.Expr, grid: Fraction, less: int, ends: tuple[int, int]) -> exp.Expr:
    """The index of a column's cell, moved and laid on the grid in one step, with the usual case first: it is fast.

    Where nothing but NULL is missing, the usual case comes last: DuckDB then knows what lies between the ends, and adds
    it up faster.
    """
    guard, cell = split_guard(present)
    low, high = constant(value.lower, value.kind), constant(value.upper, value.kind)  # type: ignore[arg-type]
    index = _index(cell, value.kind, grid, less)
    outside = [
        (exp.LT(this=cell, expression=low), constant(ends[0], Kind.INTEGER)),
        (exp.GT(this=cell, expression=high), constant(ends[1], Kind.INTEGER)),
    ]
    if not guard:
        return exp.Case(ifs=[exp.If(this=test, true=end) for test, end in outside], default=index)
    cases = [(exp.Between(this=cell, low=low, high=high), index), *outside]
    tests = [exp.If(this=exp.and_(*guard, test, copy=False), true=end) for test, end in cases]
    return exp.Case(ifs=tests, default=exp.Null())


def split_guard(present: exp.Expr) -> tuple[list[exp.Expr], exp.Expr]:
    """Take a cell that is NULL where missing apart: the condition that it is not, if there is one, and the cell."""
    if not isinstance(present, exp.Case):
        return [], present
    (case,) = present.args["ifs"]
    return [case.this], case.args["true"]


def _index(cell: exp.Expr, kind: Kind, grid: Fraction, less: int, whole: type[exp.Cast] = exp.Cast) -> exp.Expr:
    if _stays(kind, grid):
        return cell if less == 0 else exp.Sub(this=exp.Paren(this=cell), expression=constant(less, Kind.INTEGER))
    real = cast_to(cell, "DOUBLE")
    if grid > 1 and kind is Kind.REAL:
        # PostgreSQL raises when a product underflows; so near to zero the index is the same.
        near = exp.LT(this=exp.Abs(this=real), expression=constant(_TINY, Kind.REAL))
        real = exp.Case(ifs=[exp.If(this=near, true=constant(0.0, Kind.REAL))], default=real)
    # The step is a power of two: multiplying by its inverse is dividing by it, exactly, and faster.
    scaled = exp.Mul(this=real, expression=constant(float(1 / grid), Kind.REAL))
    shifted = exp.Add(this=exp.Paren(this=scaled), expression=constant(0.5 - less, Kind.REAL))
    return whole(this=exp.Floor(this=shifted), to=exp.DataType.build("BIGINT"))


def _stays(kind: Kind, grid: Fraction) -> bool:
    """Whether a value is its own index."""
    return kind is Kind.INTEGER and grid == 1

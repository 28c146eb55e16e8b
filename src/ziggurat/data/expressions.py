"""Relational expressions that mean the same on every engine.

Sums of floats depend on the order of the rows, so their sensitivity is larger than the textbook says
(Casacuberta, Shoemate, Vadhan and Wagaman, CCS 2022). Values are therefore clamped to public bounds, laid on
a grid whose step is a power of two, and summed as integers, which is associative.
"""

import math
from collections.abc import Iterable
from datetime import date
from fractions import Fraction
from functools import cache

from sqlglot import exp

from ziggurat.data.engines import WIDE, exact_total, is_finite
from ziggurat.data.schema import BoundValue, Column, Kind
from ziggurat.errors import ParameterError, SchemaError

_SQL_TYPES = {
    Kind.INTEGER: "BIGINT",
    Kind.REAL: "DOUBLE",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.DATE: "DATE",
    Kind.TEXT: "TEXT",
}
_FINEST = 2**51  # up to here a double holds the index and the half that is added to it


def reference(column: Column) -> exp.Column:
    """Return the column as it stands in a query."""
    return exp.column(column.name, quoted=True)


def sql_type(storage: Kind) -> str:
    """Return the SQL type that holds a kind of value on every engine."""
    return _SQL_TYPES[storage]


@cache
def _data_type(name: str) -> exp.DataType:
    return exp.DataType.build(name)


def cast_to(value: exp.Expr, name: str) -> exp.Expr:
    """Return a value cast to a type; the trees are shared, because engines copy a query before they write it."""
    return exp.Cast(this=value, to=_data_type(name))


def is_filled(cell: exp.Expr) -> exp.Expr:
    """Return the condition that a cell is not NULL."""
    return exp.Not(this=exp.Is(this=cell, expression=exp.Null()))


def is_one_of(cell: exp.Expr, values: Iterable[exp.Expr]) -> exp.Expr:
    """Return the condition that a cell equals one of `values`."""
    return exp.In(this=cell, expressions=list(values))


def only_where(condition: exp.Expr, value: exp.Expr) -> exp.Expr:
    """Return a value where a condition holds, and NULL elsewhere."""
    return exp.Case(ifs=[exp.If(this=condition, true=value)], default=exp.Null())


def constant(value: str | BoundValue, storage: Kind) -> exp.Expr:
    """Return a constant of the type that holds `storage`; reals keep every bit."""
    if storage is Kind.TEXT:
        return exp.Literal.string(str(value))
    text = value.isoformat() if isinstance(value, date) else repr(value)
    return cast_to(exp.Literal.string(text), sql_type(storage))


def is_present(column: Column) -> exp.Expr:
    """Return the condition that a cell holds a value; it is true or false, never NULL.

    NULL, NaN, the infinities and the column's missing codes are not values.
    """
    cell = reference(column)
    conditions: list[exp.Expr] = [is_filled(cell)]
    if column.storage is Kind.REAL:
        conditions.append(is_finite(cast_to(cell, "DOUBLE")))
    codes = missing_codes(column, column.storage)
    if codes:
        conditions.append(exp.Not(this=is_one_of(cell, codes)))
    return exp.and_(*conditions, copy=False)


def null_if_missing(column: Column) -> exp.Expr:
    """Return the column under its own name, with NULL for what is missing."""
    value = exp.If(this=is_present(column), true=reference(column))
    return exp.Case(ifs=[value], default=exp.Null()).as_(column.name, quoted=True)


def missing_codes(column: Column, storage: Kind) -> list[exp.Expr]:
    """Return the missing codes of a column that a cell stored as `storage` can equal."""
    if storage is Kind.TEXT:
        return [constant(code, Kind.TEXT) for code in column.missing if isinstance(code, str)]
    numbers = [code for code in column.missing if not isinstance(code, str)]
    if storage is Kind.REAL:
        return [constant(float(code), Kind.REAL) for code in numbers]
    if storage is Kind.INTEGER:
        return [constant(int(code), Kind.INTEGER) for code in numbers if int(code) == code]
    return []


def clamp(column: Column) -> exp.Expr:
    """Return the cell moved into the column's public bounds; a missing cell is NULL.

    Raises NotPublicError if the bounds are absent or were learned from the data.
    """
    bounds = column.public_bounds()
    cell = reference(column)
    lower, upper = constant(bounds.lower, column.storage), constant(bounds.upper, column.storage)
    least = exp.Least(this=cell, expressions=[upper], ignore_nulls=True)
    moved = exp.Greatest(this=least, expressions=[lower], ignore_nulls=True)
    # GREATEST and LEAST skip NULL: without the condition a missing cell would become a bound.
    return only_where(is_present(column), moved)


def quantize(column: Column, grid: Fraction) -> exp.Expr:
    """Return the index of the grid point nearest to the clamped cell: floor(x / grid + 1/2), as an integer.

    Parameters
    ----------
    column
        An integer or real column with public bounds.
    grid
        The step, a power of two, so that dividing by it is exact.
    """
    quantize_bounds(column, grid)
    value = clamp(column)
    if column.kind is Kind.INTEGER and grid == 1:
        return value
    scaled = exp.Div(this=exp.cast(value, "DOUBLE"), expression=constant(float(grid), Kind.REAL))
    shifted = exp.Add(this=scaled, expression=constant(0.5, Kind.REAL))
    return exp.cast(exp.Floor(this=shifted), "BIGINT")


def quantize_bounds(column: Column, grid: Fraction) -> tuple[int, int]:
    """Return the smallest and the largest index that `quantize` can give, by the same arithmetic."""
    step = _power_of_two(grid)
    if column.kind not in (Kind.INTEGER, Kind.REAL):
        raise SchemaError(f"Column {column.name!r} is {column.kind}; only integer and real columns have a grid.")
    bounds = column.public_bounds()
    if isinstance(bounds.lower, int) and isinstance(bounds.upper, int) and grid == 1:
        return bounds.lower, bounds.upper
    lower, upper = float(bounds.lower), float(bounds.upper)  # type: ignore[arg-type]
    _check_exact(column, max(abs(lower), abs(upper)), grid)
    return math.floor(lower / step + 0.5), math.floor(upper / step + 0.5)


def exact_sum(value: exp.Expr, *, narrow: bool = False) -> exp.Expr:
    """Return the sum of an integer expression, exact to 38 digits; the sum of nothing is 0.

    It is faster where it is known that every value is `narrow`: that it fits into 64 bits.
    """
    total = exact_total(value) if narrow else exp.Sum(this=exp.cast(value, WIDE))
    return exp.cast(exp.Coalesce(this=total, expressions=[exp.Literal.number(0)]), WIDE)


def count_where(condition: exp.Expr) -> exp.Expr:
    """Return the number of rows for which `condition` is true."""
    return exp.Count(this=only_where(condition, exp.Literal.number(1)))


def ratio(numerator: exp.Expr, denominator: exp.Expr) -> exp.Expr:
    """Return the quotient as a real number; NULL if the denominator is zero, on every engine."""
    below = exp.cast(denominator, "DOUBLE")
    quotient = exp.Div(this=exp.cast(numerator, "DOUBLE"), expression=below)
    return exp.case().when(exp.NEQ(this=below.copy(), expression=constant(0.0, Kind.REAL)), quotient).else_(exp.null())


def _power_of_two(grid: Fraction) -> float:
    wanted = Fraction(grid)
    if wanted <= 0 or wanted.numerator & (wanted.numerator - 1) or wanted.denominator & (wanted.denominator - 1):
        raise ParameterError("The grid must be a power of two, such as Fraction(1, 1024).")
    if not Fraction(1, 2**1000) <= wanted <= 2**1000:
        raise ParameterError("The grid must lie between 2 ** -1000 and 2 ** 1000.")
    return float(wanted)


def _check_exact(column: Column, largest: float, grid: Fraction) -> None:
    if Fraction(largest) / grid > _FINEST:
        raise ParameterError(
            f"The grid is too fine for the bounds of column {column.name!r}; "
            "choose a step of at least the larger bound divided by 2 ** 51."
        )

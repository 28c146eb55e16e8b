"""Numbers that rows get among the rows of the same person.

Every one of them is a function of that person's rows alone: windows are partitioned by the person, and ties are broken
by what stands in the rows, never by where they stand in the table. A number over the whole table would let one person's
rows decide which of another's is kept.
"""

from collections.abc import Iterable, Sequence

from sqlglot import exp

from ziggurat.data.engines import in_byte_order
from ziggurat.data.expressions import reference
from ziggurat.data.schema import Column, Kind


def named(name: str) -> exp.Column:
    """Return a column of a query by its name."""
    return exp.column(name, quoted=True)


def flag(condition: exp.Expr) -> exp.Expr:
    """Return 1 where a condition holds, and 0 elsewhere."""
    return exp.Case(ifs=[exp.If(this=condition, true=exp.Literal.number(1))], default=exp.Literal.number(0))


def is_null(cell: exp.Expr) -> exp.Expr:
    """Return the condition that a cell is NULL."""
    return exp.Is(this=cell, expression=exp.Null())


def sort_key(column: Column) -> exp.Expr:
    """Return a cell such that every engine puts it in the same place."""
    return in_byte_order(reference(column)) if column.storage is Kind.TEXT else reference(column)


def ordered(keys: Iterable[exp.Expr], *, descending: bool = False) -> list[exp.Expr]:
    """Return keys of an order in which what is missing comes last."""
    return [exp.Ordered(this=key, desc=descending, nulls_first=False) for key in keys]


def place(person: str, order: Sequence[exp.Expr]) -> exp.Expr:
    """Return the place of a row among the rows of its person, from 1."""
    return exp.Window(this=exp.RowNumber(), partition_by=[named(person)], order=exp.Order(expressions=list(order)))


def count_alike(person: str, column: str) -> exp.Expr:
    """Return how many rows of the person have the same cell."""
    return exp.Window(this=exp.Count(this=exp.Star()), partition_by=[named(person), named(column)])


def row_order(by: Sequence[str], ties: Sequence[Column], *, descending: bool) -> list[exp.Expr]:
    """Return the order of a person's rows: by the named columns, ties by all others; what is missing last."""
    first: list[exp.Expr] = []
    for name in by:
        first += [*ordered([flag(is_null(named(name)))]), *ordered([named(name)], descending=descending)]
    return [*first, *ordered((sort_key(column) for column in ties), descending=descending)]

"""The rows of a table as they are put in order and put together: whose person is known, and with their moments."""

from collections.abc import Sequence
from datetime import date

from sqlglot import exp

from ziggurat.data._table import Table
from ziggurat.data.expressions import cast_to, constant, is_present, only_where, reference
from ziggurat.data.schema import Column, Kind
from ziggurat.errors import SchemaError

ORDER = "ziggurat_order_{}"
"""The names of what puts rows in order, by number."""


def person_column(table: Table) -> Column:
    """Return the column that tells people apart, or say how to name it."""
    if table.unit.column is None:
        raise SchemaError(
            "The schema says that every row is somebody else; name the column of people there, such as "
            "'unit: {person: patient_id}', or with unit='patient_id' (--person patient_id on the command line)."
        )
    return table.declared[table.unit.column]


def see_rows(table: Table, by: Sequence[str] = ()) -> exp.Select:
    """Return all declared columns of the rows whose person is known, and what they are put in order by.

    A moment is put in order with its time of day, which its date leaves behind.
    """
    every = table.declared.columns
    seen = set(table.schema.names)
    keys = [column.name for column in every if column.name not in seen] + list(by)
    cells = [_read_cell(column) if column.name in keys else reference(column) for column in every]
    named = [cell.as_(column.name, quoted=True) for cell, column in zip(cells, every, strict=True)]
    orders = [_order_value(table.declared[name]).as_(ORDER.format(at), quoted=True) for at, name in enumerate(by)]
    origin = table.relation([name for name in table.schema.names if name not in keys], keys)
    return exp.select(*named, *orders).from_(origin).where(is_present(person_column(table)))


def _read_cell(column: Column) -> exp.Expr:
    if column.kind is not Kind.DATE:
        return reference(column)
    return _if_on_calendar(column, cast_to(reference(column), "DATE"))


def _order_value(column: Column) -> exp.Expr:
    if column.kind is Kind.DATE:
        return _if_on_calendar(column, reference(column))
    return only_where(is_present(column), reference(column))


def _if_on_calendar(column: Column, value: exp.Expr) -> exp.Expr:
    """A moment or its date, if Python has the date: engines know others, which count as missing."""
    day = cast_to(reference(column), "DATE")
    first, last = constant(date.min, Kind.DATE), constant(date.max, Kind.DATE)
    return only_where(exp.Between(this=day, low=first, high=last), value)

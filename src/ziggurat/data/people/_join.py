"""Two private tables side by side, on the person."""

from dataclasses import dataclass, replace
from typing import Literal

import pyarrow as pa
from sqlglot import exp

from ziggurat.data._table import Table
from ziggurat.data.engines import DuckDBEngine
from ziggurat.data.expressions import is_present, reference
from ziggurat.data.people._people_table import PeopleTable
from ziggurat.data.people._seen import person_column, see_rows
from ziggurat.data.people._windows import ordered, sort_key
from ziggurat.data.schema import Column, Schema
from ziggurat.errors import DataError, ParameterError, SchemaError
from ziggurat.wording import nearest

How = Literal["left", "inner", "outer"]
_JOINS = {"left": "LEFT", "inner": "INNER", "outer": "FULL"}
_WHOSE = {
    "left": "everybody of the first table",
    "inner": "those who are in both tables",
    "outer": "everybody of either table",
}


def join_people(left: Table, right: Table, how: How = "left", *, name: str = "") -> PeopleTable:
    """Lay a table with one row for each person beside another one about the same people, in the engine of both.

    The unit is the person, and neighbours differ by one person with all their rows in both tables. Rows meet on the
    person alone, and the right table has one row for each: so every row of the result is a function of one person's
    rows, and adding or removing a person in both tables adds or removes that person's rows and changes no other. Where
    the left table has one row for each person too, that is at most one row: exactly one, unless `how` leaves the person
    out. Bounds and categories are carried over as they were declared or learned.

    Parameters
    ----------
    left
        With a person as unit; each may have several rows, which the result then has as well.
    right
        With a person as unit and one row for each; DataError if somebody has several. The column of people may have
        another name than on the left, and must be of the same kind.
    how
        Who is in the result: everybody of the "left" table, those who are in both ("inner"), or everybody ("outer").
    name
        What is appended to names of the right table that the left one has too; by default the name of its schema.
    """
    if how not in _JOINS:
        raise ParameterError(f"how must be 'left', 'inner' or 'outer'; {nearest(how, _JOINS)}")
    whose, other = person_column(left), person_column(right)
    if whose.storage is not other.storage:
        raise SchemaError(
            f"Column {whose.name!r} of the first table is {whose.storage} and column {other.name!r} of the second "
            f"{other.storage}; declare the same kind for both."
        )
    left.ready()
    right.ready()
    _require_one_row_each(right)
    joining = _Joining(left, _bring_together(left, right), how, name or right.declared.name or "right")
    return PeopleTable(left.engine, joining.query(), joining.schema(), joining.say(), joining.counting())


@dataclass(frozen=True)
class _Joining:
    """Two tables in one engine, and how they meet."""

    left: Table
    right: Table
    how: How
    name: str

    def query(self) -> exp.Select:
        """The rows of the result, in the order of people."""
        who, other = person_column(self.left), person_column(self.right)
        meets = exp.EQ(this=_of("mine", who), expression=_of("theirs", other))
        person = exp.Coalesce(this=_of("mine", who), expressions=[_of("theirs", other)])
        mine = [person if each is who else _of("mine", each) for each in self.left.declared.columns]
        cells = [cell.as_(each.name, quoted=True) for cell, each in zip(mine, self.left.declared.columns, strict=True)]
        cells += [_of("theirs", each).as_(new.name, quoted=True) for each, new in self._added()]
        theirs = see_rows(self.right).subquery("theirs")
        rows = exp.select(*cells).from_(see_rows(self.left).subquery("mine"))
        rows = rows.join(theirs, on=meets, join_type=_JOINS[self.how])
        others = [each for each in self.left.declared.columns if each is not who]
        order = ordered(sort_key(each) for each in (who, *others))
        return exp.select("*").from_(rows.subquery("rows")).order_by(*order)

    def schema(self) -> Schema:
        """What is known of both tables."""
        columns = [*self.left.declared.columns, *(new for _, new in self._added())]
        plain = tuple(replace(column, written=None) for column in columns)
        before, told = self.left.declared.description, f"Joined with {self.name} on the {self.left.unit.name}."
        text = f"{before.rstrip('.')}. {told}" if before else told
        return replace(self.left.declared, columns=plain, description=text, file=None)

    def say(self) -> tuple[str, ...]:
        """What is done, without a fact about the rows."""
        unit = self.left.unit
        renamed = [f"{old.name!r} is {new.name!r}" for old, new in self._added() if old.name != new.name]
        told = (f"Of the second table, {', '.join(renamed)}.",) if renamed else ()
        return (
            f"Rows of two tables with the same {unit.name} (column {unit.column!r}), for {_WHOSE[self.how]}.",
            *told,
            f"Rows without a {unit.name} belong to nobody and are left out.",
        )

    def counting(self) -> dict[str, exp.Expr]:
        """Queries of exact numbers, for the steward."""
        rows = exp.Count(this=exp.Star()).as_("n")
        people = exp.Count(this=exp.Distinct(expressions=[reference(person_column(self.left))])).as_("n")
        made = self.query().copy()
        made.set("order", None)
        return {
            "rows": exp.select(rows).from_(self.left.relation([person_column(self.left).name])),
            "rows_of_second": exp.select(rows).from_(self.right.relation([person_column(self.right).name])),
            "people": exp.select(people).from_(made.subquery("made")),
            "rows_of_nobody": self._nobody(),
        }

    def _nobody(self) -> exp.Expr:
        counts = [_count_nobody(each).subquery() for each in (self.left, self.right)]
        return exp.select(exp.Add(this=counts[0], expression=counts[1]).as_("n"))

    def _added(self) -> list[tuple[Column, Column]]:
        """The columns of the right table, and what they are called in the result."""
        taken = {name.lower() for name in self.left.declared.names}
        found = []
        for column in self.right.declared.columns:
            if column.name != self.right.unit.column:
                new = _find_name(column.name, self.name, taken)
                taken.add(new.lower())
                found.append((column, replace(column, name=new)))
        return found


def _of(side: str, column: Column) -> exp.Column:
    return exp.column(column.name, table=side, quoted=True)


def _find_name(name: str, table: str, taken: set[str]) -> str:
    if name.lower() not in taken:
        return name
    new, number = f"{name}_{table}", 1
    while new.lower() in taken:
        number += 1
        new = f"{name}_{table}_{number}"
    return new


def _count_nobody(table: Table) -> exp.Select:
    person = person_column(table)
    unknown = exp.Not(this=exp.Paren(this=is_present(person)))
    return exp.select(exp.Count(this=exp.Star())).from_(table.relation([person.name])).where(unknown)


def _require_one_row_each(table: Table) -> None:
    person = person_column(table)
    rows = exp.Count(this=exp.Star()).as_("rows")
    people = exp.Count(this=exp.Distinct(expressions=[reference(person)])).as_("people")
    answer = table.aggregate(rows, people, where=is_present(person)).to_pylist()[0]
    if answer["rows"] != answer["people"]:
        raise DataError(
            f"Some {table.unit.name}s have several rows in the second table; make one row of them with "
            "'ziggurat table reshape' (ziggurat.data.people.reshape_people), or name that table first."
        )


def _bring_together(left: Table, right: Table) -> Table:
    """The right table in the engine of the left: as it is, or copied between two DuckDB engines of this process."""
    if left.engine is right.engine:
        return right
    if not (isinstance(left.engine, DuckDBEngine) and isinstance(right.engine, DuckDBEngine)):
        raise DataError(
            "The two tables are in two engines; open both in one, such as read(file, engine=left.engine), or "
            "read(left.engine, table='labs') for two tables of a database."
        )
    copied = PeopleTable(right.engine, see_rows(right), _plain_schema(right), (), {})
    reader = pa.RecordBatchReader.from_batches(copied.arrow_schema, copied.batches())
    return Table(left.engine, left.engine.attach(reader), copied.schema)


def _plain_schema(table: Table) -> Schema:
    columns = tuple(replace(each, written=None) for each in table.declared.columns)
    return replace(table.declared, columns=columns, file=None)

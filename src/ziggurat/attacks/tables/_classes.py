"""Which columns of a table are looked at, and how often they agree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from sqlglot import exp

from ziggurat.data import Role, Table
from ziggurat.data.coded import CodedTable, code_rows
from ziggurat.data.coded import group_rows as counted
from ziggurat.data.engines import scramble
from ziggurat.data.expressions import reference
from ziggurat.errors import DataError, ParameterError

_VALUES = 10_000  # of a column: so many are enough to see what it says of another
_AT_ONCE = 2_000_000  # cells of a table that are read once instead of asked for one by one


def choose_columns(table: Table, names: Iterable[str] | str | None, what: str = "quasi-identifiers") -> tuple[str, ...]:
    """Return the named columns, or those with the role of a quasi-identifier."""
    if names is None:
        found = tuple(column.name for column in table.schema.with_role(Role.QUASI_IDENTIFIER))
        if not found:
            raise ParameterError("No column has the role quasi-identifier; name the quasi-identifiers.")
        return found
    wanted = (names,) if isinstance(names, str) else tuple(names)
    if not wanted:
        raise ParameterError(f"Name at least one column as {what}.")
    if len(set(wanted)) != len(wanted):
        raise ParameterError(f"A column is named twice among the {what}.")
    return tuple(table.schema[name].name for name in wanted)


def read_groups(table: Table, names: Iterable[str], where: exp.Expr | None = None) -> CodedTable:
    """Count the rows of each combination of cells; DataError if there are none."""
    return _check_rows(counted(table, tuple(names), where))


def read_rows(table: Table, names: Iterable[str]) -> CodedTable:
    """Read the cells of the named columns row by row."""
    wanted = tuple(names)
    return _check_rows(code_rows(table.raw.rows(wanted)))


class ColumnCounts:
    """How often any columns of a table agree: a small table is read once, a large one is asked each time.

    Parameters
    ----------
    table
        The table.
    names
        The columns that may be asked for.
    """

    def __init__(self, table: Table, names: Sequence[str]) -> None:
        self._table = table
        self.rows = table.raw.count_rows()
        self._whole = read_rows(table, names) if self.rows and self.rows * len(names) <= _AT_ONCE else None

    def of(self, names: Sequence[str]) -> CodedTable:
        """Return the distinct combinations of some columns with their counts."""
        return read_groups(self._table, names) if self._whole is None else self._whole.distinct(names)[0]

    def pairs(self, by: str, of: str) -> CodedTable:
        """Return the pairs of two columns; where the first has very many values, those of a fixed part of them."""
        if self._whole is not None:
            return self.of([by, of])
        value = reference(self._table.schema[by])
        many = exp.Count(this=exp.Distinct(expressions=[value.copy()])).as_("many")
        parts = int(self._table.aggregate(many).column("many")[0].as_py()) // _VALUES
        if parts < 2:
            return self.of([by, of])
        lot = exp.Mod(this=scramble([value], 1), expression=exp.Literal.number(parts))
        return read_groups(self._table, [by, of], exp.EQ(this=lot, expression=exp.Literal.number(0)))

    def uniques(self, names: Sequence[str]) -> int:
        """Return how many rows have a combination of some columns that no other has."""
        if self._whole is not None:
            ids, number = self._whole.classes(names)
            return int((np.bincount(ids, minlength=number) == 1).sum())
        # Its answer is one number, however many combinations there are.
        columns = [reference(self._table.schema[name]) for name in names]
        alone = exp.EQ(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(1))
        classes = self._table.select(*columns).group_by(*(each.copy() for each in columns)).having(alone)
        answer = exp.select(exp.Count(this=exp.Star()).as_("uniques")).from_(classes.subquery("alone"))
        return int(self._table.query(answer).column("uniques")[0].as_py())


def _check_rows(coded: CodedTable) -> CodedTable:
    if coded.rows == 0:
        raise DataError("The table has no rows; there is nobody to identify.")
    return coded

"""The tables that questions may name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ziggurat.data import Bounds, Column, Table
from ziggurat.data.schema import BoundValue
from ziggurat.errors import ParameterError, QuestionError
from ziggurat.queries.language._public import PublicTable
from ziggurat.wording import nearest

RESERVED = "ziggurat_"
"""How the names of columns begin that queries add for themselves."""


@dataclass(frozen=True)
class PrivateTable:
    """A private table under the name by which questions know it.

    Attributes
    ----------
    name
        As the steward wrote it.
    table
        The table.
    columns
        Its columns by name, with the bounds that the analyst stated.
    """

    name: str
    table: Table
    columns: Mapping[str, Column]


class Catalogue:
    """The tables that questions may name, private and public; nothing is read of a private one.

    Parameters
    ----------
    private
        Tables about people, by name; names are told apart without regard to case.
    public
        Tables that everybody may read, which questions may join. What they hold is read when it is needed.
    """

    def __init__(self, private: Mapping[str, Table], public: Mapping[str, Table] | None = None) -> None:
        known = public or {}
        _check_names([*private, *known])
        self._private = {name.lower(): _private(name, table) for name, table in private.items()}
        self._public = {name.lower(): PublicTable(name, table) for name, table in known.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all tables, private ones first."""
        return (*(each.name for each in self._private.values()), *(each.name for each in self._public.values()))

    def find(self, name: str) -> PrivateTable | PublicTable:
        """Return the table of a name, or raise QuestionError with the nearest one."""
        found = self._private.get(name.lower()) or self._public.get(name.lower())
        if found is None:
            raise QuestionError(f"There is no table {name[:60]!r}; {nearest(name, self.names)}")
        return found

    def with_bounds(self, bounds: Mapping[str, tuple[BoundValue, BoundValue]]) -> Catalogue:
        """Return a catalogue in which columns have bounds that the analyst states without looking at the data.

        Parameters
        ----------
        bounds
            Lower and upper bound by column, or by "table.column"; values outside count as the nearer bound.
        """
        made = Catalogue({})
        made._private, made._public = dict(self._private), dict(self._public)
        for name, ends in bounds.items():
            made._set_bounds(name, ends)
        return made

    def _set_bounds(self, name: str, ends: tuple[BoundValue, BoundValue]) -> None:
        *table, wanted = name.lower().split(".", 1)
        stated = Bounds(*_two(name, ends))
        places = [
            (key, column)
            for key, each in self._private.items()
            for column in each.columns.values()
            if column.name.lower() == wanted and (not table or table[0] == key)
        ]
        if not places:
            known = {column for each in self._private.values() for column in each.columns}
            raise QuestionError(f"There is no column {name[:60]!r} to bound; {nearest(name, sorted(known))}")
        for key, column in places:
            held = self._private[key]
            columns = {**held.columns, column.name: replace(column, bounds=stated)}
            self._private[key] = replace(held, columns=columns)


def _private(name: str, table: Table) -> PrivateTable:
    for column in table.schema.names:
        if column.lower().startswith(RESERVED):
            raise ParameterError(f"Column {column!r} of table {name!r} begins with {RESERVED!r}, which is reserved.")
    return PrivateTable(name, table, {column.name: column for column in table.schema.columns})


def _two(name: str, ends: tuple[BoundValue, BoundValue]) -> tuple[BoundValue, BoundValue]:
    if not isinstance(ends, tuple | list) or len(ends) != 2:
        raise ParameterError(f"The bounds of {name!r} must be two values, such as (0, 100).")
    return ends[0], ends[1]


def _check_names(names: list[str]) -> None:
    for name in names:
        if not isinstance(name, str) or not name.isidentifier() or name.lower().startswith(RESERVED):
            raise ParameterError(
                f"{name!r} cannot name a table in questions; use letters, digits and _, but not {RESERVED!r} in front."
            )
    lowered = [name.lower() for name in names]
    for name in names:
        if lowered.count(name.lower()) > 1:
            raise ParameterError(f"Two tables are called {name!r}, if case does not count; rename one.")

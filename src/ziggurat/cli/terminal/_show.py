"""How schemas are shown to people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from ziggurat.cli.terminal._printed import Printed as Text

if TYPE_CHECKING:
    from ziggurat.data import Column, Schema

_COLOURS = {"identifier": "red", "quasi-identifier": "yellow", "sensitive": "magenta", "insensitive": "green"}
_MOST_CATEGORIES = 4


def schema_table(schema: Schema) -> Table:
    """A schema, one column a line: kind, role, what is known of its values and where from."""
    title = Text(f"{schema.name or 'table'} (unit: {schema.unit})", style="bold")
    table = Table(title=title, header_style="dim")
    table.add_column("column", no_wrap=True)
    for heading in ("kind", "role", "values", "known from"):
        table.add_column(heading, overflow="fold")
    for column in schema.columns:
        values, known_from = _values(column)
        role = Text(column.role.value, style=_COLOURS.get(column.role.value, ""))
        table.add_row(Text(column.name), column.kind.value, role, Text(values), known_from)
    return table


def _values(column: Column) -> tuple[str, str]:
    if column.bounds is not None:
        return f"{column.bounds.lower} to {column.bounds.upper}", column.bounds.provenance.value
    if column.categories is not None:
        names = [str(value) for value in column.categories.values]
        more = f" … ({len(names)})" if len(names) > _MOST_CATEGORIES else ""
        return ", ".join(names[:_MOST_CATEGORIES]) + more, column.categories.provenance.value
    return "", ""

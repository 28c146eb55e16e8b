"""How schemas are shown to people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

if TYPE_CHECKING:
    from ziggurat.data import Column, Schema

_COLOURS = {"identifier": "red", "quasi-identifier": "yellow", "sensitive": "magenta", "insensitive": "green"}
_MOST_CATEGORIES = 4


def schema_table(schema: Schema) -> Table:
    """A schema, one column a line: kind, role, what is known of its values and where from."""
    table = Table(title=f"{schema.name or 'table'} (unit: {schema.unit})", title_style="bold", header_style="dim")
    for heading in ("column", "kind", "role", "values", "known from"):
        table.add_column(heading)
    for column in schema.columns:
        values, known_from = _values(column)
        colour = _COLOURS.get(column.role.value, "")
        table.add_row(column.name, column.kind.value, f"[{colour}]{column.role.value}[/]", values, known_from)
    return table


def _values(column: Column) -> tuple[str, str]:
    if column.bounds is not None:
        return f"{column.bounds.lower} to {column.bounds.upper}", column.bounds.provenance.value
    if column.categories is not None:
        names = [str(value) for value in column.categories.values]
        more = f" … ({len(names)})" if len(names) > _MOST_CATEGORIES else ""
        return ", ".join(names[:_MOST_CATEGORIES]) + more, column.categories.provenance.value
    return "", ""

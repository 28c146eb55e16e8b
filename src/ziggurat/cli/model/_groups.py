"""Groups of people by a column of the schema, and what a model gets wrong in each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ziggurat.data import Schema, Table
    from ziggurat.release import Task

_PARTS = 4  # of the public bounds of a number


def with_column(task: Task, by: str) -> Schema:
    """What a table needs by which errors are told: the columns, the label and the one that tells groups apart."""
    wanted = task.labelled_schema
    return wanted if not by or by in wanted else replace(wanted, columns=(*wanted.columns, task.schema[by]))


def name_groups(table: Table, task: Task, by: str) -> list[Any]:
    """The group of each row, in the order of the rows; numbers fall into quarters of their public bounds."""
    from ziggurat.data import Kind
    from ziggurat.data.encoding import Field
    from ziggurat.data.expressions import null_if_missing

    column = task.schema[by]
    cells = table.query(table.select(null_if_missing(column)))[by]
    if column.kind not in (Kind.INTEGER, Kind.REAL) or column.bounds is None:
        return [None if each is None else str(each) for each in cells.to_pylist()]
    low, high = Field(column, 0, 1).ends
    ends = [low + (high - low) * part / _PARTS for part in range(_PARTS + 1)]
    return [None if each is None else _find_part(float(each), ends) for each in cells.to_pylist()]


def tell_groups(truth: Any, groups: list[Any], named: Any, by: str, *, numbers: bool) -> dict[str, Any]:
    """The errors of each group with enough rows, as lines."""
    from ziggurat.utility import compare_groups

    found = compare_groups(truth, groups, named, named, by=by, names=("", "model"), numbers=numbers)
    told = {
        f"{found.error}, {by} {each.group} ({each.rows:,} rows)": (
            f"{each.errors['model'].rate:.3g} ({each.errors['model'].low:.3g} to {each.errors['model'].high:.3g})"
        )
        for each in found.groups
    }
    unsaid = {f"groups of {by} with fewer than {found.fewest} rows": found.unsaid} if found.unsaid else {}
    return {**told, f"gap between groups of {by}": found.gaps["model"], **unsaid}


def _find_part(value: float, ends: list[float]) -> str:
    place = max(0, min(_PARTS - 1, sum(value >= end for end in ends) - 1))
    return f"{ends[place]:g} to {ends[place + 1]:g}"

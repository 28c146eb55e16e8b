"""What can be wrong with the cells of a table, as conditions whose rows an engine counts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from ziggurat.data.engines import is_finite
from ziggurat.data.expressions import constant, is_one_of, is_present, reference
from ziggurat.data.schema import Column, Kind, Schema


@dataclass(frozen=True)
class Problem:
    """Something that contradicts the schema.

    Parameters
    ----------
    what
        In words, such as "outside the bounds".
    column
        Where; None if it concerns the whole table.
    count
        In how many rows.
    """

    what: str
    column: str | None = None
    count: int = 0

    def __str__(self) -> str:
        if self.column is None:
            return f"The table {self.what}."
        return f"Column {self.column!r}: {self.count} {'cell is' if self.count == 1 else 'cells are'} {self.what}."


@dataclass(frozen=True)
class Check:
    """A condition that no row should meet."""

    column: str
    what: str
    condition: exp.Expr


def checks_of(schema: Schema) -> list[Check]:
    """Return every check that a schema implies."""
    checks = [check for column in schema.columns for check in _column_checks(column)]
    if schema.unit.column is not None:
        unknown = exp.not_(is_present(schema[schema.unit.column]))
        checks.append(Check(schema.unit.column, f"missing, so their {schema.unit.name} is unknown", unknown))
    return checks


def problems_from(checks: Sequence[Check], answer: Mapping[str, Any]) -> list[Problem]:
    """Return the problems that the counts in `answer` show ("rows", then "check_0" and so on)."""
    if not answer["rows"]:
        return [Problem("has no rows")]
    counts = [answer[f"check_{place}"] for place in range(len(checks))]
    return [Problem(check.what, check.column, count) for check, count in zip(checks, counts, strict=True) if count]


def _column_checks(column: Column) -> Iterator[Check]:
    cell = reference(column)
    if column.storage is Kind.REAL:
        infinite = is_one_of(cell, (constant(float(word), Kind.REAL) for word in ("inf", "-inf")))
        odd = exp.Not(this=is_finite(cell))
        yield Check(column.name, "not a number (NaN)", exp.And(this=odd, expression=exp.Not(this=infinite)))
        yield Check(column.name, "infinite", exp.And(this=odd, expression=infinite))
    if column.bounds is not None:
        yield Check(column.name, "outside the bounds", _outside(column))
    known = (
        column.categories.values if column.categories else tuple(column.hierarchy.levels if column.hierarchy else ())
    )
    if known:
        listed = is_one_of(cell, (constant(value, column.storage) for value in known))
        where = "categories" if column.categories else "hierarchy"
        yield Check(
            column.name, f"not among the {where}", exp.and_(is_present(column), exp.Not(this=listed), copy=False)
        )


def _outside(column: Column) -> exp.Expr:
    assert column.bounds is not None
    lower, upper = (constant(end, column.storage) for end in (column.bounds.lower, column.bounds.upper))
    within = exp.Between(this=reference(column), low=lower, high=upper)
    return exp.and_(is_present(column), exp.Not(this=within), copy=False)

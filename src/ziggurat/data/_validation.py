"""What can be wrong with the cells of a table, as conditions whose rows an engine counts."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from ziggurat.data.engines import is_finite
from ziggurat.data.expressions import constant, is_one_of, is_present, reference
from ziggurat.data.schema import Column, Kind, Schema, Symbols
from ziggurat.wording import count_noun

_MOST_IN_A_PATTERN = 1000


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
    places
        Where the first of them stand, such as "line 17"; for the steward.
    remedy
        What to do about it, as a sentence.
    """

    what: str
    column: str | None = None
    count: int = 0
    places: tuple[str, ...] = ()
    remedy: str = ""

    def __str__(self) -> str:
        if self.column is None:
            return f"The table {self.what}."
        first = f" First at {', '.join(self.places)}." if self.places else ""
        told = f"Column {self.column!r}: {count_noun(self.count, 'cell is', 'cells are')} {self.what}.{first}"
        return f"{told} {self.remedy}".rstrip()


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


def problems_from(
    checks: Sequence[Check], answer: Mapping[str, Any], locate: Callable[[exp.Expr], tuple[str, ...]]
) -> list[Problem]:
    """Return the problems that the counts in `answer` show ("rows", then "check_0" and so on), and where they are."""
    if not answer["rows"]:
        return [Problem("has no rows")]
    counts = [answer[f"check_{place}"] for place in range(len(checks))]
    found = [(check, count) for check, count in zip(checks, counts, strict=True) if count]
    return [Problem(check.what, check.column, count, locate(check.condition)) for check, count in found]


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
    if column.sequence is not None:
        yield from _sequence_checks(column, column.sequence)
    if known:
        listed = is_one_of(cell, (constant(value, column.storage) for value in known))
        where = "categories" if column.categories else "hierarchy"
        yield Check(
            column.name, f"not among the {where}", exp.and_(is_present(column), exp.Not(this=listed), copy=False)
        )


def _sequence_checks(column: Column, symbols: Symbols) -> Iterator[Check]:
    cell = reference(column)
    if len(symbols.tokens) <= _MOST_IN_A_PATTERN:  # engines bound the size of a pattern
        known = exp.RegexpLike(this=_ended(cell, symbols), expression=exp.Literal.string(_pattern(symbols)))
        yield Check(column.name, "not made of the tokens alone", exp.and_(is_present(column), exp.Not(this=known)))
    words = [cell, exp.Literal.string(symbols.separator), exp.Literal.string("")]
    pieces = exp.Anonymous(this="REPLACE", expressions=words)
    between = exp.Sub(this=exp.Length(this=cell), expression=exp.Length(this=pieces))
    most = exp.Literal.number(len(symbols.separator) * symbols.longest)
    long = exp.GTE(this=exp.Paren(this=between), expression=most)
    yield Check(column.name, "longer than 'longest' says", exp.and_(is_present(column), long))


def _ended(cell: exp.Expr, symbols: Symbols) -> exp.Expr:
    return exp.Concat(expressions=[cell, exp.Literal.string(symbols.separator)], safe=False, coalesce=False)


def _pattern(symbols: Symbols) -> str:
    """What a cell of known symbols looks like once a separator stands after the last, on every engine."""
    listed = "|".join(_escape(token) for token in symbols.tokens)
    return f"^(({listed})?{_escape(symbols.separator)})*$"


def _escape(text: str) -> str:
    return re.sub(r"([.^$*+?{}\[\]\\|()])", r"\\\1", text)


def _outside(column: Column) -> exp.Expr:
    assert column.bounds is not None
    lower, upper = (constant(end, column.storage) for end in (column.bounds.lower, column.bounds.upper))
    within = exp.Between(this=reference(column), low=lower, high=upper)
    return exp.and_(is_present(column), exp.Not(this=within), copy=False)

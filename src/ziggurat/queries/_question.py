"""A question as it was understood: what is read, which rows count, how they are grouped, what is computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from sqlglot import exp

from ziggurat.data import Unit
from ziggurat.data.engines import Engine
from ziggurat.queries._value import Value


@dataclass(frozen=True)
class UnitRows:
    """Rows about units: a private table, or what selections, joins and totals per unit make of private tables.

    Attributes
    ----------
    query
        SELECT of the named columns, each aliased; engine-neutral, run by `engine`.
    columns
        What is known of each column; `Value.sql` refers to the column by its name in `query`.
    unit
        Whom the rows are about.
    unit_column
        The column of `query` that tells units apart; None if the unit is a row. It is not among `columns`.
    rows_per_unit
        The most rows that one unit can have here, proven; None if there is no limit.
    engine
        Where the query runs.
    tables
        The names of the private tables it reads.
    """

    query: exp.Select
    columns: Mapping[str, Value]
    unit: Unit
    unit_column: str | None
    rows_per_unit: int | None
    engine: Engine
    tables: tuple[str, ...]


class Measure(StrEnum):
    """What an aggregate computes."""

    COUNT = "count"
    COUNT_UNITS = "count-units"
    COUNT_DISTINCT = "count-distinct"
    SUM = "sum"
    MEAN = "mean"
    VARIANCE = "variance"
    DEVIATION = "deviation"
    QUANTILE = "quantile"
    MODE = "mode"
    TOP = "top"


@dataclass(frozen=True)
class Aggregate:
    """One thing to compute for every group.

    Attributes
    ----------
    name
        What the answer calls it.
    measure
        What it is.
    value
        Of which expression; None for COUNT of rows and COUNT_UNITS. A COUNT of a value counts where it is not NULL.
    where
        Only these rows, as a condition over the columns of the relation; None for all.
    parameter
        QUANTILE: the share below it, between 0 and 1. TOP: how many. VARIANCE and DEVIATION: 0 (population) or 1
        (sample) subtracted from the number of values.
    """

    name: str
    measure: Measure
    value: Value | None = None
    where: exp.Expr | None = None
    parameter: Fraction | None = None


@dataclass(frozen=True)
class Key:
    """One expression that rows are grouped by; rows where it is NULL are in no group."""

    name: str
    value: Value


@dataclass(frozen=True)
class Ordering:
    """Sort the finished, noisy answer by one of its columns."""

    column: str
    descending: bool = False


@dataclass(frozen=True)
class Question:
    """A question that may be asked: everything in it is resolved, typed and total.

    Attributes
    ----------
    relation
        The rows it is about.
    where
        Which of them count, as a condition over the columns of the relation; None for all.
    keys
        How they are grouped; empty for one group of all.
    aggregates
        What is computed, at least one.
    having
        A condition on columns of the finished answer, applied to noisy values; None for all groups.
    order, limit
        How the finished answer is sorted and cut.
    columns
        The names of the answer's columns in the order they were asked for (a key may be left out).
    text
        Canonical SQL: two questions with the same text are the same question.
    reads
        The tables that it reads, private and public, by name.
    """

    relation: UnitRows
    where: exp.Expr | None
    keys: tuple[Key, ...]
    aggregates: tuple[Aggregate, ...]
    having: exp.Expr | None
    order: tuple[Ordering, ...]
    limit: int | None
    columns: tuple[str, ...]
    text: str
    reads: frozenset[str] = frozenset()

"""Contribution bounding inside the engine: at most so many rows, in at most so many groups, of one unit.

Which rows and groups of a unit are kept is decided by a lot that is a function of that unit's rows and of a salt, and
of nothing else. So for every salt two tables that differ in one unit differ, after bounding, in at most what is kept
of that unit: what holds for every salt holds for a salt drawn at random.

Instead of drawing lots for rows, they can be weighed: of c rows where r count, each counts r/c, which is what drawing
lots gives on average. Then a unit's total in a group is bounded because each of c rows is at most `largest`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from ziggurat.data.engines import scramble
from ziggurat.data.expressions import exact_sum

_COPY, _PLACE, _GROUP, _HELD = "ziggurat_copy", "ziggurat_place", "ziggurat_group", "ziggurat_held"


def bound_rows(
    query: exp.Select,
    unit: str,
    values: Sequence[str],
    keys: Sequence[str] = (),
    *,
    rows: int,
    groups: int | None = None,
    salt: int,
) -> exp.Select:
    """Keep at most `rows` rows of each unit in each group, and at most `groups` groups of each unit.

    Parameters
    ----------
    query
        SELECT of the unit, the keys and the values, each under its name; rows without a unit are left out.
    unit
        The name of the column that tells units apart.
    values, keys
        The names of the other columns; a group is a combination of keys.
    rows, groups
        The limits; `groups` None where keys are not limited (one group, or keys that need no limit).
    salt
        Decides the lots; drawn by the caller, below 2**62.
    """
    unit_column, key_columns = _column(unit), [_column(name) for name in keys]
    every = [unit_column, *key_columns, *(_column(name) for name in values)]
    present = exp.not_(exp.Is(this=unit_column.copy(), expression=exp.Null()), copy=False)
    # Equal rows are numbered, so that each of them has a lot of its own.
    inner = _from(query, [*every, _row_number(every, []).as_(_COPY, quoted=True)]).where(present)
    lot = [scramble([*every, _column(_COPY)], salt), *every, _column(_COPY)]
    place = _row_number([unit_column, *key_columns], lot).as_(_PLACE, quoted=True)
    ranks = [place] if groups is None else [place, _group_rank(unit_column, key_columns, salt)]
    kept = _from(_from(inner, [*every, *ranks]), every).where(_at_most(_PLACE, rows))
    return kept if groups is None else kept.where(_at_most(_GROUP, groups))


@dataclass(frozen=True)
class UnitTotal:
    """What a unit adds in a group: the sum of a column, the count of its values, or at most 1 for being there.

    `combine` is "sum", "count", "rows" or "units"; `limit` is the most that may be added, in steps of 1/fineness.
    """

    combine: str
    column: str | None
    limit: int
    fineness: int


def weigh_units(
    query: exp.Select,
    unit: str,
    keys: Sequence[str],
    totals: Sequence[UnitTotal],
    *,
    rows: int,
    groups: int | None,
    salt: int,
) -> exp.Select:
    """SELECT for every unit and group it counts in what it adds: the keys, and one column for each total.

    The columns are called `total_0`, `total_1`, ...; of a unit with more than `rows` rows in a group, each counts in
    part, and of one with more than `groups` groups only some count, by lot. Rows without a unit are left out.
    """
    unit_column, key_columns = _column(unit), [_column(name) for name in keys]
    present = exp.not_(exp.Is(this=unit_column.copy(), expression=exp.Null()), copy=False)
    sums = [_sum_cells(total).as_(f"sum_{place}", quoted=True) for place, total in enumerate(totals)]
    held = exp.Count(this=exp.Star()).as_(_HELD, quoted=True)
    summed = _from(query, [unit_column, *key_columns, held, *sums]).where(present)
    summed = summed.group_by(*(each.copy() for each in (unit_column, *key_columns)))
    named = [
        _in_part(total, _column(f"sum_{place}"), rows).as_(f"total_{place}", quoted=True)
        for place, total in enumerate(totals)
    ]
    if groups is None:
        return _from(summed, [*key_columns, *named])
    order = [scramble([unit_column, *key_columns], salt), *key_columns]
    rank = _row_number([unit_column], order).as_(_GROUP, quoted=True)
    return _from(_from(summed, [exp.Star(), rank]), [*key_columns, *named]).where(_at_most(_GROUP, groups))


def _sum_cells(total: UnitTotal) -> exp.Expr:
    if total.column is None:
        return exp.Count(this=exp.Star())
    cell = _column(total.column)
    return exact_sum(cell, narrow=True) if total.combine == "sum" else exp.Count(this=cell)


def _in_part(total: UnitTotal, found: exp.Expr, rows: int) -> exp.Expr:
    """The total if no more than `rows` rows are in it, otherwise its part, in whole steps and within the limit."""
    if total.combine == "units":
        return exp.Least(this=exp.cast(found, "BIGINT"), expressions=[_whole(1)], ignore_nulls=True)
    fine = _whole(total.fineness)
    few = exp.LTE(this=_column(_HELD), expression=_whole(rows))
    plain = exp.Mul(this=exp.cast(found.copy(), "BIGINT"), expression=fine)
    share = exp.Div(
        this=exp.paren(exp.Mul(this=exp.cast(found.copy(), "DOUBLE"), expression=_real(total.fineness * rows))),
        expression=exp.cast(_column(_HELD), "DOUBLE"),
    )
    part = exp.cast(exp.Floor(this=exp.Add(this=exp.paren(share), expression=_real(0.5))), "BIGINT")
    exact = exp.Case(ifs=[exp.If(this=few, true=plain)], default=part)
    capped = exp.Least(this=exact, expressions=[_whole(total.limit)], ignore_nulls=True)
    return exp.Greatest(this=capped, expressions=[_whole(-total.limit)], ignore_nulls=True)


def _whole(number: int) -> exp.Expr:
    return exp.cast(exp.Literal.string(str(number)), "BIGINT")


def _real(number: float) -> exp.Expr:
    return exp.cast(exp.Literal.string(repr(float(number))), "DOUBLE")


def _group_rank(unit: exp.Column, keys: Sequence[exp.Column], salt: int) -> exp.Expr:
    lot = [scramble([unit, *keys], salt + 1), *keys]
    return _over(exp.Anonymous(this="DENSE_RANK"), [unit], lot).as_(_GROUP, quoted=True)


def _row_number(partition: Sequence[exp.Expr], order: Sequence[exp.Expr]) -> exp.Expr:
    return _over(exp.RowNumber(), partition, order)


def _over(function: exp.Expr, partition: Sequence[exp.Expr], order: Sequence[exp.Expr]) -> exp.Expr:
    ordered = [exp.Ordered(this=each.copy(), nulls_first=True) for each in order] or [
        exp.Ordered(this=partition[0].copy(), nulls_first=True)
    ]
    return exp.Window(
        this=function,
        partition_by=[each.copy() for each in partition],
        order=exp.Order(expressions=ordered),
    )


def _from(query: exp.Select, columns: Sequence[exp.Expr]) -> exp.Select:
    return exp.select(*(each.copy() for each in columns)).from_(query.subquery("rows", copy=False), copy=False)


def _at_most(name: str, most: int) -> exp.Expr:
    return exp.LTE(this=_column(name), expression=exp.Literal.number(most))


def _column(name: str) -> exp.Column:
    return exp.column(name, quoted=True)

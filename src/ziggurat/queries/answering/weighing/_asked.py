"""The rows of units as an engine that hands them over is asked for them: unit, lot, code of the group, cells.

What `weigh_units` has the engine do, in one scan and without a sort. Unit: that of the relation, add-or-remove-one.
The lot of a group is the same function of its unit, its keys and the salt; the `groups` groups with the smallest lots
count; what a unit adds in each is weighed and cut at the same limit. So every sum moves by what it moves there: the
sensitivity needs nothing but the cut and the number of groups, which hold here for each unit on its own.

Units are told apart exactly, never by a hash, as two that are taken for one would share one limit. A group that is not
on the list has no code, and is told apart by its lot: should two of one unit have the same, they are one, and that
unit alone is in a group less. The list is grouped by the engine before it is joined, so that no row is met twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import pyarrow as pa
from sqlglot import exp

from ziggurat.data import Kind
from ziggurat.data.engines import scramble
from ziggurat.queries._question import Question
from ziggurat.queries._value import Constant
from ziggurat.queries.answering._bounding import UnitTotal
from ziggurat.queries.answering._contribution import Contribution
from ziggurat.queries.answering._counted import UNIT, compare_exactly, group_rows, key_names, rows_of, sort_key
from ziggurat.queries.answering.weighing._few import MISSING
from ziggurat.queries.answering.weighing._held import HeldRows, UnitLimits, WeighedUnits, can_hold

Group = tuple[Constant, ...]
Query = Callable[[exp.Select, str], list[dict[str, Any]]]

_CODE, _LOT, _GROUPS = "ziggurat_code", "ziggurat_lot", "ziggurat_groups"
_MEMORY = 2**29
_LARGEST_CELL, _LARGEST_TOTAL = 2**31, 2**61
_ARROW = {Kind.BOOLEAN: pa.bool_(), Kind.INTEGER: pa.int64(), Kind.REAL: pa.float64(), Kind.DATE: pa.date32()}


class AskedUnits:
    """What units add to a question, had from an engine that hands over rows.

    Parameters
    ----------
    question, shared
        What is asked, and how much of one unit counts.
    inputs
        The cells that totals read, by name.
    totals
        What a unit adds.
    largest
        How large a cell may be: public.
    salt
        Decides the lots.
    """

    def __init__(
        self,
        question: Question,
        shared: Contribution,
        inputs: Mapping[str, exp.Expr],
        totals: Sequence[UnitTotal],
        largest: int,
        salt: int,
    ) -> None:
        self.question, self.shared, self.inputs, self.totals = question, shared, inputs, totals
        self.salt, self.largest = salt, largest
        self.tells_units = True  # until a type is found that cannot be told apart here
        self.engine, self.keys = question.relation.engine, key_names(question)

    @property
    def possible(self) -> bool:
        """Whether this way is open; it depends on nothing but the engine, the question and the terms."""
        fits = self.largest < _LARGEST_CELL and all(each.limit < _LARGEST_TOTAL for each in self.totals)
        return self.engine.hands_rows and fits

    @property
    def statement(self) -> str:
        """What the engine is asked, whatever the rows: if there are many, of a part of the units at a time."""
        return self.engine.statement(self._rows(exp.table_(_GROUPS, quoted=True)))

    def weigh(self, listed: bool, doublings: int, query: Query) -> tuple[dict[Group, list[int]], Any] | None:
        """The sums of every group that a unit counts in, and units by the rows they lose; None if rows are too many.

        Parameters
        ----------
        listed
            Whether all groups are known beforehand; otherwise those that occur are asked for.
        doublings
            Into how many buckets units are put by the rows they lose.
        query
            How a query is run and written down.
        """
        groups = self._find_groups(listed, query)
        lent = self.engine.lend(self._list_groups(groups)) if self.keys else None
        try:
            found = self._weigh_parts(lent, len(groups), doublings)
        finally:
            if lent is not None:
                self.engine.take_back(lent)
        if found is None:
            return None
        sums = {group: found.sums[code] for code, group in enumerate(groups) if found.kept[code]}
        # Without keys the sum of nothing is a row, too.
        return sums if self.keys else {(): found.sums[0]}, found.lost

    def _find_groups(self, listed: bool, query: Query) -> list[Group]:
        if listed:
            return list(dict.fromkeys(product(*(key.value.domain() or () for key in self.question.keys))))
        found = query(group_rows(rows_of(self.question, {}), self.keys, []), "listing the groups")
        # In an order of their own, so that a code says nothing of the rows that others have.
        return sorted((tuple(row[name] for name in self.keys) for row in found), key=sort_key)

    def _list_groups(self, groups: Sequence[Group]) -> pa.Table:
        kinds = [_ARROW.get(key.value.kind, pa.string()) for key in self.question.keys]
        columns = list(zip(*groups, strict=True)) or [()] * len(kinds)
        arrays = [pa.array(cells, kind) for cells, kind in zip(columns, kinds, strict=True)]
        codes = pa.array(range(len(groups)), pa.int64())
        return pa.table([*arrays, codes], names=[*self.keys, _CODE])

    def _weigh_parts(self, lent: exp.Expr | None, many: int, doublings: int) -> WeighedUnits | None:
        """Weigh a part of the units at a time, so that no more rows are held than there is room for."""
        sources = [list(self.inputs).index(each.column) if each.column is not None else -1 for each in self.totals]
        groups = self.shared.groups if self.keys else 1
        limits = UnitLimits(self.shared.rows, groups, self.totals, sources, many, doublings)
        room = min(_MEMORY, self.engine.handed_at_once) // (20 + 4 * len(self.inputs))
        parts = 1 if self.engine.gathers_units else max(-(-self._count_rows() // room), 1)
        if parts > self.engine.most_parts:
            for piece in self.engine.hand_over(self._rows(lent).limit(0)):
                self.tells_units = can_hold(piece.schema.types[0])
            return None
        found: WeighedUnits | None = None
        for part in range(parts):
            held = HeldRows(limits, len(self.inputs), 2 * room)
            for piece in self.engine.hand_over(self._rows(lent, part, parts)):
                self.tells_units = can_hold(piece.schema.types[0])
                if self.engine.gathers_units and held.is_full(piece.num_rows):
                    found = held.weigh().with_others(found)
                    held = HeldRows(limits, len(self.inputs), 2 * room)
                if not self.tells_units or not held.take(piece):
                    return None
            found = held.weigh().with_others(found)
        return found

    def _count_rows(self) -> int:
        counted = group_rows(rows_of(self.question, {}), [], [exp.Count(this=exp.Star()).as_("rows")])
        return int(self.engine.query(counted).column(0)[0].as_py())

    def _rows(self, lent: exp.Expr | None, part: int = 0, parts: int = 1) -> exp.Select:
        """SELECT the rows of a part of the units; the first of one part are all."""
        unit = _column(UNIT, "counted")
        keys = [_column(name, "counted") for name in self.keys]
        columns = [unit.as_(UNIT, quoted=True), self._lot(unit, keys), self._code()]
        columns += [self._cell(name).as_(name, quoted=True) for name in self.inputs]
        query = exp.select(*columns).from_(rows_of(self.question, self.inputs).subquery("counted", copy=False))
        if parts > 1:
            query = query.where(_is_in_part(unit, part, parts))
        if not keys or lent is None:
            return query
        code = exp.Min(this=_column(_CODE)).as_(_CODE, quoted=True)
        listed = [self._in_order(_column(name), place).as_(name, quoted=True) for place, name in enumerate(self.keys)]
        told = exp.select(*listed, _column(_CODE)).from_(lent.copy())
        once = group_rows(told, self.keys, [code])
        same = [exp.EQ(this=_column(name, "counted"), expression=_column(name, "listed")) for name in self.keys]
        return query.join(once.subquery("listed", copy=False), on=exp.and_(*same), join_type="left")

    def _lot(self, unit: exp.Expr, keys: Sequence[exp.Expr]) -> exp.Expr:
        """The lot of the group of a row; of reals that are the same, such as 0 and -0, it is that of the listed one."""
        if not keys:
            return exp.cast(exp.Literal.number(0), "BIGINT").as_(_LOT, quoted=True)
        cells = [
            exp.Coalesce(this=_column(name, "listed"), expressions=[cell.copy()])
            if key.value.kind is Kind.REAL
            else cell.copy()
            for name, key, cell in zip(self.keys, self.question.keys, keys, strict=True)
        ]
        return scramble([unit.copy(), *cells], self.salt).as_(_LOT, quoted=True)

    def _in_order(self, cell: exp.Expr, place: int) -> exp.Expr:
        return compare_exactly(self.question.keys[place].value.kind, cell)

    def _code(self) -> exp.Expr:
        code: exp.Expr = exp.Literal.number(0)
        if self.keys:
            code = exp.Coalesce(this=_column(_CODE, "listed"), expressions=[exp.Literal.number(-1)])
        return exp.cast(code, "INT").as_(_CODE, quoted=True)

    def _cell(self, name: str) -> exp.Expr:
        """The number that is added up, or 1 where it is only counted; a number that none can be where it is missing."""
        cell = _column(name, "counted")
        missing = exp.cast(exp.Literal.string(str(MISSING)), "BIGINT")
        if any(each.column == name and each.combine == "sum" for each in self.totals):
            return exp.Coalesce(this=exp.cast(cell, "BIGINT"), expressions=[missing])
        there = exp.not_(exp.Is(this=cell, expression=exp.Null()), copy=False)
        one = exp.cast(exp.Literal.number(1), "BIGINT")
        return exp.Case(ifs=[exp.If(this=there, true=one)], default=missing)


def _is_in_part(unit: exp.Expr, part: int, parts: int) -> exp.Expr:
    """The condition that a unit is in a part: by its remainder, which is negative where numbers are."""
    many = exp.Literal.number(parts)
    rest = exp.paren(exp.Mod(this=scramble([unit.copy()], parts), expression=many))
    place = exp.Mod(this=exp.paren(exp.Add(this=rest, expression=many.copy())), expression=many.copy())
    return exp.EQ(this=place, expression=exp.Literal.number(part))


def _column(name: str, table: str | None = None) -> exp.Column:
    return exp.column(name, table=table, quoted=True)

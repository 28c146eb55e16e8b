"""Whether all cells lie within their bounds, seen with the sums, which are then right without moving a cell.

Moving every cell takes an engine without vectors longer than looking for the least and the greatest beside the sums.
The sums of unmoved cells are those of moved ones if no cell had to be moved, digit by digit, and are thrown away if any
had: what is released is in both cases the same function of the rows, of which one row moves no sum any further.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

from sqlglot import exp

from ziggurat.data.engines import Engine
from ziggurat.data.expressions import only_where
from ziggurat.queries._question import Question
from ziggurat.queries._value import Value
from ziggurat.queries.answering._additive import Need
from ziggurat.queries.answering._counted import rows_of
from ziggurat.queries.answering._grid import UnmovedCell, is_moved, leave_unmoved
from ziggurat.queries.answering.watching._clipping import Clipped

_OUTSIDE = "outside"
_Key = tuple[str, Any, Any]
_seen_outside: WeakKeyDictionary[Engine, set[_Key]] = WeakKeyDictionary()


class InsideTest(ABC):
    """Aggregates that tell whether the sums of unmoved cells are those of moved ones.

    Every cell that a need would read unmoved is looked at, against the very bounds of that need, in the statement that
    adds them up: so it is about the same rows, whoever writes meanwhile.

    Parameters
    ----------
    question
        What is asked.
    needs
        What is measured.
    watches
        Columns of which it is to be seen, too, that nothing lies outside.
    """

    def __init__(self, question: Question, needs: Sequence[Need], watches: Sequence[Clipped]) -> None:
        self.question, self.watches = question, watches
        self._unmoved = [self.unmoved(need) for need in needs]
        self._cells = {_name_cell(each.value): each for each in self._unmoved if each is not None}

    @property
    def helps(self) -> bool:
        """Whether any cell would be read unmoved."""
        return bool(self._cells)

    def input(self, place: int, need: Need) -> exp.Expr | None:
        """What is to be read for the need at a place."""
        found = self._unmoved[place]
        return need.input if found is None else found.read

    @abstractmethod
    def unmoved(self, need: Need) -> UnmovedCell | None:
        """What may be read unmoved for a need; None if nothing."""

    @property
    @abstractmethod
    def inputs(self) -> dict[str, exp.Expr]:
        """What else is to be read of a row."""

    @property
    @abstractmethod
    def columns(self) -> list[exp.Expr]:
        """The aggregates that tell, over what `inputs` names."""

    @abstractmethod
    def holds(self, rows: Sequence[Mapping[str, Any]]) -> bool:
        """Whether no cell that was read unmoved lies outside; of all groups, those too that are not answered."""

    @abstractmethod
    def finds_none(self, rows: Sequence[Mapping[str, Any]]) -> bool:
        """Whether nothing at all lies outside, if `holds`."""

    def failed_before(self, engine: Engine) -> bool:
        """Whether cells of such a column and bounds lay outside before: asking twice would only take longer."""
        return not _seen_outside.get(engine, set()).isdisjoint(self._cells)

    def note_outside(self, engine: Engine) -> None:
        """Remember for as long as the engine lives that the sums of unmoved cells were of no use."""
        _seen_outside.setdefault(engine, set()).update(self._cells)


class EndsTest(InsideTest):
    """By the least and the greatest cell of every group, in the same scan."""

    def unmoved(self, need: Need) -> UnmovedCell | None:
        """Whatever there is; what fails is asked again."""
        return need.unmoved

    @cached_property
    def _looked_at(self) -> list[UnmovedCell]:
        found = [leave_unmoved(each.value) for each in self.watches]
        return list({**self._cells, **{_name_cell(each.value): each for each in found if each is not None}}.values())

    @cached_property
    def _others(self) -> list[Clipped]:
        return [each for each in self.watches if leave_unmoved(each.value) is None]

    @property
    def inputs(self) -> dict[str, exp.Expr]:
        """The bare cells; of columns that are moved all the same, whether they had to be."""
        cells = {f"bare_{place}": each.cell for place, each in enumerate(self._looked_at)}
        if not self._others:
            return cells
        moved = exp.or_(*(is_moved(each.value) for each in self._others), copy=False)
        return {**cells, _OUTSIDE: only_where(moved, exp.Literal.number(1))}

    @property
    def columns(self) -> list[exp.Expr]:
        """The ends of each cell, and how many others are outside."""
        ends: list[exp.Expr] = []
        for place in range(len(self._looked_at)):
            cell = exp.column(f"bare_{place}", quoted=True)
            ends.append(exp.Min(this=cell).as_(f"least_{place}", quoted=True))
            ends.append(exp.Max(this=cell).as_(f"most_{place}", quoted=True))
        if self._others:
            ends.append(exp.Count(this=exp.column(_OUTSIDE, quoted=True)).as_(_OUTSIDE, quoted=True))
        return ends

    def holds(self, rows: Sequence[Mapping[str, Any]]) -> bool:
        """Whether all ends lie within the bounds."""
        return all(
            _lies_inside(row[f"least_{place}"], row[f"most_{place}"], each.value)
            for row in rows
            for place, each in enumerate(self._looked_at)
        )

    def finds_none(self, rows: Sequence[Mapping[str, Any]]) -> bool:
        """Whether the others do, too."""
        return not self._others or not any(row[_OUTSIDE] for row in rows)


class CountTest(InsideTest):
    """By counting the rows with a cell outside, beside the sums, where an engine does that from its statistics.

    Statistics may leave out cells that are no numbers. Such a cell has no index, and so is missing from a sum; values
    are therefore not counted by the bare cell.
    """

    def unmoved(self, need: Need) -> UnmovedCell | None:
        """What cannot fail, of sums: a statement that fails may end a transaction of whoever opened the engine."""
        possible = need.combine == "sum" and need.unmoved is not None and not need.unmoved.may_fail
        return need.unmoved if possible else None

    @property
    def inputs(self) -> dict[str, exp.Expr]:
        """Nothing: rows are counted apart."""
        return {}

    @property
    def columns(self) -> list[exp.Expr]:
        """How many rows of the question have a cell outside."""
        values = [each.value for each in self._cells.values()] + [each.value for each in self.watches]
        different = {_name_cell(each): each for each in values}.values()
        moved = exp.or_(*map(is_moved, different), copy=False)
        rows = rows_of(self.question, {}, keys=False).where(exp.paren(moved, copy=False), copy=False)
        counted = exp.select(exp.Count(this=exp.Star())).from_(rows.subquery("beyond", copy=False), copy=False)
        return [exp.Subquery(this=counted, alias=exp.TableAlias(this=exp.to_identifier(_OUTSIDE, quoted=True)))]

    def holds(self, rows: Sequence[Mapping[str, Any]]) -> bool:
        """Whether there is none."""
        return not any(row[_OUTSIDE] for row in rows)

    def finds_none(self, rows: Sequence[Mapping[str, Any]]) -> bool:
        """The same: all columns are counted together."""
        return self.holds(rows)


def choose_test(question: Question, needs: Sequence[Need], watches: Sequence[Clipped]) -> InsideTest:
    """Return the test that takes the engine least."""
    kind = CountTest if question.relation.engine.knows_extremes else EndsTest
    return kind(question, needs, watches)


def _name_cell(value: Value) -> _Key:
    return value.presence.sql(), value.lower, value.upper


def _lies_inside(least: Any, most: Any, value: Value) -> bool:
    """Whether all cells do; what is no number is the greatest to every engine, and lies between no bounds."""
    if least is None or most is None:
        return least is most
    return bool(value.lower <= least and most <= value.upper)

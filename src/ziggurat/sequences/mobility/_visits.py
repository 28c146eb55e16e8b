"""The visits of a table as one relation of its engine: whose, in which trajectory, when and where.

A person's trajectories are computed from that person's rows alone, by rules that no other row can change, so that
those of neighbouring tables are neighbours; nothing that does not count is told.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from ziggurat.data import Kind, Schema, Table
from ziggurat.data.engines import Engine, scramble
from ziggurat.data.expressions import cast_to, constant, is_filled, is_present, only_where, reference
from ziggurat.sequences._relational import class_code, first_class, flag, has_class, window
from ziggurat.sequences.mobility._ground import Ground
from ziggurat.sequences.mobility._layout import Cut, VisitLayout, domain_of_visits
from ziggurat.sequences.mobility._moments import minutes_of
from ziggurat.sequences.mobility._placing import Placing, placing_of
from ziggurat.sequences.mobility._trajectories import TrajectoryDomain

_DAY = 24 * 60
_KEYS = ["owner", "number"]
_IN_ORDER = ["minute", "moment", "code"]
Link = Literal["next", "before", "first", "length"]
"""What a visit may know of its trajectory: the visit that follows, the one before, the first, and how many it has."""
_LINKS: dict[Link, dict[str, exp.Expr]] = {
    "next": {f"next_{each}": exp.Lead(this=exp.column(each)) for each in ("code", "minute")},
    "before": {"before_code": exp.Lag(this=exp.column("code"))},
    "first": {f"first_{each}": exp.FirstValue(this=exp.column(each)) for each in ("code", "minute")},
    "length": {},
}


@dataclass(frozen=True)
class VisitRelation:
    """How the visits of a table are asked for; nothing is asked yet.

    Parameters
    ----------
    engine
        Where the table lives.
    domain
        What is publicly known of the trajectories.
    rows
        A query for `owner`, `minute`, `moment` (which orders what happens in the same minute), `trip`, `label` and the
        columns of the placing.
    placing
        How rows get the code of their place.
    cut, gap, starts, least
        As for `VisitLayout`.
    """

    engine: Engine
    domain: TrajectoryDomain
    rows: exp.Select
    placing: Placing
    cut: Cut | None = "day"
    gap: int | None = None
    starts: int = 0
    least: int = 1

    @classmethod
    def of(cls, table: Table, layout: VisitLayout, ground: Ground) -> VisitRelation:
        """The visits of a long table."""
        domain = domain_of_visits(table.declared, layout, ground)
        placing = placing_of(table.declared, layout, ground)
        rows = _rows(table, layout, domain, placing)
        return cls(table.engine, domain, rows, placing, layout.cut, layout.gap, layout.starts, layout.least)

    @contextmanager
    def asked(self, links: Collection[Link] = (), part: int = 0, parts: int = 1) -> Iterator[exp.Select]:
        """A query for the visits that count: `owner`, `number` (of the trajectory), `place` (1, 2, ...), `minute`,
        `code` and `label`, and the links that are named, in no order. What was lent for it is taken back at the end.

        With several parts only the people of one are asked for, so that the engine needs less memory at a time: who is
        in which part is a fixed scramble of the person.
        """
        lent = None if self.placing.lent is None else self.engine.lend(self.placing.lent)
        try:
            rows = self.rows if parts == 1 else _of_part(self.rows, part, parts)
            yield self._kept(self._numbered(self.placing.code(rows, lent)), links)
        finally:
            if lent is not None:
                self.engine.take_back(lent)

    def _numbered(self, placed: exp.Select) -> exp.Select:
        """Visits with the number of their trajectory."""
        columns = ["owner", "minute", "moment", "code", "label"]
        timed = exp.select(*columns, "trip").from_(placed.subquery("rows")).where(is_filled(exp.column("minute")))
        if self.cut == "gap":
            return self._parted(timed, columns)
        number = {"day": self._day(), "trip": exp.column("trip")}.get(self.cut or "", exp.Literal.number(0))
        return exp.select(*columns, number.as_("number")).from_(timed.subquery("timed"))

    def _day(self) -> exp.Expr:
        since = exp.Paren(this=exp.Sub(this=exp.column("minute"), expression=exp.Literal.number(self.starts)))
        days = exp.Div(this=cast_to(since, "DOUBLE"), expression=constant(float(_DAY), Kind.REAL), typed=True)
        return cast_to(exp.Floor(this=days), "BIGINT")

    def _parted(self, timed: exp.Select, columns: list[str]) -> exp.Select:
        """A new number after every gap."""
        before = window(exp.Lag(this=exp.column("minute")), ["owner"], _IN_ORDER)
        waited = exp.Sub(this=exp.column("minute"), expression=exp.column("before"))
        late = flag(exp.GT(this=waited, expression=exp.Literal.number(self.gap or 0)))
        beside = exp.select(*columns, before.as_("before")).from_(timed.subquery("timed"))
        marked = exp.select(*columns, late.as_("late")).from_(beside.subquery("beside"))
        number = window(exp.Sum(this=exp.column("late")), ["owner"], _IN_ORDER)
        return exp.select(*columns, cast_to(number, "BIGINT").as_("number")).from_(marked.subquery("marked"))

    def _kept(self, numbered: exp.Select, links: Collection[Link]) -> exp.Select:
        """Visits that count, each with its place in its trajectory and what it must know of it.

        All windows are over the same visits in the same order, so that an engine sorts them once.
        """
        columns = ["owner", "number", "minute", "code"]
        classed = bool(self.domain.classes)
        label = first_class("label", _KEYS, ["minute", "moment"]) if classed else exp.column("label")
        seen = {"place": exp.RowNumber(), **{name: value for each in links for name, value in _LINKS[each].items()}}
        looks = [_along(value).as_(name) for name, value in seen.items()]
        sized = self.least > 1 or "length" in links
        size = [_along(exp.Count(this=exp.Star()), whole=True).as_("size")] if sized else []
        placed = exp.select(*columns, *looks, *size, label.as_("label")).from_(numbered.subquery("numbered"))
        within = exp.LTE(this=exp.column("place"), expression=exp.Literal.number(self.domain.longest))
        enough = exp.GTE(this=exp.column("size"), expression=exp.Literal.number(self.least))
        linked = [self._within_longest(name).as_(name) for name in seen if name != "place"]
        length = [self._length().as_("length")] if "length" in links else []
        kept = exp.select(*columns, "place", "label", *linked, *length).from_(placed.subquery("placed"))
        return kept.where(within, *([enough] if self.least > 1 else []), *([has_class()] if classed else []))

    def _within_longest(self, name: str) -> exp.Expr:
        """A link; what follows the last visit that counts does not count."""
        if not name.startswith("next_"):
            return exp.column(name)
        more = exp.LT(this=exp.column("place"), expression=exp.Literal.number(self.domain.longest))
        return only_where(more, exp.column(name))

    def _length(self) -> exp.Expr:
        longest = exp.Literal.number(self.domain.longest)
        longer = exp.GT(this=exp.column("size"), expression=longest)
        return exp.Case(ifs=[exp.If(this=longer, true=longest)], default=exp.column("size"))


def _of_part(rows: exp.Select, part: int, parts: int) -> exp.Select:
    many = exp.Literal.number(parts)
    rest = cast_to(exp.Mod(this=scramble([exp.column("owner")], 1), expression=many), "BIGINT")
    # Some engines scramble to negative numbers, of which the rest is negative.
    above = exp.Mod(this=exp.Paren(this=exp.Add(this=rest, expression=many)), expression=many)
    mine = exp.EQ(this=above, expression=exp.Literal.number(part))
    return exp.select("*").from_(rows.subquery("everyone")).where(mine)


def _along(what: exp.Expr, *, whole: bool = False) -> exp.Expr:
    """A window along a trajectory, up to a visit or over the whole of it."""
    made = window(what.copy(), _KEYS, _IN_ORDER)
    if whole:
        ends = {"start": "UNBOUNDED", "start_side": "PRECEDING", "end": "UNBOUNDED", "end_side": "FOLLOWING"}
        made.set("spec", exp.WindowSpec(kind="ROWS", **ends))
    return made


def _rows(table: Table, layout: VisitLayout, domain: TrajectoryDomain, placing: Placing) -> exp.Select:
    schema = table.declared
    time, trip = schema[layout.time], None if layout.trip is None else schema[layout.trip]
    moment = reference(time)
    asked = (
        reference(schema[layout.person]).as_("owner"),
        minutes_of(time, layout.calendar).as_("minute"),
        moment.as_("moment"),
        (exp.Literal.number(0) if trip is None else reference(trip)).as_("trip"),
        class_code(schema, layout.label, domain.classes).as_("label"),
        *placing.columns,
    )
    whose = [is_present(schema[layout.person]), *([] if trip is None else [is_present(trip)])]
    return exp.select(*asked).from_(table.relation([], _names(schema, layout))).where(*whose)


def _names(schema: Schema, layout: VisitLayout) -> list[str]:
    named = (layout.person, layout.time, layout.place, layout.latitude, layout.longitude, layout.trip, layout.label)
    return [schema[name].name for name in named if name is not None]

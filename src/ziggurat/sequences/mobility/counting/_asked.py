"""Counts of visits as relational aggregates, which the engine that holds the table computes.

What comes back is as small as the table of counts: how many events fall into each cell, by the norm of the units.
No visit leaves the engine, so that Spark counts where the visits are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import numpy as np
import pyarrow as pa
from sqlglot import exp

from ziggurat.data import Kind, open_table
from ziggurat.data.expressions import cast_to, constant, is_filled
from ziggurat.privacy import whole_number
from ziggurat.sequences._relational import flag, window
from ziggurat.sequences.mobility._fare_cards import FareCardLayout, relate_fare_cards
from ziggurat.sequences.mobility._ground import Ground
from ziggurat.sequences.mobility._layout import VisitLayout
from ziggurat.sequences.mobility._trajectories import TrajectoryDomain
from ziggurat.sequences.mobility._visits import Link, VisitRelation
from ziggurat.sequences.mobility.counting._counted import CountedVisits, NormedCounts
from ziggurat.sequences.mobility.counting._rules import LEFT_OUT, CellLookup, CountingRule, Fact, Happening, Whole

_DAY, _HOUR = 24 * 60, 60
_KEYS = ["owner", "number"]


class AskedVisits(CountedVisits):
    """Visits of a table, counted by its engine; nothing is asked until something is counted.

    The counts are those of `HeldVisits` of what `read_trajectories` reads, number by number.

    Parameters
    ----------
    table
        A table, or anything that `ziggurat.data.read` opens.
    layout
        Where person, time and place stand in it, or rides.
    ground
        The public places.
    each_alone
        Whether every trajectory is its own unit, rather than every person: that hides no person.
    parts
        In how many parts of people the engine counts, one after the other: the more, the less memory it needs, however
        many people there are; each part reads the table once.
    """

    def __init__(
        self,
        table: object,
        layout: VisitLayout | FareCardLayout,
        ground: Ground,
        *,
        each_alone: bool = False,
        parts: int = 1,
    ) -> None:
        held = open_table(table)
        if isinstance(layout, FareCardLayout):
            self._visits = relate_fare_cards(held, ground, layout)
        else:
            self._visits = VisitRelation.of(held, layout, ground)
        self._unit = _KEYS if each_alone else _KEYS[:1]
        self._parts = whole_number(parts, "parts")

    @property
    def domain(self) -> TrajectoryDomain:
        """What is publicly known of the trajectories."""
        return self._visits.domain

    def tally(self, rules: Sequence[CountingRule], *, square: bool = False) -> NormedCounts:
        """Let the engine count."""
        return NormedCounts.together(self._tally_part(rules, square, part) for part in range(self._parts))

    def _tally_part(self, rules: Sequence[CountingRule], square: bool, part: int) -> NormedCounts:
        with self._asked(rules, part) as events:
            found = self._visits.engine.query(self._aggregate(events, square))
        norms, cells, counts = (np.asarray(found.column(name), dtype=np.int64) for name in ("norm", "cell", "many"))
        return NormedCounts(norms, cells, counts)

    @contextmanager
    def _asked(self, rules: Sequence[CountingRule], part: int) -> Iterator[exp.Expr]:
        """The cells of all events that count, unit by unit; what was lent for them is taken back at the end."""
        with ExitStack() as stack:
            kept = stack.enter_context(self._visits.asked(_links(rules), part, self._parts))
            cells = [self._cells(_events(kept, rule, self._unit, self.domain.size), rule, stack) for rule in rules]
            together: exp.Expr = cells[0]
            for each in cells[1:]:
                together = exp.union(together, each, distinct=False)
            yield together

    def _cells(self, events: exp.Select, rule: CountingRule, stack: ExitStack) -> exp.Select:
        """Events with their cell: joined with every lookup."""
        values = [exp.column(f"value_{place}") for place in range(len(rule.lookups))]
        cell: exp.Expr = values[0]
        for each in values[1:]:
            cell = exp.Add(this=cell, expression=each)
        found = exp.select(*self._unit, cell.as_("cell")).from_(events.subquery("events"))
        for place, lookup in enumerate(rule.lookups):
            for table, on in _joins(lookup, place):
                found = found.join(self._lent(table, stack), on=on)
        return found

    def _lent(self, table: pa.Table, stack: ExitStack) -> exp.Expr:
        engine = self._visits.engine
        lent = engine.lend(table)
        stack.callback(engine.take_back, lent)
        # Under a name of its own, for an engine may call all that is lent by one name.
        return exp.select("*").from_(lent).subquery(f"of_{table.column_names[0]}")

    def _aggregate(self, events: exp.Expr, square: bool) -> exp.Select:
        many = exp.column("many")
        own = exp.select(*self._unit, "cell", exp.Count(this=exp.Star()).as_("many"))
        own = own.from_(exp.Subquery(this=events, alias=exp.TableAlias(this=exp.to_identifier("cells"))))
        own = own.group_by(*self._unit, "cell")
        norm = window(exp.Sum(this=exp.Mul(this=many, expression=many) if square else many), self._unit)
        normed = exp.select("cell", "many", cast_to(norm, "BIGINT").as_("norm")).from_(own.subquery("own"))
        total = cast_to(exp.Sum(this=many), "BIGINT")
        return exp.select("norm", "cell", total.as_("many")).from_(normed.subquery("normed")).group_by("norm", "cell")


def _links(rules: Sequence[CountingRule]) -> set[Link]:
    """What visits must know of their trajectory for some rules, and no more, for every window is work."""
    facts = {fact for rule in rules for fact in rule.facts}
    events = {rule.event for rule in rules}
    wanted: dict[Link, bool] = {
        "next": bool(events & {"step", "trajectory"}),
        "first": "trajectory" in events,
        "before": "before" in facts,
        "length": any("length" in rule.facts and rule.event != "trajectory" for rule in rules),
    }
    return {link for link, needed in wanted.items() if needed}


def _events(kept: exp.Select, rule: CountingRule, unit: Sequence[str], places: int) -> exp.Select:
    """What is known of every event: a column for each fact that the rule asks for.

    A step is known by the visit where it begins, and a trajectory by its last visit, whose place is its length.
    """
    known = _ALONG[rule.event]
    if rule.event == "step":
        before = exp.Coalesce(this=exp.column("before_code"), expressions=[exp.Literal.number(places)])
        known = {**known, "before": before}
    facts = [known[fact].as_(fact) for fact in sorted(rule.facts)]
    events = exp.select(*unit, *facts).from_(kept.subquery("kept"))
    more = is_filled(exp.column("next_code"))
    return {"visit": events, "step": events.where(more), "trajectory": events.where(exp.Not(this=more))}[rule.event]


def _hour(minute: exp.Expr) -> exp.Expr:
    """The hour of the day, also of minutes before the public Monday."""
    days, hours = (_divided(minute, each) for each in (_DAY, _HOUR))
    return exp.Sub(this=hours, expression=exp.Mul(this=days, expression=exp.Literal.number(_DAY // _HOUR)))


def _divided(minute: exp.Expr, by: int) -> exp.Expr:
    share = exp.Div(this=cast_to(minute, "DOUBLE"), expression=constant(float(by), Kind.REAL), typed=True)
    return cast_to(exp.Floor(this=share), "BIGINT")


def _same(here: str, there: str) -> exp.Expr:
    return flag(exp.EQ(this=exp.column(here), expression=exp.column(there)))


_ALONG: dict[Happening, dict[Fact, exp.Expr]] = {
    "visit": {"length": exp.column("length"), "here": exp.column("code"), "hour": _hour(exp.column("minute"))},
    "step": {
        "length": exp.column("length"),
        "here": exp.column("code"),
        "there": exp.column("next_code"),
        "same": _same("code", "next_code"),
        "hour": _hour(exp.column("minute")),
        "later": _hour(exp.column("next_minute")),
    },
    "trajectory": {
        "length": exp.column("place"),
        "here": exp.column("first_code"),
        "there": exp.column("code"),
        "same": _same("first_code", "code"),
        "hour": _hour(exp.column("first_minute")),
        "later": _hour(exp.column("minute")),
    },
}


def _joins(lookup: CellLookup, place: int) -> Iterator[tuple[pa.Table, exp.Expr]]:
    """The public tables of a lookup, each with the condition under which it is joined."""
    keys: dict[Fact, str] = {}
    for fact in lookup.facts:
        keys[fact] = fact
        if lookup.groups is not None and lookup.grouped(fact):
            keys[fact] = f"group_{fact}_{place}"
            known = {f"place_{fact}_{place}": np.arange(len(lookup.groups)), keys[fact]: np.asarray(lookup.groups)}
            yield pa.table(known), exp.EQ(this=exp.column(fact), expression=exp.column(f"place_{fact}_{place}"))
    counted = np.nonzero(lookup.values != LEFT_OUT)
    held: dict[str, Whole] = {f"{fact}_{place}": at for fact, at in zip(lookup.facts, counted, strict=True)}
    same = [exp.EQ(this=exp.column(key), expression=exp.column(f"{fact}_{place}")) for fact, key in keys.items()]
    yield pa.table({**held, f"value_{place}": lookup.values[counted]}), exp.and_(*same)

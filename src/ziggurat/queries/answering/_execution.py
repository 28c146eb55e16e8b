"""Answering a planned question: the engine aggregates, noise is added, estimates are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import log
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from ziggurat.data.engines import DuckDBEngine
from ziggurat.data.expressions import exact_sum
from ziggurat.errors import EngineError
from ziggurat.mechanisms import AdditiveNoise, Noisy
from ziggurat.queries._answer import Answer, Effect, Estimate
from ziggurat.queries._question import Measure
from ziggurat.queries._value import Constant, Value
from ziggurat.queries.answering._additive import Need, NoisyTotals
from ziggurat.queries.answering._averages import MeanEstimator, VarianceEstimator
from ziggurat.queries.answering._bounding import UnitTotal, weigh_units
from ziggurat.queries.answering._chosen import Chooser, CountedCandidates, Frequent
from ziggurat.queries.answering._counted import (
    UNIT,
    compare_exactly,
    group_rows,
    key_names,
    rows_of,
    select_counted,
    sort_key,
)
from ziggurat.queries.answering._plan import QuestionPlan
from ziggurat.queries.answering._widening import widen
from ziggurat.queries.answering.watching import (
    BUCKET,
    COUNT,
    Clipped,
    InsideTest,
    LeftOut,
    Reach,
    Watch,
    choose_test,
    count_outside,
    read_outside,
)
from ziggurat.queries.answering.weighing import AskedUnits
from ziggurat.randomness import Source, choose_source, uniform_below
from ziggurat.wording import count_noun

Integers = npt.NDArray[np.int64]
Group = tuple[Constant, ...]

_LARGEST = 2**61


class Execution:
    """One run of a plan."""

    def __init__(self, plan: QuestionPlan, source: Source | None, progress: Callable[[str], None] | None) -> None:
        self.plan, self.question = plan, plan.question
        self.source = choose_source(source)
        self.tell = progress or (lambda _step: None)
        self.salt = int(uniform_below(2**61, source=self.source))
        self.statements: list[str] = []
        self.notes: list[str] = []
        self.averaged_over: dict[str, float] = {}
        self._lost: Integers | None = None
        self._told = False
        self._clipped = [each for each in plan.watches if isinstance(each, Clipped)]
        self._outside: dict[str, Integers] | None = None
        self._none_outside = False

    def answer(self) -> Answer:
        """Do everything in order; the order of the draws is part of what a seed repeats."""
        learned = self._learn()
        estimators, choosers = self.plan.estimators(learned), self.plan.choosers(learned)
        needs = self.plan.measured(estimators)
        sums = self._sums([need for need, _ in needs])
        groups, named = self._groups(sums)
        measured = self._measure(needs, groups, sums)
        estimates = self._answer_named(named)
        for name, estimator in estimators.items():
            estimates[name] = estimator.estimates(measured, self.plan.confidence)
            if isinstance(estimator, MeanEstimator | VarianceEstimator):
                self.averaged_over[name] = float(measured[estimator.needs[-1].identity].values.sum())
        for name, chooser in choosers.items():
            estimates[name] = self._choose(name, chooser, groups)
        effects, estimates = self._effects(estimates, named)
        made = self._assemble(groups, estimates, effects)
        return self._finish(made)

    def _rows(self, inputs: Mapping[str, exp.Expr]) -> exp.Select:
        return select_counted(self.question, self.plan.shared, inputs, self.salt)

    def _query(self, query: exp.Select, step: str, told: bool = False) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self._table(query, step, told).to_pylist()
        return rows

    def _table(self, query: exp.Select, step: str, told: bool = False) -> pa.Table:
        """Run a query, and write its statement down unless another was for what it gives."""
        engine = self.question.relation.engine
        self.tell(step)
        statement = engine.statement(query)
        if not told:
            self.statements.append(statement)
        return engine.query(query, statement)

    def _learn(self) -> dict[str, Value]:
        learned: dict[str, Value] = {}
        for column, ladder in self.plan.ladders.items():
            rows = self._rows({BUCKET: ladder.cell})
            counted = group_rows(rows, [BUCKET], [exp.Count(this=exp.Star()).as_(COUNT)])
            found = {row[BUCKET]: row[COUNT] for row in self._query(counted, f"learning the bounds of {column}")}
            counts = np.array([found.get(place, 0) for place in range(ladder.size)], dtype=np.int64)
            value = learned[column] = ladder.learn(counts, self.source)
            self.notes.append(f"The bounds of {column}, {value.lower} to {value.upper}, were learned privately.")
        return learned

    def _sums(self, needs: Sequence[Need]) -> dict[Group, list[int]]:
        """What the engine counts and adds up, by group; where groups are named, the last number is that of units."""
        wanted = list(needs)
        if self.plan.selection is not None:
            wanted.append(Need("units", None, 1, Fraction(1)))
        if not wanted:
            return {}
        again = self.question.relation.engine.computes_again and not self.plan.weighs
        read = [place if again else _same_presence(wanted, place) for place in range(len(wanted))]
        inputs = {f"input_{place}": cell for place in read if (cell := wanted[place].input) is not None}
        names = [f"input_{place}" if wanted[place].input is not None else None for place in read]
        if self.plan.weighs and (found := self._weigh_here(wanted, inputs, names)) is not None:
            return found
        rows = self._sum_unmoved(wanted, read, names)
        if rows is None:
            query = (self._weigh if self.plan.weighs else self._by_lot)(wanted, inputs, names)
            rows = self._fetch(query) if self._told else self._query(query, "aggregating")
        keys = key_names(self.question)
        return {
            tuple(row[name] for name in keys): [_clip(row[f"measured_{place}"]) for place in range(len(wanted))]
            for row in rows
        }

    def _by_lot(self, needs: Sequence[Need], inputs: Mapping[str, exp.Expr], names: Sequence[str | None]) -> exp.Select:
        """Aggregate the rows that count: all of them, or those that lots have left."""
        return group_rows(self._rows(inputs), key_names(self.question), self._combine(needs, names))

    def _combine(self, needs: Sequence[Need], names: Sequence[str | None]) -> list[exp.Expr]:
        return [
            _combine(need, name, self._has_unit).as_(f"measured_{place}", quoted=True)
            for place, (need, name) in enumerate(zip(needs, names, strict=True))
        ]

    def _sum_unmoved(
        self, needs: Sequence[Need], read: Sequence[int], names: Sequence[str | None]
    ) -> list[dict[str, Any]] | None:
        """The sums of cells as they stand, with which it is seen that none had to be moved; None if any had.

        Whether that is asked depends on nothing but the question, the terms and the engine, and so does what is told.
        Rows without a key have cells, too; they are in groups of which none is answered.
        """
        if not self._looks_outside:
            return None
        test = choose_test(self.question, needs, self._clipped)
        if not test.helps:
            return None
        inputs = {f"input_{place}": cell for place in read if (cell := test.input(place, needs[place])) is not None}
        rows = rows_of(self.question, {**inputs, **test.inputs}, keyless=True)
        query = group_rows(rows, key_names(self.question), [*self._combine(needs, names), *test.columns])
        return self._try_unmoved(test, query)

    def _try_unmoved(self, test: InsideTest, query: exp.Select) -> list[dict[str, Any]] | None:
        engine = self.question.relation.engine
        self.tell("aggregating")
        statement, self._told = engine.statement(query), True
        self.statements.append(statement)
        if test.failed_before(engine):
            return None
        try:
            rows = self._fetch(query, statement)
        except EngineError:
            rows = None  # a cell so far outside that it has no index; whatever else it is, the engine fails again
        if rows is None or not test.holds(rows):
            test.note_outside(engine)
            return None
        self._none_outside = test.finds_none(rows)
        return rows

    def _fetch(self, query: exp.Select, statement: str = "") -> list[dict[str, Any]]:
        """Run a query of which everything was told that may be."""
        rows: list[dict[str, Any]] = self.question.relation.engine.query(query, statement).to_pylist()
        return rows

    @property
    def _looks_outside(self) -> bool:
        """Whether it is seen with the sums that no cell lies outside its bounds, which then need not be counted.

        It depends on nothing but the question, the terms and the engine; and the histogram is the same.
        """
        public = self.plan.selection is None and not self.plan.shared.bounding
        return bool(self._clipped) and public

    def _totals(self, needs: Sequence[Need], names: Sequence[str | None]) -> list[UnitTotal]:
        """What a unit adds to each sum, and at most."""
        rows = self.plan.shared.rows
        return [
            UnitTotal(need.combine, name, need.largest * need.fineness * rows, need.fineness)
            for need, name in zip(needs, names, strict=True)
        ]

    def _weigh_here(
        self, needs: Sequence[Need], inputs: Mapping[str, exp.Expr], names: Sequence[str | None]
    ) -> dict[Group, list[int]] | None:
        """The same as `_weigh` where the engine hands over rows; those that are left out are counted with it."""
        largest = max(need.largest for need in needs)
        asked = AskedUnits(self.question, self.plan.shared, inputs, self._totals(needs, names), largest, self.salt)
        if not asked.possible:
            return None
        self.tell("aggregating")
        try:
            found = asked.weigh(self.plan.selection is None, LeftOut.size, self._query)
        except EngineError:
            found = None  # too much for the engine to hand over, of one unit or of all; else it fails again
        if asked.tells_units:
            self.statements.append(asked.statement)
        if found is None:
            # More rows than can be handed over or held; which statement ran instead would tell of that.
            self._told = asked.tells_units
            return None
        sums, self._lost = found
        return {group: [_clip(each) for each in values] for group, values in sums.items()}

    def _weigh(self, needs: Sequence[Need], inputs: Mapping[str, exp.Expr], names: Sequence[str | None]) -> exp.Select:
        """Aggregate what every unit adds, in part where it has too many rows."""
        shared, keys = self.plan.shared, key_names(self.question)
        totals = self._totals(needs, names)
        groups = shared.groups if keys else None
        added = weigh_units(
            rows_of(self.question, inputs), UNIT, keys, totals, rows=shared.rows, groups=groups, salt=self.salt
        )
        columns = [
            exact_sum(exp.column(f"total_{place}", quoted=True), narrow=True).as_(f"measured_{place}", quoted=True)
            for place in range(len(totals))
        ]
        return group_rows(added, keys, columns)

    @property
    def _has_unit(self) -> bool:
        return self.question.relation.unit_column is not None

    def _groups(self, sums: Mapping[Group, list[int]]) -> tuple[list[Group], Noisy[dict[Any, int]] | None]:
        """The groups to answer: all that are possible if that is public, otherwise those that may be named."""
        if self.plan.selection is None:
            return list(product(*(key.value.domain() or () for key in self.question.keys))), None
        named = self.plan.selection.release({group: values[-1] for group, values in sums.items()}, self.source)
        threshold = self.plan.selection.threshold
        unit = self.question.relation.unit.name
        self.notes.append(f"Groups are shown if their noisy number of units ({unit}) is at least {threshold}.")
        return sorted(named.value, key=sort_key), named

    def _answer_named(self, named: Noisy[dict[Any, int]] | None) -> dict[str, list[Estimate]]:
        """The aggregate that was answered by naming the groups."""
        name, selection = self.plan.split.named_by, self.plan.selection
        if named is None or name is None or selection is None:
            return {}
        half = int(selection.half_width(self.plan.confidence))
        # A group is only seen if its noisy count passed. Just above the threshold that is likely for a group of any
        # size below it, so there the interval reaches down to a single unit.
        near = selection.threshold + float(selection.noise.scale) * log(2 / float(1 - self.plan.confidence))
        return {
            name: [
                Estimate(count, 1 if count < near else max(count - half, 1), max(count + half, 1))
                for _, count in sorted(named.value.items(), key=lambda pair: sort_key(pair[0]))
            ]
        }

    def _measure(
        self,
        needs: Sequence[tuple[Need, AdditiveNoise]],
        groups: Sequence[Group],
        sums: Mapping[Group, list[int]],
    ) -> dict[tuple[str, str], NoisyTotals]:
        measured: dict[tuple[str, str], NoisyTotals] = {}
        for place, (need, noise) in enumerate(needs):
            exact = np.array([sums[group][place] if group in sums else 0 for group in groups], dtype=np.int64)
            noisy = np.asarray(noise.release(exact, self.source).value, dtype=np.int64)
            measured[need.identity] = NoisyTotals(noisy, noise, need.fineness)
        return measured

    def _choose(self, name: str, chooser: Chooser, groups: Sequence[Group]) -> list[Estimate]:
        keys = key_names(self.question)
        rows = self._rows({"candidate": compare_exactly(chooser.value.kind, chooser.cell)})
        query = group_rows(rows, [*keys, "candidate"], [exp.Count(this=exp.Star()).as_(COUNT)])
        found = self._table(query, f"counting the candidates of {name}")
        counts = CountedCandidates(found, keys, chooser.candidates)
        confidence = self.plan.confidence
        if isinstance(chooser, Frequent):
            fewer = chooser.shortfall(confidence)
            self.notes.append(
                f"A value chosen for {name} has at most {count_noun(fewer, 'row')} fewer than the right one."
            )
        return [chooser.choose(counts.of(group), confidence, self.source) for group in groups]

    def _effects(
        self, estimates: dict[str, list[Estimate]], named: Noisy[dict[Any, int]] | None
    ) -> tuple[list[Effect], dict[str, list[Estimate]]]:
        shown = sum(named.value.values()) if named is not None else 0
        effects: list[Effect] = []
        for watch in self.plan.watches:
            counts = self._watch(watch)
            noise = watch.noise(self.plan.split.effects / len(self.plan.watches))
            noisy = np.asarray(noise.release(counts, self.source).value, dtype=np.int64)
            effects.append(watch.effect(noisy, noise, shown))
            estimates = self._widen(estimates, watch, watch.reach(noisy, noise))
        return effects, estimates

    def _watch(self, watch: Watch) -> Integers:
        """The histogram of a watch: counted with the sums, or asked for on its own."""
        if isinstance(watch, LeftOut) and self._lost is not None:
            return self._lost
        if isinstance(watch, Clipped):
            if self._outside is None:
                self._outside = self._count_outside()
            return self._outside[watch.title]
        told = isinstance(watch, LeftOut) and self._told
        return watch.read(self._query(watch.query(), f"estimating {watch.title}", told))

    def _count_outside(self) -> dict[str, Integers]:
        """The histograms of the cells outside their bounds, of all columns at once.

        The statement is told whether it had to be run or not, so that it tells nothing of the rows.
        """
        engine = self.question.relation.engine
        query = count_outside(self._clipped)
        statement = engine.statement(query)
        self.tell("estimating cells outside the bounds")
        self.statements.append(statement)
        rows = [] if self._none_outside else self._fetch(query, statement)
        counts = read_outside(self._clipped, rows)
        return {each.title: histogram for each, histogram in zip(self._clipped, counts, strict=True)}

    def _widen(self, estimates: dict[str, list[Estimate]], watch: Watch, by: Reach) -> dict[str, list[Estimate]]:
        """Stretch the intervals of a single group by the estimated effect; of several nobody knows whose it is."""
        if self.question.keys or by == Reach():
            return estimates
        return {
            each.name: [widen(estimates[each.name][0], each, watch, by, self.averaged_over.get(each.name))]
            for each in self.question.aggregates
        }

    def _assemble(
        self, groups: Sequence[Group], estimates: Mapping[str, list[Estimate]], effects: Sequence[Effect]
    ) -> Answer:
        names = tuple(each.name for each in self.question.aggregates)
        return Answer(
            question=self.question.text,
            keys=tuple(key.name for key in self.question.keys),
            aggregates=names,
            groups=tuple(groups),
            estimates={name: tuple(estimates[name]) for name in names},
            confidence=self.plan.terms.confidence,
            event=self.plan.event,
            origin=self.source.origin,
            effects=tuple(effects),
            notes=(*self.notes, *self._general_notes()),
            statements=tuple(self.statements),
            columns=self.question.columns,
            delta=self.plan.delta,
        )

    def _general_notes(self) -> list[str]:
        notes = []
        if self.plan.shared.bounding:
            shared, unit = self.plan.shared, self.question.relation.unit.name
            groups = f" in each of at most {count_noun(shared.groups, 'group')}" if self.question.keys else ""
            how = "each counts in part" if self.plan.weighs else "lots decide"
            limit = f"Of one {unit}, at most {count_noun(shared.rows, 'row')}{groups} may count"
            notes.append(f"{limit}; where there are more, {how}.")
        if self.question.keys and self.plan.watches:
            notes.append(
                "The interval of a group is about the rows that count, with cells within their bounds; whose the rows "
                "and cells are that the estimates tell of, is not known."
            )
        if any(each.measure is Measure.QUANTILE for each in self.question.aggregates) and self.plan.shared.bounding:
            notes.append("The interval of a quantile is about the rows that count.")
        if self.question.keys:
            notes.append("Rows whose key is missing or not among the declared values are in no group.")
        return notes

    def _finish(self, answer: Answer) -> Answer:
        """Filter, sort and cut what is already noisy."""
        places = list(range(len(answer)))
        if self.question.having is not None:
            places = _passing(answer, self.question.having)
        for ordering in reversed(self.question.order):
            column = answer[ordering.column]
            places.sort(key=lambda place: _orderly(column[place]), reverse=ordering.descending)
        if self.question.limit is not None:
            places = places[: self.question.limit]
        return replace(
            answer,
            groups=tuple(answer.groups[place] for place in places),
            estimates={name: tuple(each[place] for place in places) for name, each in answer.estimates.items()},
        )


def _same_presence(needs: Sequence[Need], place: int) -> int:
    """The need whose input is read for this one: a sum that is there where the counted value is, or itself."""
    need = needs[place]
    if need.combine != "count" or need.input is None:
        return place
    wanted = need.input.sql()
    return next((other for other, each in enumerate(needs) if each.of is not None and each.of.sql() == wanted), place)


def _combine(need: Need, name: str | None, has_unit: bool) -> exp.Expr:
    cell = exp.column(name or "", quoted=True)
    if need.combine == "sum":
        return exact_sum(cell, narrow=True)  # bounded, and laid on a grid of far fewer steps
    if need.combine == "distinct":
        return exp.Count(this=exp.Distinct(expressions=[cell]))
    if need.combine == "units" and has_unit:
        unit: exp.Expr = exp.column(UNIT, quoted=True)
        if name is not None:
            counted = exp.not_(exp.Is(this=cell, expression=exp.Null()), copy=False)
            unit = exp.Case(ifs=[exp.If(this=counted, true=unit)], default=exp.Null())
        return exp.Count(this=exp.Distinct(expressions=[unit]))
    return exp.Count(this=exp.Star() if name is None else cell)


def _clip(number: Any) -> int:
    return max(min(int(number or 0), _LARGEST), -_LARGEST)


def _orderly(value: Any) -> tuple[bool, Any]:
    return (value is None, str(value) if isinstance(value, list) else value)


def _passing(answer: Answer, having: exp.Expr) -> list[int]:
    table = answer.to_arrow(intervals=False)
    table = table.append_column("ziggurat_row", [list(range(len(answer)))])
    with DuckDBEngine() as engine:
        name = engine.attach(table)
        query = exp.select(exp.column("ziggurat_row", quoted=True)).from_(exp.table_(name)).where(having)
        return sorted(engine.query(query).column(0).to_pylist())

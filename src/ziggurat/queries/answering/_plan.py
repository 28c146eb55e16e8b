"""A question, its terms, and what answering it will do and cost: nothing has been read yet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from ziggurat.errors import QuestionError
from ziggurat.mechanisms import AdditiveNoise, PartitionSelection
from ziggurat.privacy import ApproximateDP, Event, Neighbours, PureDP, PureEvent, compose, compose_events
from ziggurat.queries._answer import Answer, in_figures
from ziggurat.queries._question import Aggregate, Measure, Question
from ziggurat.queries._terms import Terms
from ziggurat.queries._value import Value
from ziggurat.queries.answering._additive import SUM_BITS, CountEstimator, Estimator, Need, SumEstimator
from ziggurat.queries.answering._averages import MeanEstimator, VarianceEstimator
from ziggurat.queries.answering._budget import (
    ADDITIVE,
    LEARNING,
    Split,
    has_private_keys,
    noises,
    selection_of_keys,
    split_cost,
)
from ziggurat.queries.answering._chosen import Chooser, Frequent, Ranked
from ziggurat.queries.answering._contribution import Contribution, contribution
from ziggurat.queries.answering._learning import MagnitudeBuckets, placeholder
from ziggurat.queries.answering.watching import Watch, watches_of
from ziggurat.randomness import Source

GROUP_SIZE = 1_000
"""For how large a group a quote says how far off a mean will be, unless another size is stated."""


@dataclass(frozen=True)
class QuotedPart:
    """One line of a quote: what is measured, how, at what cost, and how far off it will be.

    Attributes
    ----------
    name, mechanism, epsilon
        What is measured, with which noise, and its part of the cost.
    half_width
        How far off it will be at worst, as far as noise goes, with the confidence asked for; and half the width of
        its interval. None where nothing can be said before the data are read: `note` says why.
    group_size
        The least number of values of the group that `half_width` is for; None where it does not depend on that.
    unit
        What `half_width` is in; empty for the unit of the answer itself.
    note
        The same in words.
    evenly
        About how far off a variance or a deviation is where values are spread evenly between their bounds, which is far
        less than at worst.
    """

    name: str
    mechanism: str
    epsilon: Fraction
    half_width: float | None
    group_size: int | None = None
    unit: str = ""
    note: str = ""
    evenly: float | None = None

    @property
    def precision(self) -> str:
        """How far off it will be, for people."""
        return self.note or ("" if self.half_width is None else f"± {in_figures(self.half_width)}")

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form; the amount is exact, as text."""
        return {
            "name": self.name,
            "mechanism": self.mechanism,
            "epsilon": str(self.epsilon),
            "half_width": self.half_width,
            "group_size": self.group_size,
            "unit": self.unit,
            "note": self.precision,
            "evenly": self.evenly,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> QuotedPart:
        """Read the JSON form."""
        plain = cls(**{**data, "epsilon": Fraction(data["epsilon"]), "note": ""})
        return plain if plain.precision == data["note"] else replace(plain, note=data["note"])


class QuestionPlan:
    """What answering a question will do, promise and cost; made without reading a private table.

    Promise: `event`, under add-or-remove-one of the unit of the question's relation. Proof: the relation has at most
    so many rows of one unit (proven, or enforced by `bound_rows`), every part is a mechanism of `ziggurat.mechanisms`
    with the sensitivity that follows, and parts compose.

    Parameters
    ----------
    question
        From `parse` or from a builder.
    terms
        What it may cost, and how it is to be answered.
    """

    def __init__(self, question: Question, terms: Terms) -> None:
        self.question, self.terms = question, terms
        self.neighbours = Neighbours(question.relation.unit)
        self.shared: Contribution = contribution(question, terms)
        self.watches: tuple[Watch, ...] = watches_of(question, terms, self.shared, self.neighbours)
        self.split: Split = split_cost(question, terms, self.shared, bool(self.watches))
        self._check_learning()
        self.selection: PartitionSelection | None = None
        if has_private_keys(question):
            self.selection = selection_of_keys(self.split, question, self.shared, self.neighbours)
        self._event = compose_events(self._events())

    @property
    def event(self) -> Event:
        """What will be done to the data; to be reserved before anything is read."""
        return self._event

    @property
    def confidence(self) -> Fraction:
        """The confidence against noise alone: a fifth of the misses is kept for errors that are not noise."""
        return 1 - (1 - self.terms.confidence) * Fraction(4, 5)

    @property
    def delta(self) -> Fraction:
        """The delta at which the promise is stated; 0 for a pure one."""
        return self.split.delta_keys + self.split.delta_noise

    def guarantee(self) -> PureDP | ApproximateDP:
        """The tightest proven promise for this question alone."""
        account = compose(self.event)
        return account.approximate(self.delta) if self.delta else account.pure()

    def identity(self) -> dict[str, Any]:
        """What tells this question, on these terms, from every other: equal ones may share an answer."""
        return {"question": self.question.text, "terms": self.terms.to_dict()}

    def parts(self, group_size: int = GROUP_SIZE) -> list[QuotedPart]:
        """What is measured, at what cost and how precisely, before anything is read.

        Parameters
        ----------
        group_size
            For how large a group to say it, in units with one value each, where the error depends on that: of means,
            variances and deviations. It changes nothing in the answer, and is no part of the question.
        """
        from ziggurat.queries.answering._parts import QuoteLines

        return QuoteLines(self, group_size).lines()

    def run(self, source: Source | None = None, progress: Callable[[str], None] | None = None) -> Answer:
        """Read the table and answer; whoever calls this has reserved `event` first.

        Parameters
        ----------
        source
            Where randomness comes from; secure unless a rehearsal passes its own.
        progress
            Called with a few words before every step that may take long.
        """
        from ziggurat.queries.answering._execution import Execution

        return Execution(self, source, progress).answer()

    def estimators(self, learned: Mapping[str, Value]) -> dict[str, Estimator]:
        """How each additive aggregate is had from sums, with the bounds that were learned."""
        made: dict[str, Estimator] = {}
        for aggregate in self.asked:
            if aggregate.measure in ADDITIVE:
                made[aggregate.name] = self._estimator(aggregate, learned)
        return made

    def choosers(self, learned: Mapping[str, Value]) -> dict[str, Chooser]:
        """How each other aggregate is chosen, with the bounds that were learned."""
        return {
            aggregate.name: self._chooser(aggregate, self._value(aggregate, learned))
            for aggregate in self.asked
            if aggregate.measure not in ADDITIVE
        }

    def measured(self, estimators: Mapping[str, Estimator]) -> list[tuple[Need, AdditiveNoise]]:
        """Everything that is measured with additive noise, once each, with its noise."""
        needs: list[Need] = []
        epsilons: list[Fraction] = []
        places: dict[tuple[str, str], int] = {}
        for name, estimator in estimators.items():
            for need in estimator.needs:
                place = places.setdefault(need.identity, len(needs))
                if place == len(needs):
                    needs.append(need.weighed() if self.weighs else need)
                    epsilons.append(Fraction(0))
                epsilons[place] += need.weight * self.spendable(name)
        made = noises(needs, epsilons, self.split.delta_noise, self.shared, self.neighbours)
        return list(zip(needs, made, strict=True))

    @property
    def weighs(self) -> bool:
        """Whether rows of units that have too many count in part, instead of some by lot."""
        distinct = any(each.measure is Measure.COUNT_DISTINCT for each in self.asked)
        return self.shared.bounding and self.terms.bounding == "weigh" and not distinct

    @cached_property
    def ladders(self) -> dict[str, MagnitudeBuckets]:
        """The histograms from which bounds are learned, by column."""
        found = {each.value.column: each.value for each in self.asked if each.value and self.learns(each)}
        return {
            column: MagnitudeBuckets(value, self.learning[column], self.shared, self.neighbours)
            for column, value in found.items()
            if column is not None
        }

    @cached_property
    def learning(self) -> dict[str, Fraction]:
        """What learning each column costs: a part of every aggregate that needs it."""
        costs: dict[str, Fraction] = {}
        for each in self.asked:
            if self.learns(each) and each.value is not None and each.value.column is not None:
                cost = self.split.aggregates[each.name] * LEARNING
                costs[each.value.column] = costs.get(each.value.column, Fraction(0)) + cost
        return costs

    @property
    def asked(self) -> list[Aggregate]:
        """The aggregates that are not answered by the naming of groups."""
        return [each for each in self.question.aggregates if each.name in self.split.aggregates]

    def learns(self, aggregate: Aggregate) -> bool:
        value = aggregate.value
        return value is not None and value.column in self.terms.learn and needs_bounds(aggregate) and not value.bounded

    def spendable(self, name: str) -> Fraction:
        aggregate = next(each for each in self.asked if each.name == name)
        whole = self.split.aggregates[name]
        return whole * (1 - LEARNING) if self.learns(aggregate) else whole

    def _value(self, aggregate: Aggregate, learned: Mapping[str, Value]) -> Value:
        value = aggregate.value
        assert value is not None
        if self.learns(aggregate):
            return learned.get(value.column or "", placeholder(value))
        return value

    def _estimator(self, aggregate: Aggregate, learned: Mapping[str, Value]) -> Estimator:
        if aggregate.measure in (Measure.COUNT, Measure.COUNT_UNITS, Measure.COUNT_DISTINCT):
            return CountEstimator(aggregate)
        value, learns = self._value(aggregate, learned), self.learns(aggregate)
        if aggregate.measure is Measure.SUM:
            return SumEstimator(aggregate, value, self._bits(aggregate.name), learns)
        if aggregate.measure is Measure.MEAN:
            return MeanEstimator(aggregate, value, self._bits(aggregate.name), learns)
        return VarianceEstimator(aggregate, value, learns)

    def _bits(self, name: str) -> int:
        """How finely a bounded number is laid on a grid: so that the noise spans at most 2**48 of its steps."""
        stretch = self.shared.total / self.spendable(name) * len(self.asked) * 4
        return max(min(SUM_BITS, 48 - int(stretch).bit_length()), 8)

    def _chooser(self, aggregate: Aggregate, value: Value) -> Chooser:
        kind = Ranked if aggregate.measure is Measure.QUANTILE else Frequent
        return kind(aggregate, value, self.spendable(aggregate.name), self.shared, self.neighbours)

    def _events(self) -> list[Event]:
        events: list[Event] = [each.noise.event for each in self.ladders.values()]
        if self.selection is not None:
            events.append(self.selection.event)
        events += [noise.event for _, noise in self.measured(self.estimators({}))]
        for name in self.choosers({}):
            events.append(PureEvent(self.neighbours, self.spendable(name)))
        return events + [watch.noise(self.split.effects / len(self.watches)).event for watch in self.watches]

    def _check_learning(self) -> None:
        for aggregate in self.asked:
            value = aggregate.value
            if value is not None and needs_bounds(aggregate) and not value.bounded and not self.learns(aggregate):
                _refuse_unbounded(aggregate, value)
        known = {each.value.column for each in self.asked if each.value is not None}
        for column in self.terms.learn:
            if column not in known:
                raise QuestionError(f"The bounds of {column!r} cannot be learned: no aggregate is about that column.")


def needs_bounds(aggregate: Aggregate) -> bool:
    """Whether an aggregate is proven only for values with a known range."""
    return aggregate.measure in (
        Measure.SUM, Measure.MEAN, Measure.VARIANCE, Measure.DEVIATION, Measure.QUANTILE,
    )  # fmt: skip


def _refuse_unbounded(aggregate: Aggregate, value: Value) -> None:
    if value.column is None:
        raise QuestionError(
            f"One row could move {aggregate.name!r} by any amount; bound the expression with CLAMP(..., lower, upper)."
        )
    raise QuestionError(
        f"Column {value.column!r} has no public bounds, so one row could move {aggregate.name!r} by any amount; "
        "state bounds for it, wrap it in CLAMP(column, lower, upper), or have them learned out of the same epsilon."
    )

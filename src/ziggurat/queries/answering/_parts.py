"""What a quote says of a question, part by part: what is measured, at what cost, and how far off it will be.

Everything follows from public facts: the schema, the terms, and a size of group that is stated. With n values or more
in a group, the answer is at most `half_width` off with the confidence of the terms, as far as noise goes, and its
interval is hardly ever wider than twice that. Of the misses a fifth, which answers keep for errors that are not noise,
is spared here for a noisy count below what is expected of a group of that size; the proofs are in `_ratios`. The values
of a group are not public, so it is the worst case between the bounds that is told.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, log10

from ziggurat.data import Unit
from ziggurat.errors import ParameterError
from ziggurat.mechanisms import AdditiveNoise
from ziggurat.privacy import whole_number
from ziggurat.queries._answer import in_figures
from ziggurat.queries._question import Aggregate, Measure
from ziggurat.queries.answering._additive import Estimator, Foreseen, Need, width_of
from ziggurat.queries.answering._averages import MeanEstimator, VarianceEstimator
from ziggurat.queries.answering._chosen import MOST_CANDIDATES, Chooser, Frequent, Ranked
from ziggurat.queries.answering._learning import MagnitudeBuckets
from ziggurat.queries.answering._plan import QuestionPlan, QuotedPart
from ziggurat.wording import count_noun

_MOST_UNITS = 2**61
_OF_LEARNED = {
    Measure.SUM: "times the larger learned bound",
    Measure.MEAN: "of the learned range",
    Measure.VARIANCE: "of the square of the learned range",
    Measure.DEVIATION: "of the learned range",
}


class QuoteLines:
    """The lines of a quote for one plan, for groups of a stated size."""

    def __init__(self, plan: QuestionPlan, group_size: int) -> None:
        self.plan, self.size = plan, whole_number(group_size, "group_size")
        if self.size > _MOST_UNITS:
            raise ParameterError("group_size must be at most 2**61; no more units are counted.")
        self.estimators, self.choosers = plan.estimators({}), plan.choosers({})
        found = {need.identity: (need, noise) for need, noise in plan.measured(self.estimators)}
        spare = float(plan.confidence - plan.terms.confidence)
        self.foreseen = Foreseen(found, self.size, plan.confidence, spare)

    def lines(self) -> list[QuotedPart]:
        """Learned bounds, names of groups, what was asked for, and the estimates of errors that are not noise."""
        learned = [self._ladder(name, ladder) for name, ladder in self.plan.ladders.items()]
        return learned + self._names() + [self._aggregate(each) for each in self.plan.asked] + self._watches()

    def _ladder(self, name: str, ladder: MagnitudeBuckets) -> QuotedPart:
        found = ladder.found(self.plan.confidence)
        note = f"powers of two; a step between two that holds {count_noun(found, 'row')} is found"
        return QuotedPart(f"bounds of {name}", repr(ladder.noise), self.plan.learning[name], None, note=note)

    def _names(self) -> list[QuotedPart]:
        selection, cost, name = self.plan.selection, self.plan.split.keys, self.plan.split.named_by
        if selection is None or cost is None:
            return []
        half = float(selection.half_width(self.plan.confidence))
        named = f"a group of {self._units(selection.threshold + int(half))} or more is named"
        if name is None:
            return [QuotedPart("names of groups", repr(selection), cost, None, note=named)]
        return [QuotedPart(name, repr(selection), cost, half, note=f"± {in_figures(half)}; {named}")]

    def _aggregate(self, aggregate: Aggregate) -> QuotedPart:
        if aggregate.name in self.choosers:
            return self._quote_choice(aggregate, self.choosers[aggregate.name])
        return self._quote_estimate(aggregate, self.estimators[aggregate.name])

    def _quote_estimate(self, aggregate: Aggregate, estimator: Estimator) -> QuotedPart:
        half, cost = estimator.half_width(self.foreseen), self.plan.spendable(aggregate.name)
        unit = _OF_LEARNED[aggregate.measure] if self.plan.learns(aggregate) else ""
        if isinstance(estimator, MeanEstimator | VarianceEstimator):
            shown = f"{_upwards(100 * half)}% {unit}" if unit else _upwards(half)
            evenly = estimator.evenly(self.foreseen) if isinstance(estimator, VarianceEstimator) and not unit else None
            note = self._say_size(half >= estimator.widest and estimator.ends[0] < estimator.ends[1], shown, evenly)
            return QuotedPart(aggregate.name, self._noise(estimator), cost, half, self.size, unit, note, evenly)
        note = f"± {_upwards(half)} {unit}" if unit else ""
        return QuotedPart(aggregate.name, self._noise(estimator), cost, half, None, unit, note)

    def _say_size(self, hidden: bool, half: str, evenly: float | None) -> str:
        group = f"in a group of {self._units(self.size)}"
        if hidden:
            return f"{group} the noise hides it: anything that the bounds allow"
        if evenly is not None:
            return f"± {half} at worst {group}, about ± {_upwards(evenly)} if its values are spread evenly"
        return f"± {half} {group}"

    def _noise(self, estimator: Estimator) -> str:
        used = [self.foreseen.noises[need.identity] for need in estimator.needs]
        if self.plan.learns(estimator.aggregate):
            return f"{_kind(used[0][1])} noise, in steps of what is learned"
        step = float(getattr(estimator, "grid", 1))
        return ", ".join(dict.fromkeys(_tell_noise(need, noise, step) for need, noise in used))

    def _quote_choice(self, aggregate: Aggregate, chooser: Chooser) -> QuotedPart:
        cost, confidence = self.plan.spendable(aggregate.name), self.plan.confidence
        if isinstance(chooser, Ranked):
            candidates = MOST_CANDIDATES if self.plan.learns(aggregate) else len(chooser.candidates)
            ranks = chooser.reach(candidates, confidence)
            return QuotedPart(
                aggregate.name, repr(chooser.point), cost, float(ranks), unit="ranks", note=self._say_ranks(ranks)
            )
        assert isinstance(chooser, Frequent)
        fewer = chooser.shortfall(confidence)
        note = f"at most {count_noun(fewer, 'row')} fewer than the right one"
        return QuotedPart(aggregate.name, repr(chooser.mechanism), cost, float(fewer), unit="rows", note=note)

    def _say_ranks(self, ranks: Fraction) -> str:
        group = f"a group of {self._units(self.size)}"
        share = f"{_upwards(float(100 * ranks / self.size))}% of {group}"
        return f"± {_upwards(float(ranks))} ranks, {share if ranks < self.size else f'more than {group} has'}"

    def _watches(self) -> list[QuotedPart]:
        cost = self.plan.split.effects / max(len(self.plan.watches), 1)
        made = []
        for watch in self.plan.watches:
            noise = watch.noise(cost)
            half, unit = watch.half_width(noise), _several(self.plan.question.relation.unit)
            note = f"± {in_figures(half)} {unit}"
            made.append(QuotedPart(watch.title, repr(noise), cost, half, unit=unit, note=note))
        return made

    def _units(self, number: int) -> str:
        return f"{number:,} {_several(self.plan.question.relation.unit)}"


def _several(unit: Unit) -> str:
    if unit.is_row:
        return "rows"
    return "people" if unit.name == "person" else f"units ({unit.name})"


def _upwards(number: float) -> str:
    """A size for people, rounded up to three figures."""
    if not number:
        return "0"
    step = Fraction(10) ** (floor(log10(number)) - 2)
    return in_figures(float(ceil(Fraction(number) / step) * step))


def _kind(noise: AdditiveNoise) -> str:
    return type(noise).__name__


def _tell_noise(need: Need, noise: AdditiveNoise, step: float) -> str:
    """The noise on something measured, in the units of the answer."""
    unit = step if need.combine == "sum" else 1.0
    what = "sum" if need.combine == "sum" else "count"
    return f"{_kind(noise)} noise of {width_of(noise) * unit / need.fineness:.3g} on a {what}"

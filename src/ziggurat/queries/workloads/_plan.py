"""The plan of a workload: what will be measured, what it promises, how exact it will be; and its execution."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np

from ziggurat.data import Table, Unit
from ziggurat.errors import ParameterError, PrivacyError, SchemaError
from ziggurat.mechanisms import AdditiveNoise
from ziggurat.privacy import (
    Amount,
    ApproximateDP,
    Event,
    Neighbours,
    PureDP,
    compose,
    exact_confidence,
    exact_delta,
    exact_epsilon,
    gaussian_mu,
    whole_number,
)
from ziggurat.queries.workloads._answer import GroupAnswer, WorkloadAnswer
from ziggurat.queries.workloads._cells import Label
from ziggurat.queries.workloads._estimate import answers, coarser, estimate_components
from ziggurat.queries.workloads._intervals import Errors
from ziggurat.queries.workloads._noise import (
    gaussian_noise,
    gaussian_variance,
    laplace_noise,
    laplace_variance,
    variance,
)
from ziggurat.queries.workloads._read import counting, lay_out_counts
from ziggurat.queries.workloads._search import search
from ziggurat.queries.workloads._strategy import Floats, Levels, Strategy, in_words, inverse_table, variances
from ziggurat.queries.workloads._workload import Group, Places, Workload, coarsen
from ziggurat.randomness import Source, choose_source, uniform_below

NoiseKind = Literal["laplace", "gaussian"]

# So many different laws of errors are worked out one by one; the rest is bounded.
_MOST_LAWS = 256
# Noise that is always 0 would have infinite weight.
_LEAST_VARIANCE = 1e-12


def plan_workload(
    workload: Workload, unit: Unit, epsilon: Amount, delta: Amount, noise: NoiseKind | None, rows_per_unit: int | None
) -> WorkloadPlan:
    """Choose a strategy and its noise; see `Workload.plan`."""
    if not len(workload):
        raise ParameterError("The workload asks nothing; add a marginal, ranges or the total.")
    eps, allowed, kind = exact_epsilon(epsilon), exact_delta(delta), _kind(noise, exact_delta(delta))
    rows, neighbours = _rows(unit, rows_per_unit), Neighbours(unit)
    maps, groups = coarsen(workload)
    sizes = {name: int(places[-1]) + 1 for name, places in maps.items()}
    strategy = search(groups, sizes, 2 if kind == "laplace" else 1)
    if kind == "laplace":
        mechanisms = laplace_noise(strategy.shares, eps, rows, neighbours)
        alone = laplace_variance(float(most_queries(groups, sizes) * rows / eps))
    else:
        mechanisms = gaussian_noise(strategy.shares, eps, allowed, rows, neighbours)
        sigma = rows * math.sqrt(most_queries(groups, sizes)) / gaussian_mu(float(eps), float(allowed))
        alone = gaussian_variance(sigma)
    return WorkloadPlan(workload, unit, rows, strategy, tuple(mechanisms), maps, groups, math.sqrt(alone))


def _kind(noise: NoiseKind | None, delta: Fraction) -> NoiseKind:
    kind = noise or ("gaussian" if delta else "laplace")
    if kind not in ("laplace", "gaussian"):
        raise ParameterError("noise must be 'laplace' or 'gaussian'.")
    if (kind == "gaussian") != (delta > 0):
        raise ParameterError(
            "Laplace noise promises delta 0, Gaussian noise needs a delta above 0; change one of them."
        )
    return kind


def _rows(unit: Unit, rows_per_unit: int | None) -> int:
    if not isinstance(unit, Unit):
        raise ParameterError("Say whom to protect: give table.unit, or a Unit such as Unit.person('patient').")
    if rows_per_unit is None:
        if not unit.is_row:
            raise ParameterError(f"State rows_per_unit=..., how many rows of {unit} may count at most.")
        return 1
    if unit.is_row and rows_per_unit != 1:
        raise ParameterError("If the unit is a row, one row of each counts; leave rows_per_unit out.")
    return whole_number(rows_per_unit, "rows_per_unit")


def most_queries(groups: Sequence[Group], sizes: Mapping[str, int]) -> int:
    """The most queries that one row can count in: the sensitivity, in l1, of asking them one by one.

    A group has ranges over one column at most, so that a row can be where every column is covered most.
    """
    marginals, covered = 0, {name: np.zeros(size, dtype=np.int64) for name, size in sizes.items()}
    for group in groups:
        ranges = [(name, each) for name, each in group.factors.items() if each is not None]
        marginals += not ranges
        for name, each in ranges:
            covered[name] += each.coverage(sizes[name])
    return marginals + sum(int(coverage.max()) for coverage in covered.values())


@dataclass(frozen=True, eq=False, repr=False)
class WorkloadPlan:
    """What will be measured for a workload, and what is known of it before any data are read.

    Promise: what `event` says, for tables that differ in one unit. Every histogram is a function of the rows that were
    kept of each unit, at most `sensitivity` of them, moves by at most that in l1 and in l2 (see `_strategy`), and is
    protected by integer noise on its own. Whatever follows, least squares included, is post-processing.

    Attributes
    ----------
    workload
        What is asked.
    unit
        Whom the promise is about; neighbours add or remove one.
    sensitivity
        How far one unit moves each histogram: the rows of each unit that count.
    measurement
        The histograms and their shares of the budget.
    mechanisms
        The noise of each.
    """

    workload: Workload
    unit: Unit
    sensitivity: int
    measurement: Strategy
    mechanisms: tuple[AdditiveNoise, ...]
    _maps: Mapping[str, Places]
    _groups: tuple[Group, ...]
    _alone: float
    _spreads: dict[Fraction, list[tuple[Floats, Floats]]] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<WorkloadPlan for {len(self.workload):,} queries about {self.unit}: {self.strategy}>"

    @property
    def event(self) -> Event:
        """What to write in the ledger: one event for each histogram, composed."""
        return compose(*(each.event for each in self.mechanisms)).event

    def guarantee(self, delta: Amount = 0) -> PureDP | ApproximateDP:
        """The tightest proven promise at `delta` (a pure one where delta is 0)."""
        account, allowed = compose(self.event), exact_delta(delta)
        if allowed > 0:
            return account.approximate(allowed)
        try:
            return account.pure()
        except PrivacyError:
            raise PrivacyError("Gaussian noise promises nothing at delta 0; ask for guarantee(delta=...).") from None

    @property
    def strategy(self) -> str:
        """What is measured, in words, with each histogram's share of the budget."""
        return in_words(self.measurement)

    @cached_property
    def expected_error(self) -> float:
        """The root of the mean squared error of all answers, weighted as the workload says."""
        squared, count = 0.0, 0.0
        for group, asked in zip(self._groups, self.workload.groups, strict=True):
            queries = math.prod(asked.shape(self.workload.cells))
            found = variances(self.measurement.space, group, self._eigenvalues)
            squared += group.weight * queries * float(found.mean())
            count += group.weight * queries
        return math.sqrt(squared / count)

    @property
    def one_by_one_error(self) -> float:
        """The error if every query were asked on its own, with the budget split evenly among all of them.

        The split is the best even one: queries that no row can be in together share their part.
        """
        return self._alone

    @property
    def improvement(self) -> float:
        """How many times smaller the expected error is than that of asking one by one."""
        return self.one_by_one_error / self.expected_error

    def half_width(self, confidence: Amount = "0.95") -> float:
        """Half the width of the widest interval of all answers: further off is none, with this confidence each."""
        return max(float(halves.max()) for _, halves in self._spread(exact_confidence(confidence)))

    def run(
        self,
        table: Table,
        source: Source | None = None,
        *,
        confidence: Amount = "0.95",
        nonnegative: bool = False,
    ) -> WorkloadAnswer:
        """Measure the table and answer every query.

        Parameters
        ----------
        table
            On any engine; its unit must be the plan's.
        source
            Secure randomness unless a rehearsal passes its own.
        confidence
            With which probability each interval holds its true value.
        nonnegative
            Raise answers below 0 to 0; they are then biased, and no longer add up.
        """
        self._require(table)
        level, stream = exact_confidence(confidence), choose_source(source)
        counts, statement = self._count(table, stream)
        answered = self._release(counts, stream, level, nonnegative)
        return WorkloadAnswer(answered, self.event, stream.origin, level, self.strategy, nonnegative, (statement,))

    def _require(self, table: Table) -> None:
        Neighbours(table.unit).require(Neighbours(self.unit))
        for name, cells in self.workload.cells.items():
            if table.schema[name] != cells.column:
                raise SchemaError(
                    f"The table describes column {name!r} otherwise; make the workload from table.schema."
                )

    def _release(
        self, counts: Sequence[Any], source: Source, level: Fraction, nonnegative: bool
    ) -> tuple[GroupAnswer, ...]:
        """Protect exact histograms and answer from the noisy ones."""
        parts = estimate_components(self.measurement, self._noisy(counts, source), self._weights, self._eigenvalues)
        return tuple(self._answer_group(place, parts, level, nonnegative) for place in range(len(self._groups)))

    def _noisy(self, counts: Sequence[Any], source: Source) -> list[Any]:
        return [each.release(count, source).value for each, count in zip(self.mechanisms, counts, strict=True)]

    @cached_property
    def _weights(self) -> Floats:
        return np.array([1 / max(variance(each), _LEAST_VARIANCE) for each in self.mechanisms])

    @cached_property
    def _eigenvalues(self) -> Mapping[Levels, float]:
        components = self.measurement.space.components(self._groups)
        return self.measurement.eigenvalues(components, self._weights)

    def _answer_group(self, place: int, parts: Any, level: Fraction, nonnegative: bool) -> GroupAnswer:
        group, asked = self._groups[place], self.workload.groups[place]
        sizes = {name: int(places[-1]) for name, places in self._maps.items()}
        values = answers(self.measurement.space, group, parts, sizes)
        deviations, halves = self._spread(level)[place]
        low, high = values - halves, values + halves
        if nonnegative:
            values, low, high = (np.maximum(each, 0.0) for each in (values, low, high))
        wide = np.broadcast_to(deviations, values.shape)
        return GroupAnswer(asked.name, self._labels[place], *(each.ravel() for each in (values, wide, low, high)))

    @cached_property
    def _labels(self) -> list[dict[str, list[Label]]]:
        cells = self.workload.cells
        return [group.labels(cells) for group in self.workload.groups]

    def _spread(self, level: Fraction) -> list[tuple[Floats, Floats]]:
        """The deviation and half width of every answer, group by group: facts of the plan, worked out once."""
        if level not in self._spreads:
            errors = Errors(self.measurement, self.mechanisms, self._weights, float(1 - level))
            self._spreads[level] = [self._group_spread(group, errors) for group in self._groups]
        return self._spreads[level]

    def _group_spread(self, group: Group, errors: Errors) -> tuple[Floats, Floats]:
        space = self.measurement.space
        deviations = np.sqrt(variances(space, group, self._eigenvalues))
        inverse = inverse_table(space, group, self._eigenvalues)
        return deviations, errors.half_widths(group, inverse, deviations, _MOST_LAWS // len(self._groups))

    def _count(self, table: Table, source: Source) -> tuple[list[Any], str]:
        """Count every histogram exactly, from the sets of columns that no other set contains."""
        space = self.measurement.space
        supports = {frozenset(space.support(levels)) for levels in self.measurement.measured}
        largest = sorted((each for each in supports if not any(each < other for other in supports)), key=sorted)
        sets = [[space.columns[place] for place in sorted(each)] for each in largest]
        salt = 0 if self.unit.is_row else uniform_below(2**62, source=source)
        query = counting(table, self.workload.cells, sets, self.sensitivity, salt)
        sizes = {name: space.chain(name).size for name in space.columns}
        joints = dict(zip(largest, lay_out_counts(table.query(query), sets, self._maps, sizes), strict=True))
        counts = [self._histogram(joints, levels) for levels in self.measurement.measured]
        return counts, table.engine.statement(query)

    def _histogram(self, joints: Mapping[frozenset[int], Any], levels: Levels) -> Any:
        space = self.measurement.space
        wanted = set(space.support(levels))
        found = min((each for each in joints if wanted <= each), key=lambda each: joints[each].size)
        full = space.finest([space.columns[place] for place in found])
        return coarser(space, joints[found], full, levels)

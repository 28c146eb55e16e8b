"""Whether a table holds what its models say, judged by its own cells.

Nothing here comes from the search for generalisations: classes are counted anew from the table that leaves, and every
model is computed from its definition, in another form than the search uses where there is one (the earth mover's
distance over a tree as flow over its edges, entropy and recursive diversity over all classes at once).

A missing cell is no value unless the model says so. Then a model must hold whatever stands in the missing cells:

- distinct l-diversity counts the others;
- entropy and recursive l-diversity are worst if all missing cells hold the most frequent value: these counts majorise
  all others that are possible;
- the distance of t-closeness is at most (1 - m) D + m, where D is the distance between the cells that are not missing
  and m the larger share of missing cells, that of the class or that of the table: a share 1 - m of both are such cells,
  and nothing moves farther than 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.anonymize import (
    AverageRisk,
    HighestRisk,
    KAnonymity,
    KMap,
    LDiversity,
    Presence,
    PrivacyModel,
    TCloseness,
)
from ziggurat.attacks.tables._classes import ColumnCounts
from ziggurat.attacks.tables._covered import Cover, people_in
from ziggurat.data import Hierarchy, Schema
from ziggurat.data.coded import CodedTable, Codes, sum_counts
from ziggurat.errors import ParameterError

Floats = npt.NDArray[np.float64]

_ROUNDING = 1e-9  # a class exactly at its limit passes, however its shares were rounded
_CELLS = 4_000_000  # of classes times values that are looked at together


@dataclass(frozen=True)
class Verified:
    """One model, and what the table holds of it.

    Attributes
    ----------
    model
        What it says, in words.
    figure, measured
        What was measured, and its worst value over all classes.
    held
        Whether the model holds.
    """

    model: str
    figure: str
    measured: float
    held: bool


@dataclass(frozen=True)
class Claims:
    """What is said of a table, and all that is needed to judge it.

    Attributes
    ----------
    models, quasi_identifiers
        The models, and the columns whose agreement makes a class.
    original
        How often every value of the sensitive columns occurs in the original table, for t-closeness.
    schema
        The columns of the original table: the order of values, and their hierarchies.
    covers
        For each quasi-identifier which of its values a cell of the table may stand for, for models about a population.
    people
        The population, if a model speaks of one.
    """

    models: Sequence[PrivacyModel]
    quasi_identifiers: Sequence[str]
    original: Mapping[str, CodedTable]
    schema: Schema
    covers: Mapping[str, Cover]
    people: ColumnCounts | None = None


def verify_models(released: CodedTable, claims: Claims) -> tuple[Verified, ...]:
    """Judge every model by the counted cells of a table: quasi-identifiers and sensitive columns."""
    classes = _PublishedClasses(released, claims)
    return tuple(_judge(model, classes) for model in claims.models)


def _judge(model: PrivacyModel, classes: _PublishedClasses) -> Verified:
    if isinstance(model, LDiversity):
        return _diversity(model, classes)
    if isinstance(model, TCloseness):
        return _closeness(model, classes)
    if isinstance(model, KMap | Presence):
        return _population(model, classes)
    sizes = classes.sizes
    if isinstance(model, KAnonymity | HighestRisk):
        least = model.k if isinstance(model, KAnonymity) else math.ceil(1 / model.risk - _ROUNDING)
        return Verified(model.sentence, "rows in the smallest class", int(sizes.min()), bool(sizes.min() >= least))
    if isinstance(model, AverageRisk):
        average = sizes.size / int(sizes.sum())
        return Verified(model.sentence, "average risk", average, average <= model.risk * (1 + _ROUNDING))
    raise ParameterError(f"There is no check of the model {type(model).__name__!r}, so that it cannot be promised.")


class _PublishedClasses:
    """The classes of a table, and the values of its sensitive columns in each."""

    def __init__(self, released: CodedTable, claims: Claims) -> None:
        self.released, self.claims = released, claims
        self.shown, self.ids = released.distinct(claims.quasi_identifiers)
        self.sizes = self.shown.counts

    def values(self, column: str, *, missing: bool) -> _SensitiveValues:
        """The values of a sensitive column; with `missing`, missing cells are one."""
        codes, held = _canonical(self.released, column, self.claims.schema)
        kinds = len(held)
        keys, inverse = np.unique(self.ids * kinds + codes, return_inverse=True)
        counts = sum_counts(inverse.ravel(), keys.size, self.released.counts)
        known = np.array([missing or value is not None for value in held], np.bool)[keys % kinds]
        unknown = _add_up(keys[~known] // kinds, counts[~known], self.sizes.size)
        return _SensitiveValues(keys[known] // kinds, keys[known] % kinds, counts[known], unknown, self.sizes, held)

    @cached_property
    def people(self) -> tuple[Codes, int]:
        """How many people of the population each class may be, and how many look like no class."""
        if self.claims.people is None:
            raise ParameterError("A model speaks of a population, and there is none.")
        everybody = self.claims.people.of(self.claims.quasi_identifiers)
        return people_in(everybody, self.shown, self.claims.covers)


def _canonical(counted: CodedTable, column: str, schema: Schema) -> tuple[Codes, list[Any]]:
    """The cells of a column with all that means "missing" as one None: NULL, what is no number, and declared codes."""
    codes, values = counted.column(column)
    missing = set(schema[column].missing)
    numbers: dict[Any, int] = {}
    places = []
    for value in values.to_pylist():
        absent = value in missing or (isinstance(value, float) and not math.isfinite(value))
        places.append(numbers.setdefault(None if absent else value, len(numbers)))
    return np.array(places, np.int64)[codes], list(numbers)


@dataclass(frozen=True)
class _SensitiveValues:
    """The values of a sensitive column: the i-th value of class ids[i] is held[codes[i]], in counts[i] rows."""

    ids: Codes
    codes: Codes
    counts: Codes
    unknown: Floats
    sizes: Codes
    held: list[Any]

    @cached_property
    def rank(self) -> Codes:
        """The place of each value in its class, the most frequent first."""
        order = np.lexsort((-self.counts, self.ids))
        first = np.searchsorted(self.ids[order], np.arange(self.sizes.size))
        rank = np.empty(order.size, np.int64)
        rank[order] = np.arange(order.size) - first[self.ids[order]]
        return rank

    @cached_property
    def distinct(self) -> Codes:
        return np.bincount(self.ids, minlength=self.sizes.size)

    def sums_where(self, chosen: npt.NDArray[np.bool]) -> Floats:
        return _add_up(self.ids[chosen], self.counts[chosen], self.sizes.size)


def _diversity(model: LDiversity, classes: _PublishedClasses) -> Verified:
    values = classes.values(model.column, missing=model.missing_is_a_value)
    if model.kind == "distinct":
        least = int(values.distinct.min())
        return Verified(model.sentence, f"fewest values of {model.column!r} in a class", least, least >= model.l)
    if model.kind == "entropy":
        spread = float(np.exp(_entropies(values).min()))
        held = math.log(spread) >= math.log(model.l) - _ROUNDING
        return Verified(model.sentence, f"least spread of {model.column!r}, as so many equal values", spread, held)
    most = values.sums_where(values.rank == 0) + values.unknown
    rest = values.sums_where(values.rank >= model.l - 1)
    held = bool(((most < (model.c or 0.0) * rest) & (values.distinct >= model.l)).all())
    ratio = float(np.max(np.divide(most, rest, out=np.full(most.size, np.inf), where=rest > 0)))
    return Verified(model.sentence, f"most frequent value of {model.column!r} over the tail, at most", ratio, held)


def _entropies(values: _SensitiveValues) -> Floats:
    counts = values.counts + np.where(values.rank == 0, values.unknown[values.ids], 0.0)
    shares = counts / values.sizes[values.ids]
    return _add_up(values.ids, -shares * np.log(shares), values.sizes.size)


def _closeness(model: TCloseness, classes: _PublishedClasses) -> Verified:
    original = classes.claims.original[model.column]
    column = classes.claims.schema[model.column]
    order = column.categories.values if column.categories is not None and column.categories.ordered else ()
    cells, everything = _canonical(original, model.column, classes.claims.schema)
    domain = _order(everything, order, missing=model.missing_is_a_value)
    values = classes.values(model.column, missing=model.missing_is_a_value)
    places = np.array([domain.get(value, -1) for value in values.held], np.int64)[values.codes]
    figure = f"largest distance of {model.column!r} from the whole table"
    if (places < 0).any() or not domain:
        return Verified(model.sentence, figure, 1.0, model.t >= 1.0 and not (places < 0).any())
    overall = np.zeros(len(domain))
    totals = _add_up(cells, original.counts, len(everything))
    for value, count in zip(everything, totals.tolist(), strict=True):
        if value in domain:
            overall[domain[value]] += count
    gone = 1 - overall.sum() / original.rows
    cost = _ground(model, list(domain), column.hierarchy)
    farthest = max(_farthest(values, places, overall / overall.sum(), float(gone), cost))
    return Verified(model.sentence, figure, farthest, farthest <= model.t + _ROUNDING)


def _order(held: Sequence[Any], order: Sequence[object], *, missing: bool) -> dict[Any, int]:
    """The place of each value of the original table: in the public order, then in their own, missing last."""
    rank = {value: place for place, value in enumerate(order)}
    values = [value for value in held if value is not None or missing]
    values.sort(key=lambda value: (value is None, rank.get(value, len(rank)), 0 if value is None else value))
    return {value: place for place, value in enumerate(values)}


def _farthest(values: _SensitiveValues, places: Codes, overall: Floats, gone: float, cost: Any) -> Iterator[float]:
    """The distance of the farthest class, some classes at a time."""
    step = max(1, _CELLS // overall.size)
    known = values.sizes - values.unknown
    for start in range(0, values.sizes.size, step):
        end = min(start + step, values.sizes.size)
        here = (values.ids >= start) & (values.ids < end)
        table = np.zeros((end - start, overall.size))
        np.add.at(table, (values.ids[here] - start, places[here]), values.counts[here])
        share = table / np.maximum(known[start:end], 1)[:, None]
        worst = np.maximum(values.unknown[start:end] / values.sizes[start:end], gone)
        yield float((worst + (1 - worst) * cost(share - overall)).max())


def _ground(model: TCloseness, domain: list[Any], declared: Hierarchy | None) -> Any:
    """What moving differences of shares costs, for many classes at once."""
    if model.distance == "equal":
        return lambda extra: np.abs(extra).sum(1) / 2
    if model.distance == "ordered":
        return lambda extra: np.abs(np.cumsum(extra, 1)[:, :-1]).sum(1) / max(len(domain) - 1, 1)
    levels = _subtrees(model.hierarchy or declared, domain)
    return lambda extra: sum(np.abs(extra @ level).sum(1) for level in levels) / (2 * len(levels))


def _subtrees(hierarchy: Hierarchy | None, domain: list[Any]) -> list[Floats]:
    """For each level below the root which value is in which subtree; two that meet at height a of h are a / h apart."""
    if hierarchy is None:
        raise ParameterError("The hierarchical distance needs a hierarchy.")
    rooted = len({labels[-1] for labels in hierarchy.levels.values()}) == 1
    between = hierarchy.depth - rooted
    paths = [
        (value, *(hierarchy.levels[value][:between] if value is not None else (None,) * between)) for value in domain
    ]
    found = []
    for level in range(between + 1):
        names: dict[Any, int] = {}
        places = [names.setdefault((path[level] is None, path[level]), len(names)) for path in paths]
        found.append(np.eye(len(names))[places])
    return found


def _population(model: KMap | Presence, classes: _PublishedClasses) -> Verified:
    people, strangers = classes.people
    if isinstance(model, KMap):
        least = int(people.min())
        return Verified(
            model.sentence, "people of the population that a row looks like, at least", least, least >= model.k
        )
    shares = np.where(people > 0, classes.sizes / np.maximum(people, 1), 2.0)
    low = 0.0 if strangers else float(shares.min())
    held = low >= model.lower - _ROUNDING and float(shares.max()) <= model.upper + _ROUNDING
    figure = "largest share of a class of the population that is in the table"
    if float(shares.max()) <= model.upper + _ROUNDING and not held:
        return Verified(model.sentence, "smallest share of a class of the population that is in the table", low, held)
    return Verified(model.sentence, figure, float(shares.max()), held)


def _add_up(ids: Codes, weights: npt.NDArray[Any], number: int) -> Floats:
    return np.asarray(np.bincount(ids, weights, number), np.float64)

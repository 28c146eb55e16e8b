"""The search finds what looking at every generalisation finds, by code that shares nothing with it."""

import itertools
import math
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ziggurat.anonymize import (
    AverageRisk,
    ClassSize,
    Discernibility,
    Entropy,
    HighestRisk,
    KAnonymity,
    KMap,
    LDiversity,
    Loss,
    Metric,
    Precision,
    Presence,
    PrivacyModel,
    TCloseness,
)
from ziggurat.anonymize.generalizing import _kernels as kernels
from ziggurat.anonymize.generalizing import _search as searching
from ziggurat.anonymize.generalizing._asking import question_of
from ziggurat.anonymize.generalizing._combinations import (
    Combinations,
    Ladder,
    code_hierarchy,
    code_levels,
    count_combinations,
)
from ziggurat.anonymize.generalizing._local import judge_of
from ziggurat.anonymize.generalizing._local_kernels import judge_groups
from ziggurat.anonymize.generalizing._models import ModelNumbers
from ziggurat.anonymize.generalizing._problem import _pairs
from ziggurat.anonymize.generalizing._search import Lattice, _LatticeSearch
from ziggurat.attacks import Claims, ColumnCounts, Cover, verify_models
from ziggurat.data import Categories, Column, Hierarchy, Kind, Schema, Table
from ziggurat.data.engines import DuckDBEngine

Row = tuple[str | None, ...]
QI = ("a", "b", "c", "d")
TREE = Hierarchy({"u": ("uv", "*"), "v": ("uv", "*"), "w": ("wx", "*"), "x": ("wx", "*")})
ENGINE = DuckDBEngine()
METRICS = (Loss, Entropy, Precision, Discernibility, ClassSize)


@dataclass
class Case:
    """A table in plain Python: quasi-identifiers, sensitive cells, the population."""

    trees: tuple[dict[str, tuple[str, ...]], ...]
    rows: tuple[Row, ...]
    private: tuple[Row, ...]
    people: tuple[Row, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return QI[: len(self.trees)]

    @property
    def heights(self) -> list[int]:
        return [1 + len(next(iter(tree.values()))) for tree in self.trees]

    def missing(self, column: int) -> bool:
        return any(row[column] is None for row in (*self.rows, *self.people))

    def label(self, column: int, cell: str | None, level: int) -> str | None:
        tree = self.trees[column]
        if cell is None:
            tops = {labels[-1] for labels in tree.values()}
            return tops.pop() if level == self.heights[column] - 1 and len(tops) == 1 else None
        return (cell, *tree[cell])[level]

    def leaves(self, column: int, label: str | None, level: int) -> int:
        cells = [*self.trees[column], *([None] if self.missing(column) else [])]
        return sum(self.label(column, cell, level) == label for cell in cells)

    def generalised(self, row: Row, levels: Sequence[int]) -> Row:
        return tuple(
            self.label(column, cell, level) for column, (cell, level) in enumerate(zip(row, levels, strict=True))
        )

    def domain(self, column: int) -> int:
        return len(self.trees[column]) + self.missing(column)


def distance(model: TCloseness, here: Counter[Any], everywhere: Counter[Any], order: Sequence[Any]) -> float:
    """The earth mover's distance: between neighbours in the order, or over the edges of the tree."""
    inside, outside = sum(here.values()), sum(everywhere.values())
    if not model.missing_is_a_value and everywhere[None]:
        # No more than so much can have to move that is not known, and the rest is that of the cells that are.
        worst = max(here[None] / inside, everywhere[None] / outside)
        if worst == 1:
            return 1.0
        known = [Counter({value: many for value, many in each.items() if value}) for each in (here, everywhere)]
        return worst + (1 - worst) * distance(model, *known, [value for value in order if value])
    extra = {value: here[value] / inside - everywhere[value] / outside for value in order}
    if model.distance == "equal":
        return sum(each for each in extra.values() if each > 0)
    if model.distance == "ordered":
        flows = itertools.accumulate(extra[value] for value in order)
        return sum(map(abs, flows)) / max(len(order) - 1, 1)
    paths = {value: (str(value), *(TREE.levels[value][:-1] if value else ("none",)), "*") for value in order}
    height, total = 2, 0.0
    for level in range(height):
        subtrees: Counter[Any] = Counter()
        for value in order:
            subtrees[paths[value][level:]] += extra[value]
        total += sum(map(abs, subtrees.values())) / (2 * height)
    return total


def completed(here: Counter[Any]) -> list[Counter[Any]]:
    """All that a class may hold if its missing cells are anything, a value that nobody else has included."""
    known = Counter({value: many for value, many in here.items() if value is not None})
    cells = itertools.combinations_with_replacement([*"uvwx", "new"], here[None])
    return [known + Counter(each) for each in cells]


def diverse(model: LDiversity, here: Counter[Any]) -> bool:
    if here[None] and not model.missing_is_a_value:
        return all(diverse(model, each) for each in completed(here))
    here = Counter({value: many for value, many in here.items() if many})
    counts = sorted(here.values(), reverse=True)
    if model.kind == "distinct":
        return len(counts) >= model.l
    if model.kind == "entropy":
        return -sum(n / sum(counts) * math.log(n / sum(counts)) for n in counts) >= math.log(model.l) - 1e-9
    return len(counts) >= model.l and counts[0] < (model.c or 0) * sum(counts[int(model.l) - 1 :])


def satisfied(case: Case, model: PrivacyModel, inside: list[int], people: int) -> bool:
    if isinstance(model, KAnonymity):
        return len(inside) >= model.k
    if isinstance(model, HighestRisk):
        return 1 / len(inside) <= model.risk + 1e-12
    if isinstance(model, KMap):
        return people >= model.k
    if isinstance(model, Presence):
        return people > 0 and model.lower - 1e-9 <= len(inside) / people <= model.upper + 1e-9
    if isinstance(model, LDiversity | TCloseness):
        place = ("s", "r").index(model.column)
        cells = [row[place] for row in case.private]
        here = Counter(cells[at] for at in inside)
        if isinstance(model, LDiversity):
            return diverse(model, here)
        order = sorted(set(cells), key=lambda cell: (cell is None, cell or ""))
        return distance(model, here, Counter(cells), order) <= model.t + 1e-9
    return True


def kept_rows(case: Case, models: Sequence[PrivacyModel], levels: Sequence[int]) -> set[int]:
    classes: dict[Row, list[int]] = {}
    for at, row in enumerate(case.rows):
        classes.setdefault(case.generalised(row, levels), []).append(at)
    people = Counter(case.generalised(row, levels) for row in case.people)
    passing = [
        inside
        for label, inside in classes.items()
        if all(satisfied(case, model, inside, people[label]) for model in models)
    ]
    for model in models:
        if isinstance(model, AverageRisk):
            while passing and len(passing) > model.risk * sum(map(len, passing)) * (1 + 1e-9):
                least = min(map(len, passing))
                passing = [inside for inside in passing if len(inside) > least]
    for model in models:
        # Who is in no class that is published seems to be absent.
        if isinstance(model, Presence) and model.lower > 0 and len(passing) < len({*people, *classes}):
            return set()
    return {at for inside in passing for at in inside}


def score_of(case: Case, metric: Metric, levels: Sequence[int], kept: set[int]) -> float:
    n, m = len(case.rows), len(levels)
    gone = n - len(kept)
    sizes = Counter(case.generalised(case.rows[at], levels) for at in kept)
    if isinstance(metric, Discernibility):
        return sum(size**2 for size in sizes.values()) + gone * n
    if isinstance(metric, ClassSize):
        return n / (len(sizes) + (gone > 0))
    weights = [metric.weights.get(name, 1) for name in case.names]
    shares = [weight / sum(weights) for weight in weights]
    if isinstance(metric, Precision):
        parts = [level / (height - 1) for level, height in zip(levels, case.heights, strict=True)]
        return sum(w * ((n - gone) * part + gone) / n for w, part in zip(shares, parts, strict=True))
    if isinstance(metric, Entropy):
        return sum(m * w * bits(case, column, levels[column], kept) for column, w in enumerate(shares))
    lost = [column_loss(case, column, levels[column], kept) for column in range(m)]
    return math.prod((1 + x) ** w for x, w in zip(lost, shares, strict=True)) - 1


def column_loss(case: Case, column: int, level: int, kept: set[int]) -> float:
    n, domain = len(case.rows), case.domain(column)
    if domain == 1:
        return 0.0
    labels = [case.label(column, case.rows[at][column], level) for at in kept]
    total = sum(case.leaves(column, label, level) / domain for label in labels) + n - len(kept)
    return max(0.0, (total - n / domain) / (n - n / domain))


def bits(case: Case, column: int, level: int, kept: set[int]) -> float:
    cells = [row[column] for row in case.rows]
    labels = [case.label(column, cell, level) for cell in cells]
    fine, coarse = Counter(cells), Counter(labels)
    total = -sum(math.log2(fine[cell] / coarse[label]) for cell, label in zip(cells, labels, strict=True))
    lost = Counter(label for at, label in enumerate(labels) if at not in kept)
    return total - sum(count * math.log2(count / sum(lost.values())) for count in lost.values())


@st.composite
def trees(draw: st.DrawFn) -> dict[str, tuple[str, ...]]:
    """A tree whose top is not always one label, and which may have values that no row has."""
    size, depth = draw(st.integers(1, 4)), draw(st.integers(1, 2))
    groups, many, levels = list(range(size)), size, []
    for level in range(depth):
        one_top = level == depth - 1 and draw(st.booleans())
        above = [0 if one_top else draw(st.integers(0, max(many - 1, 0))) for _ in range(many)]
        groups = [above[group] for group in groups]
        levels.append([f"{level}:{group}" for group in groups])
        many = max(groups) + 1
    return {f"v{value}": tuple(labels[value] for labels in levels) for value in range(size)}


@st.composite
def cases(draw: st.DrawFn) -> Case:
    made = tuple(draw(trees()) for _ in range(draw(st.integers(1, 3))))
    cells = [st.sampled_from([*tree, *tree, None]) for tree in made]
    sensitive = st.tuples(st.sampled_from("uvwx") | st.none(), st.sampled_from("uvw"))
    pairs = draw(st.lists(st.tuples(st.tuples(*cells), sensitive), min_size=1, max_size=12))
    rows = tuple(row for row, _ in pairs)
    more = draw(st.lists(st.tuples(*cells), max_size=8))
    people = (*(rows if draw(st.booleans()) else ()), *(more or rows[:1]))
    return Case(made, rows, tuple(private for _, private in pairs), people)


def models_for(population: Table) -> st.SearchStrategy[list[PrivacyModel]]:
    column, share = st.sampled_from("sr"), st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.5, 0.75, 1.0])
    counts = st.booleans()
    positive = st.sampled_from([0.15, 0.2, 0.25, 1 / 3, 0.5, 0.75, 1.0])
    one = st.one_of(
        st.builds(KAnonymity, st.integers(2, 5)),
        st.builds(HighestRisk, positive),
        st.builds(AverageRisk, positive),
        st.builds(LDiversity, column, st.integers(2, 3), missing_is_a_value=counts),
        st.builds(LDiversity, column, st.sampled_from([1.5, 2, 2.5, 3]), st.just("entropy"), missing_is_a_value=counts),
        st.builds(
            LDiversity, column, st.integers(2, 3), st.just("recursive"), st.sampled_from([0.5, 1.0, 2.0, 3.5]), counts
        ),
        st.builds(TCloseness, column, share, st.sampled_from(["equal", "ordered"]), missing_is_a_value=counts),
        st.builds(TCloseness, column, share, st.just("hierarchical"), st.just(TREE), counts),
        st.builds(KMap, st.integers(2, 6), st.just(population)),
        st.builds(lambda ends: Presence(min(ends), max(ends), population), st.tuples(share, share)),
    )
    return st.lists(one, min_size=1, max_size=3)


def table_of(names: Sequence[str], rows: Sequence[Row]) -> Table:
    columns = [pa.array([row[place] for row in rows], pa.string()) for place in range(len(names))]
    name = ENGINE.attach(pa.Table.from_arrays(columns, names=list(names)))
    ordered = Categories(("u", "v", "w", "x"), ordered=True)
    schema = [
        Column(each, Kind.CATEGORY, categories=ordered) if each in "sr" else Column(each, Kind.TEXT) for each in names
    ]
    return Table(ENGINE, name, Schema(tuple(schema)), on_bad_cell="missing")


@st.composite
def problems(draw: st.DrawFn) -> tuple[Case, list[PrivacyModel], Metric, int]:
    case = draw(cases())
    models = draw(models_for(table_of(case.names, case.people)))
    if not any(model.population_needed for model in models):
        case = replace(case, people=())
    weights = draw(st.dictionaries(st.sampled_from(case.names), st.sampled_from([0.0, 0.5, 1.0, 4.0])))
    if all(weights.get(name, 1) == 0 for name in case.names):
        weights = {}
    metric = draw(st.sampled_from(METRICS))(weights)
    return case, models, metric, draw(st.sampled_from([0, 0, 1, 2, len(case.rows) // 2, len(case.rows)]))


def counted_case(case: Case, models: Sequence[PrivacyModel]) -> tuple[Combinations, list[Any]]:
    table = table_of(
        (*case.names, "s", "r"), [(*row, *more) for row, more in zip(case.rows, case.private, strict=True)]
    )
    question = question_of(table, models, case.names)
    hierarchies = {name: Hierarchy(tree) for name, tree in zip(case.names, case.trees, strict=True)}
    numbers = count_combinations(table, case.names, question.sensitive, hierarchies, question.population)
    return numbers, question.to_numbers(numbers, table)


def row_flags(numbers: Combinations, flags: np.ndarray[Any, Any], case: Case, sensitive: Sequence[str]) -> set[int]:
    """The rows of the case whose combination is flagged."""
    chosen = {}
    for at in np.flatnonzero(numbers.counts > 0):
        cells = tuple(each.values[numbers.codes[at, j]] for j, each in enumerate(numbers.ladders))
        more = tuple(values[numbers.sensitive[at, s]] for s, values in enumerate(numbers.values))
        chosen[cells, more] = bool(flags[at])
    places = [("s", "r").index(name) for name in sensitive]
    pairs = zip(case.rows, case.private, strict=True)
    return {at for at, (row, more) in enumerate(pairs) if chosen[row, tuple(more[place] for place in places)]}


@settings(max_examples=100, suppress_health_check=list(HealthCheck))
@given(problems())
def test_search_and_local_recoding_judge_classes_alike(
    problem: tuple[Case, list[PrivacyModel], Metric, int],
) -> None:
    """Each has its own compiled copy of the models, because machine code is kept by file; they must not drift apart."""
    case, models, metric, _ = problem
    alike = [model for model in models if not isinstance(model, AverageRisk | Presence)] or [KAnonymity(2)]
    case = case if any(model.population_needed for model in alike) else replace(case, people=())
    numbers, asked = counted_case(case, alike)
    kept = Lattice(numbers, asked, metric, len(case.rows)).find_kept([0] * len(case.heights))
    judge, parts = judge_of(numbers, asked)
    _, places = np.unique(numbers.codes, axis=0, return_inverse=True)
    who = np.argsort(places.ravel(), kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(places.ravel()))])
    verdict = judge_groups(judge, parts, who, starts)[places.ravel()]
    held = numbers.counts > 0
    assert verdict[held].tolist() == kept[held].tolist()


@settings(max_examples=100, suppress_health_check=list(HealthCheck))
@given(problems(), st.data())
def test_what_is_read_back_is_judged_as_by_the_definitions(
    problem: tuple[Case, list[PrivacyModel], Metric, int], data: st.DataObject
) -> None:
    case, models, _, _ = problem
    levels = [data.draw(st.integers(0, height - 1)) for height in case.heights]
    names = (*case.names, "s", "r")
    original = table_of(names, [(*row, *more) for row, more in zip(case.rows, case.private, strict=True)])
    shown = [case.generalised(row, levels) for row in case.rows]
    released = table_of(names, [(*row, *more) for row, more in zip(shown, case.private, strict=True)])
    people = next((model.population for model in models if isinstance(model, KMap | Presence)), None)
    trees = [Hierarchy(tree) for tree in case.trees]
    claims = Claims(
        models=models,
        quasi_identifiers=case.names,
        original={name: ColumnCounts(original, names).of([name]) for name in "sr"},
        schema=original.schema,
        covers={name: Cover(*each) for name, *each in zip(case.names, trees, levels, strict=True)},
        people=None if people is None else ColumnCounts(people, case.names),
    )
    for model, found in zip(models, verify_models(ColumnCounts(released, names).of(names), claims), strict=True):
        assert found.held == (len(kept_rows(case, [model], levels)) == len(case.rows))


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(problems())
def test_the_best_is_that_of_looking_at_every_generalisation(
    problem: tuple[Case, list[PrivacyModel], Metric, int],
) -> None:
    case, models, metric, limit = problem
    numbers, asked = counted_case(case, models)
    lattice = Lattice(numbers, asked, metric, limit)
    survey, nodes = lattice.survey(), list(itertools.product(*map(range, case.heights)))
    sensitive = question_of(table_of((*case.names, "s", "r"), [("",) * 9]), models, case.names).sensitive
    scores = []
    for place, levels in enumerate(nodes):
        kept = kept_rows(case, models, levels)
        sizes = Counter(case.generalised(case.rows[at], levels) for at in kept)
        expected = (len(case.rows) - len(kept), len(sizes), score_of(case, metric, levels, kept))
        assert tuple(survey[place, :3]) == pytest.approx(expected, abs=1e-9)
        assert survey[place, 3] == min(sizes.values(), default=0)
        assert row_flags(numbers, lattice.find_kept(levels), case, sensitive) == kept
        scores += [expected[2]] if expected[0] <= limit else []
    best = lattice.best()
    assert (best is None) == (not scores)
    if best is not None:
        assert best.score == pytest.approx(min(scores), abs=1e-9)
        assert (best.optimal, best.gap) == (True, 0.0)
        assert survey[nodes.index(best.levels), :3].tolist() == [best.suppressed, best.classes, best.score]


def grid(heights: Sequence[int], rows: int, values: int = 8, seed: int = 1) -> Combinations:
    """Random codes under binary trees: level a joins 2**a neighbours, and the top joins all."""
    rng = np.random.default_rng(seed)
    ladders = []
    for column, height in enumerate(heights):
        labels = {
            str(v): tuple("*" if a == height - 1 else f"{a}:{v >> a}" for a in range(1, height)) for v in range(values)
        }
        ladders.append(code_hierarchy(str(column), Hierarchy(labels)))
    codes = np.sort(rng.integers(0, values, (rows, len(heights), 2)), axis=2)[:, :, 0].astype(np.int32)
    different, counts = np.unique(codes, axis=0, return_counts=True)
    none = np.zeros((len(different), 0), np.int32)
    return Combinations(tuple(ladders), different, counts.astype(np.int64), np.empty(0, np.int64), none, ())


def plain_best(numbers: Combinations, k: int, limit: int) -> float:
    """The least loss by numpy alone."""
    scores = []
    for levels in itertools.product(*(range(each.height) for each in numbers.ladders)):
        rungs = list(zip(numbers.ladders, levels, numbers.codes.T, strict=True))
        columns = [each.groups[level][codes] for each, level, codes in rungs]
        _, inverse = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
        gone = np.bincount(inverse.ravel(), numbers.counts)[inverse.ravel()] < k
        if numbers.counts[gone].sum() <= limit:
            lost = [_lost(*rung, numbers.counts, gone) for rung in rungs]
            scores.append(math.prod(1 + each for each in lost) ** (1 / len(levels)) - 1)
    return min(scores)


def _lost(each: Ladder, level: int, codes: Any, counts: Any, gone: Any) -> float:
    n, domain, groups = counts.sum(), each.size, each.groups[level]
    span = np.where(gone, domain, np.bincount(groups)[groups[codes]])
    return max(0.0, float(((counts * span).sum() / domain - n / domain) / (n - n / domain)))


@pytest.mark.parametrize("limit", [0, 40, 400])
def test_keys_of_several_words_are_told_apart(limit: int) -> None:
    numbers = grid([2] * 9, 400, values=200)
    assert sum(each.size.bit_length() for each in numbers.ladders) > 64
    lattice = Lattice(numbers, [KAnonymity(2).to_numbers()], Loss(), limit)
    best = lattice.best()
    assert best is not None
    assert best.score == pytest.approx(plain_best(numbers, 2, limit), abs=1e-9)


@pytest.mark.parametrize("metric", METRICS)
def test_the_answer_is_the_same_with_every_number_of_threads(metric: type[Metric], monkeypatch: Any) -> None:
    numbers = grid([3, 3, 3, 2], 300)
    found = set()
    for threads in (1, 2, 7):
        monkeypatch.setattr(searching.os, "cpu_count", lambda threads=threads: threads)
        best = Lattice(numbers, [KAnonymity(3).to_numbers()], metric(), 12).best()
        assert best is not None
        found.add((best.levels, best.score, best.suppressed, best.classes))
    assert len(found) == 1


def test_of_equal_scores_the_lowest_levels_in_order_are_taken() -> None:
    numbers = grid([2, 2, 2], 12, values=2)
    lattice = Lattice(numbers, [KAnonymity(2).to_numbers()], Loss({"0": 0, "1": 0, "2": 1}), 12)
    survey = lattice.survey()
    nodes = list(itertools.product(range(2), repeat=3))
    equal = [node for node, score in zip(nodes, survey[:, 2], strict=True) if score == survey[:, 2].min()]
    best = lattice.best()
    assert best is not None
    assert best.levels == min(equal)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("after", [0, 1, 5, 30])
def test_a_search_that_is_stopped_knows_how_far_it_may_be_from_the_best(metric: type[Metric], after: int) -> None:
    numbers = grid([4, 3, 3, 2], 200, seed=after)
    lattice = Lattice(numbers, [KAnonymity(4).to_numbers()], metric(), 9)
    optimum = lattice.best()
    search = _LatticeSearch(lattice._problem, lattice._classes, lattice.nodes)
    search._descend(math.inf)
    depth, tasks = search._tasks()
    for _ in range(after):
        next(tasks)  # left to another thread that never reports
    search._stop[0] = 1
    search._work(depth, itertools.count(), search._fresh())
    best = search._result()
    assert optimum is not None
    assert best is not None
    assert best.bound <= optimum.score <= best.score
    assert math.isfinite(best.bound)
    assert best.gap == pytest.approx((best.score - best.bound) / best.score)


def test_a_search_that_is_stopped_in_the_middle_bounds_what_it_left_out() -> None:
    numbers = grid([4, 4, 4, 3, 3], 2_000, seed=3)
    lattice = Lattice(numbers, [KAnonymity(5).to_numbers()], Loss(), 60)
    optimum = lattice.best()
    assert optimum is not None
    for wait in (0.0, 0.001, 0.004, 0.016):
        search = _LatticeSearch(lattice._problem, lattice._classes, lattice.nodes)
        search._descend(math.inf)
        timer = threading.Timer(wait, lambda flag=search._stop: flag.__setitem__(0, 1))
        timer.start()
        search._explore(math.inf, None)
        timer.join()
        best = search._result()
        assert best is not None
        assert best.bound <= optimum.score <= best.score


def test_a_huge_lattice_ends_in_time_with_the_gap_that_is_left() -> None:
    numbers = grid([4] * 12, 3_000)
    lattice = Lattice(numbers, [KAnonymity(5).to_numbers()], Loss(), 60)
    told: list[tuple[float, float]] = []
    best = lattice.best(time_limit=0.3, progress=lambda share, score: told.append((share, score)))
    assert best is not None
    assert lattice.nodes == 4**12
    assert best.optimal or 0 < best.gap <= 1
    assert told
    assert all(0 <= share <= 1 for share, _ in told)
    assert lattice.measure(best.levels)[:3] == (best.suppressed, best.classes, best.score)


def test_ctrl_c_returns_the_best_so_far_and_is_passed_on_before_there_is_one() -> None:
    def interrupt(share: float, score: float) -> None:
        raise KeyboardInterrupt

    numbers = grid([4] * 12, 3_000)
    best = Lattice(numbers, [KAnonymity(5).to_numbers()], Loss(), 60).best(progress=interrupt)
    assert best is not None
    assert best.gap > 0
    impossible = Lattice(numbers, [KAnonymity(5_000).to_numbers()], Loss(), 60)
    with pytest.raises(KeyboardInterrupt):
        impossible.best(progress=interrupt)


def test_a_progress_that_fails_ends_the_search() -> None:
    def fail(share: float, score: float) -> None:
        raise RuntimeError("the screen is gone")

    lattice = Lattice(grid([4] * 12, 3_000), [KAnonymity(5).to_numbers()], Loss(), 60)
    with pytest.raises(RuntimeError, match="screen"):
        lattice.best(progress=fail)


def skewed(seed: int) -> Combinations:
    """Sensitive values that are mixed in some groups and all the same in others; a population three times as large."""
    rng = np.random.default_rng(seed)
    base, rows = grid([3, 3, 2], 1, values=4), 60
    codes = rng.integers(0, 4, (rows, 3)).astype(np.int32)
    mixed = np.isin(codes[:, 0], rng.permutation(4)[:2]) | (codes[:, 1] == rng.integers(4))
    values = np.where(mixed, rng.integers(0, 3, rows), 0).astype(np.int32)
    people = np.concatenate([codes, rng.integers(0, 4, (2 * rows, 3)).astype(np.int32)])
    known, counts = np.unique(np.column_stack([codes, values]), axis=0, return_counts=True)
    different, many = np.unique(people, axis=0, return_counts=True)
    return Combinations(
        base.ladders,
        np.concatenate([known[:, :3], different]),
        np.concatenate([counts, np.zeros(len(different), np.int64)]),
        np.concatenate([np.zeros(len(known), np.int64), many]),
        np.concatenate([known[:, 3:], np.zeros((len(different), 1), np.int32)]),
        (("p", "q", "r"),),
    )


SENSITIVE = code_levels("s", [["p", "q", "r"], ["pq", "pq", "r"], ["*", "*", "*"]])
NOT_LASTING: dict[str, ModelNumbers] = {
    "entropy": LDiversity("s", 2.2, "entropy").to_numbers(),
    "recursive": LDiversity("s", 2, "recursive", 1.2).to_numbers(),
    "equal": TCloseness("s", 0.15).to_numbers(),
    "ordered": TCloseness("s", 0.15, "ordered").to_numbers(),
    "hierarchical": replace(TCloseness("s", 0.15, "hierarchical").to_numbers(), tree=SENSITIVE),
    "presence": ModelNumbers(kernels.PRESENCE, 0.0, 0.3),
    "average": AverageRisk(0.05).to_numbers(),
}


@pytest.mark.parametrize("what", NOT_LASTING)
def test_what_is_joined_may_fail_although_its_parts_pass_and_nothing_is_cut_off_for_that(what: str) -> None:
    """A cut that takes these models for lasting misses optima here: a general node may suppress more than a fine."""
    asked = [KAnonymity(2).to_numbers(), replace(NOT_LASTING[what], about=0)]
    for seed, metric in itertools.product(range(12), METRICS):
        numbers = skewed(seed)
        nodes = Lattice(numbers, asked, metric(), numbers.rows).survey()
        for limit in {0, int(nodes[:, 0].min()), int(np.median(nodes[:, 0])), numbers.rows}:
            best = Lattice(numbers, asked, metric(), limit).best()
            allowed = nodes[nodes[:, 0] <= limit, 2]
            assert (best.score if best else None) == (pytest.approx(allowed.min()) if allowed.size else None)


def test_what_two_columns_demand_is_what_counting_them_says() -> None:
    """Every pair of levels, by a Counter over rows; and a search that is told too much no longer finds the best."""
    draw = np.random.default_rng(7)
    codes = draw.integers(0, 4, (60, 3)).astype(np.int32)
    counts = draw.integers(1, 4, 60).astype(np.int64)
    steps = code_levels("a", [["u", "v", "w", "x"], ["uv", "uv", "wx", "wx"], ["*"] * 4])
    ladders = tuple(replace(steps, column=name) for name in "abc")
    held = Combinations(ladders, codes, counts, np.empty(0, np.int64), np.zeros((60, 0), np.int32), ())
    pairs = _pairs(held, np.array([3, 3, 3], np.int64), 9)
    for j, a, i, b in itertools.product(range(3), repeat=4):
        seen: Counter[tuple[int, int]] = Counter()
        for row, many in zip(codes, counts, strict=True):
            seen[int(steps.groups[a][row[j]]), int(steps.groups[b][row[i]])] += int(many)
        expected = sum(many for many in seen.values() if many < 9)
        assert pairs[j, a, i, b] == (expected if i != j or a == b else 0)
    lattice = Lattice(held, [KAnonymity(9).to_numbers()], Loss(), 20)
    found = lattice.best()
    assert found is not None
    lattice._problem = lattice._problem._replace(pairs=np.full_like(pairs, 10**6))
    assert lattice.best() is None

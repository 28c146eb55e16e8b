"""Privacy models: what a class must satisfy, by linear programming and by hand, and which parameters are taken."""

import itertools
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from ziggurat.anonymize import (
    AverageRisk,
    HighestRisk,
    KAnonymity,
    KMap,
    LDiversity,
    Loss,
    Presence,
    PrivacyModel,
    TCloseness,
)
from ziggurat.anonymize.generalizing._asking import question_of
from ziggurat.anonymize.generalizing._combinations import count_combinations
from ziggurat.anonymize.generalizing._search import Lattice
from ziggurat.data import Categories, Column, Hierarchy, Kind, Schema, Table
from ziggurat.data.engines import DuckDBEngine
from ziggurat.errors import ParameterError

ENGINE = DuckDBEngine()
VALUES = "pqrstu"
FLAT = Hierarchy(dict.fromkeys(VALUES, ("*",)))
ROOTED = Hierarchy({"p": ("1", "A", "*"), "q": ("1", "A", "*"), "r": ("2", "A", "*"), "s": ("3", "B", "*"),
                    "t": ("3", "B", "*"), "u": ("4", "B", "*")})  # fmt: skip
FOREST = Hierarchy({value: labels[:2] for value, labels in ROOTED.levels.items()})
GROUPS = Hierarchy({"x": ("*",), "y": ("*",)})


def held(groups: str, private: str) -> Table:
    """A table of a quasi-identifier g and a sensitive column s; "-" is a missing cell."""
    cells = [None if cell == "-" else cell for cell in private]
    name = ENGINE.attach(pa.table({"g": list(groups), "s": pa.array(cells, pa.string())}))
    ordered = Column("s", Kind.CATEGORY, categories=Categories(tuple(VALUES), ordered=True))
    return Table(ENGINE, name, Schema((Column("g", Kind.TEXT), ordered)))


def suppressed(table: Table, *models: PrivacyModel) -> int:
    """How many rows must go if nothing is generalised."""
    question = question_of(table, models, ["g"])
    numbers = count_combinations(table, ["g"], question.sensitive, {"g": GROUPS}, question.population)
    return Lattice(numbers, question.to_numbers(numbers, table), Loss(), numbers.rows).measure([0])[0]


def transport(ground: Any, given: Any, wanted: Any) -> float:
    """The earth mover's distance, by its definition."""
    many = len(given)
    rows = [np.kron(np.eye(many)[at], np.ones(many)) for at in range(many)]
    columns = [np.kron(np.ones(many), np.eye(many)[at]) for at in range(many)]
    found = linprog(np.ravel(ground), A_eq=np.array(rows + columns), b_eq=np.concatenate([given, wanted]))
    return float(found.fun)


def ground(kind: str, values: list[str], hierarchy: Hierarchy | None) -> Any:
    many = len(values)
    if kind == "equal":
        return 1 - np.eye(many)
    if kind == "ordered":
        return np.abs(np.subtract.outer(range(many), range(many))) / max(many - 1, 1)
    assert hierarchy is not None
    paths = {value: ("" if value == "-" else value, *hierarchy.levels.get(value, ("",) * 9)) for value in values}
    one_root = len({labels[-1] for labels in hierarchy.levels.values()}) == 1
    height = hierarchy.depth if one_root else hierarchy.depth + 1

    def meet(one: str, other: str) -> float:
        return next((a for a in range(height) if paths[one][a] == paths[other][a]), height) / height

    return [[meet(one, other) for other in values] for one in values]


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from("xy"), st.sampled_from(VALUES + "-")), min_size=2, max_size=14),
    st.sampled_from([("equal", None), ("ordered", None), *(("hierarchical", each) for each in (FLAT, ROOTED, FOREST))]),
)
def test_the_distance_of_a_class_is_what_linear_programming_finds(
    pairs: list[tuple[str, str]], kind: tuple[Any, Hierarchy | None]
) -> None:
    table = held("".join(group for group, _ in pairs), "".join(cell for _, cell in pairs))
    values = sorted({cell for _, cell in pairs}, key=lambda cell: (cell == "-", cell))
    everywhere = [[cell for _, cell in pairs].count(value) / len(pairs) for value in values]
    for group in {group for group, _ in pairs}:
        inside = [cell for each, cell in pairs if each == group]
        here = [inside.count(value) / len(inside) for value in values]
        exact = transport(ground(kind[0], values, kind[1]), here, everywhere)
        other = len(pairs) - len(inside)
        just = TCloseness("s", min(1.0, max(0.0, exact) + 1e-7), *kind, missing_is_a_value=True)
        assert suppressed(table, just) in (0, other)
        if exact > 1e-6:
            closer = TCloseness("s", exact - 1e-7, *kind, missing_is_a_value=True)
            assert suppressed(table, closer) in (len(inside), len(pairs))


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from("pqs-"), min_size=1, max_size=5),
    st.lists(st.sampled_from("pqs-"), max_size=5),
    st.sampled_from([("equal", None), ("ordered", None), ("hierarchical", ROOTED)]),
)
def test_a_class_is_as_close_as_it_seems_whatever_its_missing_cells_are(
    inside: list[str], outside: list[str], kind: tuple[Any, Hierarchy | None]
) -> None:
    """No completion of the missing cells is farther than the t that the search finds, by linear programming."""
    table = held("x" * len(inside) + "y" * len(outside), "".join(inside + outside))
    values = sorted({*inside, *outside} - {"-"}) or ["p"]
    cost = ground(kind[0], values, kind[1])
    cells, gaps = inside + outside, [at for at, cell in enumerate(inside + outside) if cell == "-"]
    worst = 0.0
    for chosen in itertools.product(values, repeat=len(gaps)):
        for at, cell in zip(gaps, chosen, strict=True):
            cells[at] = cell
        here = [cells[: len(inside)].count(value) / len(inside) for value in values]
        worst = max(worst, transport(cost, here, [cells.count(value) / len(cells) for value in values]))
    if worst > 1e-6:
        assert suppressed(table, TCloseness("s", worst - 1e-7, *kind)) in (len(inside), len(cells))


@pytest.mark.parametrize(
    ("cells", "model", "passes"),
    [
        ("pqr", LDiversity("s", 3), True),
        ("pqq", LDiversity("s", 3), False),
        ("pq-", LDiversity("s", 3), False),
        ("pq-", LDiversity("s", 3, missing_is_a_value=True), True),
        ("pp--", LDiversity("s", 2), False),
        ("pp--", LDiversity("s", 2, missing_is_a_value=True), True),
        ("----", LDiversity("s", 2, "entropy"), False),
        ("pq-", LDiversity("s", 1.88, "entropy"), True),
        ("pq-", LDiversity("s", 1.89, "entropy"), False),
        ("ppqqr-", LDiversity("s", 2, "recursive", 1.01), True),
        ("ppqqr-", LDiversity("s", 2, "recursive", 1), False),
        ("ppqqr-", LDiversity("s", 2, "recursive", 1, missing_is_a_value=True), True),
        ("ppq-", TCloseness("s", 0.25), True),
        ("ppq-", TCloseness("s", 0.24), False),
        ("ppq-", TCloseness("s", 0, missing_is_a_value=True), True),
        ("pqr", LDiversity("s", 3, "entropy"), True),
        ("pqrstu", LDiversity("s", 6, "entropy"), True),
        ("ppqr", LDiversity("s", 3, "entropy"), False),
        ("ppqr", LDiversity("s", 2.8, "entropy"), True),
        ("ppqr", LDiversity("s", 2, "recursive", 1), False),
        ("ppqr", LDiversity("s", 2, "recursive", 1.01), True),
        ("pq", LDiversity("s", 3, "recursive", 9), False),
        ("ppqqrr", LDiversity("s", 3, "recursive", 1.01), True),
        ("ppqqrr", LDiversity("s", 3, "recursive", 1), False),
        ("pp", KAnonymity(2), True),
        ("pp", KAnonymity(3), False),
        ("ppp", HighestRisk(1 / 3), True),
        ("pp", HighestRisk(0.49), False),
        ("pp", AverageRisk(0.5), True),
        ("pp", AverageRisk(0.49), False),
    ],
)
def test_a_class_passes_or_not(cells: str, model: PrivacyModel, passes: bool) -> None:
    assert suppressed(held("x" * len(cells), cells), model) == (0 if passes else len(cells))


@pytest.mark.parametrize("many", [2, 3, 5, 6])
def test_a_uniform_class_has_the_entropy_of_its_values(many: int) -> None:
    cells = VALUES[:many] * 7
    assert suppressed(held("x" * len(cells), cells), LDiversity("s", many, "entropy")) == 0
    assert suppressed(held("x" * len(cells), cells), LDiversity("s", many + 1e-6, "entropy")) == len(cells)


def test_beyond_the_outliers_of_other_models_the_smallest_classes_are_given_up() -> None:
    rows = {"a": 1, "b": 2, "c": 2, "d": 3, "e": 8}
    tree = Hierarchy(dict.fromkeys(rows, ("*",)))
    name = ENGINE.attach(pa.table({"g": [group for group, many in rows.items() for _ in range(many)]}))
    numbers = count_combinations(Table(ENGINE, name), ["g"], [], {"g": tree})
    expected = {1.0: 1, 4 / 15: 1, 0.266: 5, 2 / 11: 5, 0.18: 8, 1 / 8: 8, 0.12: 16}
    for risk, gone in expected.items():
        asked = [KAnonymity(2).to_numbers(), AverageRisk(risk).to_numbers()]
        assert Lattice(numbers, asked, Loss(), 16).measure([0])[0] == gone


def _population(groups: str) -> Table:
    return Table(ENGINE, ENGINE.attach(pa.table({"g": list(groups)})))


@pytest.mark.parametrize(
    ("people", "model", "gone"),
    [
        ("xxxyyyyy", lambda people: KMap(4, people), 3),
        ("xxxyyyy", lambda people: KMap(3, people), 0),
        ("xxxxyy", lambda people: Presence(0.5, 1, people), 0),
        ("xxxxyy", lambda people: Presence(0.8, 1, people), 5),
        ("xxxxyy", lambda people: Presence(0, 0.75, people), 2),
        ("xxxx", lambda people: Presence(0, 1, people), 2),
    ],
)
def test_classes_are_compared_with_those_of_the_population(people: str, model: Any, gone: int) -> None:
    assert suppressed(held("xxxyy", "ppppp"), model(_population(people))) == gone


def test_people_who_look_like_no_row_are_known_to_be_absent() -> None:
    table, people = held("xxx", "ppp"), _population("xxxxyy")
    assert suppressed(table, Presence(0.1, 1, people)) == 3
    assert suppressed(table, Presence(0, 1, people)) == 0


@pytest.mark.parametrize(
    "make",
    [
        *(lambda bad=bad: KAnonymity(bad) for bad in (2.5, True, math.nan, math.inf, 1, -3, "5", None, 1e300)),
        *(lambda bad=bad: KMap(bad, None) for bad in (1, math.nan, True)),
        *(lambda bad=bad: LDiversity("s", bad) for bad in (math.nan, 1, 2.5, True, "3", math.inf)),
        *(lambda bad=bad: LDiversity("s", bad, "entropy") for bad in (math.nan, 1, math.inf, True, "3", None)),
        *(lambda bad=bad: LDiversity("s", 2, "recursive", bad) for bad in (math.nan, 0, -1, None, "2", True)),
        lambda: LDiversity("s", 2, "distinct", 3),
        lambda: LDiversity("s", 2, "other"),  # type: ignore[arg-type]
        *(lambda bad=bad: TCloseness("s", bad) for bad in (1.01, -0.1, math.nan, True, "0.1", None)),
        lambda: TCloseness("s", 0.1, "near"),  # type: ignore[arg-type]
        lambda: TCloseness("s", 0.1, "equal", FLAT),
        *(lambda bad=bad: HighestRisk(bad) for bad in (0, 1.1, math.nan, 5e-324, "1", True)),
        *(lambda bad=bad: AverageRisk(bad) for bad in (0, 1.1, math.nan, None, -1)),
        lambda: Presence(0.6, 0.5, None),  # type: ignore[arg-type]
        lambda: Presence(math.nan, 0.5, None),  # type: ignore[arg-type]
    ],
)
def test_parameters_that_mean_nothing_are_refused_in_one_sentence(make: Any) -> None:
    with pytest.raises(ParameterError) as caught:
        make()
    assert str(caught.value).count(". ") == 0
    assert str(caught.value).endswith(".")


def test_every_model_says_what_holds() -> None:
    people = _population("x")
    models = [
        KAnonymity(5),
        KMap(5, people),
        LDiversity("s", 3),
        LDiversity("s", 3, missing_is_a_value=True),
        TCloseness("s", 0.2, missing_is_a_value=True),
        LDiversity("s", 2.5, "entropy"),
        LDiversity("s", 3, "recursive", 2),
        *(TCloseness("s", 0.2, kind) for kind in ("equal", "ordered", "hierarchical")),  # type: ignore[arg-type]
        Presence(0.1, 0.5, people),
        HighestRisk(0.2),
        AverageRisk(0.1),
    ]
    sentences = [model.sentence for model in models]
    assert all(sentence and not sentence.endswith(".") for sentence in sentences)
    assert len(set(sentences)) == len(models)
    assert not any(a == b for a, b in itertools.combinations(models, 2))

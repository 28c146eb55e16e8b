"""A model of many columns is a tree of small tables: what it says must be what its product says."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from ziggurat.privacy import Neighbours
from ziggurat.randomness import seeded
from ziggurat.synthesize.marginals._cliques import draw_given, rows_from
from ziggurat.synthesize.marginals._counts import CountedUnit, ExactCounts, NoisyCounts, candidates, score, total_of
from ziggurat.synthesize.marginals._folding import fold
from ziggurat.synthesize.marginals._solver import (
    DualObjective,
    Junction,
    fit_distribution,
    join_cliques,
    model_cells,
    targets,
    triangulate,
)
from ziggurat.threads import one_thread

SIZES = {"a": 2, "b": 3, "c": 4, "d": 2, "e": 3, "f": 2}
SETS = {
    "a cycle": [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d"), ("e", "f")],
    "a tree": [("a", "b"), ("b", "c"), ("b", "d"), ("d", "e"), ("e", "f")],
    "alone": [("a",), ("b",), ("c",), ("d",), ("e",), ("f",)],
    "three": [("a", "b", "c"), ("c", "d"), ("d", "e", "f"), ("f",)],
}
SHAPES = pytest.mark.parametrize("sets", SETS.values(), ids=SETS)


@pytest.fixture(autouse=True)
def _one_thread():
    with one_thread():
        yield


def _potentials(sets, seed=1):
    draw = np.random.default_rng(seed)
    return [draw.normal(size=[SIZES[name] for name in each]) for each in sets]


def _whole(sets, potentials):
    """The product of all tables over all cells, by force."""
    table = np.zeros(list(SIZES.values()))
    for each, potential in zip(sets, potentials, strict=True):
        table = table + potential[tuple(slice(None) if name in each else None for name in SIZES)]
    return np.exp(table)


@SHAPES
def test_every_marginal_is_that_of_the_whole_product(sets):
    potentials = _potentials(sets)
    whole = _whole(sets, potentials)
    tree = Junction(SIZES, sets, 100.0).tree(potentials)
    for size in (1, 2, 3):
        for columns in combinations(SIZES, size):
            rest = tuple(place for place, name in enumerate(SIZES) if name not in columns)
            assert tree.marginal(columns) == pytest.approx(whole.sum(axis=rest) * (100 / whole.sum()))


@SHAPES
def test_the_gradient_is_that_of_the_value_and_log_z_is_right(sets):
    potentials = _potentials(sets)
    junction = Junction(SIZES, sets, 50.0)
    assert junction.tables(potentials)[1] == pytest.approx(math.log(_whole(sets, potentials).sum()))
    measured = [
        NoisyCounts(each, np.rint(20 * table).astype(int), Fraction(3))
        for each, table in zip(sets, potentials, strict=True)
    ]
    objective = DualObjective(junction, targets(measured))
    here = objective.scale(potentials)
    slope = objective(here)[1]
    for place in (0, here.size // 2, here.size - 1):
        step = np.zeros(here.size)
        step[place] = 1e-5
        assert (objective(here + step)[0] - objective(here - step)[0]) / 2e-5 == pytest.approx(slope[place], abs=1e-4)


@SHAPES
def test_a_junction_tree_holds_every_set_and_parents_come_first(sets):
    cliques, parents = join_cliques(triangulate(SIZES, sets))
    assert all(any(set(each) <= set(clique) for clique in cliques) for each in sets)
    assert all(parent is None or parent < place for place, parent in enumerate(parents))
    assert model_cells(SIZES, sets) == sum(math.prod(SIZES[name] for name in clique) for clique in cliques)
    for name in SIZES:  # the cliques that hold a column hang together
        holding = [place for place, clique in enumerate(cliques) if name in clique]
        roots = [place for place in holding if parents[place] is None or name not in cliques[parents[place]]]
        assert len(roots) == 1


def _measured(sigma, seed=3, rows=4000):
    draw = np.random.default_rng(seed)
    first = draw.integers(0, 3, rows)
    second = (first + (draw.random(rows) < 0.2)) % 3
    third = np.where(draw.random(rows) < 0.7, second, 0)
    counts = ExactCounts({"x": first, "y": second, "z": third}, dict.fromkeys("xyz", 3))
    noise = CountedUnit(Neighbours()).noise(Fraction(1) / (2 * Fraction(sigma) ** 2))
    sets = [("x",), ("y",), ("z",), ("x", "y"), ("y", "z"), ("x", "z")]
    return counts, [counts.measured(each, noise, seeded(seed)) for each in sets]


def test_with_little_noise_the_model_fits_the_counts():
    counts, measured = _measured("0.5")
    model = fit_distribution(counts.sizes, measured, 4000.0, steps=400)
    for each in measured:
        assert model.tree.marginal(each.columns) == pytest.approx(counts.by(each.columns), abs=5)


def test_the_model_is_about_as_good_a_fit_as_that_of_mbi():
    pytest.importorskip("mbi", reason="needs mbi: pip install 'ziggurat[marginals]'")
    from ziggurat.synthesize.marginals import _mbi

    counts, measured = _measured(20)
    ours, theirs = (
        fit(counts.sizes, measured[:5], 4000.0, None, 100).tree for fit in (fit_distribution, _mbi.fit_descent)
    )
    for columns in (("x", "y"), ("y", "z"), ("x", "z")):
        assert ours.marginal(columns) == pytest.approx(theirs.marginal(columns), abs=25)  # of 4,000; sigma is 20


def test_a_fit_may_start_where_the_last_one_ended():
    counts, measured = _measured(5)
    first = fit_distribution(counts.sizes, measured[:4], 4000.0, steps=300)
    again = fit_distribution(counts.sizes, measured[:4], 4000.0, first, steps=3)
    assert again.tree.marginal(("x", "y")) == pytest.approx(first.tree.marginal(("x", "y")), abs=0.5)


def test_repeated_measurements_are_averaged_by_their_exactness():
    pair = [NoisyCounts(("x",), np.array([10, 20]), Fraction(1)), NoisyCounts(("x",), np.array([20, 20]), Fraction(2))]
    (target,) = targets(pair)
    assert target.counts == pytest.approx([12, 20])
    assert target.weights == pytest.approx([1.25, 1.25])
    assert total_of(pair) == pytest.approx(32)


def test_counts_come_out_of_drawing_as_expected_but_for_less_than_one():
    table = np.array([[1.0, 2.0, 5.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    found = draw_given(table, np.repeat([0, 1, 2], [800, 50, 30]), np.random.default_rng(1))
    assert np.abs(np.bincount(found[:800], minlength=3) - [100, 200, 500]).max() <= 1
    assert set(found[800:850]) == {1}
    assert np.abs(np.bincount(found[850:], minlength=3) - 10).max() <= 1
    assert draw_given(table, np.zeros(0, dtype=int), np.random.default_rng(1)).size == 0


def test_rows_have_the_pairs_of_the_model():
    sets = SETS["three"]
    tree = Junction(SIZES, sets, 20_000.0).tree(_potentials(sets))
    rows = rows_from(tree.chain(), SIZES, 20_000, np.random.default_rng(1))
    for columns in combinations(SIZES, 2):
        found = ExactCounts(rows, SIZES).by(columns)
        assert np.abs(found - tree.marginal(columns)).sum() / 40_000 < 0.02


def test_cells_in_doubt_are_taken_together_and_drawn_by_their_noisy_counts():
    measured = NoisyCounts(("x",), np.array([100, 2, 80, -3, 6]), Fraction(10))
    how = fold(measured)
    assert how.places.tolist() == [0, 2, 1, 2, 2]
    assert measured.fold(how.places).counts.tolist() == [100, 80, 5]
    cells = how.unfold(np.repeat([0, 1, 2], 400), np.random.default_rng(1))
    assert set(cells[:400]) == {0}
    assert set(cells[400:800]) == {2}
    assert np.bincount(cells[800:], minlength=5)[4] == pytest.approx(300, abs=60)
    sure = fold(NoisyCounts(("x",), np.array([100, 2, 80]), Fraction(10)))
    assert sure.places.tolist() == [0, 1, 2]


def test_a_score_moves_by_no_more_than_the_weight_for_one_count():
    draw = np.random.default_rng(4)
    expected = draw.random((5, 7)) * 9
    counts = draw.integers(0, 9, (5, 7))
    for place in range(counts.size):
        other = counts.copy()
        other.flat[place] += 1
        assert abs(score(other, expected, 3) - score(counts, expected, 3)) <= 3 * 1024


def test_weights_of_candidates_count_the_columns_they_share_with_the_workload():
    weights = candidates([("a", "b"), ("b", "c")])
    assert weights == {("a",): 1, ("b",): 2, ("c",): 1, ("a", "b"): 3, ("b", "c"): 3}

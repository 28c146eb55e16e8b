"""Trees and forests: how they cut, what their leaves hold, and that draws follow them."""

from __future__ import annotations

import io
import os
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from ziggurat.data.coded import CodedColumn
from ziggurat.errors import DataError, ParameterError
from ziggurat.synthesize import Cart, Forest
from ziggurat.synthesize.learners._binning import bin_columns
from ziggurat.synthesize.learners._trees import Grown

DATA = os.environ.get("ZIGGURAT_DATA")
pytestmark = pytest.mark.filterwarnings("error")


def draw(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def numbers(values: object, codes: object = None, size: int = 1) -> CodedColumn:
    values = np.asarray(values, np.float64)
    codes = np.zeros(len(values), np.int32) if codes is None else np.asarray(codes, np.int32)
    return CodedColumn(codes, size, np.where(codes == 0, values, np.nan))


def categories(codes: object, size: int, ordered: bool = False) -> CodedColumn:
    return CodedColumn(np.asarray(codes, np.int32), size, None, ordered)


def table(seed: int, rows: int) -> list[CodedColumn]:
    """A number with two codes for missing, categories, ordered categories."""
    source = draw(seed)
    missing = source.choice(3, rows, p=[0.8, 0.1, 0.1])
    return [
        numbers(source.normal(size=rows).round(1), missing, 3),
        categories(source.integers(0, 5, rows), 5),
        categories(source.integers(0, 6, rows), 6, ordered=True),
    ]


def leaves(grown: Grown) -> list[np.ndarray]:
    """The rows of each leaf."""
    tree = grown.tree
    where = np.flatnonzero(tree.column < 0)
    return [grown.donors[tree.first[node] : tree.last[node]] for node in where]


def spread(target: CodedColumn, rows: np.ndarray) -> float:
    if target.values is not None:
        return float(((target.values[rows] - target.values[rows].mean()) ** 2).sum())
    counts = np.bincount(target.codes[rows])
    return len(rows) - float((counts**2).sum()) / len(rows)


TARGETS = {
    "numbers": lambda given, source: numbers(np.nan_to_num(given[0].values) + source.normal(size=given[0].rows)),
    "two classes": lambda given, source: categories((given[1].codes + source.integers(0, 4, given[0].rows)) > 4, 2),
    "classes": lambda given, source: categories((given[2].codes + source.integers(0, 3, given[0].rows)), 9),
}


def problem(kind: str, seed: int, rows: int) -> tuple[CodedColumn, list[CodedColumn]]:
    columns = table(seed, rows)
    return TARGETS[kind](columns, draw(seed + 1_000)), columns


def test_postcodes_that_mean_nothing_are_not_cut_and_those_that_mean_something_are() -> None:
    source = draw(5)
    postcode, noise = source.integers(0, 200, 2000), source.integers(0, 4, 2000)
    given = [categories(postcode, 200), categories(noise, 4)]
    by_luck = Cart(depth=1).fit(categories(noise, 4), given[:1], draw())
    assert len(leaves(by_luck)) == 1
    nested = Cart().fit(categories(postcode // 50, 4), given, draw())
    assert sum(spread(categories(postcode // 50, 4), rows) for rows in leaves(nested)) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("smallest", [1, 5, 40])
def test_no_leaf_is_smaller_than_asked_and_every_row_is_in_one(kind: str, smallest: int) -> None:
    target, columns = problem(kind, 1, 600)
    found = leaves(Cart(smallest_leaf=smallest).fit(target, columns, draw()))
    assert min(map(len, found)) >= smallest
    assert sorted(np.concatenate(found)) == list(range(600))
    assert len(found) > 3


def cuts(column: CodedColumn) -> list[np.ndarray]:
    """Every way to part a column that a tree may choose, as a mask of the rows on the left."""
    if column.values is None and not column.ordered:
        return [np.array(chosen)[column.codes] for chosen in product([False, True], repeat=column.size)]
    values = column.codes.astype(float) if column.values is None else column.values
    found = [values <= edge for edge in np.unique(values[~np.isnan(values)])]
    if column.size > 1 and column.values is not None:
        found = [left | (column.codes > 0) for left in found] + found
        found += [column.codes == code for code in range(1, column.size)]
    return found


def luck(column: CodedColumn) -> int:
    """How many bins without an order a column has beyond two, each of which explains something by luck."""
    codes = np.unique(column.codes)
    if column.values is None:
        return 0 if column.ordered else max(len(codes) - 2, 0)
    return max((codes > 0).sum() - 2, 0)


def brute(target: CodedColumn, columns: list[CodedColumn], leaf: int) -> float:
    every = np.arange(target.rows)
    whole = spread(target, every)
    best = lowest = whole
    for column in columns:
        lucky = whole / target.rows * (luck(column) + (Cart().caution if target.numeric else 0))
        for left in cuts(column):
            if leaf <= left.sum() <= target.rows - leaf:
                found = spread(target, every[left]) + spread(target, every[~left])
                if found + lucky < lowest:
                    best, lowest = found, found + lucky
    return best


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", TARGETS)
def test_the_first_cut_is_the_best_of_all_cuts(kind: str, seed: int) -> None:
    target, columns = problem(kind, seed, 45)
    if kind == "classes":  # of more than two classes the cuts of unordered categories are a heuristic
        columns = [columns[0], columns[2]]
    found = leaves(Cart(smallest_leaf=3, depth=1).fit(target, columns, draw()))
    assert sum(spread(target, rows) for rows in found) == pytest.approx(brute(target, columns, 3), rel=1e-9)


@pytest.mark.parametrize("many", [3, 30])
def test_classes_are_cut_alike_by_a_table_and_by_rows(many: int) -> None:
    """With 30 classes of 60 rows the rows themselves are passed over; with 3 of them counted in a table."""
    column = numbers(np.arange(60))
    target = categories(np.where(np.arange(60) < 37, np.arange(60) % 2, many - 1), many)
    found = leaves(Cart(depth=1).fit(target, [column], draw()))
    assert sorted(map(len, found)) == [23, 37]


def test_a_planted_structure_is_found() -> None:
    source = draw(3)
    one, two = source.integers(0, 12, 4_000), source.uniform(size=4_000)
    level = np.where(np.isin(one, [1, 4, 7]), 10 * (two > 0.3), 5.0)
    grown = Cart(smallest_leaf=200).fit(
        numbers(level + source.normal(0, 0.1, 4_000)), [categories(one, 12), numbers(two)], draw()
    )
    for rows in leaves(grown):  # one of 255 bins lies across 0.3
        assert np.unique(level[rows], return_counts=True)[1].max() >= 0.97 * len(rows)
    drawn = grown.sample([categories([1, 1, 2], 12), numbers([0.1, 0.9, 0.9])], 3, draw())
    assert drawn == pytest.approx([0, 10, 5], abs=1)


@pytest.mark.parametrize("method", [Cart(smallest_leaf=50), Forest(trees=10, smallest_leaf=50, features=1)])
def test_draws_follow_the_distribution_given_the_columns(method: Cart | Forest) -> None:
    """Chi-square of 200,000 draws in each of three groups, at a fixed seed; shares that are 5% off are rejected."""
    source = draw(4)
    group = np.repeat(np.arange(3), 2_000)
    shares = np.array([[0.5, 0.3, 0.1, 0.1], [0.1, 0.1, 0.4, 0.4], [0.25, 0.25, 0.25, 0.25]])
    codes = np.array([source.choice(4, p=shares[g]) for g in group])
    grown = method.fit(categories(codes, 4), [categories(group, 3)], draw())
    for g in range(3):
        drawn = np.bincount(grown.sample([categories(np.full(200_000, g), 3)], 200_000, draw(5)), minlength=4)
        real = np.bincount(codes[group == g], minlength=4) / 2_000
        if isinstance(method, Forest):  # its bootstrap samples differ from the table
            assert np.abs(drawn / 200_000 - real).max() < 0.02
            continue
        assert chisquare(drawn, 200_000 * real).pvalue > 1e-6
        off = real * np.array([1.05, 1, 1, 1])
        assert chisquare(drawn, 200_000 * off / off.sum()).pvalue < 1e-6


@pytest.mark.parametrize("high", [(1,), (1, 2)])
def test_codes_for_missing_go_to_whichever_side_they_belong_to(high: tuple[int, ...]) -> None:
    source = draw(6)
    codes = source.integers(0, 3, 900)
    column = numbers(source.normal(size=900), codes, 3)
    target = numbers(np.where(codes == 0, np.nan_to_num(column.values) > 0.5, np.isin(codes, high)))
    grown = Cart(smallest_leaf=10).fit(target, [column], draw())
    fresh = numbers([-1.0, 1.0, 0.0, 0.0], [0, 0, 1, 2], 3)
    assert list(grown.sample([fresh], 4, draw())) == [0, 1, 1, 2 in high]


def test_a_code_that_was_never_seen_goes_with_the_larger_side() -> None:
    column = categories(np.repeat([0, 2], [30, 70]), 4)
    grown = Cart().fit(numbers(np.repeat([3.0, 8.0], [30, 70])), [column], draw())
    assert list(grown.sample([categories([0, 1, 2, 3], 4)], 4, draw())) == [3, 8, 8, 8]


def test_numbers_between_two_sides_go_with_the_nearer_one() -> None:
    grown = Cart().fit(numbers(np.repeat([1.0, 2.0], 10)), [numbers(np.repeat([0.0, 100.0], 10))], draw())
    assert list(grown.sample([numbers([-5.0, 49.0, 51.0, 1e300])], 4, draw())) == [1, 1, 2, 2]


@pytest.mark.parametrize("method", [Cart(), Forest(trees=3), Forest(trees=2, features="sqrt")])
@pytest.mark.parametrize("kind", TARGETS)
def test_one_row_constants_and_no_columns_are_learned(method: Cart | Forest, kind: str) -> None:
    target, columns = problem(kind, 7, 50)
    cells = target.codes if target.values is None else target.values
    first = np.zeros(1, np.int64)
    alone = method.fit(target.take(first), [each.take(first) for each in columns], draw())
    assert set(alone.sample(columns, 50, draw())) == {cells[0]}
    constant = [each.take(np.zeros(50, np.int64)) for each in columns]
    same = target.take(np.zeros(50, np.int64))
    assert set(method.fit(same, columns, draw()).sample(columns, 50, draw())) == {cells[0]}
    for given_columns in (constant, []):
        grown = method.fit(target, given_columns, draw())
        assert len(leaves(grown)) == len(grown.roots)
        drawn = grown.posterior(draw()).sample(given_columns, 50, draw())
        assert drawn.dtype == cells.dtype
        assert set(drawn) <= set(cells)


def test_without_columns_a_tree_is_plain_sampling() -> None:
    values = draw(8).normal(size=500)
    drawn = Cart().fit(numbers(values), [], draw()).sample([], 1_000, draw(2))
    assert np.array_equal(drawn, values[(draw(2).random(1_000) * 500).astype(int)])


def test_a_thousand_categories_are_learned_and_help_to_learn() -> None:
    source = draw(9)
    codes = source.integers(0, 1_000, 20_000)
    group = codes // 100
    grown = Cart().fit(categories(codes, 1_000), [categories(group, 10)], draw())
    drawn = grown.sample([categories(group, 10)], 20_000, draw())
    assert (drawn // 100 == group).mean() > 0.99
    common = np.minimum(source.zipf(1.3, 20_000) - 1, 9_999)
    parity = Cart().fit(categories(common % 2, 2), [categories(common, 10_000)], draw())
    assert (parity.sample([categories(np.arange(200), 10_000)], 200, draw()) == np.arange(200) % 2).mean() > 0.95


def test_bins_are_exact_for_few_values_and_leave_none_crowded_for_many() -> None:
    few = numbers([3.0, 1.0, 1.0, 7.5, 3.0])
    assert list(bin_columns([few]).cells[0]) == [1, 0, 0, 2, 1]
    values = np.concatenate([np.zeros(5_000), draw().lognormal(size=15_000)])
    bins = bin_columns([numbers(values)]).cells[0]
    assert set(values[bins == bins[0]]) == {0}
    assert np.bincount(bins[5_000:]).max() < 160
    assert (np.diff(bins[np.argsort(values)].astype(int)) >= 0).all()


@pytest.mark.parametrize("method", [Cart(), Forest(trees=4)])
def test_columns_binned_before_give_the_same_draws(method: Cart | Forest) -> None:
    target, columns = problem("classes", 10, 300)
    bins = bin_columns([*columns, target]).select([0, 1, 2])
    one = method.fit(target, columns, draw())
    other = method.fit(target, (), draw(), bins=bins)
    assert np.array_equal(one.sample(columns, 300, draw()), other.sample((), 300, draw(), bins=bins))
    some = np.arange(0, 300, 3)
    fewer = bin_columns([*columns]).select([0, 1, 2], some)
    assert np.array_equal(fewer.cells, bins.cells[:, some])


def copies(grown: Grown, many: int) -> np.ndarray:
    """The mean of what each of many copies would draw, without columns."""
    source, found = draw(11), np.empty(many)
    cells = np.asarray(grown.cells)[grown.donors].reshape(len(grown.roots), -1)
    for i in range(many):
        copy = grown.posterior(source)
        weights = np.diff(copy.weights, prepend=0.0).reshape(cells.shape)
        means = (weights * cells).sum(1) / weights.sum(1)
        found[i] = means @ np.diff(copy.shares, prepend=0.0)
    return found


def test_copies_of_a_tree_differ_as_the_bayesian_bootstrap_says() -> None:
    """The variance of a mean is that of the values over n + 1 (Rubin 1981); with 40,000 copies 5% more is rejected."""
    values = draw(12).normal(size=40)
    found = copies(Cart().fit(numbers(values), [], draw()), 40_000)
    right = values.var() / 41
    assert found.mean() == pytest.approx(values.mean(), abs=4 * np.sqrt(right / 40_000))
    assert found.var() / right == pytest.approx(1, abs=0.025)
    assert found.var() / (1.05 * right) != pytest.approx(1, abs=0.025)


def test_copies_of_a_forest_differ_no_less_than_those_of_a_tree() -> None:
    """Weights of its own for every tree would leave a fifteenth of this variance."""
    values = draw(13).normal(size=80)
    found = copies(Forest(trees=30).fit(numbers(values), [], draw()), 4_000)
    assert 0.9 < found.var() / (values.var() / 81) < 1.3


def test_a_copy_keeps_its_weights_and_another_has_others() -> None:
    target, columns = problem("numbers", 14, 400)
    grown = Cart(smallest_leaf=100).fit(target, columns, draw())
    one, other = grown.posterior(draw(1)), grown.posterior(draw(2))
    again = one.sample(columns, 400, draw())
    assert np.array_equal(one.sample(columns, 400, draw()), again)
    assert not np.array_equal(other.sample(columns, 400, draw()), again)


def test_weighted_draws_follow_the_weights() -> None:
    """Chi-square of 50,000 draws at a fixed seed; equal weights are rejected."""
    grown = Cart().fit(categories(np.arange(20), 20), [], draw()).posterior(draw(15))
    counts = np.bincount(grown.sample([], 50_000, draw(16)), minlength=20)
    shares = np.diff(grown.weights, prepend=0.0) / grown.weights[-1]
    assert chisquare(counts, 50_000 * shares[np.argsort(grown.donors)]).pvalue > 1e-6
    assert chisquare(counts).pvalue < 1e-9


@pytest.mark.parametrize("method", [Cart(), Forest(trees=5)])
@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("copy", [False, True])
def test_what_was_stored_draws_the_same(method: Cart | Forest, kind: str, copy: bool) -> None:
    target, columns = problem(kind, 17, 300)
    grown = method.fit(target, columns, draw())
    grown = grown.posterior(draw(3)) if copy else grown
    held = io.BytesIO()
    np.savez(held, **grown.state())
    held.seek(0)
    restored = method.restored(dict(np.load(held, allow_pickle=False)))
    assert np.array_equal(restored.sample(columns, 300, draw(4)), grown.sample(columns, 300, draw(4)))


def test_trees_of_a_forest_differ_and_repeat_with_the_generator() -> None:
    target, columns = problem("numbers", 18, 400)
    one, other = (Forest(trees=3).fit(target, columns, draw(2)).state() for _ in range(2))
    assert all(np.array_equal(one[name], other[name]) for name in one)
    first, second = one["donors"][:400], one["donors"][400:800]
    assert not np.array_equal(np.sort(first), np.sort(second))


def test_a_depth_and_a_gain_stop_the_tree() -> None:
    target, columns = problem("numbers", 19, 500)
    assert len(leaves(Cart(depth=0).fit(target, columns, draw()))) == 1
    assert len(leaves(Cart(depth=2).fit(target, columns, draw()))) == 4
    assert len(leaves(Cart(gain=0.99).fit(target, columns, draw()))) == 1


def test_huge_and_tiny_numbers_neither_overflow_nor_vanish() -> None:
    side = np.repeat([0.0, 1.0], 20)
    for scale in (1e308, 1e-300):
        values = np.where(side == 1, scale, -scale)
        grown = Cart().fit(numbers(values), [numbers(values)], draw())
        assert np.array_equal(grown.sample([numbers(values)], 40, draw()), values)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 60), st.integers(0, 2**32 - 1), st.integers(1, 7), st.sampled_from(sorted(TARGETS)))
def test_draws_are_values_of_the_table_whatever_the_table(rows: int, seed: int, leaf: int, kind: str) -> None:
    target, columns = problem(kind, seed, rows)
    cells = target.codes if target.values is None else target.values
    for method in (Cart(smallest_leaf=leaf), Forest(trees=2, smallest_leaf=leaf)):
        grown = method.fit(target, columns, draw(seed))
        assert min(map(len, leaves(grown))) >= min(leaf, rows)
        fresh = table(seed + 1, 30)
        assert set(grown.posterior(draw(seed)).sample(fresh, 30, draw(seed))) <= set(cells)
        assert len(grown.sample([each.take(np.arange(0)) for each in fresh], 0, draw())) == 0


@pytest.mark.parametrize("bad", [
    lambda: Cart(smallest_leaf=0), lambda: Cart(depth=-1), lambda: Cart(gain=1.0), lambda: Cart(gain=float("nan")),
    lambda: Forest(trees=0), lambda: Forest(smallest_leaf=0), lambda: Forest(features=0),
    lambda: Forest(features="half"),  # type: ignore[arg-type]
])  # fmt: skip
def test_settings_out_of_range_are_refused(bad: object) -> None:
    with pytest.raises(ParameterError):
        bad()  # type: ignore[operator]


def test_tables_that_do_not_fit_are_refused() -> None:
    target, columns = problem("numbers", 20, 50)
    with pytest.raises(DataError, match="at least one row"):
        Cart().fit(target.take(np.arange(0)), [], draw())
    with pytest.raises(DataError, match="rows"):
        Cart().fit(target.take(np.arange(9)), columns, draw())
    grown = Cart().fit(target, columns, draw())
    with pytest.raises(DataError, match="same columns"):
        grown.sample(columns[:2], 50, draw())
    with pytest.raises(DataError, match="rows"):
        grown.sample(columns, 49, draw())


@pytest.mark.data
@pytest.mark.skipif(DATA is None, reason="ZIGGURAT_DATA is not set")
def test_income_by_education_and_sex_is_kept_on_adult() -> None:
    rows = pq.read_table(Path(DATA or "") / "adult_uci.parquet", columns=["education", "sex", "age", "income"])
    coded = [rows[name].combine_chunks().dictionary_encode() for name in ("education", "sex", "income")]
    columns = [categories(each.indices.to_numpy(), len(each.dictionary)) for each in coded]
    education, sex, income = columns
    given_columns = [education, sex, numbers(rows["age"].to_numpy())]
    drawn = Cart().fit(income, given_columns, draw()).posterior(draw()).sample(given_columns, income.rows, draw())
    for group in range(education.size):
        here = education.codes == group
        assert drawn[here].mean() == pytest.approx(income.codes[here].mean(), abs=5 * 0.5 / np.sqrt(here.sum()))

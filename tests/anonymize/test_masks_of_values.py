"""Microaggregation, rank swapping, post-randomisation and noise do what they say, and no more."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ziggurat.anonymize import PRAM, AddNoise, Microaggregate, RankSwap, mask
from ziggurat.anonymize.masking._grouping import mdav_groups, optimal_groups, swap_partners
from ziggurat.anonymize.masking._microaggregation import standardize
from ziggurat.errors import DataError
from ziggurat.randomness import seeded

RNG = np.random.default_rng(20)


def grouped(kernel, rows, k):
    group = np.full(len(rows), -1, dtype=np.int64)
    return group, kernel(rows, k, group)


@given(st.integers(2, 6), st.integers(0, 60), st.integers(1, 3), st.booleans())
@settings(max_examples=60)
def test_groups_hold_k_to_twice_k_less_one_rows(k, extra, width, alike):
    rows = np.zeros((k + extra, width)) if alike else np.random.default_rng(extra).normal(size=(k + extra, width))
    for kernel, given_rows in ((mdav_groups, rows), (optimal_groups, np.sort(rows[:, 0]))):
        group, count = grouped(kernel, given_rows, k)
        sizes = np.bincount(group, minlength=count)
        assert count == sizes.size
        assert sizes.min() >= k
        assert sizes.max() <= 2 * k - 1


def squares(values, ends):
    parts = np.split(values, ends)
    return sum(((part - part.mean()) ** 2).sum() for part in parts), min(part.size for part in parts)


def test_one_column_is_grouped_as_well_as_any_grouping_can():
    for seed, k in itertools.product(range(6), (2, 3)):
        values = np.sort(np.random.default_rng(seed).lognormal(size=9))
        group, _ = grouped(optimal_groups, values, k)
        ours, _ = squares(values, np.flatnonzero(np.diff(group)) + 1)
        cuts = (ends for size in range(5) for ends in itertools.combinations(range(1, 9), size))
        tried = (squares(values, list(ends)) for ends in cuts)
        assert ours == pytest.approx(min(cost for cost, smallest in tried if smallest >= k))


def reference_mdav(rows, k):
    """MDAV as its paper states it, with sets and sorting."""
    left, groups = list(range(len(rows))), []

    def gather(seed):
        near = sorted(left, key=lambda i: (i != seed, ((rows[i] - rows[seed]) ** 2).sum()))[:k]
        groups.append(frozenset(near))
        left[:] = [i for i in left if i not in near]

    def farthest(point):
        return max(left, key=lambda i: ((rows[i] - point) ** 2).sum())

    while len(left) >= 3 * k:
        first = farthest(rows[left].mean(axis=0))
        second = farthest(rows[first])
        gather(first)
        gather(second)
    if len(left) >= 2 * k:
        gather(farthest(rows[left].mean(axis=0)))
    return {*groups, frozenset(left)} if left else set(groups)


@pytest.mark.parametrize(("n", "k"), [(6, 3), (20, 3), (31, 4), (60, 5), (64, 2)])
def test_mdav_makes_the_groups_of_its_paper(n, k):
    rows = np.random.default_rng(n).normal(size=(n, 3))
    group, count = grouped(mdav_groups, rows, k)
    ours = {frozenset(np.flatnonzero(group == number).tolist()) for number in range(count)}
    assert ours == reference_mdav(rows, k)


def test_every_released_row_is_shared_by_k_and_means_stay():
    table = pa.table({"a": RNG.normal(50, 9, 503), "b": RNG.integers(0, 10**6, 503)})
    masked = mask(table, {("a", "b"): Microaggregate(7)}).table.to_pandas()
    assert masked.groupby(["a", "b"]).size().min() >= 7
    assert masked.mean().to_numpy() == pytest.approx([table["a"].to_numpy().mean(), table["b"].to_numpy().mean()])


def test_columns_count_alike_whatever_their_units():
    rows = RNG.normal(size=(40, 2))
    assert standardize(rows * [1, 1e9]) == pytest.approx(standardize(rows))
    assert not standardize(np.full((3, 2), 7.0)).any()


def test_cells_with_too_few_like_them_are_blanked_rather_than_shown():
    table = pa.table({"a": [1.0, 2, 3, 4, 99], "b": [1.0, 2, 3, 4, None]})
    masked = mask(table, {("a", "b"): Microaggregate(2)})
    assert masked.table.to_pylist()[4] == {"a": None, "b": None}
    assert masked.records[0].tally.counts["blanked"] == 1
    assert masked.table["a"].null_count == 1


def test_groups_larger_than_the_table_are_refused():
    with pytest.raises(DataError, match="Groups of 5 rows cannot be made of a table of 3; lower k"):
        mask(pa.table({"x": [1, 2, 3]}), {"x": Microaggregate(5)})


@given(st.integers(0, 200), st.sampled_from([1, 5, 20, 100]), st.integers(0, 10**6))
@settings(max_examples=60)
def test_ranks_move_by_no_more_than_the_percentage(n, percent, seed):
    values = np.random.default_rng(seed).permutation(n)
    masked = mask(pa.table({"x": values}), {"x": RankSwap(percent)}, source=seeded(seed)).table["x"].to_numpy()
    assert sorted(masked) == list(range(n))
    assert np.abs(masked - values).max(initial=0) <= max(1, n * percent // 100)


def test_nearly_every_rank_is_swapped_and_partners_are_drawn_evenly():
    partner = np.empty(6, dtype=np.int64)
    counts = np.zeros(6)
    for seed in range(6000):
        swap_partners(3, seeded(seed).words(6), partner)
        assert (partner[partner] == np.arange(6)).all()
        counts[partner[0]] += 1
    assert counts[[0, 4, 5]].sum() == 0
    assert ((counts[1:4] - 2000) ** 2 / 2000).sum() < 30  # 2 df: 3 in 10 million
    masked = mask(pa.table({"x": range(10_000)}), {"x": RankSwap(5)}, source=seeded(1))
    assert masked.records[0].share > 0.95


def test_text_and_dates_have_ranks_too_and_missing_cells_keep_their_place():
    words = pa.table({"x": ["d", None, "a", "c", "b"]})
    shown = mask(words, {"x": RankSwap(25)}, source=seeded(3)).table["x"].to_pylist()
    assert shown[1] is None
    assert sorted(filter(None, shown)) == ["a", "b", "c", "d"]
    assert mask(pa.table({"x": [True, False, None]}), {"x": RankSwap(50)}).table["x"].null_count == 1


SHARES = np.array([0.6, 0.3, 0.1])


def column_of_shares(n):
    return pa.table({"x": np.repeat(["a", "b", "c"], (SHARES * n).astype(int))})


def counts_of(table):
    values = table["x"].to_numpy(zero_copy_only=False)
    return np.array([(values == category).sum() for category in "abc"])


def misfit(counts, shares, spread):
    return float((np.abs(counts - counts.sum() * shares) / spread).max())


@pytest.mark.parametrize(
    "technique",
    [PRAM(0.7, invariant=True), PRAM(matrix=[[0.8, 0.2, 0], [0.1, 0.8, 0.1], [0, 0.3, 0.7]], categories=("a", "b", "c"),
     invariant=True)],
    ids=["retention", "matrix"],
)  # fmt: skip
def test_invariant_pram_leaves_expected_counts_as_they_were(technique):
    matrix = technique.transitions(SHARES)
    assert SHARES @ matrix == pytest.approx(SHARES)
    assert matrix.sum(axis=1) == pytest.approx(np.ones(3))
    n = 200_000
    found = counts_of(mask(column_of_shares(n), {"x": technique}, source=seeded(5)).table)
    # Given the column, a count is a sum of independent draws: its variance is at most n/4 (each 6 sd: 1 in 10**8).
    spread = np.sqrt(n * SHARES @ (matrix * (1 - matrix)))
    assert misfit(found, SHARES, spread) < 6
    assert misfit(found, SHARES * [1.05, 1, 1], spread) > 6  # 5% off is told apart


def test_retention_keeps_the_stated_share_and_spreads_the_rest_evenly():
    n = 100_000
    before = column_of_shares(n)
    after = mask(before, {"x": PRAM(0.7)}, source=seeded(6)).table["x"].to_numpy(zero_copy_only=False)
    first = after[: int(0.6 * n)]
    expected = np.array([0.8, 0.1, 0.1])
    found = np.array([(first == category).sum() for category in "abc"])
    assert misfit(found, expected, np.sqrt(first.size * expected * (1 - expected))) < 6


def test_a_matrix_row_of_certainty_is_obeyed():
    technique = PRAM(matrix=[[0, 1], [1, 0]], categories=("a", "b"))
    assert mask(pa.table({"x": ["a", "b", None]}), {"x": technique}).table["x"].to_pylist() == ["b", "a", None]
    kept = mask(column_of_shares(100), {"x": PRAM(1.0)})
    assert kept.records[0].tally.changed == 0
    assert kept.table == column_of_shares(100)


def test_noise_has_the_size_stated_and_no_bias():
    n = 100_000
    values = RNG.normal(10, 3, n)
    masked = mask(pa.table({"x": values}), {"x": AddNoise(0.2)}, source=seeded(8))
    noise = masked.table["x"].to_numpy() - values
    sd = 0.2 * values.std(ddof=1)
    assert masked.records[0].tally.learned["noise_sd"]["x"] == pytest.approx(sd)
    assert abs(noise.mean()) < 6 * sd / np.sqrt(n)
    # The sample variance of normal noise has relative standard error sqrt(2/n), here 0.45%; 5% off is 11 of them.
    assert abs(noise.var() / sd**2 - 1) < 6 * np.sqrt(2 / n)
    assert abs(noise.var() / (1.05 * sd) ** 2 - 1) > 6 * np.sqrt(2 / n)


def test_correlated_noise_keeps_correlations_and_independent_noise_weakens_them():
    a = RNG.normal(size=50_000)
    table = pa.table({"a": a, "b": 100 * (a + 0.5 * RNG.normal(size=a.size))})
    before = np.corrcoef(table["a"], table["b"])[0, 1]
    found = {}
    for correlated in (True, False):
        technique = {("a", "b"): AddNoise(1.0, correlated=correlated)}
        shown = mask(table, technique, source=seeded(9)).table
        found[correlated] = np.corrcoef(shown["a"], shown["b"])[0, 1]
    assert found[True] == pytest.approx(before, abs=0.01)
    assert found[False] < 0.6 * before


def test_whole_numbers_stay_whole_and_within_their_type():
    table = pa.table({"x": pa.array([0, 127, -128, None], pa.int8())})
    shown = mask(table, {"x": AddNoise(sd=500)}).table["x"]
    assert shown.type == pa.int8()
    assert shown.null_count == 1

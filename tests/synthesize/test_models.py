"""Sampling, regressions and networks: what they learn, and by how much their copies differ.

Random numbers are seeded, so that every test passes always or never.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import solve_triangular
from scipy.stats import ks_2samp

from ziggurat.data.coded import CodedColumn
from ziggurat.errors import DataError, ParameterError
from ziggurat.synthesize import Linear, Sample, SmallNetwork
from ziggurat.synthesize.learners import _logistic as logistic
from ziggurat.synthesize.learners._sampling import shares_of
from ziggurat.threads import one_thread

pytestmark = pytest.mark.filterwarnings("error")

QUICK = SmallNetwork(hidden=(8,), members=2, epochs=2)
METHODS = [Sample(), Linear(), Linear(normal_scores=True), QUICK]
ALL = pytest.mark.parametrize("method", METHODS, ids=["sample", "linear", "scores", "network"])
BOTH = pytest.mark.parametrize("numeric", [True, False], ids=["numbers", "categories"])


def categories(codes, size=None):
    codes = np.asarray(codes, dtype=np.int32)
    return CodedColumn(codes, size or int(codes.max(initial=0)) + 1)


def numbers(values):
    values = np.asarray(values, dtype=np.float64)
    missing = np.isnan(values)
    return CodedColumn(missing.astype(np.int32), 1 + bool(missing.any()), values)


def column(numeric, rows, draw):
    return numbers(draw.normal(size=rows).round(2)) if numeric else categories(draw.integers(0, 4, rows), 4)


def allowed(target, drawn):
    """Whether draws are what the contract says: finite numbers, or codes that were seen."""
    if target.numeric:
        return drawn.dtype == np.float64 and bool(np.isfinite(drawn).all())
    return drawn.dtype == np.int32 and set(drawn.tolist()) <= set(target.codes.tolist())


@ALL
@BOTH
def test_state_gives_back_the_same_draws(method, numeric):
    draw = np.random.default_rng(0)
    target, columns = column(numeric, 60, draw), [column(True, 60, draw), column(False, 60, draw)]
    fitted = method.fit(target, columns, draw)
    for one in (fitted, fitted.posterior(np.random.default_rng(1))):
        other = method.restored(one.state())
        assert all(isinstance(each, np.ndarray) and each.dtype.kind in "if" for each in one.state().values())
        drawn = [each.sample(columns, 60, np.random.default_rng(2)) for each in (one, other)]
        np.testing.assert_array_equal(*drawn)
        copies = [each.posterior(np.random.default_rng(3)) for each in (one, other)]
        np.testing.assert_array_equal(*(each.sample(columns, 60, np.random.default_rng(4)) for each in copies))
        assert drawn[0].dtype == drawn[1].dtype


@ALL
@BOTH
def test_one_row_is_enough(method, numeric):
    draw = np.random.default_rng(0)
    target, columns = column(numeric, 1, draw), [column(True, 1, draw), column(False, 1, draw)]
    drawn = method.fit(target, columns, draw).posterior(draw).sample(columns, 1, draw)
    expected = target.values if numeric else target.codes
    np.testing.assert_array_equal(drawn, expected)


@ALL
@BOTH
def test_a_constant_column_stays_what_it_is(method, numeric):
    draw = np.random.default_rng(0)
    target = numbers(np.full(50, 0.1)) if numeric else categories(np.full(50, 2), 4)
    columns = [column(True, 50, draw), column(False, 50, draw)]
    drawn = method.fit(target, columns, draw).posterior(draw).sample(columns, 50, draw)
    assert set(drawn.tolist()) == {0.1 if numeric else 2}


@ALL
@BOTH
def test_with_nothing_given_the_column_alone_is_learned(method, numeric):
    draw = np.random.default_rng(0)
    target = column(numeric, 3_000, draw)
    drawn = method.fit(target, [], draw).posterior(draw).sample([], 3_000, draw)
    real = target.values if numeric else target.codes
    assert allowed(target, drawn)
    assert ks_2samp(drawn, real).statistic < 0.06
    assert method.fit(target, [], draw).sample([], 0, draw).shape == (0,)


@ALL
@BOTH
def test_no_rows_to_learn_from_are_refused(method, numeric):
    empty = numbers([]) if numeric else categories([], 3)
    with pytest.raises(DataError, match="at least one row"):
        method.fit(empty, [], np.random.default_rng(0))


@ALL
@BOTH
def test_more_columns_than_rows_and_repeated_columns_do_no_harm(method, numeric):
    draw = np.random.default_rng(0)
    target, base = column(numeric, 12, draw), numbers(draw.normal(size=12))
    columns = [column(False, 12, draw) for _ in range(20)] + [base, base, numbers(np.full(12, 3.0))]
    drawn = method.fit(target, columns, draw).posterior(draw).sample(columns, 12, draw)
    assert allowed(target, drawn)
    if numeric:
        assert np.abs(drawn).max() < 20 * np.abs(target.values).max()


cells = st.one_of(
    st.lists(st.integers(0, 5), min_size=8, max_size=8).map(lambda codes: categories(codes, 6)),
    st.lists(st.floats(-1e300, 1e300) | st.just(np.nan), min_size=8, max_size=8).map(numbers),
)


@settings(max_examples=25)
@given(
    st.lists(st.floats(-1e150, 1e150), min_size=8, max_size=8).map(numbers),
    st.lists(cells, max_size=3),
    st.integers(0, 2**32),
)
def test_any_table_gives_finite_numbers_and_no_warning(target, columns, seed):
    draw = np.random.default_rng(seed)
    for method in METHODS:
        drawn = method.fit(target, columns, draw).posterior(draw).sample(columns, 8, draw)
        assert allowed(target, drawn)


@settings(max_examples=25)
@given(st.lists(st.integers(0, 9), min_size=8, max_size=8), st.lists(cells, max_size=3), st.integers(0, 2**32))
def test_any_table_gives_categories_that_were_seen_and_no_warning(codes, columns, seed):
    draw, target = np.random.default_rng(seed), categories(codes, 12)
    for method in (Sample(), Linear(), QUICK):
        assert allowed(target, method.fit(target, columns, draw).posterior(draw).sample(columns, 8, draw))


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        (Linear, {"ridge": -1}),
        (Linear, {"spread": 0}),
        (SmallNetwork, {"hidden": (0,)}),
        (SmallNetwork, {"members": 1}),
        (SmallNetwork, {"epochs": 0}),
        (SmallNetwork, {"rate": float("nan")}),
    ],
)
def test_settings_outside_their_range_are_refused(method, settings):
    with pytest.raises(ParameterError, match="must be"):
        method(**settings)


@pytest.mark.parametrize(
    "method", [Linear(), Linear(normal_scores=True), SmallNetwork()], ids=["linear", "scores", "network"]
)
def test_a_missing_cell_that_is_given_tells_something(method):
    draw = np.random.default_rng(0)
    known = np.where(draw.random(1_000) < 0.3, np.nan, draw.normal(size=1_000))
    target = numbers(np.where(np.isnan(known), 5.0, 0.0) + draw.normal(size=1_000))
    drawn = method.fit(target, [numbers(known)], draw).sample([numbers(known)], 1_000, draw)
    gap = drawn[np.isnan(known)].mean() - drawn[~np.isnan(known)].mean()
    assert gap == pytest.approx(5, abs=0.6)


def test_a_linear_regression_recovers_its_coefficients():
    draw = np.random.default_rng(0)
    slope, group = numbers(draw.normal(size=4_000)), categories(draw.integers(0, 3, 4_000))
    target = numbers(7 + 2 * slope.values + np.array([0.0, 1.0, -3.0])[group.codes] + draw.normal(size=4_000) / 2)
    fitted = Linear().fit(target, [slope, group], draw)
    at = [numbers(np.tile([0.0, 1, 0, 0], 4_000)), categories(np.tile([0, 0, 1, 2], 4_000))]
    means = fitted.sample(at, 16_000, draw).reshape(4_000, 4).mean(axis=0)
    np.testing.assert_allclose(means, [7, 9, 8, 4], atol=0.1)


def test_posterior_predictive_intervals_cover_and_plug_in_ones_do_not():
    """The range of 39 draws covers 95% if draws and truth are alike; 300 repetitions: standard deviation 1.3%."""
    draw, hits = np.random.default_rng(0), np.zeros(2)
    with one_thread():
        for _ in range(300):
            columns = [numbers(draw.normal(size=13)) for _ in range(3)]
            truth = sum(each.values for each in columns) + draw.normal(size=13)
            known, new = ([each.take(np.arange(*span)) for each in columns] for span in ((0, 12), (12, 13)))
            fitted = Linear().fit(numbers(truth[:12]), known, draw)
            full = [fitted.posterior(draw).sample(new, 1, draw)[0] for _ in range(39)]
            plug = fitted.sample([each.take(np.zeros(39, dtype=np.int64)) for each in new], 39, draw)
            hits += [min(drawn) < truth[12] < max(drawn) for drawn in (full, plug)]
    assert 0.92 < hits[0] / 300 < 0.98
    assert hits[1] / 300 < 0.91


@pytest.mark.parametrize("method", [Linear(), Linear(normal_scores=True)], ids=["linear", "scores"])
def test_copies_differ_by_the_posterior_and_not_by_sampling_alone(method):
    """The mean of a copy varies by 2 s²/n: once for the coefficients and once for the draws."""
    draw = np.random.default_rng(0)
    known = [numbers(draw.normal(size=200))]
    fitted = method.fit(numbers(known[0].values + draw.normal(size=200)), known, draw)
    with one_thread():
        full = [fitted.posterior(draw).sample(known, 200, draw).mean() for _ in range(800)]
        plug = [fitted.sample(known, 200, draw).mean() for _ in range(800)]
    assert np.var(full) == pytest.approx(2 / 200, rel=0.25)
    assert np.var(plug) == pytest.approx(1 / 200, rel=0.25)


def test_normal_scores_keep_the_distribution_of_the_column():
    draw = np.random.default_rng(0)
    known = numbers(draw.normal(size=3_000))
    skewed = np.exp(known.values + draw.normal(size=3_000)).round(1)
    target = numbers(np.where(skewed < 0.5, 0.0, skewed))
    distance = {}
    for scores in (False, True):
        drawn = Linear(normal_scores=scores).fit(target, [known], draw).posterior(draw).sample([known], 3_000, draw)
        distance[scores] = ks_2samp(drawn, target.values).statistic
        assert scores == (set(drawn) <= set(target.values))
    assert distance[True] < 0.05 < 0.2 < distance[False]
    assert np.corrcoef(np.argsort(np.argsort(drawn)), known.values)[0, 1] > 0.5


def planted(draw, rows=6_000):
    """Three categories whose shares depend on a group."""
    shares = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4], [0.05, 0.05, 0.9]])
    group = draw.integers(0, 4, rows)
    codes = (draw.random(rows)[:, None] > shares[group].cumsum(axis=1)).sum(axis=1)
    return shares, categories(np.minimum(codes, 2)), [categories(group)]


@pytest.mark.parametrize("method", [Linear(), SmallNetwork()], ids=["linear", "network"])
def test_categories_are_drawn_with_the_shares_of_their_rows(method):
    draw = np.random.default_rng(0)
    shares, target, columns = planted(draw)

    def found(one):
        drawn = one.fit(target, columns, draw).posterior(draw).sample(columns, target.rows, draw)
        return np.array([np.bincount(drawn[columns[0].codes == group], minlength=3) for group in range(4)])

    counts = found(method)
    np.testing.assert_allclose(counts / counts.sum(axis=1, keepdims=True), shares, atol=0.07)
    alone = found(Sample())
    assert np.abs(alone / alone.sum(axis=1, keepdims=True) - shares).max() > 0.3


@pytest.mark.parametrize("whole", [logistic._WHOLE, 0], ids=["whole", "blocks"])
def test_the_laplace_posterior_has_the_variance_of_the_exact_one(whole, monkeypatch):
    """In a group of n rows alone, a share p has a beta posterior with the variance p (1 - p) / n."""
    monkeypatch.setattr(logistic, "_WHOLE", whole)
    draw = np.random.default_rng(0)
    codes = np.concatenate([np.repeat([0, 1], [300, 100]), np.repeat([0, 1], [120, 80])])
    columns = [categories(np.repeat([0, 1], [400, 200]))]
    fitted = Linear(spread=10).fit(categories(codes), columns, draw)
    at = fitted.design.matrix([categories([0, 1])], 2)
    with one_thread():
        drawn = np.array([shares_of(at @ fitted.posterior(draw).weights)[:, 1] for _ in range(1_500)])
    np.testing.assert_allclose(drawn.mean(axis=0), [0.25, 0.4], atol=0.01)
    np.testing.assert_allclose(drawn.std(axis=0), [np.sqrt(0.25 * 0.75 / 400), np.sqrt(0.4 * 0.6 / 200)], rtol=0.1)


def test_rare_categories_stay_as_rare_as_they_are():
    """Coefficients drawn as they are would make them commoner: the mean of a log-normal exceeds its median."""
    draw = np.random.default_rng(0)
    rare = np.where(draw.random(2_000) < 0.02, draw.integers(1, 15, 2_000), 0)
    columns = [categories(draw.integers(0, 8, 2_000)), numbers(draw.normal(size=2_000))]
    fitted = Linear().fit(categories(rare), columns, draw)
    matrix, root = fitted.design.matrix(columns, 2_000), fitted.roots[0]
    counts = {"set anew": [], "as they are": []}
    for _ in range(60):
        raw = solve_triangular(root, draw.standard_normal(len(root)), lower=True, trans="T")
        raw = fitted.weights + raw.reshape(fitted.weights.T.shape).T
        for name, weights in (("set anew", fitted.posterior(draw).weights), ("as they are", raw)):
            counts[name].append(shares_of(matrix @ weights)[:, 1:].sum())
    seen = np.count_nonzero(rare)
    assert np.mean(counts["set anew"]) == pytest.approx(seen, rel=0.1)
    assert np.mean(counts["as they are"]) > 1.5 * seen


def test_perfect_separation_neither_diverges_nor_is_lost():
    draw = np.random.default_rng(0)
    known = numbers(np.concatenate([np.linspace(-2, -1, 200), np.linspace(1, 2, 200)]))
    target = categories(np.repeat([0, 1], 200))
    fitted = Linear().fit(target, [known], draw).posterior(draw)
    assert np.abs(fitted.weights).max() < 50
    assert np.mean(fitted.sample([known], 400, draw) == target.codes) > 0.97


def test_ten_thousand_categories_can_be_learned():
    draw = np.random.default_rng(0)
    target, columns = (
        categories(np.concatenate([np.zeros(800), np.arange(10_000)])),
        [numbers(draw.normal(size=10_800))],
    )
    for method in (Linear(), QUICK):
        drawn = method.fit(target, columns, draw).sample(columns, 10_800, draw)
        assert np.count_nonzero(drawn == 0) == pytest.approx(801, abs=200)
        assert len(set(drawn.tolist())) > 4_000


def test_a_network_learns_what_a_regression_cannot():
    draw = np.random.default_rng(0)
    columns = [categories(draw.integers(0, 2, 2_000)) for _ in range(2)]
    target = categories(columns[0].codes ^ columns[1].codes)
    right = {}
    for method in (Linear(), SmallNetwork()):
        right[type(method)] = np.mean(method.fit(target, columns, draw).sample(columns, 2_000, draw) == target.codes)
    assert right[SmallNetwork] > 0.95
    assert right[Linear] < 0.6


def test_a_network_draws_values_of_the_column():
    draw = np.random.default_rng(0)
    known = numbers(draw.normal(size=2_000))
    target = numbers((np.abs(known.values) + draw.normal(size=2_000) / 5).round(3))
    drawn = SmallNetwork().fit(target, [known], draw).posterior(draw).sample([known], 2_000, draw)
    assert set(drawn) <= set(target.values)
    assert ks_2samp(drawn, target.values).statistic < 0.06
    assert np.corrcoef(drawn, np.abs(known.values))[0, 1] > 0.85


def test_networks_differ_as_bootstraps_do():
    """The mean of the column varies between 60 networks by s²/n; the standard deviation of that is 18%."""
    draw = np.random.default_rng(0)
    known, target = [numbers(draw.normal(size=300))], categories(draw.random(300) < 0.4)
    fitted = SmallNetwork(hidden=(4,), members=60, epochs=3).fit(target, known, draw)
    many = [known[0].take(np.tile(np.arange(300), 30))]
    copies = {one.member: one for one in (fitted.posterior(draw) for _ in range(600))}
    means = [one.sample(many, 9_000, draw).mean() for one in copies.values()]
    assert len(copies) == 60
    assert np.var(means) == pytest.approx(0.24 / 300 + 0.24 / 9_000, rel=0.6)

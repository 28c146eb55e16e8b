"""Densities to serve: sensitivities, exactness, and what they promise."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ziggurat.errors import ParameterError
from ziggurat.learn import KernelDensity, ServedHistogram
from ziggurat.learn.served._base import (
    COUNTED,
    added_by_a_row,
    in_features,
    moved_by_a_row,
    published_constant,
    sum_features,
)
from ziggurat.learn.served._fourier import Fourier
from ziggurat.learn.served._kernels import KernelExpansion, gaussian_kernel
from ziggurat.mechanisms import Gaussian, empirical_epsilon
from ziggurat.privacy import GaussianEvent, LaplaceEvent, Relation, gaussian_mu
from ziggurat.randomness import seeded

LINE = Fourier.lattice(np.array([1.0]), 0.2, 1000)
SQUARE = Fourier.lattice(np.array([1.0, 2.0]), 0.4, 1000)
DRAWN = Fourier.draw(3, 0.5, 200)


def _rows(rows=400, columns=1, seed=1):
    return np.clip(np.random.default_rng(seed).normal(0.5, 0.15, (rows, columns)), 0, 1)


def test_the_exact_calibration_needs_little_more_than_half_the_published_noise():
    assert published_constant("1e-3") == pytest.approx(3.8989492070408103, abs=1e-12)
    assert published_constant("1e-4") == pytest.approx(4.45050279239012, abs=1e-12)
    assert 0.4 / gaussian_mu(0.4, 1e-3) == pytest.approx(2.2237562757750574, abs=1e-8)
    assert 0.2 / gaussian_mu(0.2, 1e-3) == pytest.approx(1.9796404620914105, abs=1e-8)
    assert 4 / gaussian_mu(4, 1e-3) == pytest.approx(3.292310740978645, abs=1e-8)
    for model in (KernelDensity, ServedHistogram):
        ours, theirs = (
            model("0.4", "1e-3", bounds=(0, 1), relation="replace-one", as_published=old, random_state=0).fit(_rows())
            for old in (False, True)
        )
        ratio = theirs.noise_scale_ / ours.noise_scale_
        extra = math.sqrt(2) if model is ServedHistogram else 1  # 2/n was printed for a histogram, sqrt(2)/n is enough
        assert ratio == pytest.approx(3.8989492 / 2.2237563 * extra, rel=1e-5)
        assert float(theirs.guarantee_.epsilon) < 0.4


def test_the_sensitivities_are_those_of_the_oracles():
    assert KernelDensity(bandwidth=0.5)._movement(5000, 1) == pytest.approx(0.00022567583341910253, rel=1e-11)
    assert KernelDensity(bandwidth=0.5)._movement(5000, 2) == pytest.approx(0.00018006326323142123, rel=1e-11)
    bounded = KernelDensity(bandwidth=0.5, bounds=(0, 1))._movement(5000, 1)
    assert bounded == pytest.approx(0.00020984997596572403, rel=1e-11)
    histogram = ServedHistogram(bounds=(0, 1), relation="replace-one").planned(5000, 1)
    assert float(histogram.sensitivity) / 5000 == pytest.approx(math.sqrt(2) / 5000)


def _furthest(model, columns, pairs):
    """The largest distance of two estimates whose tables differ in one row, in units of the claimed one."""
    base = _rows(6, columns)
    found = 0.0
    for one, other in pairs:
        tables = [model._clip(np.vstack([base, row])) for row in (one, other)]
        first, second = (
            KernelExpansion(rows, np.full((7, 1), model._peak(columns) / 7), model._width) for rows in tables
        )
        found = max(found, first.distance(second))
    return found / model._movement(7, columns)


def test_no_row_moves_a_density_further_than_claimed_and_corners_move_it_so_far():
    """Negative control: half the claim would be exceeded."""
    corners = [np.array(corner, dtype=float) for corner in itertools.product((-5, 0, 1, 7), repeat=2)]
    bounded = KernelDensity(bandwidth=0.4, bounds=(0, 1))
    assert 0.99 < _furthest(bounded, 2, itertools.combinations(corners, 2)) <= 1
    free = KernelDensity(bandwidth=0.4)
    assert 0.99 < _furthest(free, 2, itertools.combinations(corners, 2)) <= 1
    inside = np.random.default_rng(3).random((40, 2))
    assert _furthest(bounded, 2, zip(inside[:20], inside[20:], strict=True)) <= 1


@pytest.mark.parametrize(("features", "high"), [(LINE, [1.0]), (SQUARE, [1.0, 2.0]), (DRAWN, [9.0] * 3)])
def test_no_row_moves_summed_features_further_than_claimed(features, high):
    draw = np.random.default_rng(5)
    corners = [np.array(corner) for corner in itertools.product(*((0.0, top) for top in high))]
    inside = list(draw.random((60, len(high))) * high)
    base = draw.random((5, len(high))) * high
    sums = [sum_features(features, np.vstack([base, row])) for row in corners + inside]
    furthest = max(float(np.linalg.norm(one - other)) for one, other in itertools.combinations(sums, 2))
    claimed = float(moved_by_a_row(features))
    assert furthest <= claimed
    if features is not DRAWN:
        assert furthest > 0.99 * claimed


@pytest.mark.parametrize(("features", "high"), [(LINE, [1.0]), (SQUARE, [1.0, 2.0]), (DRAWN, [9.0] * 3)])
def test_no_row_more_moves_summed_features_and_count_further_than_claimed_and_half_would_be_exceeded(features, high):
    draw = np.random.default_rng(5)
    corners = [np.array(corner) for corner in itertools.product(*((0.0, top) for top in high))]
    base, claimed = draw.random((5, len(high))) * high, float(added_by_a_row(features))

    def released(rows):
        return np.append(sum_features(features, rows), len(rows) * COUNTED)

    for kept in (base, base[:0]):
        for row in [*corners, *draw.random((20, len(high))) * high, np.full(len(high), 1e9)]:
            moved = np.linalg.norm(released(np.vstack([kept, row])) - released(kept))
            assert 0.99 * claimed < moved <= claimed


def test_no_row_more_moves_kernels_and_count_further_than_a_path_allows_for_and_half_would_be_exceeded(tmp_path):
    """In the norm of the kernel's space a kernel has length 1, and a row counts for a quarter beside it."""
    model = KernelDensity(bandwidth=0.4, bounds=(0, 1), path=tmp_path / "path")
    claimed = float(model._mechanism(0, 2).event.sensitivity)
    rows = np.random.default_rng(1).random((6, 2))
    for row in itertools.product((0.0, 0.3, 1.0), repeat=2):
        few, many = (KernelExpansion(one, np.ones((len(one), 1)), 0.4) for one in (rows, np.vstack([rows, row])))
        moved = math.hypot(many.distance(few), 1 / 4)
        assert 0.99 * claimed < moved <= claimed


def test_a_density_of_a_private_number_of_rows_has_the_noise_of_its_sums_and_of_its_count():
    from sklearn.neighbors import KernelDensity as Plain

    rows, asked = _rows(5000), np.linspace(0, 1, 51)[:, None]
    truth = np.exp(Plain(bandwidth=0.1).fit(rows).score_samples(asked))
    made = [KernelDensity(1, bandwidth=0.1, bounds=(0, 1), random_state=i).fit(rows) for i in range(60)]
    errors = np.array([one.density(asked) - truth for one in made])
    stated = float(made[0].event_.sigma) / COUNTED
    assert np.std([one.count_ for one in made]) == pytest.approx(stated, rel=0.3)
    spread = np.hypot(made[0].noise_scale_, truth * stated / 5000)
    assert np.abs(errors.mean(axis=0)).max() < 6 * spread.max() / math.sqrt(60)
    assert np.sqrt((errors**2).mean()) == pytest.approx(np.sqrt((spread**2).mean()), rel=0.15)


@pytest.mark.parametrize("power", [0, 30, 44, 50])
@pytest.mark.parametrize("columns", [1, 2])
def test_bounds_far_from_0_move_features_no_further_than_bounds_around_it(power, columns):
    """Boxes a few floats wide: measured from 0, round-off of the angles would move features many times as far."""
    draw, worst = np.random.default_rng(power), 0.0
    for steps in (1, 2, 16):
        low = 2.0**power * (1 + draw.random())
        places = np.append(draw.integers(0, steps + 1, (18, columns)), [[0] * columns, [steps] * columns], axis=0)
        model = KernelDensity(bounds=(low, low + steps * np.spacing(low)))
        features = model._map(columns)
        sums = [sum_features(features, model._clip(low + place[None] * np.spacing(low))) for place in places]
        furthest = max(float(np.linalg.norm(one - other)) for one, other in itertools.combinations(sums, 2))
        worst = max(worst, furthest / float(moved_by_a_row(features)))
    assert worst <= 1


def test_densities_are_the_same_wherever_the_bounds_are():
    rows, asked = np.round(_rows(200) * 64) / 64, np.linspace(-0.5, 1.5, 9)[:, None]
    here, there = (
        KernelDensity(1, bandwidth=0.5, bounds=(at, at + 1), random_state=0).fit(rows + at).density(asked + at)
        for at in (0, 2**40)
    )
    assert here.tolist() == there.tolist()


def test_the_features_of_a_row_do_not_depend_on_other_rows():
    rows = np.random.default_rng(0).random((70, 3)) * 1e9
    together = DRAWN.of(rows)
    for at in range(0, 70, 7):
        assert DRAWN.of(rows[at:]) == pytest.approx(together[at:], abs=1e-15)


@pytest.mark.filterwarnings("ignore")
def test_bounds_as_wide_as_floats_reach_give_features_of_length_one():
    model = KernelDensity(bounds=(-1e308, 1e308), features=64)
    features = model._map(2).of(model._clip(np.array([[1e308, -1e308], [0.0, 1e300]])))
    assert np.linalg.norm(features, axis=1) == pytest.approx(1, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=4, max_size=4))
def test_features_have_length_one_and_nearly_the_kernel_as_product(cells):
    rows = np.array(cells).reshape(2, 2)
    features = SQUARE.of(rows)
    assert np.linalg.norm(features, axis=1) == pytest.approx(1, abs=1e-12)
    exact = gaussian_kernel(rows, rows, 0.4)
    assert features @ features.T == pytest.approx(exact, abs=1e-3)
    assert float(features[0] @ features[1]) >= SQUARE.least


def test_a_lattice_is_taken_where_there_is_room_and_frequencies_are_drawn_elsewhere():
    assert KernelDensity(bandwidth=0.2, bounds=(0, 1))._map(1).least > -1e-3
    assert KernelDensity(bandwidth=0.2, bounds=(0, 1))._map(12).least == -1
    assert KernelDensity(bandwidth=0.2)._map(1).least == -1
    assert KernelDensity(bandwidth=0.2, features=100)._map(1).size == 100


def test_a_density_is_the_kernel_estimate_and_its_noise():
    from sklearn.neighbors import KernelDensity as Plain

    rows, asked = _rows(5000), np.linspace(0, 1, 201)[:, None]
    truth = np.exp(Plain(bandwidth=0.1).fit(rows).score_samples(asked))
    given = {"bandwidth": 0.1, "bounds": (0, 1), "relation": "replace-one"}
    made = [KernelDensity(1, random_state=i, **given).fit(rows) for i in range(40)]
    errors = np.array([one.density(asked) - truth for one in made])
    assert np.abs(errors.mean(axis=0)).max() < 6 * made[0].noise_scale_ / math.sqrt(40)
    assert errors.std() == pytest.approx(made[0].noise_scale_, rel=0.15)
    assert np.exp(made[0].score_samples(asked)) == pytest.approx(np.maximum(made[0].density(asked), 1e-300))


def test_rows_outside_the_bounds_are_clipped_and_questions_far_away_are_near_ones():
    low, high = np.zeros((300, 1)), np.full((300, 1), -1e12)
    first, second = (KernelDensity(50, bandwidth=0.3, bounds=(0, 1), random_state=2).fit(r) for r in (low, high))
    asked = np.array([[0.0], [0.5], [1e300]])
    assert first.density(asked).tolist() == second.density(asked).tolist()
    assert abs(first.density(asked)[2]) < 0.05
    assert np.isfinite(KernelDensity(random_state=0).fit(np.array([[1e300], [-1e300]] * 50)).density(asked)).all()


def test_an_audit_of_a_density_stays_below_the_claim_and_finds_half_the_noise():
    """Two tables that differ in one corner; false alarms below 1e-6, and the seed is fixed."""
    model = KernelDensity(2, "0.01", bandwidth=0.5, bounds=(0, 1), relation="replace-one")
    features, mechanism = model._map(1), model._mechanism(3, 1)
    pair = [sum_features(features, np.array([[0.2], [0.4], [row]])) for row in (0.0, 1.0)]
    halved = Gaussian(mechanism.event.sensitivity, mechanism.sigma / 2, values="integers", coordinates=features.size)
    assert _audited(mechanism, pair) <= 2 < _audited(halved, pair)


def test_an_audit_of_a_row_more_in_a_density_stays_below_the_claim_and_finds_half_the_noise():
    model = KernelDensity(2, "0.01", bandwidth=0.5, bounds=(0, 1))
    features, mechanism = model._map(1), model._mechanism(0, 1)
    tables = [np.array([[0.2], [0.4], [1.0]]), np.array([[0.2], [0.4]])]
    pair = [np.append(sum_features(features, rows), len(rows) * COUNTED) for rows in tables]
    options = {"values": "integers", "coordinates": features.size + 1}
    halved = Gaussian(mechanism.event.sensitivity, mechanism.sigma / 2, **options)
    assert _audited(mechanism, pair) <= 2 < _audited(halved, pair)


def _audited(mechanism, pair, draws=20_000):
    way = (pair[1] - pair[0]) / np.linalg.norm(pair[1] - pair[0])
    source = seeded("audit")
    seen = [mechanism.release(np.tile(value, (draws, 1)), source).value @ way for value in pair]
    return empirical_epsilon(
        *(np.floor(s / float(mechanism.sigma) * 8) for s in seen), delta="0.01", confidence=1 - 1e-6
    )


def test_no_row_moves_a_histogram_further_than_claimed():
    """All tables of three rows over four bins; negative control: half the claim would be exceeded."""
    model = ServedHistogram(bins=2, bounds=(0, 1), relation="replace-one")
    middles = [np.array(place) for place in itertools.product((0.25, 0.75), repeat=2)]
    furthest = 0.0
    for kept in itertools.combinations_with_replacement(middles, 2):
        counts = [np.bincount(model._places(np.array([*kept, row])), minlength=4) for row in middles]
        furthest = max(furthest, *(np.linalg.norm(a - b) for a, b in itertools.combinations(counts, 2)))
    assert furthest == pytest.approx(math.sqrt(2))
    assert furthest <= float(model.planned(3, 2).sensitivity) <= furthest * (1 + 1e-9)


def test_a_histogram_is_pure_without_delta_and_knows_both_relations():
    rows = _rows(2000, 2)
    pure = ServedHistogram("0.5", 0, bins=(3, 4), bounds=(0, 1), random_state=1).fit(rows)
    assert isinstance(pure.event_, LaplaceEvent)
    assert (pure.guarantee_.epsilon, pure.shares_.shape) == (Fraction(1, 2), (3, 4))
    other = ServedHistogram("0.5", "1e-6", bounds=(0, 1), relation="add-or-remove-one", random_state=1).fit(rows)
    assert isinstance(other.event_, GaussianEvent)
    assert other.event_.neighbours.relation is Relation.ADD_OR_REMOVE_ONE
    assert other.shares_.sum() == pytest.approx(1)


def test_a_histogram_answers_with_densities_and_zero_outside():
    rows = _rows(20_000)
    made = ServedHistogram(1, bins=10, bounds=(0, 1), random_state=1).fit(rows)
    truth = np.histogram(rows, bins=10, range=(0, 1), density=True)[0]
    assert made.density(np.arange(0.05, 1, 0.1)[:, None]) == pytest.approx(truth, abs=0.03)
    assert made.density(np.array([[-0.1], [1.1]])).tolist() == [0, 0]


@pytest.mark.parametrize("model", [KernelDensity("1e-3", bounds=(0, 1)), ServedHistogram("1e-3", bounds=(0, 1))])
def test_answers_that_are_noise_are_said_to_be(model):
    with pytest.warns(UserWarning, match="mostly noise"):
        model.set_params(random_state=0, expected_rows=50).fit(_rows(50))


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"delta": 0}, "delta greater than 0"),
        ({"epsilon": 0}, "epsilon must be greater"),
        ({"delta": 1}, "less than 1"),
        ({"bandwidth": 0}, "bandwidth"),
        ({"bounds": (1, 0)}, "below"),
        ({"bounds": 3}, "bounds"),
        ({"features": 1}, "features"),
        ({"random_state": "x"}, "whole number"),
    ],
)
def test_wrong_settings_of_a_density_are_refused_in_a_sentence(settings_, message):
    with pytest.raises(ParameterError, match=message):
        KernelDensity(**settings_).fit(_rows(20))


@pytest.mark.parametrize(
    "settings_", [{"bounds": None}, {"bins": 0}, {"bins": (2, 2)}, {"bins": 10**9}, {"relation": "some"}]
)
def test_wrong_settings_of_a_histogram_are_refused(settings_):
    with pytest.raises(ParameterError):
        ServedHistogram(**{"bounds": (0, 1), **settings_}).fit(_rows(20))


def test_in_features_undoes_the_steps():
    assert in_features(sum_features(LINE, np.array([[0.3]]))) == pytest.approx(LINE.of(np.array([[0.3]]))[0], abs=1e-7)

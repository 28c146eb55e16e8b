"""Served Gaussian-process regression: labels are private, rows are public."""

import itertools
import math

import numpy as np
import pytest

from ziggurat.errors import ParameterError
from ziggurat.learn import CloakedRegression, GaussianProcessRegression
from ziggurat.learn.served._cloaking import cloak
from ziggurat.learn.served._fourier import Fourier
from ziggurat.learn.served._kernels import KernelExpansion, gaussian_kernel
from ziggurat.learn.served._posterior import in_features, in_kernel
from ziggurat.mechanisms import Gaussian, empirical_epsilon
from ziggurat.randomness import seeded

GRID = np.linspace(0, 1, 20)[:, None]
ASKED = np.array([[0.25], [0.5], [0.75]])
LINE = Fourier.lattice(np.array([1.0]), 0.2, 1000)


def _wave(rows=400):
    draw = np.random.default_rng(0)
    table = draw.random((rows, 1))
    return table, np.sin(6 * table[:, 0]) + 0.1 * draw.normal(size=rows)


def test_the_sensitivity_is_that_of_the_oracle_and_the_printed_one_is_eighteen_times_larger():
    """y_range 1, kernel of width 0.2, noise variance 0.1: 1.0445, at most 1/(2 sqrt(0.1)); printed 18.43."""
    moved = in_kernel(GRID, 0.1, 0.2).moved / 2  # labels in [-1, 1] are two apart
    assert moved == pytest.approx(1.0444698698107755, rel=1e-8)
    assert moved <= 1 / (2 * math.sqrt(0.1))
    model = GaussianProcessRegression(bandwidth=0.2, noise_variance=0.1)
    assert model._published_ratio(GRID, 2 * moved) * moved == pytest.approx(18.431346306213268, rel=1e-8)
    assert in_features(LINE, GRID, 0.1, shaped=False).moved / 2 == pytest.approx(moved, rel=1e-4)


def test_no_label_moves_the_mean_further_than_claimed_and_one_moves_it_so_far():
    """All labels at either end, one after the other; negative control: half the claim would be exceeded."""
    mean, draw = in_kernel(GRID, 0.1, 0.2), np.random.default_rng(1)
    labels, furthest = draw.choice([-1.0, 1.0], 20), 0.0
    for at in range(20):
        other = labels.copy()
        other[at] = -labels[at]
        pair = [KernelExpansion(GRID, mean.of(y)[:, None], 0.2) for y in (labels, other)]
        furthest = max(furthest, pair[0].distance(pair[1]))
    assert 0.999 * mean.moved < furthest <= mean.moved


@pytest.mark.parametrize("shaped", [False, True])
@pytest.mark.parametrize("noise", [0.1, 10.0])
def test_no_label_moves_the_weights_further_than_claimed(shaped, noise):
    rows = np.random.default_rng(2).random((60, 1))
    mean, labels = in_features(LINE, rows, noise, shaped=shaped), np.random.default_rng(3).choice([-1.0, 1.0], 60)
    moves = [
        np.linalg.norm(mean.of(labels) - mean.of(np.where(np.arange(60) == at, -labels, labels))) for at in range(60)
    ]
    assert 0.999 * mean.moved < max(moves) <= mean.moved


def test_shaped_coordinates_give_the_same_function_back():
    rows, labels = _wave(100)
    plain, shaped = (in_features(LINE, rows, 0.5, shaped=way) for way in (False, True))
    assert shaped.outward @ shaped.of(labels) == pytest.approx(plain.of(labels), abs=1e-7)


@pytest.mark.parametrize("noise", [0.1, 1, 10, 100])
def test_shaped_noise_is_smaller_and_measured_rightly(noise):
    rows, labels = _wave()
    common = {"y_bounds": (-1.5, 1.5), "bandwidth": 0.2, "bounds": (0, 1), "noise_variance": noise, "epsilon": 20}
    plain, shaped = (
        [GaussianProcessRegression(shaped=way, random_state=i, **common).fit(rows, labels) for i in range(30)]
        for way in (False, True)
    )
    assert shaped[0].noise_scale_ < plain[0].noise_scale_
    spread = np.array([one.predict(rows) for one in shaped]).std(axis=0, ddof=1)
    assert np.sqrt((spread**2).mean()) == pytest.approx(shaped[0].noise_scale_, rel=0.25)


def test_it_learns_what_the_plain_process_does():
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF

    rows, labels = _wave()
    plain = GaussianProcessRegressor(RBF(0.2, "fixed"), alpha=0.1, optimizer=None).fit(rows, labels)
    made = GaussianProcessRegression("1e6", y_bounds=(-1.5, 1.5), bandwidth=0.2, bounds=(0, 1), random_state=0).fit(
        rows, labels
    )
    assert made.predict(GRID) == pytest.approx(plain.predict(GRID), abs=0.02)


def test_the_promise_is_about_a_label_and_planned_from_the_shape():
    rows, labels = _wave()
    made = GaussianProcessRegression("0.4", "1e-3", y_bounds=(-1, 1), features=64, random_state=0).fit(rows, labels)
    assert made.event_ == made.planned(400, 1)
    assert "label" in str(made.guarantee_)
    assert float(made.guarantee_.epsilon) <= 0.4


@pytest.mark.filterwarnings("ignore:With this epsilon")
def test_the_published_process_has_its_noise_and_a_better_promise():
    rows, labels = GRID, np.linspace(-0.5, 0.5, 20)
    made = GaussianProcessRegression(
        "0.4", "1e-3", y_bounds=(-0.5, 0.5), bandwidth=0.2, bounds=(0, 1), as_published=True, random_state=0
    ).fit(rows, labels)
    assert made.noise_scale_ == pytest.approx(18.431346306 * 3.898949207 / 0.4, rel=1e-3)
    assert float(made.guarantee_.epsilon) < 0.4


def test_the_cloak_is_that_of_the_oracle():
    columns = gaussian_kernel(ASKED, GRID, 0.2) @ in_kernel(GRID, 0.1, 0.2).inward[0]
    made = cloak(columns)
    shape = made.covariance * made.longest**2
    assert np.linalg.slogdet(shape)[1] == pytest.approx(-8.456470060018502, abs=1e-5)
    assert math.sqrt(shape[1, 1]) == pytest.approx(0.243, abs=5e-4)
    reach = np.einsum("ij,ij->j", columns, np.linalg.solve(shape, columns))
    assert 0.999 < reach.max() <= 1 + 1e-9


@pytest.mark.filterwarnings("ignore:With this epsilon")
def test_cloaking_answers_its_questions_with_less_noise_and_no_others():
    rows, labels = _wave()
    common = {"y_bounds": (-1.5, 1.5), "bandwidth": 0.2, "random_state": 0}
    made = CloakedRegression(1, questions=ASKED, **common).fit(rows, labels)
    whole = GaussianProcessRegression(1, bounds=(0, 1), shaped=False, **common).fit(rows, labels)
    assert made.noise_scales_.max() < whole.noise_scale_ / 3
    assert made.predict(ASKED[::-1]).tolist() == made.answers_[::-1].tolist()
    assert made.event_ == made.planned(400, 1)
    assert np.abs(made.answers_ - np.sin(6 * ASKED[:, 0])).max() < 6 * made.noise_scales_.max()
    with pytest.raises(ParameterError, match="answers no others"):
        made.predict([[0.1]])


def test_questions_that_hang_together_share_their_noise():
    """Ten times the same question has rank one: it is answered once."""
    rows, labels = _wave(50)
    made = CloakedRegression(10, questions=np.full((10, 1), 0.3), y_bounds=(-1.5, 1.5), bandwidth=0.2, random_state=0)
    answers = made.fit(rows, labels).answers_
    assert answers == pytest.approx(np.full(10, answers[0]), abs=1e-9)


@pytest.mark.parametrize("shaped", [False, True])
def test_an_audit_stays_below_the_claim_and_finds_half_the_noise(shaped):
    """Two tables that differ in the label that moves most; false alarms below 1e-6, and the seed is fixed."""
    mean = in_features(LINE, GRID, 0.1, shaped=shaped)
    longest = int(np.argmax([np.linalg.norm(mean.of(row)) for row in np.eye(20)]))
    pair = [mean.of(np.where(np.arange(20) == longest, end, 0.5)) / mean.moved for end in (-1.0, 1.0)]
    sound = Gaussian.calibrated(2, "0.01", 1, coordinates=LINE.size)
    assert _audited(sound, pair) <= 2 < _audited(Gaussian(1, sound.sigma / 2, coordinates=LINE.size), pair)


def _audited(mechanism, pair, draws=20_000):
    way, source = (pair[1] - pair[0]) / np.linalg.norm(pair[1] - pair[0]), seeded("audit")
    seen = [mechanism.release(np.tile(value, (draws, 1)), source).value @ way for value in pair]
    cells = [np.floor(s / float(mechanism.sigma) * 8) for s in seen]
    return empirical_epsilon(*cells, delta="0.01", confidence=1 - 1e-6)


@pytest.mark.parametrize("model", [GaussianProcessRegression, CloakedRegression])
def test_bounds_of_the_labels_and_questions_must_be_stated(model):
    rows, labels = _wave(20)
    with pytest.raises(ParameterError, match="y_bounds"):
        model(**({"questions": ASKED} if model is CloakedRegression else {})).fit(rows, labels)
    for wrong, other in itertools.product(((1, 0), (0, np.inf), 3), ({"bandwidth": 0.2},)):
        with pytest.raises(ParameterError):
            model(y_bounds=wrong, **other).fit(rows, labels)
    with pytest.raises(ParameterError, match="questions"):
        CloakedRegression(y_bounds=(0, 1)).fit(rows, labels)


def test_one_row_constant_columns_and_many_columns_are_fine():
    model = GaussianProcessRegression(1000, y_bounds=(0, 1), features=64, random_state=0)
    for rows in (np.zeros((1, 1)), np.zeros((9, 2)), np.random.default_rng(0).random((3, 30))):
        assert np.isfinite(model.fit(rows, np.full(len(rows), 0.7)).predict(rows)).all()


@pytest.mark.parametrize(("rows", "noise", "spread"), [(30, 1e-6, 0.01), (24, 1e-10, 0.05), (16, 1e-12, 0.02)])
def test_the_sensitivity_bounds_the_map_as_it_is_also_where_its_coefficients_cancel(rows, noise, spread):
    """In arbitrary precision: at 1e-10 and below a relative slack of 1e-9 alone states too little."""
    import mpmath

    placed = np.random.default_rng(0).normal(size=(rows, 2)) * spread
    made = in_kernel(placed, noise, 1.0)
    with mpmath.workdps(50):
        points = [[mpmath.mpf(float(value)) for value in row] for row in placed]
        gram = mpmath.matrix(rows, rows)
        for i, j in itertools.product(range(rows), repeat=2):
            gram[i, j] = mpmath.exp(-sum((a - b) ** 2 for a, b in zip(points[i], points[j], strict=True)) / 2)
        table = mpmath.matrix(made.inward[0].tolist())
        longest = max(mpmath.sqrt((table[:, j].T * gram * table[:, j])[0]) for j in range(rows))
    assert 2 * float(longest) <= made.moved < 20 * float(longest)

import math

import numpy as np
import pytest

from ziggurat.errors import DataError, ParameterError, PrivacyError
from ziggurat.privacy import (
    LaplaceAtRisk,
    PrivateSamplingWarning,
    SampledSensitivity,
    dkw_confidence,
    draw_from_table,
    sample_sensitivity,
)


def uniform(random: np.random.Generator, size: int) -> np.ndarray:
    return random.random((size, 2))


def test_a_vectorised_query_and_a_plain_one_give_the_same_samples():
    plain = sample_sensitivity(lambda t: t.mean(axis=0), uniform, 10, 300, np.random.default_rng(1))
    stacked = sample_sensitivity(
        lambda t: t.mean(axis=1), uniform, 10, 300, np.random.default_rng(1), vectorized=True, batch=256
    )
    assert np.allclose(plain.values, stacked.values)
    assert len(plain) == 300


def test_pairs_differ_in_exactly_one_row():
    found = sample_sensitivity(lambda t: t[:, 0].sum(), uniform, 5, 200, np.random.default_rng(2))
    shared = sample_sensitivity(lambda t: t[:-1].sum(), uniform, 5, 200, np.random.default_rng(2))
    assert found.values.max() < 1
    assert found.values.min() > 0
    assert not shared.values.any()


def test_progress_is_told_after_every_batch():
    seen: list[tuple[int, int]] = []
    sample_sensitivity(
        lambda t: t.sum(), uniform, 3, 70, np.random.default_rng(3), batch=32, progress=lambda *at: seen.append(at)
    )
    assert seen == [(32, 70), (64, 70), (70, 70)]


def test_sampling_from_private_rows_warns_that_it_is_a_leak():
    with pytest.warns(PrivateSamplingWarning, match="leak"):
        draw = draw_from_table(np.arange(20.0))
    assert len(set(draw(np.random.default_rng(4), 20))) == 20
    with pytest.raises(DataError, match="too small"):
        draw(np.random.default_rng(4), 21)


def test_the_corrected_bound_and_the_order_statistic_equal_the_oracle():
    assert dkw_confidence("0.85", 15_000, "0.01") == pytest.approx(0.7981788625709942, abs=1e-12)
    assert dkw_confidence("0.85", 15_000) == pytest.approx(0.8340306228961964, abs=1e-6)
    found = SampledSensitivity(np.arange(15_000.0))
    assert found.order_confidence(12_750) == pytest.approx(0.84994, abs=1e-5)
    assert found.dkw_confidence("0.85") == dkw_confidence("0.85", 15_000)


def test_a_small_accuracy_for_which_the_inequality_is_not_proven_gives_nothing():
    assert dkw_confidence("0.85", 100, "0.001") == 0.0


@pytest.mark.statistical
def test_the_order_statistic_holds_for_fresh_pairs_and_the_empirical_quantile_does_not():
    """200,000 repetitions with n = 9, seeded: 5.2 standard deviations reject a right claim with probability 3e-7."""
    draws = np.sort(np.random.default_rng(5).random((200_000, 9)), axis=1)
    fresh = np.random.default_rng(6).random(200_000)
    covered = np.mean(fresh <= draws[:, 7])
    found = SampledSensitivity(draws[0])
    assert abs(covered - found.order_confidence(8)) < 5.2 * math.sqrt(0.25 / 200_000)
    assert covered < 8 / 9 - 5.2 * math.sqrt(0.25 / 200_000)


@pytest.mark.statistical
def test_the_combined_confidence_equals_simulated_losses_and_theorem_5_does_not():
    random, draws = np.random.default_rng(7), 400_000
    shift = random.random(draws)
    noise = random.laplace(size=draws)
    inside = np.mean(np.abs(np.abs(noise - shift) - np.abs(noise)) <= 0.5)
    combined = SampledSensitivity(np.linspace(0, 1, 100_001)).combined(1, "0.5", 1)
    margin = 5.2 * math.sqrt(0.25 / draws)
    assert combined.estimate == pytest.approx(0.5870, abs=1e-4)
    assert abs(inside - combined.estimate) < margin
    assert abs(inside - 0.6224593) > margin
    assert combined.lower < combined.estimate


def test_the_combined_confidence_of_one_sensitivity_is_the_exact_one():
    for coordinates in (1, 4):
        found = SampledSensitivity(np.ones(10)).combined(6, 4, 1, coordinates)
        assert found.estimate == pytest.approx(LaplaceAtRisk(6, coordinates).confidence(4), rel=1e-9)


def test_too_few_samples_for_a_confidence_are_refused_with_the_number_needed():
    found = SampledSensitivity(np.arange(50.0))
    with pytest.raises(PrivacyError, match="at least 99"):
        found.at("0.99")
    assert SampledSensitivity(np.arange(99.0)).at("0.99") == 98.0
    assert found.quantile("0.5") == 24.0


def test_bad_input_is_refused():
    rng = np.random.default_rng(8)
    for call in (
        lambda: sample_sensitivity(lambda t: t.sum(), uniform, 3, 5, 7),
        lambda: sample_sensitivity(lambda t: t.sum(), uniform, 0, 5, rng),
        lambda: sample_sensitivity(lambda t: t.sum(), uniform, 3, 5, rng, vectorized=True),
        lambda: SampledSensitivity(np.array([])),
        lambda: SampledSensitivity(np.array([-1.0])),
        lambda: SampledSensitivity(np.array([math.nan])),
        lambda: SampledSensitivity(np.ones(3)).order_confidence(4),
        lambda: SampledSensitivity(np.ones(3)).combined(1, "0.5", 1, failure="0.9"),
    ):
        with pytest.raises(ParameterError):
            call()
    with pytest.raises(DataError, match="finite"):
        sample_sensitivity(lambda t: math.inf * t[0, 0], uniform, 3, 5, rng)

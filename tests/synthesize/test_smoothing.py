"""Numbers that few rows hold are not copied out; the others and the distribution stay."""

import numpy as np
import pytest

from ziggurat.synthesize.columns._smoothing import SHARED, Smoother

DRAW = np.random.default_rng


def whole(values: np.ndarray) -> np.ndarray:
    return np.round(values)


def test_what_many_rows_hold_stays() -> None:
    values = np.concatenate([np.zeros(100), np.arange(1, 50.0), np.full(SHARED, 70.0)])
    found = Smoother.of(values).smooth(np.array([0.0, 70.0, 0.0]), whole, DRAW(1))
    assert found.tolist() == [0, 70, 0]


def test_no_extreme_number_is_copied() -> None:
    values = np.concatenate([np.arange(100.0), [5_000.0, 7_777.0, 123_456.0, -55.0]])
    smoother = Smoother.of(values)
    drawn = np.repeat([5_000.0, 7_777.0, 123_456.0, -55.0], 500)
    found = smoother.smooth(drawn, whole, DRAW(2))
    assert not np.isin(found, [5_000.0, 7_777.0, 123_456.0, -55.0, 0.0, 1.0]).any()
    assert (found[:1500] > 90).all()


def test_no_rounding_brings_an_extreme_number_back() -> None:
    values = np.concatenate([np.arange(0, 40.0), [41.0, 42.0, 43.0]])
    found = Smoother.of(values).smooth(np.repeat(values, 400), whole, DRAW(7))
    assert not np.isin(found, [41.0, 42.0, 43.0, 0.0, 1.0, 2.0]).any()


def test_without_smoothing_extremes_would_be_there() -> None:
    values = np.concatenate([np.arange(100.0), [123_456.0]])
    assert 123_456.0 in DRAW(1).choice(values, 5000)


def test_numbers_between_stay_near_and_keep_their_mean() -> None:
    values = DRAW(3).normal(100, 15, 2000)
    drawn = DRAW(4).choice(values, 20_000)
    found = Smoother.of(values).smooth(drawn, lambda each: each, DRAW(5))
    assert not np.isin(found, values).any()
    assert found.mean() == pytest.approx(values.mean(), abs=0.5)
    assert found.std() == pytest.approx(values.std(), rel=0.03)


def test_signs_are_kept() -> None:
    values = np.concatenate([[0.0, 0.5, 1.0, 1.5], np.linspace(2, 100, 300)])
    found = Smoother.of(values).smooth(np.repeat(values[:3], 1000), lambda each: each, DRAW(6))
    assert (found >= 0).all()
    mirrored = Smoother.of(-values).smooth(np.repeat(-values[:3], 1000), lambda each: each, DRAW(6))
    assert (mirrored <= 0).all()


def test_few_numbers_are_left_alone_and_none_is_none() -> None:
    assert Smoother.of(np.array([1.0, 2.0])).smooth(np.array([2.0]), whole, DRAW(1)).tolist() == [2]
    assert Smoother.of(np.arange(50.0)).smooth(np.empty(0), whole, DRAW(1)).size == 0

"""The audit holds the mechanisms to their word, and must catch one that breaks it."""

from fractions import Fraction

import numpy as np
import pytest

from ziggurat import randomness
from ziggurat.errors import ParameterError
from ziggurat.mechanisms import (
    DiscreteGaussian,
    Gaussian,
    Laplace,
    RandomizedResponse,
    Selection,
    empirical_epsilon,
    self_test,
)
from ziggurat.randomness import seeded

N = 200_000
COUNTS = {"values": "integers", "coordinates": 1}


def audited(mechanism, low=0, high=1, delta=0.0):
    source = seeded("audit")
    pair = [np.asarray(mechanism.release(np.full(N, value), source).value) for value in (low, high)]
    return empirical_epsilon(*pair, delta=delta)


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", ["0.25", "1", "3"])
def test_an_honest_mechanism_is_never_caught_and_the_bound_is_close(epsilon):
    claim = float(epsilon)
    for mechanism in (Laplace.calibrated(epsilon, **COUNTS), RandomizedResponse(epsilon)):
        assert claim * 0.8 < audited(mechanism) <= claim


@pytest.mark.statistical
@pytest.mark.parametrize("made", [Gaussian(1, 1, **COUNTS), DiscreteGaussian(1, 1, coordinates=1)], ids=repr)
def test_gaussian_noise_keeps_its_curve(made):
    assert 0.5 < audited(made, delta=0.1) <= float(made.guarantee("0.1").epsilon)


@pytest.mark.statistical
def test_a_sensitivity_that_is_half_the_right_one_is_caught():
    assert audited(Laplace.calibrated(1, **COUNTS), 0, 2) > 1.5


@pytest.mark.statistical
def test_the_exponential_mechanism_without_its_factor_two_is_caught():
    """formulas.md 3: exp(epsilon u / sensitivity) is 2 epsilon-DP when scores may move both ways."""
    source, broken = seeded("factor"), 1
    pair = [randomness.exponential_choice(np.array(gaps), broken, size=N, source=source) for gaps in ([0, 2], [2, 0])]
    assert empirical_epsilon(*pair) > 1.5
    honest = [
        randomness.exponential_choice(np.array(gaps), Selection(1)._rate, size=N, source=source)
        for gaps in ([0, 2], [2, 0])
    ]
    assert empirical_epsilon(*honest) <= 1.0 + 1e-9


def test_too_few_draws_are_refused():
    with pytest.raises(ParameterError):
        empirical_epsilon(np.zeros(10, dtype=int), np.zeros(10, dtype=int))


def test_the_self_test_passes_on_this_machine_and_fails_on_broken_noise(monkeypatch):
    assert all(check.passed for check in self_test(draws=20_000))
    honest = randomness.discrete_laplace
    monkeypatch.setattr(randomness, "discrete_laplace", lambda scale, **kw: honest(Fraction(9, 10) * scale, **kw))
    assert not all(check.passed for check in self_test(seeded(1), draws=100_000))


def test_an_audit_takes_lists_and_floats():
    source = seeded("lists")
    pair = [Laplace.calibrated(1, **COUNTS).release(np.full(2000, n), source).value for n in (0, 3)]
    expected = empirical_epsilon(*pair)
    assert expected > 0
    assert empirical_epsilon(*(item.tolist() for item in pair)) == expected
    assert empirical_epsilon(*(item / 2 for item in pair), confidence=0.999, delta="0") == expected


@pytest.mark.parametrize("bad", [-0.1, 1, 2, float("nan"), None, "x"])
def test_an_audit_refuses_impossible_parameters(bad):
    draws = np.zeros(200, dtype=int)
    for options in ({"delta": bad}, {"confidence": bad}):
        with pytest.raises(ParameterError):
            empirical_epsilon(draws, draws, **options)


@pytest.mark.parametrize("bad", [None, 3, ["a"] * 200, [[0] * 200], [float("nan")] * 200, [None] * 200])
def test_an_audit_refuses_draws_that_are_no_list_of_numbers(bad):
    with pytest.raises(ParameterError, match="lists of finite numbers"):
        empirical_epsilon(bad, np.zeros(200, dtype=int))


@pytest.mark.parametrize("bad", [0, 99, None, 1e5])
def test_a_self_test_needs_enough_draws(bad):
    with pytest.raises(ParameterError, match="draws"):
        self_test(draws=bad)

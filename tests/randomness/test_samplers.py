"""Each sampler against its exact law; a true sampler fails a test with probability 1e-9 (seeds are fixed)."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ndtr

from ziggurat.randomness import (
    bernoulli,
    bernoulli_exp,
    discrete_gaussian,
    discrete_laplace,
    geometric,
    rounded_gaussian,
    secure,
    seeded,
    uniform_below,
)

pytestmark = pytest.mark.statistical

N = 10**6
FIVE_PERCENT_MORE = Fraction(21, 20)
SCALES = [Fraction(1, 7), Fraction(1), Fraction(3, 2), Fraction(4001, 4), Fraction(2**30), Fraction(2**50)]
SIGMAS = [Fraction(1, 2), Fraction(1), Fraction(37306, 10000), Fraction(1000), Fraction(2**30), Fraction(2**50)]


def _laplace_cdf(scale: Fraction):
    step = -1 / float(scale)

    def cdf(k: np.ndarray) -> np.ndarray:
        tail = np.exp(step * np.where(k >= 0, k + 1, -k)) / (1 + np.exp(step))
        return np.where(k >= 0, 1 - tail, tail)

    return cdf


def _gaussian_cdf(sigma: Fraction):
    if sigma >= 2**20:  # the theta function differs from the integral by less than exp(-2 pi^2 sigma^2)
        return _rounded_cdf(sigma)
    reach = int(40 * sigma) + 40
    weights = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * float(sigma) ** 2))
    sums = np.cumsum(weights) / weights.sum()
    return lambda k: sums[np.clip(k + reach, 0, sums.size - 1)]


def _rounded_cdf(sigma: Fraction):
    return lambda k: ndtr((k + 0.5) / float(sigma))


def _reach(scale: Fraction) -> int:
    return int(50 * scale) + 50


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_discrete_laplace_has_its_law(misfits, scale: Fraction) -> None:
    draws = discrete_laplace(scale, size=N, source=seeded(f"laplace {scale}"))
    reach = _reach(scale)
    assert not misfits(draws, _laplace_cdf(scale), -reach, reach)
    assert misfits(draws, _laplace_cdf(scale * FIVE_PERCENT_MORE), -reach, reach)


@pytest.mark.parametrize("sigma", SIGMAS, ids=str)
def test_discrete_gaussian_has_its_law(misfits, sigma: Fraction) -> None:
    draws = discrete_gaussian(sigma, size=N, source=seeded(f"gaussian {sigma}"))
    reach = _reach(sigma)
    assert not misfits(draws, _gaussian_cdf(sigma), -reach, reach)
    assert misfits(draws, _gaussian_cdf(sigma * FIVE_PERCENT_MORE), -reach, reach)


@pytest.mark.parametrize("sigma", [*SIGMAS, Fraction(2**50 - 1, 2**47)], ids=str)
def test_rounded_gaussian_has_its_law(misfits, sigma: Fraction) -> None:
    draws = rounded_gaussian(sigma, size=N, source=seeded(f"rounded {sigma}"))
    reach = _reach(sigma)
    assert not misfits(draws, _rounded_cdf(sigma), -reach, reach)
    assert misfits(draws, _rounded_cdf(sigma * FIVE_PERCENT_MORE), -reach, reach)


def test_rounded_and_discrete_gaussian_are_told_apart(misfits) -> None:
    # At sigma 1/2 the two laws differ by up to 0.1 in a cell: each test must know its own.
    sigma = Fraction(1, 2)
    assert misfits(rounded_gaussian(sigma, size=N, source=seeded(1)), _gaussian_cdf(sigma), -50, 50)
    assert misfits(discrete_gaussian(sigma, size=N, source=seeded(1)), _rounded_cdf(sigma), -50, 50)


@pytest.mark.parametrize("x", [Fraction(1, 1000), Fraction(1, 3), Fraction(1), Fraction(9, 2)], ids=str)
def test_geometric_has_its_law(misfits, x: Fraction) -> None:
    draws = geometric(x, size=N, source=seeded(f"geometric {x}"))
    reach = _reach(1 / x)
    assert not misfits(draws, lambda k: -np.expm1(-float(x) * (k + 1)), 0, reach)
    assert misfits(draws, lambda k: -np.expm1(-float(x * FIVE_PERCENT_MORE) * (k + 1)), 0, reach)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 63, 2**61 + 2**60, 2**62])
def test_uniform_below_is_uniform(misfits, n: int) -> None:
    draws = uniform_below(n, size=N, source=seeded(f"uniform {n}"))
    assert draws.min() >= 0
    assert draws.max() < n
    assert not misfits(draws, lambda k: (np.clip(k, -1, n - 1) + 1) / n, 0, n - 1)
    assert n == 1 or misfits(draws * 20 // 21, lambda k: (np.clip(k, -1, n - 1) + 1) / n, 0, n - 1)


@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(1, 2), Fraction(2**61 + 1, 2**62), Fraction(1, 20)])
def test_bernoulli_has_its_probability(unequal, p: Fraction) -> None:
    ones = bernoulli(p, size=N, source=seeded(f"bernoulli {p}")).sum()
    assert not unequal(np.array([ones, N - ones]), np.array([p, 1 - p], dtype=float))
    off = p / FIVE_PERCENT_MORE
    assert unequal(np.array([ones, N - ones]), np.array([off, 1 - off], dtype=float))


@pytest.mark.parametrize("x", [Fraction(1, 9), Fraction(1), Fraction(7, 3), Fraction(5), Fraction(2**50 - 1, 2**50)])
def test_bernoulli_exp_has_its_probability(unequal, x: Fraction) -> None:
    ones = bernoulli_exp(x, size=N, source=seeded(f"exp {x}")).sum()
    for factor, refused in ((1, False), (FIVE_PERCENT_MORE, True)):
        p = np.exp(-float(x * factor))
        assert unequal(np.array([ones, N - ones]), np.array([p, 1 - p])) == refused


@pytest.mark.parametrize("sample", [discrete_laplace, discrete_gaussian, rounded_gaussian])
def test_low_digits_of_wide_noise_are_uniform(unequal, sample) -> None:
    draws = sample(2**30, size=N, source=seeded("digits"))
    assert not unequal(np.bincount(draws % 15, minlength=15), np.full(15, 1 / 15))
    coarse = np.where(np.arange(N) % 20 == 0, draws // 15 * 15, draws)
    assert unequal(np.bincount(coarse % 15, minlength=15), np.full(15, 1 / 15))


@pytest.mark.parametrize("sample", [discrete_laplace, discrete_gaussian, rounded_gaussian])
def test_successive_draws_are_uncorrelated(sample) -> None:
    # |correlation| above 6.5/sqrt(1e6) has probability below 1e-10.
    draws = sample(10, size=N, source=seeded("lag")).astype(float)
    for values in (draws, np.abs(draws)):
        assert abs(np.corrcoef(values[1:], values[:-1])[0, 1]) < 6.5 / np.sqrt(N)


def test_certain_events_are_certain() -> None:
    source = seeded("certain")
    assert bernoulli(Fraction(0), size=1000, source=source).sum() == 0
    assert bernoulli(Fraction(1), size=1000, source=source).sum() == 1000
    assert bernoulli_exp(Fraction(0), size=1000, source=source).sum() == 1000
    assert bernoulli_exp(Fraction(2**62), size=1000, source=source).sum() == 0


@pytest.mark.parametrize("sample", [discrete_laplace, discrete_gaussian, rounded_gaussian])
def test_secure_noise_has_the_right_spread(sample) -> None:
    # Not seeded: the mean of 1e5 draws leaves +-8 standard errors with probability below 1e-14.
    draws = sample(10, size=10**5, source=secure())
    assert abs(draws.mean()) < 8 * draws.std() / np.sqrt(draws.size)
    assert 9 < draws.std() < 15


@pytest.mark.parametrize("sample", [discrete_laplace, discrete_gaussian, rounded_gaussian, geometric])
def test_size_decides_between_an_integer_and_an_array(sample) -> None:
    assert type(sample(3, source=seeded(1))) is int
    assert sample(3, size=0, source=seeded(1)).shape == (0,)
    assert sample(3, size=5, source=seeded(1)).dtype == np.int64
    assert sample(3, source=seeded(1)) == sample(3, size=5, source=seeded(1))[0]

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.integrate import quad
from scipy.special import log_ndtr
from scipy.stats import laplace, norm

from ziggurat.pate.voting import _laws
from ziggurat.pate.voting._laws import by_quadrature, gaussian_law, gumbel_law, laplace_law

LAWS = {"gumbel": (gumbel_law, 0.05), "laplace": (laplace_law, 0.05), "gaussian": (gaussian_law, 40.0)}
COUNTS = hnp.arrays(np.int64, (3, 5), elements=st.integers(0, 250))


def integrated(counts, noise):
    """An independent route: adaptive quadrature of one class at a time."""

    def density(x, j):
        return noise.pdf(x - counts[j]) * math.prod(noise.cdf(x - n) for k, n in enumerate(counts) if k != j)

    wide = 60 * noise.std()
    options = {"points": sorted({*counts}), "epsabs": 0, "epsrel": 1e-12, "limit": 500}
    return [quad(density, -wide, max(counts) + wide, args=(j,), **options)[0] for j in range(len(counts))]


@pytest.mark.parametrize("counts", [[60, 50, 40, 30, 20], [200, 30, 10, 10, 0]])
def test_the_quadratures_agree_with_an_independent_one(counts):
    rows = np.array([counts], dtype=float)
    assert np.exp(laplace_law(rows, 0.05)[0]) == pytest.approx(integrated(counts, laplace(scale=20)), rel=1e-11)
    assert np.exp(gaussian_law(rows, 40.0)[0]) == pytest.approx(integrated(counts, norm(scale=40)), rel=1e-11)


def test_with_two_classes_the_quadratures_agree_with_the_closed_forms():
    rows = np.array([[200.0, 50], [30, 31], [0, 250], [7, 7]])
    by_panels = by_quadrature(rows / 20, _laws._panels(2), lambda t: -np.abs(t) - math.log(2), _laws._log_laplace_cdf)
    by_steps = by_quadrature(rows / 40, _laws._trapezoid, lambda t: -t * t / 2 - math.log(2 * math.pi) / 2, log_ndtr)
    assert by_panels == pytest.approx(laplace_law(rows, 0.05), abs=1e-13)
    assert by_steps == pytest.approx(gaussian_law(rows, 40.0), abs=1e-13)


@pytest.mark.parametrize("name", LAWS)
@settings(max_examples=30, deadline=None)
@given(counts=COUNTS)
def test_probabilities_sum_to_one_and_more_votes_never_win_less(name, counts):
    law, width = LAWS[name]
    found = np.exp(law(counts.astype(float), width))
    assert found.sum(axis=1) == pytest.approx(1, abs=1e-12)
    ranked = np.take_along_axis(found, np.argsort(counts, axis=1), axis=1)
    assert np.all(np.diff(ranked, axis=1) >= -1e-14)


@pytest.mark.parametrize("name", LAWS)
def test_classes_are_interchangeable(name):
    law, width = LAWS[name]
    rows = np.array([[90.0, 3, 57, 0, 100]])
    order = [3, 0, 4, 2, 1]
    assert law(rows[:, order], width) == pytest.approx(law(rows, width)[:, order], abs=1e-14)


def test_a_tie_is_even_and_the_union_bound_is_not_the_law():
    """formulas.md 1: the exact miss is 0.8 where the union bound says 2.0, and .54586 where it says .98557."""
    rows = np.array([[40.0] * 5, [60, 50, 40, 30, 20]])
    miss = 1 - np.exp(laplace_law(rows, 0.05)[:, 0])
    assert miss == pytest.approx([0.8, 0.54586], abs=5e-6)


def test_the_smallest_probabilities_are_kept():
    rows = np.array([[250.0] + [0.0] * 9])
    assert laplace_law(rows, 2.0)[0, 1] == pytest.approx(-500 + math.log(125.5), abs=0.1)
    assert gaussian_law(rows, 3.0)[0, 1] == pytest.approx(float(norm.logsf(250 / (3 * math.sqrt(2)))), abs=0.01)

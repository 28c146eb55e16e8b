"""The samplers beside OpenDP's, which share no code with them."""

from fractions import Fraction

import numpy as np
import pytest

from ziggurat.randomness import discrete_gaussian, discrete_laplace, seeded

dp = pytest.importorskip("opendp.prelude")


def _opendp(make: str, distance: object, n: int) -> np.ndarray:
    dp.enable_features("contrib")
    measure = getattr(dp.m, make)(dp.vector_domain(dp.atom_domain(T=int)), distance, scale=10.0)
    return np.array(measure([0] * n), dtype=float)


def _furthest_moment(ours: np.ndarray, theirs: np.ndarray) -> float:
    """The largest difference among the first four moments, in standard errors."""
    scores = []
    for power in (1, 2, 3, 4):
        left, right = ours.astype(float) ** power, theirs**power
        error = np.sqrt(left.var() / left.size + right.var() / right.size)
        scores.append(abs(left.mean() - right.mean()) / error)
    return max(scores)


@pytest.mark.statistical
@pytest.mark.parametrize(("make", "sample"), [("make_laplace", discrete_laplace), ("make_gaussian", discrete_gaussian)])
def test_the_first_four_moments_agree_with_opendp(make: str, sample) -> None:
    # OpenDP cannot be seeded: a moment strays by 7 standard errors with probability below 1e-9.
    distance = dp.l1_distance(T=int) if make == "make_laplace" else dp.l2_distance(T=float)
    theirs = _opendp(make, distance, 50_000)
    assert _furthest_moment(sample(10, size=10**6, source=seeded("peer")), theirs) < 7
    assert _furthest_moment(sample(Fraction(21, 2), size=10**6, source=seeded("peer")), theirs) > 7

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import chi2

Cdf = Callable[[np.ndarray], np.ndarray]


def _edges(cdf: Cdf, low: int, high: int, cells: int) -> np.ndarray:
    """The integers at which `cdf` first reaches 1/cells, 2/cells, ..., by bisection."""
    goals = np.arange(1, cells) / cells
    left, right = np.full(goals.size, low, dtype=np.int64), np.full(goals.size, high, dtype=np.int64)
    while np.any(left < right):
        middle = (left + right) // 2
        reached = cdf(middle) >= goals
        left, right = np.where(reached, left, middle + 1), np.where(reached, middle, right)
    return np.unique(left)


@pytest.fixture(scope="session")
def misfits() -> Callable[..., bool]:
    """Chi-square test of integer draws against a distribution function; a true one fails at 1e-9."""

    def test(draws: np.ndarray, cdf: Cdf, low: int, high: int, cells: int = 60) -> bool:
        edges = _edges(cdf, low, high, cells)
        expected = np.diff(np.concatenate([[0.0], cdf(edges), [1.0]])) * draws.size
        seen = np.bincount(np.searchsorted(edges, draws, side="left"), minlength=edges.size + 1)
        kept = expected > 0
        assert not seen[~kept].any()
        statistic = np.sum((seen[kept] - expected[kept]) ** 2 / expected[kept])
        return bool(chi2.sf(statistic, kept.sum() - 1) < 1e-9)

    return test


@pytest.fixture(scope="session")
def unequal() -> Callable[..., bool]:
    """Chi-square test of category counts against probabilities; the true ones fail at 1e-9."""

    def test(counts: np.ndarray, probabilities: np.ndarray) -> bool:
        expected = np.asarray(probabilities) * counts.sum()
        statistic = np.sum((counts - expected) ** 2 / expected)
        return bool(chi2.sf(statistic, expected.size - 1) < 1e-9)

    return test

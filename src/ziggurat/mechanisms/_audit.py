"""Testing a promise from outside: an empirical lower bound on epsilon, and a self-test of the noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat import randomness
from ziggurat.errors import ParameterError
from ziggurat.mechanisms._gaussian import Gaussian
from ziggurat.mechanisms._laplace import Laplace
from ziggurat.mechanisms._lattice import as_array
from ziggurat.privacy import Amount, exact_confidence, exact_delta, whole_number
from ziggurat.randomness import Source

Draws = npt.NDArray[Any]

_FEWEST = 100


def empirical_epsilon(
    with_unit: npt.ArrayLike, without_unit: npt.ArrayLike, *, delta: Amount = 0, confidence: Amount = "0.999"
) -> float:
    """Lower bound on epsilon that draws of a mechanism on two neighbours prove, with this confidence.

    The first halves choose the set of outputs that tells the neighbours apart best, by likelihood ratio; the second
    halves, untouched by that choice, bound its probabilities (Clopper & Pearson 1934). A true epsilon-DP mechanism
    exceeds its epsilon here with probability at most 1 - confidence.
    """
    here, there, spare = _draws(with_unit), _draws(without_unit), float(exact_delta(delta))
    miss = float((1 - exact_confidence(confidence)) / 4)
    return max(_one_sided(here, there, spare, miss), _one_sided(there, here, spare, miss), 0.0)


def _draws(given: npt.ArrayLike) -> Draws:
    array = as_array(given)
    if array.dtype.kind not in "biuf" or array.ndim != 1 or not bool(np.all(np.isfinite(array))):
        raise ParameterError("The draws of an audit must be two lists of finite numbers.")
    if array.size < _FEWEST:
        raise ParameterError(f"An audit needs at least {_FEWEST} draws on each of the two neighbours.")
    return array


def _one_sided(likely: Draws, unlikely: Draws, delta: float, miss: float) -> float:
    chosen = _telling_outputs(likely[::2], unlikely[::2], delta)
    seen, held_out = likely[1::2], unlikely[1::2]
    p = _lower(int(np.isin(seen, chosen).sum()), seen.size, miss)
    q = _upper(int(np.isin(held_out, chosen).sum()), held_out.size, miss)
    return math.log((p - delta) / q) if p > delta else -math.inf


def _telling_outputs(likely: Draws, unlikely: Draws, delta: float) -> Draws:
    """Give the outputs whose estimated ratio is highest, as many as make the bound best on these draws."""
    outputs, place = np.unique(np.concatenate([likely, unlikely]), return_inverse=True)
    p = np.bincount(place[: likely.size], minlength=outputs.size) / likely.size
    q = np.bincount(place[likely.size :], minlength=outputs.size) / unlikely.size
    # Ratios of rare outputs are mostly chance: shrink them towards 1. Low and high outputs are tried as well, which
    # is best for noise added to a number.
    shrink = 50 / min(likely.size, unlikely.size)
    by_value = np.arange(outputs.size)
    orders = [np.argsort(-(p + shrink) / (q + shrink), kind="stable"), by_value, by_value[::-1]]
    scored = [_best_prefix(p[order], q[order], delta, likely.size) for order in orders]
    best = max(range(len(orders)), key=lambda i: scored[i][0])
    return np.asarray(outputs[orders[best][: scored[best][1]]])


def _best_prefix(p: npt.NDArray[np.float64], q: npt.NDArray[np.float64], delta: float, draws: int) -> tuple[float, int]:
    """How many of the first outputs to take, judged by ratios that are five standard errors on the safe side."""
    total_p, total_q = np.cumsum(p), np.cumsum(q)
    surely_p = total_p - 5 * np.sqrt(total_p * (1 - np.minimum(total_p, 1)) / draws) - delta
    surely_q = total_q + 5 * np.sqrt(total_q * (1 - np.minimum(total_q, 1)) / draws) + 10 / draws
    score = np.log(np.maximum(surely_p, 1e-12)) - np.log(surely_q)
    return float(score.max()), int(np.argmax(score)) + 1


def _lower(successes: int, trials: int, miss: float) -> float:
    from scipy.special import betaincinv

    return 0.0 if successes == 0 else float(betaincinv(successes, trials - successes + 1, miss))


def _upper(successes: int, trials: int, miss: float) -> float:
    from scipy.special import betaincinv

    return 1.0 if successes == trials else float(betaincinv(successes + 1, trials - successes, 1 - miss))


@dataclass(frozen=True)
class SelfCheck:
    """One line of the self-test."""

    name: str
    passed: bool
    detail: str


def self_test(source: Source | None = None, draws: int = 100_000) -> list[SelfCheck]:
    """Test the installed noise: do its spread and its promises hold on this machine, right now?

    Secure randomness by default. A sound installation fails with probability at most about 5e-6 with the usual number
    of draws: three spreads at five standard errors, 6e-7 each, and three audits, at most 1e-6 each.
    """
    whole_number(draws, "draws", _FEWEST)
    stream = randomness.choose_source(source)
    grid = np.arange(-2000, 2001, dtype=np.float64)
    gaussian = np.exp(-(grid**2) / 200)
    return [
        _spread(
            "discrete Laplace, scale 10",
            randomness.discrete_laplace(10, size=draws, source=stream),
            np.exp(-np.abs(grid) / 10),
        ),
        _spread("discrete Gaussian, sigma 10", randomness.discrete_gaussian(10, size=draws, source=stream), gaussian),
        _spread(
            "rounded Gaussian, sigma 10", randomness.rounded_gaussian(10, size=draws, source=stream), _round_cells(grid)
        ),
        _promise("Laplace at epsilon 1", Laplace.calibrated(1, values="integers", coordinates=1), draws, stream),
        _promise("Gaussian, sigma 1", Gaussian(1, 1, values="integers", coordinates=1), draws, stream, "0.1"),
        _choice(draws, stream),
    ]


def _round_cells(grid: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Cell probabilities of a normal deviate of standard deviation 10, rounded."""
    from scipy.special import ndtr

    return np.asarray(ndtr((grid + 0.5) / 10) - ndtr((grid - 0.5) / 10))


def _spread(name: str, values: Draws, weights: npt.NDArray[np.float64]) -> SelfCheck:
    """Compare the mean square with the exact one under `weights`; five standard errors either way."""
    half = weights.size // 2
    x = np.arange(-half, half + 1, dtype=np.float64)
    law = weights / weights.sum()
    expected, fourth = float((law * x**2).sum()), float((law * x**4).sum())
    seen = float(np.mean(values.astype(np.float64) ** 2))
    z = (seen - expected) / math.sqrt((fourth - expected**2) / values.size)
    return SelfCheck(name, abs(z) < 5, f"mean square {seen:.2f}, exactly {expected:.2f}")


def _promise(name: str, mechanism: Laplace | Gaussian, draws: int, source: Source, delta: str = "0") -> SelfCheck:
    """Audit a mechanism on two neighbours; the proven lower bound must not exceed the claim."""
    pair = [np.asarray(mechanism.release(np.full(draws, value), source).value) for value in (0, 1)]
    bound = empirical_epsilon(pair[0], pair[1], delta=float(delta), confidence=1 - 1e-6)
    claim = float(mechanism.guarantee(delta).epsilon)
    return SelfCheck(
        name, bound <= claim, f"audited epsilon at least {bound:.2f}, promised {claim:.2f} at delta {delta}"
    )


def _choice(draws: int, source: Source) -> SelfCheck:
    """Audit permute-and-flip at epsilon 1 on the neighbouring scores (1, 0) and (0, 1)."""
    pair = [
        randomness.permute_and_flip(np.array(gaps), Fraction(1, 2), size=draws, source=source)
        for gaps in ([0, 1], [1, 0])
    ]
    bound = empirical_epsilon(pair[0], pair[1], confidence=1 - 1e-6)
    return SelfCheck("permute-and-flip at epsilon 1", bound <= 1.0, f"audited epsilon at least {bound:.2f}, promised 1")

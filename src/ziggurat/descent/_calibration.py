"""How much noise private gradient descent needs, and when so much noise leaves nothing to learn."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from ziggurat.errors import ParameterError, PrivacyError
from ziggurat.privacy import Amount, Neighbours, SampledGaussianEvent, compose, exact_positive, whole_number

# The multiplier is a multiple of this, rounded up, so that the same question always has the same short answer.
_UNIT = Fraction(1, 1 << 20)
_LEAST, _MOST = 1 / 32, 2.0**40
# What is aimed at below the epsilon allowed: a finer loss distribution must not come out above it in the last digits.
_MARGIN = 1e-6
_LEAST_BATCH = 256


@dataclass(frozen=True)
class Rounds:
    """How often rows are looked at: each of `steps` times, every row takes part with probability `sampling`."""

    sampling: Fraction
    steps: int

    @classmethod
    def of(cls, rows: int, batch: int | None, epochs: Amount) -> Rounds:
        """Make `epochs` passes in expectation over `rows` rows, `batch` of them at a time in expectation.

        Without a batch it is a twentieth of the rows, and 256 at least: at the same cost in time and in epsilon, fewer
        and larger steps suffer less from noise.
        """
        expected = max(_LEAST_BATCH, -(-rows // 20)) if batch is None else whole_number(batch, "batch")
        passes = exact_positive(epochs, "epochs")
        sampling = min(Fraction(expected, whole_number(rows, "rows")), Fraction(1))
        return cls(sampling, math.ceil(passes / sampling))


def event_of_rounds(rounds: Rounds, multiplier: Fraction) -> SampledGaussianEvent:
    """Write down what training does; the unit is a row, the relation add-or-remove-one."""
    return SampledGaussianEvent(Neighbours(), rounds.sampling, multiplier, rounds.steps)


@lru_cache(maxsize=256)
def noise_multiplier(epsilon: Fraction, delta: Fraction, rounds: Rounds) -> Fraction:
    """Give about the least noise, in sensitivities, at which the rounds together promise (epsilon, delta).

    Found by loss distributions (Koskela et al. 2020; Doroshenko et al. 2022), each of which is an upper bound.
    """
    from scipy.optimize import brentq

    if not delta:
        raise ParameterError("Gaussian noise promises nothing at delta 0; allow a delta such as 1e-6.")
    wanted = float(epsilon) * (1 - _MARGIN)

    def beyond(logarithm: float) -> float:
        return math.log(_epsilon(rounds, _round(math.exp(logarithm)), delta, wanted) / wanted)

    low, high = _bracket(beyond)
    found = brentq(beyond, low, high, xtol=1e-4) if low < high else high
    while beyond(found) > 0:
        found += 1e-4
    return _round(math.exp(found))


def _round(multiplier: float) -> Fraction:
    return math.ceil(Fraction(multiplier) / _UNIT) * _UNIT


def _bracket(beyond: Callable[[float], float]) -> tuple[float, float]:
    """Give two logarithms of multipliers, of which one costs too much and the other does not."""
    low = high = 0.0
    while beyond(high) > 0:
        low, high = high, high + math.log(2)
        if high > math.log(_MOST):
            raise ParameterError("epsilon is too small for any noise that can be drawn; allow a larger one.")
    while low == high or beyond(low) <= 0:
        low, high = low - math.log(2), low
        if low < math.log(_LEAST):
            return high, high
    return low, high


def _epsilon(rounds: Rounds, multiplier: Fraction, delta: Fraction, wanted: float) -> float:
    """Bound epsilon from above; coarser losses than the account's own are faster.

    Their steps are multiples of the account's, 1e-4, so that they dominate its losses and it proves no more than they.
    """
    account = compose(event_of_rounds(rounds, multiplier))
    step = 1e-4 if wanted < 0.5 else 1e-3 if wanted < 20 else 1e-2
    # Where losses are too many for this account the one that is published, and slower, decides.
    with suppress(PrivacyError, MemoryError, ArithmeticError, ValueError):
        return account.loss(step).epsilon(float(delta))
    return float(account.approximate(delta).epsilon)


def warn_of_noise(rounds: Rounds, multiplier: Fraction, rows: int, parameters: int) -> None:
    """Warn if the noise of all steps together outweighs whatever the rows can say; only public facts are used.

    A step's mean gradient is at most `clip` long; its noise is multiplier clip sqrt(parameters) / batch long. Over the
    steps the former adds up, the latter adds up in squares.
    """
    batch = float(rounds.sampling) * rows
    share = float(multiplier) * math.sqrt(parameters / rounds.steps) / batch
    if share > 1:
        warnings.warn(
            f"The model will be mostly noise: over all steps the noise is expected to be {share:.1f} times as long as "
            "the longest gradient the rows can give; allow a larger epsilon, more rows or a smaller network.",
            UserWarning,
            stacklevel=3,
        )

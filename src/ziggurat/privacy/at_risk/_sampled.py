"""Implicit randomness: sensitivities sampled from a public model of the data, and what they are worth.

Samples say how likely a *fresh pair from the same generator* is to differ by no more than so much. They never bound
the sensitivity over all tables, so nothing here is differential privacy.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ziggurat.errors import DataError, ParameterError, PrivacyError
from ziggurat.privacy.accounting import Amount, Array, exact_confidence, exact_epsilon, exact_positive, whole_number
from ziggurat.privacy.at_risk._at_risk import LaplaceAtRisk

Rows = npt.NDArray[Any]
Draw = Callable[[np.random.Generator, int], Rows]
Query = Callable[[Rows], Any]
Progress = Callable[[int, int], None]


class PrivateSamplingWarning(UserWarning):
    """Sensitivities were sampled from rows about people, which nobody has paid for."""


def draw_from_table(rows: Rows) -> Draw:
    """Draw rows, without replacement, from a table at hand; warns, because that is itself a leak.

    What is computed from the rows of private data (a sampled sensitivity, a figure, a noise level) reveals something
    about them that no budget accounts for. Use public rows of the same kind.
    """
    population = np.asarray(rows)
    warnings.warn(
        "Sensitivities sampled from private rows are themselves a leak that nothing accounts for; sample from public "
        "data or from a model.",
        PrivateSamplingWarning,
        stacklevel=2,
    )

    def draw(random: np.random.Generator, size: int) -> Rows:
        if size > len(population):
            raise DataError(f"A table of {len(population)} rows is too small to draw {size} different ones.")
        return np.asarray(population[random.choice(len(population), size, replace=False)])

    return draw


def sample_sensitivity(
    query: Query,
    draw: Draw,
    rows: int,
    samples: int,
    random: np.random.Generator,
    *,
    vectorized: bool = False,
    batch: int = 256,
    progress: Progress | None = None,
) -> SampledSensitivity:
    """Sample the l1 distance of a query's answers on neighbouring tables of `rows` rows each.

    A pair shares rows - 1 rows and differs in one, all drawn by `draw(random, size)`. `random` is the caller's own
    seeded generator: these are simulations from a public model, repeated by whoever has the seed, and must never feed
    noise. With `vectorized=True` the query takes a stack of tables (the first axis) and answers for each; otherwise it
    takes one table. `progress(done, samples)` is called after every batch.
    """
    count, size = whole_number(samples, "samples"), whole_number(rows, "rows")
    if not isinstance(random, np.random.Generator):
        raise ParameterError("random must be a numpy Generator, such as numpy.random.default_rng(7).")
    found: list[Array] = []
    for start in range(0, count, whole_number(batch, "batch")):
        drawn = np.stack([draw(random, size + 1) for _ in range(min(batch, count - start))])
        # The last two rows tell the two tables apart.
        found.append(_distances(query, drawn[:, :-1], np.delete(drawn, -2, axis=1), vectorized))
        if progress is not None:
            progress(min(start + batch, count), count)
    return SampledSensitivity(np.concatenate(found))


def _distances(query: Query, first: Rows, second: Rows, vectorized: bool) -> Array:
    one, two = (
        np.asarray(query(tables) if vectorized else [query(table) for table in tables], dtype=float)
        for tables in (first, second)
    )
    if one.shape != two.shape or one.ndim == 0 or len(one) != len(first):
        raise ParameterError("The query must answer every table with the same number of numbers.")
    with np.errstate(invalid="ignore"):
        gap = np.abs(one - two).reshape(len(first), -1).sum(axis=1)
    if not bool(np.all(np.isfinite(gap))):
        raise DataError("The query gave an answer that is not a finite number.")
    return np.asarray(gap)


class CombinedConfidence(NamedTuple):
    """A confidence over noise and data together: what the samples show, and a bound that fails rarely."""

    estimate: float
    lower: float


@dataclass(frozen=True, eq=False)
class SampledSensitivity:
    """Sensitivities of pairs drawn independently from one generator, in increasing order.

    >>> found = SampledSensitivity(np.arange(1.0, 100.0))
    >>> found.at("0.9"), found.order_confidence(90)
    (90.0, 0.9)
    """

    values: Array

    def __post_init__(self) -> None:
        values = np.sort(np.asarray(self.values, dtype=float).ravel())
        if not len(values) or not bool(np.all(np.isfinite(values))) or values[0] < 0:
            raise ParameterError("Sampled sensitivities must be finite numbers of at least 0, and at least one.")
        object.__setattr__(self, "values", values)

    def __len__(self) -> int:
        return len(self.values)

    def quantile(self, confidence: Amount) -> float:
        """Definition 8: the empirical quantile. Its confidence is `order_confidence`, not `confidence`."""
        return float(self.values[math.ceil(exact_confidence(confidence) * len(self)) - 1])

    def order_confidence(self, order: int) -> float:
        """P(a fresh pair differs by at most the m-th smallest of n) >= m/(n+1), as all n + 1 are exchangeable."""
        if whole_number(order, "order") > len(self):
            raise ParameterError(f"There are {len(self)} samples; the order must not exceed that.")
        return order / (len(self) + 1)

    def at(self, confidence: Amount) -> float:
        """Give the least sampled sensitivity whose order-statistic confidence reaches `confidence`."""
        order = math.ceil(exact_confidence(confidence) * (len(self) + 1))
        if order > len(self):
            needed = math.ceil(1 / (1 - exact_confidence(confidence))) - 1
            raise PrivacyError(f"{len(self)} samples cannot show this confidence; draw at least {needed}.")
        return float(self.values[order - 1])

    def dkw_confidence(self, confidence: Amount, accuracy: Amount | None = None) -> float:
        """Equation 8.9 corrected: (gamma_2 - rho)(1 - e^(-2 rho^2 n)), at the best rho if none is given."""
        return dkw_confidence(confidence, len(self), accuracy)

    def combined(
        self,
        level: Amount,
        epsilon: Amount,
        sensitivity: Amount,
        coordinates: int = 1,
        failure: Amount = "0.001",
    ) -> CombinedConfidence:
        """Give P(|L| <= epsilon) over noise of scale sensitivity/level *and* a fresh pair of the generator.

        It is E[g(level S/sensitivity)], g(e) the exact confidence at level e, instead of Theorem 5. As g falls with S
        and lies in [0, 1], the one-sided DKW inequality (Massart) puts it above the samples' mean less
        sqrt(log(1/failure)/(2n)), except with probability `failure`, whatever sensitivity was read off the samples.
        """
        top, bound = exact_epsilon(level, "level"), exact_epsilon(epsilon)
        unit, rare = exact_positive(sensitivity, "sensitivity"), exact_confidence(failure, "failure")
        if rare > Fraction(1, 2):
            raise ParameterError("failure must be at most 0.5.")
        # A level that equals epsilon but for its last digit counts as equal.
        levels = self.values * float(top / unit)
        inside = levels * (1 - 1e-12) <= float(bound)
        mass = LaplaceAtRisk(bound + 1, coordinates).confidence(bound) * math.exp(float(bound + 1) / 2)
        mean = float(np.mean(np.where(inside, 1.0, np.exp(-levels / 2) * mass)))
        return CombinedConfidence(mean, max(mean - math.sqrt(-math.log(float(rare)) / (2 * len(self))), 0.0))


def dkw_confidence(confidence: Amount, samples: int, accuracy: Amount | None = None) -> float:
    """Give (gamma_2 - rho)(1 - e^(-2 rho^2 n)) for the empirical quantile at gamma_2; the best rho if none is given.

    On an event of probability 1 - e^(-2 rho^2 n) the true distribution function is at least the empirical one less
    rho (one-sided DKW, Massart, for e^(-2 rho^2 n) <= 1/2). `order_confidence` is tighter.
    """
    share, n = float(exact_confidence(confidence)), whole_number(samples, "samples")
    least = math.sqrt(math.log(2) / (2 * n))
    if accuracy is not None:
        return _dkw(share, n, float(exact_confidence(accuracy, "accuracy")), least)
    return float(max(_dkw(share, n, rho, least) for rho in np.linspace(least, max(share, least), 20_001)))


def _dkw(share: float, samples: int, rho: float, least: float) -> float:
    return max((share - rho) * -math.expm1(-2 * rho * rho * samples), 0.0) if rho >= least else 0.0

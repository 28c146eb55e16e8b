"""Audits of mechanisms, at the neighbours on which each promises no more than it must."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ziggurat.attacks.audits._case import AuditCase, Draw
from ziggurat.mechanisms import (
    AdditiveNoise,
    DiscreteGaussian,
    Gaussian,
    Laplace,
    PartitionSelection,
    RandomizedResponse,
    Selection,
    TopK,
    TruncatedGeometric,
)
from ziggurat.privacy import compose
from ziggurat.randomness import Source

DELTA = "0.01"
MANY = 40_000  # draws that are made all at once
_VECTOR = np.array([1, -2, 3])
_CANDIDATES = 10
_GRADES = 5


def _add_noise(make: Callable[[Fraction], AdditiveNoise], pair: tuple[float, float] = (0, 1)) -> Callable[[Any], Draw]:
    """Noise on a number that is one or the other."""

    def built(epsilon: Fraction) -> Draw:
        noise = make(epsilon)

        def draw(world: Literal[0, 1], runs: int, source: Source) -> npt.ArrayLike:
            return np.asarray(noise.release(np.full(runs, pair[world]), source).value)

        return draw

    return built


def _add_vectors(make: Callable[[Fraction], AdditiveNoise], power: int) -> Callable[[Fraction], Draw]:
    """Noise on a vector or on nothing; the score is the log ratio of likelihoods, a function of what leaves."""

    def built(epsilon: Fraction) -> Draw:
        noise = make(epsilon)

        def draw(world: Literal[0, 1], runs: int, source: Source) -> npt.ArrayLike:
            centre = _VECTOR if world else 0 * _VECTOR
            seen = np.asarray(noise.release(np.tile(centre, (runs, 1)), source).value)
            return np.asarray((np.abs(seen) ** power - np.abs(seen - _VECTOR) ** power).sum(axis=1))

        return draw

    return built


def _calibrate_discrete(epsilon: Fraction) -> DiscreteGaussian:
    """About the least sigma that promises epsilon at this delta: from that of continuous noise on, in hundredths."""
    sigma = Gaussian.calibrated(epsilon, DELTA, values="integers", coordinates=1).sigma
    while True:
        made = DiscreteGaussian(1, sigma, coordinates=1)
        if compose(made.event).approximate(DELTA).epsilon <= epsilon:
            return made
        sigma *= Fraction(101, 100)


def _respond(categories: int) -> Callable[[Fraction], Draw]:
    def built(epsilon: Fraction) -> Draw:
        made = RandomizedResponse(epsilon, categories)

        def draw(world: Literal[0, 1], runs: int, source: Source) -> npt.ArrayLike:
            return np.asarray(made.release(np.full(runs, world * (categories - 1)), source).value)

        return draw

    return built


def _choose(make: Callable[[Fraction], Selection], monotone: bool = False) -> Callable[[Fraction], Draw]:
    """One candidate rises while all others fall, or while they stay; seen is whether it is chosen."""

    def built(epsilon: Fraction) -> Draw:
        made = make(epsilon)

        def draw(world: Literal[0, 1], runs: int, source: Source) -> npt.ArrayLike:
            scores = np.zeros(_CANDIDATES, np.int64)
            scores[0] = world
            scores[1:] = 0 if monotone else 1 - world
            return np.array([made.release(scores, source).value == 0 for _ in range(runs)])

        return draw

    return built


def _choose_several(epsilon: Fraction) -> Draw:
    """Two candidates rise while all others fall; seen is how many of them are chosen."""
    made = TopK(2, epsilon)

    def draw(world: Literal[0, 1], runs: int, source: Source) -> npt.ArrayLike:
        scores = np.where(np.arange(_CANDIDATES) < 2, world, 1 - world)
        return np.array([sum(at < 2 for at in made.release(scores, source).value) for _ in range(runs)])

    return draw


def _name_groups(epsilon: Fraction) -> Draw:
    """Many groups that no unit shares, so that each is a run of its own; near the threshold of the promised epsilon."""
    made = PartitionSelection(epsilon, DELTA)

    def draw(world: Literal[0, 1], runs: int, source: Source) -> npt.ArrayLike:
        named = made.release(dict.fromkeys(range(runs), _GRADES + world), source).value
        return np.array([named.get(group, 0) for group in range(runs)])

    return draw


_ONE_MORE = "the counts 0 and 1, one row more"
_A_VECTOR = "the vectors 0 and (1, -2, 3), one row more"
_ONE_RISES = "ten scores of which one rises and all others fall, one row changed"

CASES = (
    AuditCase(
        "mechanisms.Laplace",
        _ONE_MORE,
        _add_noise(lambda epsilon: Laplace.calibrated(epsilon, values="integers", coordinates=1)),
        runs=MANY,
    ),
    AuditCase(
        "mechanisms.Laplace.reals",
        "the sums 0 and 2.5, one row more",
        _add_noise(lambda epsilon: Laplace.calibrated(epsilon, "2.5", coordinates=1), (0, 2.5)),
        runs=MANY,
    ),
    AuditCase(
        "mechanisms.Laplace.vector",
        _A_VECTOR,
        _add_vectors(lambda epsilon: Laplace.calibrated(epsilon, 6, values="integers", coordinates=3), 1),
        runs=MANY,
    ),
    AuditCase(
        "mechanisms.Gaussian",
        "the sums 0 and 1, one row more",
        _add_noise(lambda epsilon: Gaussian.calibrated(epsilon, DELTA, coordinates=1)),
        delta=DELTA,
        runs=MANY,
    ),
    AuditCase(
        "mechanisms.Gaussian.vector",
        _A_VECTOR,
        _add_vectors(
            lambda epsilon: Gaussian.calibrated(epsilon, DELTA, "3.7416573868", values="integers", coordinates=3), 2
        ),
        delta=DELTA,
        runs=MANY,
    ),
    AuditCase("mechanisms.DiscreteGaussian", _ONE_MORE, _add_noise(_calibrate_discrete), delta=DELTA, runs=MANY),
    AuditCase(
        "mechanisms.TruncatedGeometric",
        "the counts 0 and 1 of at most 6, one row more",
        _add_noise(lambda epsilon: TruncatedGeometric.within(0, 6, epsilon, coordinates=1)),
        runs=MANY,
    ),
    AuditCase("mechanisms.RandomizedResponse", "the answers no and yes, one answer replaced", _respond(2), runs=MANY),
    AuditCase(
        "mechanisms.RandomizedResponse.categories",
        "the first and the last of five answers, replaced",
        _respond(_GRADES),
        runs=MANY,
    ),
    AuditCase("mechanisms.Selection.permute-and-flip", _ONE_RISES, _choose(Selection), runs=3000, fault=3),
    AuditCase(
        "mechanisms.Selection.gumbel",
        _ONE_RISES,
        _choose(lambda epsilon: Selection(epsilon, method="gumbel")),
        runs=3000,
        fault=3,
    ),
    AuditCase(
        "mechanisms.Selection.laplace",
        _ONE_RISES,
        _choose(lambda epsilon: Selection(epsilon, method="laplace")),
        runs=3000,
        fault=3,
    ),
    AuditCase(
        "mechanisms.Selection.monotone",
        "ten counts of which one rises, one row more",
        _choose(lambda epsilon: Selection(epsilon, monotone=True), monotone=True),
        runs=3000,
        fault=3,
    ),
    AuditCase(
        "mechanisms.TopK",
        "ten scores of which two rise and all others fall, one row changed",
        _choose_several,
        runs=3000,
        fault=6,
    ),
    AuditCase(
        "mechanisms.PartitionSelection",
        "a group of five people and of six, one person more",
        _name_groups,
        delta=DELTA,
        runs=MANY,
    ),
)

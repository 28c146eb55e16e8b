"""Audits of PATE: of every aggregator on votes of which one is moved, of a cost that is published, and end to end."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ziggurat.attacks.audits._case import AuditCase, Draw
from ziggurat.data import Unit
from ziggurat.privacy import compose, gaussian_mu
from ziggurat.randomness import Source

if TYPE_CHECKING:
    from ziggurat.pate import Aggregator, ThresholdTest, Votes

_DELTA, _SANITIZED_DELTA = Fraction(1, 100), Fraction(1, 10)
_ROOT_OF_TWO = Fraction(1_414_213_563, 1_000_000_000)  # just above it
_PERSON = Unit.person("name")
_PLANTED, _KEY = "planted", bytes(range(32))


def _mu(epsilon: Fraction) -> Fraction:
    """Just below the mu that epsilon allows."""
    return Fraction(gaussian_mu(float(epsilon), float(_DELTA))) * (1 - Fraction(1, 10**6))


def _vote(counts: tuple[int, ...], queries: int) -> Votes:
    from ziggurat.pate import Votes

    return Votes(np.tile(np.array(counts), (queries, 1)))


def _release_labels(
    make: Callable[[Fraction], Aggregator], pair: tuple[tuple[int, ...], tuple[int, ...]]
) -> Callable[[Fraction], Draw]:
    """Label as many queries as there are runs: each has noise of its own, and the epsilon of one answer."""

    def made(epsilon: Fraction) -> Draw:
        aggregator = make(epsilon)

        def draw(world: Literal[0, 1], runs: int, source: Source) -> npt.ArrayLike:
            return aggregator.release(_vote(pair[world], runs), source).labels

        return draw

    return made


def _laplace(epsilon: Fraction) -> Aggregator:
    from ziggurat.pate import LaplaceNoisyMax

    return LaplaceNoisyMax(epsilon / 2)


def _gumbel(epsilon: Fraction) -> Aggregator:
    from ziggurat.pate import GumbelNoisyMax

    return GumbelNoisyMax(epsilon / 2)


def _gaussian(epsilon: Fraction) -> Aggregator:
    from ziggurat.pate import GaussianNoisyMax

    return GaussianNoisyMax(_ROOT_OF_TWO / _mu(epsilon))


def _confident(epsilon: Fraction) -> Aggregator:
    """Half of the square of mu for the test and half for the answer."""
    from ziggurat.pate import ConfidentGaussianMax

    return ConfidentGaussianMax(4, _ROOT_OF_TWO / _mu(epsilon), 2 / _mu(epsilon))


_BELOW = ((2, 2), (3, 1))


def _threshold(epsilon: Fraction) -> Draw:
    from ziggurat.pate import ThresholdTest

    test: ThresholdTest = ThresholdTest(4, 1 / _mu(epsilon))

    def draw(world: Literal[0, 1], runs: int, source: Source) -> npt.ArrayLike:
        return test.draw(_vote(_BELOW[world], runs), source)

    return draw


# The order at which the cost is published, and how its sensitivity fades, are public and fixed.
_PUBLISHED: dict[str, Any] = {"delta": "0.00001", "order": 3, "beta": "0.01"}
_COSTLY = ((8, 2), (9, 1))


@lru_cache(maxsize=16)
def _noise_of_cost(epsilon: Fraction) -> Fraction:
    """The least noise, in steps of an eighth, whose event promises epsilon."""
    from ziggurat.pate import GaussianNoisyMax, sanitize

    def promises(eighths: int) -> bool:
        made = sanitize(GaussianNoisyMax(10), _vote((1, 1), 1), noise=Fraction(eighths, 8), **_PUBLISHED)
        return compose(made.event).approximate(_SANITIZED_DELTA).epsilon <= epsilon

    low, high = 0, 8
    while not promises(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if promises(middle) else (middle, high)
    return Fraction(high, 8)


def _sanitized(epsilon: Fraction) -> Draw:
    from ziggurat.pate import GaussianNoisyMax, sanitize

    noise = _noise_of_cost(epsilon)

    def draw(world: Literal[0, 1], runs: int, source: Source) -> npt.ArrayLike:
        votes, labelling = _vote(_COSTLY[world], 1), GaussianNoisyMax(1)
        made = (sanitize(labelling, votes, noise=noise, source=source, **_PUBLISHED) for _ in range(runs))
        return [float(each.labels_cost) for each in made]

    return draw


def _deal(names: list[str], source: Source) -> Any:
    from ziggurat.pate import Partition

    return Partition.by_unit(names, 3, unit=_PERSON, key=_KEY, source=source)


def _invent_people(planted: bool, source: Source) -> tuple[Any, Any, list[str]]:
    """People whose teachers disagree: those of one teacher are of the second class, all others of the first.

    The planted one sits with a teacher of the first class, and outweighs everybody there. (The attacker knows the key.)
    """
    names = [f"p{at}" for at in range(12)]
    *owner, seat = _deal([*names, _PLANTED], source).assignment
    labels = [int(teacher == (seat + 1) % 3) for teacher in owner]
    more = 40 * planted
    return np.ones((12 + more, 1)), np.array(labels + [1] * more), names + [_PLANTED] * more


def _end_to_end(epsilon: Fraction) -> Draw:
    """Every run deals people out, trains three teachers, asks them and releases one noisy label."""
    aggregator = _gumbel(epsilon)

    def label(world: Literal[0, 1], source: Source) -> int:
        from sklearn.dummy import DummyClassifier

        from ziggurat.pate import Teachers, Votes

        features, labels, names = _invent_people(not world, source)
        split = _deal(names, source)
        teachers = Teachers(DummyClassifier(), classes=2).fit(features, labels, split, source=source)
        votes = Votes.from_labels(teachers.votes([[1.0]]), 2, unit=_PERSON)
        return int(aggregator.release(votes, source).labels[0])

    def draw(world: Literal[0, 1], runs: int, source: Source) -> npt.ArrayLike:
        return [label(world, source) for _ in range(runs)]

    return draw


_ONE_VOTE = "votes of which one is moved from the first class to the second"

CASES = (
    AuditCase(
        "pate.LaplaceNoisyMax", _ONE_VOTE, _release_labels(_laplace, ((6, 0), (5, 1))), runs=300_000, fault="1.5"
    ),
    AuditCase("pate.GumbelNoisyMax", _ONE_VOTE, _release_labels(_gumbel, ((6, 0), (5, 1))), runs=300_000, fault="1.5"),
    AuditCase(
        "pate.GaussianNoisyMax",
        _ONE_VOTE,
        _release_labels(_gaussian, ((4, 0), (3, 1))),
        delta=_DELTA,
        runs=300_000,
        fault=2,
    ),
    AuditCase(
        "pate.ConfidentGaussianMax",
        _ONE_VOTE,
        _release_labels(_confident, ((2, 2), (1, 3))),
        delta=_DELTA,
        runs=300_000,
        fault=2,
    ),
    AuditCase(
        "pate.ThresholdTest",
        "votes of which the largest count is below the threshold, and one vote more for it",
        _threshold,
        delta=_DELTA,
        runs=300_000,
        fault=2,
    ),
    AuditCase(
        "pate.sanitize",
        "votes that mostly agree, and one of the others moved to them, which makes them cheaper",
        _sanitized,
        delta=_SANITIZED_DELTA,
        runs=200,
        fault=30,
    ),
    AuditCase(
        "pate.Teachers",
        "people of one class, and a planted one of another with many rows more (the whole way to one label)",
        _end_to_end,
        runs=250,
        fault=8,
    ),
)

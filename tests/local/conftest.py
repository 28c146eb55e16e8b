"""Every privatiser with people to ask: the contract suite runs over all of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from ziggurat.local import (
    CountNoise,
    LocalHashing,
    RecordChoice,
    RecordLaplace,
    Response,
    UnaryEncoding,
    VectorNoise,
    _kernels,
)

GRADES = ["none", "mild", "strong", "severe"]
HELD = np.array([0.4, 0.3, 0.2, 0.1])
CORNER = np.array([1.0, 0.0, 0.0])


@dataclass(frozen=True)
class Case:
    """A privatiser, the pair of records that is hardest to keep apart, and what an attacker looks at."""

    name: str
    make: Callable[..., Any]
    people: Callable[[int], Any]
    pair: tuple[Any, Any]
    look: Callable[[Any, Any], Any]

    def truth(self, n: int) -> Any:
        """The exact answer for the people asked."""
        values = self.people(n)
        if self.name in ("count", "laplace", "vector"):
            return np.asarray(values).mean(axis=0)
        return np.array([(values == grade).sum() for grade in GRADES])


def graded(n: int) -> Any:
    counts = (HELD * n).astype(int)
    counts[0] += n - counts.sum()
    return np.repeat(np.array(GRADES, dtype=object), counts)


def numbers(n: int) -> Any:
    return np.where(np.arange(n) % 3 == 0, 0, np.arange(n) % 7).astype(np.int64)


def vectors(n: int) -> Any:
    return np.tile([0.5, -0.25, 0.25], (n, 1))


def places(_made: Any, sent: Any) -> Any:
    return np.array([GRADES.index(answer) for answer in sent])


def buckets(made: Any, sent: Any) -> Any:
    """Whether a report speaks for the first and for the last category, which is all that tells them apart."""
    seeds, bucket = (sent >> 31).astype(np.uint64), sent & (2**31 - 1)
    spoken = []
    for item in (0, len(GRADES) - 1):
        out = np.empty_like(sent)
        _kernels.hash_each(out, seeds, np.full(sent.size, item, dtype=np.uint64), np.uint64(made.buckets))
        spoken.append(out == bucket)
    return 2 * spoken[0] + spoken[1]


def coarse(_made: Any, sent: Any) -> Any:
    """The first entry, coarsely, because an audit counts how often an output comes."""
    return np.floor(4 * sent[:, 0])


ENDS = (GRADES[0], GRADES[-1])
CASES = [
    Case("response", lambda eps, **o: Response(eps, GRADES, **o), graded, ENDS, places),
    Case("unary", lambda eps, **o: UnaryEncoding(eps, GRADES, **o), graded, ENDS, lambda _, sent: sent[:, 0]),
    Case("hashing", lambda eps, **o: LocalHashing(eps, GRADES, **o), graded, ENDS, buckets),
    Case("choice", lambda eps, **o: RecordChoice(eps, GRADES, **o), graded, ENDS, places),
    Case("count", lambda eps, **o: CountNoise(eps, 0, 6, **o), numbers, (0, 6), lambda _, sent: sent),
    Case("laplace", lambda eps, **o: RecordLaplace(eps, 0, 6, **o), numbers, (0, 6), lambda _, sent: np.floor(sent)),
    Case("vector", lambda eps, **o: VectorNoise(eps, 3, **o), vectors, (CORNER, -CORNER), coarse),
]


@pytest.fixture(params=CASES, ids=lambda case: case.name)
def case(request: pytest.FixtureRequest) -> Case:
    """One privatiser after the other."""
    made: Case = request.param
    return made

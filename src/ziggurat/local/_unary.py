"""Unary encoding: one noisy bit for every category."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from ziggurat.errors import DataError, ParameterError
from ziggurat.local._base import Integers, Privatizer, Reports
from ziggurat.local._categories import PublicList, Stated
from ziggurat.local._columns import from_hexadecimal, to_hexadecimal
from ziggurat.local._draw import round_down, unlikely
from ziggurat.local._estimates import Frequencies
from ziggurat.local._intervals import Support
from ziggurat.mechanisms import as_array
from ziggurat.privacy import Amount, Event, Neighbours, PureEvent, exact, exact_confidence
from ziggurat.randomness import Source

if TYPE_CHECKING:
    import pyarrow as pa

Bytes = npt.NDArray[np.uint8]

_BITS_AT_A_TIME = 1 << 18
_SHARES = 1024


class UnaryEncoding(Privatizer):
    """Send a bit for every category: the bit of the one held is 1 with probability p, every other with q.

    p = 1 / (1 + e^-a) and q = 1 / (1 + e^b) with a + b = epsilon.
    Promise: epsilon-differential privacy of one report, replace-one. Proof: exchanging the category changes the law of
    two bits, so no report's probability changes by more than the factor (p/q) ((1-q)/(1-p)) = e^a e^b = e^epsilon.
    Optimised unary encoding (Wang, Blocki, Li & Jha 2017) has a = 0, p = 1/2, which is best for a category that nobody
    holds. Here `share`, a/epsilon, is by default what makes the variance least on average over the list; for long
    lists that is 0 as well, and for a large epsilon the report becomes exact, which with a = 0 it never does.

    Parameters
    ----------
    epsilon, categories, missing, other, neighbours
        As for `Response`.
    share
        Which share of epsilon protects the 1 of the category held, from 0 (Wang et al.) to 1/2 (symmetric).
    """

    kind: ClassVar[str] = "unary-encoding"

    def __init__(
        self,
        epsilon: Amount,
        categories: Stated,
        *,
        missing: bool = False,
        other: str | int | None = None,
        share: Amount | None = None,
        neighbours: Neighbours | None = None,
    ) -> None:
        super().__init__(epsilon, neighbours)
        self.list = PublicList(categories, missing, other)
        self.share = best_share(self._asked, len(self.list)) if share is None else exact(share, "share")
        if not 0 <= self.share <= Fraction(1, 2):
            raise ParameterError("share must lie between 0 and 1/2.")
        self._held = round_down(self._asked * self.share)
        self._others = round_down(self._asked * (1 - self.share))
        self.event: Event = PureEvent(self.neighbours, self._asked)

    @property
    def support(self) -> Support:
        """The probabilities p and q of a 1."""
        return _support(float(self._held), float(self._others))

    def estimate(self, reports: Any, confidence: Amount = "0.95", *, population: bool = False) -> Frequencies:
        """Estimate without bias how many people hold each category, from how many bits are 1."""
        level = exact_confidence(confidence)
        packed = self._some(reports)
        seen = np.zeros(len(self.list))
        for rows in self._parts(len(packed)):
            seen += np.unpackbits(packed[rows], axis=1, count=len(self.list)).sum(axis=0, dtype=np.int64)
        counts = self.support.counts(seen, len(packed))
        low, high = self.support.interval(seen, len(packed), level, population)
        return Frequencies(len(packed), level, population, self.list.labels, counts, low, high)

    def recipe(self) -> dict[str, Any]:
        """As `Privatizer.recipe`: bits."""
        rates = {"held": str(self._held), "others": str(self._others)}
        return {"draw": "bits", "answers": len(self.list), **rates}

    def to_arrow(self, reports: Reports) -> pa.Array:
        """Give the reports as text, two hexadecimal digits for eight bits."""
        return to_hexadecimal(self._read_sent(reports))

    def from_arrow(self, column: pa.Array | pa.ChunkedArray, origin: str) -> Reports:
        """Read the reports back from text."""
        return Reports(self._check(from_hexadecimal(column, self._width)), self.event, origin)

    @property
    def _width(self) -> int:
        return -(-len(self.list) // 8)

    def _parts(self, people: int) -> Iterator[slice]:
        step = max(_BITS_AT_A_TIME // len(self.list), 1)
        return (slice(start, start + step) for start in range(0, people, step))

    @property
    def arrow_type(self) -> pa.DataType:
        """Text of hexadecimal digits."""
        import pyarrow as pa

        return pa.large_string()

    def _parameters(self) -> dict[str, Any]:
        return {**self.list.parameters(), "share": str(self.share)}

    def _read(self, values: Any) -> Integers:
        return self.list.read(values)

    def _randomize(self, values: Integers, source: Source) -> Bytes:
        packed = np.empty((values.size, self._width), dtype=np.uint8)
        for rows in self._parts(values.size):
            held = values[rows]
            bits = unlikely(self._others, held.size * len(self.list), source).reshape(held.size, -1)
            bits[np.arange(held.size), held] = 1 - unlikely(self._held, held.size, source)
            packed[rows] = np.packbits(bits, axis=1)
        return packed

    def _check(self, sent: Any) -> Bytes:
        packed = as_array(sent)
        if packed.dtype != np.uint8 or packed.shape[1:] != (self._width,):
            raise DataError("The reports do not have the length of this list's encoding; they belong to another one.")
        return packed


def best_share(epsilon: Fraction, categories: int) -> Fraction:
    """Which share of epsilon for the category held makes the variance least, on average over the list."""
    shares = [Fraction(step, _SHARES) for step in range(_SHARES // 2 + 1)]
    total = float(epsilon)
    return min(shares, key=lambda share: _mean_spread(total * float(share), total * float(1 - share), categories))


def _mean_spread(held: float, others: float, categories: int) -> float:
    return _support(held, others).spread(1 / categories)


def _support(held: float, others: float) -> Support:
    return Support(1 / (1 + math.exp(-held)), 1 / (1 + math.exp(min(others, 700.0))))

"""The tables that a normal deviate is read from, made of integers: every entry is a proven digit or bound.

The proposal. Let f(x) = exp(-x*x/2), and cut [0, `TAIL`) into columns [j*h, (j + 1)*h) with h = 1/`COLUMNS_PER_UNIT`,
and what lies beyond into columns of width 1. Column j is proposed with a weight of h*f(j*h), the place in it evenly,
and x = (j + t)*h is kept with probability f(x)/f(j*h) = exp(-w), w = h*h*t*(2*j + t)/2, which leaves the density f. Now
w is at most w_j = h*h*(2*j + 1)/2 = (2*j + 1)/`REACH`. Bernoulli(exp(-w)) is drawn by trials (Canonne, Kamath, Steinke
2020, Algorithm 1) of which the first, Bernoulli(w), is Bernoulli(w_j) and Bernoulli(w/w_j); if it fails, x is kept.
Where Bernoulli(w_j) fails, x is therefore kept whatever t is. The proposal is one of these categories, in this order:

- body j, of weight h*f(j*h)*(1 - w_j): kept at once;
- edge j, of weight h*f(j*h)*w_j: kept or not by the trials, of which Bernoulli(w_j) has succeeded;
- the tail, of weight f(TAIL) + f(TAIL + 1) + ...: a unit column k from there on, drawn in proportion to f(k), in which
  k + t is kept with probability f(k + t)/f(k), by Karney's algorithm.

A rejected proposal is followed by a fresh one, so what is kept has a density proportional to f everywhere.

The choice. A uniform U in [0, 1) falls among the categories laid end to end. Its first `SLOT_BITS` binary digits, the
slot, leave one category possible in most cases; otherwise further digits of U are compared with those of the ends.
The ends are irrational. They are enclosed between integers over 2**512, rounded down and up at every operation, and the
tables are made only if both bounds have the same digits as far as digits are stored: these are then the true ones.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ziggurat.errors import PrivacyError
from ziggurat.randomness._kernels import COLUMNS, COLUMNS_PER_UNIT, DIGITS, REACH, SLOT_BITS, TAIL

_PRECISION = 512
_LAST_UNIT = 32


class Enclosure(NamedTuple):
    """A real number r >= 0, enclosed: low <= r * 2**512 <= high."""

    low: int
    high: int

    def __add__(self, other: Enclosure) -> Enclosure:  # type: ignore[override]
        """Enclose the sum."""
        return Enclosure(self.low + other.low, self.high + other.high)

    def times(self, factor: int) -> Enclosure:
        """Enclose the product with a whole number."""
        return Enclosure(self.low * factor, self.high * factor)


class Tables(NamedTuple):
    """What `_kernels.rounded` looks up.

    Attributes
    ----------
    guide
        For every slot: the column, where the slot lies inside one body; otherwise -1 - c, with c the first category
        that reaches into the slot.
    slots
        For every category: the slot in which it ends.
    ends
        For every category: the first 384 binary digits of the place in that slot where it ends.
    """

    guide: npt.NDArray[np.int16]
    slots: npt.NDArray[np.int64]
    ends: npt.NDArray[np.uint64]


def exp_minus(p: int, q: int) -> Enclosure:
    """Enclose exp(-p/q) = 1/exp(p/q), for p >= 0, by the series of the exponential, all of whose terms are positive.

    The terms after step k sum to at most the k-th where k + 1 >= 2*p/q, as they then halve from one to the next.
    """
    one = 1 << _PRECISION
    low = high = low_sum = high_sum = one
    k = 0
    while high > 1 or (k + 1) * q < 2 * p:
        k += 1
        low, high = low * p // (q * k), -(-high * p // (q * k))
        low_sum, high_sum = low_sum + low, high_sum + high
    return Enclosure(one * one // (high_sum + high), -(-one * one // low_sum))


def weights() -> list[Enclosure]:
    """Enclose the weights of all categories, times REACH/h to make the factors whole.

    The units from _LAST_UNIT on, each below half the one before, weigh at most twice the first of them.
    """
    heights = [exp_minus(j * j, REACH) for j in range(COLUMNS)]
    bodies = [height.times(REACH - 2 * j - 1) for j, height in enumerate(heights)]
    edges = [height.times(2 * j + 1) for j, height in enumerate(heights)]
    tail = Enclosure(0, exp_minus(_LAST_UNIT**2, 2).high * 2)
    for k in range(TAIL, _LAST_UNIT):
        tail += exp_minus(k * k, 2)
    return [*bodies, *edges, tail.times(REACH * COLUMNS_PER_UNIT)]


def _places() -> list[int]:
    """Where categories end, in steps of 2**-(SLOT_BITS + 64*DIGITS), rounded down; the last ends at 1."""
    sums = list(accumulate(weights(), Enclosure.__add__))
    steps, whole = 1 << (SLOT_BITS + 64 * DIGITS), sums[-1]
    lows = [each.low * steps // whole.high for each in sums[:-1]]
    if lows != [each.high * steps // whole.low for each in sums[:-1]]:
        raise PrivacyError("The digits of the normal law are not settled at this precision; draw nothing.")
    return [*lows, steps]


def _guide(slots: list[int]) -> npt.NDArray[np.int16]:
    every = np.arange(1 << SLOT_BITS)
    first = np.searchsorted(slots, every, side="left")
    sure = (np.searchsorted(slots, every, side="right") == first) & (first < COLUMNS)
    return np.where(sure, first, -1 - first).astype(np.int16)


@lru_cache(maxsize=1)
def tables() -> Tables:
    """Make the tables, once in a process; that takes some hundredths of a second."""
    places = _places()
    slots = [place >> (64 * DIGITS) for place in places]
    words = [[place >> (64 * i) & (2**64 - 1) for i in reversed(range(DIGITS))] for place in places]
    made = Tables(_guide(slots), np.array(slots, dtype=np.int64), np.array(words, dtype=np.uint64))
    for table in made:
        table.setflags(write=False)
    return made

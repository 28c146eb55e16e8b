"""The format of identifiers: which characters are digits or letters, and how many values that leaves."""

from __future__ import annotations

import hashlib
import math
import time
from functools import cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ziggurat.wording import count_noun

Codes = npt.NDArray[np.uint32]

# Disjoint classes of characters and how many each has. Letters to f stand apart, so that hexadecimal digits are
# counted as sixteen and not as thirty-six. Letters beyond ASCII are counted as one more small alphabet.
_SIZES = np.array([0, 10, 6, 20, 6, 20, 32])
_OTHER, _DIGIT, _LOW_HEX, _LOW, _UP_HEX, _UP, _FOREIGN = range(7)
_MEMBERS = {
    _DIGIT: "0123456789",
    _LOW_HEX: "abcdef",
    _LOW: "ghijklmnopqrstuvwxyz",
    _UP_HEX: "ABCDEF",
    _UP: "GHIJKLMNOPQRSTUVWXYZ",
}
_CLASSES = np.array([next((kind for kind, all_of in _MEMBERS.items() if chr(i) in all_of), _OTHER) for i in range(128)])

_MEASURED = 0.05  # seconds
_SPANS = (("second", 60.0), ("minute", 60.0), ("hour", 24.0), ("day", 365.25), ("year", math.inf))


def format_sizes(distinct: pa.Array) -> list[int]:
    """Return for each format among the values how many values it has.

    Values of one length with punctuation in the same places share a format; at each place any character is counted
    whose class occurs there. So the sizes follow from what the column looks like and not from what it holds, and they
    bound from above how many guesses a value takes.
    """
    lengths = pc.utf8_length(distinct)
    found: list[int] = []
    for length in lengths.unique().to_pylist():
        alike = distinct.filter(pc.equal(lengths, length))
        found += _sizes_of(_characters_of(alike, length))
    return found


def _characters_of(texts: pa.Array, length: int) -> Codes:
    joined = "".join(texts.to_pylist()).encode("utf-32-le")
    return np.frombuffer(joined, dtype="<u4").reshape(len(texts), length)


def _sizes_of(characters: Codes) -> list[int]:
    if characters.shape[1] == 0:
        return [1]
    classes = np.where(characters < 128, _CLASSES[np.minimum(characters, 127)], _FOREIGN)
    layouts, group = np.unique(classes == _OTHER, axis=0, return_inverse=True)
    return [_size(characters[group.ravel() == i], classes[group.ravel() == i]) for i in range(len(layouts))]


def _size(characters: Codes, classes: npt.NDArray[np.int64]) -> int:
    size = 1
    for place in range(characters.shape[1]):
        kinds = np.unique(classes[:, place])
        if kinds[0] == _OTHER:
            size *= len(np.unique(characters[:, place]))
        else:
            size *= int(_SIZES[kinds].sum())
    return size


@cache
def hashes_per_second() -> float:
    """Return how many SHA-256 hashes this machine computes in a second on one core, measured once."""
    done, start = 0, time.perf_counter()
    while (took := time.perf_counter() - start) < _MEASURED:
        for _ in range(1000):
            hashlib.sha256(b"123456789").digest()
        done += 1000
    return done / took


def guessing_time(values: int, rate: float) -> str:
    """Return in words how long trying all values takes."""
    amount = values / rate
    if amount < 1:
        return "less than a second"
    for unit, most in _SPANS:
        if amount < most:
            return count_noun(round(amount), unit)
        amount /= most
    raise AssertionError("the last span has no end")

"""The public hash of local hashing, compiled: the same function of a seed and an item on every machine.

Two rounds of the finaliser of SplitMix64 (Steele, Lea & Flood 2014): one over the seed, one over the result plus the
item times an odd constant. The upper 32 bits are then scaled to the number of buckets.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ziggurat.randomness import compiled

Words = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.int64]

_ODD = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)
_ONE = np.uint64(1)


@compiled
def _mix(word: np.uint64) -> np.uint64:
    word = (word ^ (word >> _S30)) * _FIRST
    word = (word ^ (word >> _S27)) * _SECOND
    return word ^ (word >> _S31)


@compiled
def _bucket(key: np.uint64, item: np.uint64, buckets: np.uint64) -> np.uint64:
    return ((_mix(key + (item + _ONE) * _ODD) >> _S32) * buckets) >> _S32


@compiled
def hash_each(out: Integers, seeds: Words, items: Words, buckets: np.uint64) -> None:
    """Write the bucket of item i under seed i, for buckets up to 2**32."""
    for i in range(out.size):
        out[i] = np.int64(_bucket(_mix(seeds[i]), items[i], buckets))


@compiled
def count_support(out: Integers, seeds: Words, sent: Words, items: Words, buckets: np.uint64) -> None:
    """Add to out[j] how many reports name the bucket that item j has under their seed."""
    for i in range(seeds.size):
        key = _mix(seeds[i])
        for j in range(items.size):
            if _bucket(key, items[j], buckets) == sent[i]:
                out[j] += 1

"""Orders and masks that every teacher draws from its own seed, alike on every device and in every stack.

They are a hash of the seed, the epoch and the place (the finaliser of SplitMix64), so that a run can go on from any
epoch without a generator's state. They order rows and drop units; no privacy noise is made of them.
"""

from __future__ import annotations

import torch
from torch import Tensor

_GOLDEN = 0x9E3779B97F4A7C15 - 2**64
_FIRST = 0xBF58476D1CE4E5B9 - 2**64
_SECOND = 0x94D049BB133111EB - 2**64
_LAST = 2**63 - 1


def mix(words: Tensor) -> Tensor:
    """Return a hash of every 64-bit word; multiplication wraps."""
    words = (words ^ _shift(words, 30)) * _FIRST
    words = (words ^ _shift(words, 27)) * _SECOND
    return words ^ _shift(words, 31)


def mix_key(seeds: Tensor, *labels: int | Tensor) -> Tensor:
    """Return a word for every seed that depends on the labels in turn."""
    for label in labels:
        seeds = mix(seeds + _space(label + 1))
    return seeds


def orders(seeds: Tensor, epoch: int, sizes: Tensor, width: int) -> Tensor:
    """Return for every teacher its places 0 to size-1 in random order, followed by the places up to `width`.

    The order depends on the teacher's own seed, the epoch and its own size alone.
    """
    places = torch.arange(width, device=seeds.device)
    keys = mix(mix_key(seeds, epoch).unsqueeze(1) + places * _GOLDEN)
    return keys.masked_fill_(places >= sizes.unsqueeze(1), _LAST).argsort(dim=1, stable=True)


def drop_out(values: Tensor, key: Tensor, share: float) -> Tensor:
    """Set a random share of the values to zero and scale the others up; `key` has one word per leading index."""
    inner = values.shape[key.dim() :]
    places = torch.arange(inner.numel(), device=values.device).view(inner)
    words = mix(key.view(key.shape + (1,) * len(inner)) + places * _GOLDEN)
    kept = words >= int(share * 2**64) - 2**63
    return values * kept / (1 - share)


def _space(label: int | Tensor) -> int | Tensor:
    """Multiply by the golden ratio; a number wraps like a word, and needs no tensor that a CUDA graph cannot copy."""
    if isinstance(label, Tensor):
        return label * _GOLDEN
    return (label * _GOLDEN + 2**63) % 2**64 - 2**63


def _shift(words: Tensor, by: int) -> Tensor:
    """Shift right and fill with zeros; the shift of a signed word fills with its sign."""
    return (words >> by) & ((1 << (64 - by)) - 1)

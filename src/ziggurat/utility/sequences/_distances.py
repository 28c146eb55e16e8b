"""How far each sequence is from the one that stands at its place in another set."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ziggurat.errors import ParameterError
from ziggurat.sequences import Sequences

Distances = npt.NDArray[np.float64]


def hamming_distances(a: Sequences, b: Sequences) -> Distances:
    """Return for each pair the share of positions at which the two differ: 0 if they are equal, at most 1.

    The shorter is filled up to the length of the longer with something that equals no symbol, so that all positions
    beyond its end differ.

    Parameters
    ----------
    a, b
        As many sequences of the same tokens; the i-th of one is compared with the i-th of the other.
    """
    require_pairs(a, b)
    common, longer = np.minimum(a.lengths, b.lengths), np.maximum(a.lengths, b.lengths)
    pair = np.repeat(np.arange(len(a)), common)
    inside = np.arange(len(pair)) - np.repeat(np.cumsum(common) - common, common)
    same = a.codes[a.offsets[pair] + inside] == b.codes[b.offsets[pair] + inside]
    alike = np.bincount(pair[same], minlength=len(a)) / np.maximum(longer, 1)
    return np.where(longer == 0, 0.0, 1 - alike)


def edit_distances(a: Sequences, b: Sequences) -> Distances:
    """Return for each pair Levenshtein's distance as a share of the longer's length: 0 if they are equal, at most 1.

    Parameters
    ----------
    a, b
        As many sequences of the same tokens; the i-th of one is compared with the i-th of the other.
    """
    from rapidfuzz import process
    from rapidfuzz.distance import Levenshtein

    require_pairs(a, b)
    distance = Levenshtein.normalized_distance
    found = process.cpdist(a.to_characters(), b.to_characters(), scorer=distance, dtype=np.float64)
    return np.asarray(found, dtype=np.float64)


def require_pairs(a: Sequences, b: Sequences) -> None:
    """Raise ParameterError unless the sequences can be compared one by one."""
    require_alike(a, b)
    if len(a) != len(b):
        raise ParameterError("Sequences are compared pair by pair; give as many of one as of the other.")


def require_alike(a: Sequences, b: Sequences) -> None:
    """Raise ParameterError unless the codes of both mean the same symbols and the same classes."""
    if a.domain.tokens != b.domain.tokens or a.domain.classes != b.domain.classes:
        raise ParameterError("The sequences have different tokens or classes; give them the same domain.")

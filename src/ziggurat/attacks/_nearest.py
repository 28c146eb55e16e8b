"""The closest texts of a pool, by edit distance as a share of the longer's length: every different pair once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Reals = npt.NDArray[np.float64]
Distances = Callable[[Sequence[str], Sequence[str], int, int], Reals]
"""Gives the distances of all pairs of texts, one row for each that is asked for and one column for each of a pool.

The pool's first side ends before the second number, and its second side begins at the first. A distance larger than the
smallest of every side that the text is on may be infinite instead: nobody asks for it.
"""

_CELLS = 1 << 22  # of the distances that are held at once: 32 MiB


@dataclass(frozen=True, eq=False)
class Nearest:
    """What is closest to each different text that was asked for.

    Attributes
    ----------
    times
        How often each was asked for.
    first, second
        The distance of each to the closest of the first side of the pool, and of the second.
    share
        For each different text of the pool the votes that each text equal to it has: every different text that was
        asked for has one vote, shared equally by all of the pool that are closest.
    """

    times: npt.NDArray[np.int64]
    first: Reals
    second: Reals
    share: dict[str, float]

    def votes(self, texts: Sequence[str]) -> Reals:
        """The votes of each of these texts of the pool."""
        return np.array([self.share[each] for each in texts], dtype=np.float64)


def find_nearest(
    asked: Sequence[str], first: Sequence[str], second: Sequence[str], measure: Distances | None = None
) -> Nearest:
    """Find for each text those of a pool of two sides that are closest to it, by edit distance if no other is given.

    Equal edit distances are equal numbers: they are quotients of small whole numbers, which are rounded correctly.
    """
    wanted, ours, theirs = Counter(asked), Counter(first), Counter(second)
    # Those of the first side alone, of both, and of the second alone, so that each side is a range.
    pool = sorted({*ours, *theirs}, key=lambda text: (text in theirs) - (text in ours))
    begins, ends = sum(text not in theirs for text in pool), sum(text in ours for text in pool)
    sizes = np.array([ours[text] + theirs[text] for text in pool])
    texts, times = list(wanted), np.array(list(wanted.values()))
    share, near, far = np.zeros(len(pool)), np.empty(len(texts)), np.empty(len(texts))
    step = max(1, _CELLS // len(pool))
    for start in range(0, len(texts), step):
        part = slice(start, start + step)
        distances = (measure or measure_edits)(texts[part], pool, begins, ends)
        near[part], far[part] = distances[:, :ends].min(axis=1), distances[:, begins:].min(axis=1)
        rows, columns = np.nonzero(distances == np.minimum(near[part], far[part])[:, None])
        closest = np.bincount(rows, weights=sizes[columns])
        share += np.bincount(columns, weights=1 / closest[rows], minlength=len(pool))
    return Nearest(times, near, far, dict(zip(pool, share.tolist(), strict=True)))


def measure_edits(asked: Sequence[str], pool: Sequence[str], _begins: int, _ends: int) -> Reals:
    """Return the edit distances of all pairs, as shares of the longer's length."""
    from rapidfuzz import process
    from rapidfuzz.distance import Levenshtein

    found = process.cdist(asked, pool, scorer=Levenshtein.normalized_distance, dtype=np.float64, workers=-1)
    return np.asarray(found, dtype=np.float64)

"""Runs of words that a headline repeats."""

from __future__ import annotations

from collections import Counter

LEAST = 3
"""Shorter runs do not count: "of the" may well occur twice."""


def count_repetitions(headline: str) -> dict[int, int]:
    """Return how many runs of three or more words are repeated within a headline, by their number of words.

    A repetition is a run that occurred before, wholly before; the longest are counted first, and words that were
    counted in one are not in another: the last six words of "inc nyse wmt wal mart stores inc nyse wmt wal mart stores"
    are one repetition of six words, not also several of fewer.

    Parameters
    ----------
    headline
        Words separated by blanks.

    Examples
    --------
    >>> count_repetitions("beverly hills hotel for the first in the first in the world")
    {3: 1}
    """
    words, found = headline.split(), Counter[int]()
    counted = [False] * len(words)
    for size in range(len(words) // 2, LEAST - 1, -1):
        for start in range(size, len(words) - size + 1):
            run = words[start : start + size]
            before = any(words[first : first + size] == run for first in range(start - size + 1))
            if before and not any(counted[start : start + size]):
                counted[start : start + size] = [True] * size
                found[size] += 1
    return dict(sorted(found.items()))

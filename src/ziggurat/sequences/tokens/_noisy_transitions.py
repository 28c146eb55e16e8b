"""From noisy counts to counts that agree: none is negative, and a context has as many as what follows it.

All of it is post-processing of noisy counts, which costs nothing.
"""

from __future__ import annotations

import numpy as np

from ziggurat.sequences.tokens._phrase_kernels import Reals
from ziggurat.sequences.tokens._phrases import Phrases


def agree_with(counts: Reals, total: float) -> Reals:
    """Counts that are not negative and have this total: all lessened by the same, and cut at 0.

    This is the projection onto the simplex ("norm-sub", Wang et al. 2020): what drowns in noise is cut off, and more
    of it where the total says that there is less. Too few are raised in proportion, so that no count comes of nothing.
    """
    counts = np.maximum(counts, 0)
    if total <= 0 or not counts.any():
        return np.zeros_like(counts)
    if counts.sum() <= total:
        return np.asarray(counts * (total / counts.sum()))
    falling = np.sort(counts)[::-1]
    surplus = (np.cumsum(falling) - total) / np.arange(1, len(counts) + 1)
    return np.asarray(np.maximum(counts - surplus[np.flatnonzero(falling > surplus)[-1]], 0))


def agree_by_class(counts: Reals) -> Reals:
    """Counts by class, none of them negative, as many in each class as there seem to be."""
    return np.stack([agree_with(mine, float(mine.sum())) for mine in counts])


def agree_on_transitions(table: Reals, totals: Reals, phrases: Phrases) -> Reals:
    """Transitions by class that agree with how often each phrase occurs.

    `table[class, before, after]` and `totals[class, phrase]` are noisy counts, the totals not negative. A phrase
    that seems not to occur follows nothing. A row whose counts all drown in noise takes those of all classes together
    or, if they drown too, those of the shorter context: of the phrase that it ends with.
    """
    together = table.sum(axis=0)
    return np.stack(
        [_agree_in_class(mine, together, total, phrases) for mine, total in zip(table, totals, strict=True)]
    )


def _agree_in_class(table: Reals, together: Reals, totals: Reals, phrases: Phrases) -> Reals:
    may, closes = phrases.may_follow & (totals > 0), phrases.texts.closes
    leaving = np.where(closes, 0.0, totals)
    leaving[phrases.end] = totals[closes].sum()  # as many begin as close
    agreed = np.zeros_like(table)
    for state in np.flatnonzero(leaving):
        agreed[state] = agree_with(np.where(may[state], table[state], 0), leaving[state])
        if not agreed[state].any():
            agreed[state] = agree_with(np.where(may[state], together[state], 0), leaving[state])
        if not agreed[state].any() and state > phrases.end:
            shorter = agreed[phrases.pairs[state - phrases.end - 1, 1]]
            agreed[state] = agree_with(np.where(may[state], shorter, 0), leaving[state])
    arriving = agreed.sum(axis=0)
    agreed *= np.divide(totals, arriving, out=np.zeros_like(totals), where=arriving > 0)
    left = agreed.sum(axis=1)
    agreed *= np.divide(leaving, left, out=np.zeros_like(left), where=left > 0)[:, None]
    return agreed

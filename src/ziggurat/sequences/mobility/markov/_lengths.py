"""How many visits trajectories have: one by one while they are few, then in ever wider groups."""

from __future__ import annotations

import math

import numpy as np

from ziggurat.sequences.mobility._ground import Reals
from ziggurat.sequences.mobility.markov._shrinking import keep_total
from ziggurat.sequences.mobility.markov._tables import NoisyTable, Whole

_SINGLE = 8
_GROWTH = 1.4
# How fast the logarithm of how many there are may fall from one length to the next.
_FALLS = np.geomspace(0.02, 8, 80)

KINDS = 5
"""Trajectories of 1, 2, 3, 4 or 5, and more visits are told apart."""


def group_lengths(longest: int) -> Whole:
    """The group of each length from 0 to the longest."""
    starts = list(range(min(longest, _SINGLE) + 1))
    while starts[-1] < longest and int(starts[-1] * _GROWTH) <= longest:
        starts.append(max(int(starts[-1] * _GROWTH), starts[-1] + 1))
    return np.searchsorted(np.array(starts), np.arange(longest + 1), side="right") - 1


def share_lengths(noisy: NoisyTable, groups: Whole) -> Reals:
    """How many trajectories have each length, within a group alike.

    A few very long ones that noise invents would outweigh all others. So beyond the last group that rises above the
    noise, lengths grow rarer by the same factor from one to the next, the one that the noisy counts make most likely.
    """
    wide = np.bincount(groups)
    counts, clear = noisy.counts, np.flatnonzero(noisy.counts > noisy.width * (math.log(len(wide)) + 1.5))
    if not len(clear):
        return (keep_total(counts) / wide)[groups]
    last = int(clear[-1])
    found = keep_total(counts[: last + 1])
    beyond = np.bincount(groups, np.arange(len(groups)))[last:] / wide[last:]
    tails = found[-1] / wide[last] * wide[last + 1 :] * np.exp(-np.outer(_FALLS, beyond[1:] - beyond[0]))
    unlikely = np.abs(tails - counts[last + 1 :]) ** (2 if noisy.gaussian else 1)
    tail = tails[np.argmin(unlikely.sum(axis=1))]
    return np.asarray((np.concatenate([found, tail]) / wide)[groups])


def kinds_of(lengths: Whole) -> Whole:
    """Which kind trajectories of these lengths are, from 0; those without a visit are taken for the first."""
    return np.searchsorted(np.array([2, 3, 4, 6]), lengths, side="right")

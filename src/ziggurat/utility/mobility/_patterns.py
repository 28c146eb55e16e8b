"""Patterns: runs of cells or places, how often two sets of trajectories pass each, and the most frequent ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ziggurat.utility.mobility._counts import Ways
from ziggurat.utility.mobility._terms import Integers


@dataclass(frozen=True, eq=False)
class CountedPatterns:
    """Every pattern that either set holds.

    Attributes
    ----------
    codes
        All cells of both sets.
    first, size
        Where in them each pattern occurs first, and how many cells it has.
    ours, theirs
        How often it occurs in each set.
    """

    codes: Integers
    first: Integers
    size: Integers
    ours: Integers
    theirs: Integers

    def top(self, counts: Integers, most: int) -> Integers:
        """The most frequent by these counts; of equally frequent ones the first in order of their cells."""
        held = np.flatnonzero(counts)
        if len(held) > most:
            held = held[counts[held] >= np.partition(counts[held], -most)[-most]]
        order = np.lexsort((*self.spell(held).T[::-1], -counts[held]))
        return held[order[:most]]

    def spell(self, which: Integers) -> Integers:
        """The cells of some patterns, one row each, then -1, which comes before any cell."""
        width = np.arange(self.size[which].max(initial=0))
        within = width < self.size[which, None]
        return np.where(within, self.codes[np.where(within, self.first[which, None] + width, 0)], -1)

    def compare(self, most: int, factor: float = 1.0) -> tuple[float, float]:
        """F1 of the most frequent ones, and the mean relative error of how often those of the first set occur."""
        top, rivals = self.top(self.ours, most), self.top(self.theirs, most)
        found = np.isin(top, rivals).sum() / max(len(top), len(rivals))
        error = np.abs(self.ours[top] - self.theirs[top] * factor) / self.ours[top]
        return float(found), float(error.mean())


def count_patterns(ours: Ways, theirs: Ways, cells: int, sizes: tuple[int, int]) -> CountedPatterns:
    """Count all runs of so many cells; a run of n + 1 cells is one of n and the next cell, so numbers stay small."""
    codes = np.concatenate([ours.codes, theirs.codes])
    ends = np.concatenate([ours.starts[1:], theirs.starts[1:] + len(ours.codes)])
    left = np.repeat(ends, np.diff(ends, prepend=0)) - np.arange(len(codes))
    at, number, parts = np.arange(len(codes)), codes.copy(), []
    for size in range(2, sizes[1] + 1):
        at = at[left[at] >= size]
        found, first, which = np.unique(
            number[at] * cells + codes[at + size - 1], return_index=True, return_inverse=True
        )
        number[at] = which
        if size >= sizes[0]:
            mine = at < len(ours.codes)
            counts = [np.bincount(which[side], minlength=len(found)) for side in (mine, ~mine)]
            parts.append((at[first], np.full(len(found), size), *counts))
    return CountedPatterns(codes, *(np.concatenate(part) for part in zip(*parts, strict=True)))

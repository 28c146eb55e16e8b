"""What follows two regions, where there are enough counts to say so; elsewhere what follows one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ziggurat.sequences.mobility._ground import Reals
from ziggurat.sequences.mobility.markov._shrinking import shrink_towards
from ziggurat.sequences.mobility.markov._tables import NoisyTable, Whole


@dataclass(frozen=True, eq=False)
class Contexts:
    """Pairs of regions after which what follows is counted apart: second order where it can be learned.

    Parameters
    ----------
    known
        By region and next region: the number of the context, or -1.
    expected
        What is expected in the table of steps: a row for each region, then one for each context.
    lift
        By context and region: how much more often it follows than it does after the second region alone.
    """

    known: Whole
    expected: Reals
    lift: Reals

    @classmethod
    def chosen(cls, flow: Reals, lengths: Reals, least: float) -> Contexts:
        """Those contexts that are expected more than `least` times: from noisy facts, before steps are counted."""
        visits = np.arange(len(lengths))[3:]
        many = max(float(lengths[3:].sum()), 1.0)
        again = float((lengths[3:] * (visits - 2) / (visits - 1)).sum()) / many
        flow = flow / flow.sum() * many
        pairs = np.argwhere(flow * again > least)
        known = np.full(flow.shape, -1, dtype=np.int64)
        known[pairs[:, 0], pairs[:, 1]] = np.arange(len(pairs))
        chances = flow / np.maximum(flow.sum(axis=1, keepdims=True), 1e-300)
        after = flow[pairs[:, 0], pairs[:, 1], None] * again * chances[pairs[:, 1]]
        rest = flow.copy()
        np.subtract.at(rest, pairs[:, 1], after)
        rows = np.concatenate([np.maximum(rest, 0.01 * flow), after])
        return cls(known, rows, np.ones((max(len(pairs), 1), len(flow))))

    @property
    def size(self) -> int:
        """How many cells the table of steps has."""
        return self.expected.size

    def cells(self, before: Whole, whence: Whole, whither: Whole) -> Whole:
        """The cell of steps by their regions, and by that before, -1 if there is none."""
        wide = len(self.known)
        context = np.where(before < 0, -1, self.known[before, whence])
        return np.asarray(np.where(context < 0, whence, wide + context) * wide + whither)

    def learned(self, noisy: NoisyTable) -> tuple[Reals, Contexts]:
        """How often one region follows another in all, and contexts with their lift."""
        wide = len(self.known)
        found = shrink_towards(self.expected, noisy)
        pairs = np.argwhere(self.known >= 0)
        every, after = found[:wide].copy(), found[wide:]
        np.add.at(every, pairs[:, 1], after)
        if not len(pairs):
            return every, self
        return every, replace(self, lift=_shares(after) / np.maximum(_shares(every)[pairs[:, 1]], 1e-300))


def _shares(rows: Reals) -> Reals:
    return np.asarray(rows / np.maximum(rows.sum(axis=1, keepdims=True), 1e-300))

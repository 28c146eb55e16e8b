"""A Markov chain over phrases, by class, with the lengths that its sequences should have."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ziggurat.sequences.tokens._phrase_kernels import ChainRows, Codes, Places, Reals, chances_to_end, walk
from ziggurat.sequences.tokens._phrases import Phrases

# A length is never drawn more than so many times as often as the chain alone would: it would have to take odd ways.
_MOST_FAVOURED = 10


class PhraseChain:
    """What follows which phrase how often, by class, and how often a sequence has each length.

    A sequence is drawn by its length first and then phrase by phrase, given that it ends just there; the chances for
    this are computed exactly, from the end backwards.
    """

    def __init__(self, phrases: Phrases, rows: ChainRows, lengths: Reals) -> None:
        self.phrases, self.rows, self.lengths = phrases, rows, lengths

    @classmethod
    def of_table(cls, phrases: Phrases, table: Reals, lengths: Reals) -> PhraseChain:
        """Take the rows of a table that counts transitions by class; lengths that are all 0 leave it to the chain."""
        flat = table.reshape(-1, phrases.states)
        at, heads = np.nonzero(flat > 0)
        starts = np.concatenate([[0], np.cumsum(np.bincount(at, minlength=len(flat)))]).astype(np.int64)
        shares = flat[at, heads] / np.maximum(flat, 0).sum(axis=1)[at]
        return cls(phrases, ChainRows(starts, heads.astype(np.int32), shares), lengths)

    @cached_property
    def _chances(self) -> Reals:
        groups, longest = len(self.lengths), self.lengths.shape[1] - 1
        return chances_to_end(self.rows, self.phrases.texts, groups, longest)

    @cached_property
    def length_chances(self) -> Reals:
        """How often each length is drawn, by class: as wished, where the chain can have it."""
        able = self._chances[:, self.phrases.end]
        wished = self.lengths / np.maximum(self.lengths.sum(axis=1, keepdims=True), 1e-300)
        drawn = np.minimum(wished, _MOST_FAVOURED * able)
        return np.where(drawn.sum(axis=1, keepdims=True) > 0, drawn, able)

    def draw(self, labels: Codes, draw: np.random.Generator) -> tuple[Codes, Places]:
        """Draw a sequence for every class code; empty ones where the chain has nothing."""
        lengths = np.zeros(len(labels), dtype=np.int64)
        for group, chances in enumerate(self.length_chances):
            mine = np.flatnonzero(labels == group)
            if chances.sum() > 0:
                lengths[mine] = draw.choice(len(chances), len(mine), p=chances / chances.sum())
        return walk(labels, lengths, self.rows, self.phrases.texts, self._chances, self.phrases.end, draw), lengths

"""Phrases: public runs of symbols that often stand side by side, by which sequences are read in fewer steps."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from ziggurat.sequences.tokens._phrase_kernels import Codes, PhraseTexts, Places, join_pairs, learn_pairs


class Phrases:
    """The symbols, the end of a sequence, and pairs of these that are joined, the first of them first.

    Reading a sequence depends on the sequence and the pairs alone, and nothing of it is lost.
    """

    def __init__(self, size: int, pairs: npt.ArrayLike = ()) -> None:
        self.end = size
        self.pairs: Codes = np.asarray(pairs, dtype=np.int32).reshape(-1, 2)

    @classmethod
    def learned(cls, codes: Codes, offsets: Places, size: int, most: int, least: int) -> Phrases:
        """Join what stands side by side most often, in sequences that are no secret."""
        return cls(size, learn_pairs(codes, offsets, size, most, least))

    @property
    def states(self) -> int:
        """How many codes there are: symbols, the end, and phrases."""
        return self.end + 1 + len(self.pairs)

    @cached_property
    def texts(self) -> PhraseTexts:
        """The symbols of every code, and whether it includes the end."""
        texts: list[tuple[int, ...]] = [*((code,) for code in range(self.end)), ()]
        closes = [False] * self.end + [True]
        for first, second in self.pairs.tolist():
            texts.append(texts[first] + texts[second])
            closes.append(closes[second])
        joined = np.array([code for text in texts for code in text], dtype=np.int32)
        bounds = np.concatenate([[0], np.cumsum([len(text) for text in texts])]).astype(np.int64)
        return PhraseTexts(joined, bounds, np.array(closes))

    @cached_property
    def ranks(self) -> Codes:
        """The number of each pair, by its two codes; -1 for none."""
        ranks = np.full((self.states, self.states), -1, dtype=np.int32)
        ranks[self.pairs[:, 0], self.pairs[:, 1]] = np.arange(len(self.pairs))
        return ranks

    @cached_property
    def may_follow(self) -> npt.NDArray[np.bool_]:
        """Which code may follow which: not what would have been joined, and nothing follows the end."""
        may = np.asarray(self.ranks < 0)
        may[self.texts.closes] = False
        may[self.end] = True
        return may

    def read(self, codes: Codes, offsets: Places) -> tuple[Codes, Places]:
        """Read each sequence as phrases, the last of which includes its end."""
        return join_pairs(codes, offsets, self.ranks, self.end)

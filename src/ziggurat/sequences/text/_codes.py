"""Headlines as numbers: words, tags and topics by their codes, and the trigrams that a network learns from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.cards import Shown
from ziggurat.errors import DataError, ParameterError
from ziggurat.sequences.text._tags import PENN_TAGS
from ziggurat.sequences.text._titles import split_words

Codes = npt.NDArray[np.int32]

UNKNOWN = 0
"""The code of a word that is not in the list; it is read as nothing, and never written."""

_TAG_CODES = {tag: code for code, tag in enumerate(PENN_TAGS)}


@dataclass(frozen=True)
class WordList(Shown):
    """The words that a writer knows, with codes 1, 2, ...; any other word has the code 0."""

    words: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", tuple(self.words))
        if not self.words or len(set(self.words)) != len(self.words):
            raise ParameterError("A word list holds different words, at least one.")
        if not all(isinstance(word, str) and word and not set(word) & set(" \t\n") for word in self.words):
            raise ParameterError("The words of a word list are texts without blanks.")

    @classmethod
    def of(cls, headlines: Iterable[str]) -> WordList:
        """Every word of some headlines, the most frequent first.

        Which words occur is a fact about the headlines: a list that is made of private ones promises nothing.
        """
        counted = Counter(word for headline in headlines for word in headline.split())
        return cls(tuple(sorted(counted, key=lambda word: (-counted[word], word))))

    @cached_property
    def codes(self) -> dict[str, int]:
        """The code of every word."""
        return {word: code for code, word in enumerate(self.words, 1)}

    def code(self, words: Iterable[str]) -> list[int]:
        """The codes of words."""
        return [self.codes.get(word, UNKNOWN) for word in words]

    def __len__(self) -> int:
        return len(self.words)


@dataclass(frozen=True, eq=False)
class TrigramWindows:
    """Four words in a row: the first three go in, the last three shall come out, with their tags and a topic.

    `rows` says which headline each window is of.
    """

    words: Codes
    tags: Codes
    topics: Codes
    rows: Codes

    def __len__(self) -> int:
        return len(self.words)


@dataclass(frozen=True, eq=False)
class CodedHeadlines:
    """Headlines one after the other: the codes of their words and tags, where each begins, and their topics."""

    words: Codes
    tags: Codes
    offsets: npt.NDArray[np.int64]
    topics: Codes

    @classmethod
    def of(
        cls,
        headlines: Sequence[str],
        topics: Sequence[int],
        tags: Sequence[Sequence[str]] | None,
        known: WordList,
    ) -> CodedHeadlines:
        """Code headlines; without tags all words have the tag of code 0, which only some networks look at."""
        split = [split_words(headline) for headline in headlines]
        if len(topics) != len(split) or (tags is not None and list(map(len, tags)) != list(map(len, split))):
            raise DataError("Give a topic for every headline, and a tag for every word if tags are given.")
        words = np.array([code for each in split for code in known.code(each)], np.int32)
        coded = np.zeros_like(words) if tags is None else np.array([_tag_code(tag) for each in tags for tag in each])
        offsets = np.cumsum([0, *map(len, split)])
        return cls(words, coded.astype(np.int32), offsets.astype(np.int64), np.asarray(topics, np.int32))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """How many words each headline has."""
        return np.diff(self.offsets)

    def take(self, rows: npt.NDArray[Any]) -> CodedHeadlines:
        """Some of the headlines."""
        lengths = self.lengths[rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        places = np.repeat(self.offsets[:-1][rows] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return CodedHeadlines(self.words[places], self.tags[places], offsets, self.topics[rows])

    def windows(self) -> TrigramWindows:
        """Every four words in a row."""
        counts = self.lengths - 3
        rows = np.repeat(np.arange(len(self)), counts)
        first = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + self.offsets[:-1][rows]
        places = first[:, None] + np.arange(4)
        return TrigramWindows(self.words[places], self.tags[places], self.topics[rows], rows.astype(np.int32))

    def padded(self, longest: int) -> tuple[Codes, Codes]:
        """Words and tags as tables of `longest` columns, filled up with -1; of longer headlines the beginning."""
        words = np.full((len(self), longest), -1, np.int32)
        tags = words.copy()
        kept = np.minimum(self.lengths, longest)
        rows = np.repeat(np.arange(len(self)), kept)
        columns = np.arange(kept.sum()) - np.repeat(np.cumsum(kept) - kept, kept)
        places = self.offsets[:-1][rows] + columns
        words[rows, columns], tags[rows, columns] = self.words[places], self.tags[places]
        return words, tags


def _tag_code(tag: str) -> int:
    try:
        return _TAG_CODES[tag]
    except KeyError:
        raise DataError(f"Tags of words must be among these of the Penn Treebank: {', '.join(PENN_TAGS)}.") from None

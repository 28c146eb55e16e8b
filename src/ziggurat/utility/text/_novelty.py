"""How many patterns of existing headlines a new one is made of.

The novelty of a generated headline is printed as "the number of unique longest common sentences" of it "and each of the
headlines in the dataset", each "a pattern that the model has learned". A common sentence is read here as a run of words
without gaps: the text's own examples of patterns are ("justin bieber apologizes for racist joke", "in new york city to
take on"), and with gaps the numbers would be far from the 21 to 27 that are printed: real headlines of 13 words have 64
with gaps and 19 without, against 20,000 others. Of runs equally long the first in the generated headline counts; a
headline without a common word gives none.

It grows with the number of words and with the dataset, so that neither another length nor another dataset compares.
Divided by the mean of real headlines that were held out, cut to as many words, it does: 1 is as novel as a real one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ziggurat.errors import ParameterError
from ziggurat.utility.text._runs_kernels import mark_longest_runs

FEWEST = 30
"""With fewer held-out headlines of a length there is no mean to compare with."""


class HeadlineIndex:
    """Headlines as codes of words, to look for runs that others have in common with them.

    Parameters
    ----------
    headlines
        Those that a model learned from, or any others.
    """

    def __init__(self, headlines: Sequence[str]) -> None:
        if not len(headlines):
            raise ParameterError("There are no headlines to look in; give at least one.")
        known: defaultdict[str, int] = defaultdict(lambda: len(known))
        coded = [[known[word] for word in headline.split()] for headline in headlines]
        self._known = dict(known)
        self._codes = np.array([code for each in coded for code in each], dtype=np.int64)
        self._offsets = np.cumsum([0, *map(len, coded)], dtype=np.int64)

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def novelties(self, headlines: Sequence[str]) -> npt.NDArray[np.int64]:
        """Return the novelty of each headline, as printed: how many different longest runs it has in common."""
        return np.array([len(self._find_runs(each)[0]) for each in headlines], dtype=np.int64)

    def longest_runs(self, headlines: Sequence[str]) -> npt.NDArray[np.int64]:
        """Return for each headline how many words in a row it has in common with one of these at most."""
        return np.array([self._find_runs(each)[1] for each in headlines], dtype=np.int64)

    def compare(self, headlines: Sequence[str], held_out: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return the novelty of each headline as a share of the mean of held-out ones cut to as many words.

        NaN where fewer than 30 held-out headlines have as many words.
        """
        sizes = [len(each.split()) for each in headlines]
        usual = {size: self._usual(size, held_out) for size in set(sizes)}
        return self.novelties(headlines) / np.array([usual[size] for size in sizes], dtype=np.float64)

    def _usual(self, size: int, held_out: Sequence[str]) -> float:
        words = (each.split() for each in held_out)
        cut = [" ".join(each[:size]) for each in words if len(each) >= size]
        return float(self.novelties(cut).mean()) if len(cut) >= FEWEST and size else float("nan")

    def _find_runs(self, headline: str) -> tuple[set[tuple[str, ...]], int]:
        words = headline.split()
        asked = np.array([self._known.get(word, -1) for word in words], dtype=np.int64)
        held = np.zeros(len(self._known) + 1, dtype=np.bool_)
        held[asked[asked >= 0]] = True
        marks = np.zeros((len(words) + 1, len(words) + 1), dtype=np.bool_)
        room = np.zeros(len(words) + 1, dtype=np.int64)
        longest = mark_longest_runs(asked, held, self._codes, self._offsets, marks, room)
        found = {tuple(words[start : start + size]) for start, size in np.argwhere(marks).tolist()}
        return found, int(longest)


def novelty(headline: str, dataset: Sequence[str] | HeadlineIndex) -> int:
    """Return how many different longest common runs of words a headline has with the headlines of a dataset.

    Parameters
    ----------
    headline
        A generated headline.
    dataset
        The headlines that the model learned from; for many headlines a `HeadlineIndex` of them, which is made once and
        also gives a novelty that can be compared across lengths (`compare`).

    Examples
    --------
    >>> novelty("study says coffee is good", ["a study says so", "coffee is bad", "tea is good", "is it so"])
    4
    """
    index = dataset if isinstance(dataset, HeadlineIndex) else HeadlineIndex(dataset)
    return int(index.novelties([headline])[0])

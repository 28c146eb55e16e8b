"""BLEU against thousands of references, equal to sacrebleu's: what references have in common with it is merged once.

The clipped precision of a headline depends on its references by the largest count of each n-gram in any of them alone,
and the brevity penalty by their lengths alone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import pyarrow as pa

from ziggurat.errors import MissingExtraError, ParameterError
from ziggurat.findings import Finding
from ziggurat.randomness import choose_source

_ORDERS = 4
_SMOOTHING = "exp"

Gram = tuple[str, ...]


@dataclass(frozen=True)
class BleuScores(Finding):
    """BLEU of headlines, and against how many references: the more there are, the higher it is.

    Attributes
    ----------
    references
        How many references there are for each headline; the smallest number, where headlines have different ones.
    scores
        One for each headline, 0 to 1.
    """

    references: int
    scores: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean of the scores."""
        return fmean(self.scores)

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        return (
            f"The mean BLEU of {len(self.scores):,} headlines is {self.mean:.3f} against {self.references:,} "
            "references (exponential smoothing, effective order, words as they are); it rises with their number."
        )

    @property
    def table(self) -> pa.Table:
        """The score of each headline."""
        return pa.table({"BLEU": list(self.scores), "references": [self.references] * len(self.scores)})


class ReferenceBleu:
    """BLEU against the same references again and again.

    The score is that of sacrebleu's `sentence_bleu(headline, references, smooth_method="exp", tokenize="none",
    use_effective_order=True)`, divided by 100: words are what blanks separate, n-grams have up to four words, and an
    order that a short headline has no n-gram of is left out.

    Parameters
    ----------
    references
        Headlines to compare with, such as all of a topic.
    most
        At most how many of them count, drawn at random: the score rises with their number, so that models and datasets
        of different sizes are compared with as many.
    random_state
        A seed for this draw; by default it is drawn anew.

    Attributes
    ----------
    count
        How many references there are.
    """

    def __init__(self, references: Sequence[str], *, most: int | None = None, random_state: int | None = None) -> None:
        try:
            from sacrebleu.metrics.bleu import BLEU
        except ImportError:
            raise MissingExtraError("BLEU needs sacrebleu; add it with: pip install 'ziggurat[text]'.") from None

        self._compute = BLEU.compute_bleu
        held = _choose(references, most, random_state)
        self.count = len(held)
        self._most: dict[Gram, int] = {}
        lengths = set()
        for words in map(str.split, held):
            lengths.add(len(words))
            for gram, times in _count_grams(words).items():
                if times > self._most.get(gram, 0):
                    self._most[gram] = times
        self._lengths = sorted(lengths)

    def score(self, headline: str) -> float:
        """Return the BLEU of one headline, 0 to 1."""
        words = headline.split()
        right, total = [0] * _ORDERS, [max(0, len(words) - order) for order in range(_ORDERS)]
        for gram, times in _count_grams(words).items():
            right[len(gram) - 1] += min(times, self._most.get(gram, 0))
        closest = self._closest_length(len(words))
        found = self._compute(right, total, len(words), closest, smooth_method=_SMOOTHING, effective_order=True)
        return float(found.score) / 100

    def scores(self, headlines: Sequence[str]) -> BleuScores:
        """Return the BLEU of each headline, with the number of references."""
        return BleuScores(self.count, tuple(map(self.score, headlines)))

    def _closest_length(self, size: int) -> int:
        """The length of a reference that is closest; the shorter of two."""
        place = bisect_left(self._lengths, size)
        return min(self._lengths[max(0, place - 1) : place + 1], key=lambda each: (abs(each - size), each))


def _count_grams(words: Sequence[str]) -> dict[Gram, int]:
    found: dict[Gram, int] = {}
    for size in range(1, _ORDERS + 1):
        # Words zipped with those after them: three times as quick as slices.
        for gram in zip(*(words[start:] for start in range(size)), strict=False):
            found[gram] = found.get(gram, 0) + 1
    return found


def _choose(references: Sequence[str], most: int | None, random_state: int | None) -> list[str]:
    if not len(references) or (most is not None and most < 1):
        raise ParameterError("BLEU needs at least one reference.")
    if most is None or most >= len(references):
        return list(references)
    draw = choose_source(random_state).simulation()
    return [references[place] for place in draw.choice(len(references), most, replace=False)]

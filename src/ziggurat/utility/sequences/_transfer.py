"""Train on synthetic sequences, test on real ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ziggurat.errors import ParameterError
from ziggurat.findings import Finding, Share
from ziggurat.sequences import Sequences, Token
from ziggurat.threads import one_thread
from ziggurat.utility.sequences._distances import require_alike
from ziggurat.wording import count_noun

_STEPS = 300
_LOOSENESS = 10  # of the penalty: scikit-learn's C


@dataclass(frozen=True)
class SequenceTransfer(Finding):
    """How well a classifier that learned from synthetic sequences tells the classes of real ones.

    Attributes
    ----------
    learned
        From how many sequences it learned.
    every
        Of all real sequences, those whose class it tells.
    unseen
        Of those that do not occur among the known ones; None if these were not given. Many logs are equal, so that a
        model which copies frequent sequences does well on all.
    baseline
        The share of the most common class among the real sequences.
    """

    learned: int
    every: Share
    unseen: Share | None
    baseline: float

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        text = (
            f"A classifier that learned from {count_noun(self.learned, 'synthetic sequence')} tells the class of "
            f"{self.every} of {self.every.trials:,} real ones; the most common class alone gives {self.baseline:.1%}"
        )
        if self.unseen is not None:
            text += f". Of the {self.unseen.trials:,} that do not occur in what was learned from it tells {self.unseen}"
        return f"{text}."

    @property
    def table(self) -> pa.Table:
        """The accuracy on all, and on those that were not known."""
        rows = {"all": self.every} | ({} if self.unseen is None else {"not known": self.unseen})
        ends = {end: [getattr(each, end) for each in rows.values()] for end in ("rate", "low", "high", "trials")}
        return pa.table({"tested on": list(rows), **ends})


@one_thread()
def train_on_synthetic(synthetic: Sequences, test: Sequences, known: Sequences | None = None) -> SequenceTransfer:
    """Learn classes from synthetic sequences by a logistic regression on 1- and 2-grams, and test it on real ones.

    Counts of n-grams are divided by their largest; the penalty is loose (C = 10). Where all synthetic sequences are of
    one class, that is the answer to everything.

    Parameters
    ----------
    synthetic, test
        Of the same tokens and classes.
    known
        The sequences that the synthetic ones were made from: those of `test` that do not occur among them are
        reported apart.
    """
    for each in (test, *(() if known is None else (known,))):
        require_alike(synthetic, each)
    if synthetic.labels is None or test.labels is None or not len(synthetic) or not len(test):
        raise ParameterError("A classifier needs sequences with classes, at least one to learn from and one to test.")
    right = _predict(list(synthetic), synthetic.labels, list(test)) == test.labels
    return SequenceTransfer(
        learned=len(synthetic),
        every=_share(right),
        unseen=None if known is None else _share(right[_find_new(test, known)]),
        baseline=float(np.bincount(test.labels).max() / len(test)),
    )


def _predict(learned: Sequence[Any], labels: npt.NDArray[np.int32], asked: Sequence[Any]) -> npt.NDArray[np.int32]:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MaxAbsScaler

    if len(np.unique(labels)) == 1:
        return np.full(len(asked), labels[0])
    regression = LogisticRegression(C=_LOOSENESS, max_iter=_STEPS)
    model = make_pipeline(CountVectorizer(analyzer=_list_grams), MaxAbsScaler(), regression)
    return np.asarray(model.fit(learned, labels).predict(asked), dtype=np.int32)


def _list_grams(sequence: tuple[Token, ...]) -> list[str]:
    """Symbols, and pairs of neighbours with a blank between them."""
    symbols = list(map(str, sequence))
    return [*symbols, *(f"{one} {other}" for one, other in pairwise(symbols))]


def _find_new(test: Sequences, known: Sequences) -> npt.NDArray[np.bool_]:
    held = set(known.to_characters())
    return np.array([each not in held for each in test.to_characters()], dtype=np.bool_)


def _share(right: npt.NDArray[np.bool_]) -> Share:
    return Share(int(right.sum()), right.size)

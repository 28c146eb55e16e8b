"""Which topic a headline is about, by naive Bayes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.errors import ParameterError
from ziggurat.findings import Share
from ziggurat.randomness import choose_source

SMOOTHINGS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""How much is added to each count of a word; the best on the validation part is kept."""

_VALIDATED = 0.2
_WORD = r"\S+"


class TopicJudge:
    """A judge of topics: multinomial naive Bayes with Laplace smoothing on words and pairs of neighbouring words.

    A fifth of the headlines is held out: the smoothing is tuned on it, and the accuracy there is reported. News comes
    in near copies, which stand on both sides; on other news the judge is worse.

    Parameters
    ----------
    random_state
        A seed for the split; by default it is drawn anew.

    Attributes
    ----------
    smoothing_
        What is added to each count.
    accuracy_
        Of the headlines that were held out, those whose topic is told.
    topics_
        The topics, in alphabetical order.
    """

    def __init__(self, random_state: int | None = None) -> None:
        self.random_state = random_state

    def fit(self, headlines: Sequence[str], topics: Sequence[str]) -> TopicJudge:
        """Learn topics from headlines, and tune and validate on a fifth of them."""
        if len(headlines) != len(topics) or len(headlines) < 10 or len(set(topics)) < 2:
            raise ParameterError("A judge of topics learns from at least ten headlines of two topics or more.")
        draw = choose_source(self.random_state).simulation()
        order, size = draw.permutation(len(headlines)), round(_VALIDATED * len(headlines))
        held, kept = order[:size].tolist(), order[size:].tolist()
        self._words = _make_counter().fit([headlines[place] for place in kept])
        counts = [self._words.transform([headlines[place] for place in part]) for part in (kept, held)]
        labels = [np.array([topics[place] for place in part], dtype=object) for part in (kept, held)]
        tried = [_learn(counts[0], labels[0], each) for each in SMOOTHINGS]
        hits = [int((model.predict(counts[1]) == labels[1]).sum()) for model in tried]
        best = int(np.argmax(hits))
        self.smoothing_, self.accuracy_, self._model = SMOOTHINGS[best], Share(hits[best], size), tried[best]
        self.topics_ = tuple(map(str, self._model.classes_.tolist()))
        return self

    def predict(self, headlines: Sequence[str]) -> list[str]:
        """Say the topic of each headline."""
        return self._model.predict(self._words.transform(headlines)).tolist() if len(headlines) else []

    def coherence(self, headlines: Sequence[str], topics: Sequence[str]) -> Share:
        """Return the headlines that are about the topic they were written for, as far as the judge tells."""
        if len(headlines) != len(topics):
            raise ParameterError("Give one topic for each headline.")
        pairs = zip(self.predict(headlines), topics, strict=True)
        return Share(sum(told == topic for told, topic in pairs), len(headlines))


def _make_counter() -> Any:
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer(ngram_range=(1, 2), token_pattern=_WORD, lowercase=False)


def _learn(counts: Any, topics: npt.NDArray[Any], smoothing: float) -> Any:
    from sklearn.naive_bayes import MultinomialNB

    return MultinomialNB(alpha=smoothing).fit(counts, topics)

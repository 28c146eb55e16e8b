"""All that table B.1 says of a model that writes headlines, at once."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa

from ziggurat.errors import ParameterError
from ziggurat.findings import Finding, Share
from ziggurat.utility.text._bleu import BleuScores, ReferenceBleu
from ziggurat.utility.text._copied import CopiedRuns, longest_copied_run
from ziggurat.utility.text._grammar import CheckedGrammar, GrammarGap, GrammarScale
from ziggurat.utility.text._novelty import HeadlineIndex
from ziggurat.utility.text._repetitions import count_repetitions
from ziggurat.utility.text._topics import TopicJudge

_ALIKE = 100  # real headlines of about as many words, for a scale of grammar


@dataclass(frozen=True)
class JudgedHeadlines(Finding):
    """What the headlines that a model wrote are like: the rows of table B.1, and what makes them comparable.

    Attributes
    ----------
    model, headlines
        What the model is called, and how many headlines it wrote.
    perplexity
        As it was handed in; None if it was not.
    coherence
        Those that are about the topic they were written for, as far as naive Bayes tells; None without topics.
    judge
        The share of held-out headlines of which it tells the topic.
    bleu
        Against all headlines of the topic, or all at all; with their number.
    novelties, relative_novelty
        For each headline as printed; and the mean of what it is beside held-out headlines of as many words (1 is as
        novel as a real one), NaN without them.
    grammar
        Beside real and shuffled headlines of about as many words, where there are a hundred such.
    repetitions
        How many runs of three or more words are repeated within a headline, by their number of words.
    copied
        The longest runs from headlines learned from and held out; None without the latter.
    """

    model: str
    headlines: int
    perplexity: float | None
    coherence: Share | None
    judge: Share | None
    bleu: BleuScores
    novelties: tuple[int, ...]
    relative_novelty: float
    grammar: GrammarGap
    repetitions: dict[int, int]
    copied: CopiedRuns | None

    @property
    def novelty(self) -> float:
        """The mean novelty, as printed."""
        return float(np.mean(self.novelties))

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        parts = [] if self.perplexity is None else [f"a perplexity of {self.perplexity:.1f}"]
        if self.coherence is not None and self.judge is not None:
            parts.append(f"{self.coherence} on their topic (the judge tells {self.judge.rate:.1%} of real ones)")
        parts.append(f"a BLEU of {self.bleu.mean:.3f} against {self.bleu.references:,} references")
        parts.append(f"a novelty of {self.novelty:.1f}")
        parts += [f"{each.generated} without a fault by {each.checker}" for each in self.grammar.checked]
        parts.append(f"{sum(self.repetitions.values()):,} repetitions")
        return f"{self.headlines:,} headlines by {self.model}: {', '.join(parts)}."

    @property
    def table(self) -> pa.Table:
        """The rows of table B.1, with what each is to be compared with."""
        rows: list[tuple[str, float | None, str]] = [("perplexity", self.perplexity, "handed in")]
        if self.coherence is not None and self.judge is not None:
            rows.append(("topical coherence, %", 100 * self.coherence.rate, f"of real ones {self.judge.rate:.1%}"))
        rows.append(("BLEU", self.bleu.mean, f"{self.bleu.references:,} references"))
        rows.append(("novelty", self.novelty, f"{self.relative_novelty:.3g} of a real headline's of as many words"))
        rows += [
            (f"no fault by {each.checker}, %", 100 * each.generated.rate, _between(each))
            for each in self.grammar.checked
        ]
        rows.append(("n-gram repetitions", float(sum(self.repetitions.values())), _list_sizes(self.repetitions)))
        if self.copied is not None:
            ours, theirs = np.mean(self.copied.training), np.mean(self.copied.control)
            rows.append(("longest copied run, words", float(ours), f"{theirs:.2f} from as many held out"))
        names, values, beside = zip(*rows, strict=True)
        return pa.table({"metric": names, "value": pa.array(values, pa.float64()), "beside": beside})

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as values that JSON can hold."""
        return {**super().to_dict(), "novelty": self.novelty}


class HeadlineJudge:
    """Judges models that write headlines, all by the same references, topics and real headlines.

    Parameters
    ----------
    dataset, topics
        The headlines that the models learned from, and the topic of each.
    held_out
        Headlines of the same kind that no model learned from. Without them novelty is not compared across lengths, and
        copied runs are not looked for.
    references
        At most how many references BLEU takes of each topic; by default all.
    random_state
        A seed for all draws; by default they are drawn anew.
    """

    def __init__(
        self,
        dataset: Sequence[str],
        topics: Sequence[str],
        *,
        held_out: Sequence[str] = (),
        references: int | None = None,
        random_state: int | None = None,
    ) -> None:
        if len(dataset) != len(topics):
            raise ParameterError("Give one topic for each headline.")
        self._dataset, self._held_out, self._seed = list(dataset), list(held_out), random_state
        self._index = HeadlineIndex(dataset)
        self._topics = TopicJudge(random_state).fit(dataset, topics)
        of_topic = {
            topic: [each for each, own in zip(dataset, topics, strict=True) if own == topic] for topic in set(topics)
        }
        options: dict[str, Any] = {"most": references, "random_state": random_state}
        self._bleu = {topic: ReferenceBleu(each, **options) for topic, each in of_topic.items()}
        self._bleu_of_all = ReferenceBleu(dataset, **options)
        self._scales: dict[int, GrammarScale] = {}

    def judge(
        self,
        generated: Sequence[str],
        topics: Sequence[str] | None = None,
        *,
        model: str = "the model",
        perplexity: float | None = None,
    ) -> JudgedHeadlines:
        """Judge the headlines of one model.

        Parameters
        ----------
        generated, topics
            What it wrote, and the topic of each; a model that takes no topic is not judged by it, and its BLEU is taken
            against all headlines.
        model, perplexity
            What it is called, and the perplexity that it has on held-out headlines.
        """
        if not len(generated) or (topics is not None and len(topics) != len(generated)):
            raise ParameterError("Give at least one headline, and one topic for each.")
        coherence = None if topics is None else self._topics.coherence(generated, topics)
        beside = self._index.compare(generated, self._held_out)
        found = [count_repetitions(each) for each in generated]
        repeated = sum((Counter(each) for each in found), Counter[int]())
        return JudgedHeadlines(
            model=model,
            headlines=len(generated),
            perplexity=perplexity,
            coherence=coherence,
            judge=None if topics is None else self._topics.accuracy_,
            bleu=self._score(generated, topics),
            novelties=tuple(self._index.novelties(generated).tolist()),
            relative_novelty=float(np.nanmean(beside)) if np.isfinite(beside).any() else math.nan,
            grammar=self._find_scale(generated).place(generated),
            repetitions=dict(sorted(repeated.items())),
            copied=self._find_copied(generated),
        )

    def _score(self, generated: Sequence[str], topics: Sequence[str] | None) -> BleuScores:
        if topics is None:
            return self._bleu_of_all.scores(generated)
        unknown = set(topics) - set(self._bleu)
        if unknown:
            raise ParameterError("A headline is about a topic that the dataset has none of.")
        scores = tuple(self._bleu[topic].score(each) for each, topic in zip(generated, topics, strict=True))
        return BleuScores(min(self._bleu[topic].count for topic in set(topics)), scores)

    def _find_scale(self, generated: Sequence[str]) -> GrammarScale:
        """The grammar of real headlines of about as many words, if there are some: longer ones parse more rarely."""
        size = round(median(len(each.split()) for each in generated))
        if size not in self._scales:
            real = self._held_out or self._dataset
            near = [each for each in real if abs(len(each.split()) - size) <= 1]
            self._scales[size] = GrammarScale(near if len(near) >= _ALIKE else real, random_state=self._seed)
        return self._scales[size]

    def _find_copied(self, generated: Sequence[str]) -> CopiedRuns | None:
        if not self._held_out:
            return None
        return longest_copied_run(generated, self._dataset, self._held_out, random_state=self._seed)


def judge_headlines(
    generated: Sequence[str],
    topics: Sequence[str] | None,
    dataset: Sequence[str],
    dataset_topics: Sequence[str],
    *,
    model: str = "the model",
    perplexity: float | None = None,
    held_out: Sequence[str] = (),
    references: int | None = None,
    random_state: int | None = None,
) -> JudgedHeadlines:
    """Judge the headlines of one model by all the metrics of table B.1; for several models make one `HeadlineJudge`.

    Parameters
    ----------
    generated, topics, model, perplexity
        As for `HeadlineJudge.judge`.
    dataset, dataset_topics, held_out, references, random_state
        As for `HeadlineJudge`.
    """
    judge = HeadlineJudge(dataset, dataset_topics, held_out=held_out, references=references, random_state=random_state)
    return judge.judge(generated, topics, model=model, perplexity=perplexity)


def _between(each: CheckedGrammar) -> str:
    return f"real {each.real.rate:.1%}, shuffled {each.shuffled.rate:.1%}"


def _list_sizes(repetitions: dict[int, int]) -> str:
    return ", ".join(f"{times} of {size} words" for size, times in repetitions.items()) or "none"

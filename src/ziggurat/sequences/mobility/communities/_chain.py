"""One chain of Gibbs sampling: its topics, its priors, how well it does, and what it has found on average."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from ziggurat.archives import Array
from ziggurat.sequences.mobility.communities._bags import Bags, Codes, Reals, Weights
from ziggurat.sequences.mobility.communities._folding import complete
from ziggurat.sequences.mobility.communities._gibbs import TopicPriors, count_topics, sample_topics
from ziggurat.sequences.mobility.communities._learning_priors import learn_even, learn_uneven

LearnedPrior = float | Literal["learned"]
"""A prior: a number, or to be learned as one number for all."""
PeoplePrior = float | Literal["learned", "uneven"]
"""The prior of people: a number, or to be learned as one number for all communities or as a number for each."""

_FIRST_GUESS = 0.1


class ChosenPriors(NamedTuple):
    """The priors that were asked for."""

    people: PeoplePrior
    first: LearnedPrior
    second: LearnedPrior

    def start(self, communities: int) -> TopicPriors:
        """The numbers to begin with."""
        people, first, second = (_FIRST_GUESS if isinstance(each, str) else float(each) for each in self)
        return TopicPriors(np.full(communities, people), first, second)


class FoundTopics(NamedTuple):
    """What a chain has found: the chances of each place (row) and hour in every community, and the priors."""

    first: Reals
    second: Reals
    priors: TopicPriors


class CommunityChain:
    """A chain of topics, one for every visit.

    Parameters
    ----------
    bags
        The visits.
    topics
        The topics to begin with.
    chosen
        The priors.
    communities
        How many topics there are.
    state
        The state of its randomness: one word of 64 bits.
    """

    def __init__(self, bags: Bags, topics: Codes, chosen: ChosenPriors, communities: int, state: Array) -> None:
        self.bags, self.chosen, self.communities = bags, chosen, communities
        self.topics = np.ascontiguousarray(topics, dtype=np.int32)
        self.state = np.array(state, dtype=np.uint64)
        self.priors = chosen.start(communities)
        self.counts = count_topics(bags, self.topics, communities)
        self.sums = [np.zeros(each.shape) for each in self.counts[:2]]
        self.averaged = 0
        self.likelihoods: list[float] = []
        self.completions: list[float] = []

    def sample(self, sweeps: int) -> None:
        """Draw every topic anew, so many times."""
        sample_topics(self.bags, self.topics, self.counts, self.priors, self.state, sweeps)

    def average(self, sweeps: int) -> None:
        """Draw on, and remember the counts after every sweep."""
        for _ in range(sweeps):
            self.sample(1)
            for total, each in zip(self.sums, self.counts[:2], strict=True):
                total += each
        self.averaged += sweeps

    def learn_priors(self) -> None:
        """Learn what is to be learned of the priors."""
        people, first, second = self.priors
        if isinstance(self.chosen.people, str):
            mine = self.count_by_person()
            even = np.full_like(people, learn_even(people[0], mine, mine.sum(axis=1), self.communities))
            people = learn_uneven(people, mine) if self.chosen.people == "uneven" else even
        if isinstance(self.chosen.first, str):
            first = self._learn_prior(first, self.counts.first)
        if isinstance(self.chosen.second, str) and len(self.bags.second):
            second = self._learn_prior(second, self.counts.second)
        self.priors = TopicPriors(people, first, second)

    def _learn_prior(self, prior: float, counts: Weights) -> float:
        return learn_even(prior, counts.astype(np.int64), self.counts.totals.astype(np.int64), len(counts))

    def count_by_person(self) -> npt.NDArray[np.int64]:
        """How many visits of each topic every person has."""
        places = self.bags.people_of_visits * self.communities + self.topics
        counted = np.bincount(places, minlength=self.bags.people * self.communities)
        return counted.reshape(self.bags.people, self.communities)

    def judge(self, held: Bags) -> None:
        """Note how likely all of this is, and how well people who were held out are completed."""
        self.likelihoods.append(self.log_likelihood() / max(len(self.topics), 1))
        if held.people:
            found = self.find()
            self.completions.append(complete(held, found.first, found.second, found.priors.people))

    def log_likelihood(self) -> float:
        """The logarithm of the chance of all visits and topics, given the priors; places, hours, shares summed out."""
        mine, (people, first, second) = self.count_by_person(), self.priors
        told = _log_chance(self.counts.first[:, : self.communities].T, np.full(self.bags.sizes[0], first))
        if len(self.bags.second):
            told += _log_chance(self.counts.second[:, : self.communities].T, np.full(self.bags.sizes[1], second))
        return told + _log_chance(mine, people)

    def find(self) -> FoundTopics:
        """The communities by equation 5.2: of the averaged counts, or of those of now if none were averaged."""
        times = max(self.averaged, 1)
        counts = self.sums if self.averaged else self.counts[:2]
        first, second = (each[:, : self.communities].astype(np.float64) / times for each in counts)
        first, second = first + self.priors.first, second + self.priors.second
        return FoundTopics(first / first.sum(axis=0), second / second.sum(axis=0), self.priors)

    def is_still(self, tolerance: float | None, patience: int) -> bool:
        """Whether the last judgements are no better than those before, by more than `tolerance` per visit."""
        curve = self.completions or self.likelihoods
        if tolerance is None or len(curve) <= patience:
            return False
        return max(curve[-patience:]) < max(curve[:-patience]) + tolerance

    def to_arrays(self) -> dict[str, Array]:
        """All that it needs to go on."""
        curves = np.array([self.likelihoods, self.completions or [np.nan] * len(self.likelihoods)])
        people, first, second = self.priors
        return {
            "topics": self.topics,
            "state": self.state,
            "priors": np.concatenate([people, [first, second]]),
            "curves": curves,
        }

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Go on from what `to_arrays` gave."""
        self.topics = np.ascontiguousarray(arrays["topics"], dtype=np.int32)
        self.state, priors = arrays["state"].astype(np.uint64), arrays["priors"]
        self.priors = TopicPriors(priors[:-2], float(priors[-2]), float(priors[-1]))
        self.counts = count_topics(self.bags, self.topics, self.communities)
        self.likelihoods = arrays["curves"][0].tolist()
        self.completions = [each for each in arrays["curves"][1].tolist() if not np.isnan(each)]


def _log_chance(counts: Array, prior: Reals) -> float:
    """Of each row of counts, drawn one after the other from shares that follow a Dirichlet distribution."""
    rows, columns = np.nonzero(counts)
    seen = gammaln(counts[rows, columns] + prior[columns]) - gammaln(prior[columns])
    whole = gammaln(prior.sum()) - gammaln(counts.sum(axis=1, dtype=np.float64) + prior.sum())
    return float(seen.sum() + whole.sum())

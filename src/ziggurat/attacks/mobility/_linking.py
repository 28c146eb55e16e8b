"""Linking two traces of the same people: whose is it, judged by the places alone.

Naini, Unnikrishnan, Thiran, Vetterli (2016), "Where you are is who you are: user identification by matching
statistics", IEEE TIFS 11(2): the histogram of a person's places in one period finds the same person in another.

Chance. Were the second trace dealt out to its owners at random, w or more of m guesses among n candidates would be
right with probability at most C(m, w) (n - w)! / n!, the mean number of w guesses that are all right, since a deal
makes w different guesses right with probability (n - w)! / n! and w guesses that are not different never.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ziggurat.attacks.mobility._resolution import Codes, Resolution
from ziggurat.errors import ParameterError
from ziggurat.findings import Finding, Share
from ziggurat.sequences.mobility import Trajectories

By = Literal["cosine", "likelihood"]

_BACKGROUND = 0.1  # how often a visit is taken to be like anybody's rather than like the person's others
_CELLS = 1 << 22


@dataclass(frozen=True)
class LinkedTraces(Finding):
    """How often the trace that fits best is the same person's.

    Attributes
    ----------
    resolution, by
        How finely places and times are told, and how traces are compared.
    first
        The people of the known trace whose own other trace fits better than every other one; a tie is no link.
    ten
        Those whose own is among the best ten.
    median
        The median rank of the person's own.
    candidates
        How many traces there are to choose from: one guess in so many is right by chance.
    chance
        How likely so many right links are by chance alone: at most.
    """

    resolution: Resolution
    by: By
    first: Share
    ten: Share
    median: float
    candidates: int
    chance: float

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        return (
            f"{self.first} of {self.first.trials:,} people are linked with their own other trace by their places "
            f"({self.resolution}; {self.by}), {self.ten.rate:.1%} are among the best ten of {self.candidates:,}, where "
            f"guessing links {1 / self.candidates:.2%}."
        )

    @property
    def table(self) -> pa.Table:
        """The shares with their intervals, beside guessing."""
        ends = {end: [getattr(share, end) for share in (self.first, self.ten)] for end in ("rate", "low", "high")}
        guessed = [min(1.0, rank / self.candidates) for rank in (1, 10)]
        return pa.table({"own trace": ["fits best", "is among the best ten"], **ends, "by guessing": guessed})


def cut_in_time(trajectories: Trajectories, minute: int | None = None) -> tuple[Trajectories, Trajectories]:
    """Cut every person's visits into those before a minute and those from it on.

    Parameters
    ----------
    trajectories
        The file, with times and owners.
    minute
        When to cut; by default the median of all visits.
    """
    if trajectories.minutes is None or trajectories.owners is None:
        raise ParameterError("Only trajectories with times and owners can be cut into two traces of the same people.")
    people = trajectories.by_owner()
    times = np.asarray(people.minutes)
    early = times < (float(np.median(times)) if minute is None else minute)
    return _part(people, early), _part(people, ~early)


def link_traces(
    known: Trajectories,
    other: Trajectories,
    *,
    resolution: Resolution | None = None,
    by: By = "likelihood",
) -> LinkedTraces:
    """Link each person's known trace with the other trace that fits best, and count how often it is the person's own.

    People who are in only one of both traces cannot be linked; in the other one they are still candidates.

    Parameters
    ----------
    known
        Traces with names, such as the first half of a period.
    other
        Traces of the same people, with the same numbers of owners: what leaves under other names.
    resolution
        How finely; by default places without times.
    by
        "likelihood": how likely the known visits are if nine in ten follow the other's histogram, and the rest that of
        everybody; "cosine": of the histograms weighted by how few people visit a place (tf-idf).
    """
    if by not in ("cosine", "likelihood"):
        raise ParameterError("Traces are linked by 'cosine' or by 'likelihood'.")
    told = resolution or Resolution(hours=None)
    ours, theirs = known.by_owner(), other.by_owner()
    if ours.owners is None or theirs.owners is None:
        raise ParameterError("Traces need owners to tell whether a link is right.")
    shared, mine, own = np.intersect1d(ours.owners, theirs.owners, return_indices=True)
    if not len(shared):
        raise ParameterError("Nobody is in both traces; owners must have the same numbers in both.")
    queries, candidates = _weigh(told.visits(ours), told.visits(theirs), ours, theirs, by)
    ranks = _rank_own(queries[mine], candidates, own)
    right = int((ranks == 1).sum())
    return LinkedTraces(
        told,
        by,
        Share(right, len(ranks)),
        Share(int((ranks <= 10).sum()), len(ranks)),
        float(np.median(ranks)),
        len(theirs),
        bound_matches(right, len(ranks), len(theirs)),
    )


def bound_matches(right: int, guesses: int, candidates: int) -> float:
    """Return how likely at least so many guesses are right if candidates are dealt at random: at most."""
    ways = math.lgamma(guesses + 1) - math.lgamma(right + 1) - math.lgamma(guesses - right + 1)
    return math.exp(min(0.0, ways + math.lgamma(candidates - right + 1) - math.lgamma(candidates + 1)))


def _part(people: Trajectories, chosen: npt.NDArray[np.bool_]) -> Trajectories:
    counts = np.add.reduceat(chosen.astype(np.int64), people.offsets[:-1])
    offsets, owners = np.concatenate([[0], np.cumsum(counts)]), people.owners
    made = type(people)(people.domain, people.codes[chosen], offsets, None, owners, np.asarray(people.minutes)[chosen])
    return made.take(counts > 0)


def _weigh(mine: Codes, his: Codes, ours: Trajectories, theirs: Trajectories, by: By) -> tuple[Any, Any]:
    """Sparse rows of the known people and of the candidates, whose products are the scores."""
    size, codes = np.unique(np.concatenate([mine, his]), return_inverse=True)
    codes = codes.reshape(-1)
    known, other = _histograms(ours, codes[: len(mine)], len(size)), _histograms(theirs, codes[len(mine) :], len(size))
    if by == "cosine":
        return _tfidf(known, other), _tfidf(other, other)
    # log((1 - b) p + b q) - log(b q), p of the candidate and q of everybody: 0 where p is, hence sparse; and what was
    # taken off is the same for all candidates.
    everybody = np.asarray(known.sum(axis=0) + other.sum(axis=0)).reshape(-1)
    model = _shares(other)
    odds = (1 - _BACKGROUND) / _BACKGROUND * everybody.sum() / everybody
    model.data = np.log1p(model.data * odds[model.indices])
    return known, model


def _histograms(people: Trajectories, codes: Codes, size: int) -> Any:
    from scipy import sparse

    made = sparse.csr_matrix((np.ones(len(codes)), codes, people.offsets), shape=(len(people), size))
    made.sum_duplicates()
    return made


def _shares(histograms: Any) -> Any:
    made = histograms.copy()
    made.data /= np.repeat(np.asarray(histograms.sum(axis=1)).reshape(-1), np.diff(histograms.indptr))
    return made


def _tfidf(histograms: Any, among: Any) -> Any:
    people = np.bincount(among.indices, minlength=among.shape[1])
    made = _shares(histograms)
    made.data *= np.log((1 + among.shape[0]) / (1 + people))[made.indices]
    lengths = np.sqrt(np.asarray(made.multiply(made).sum(axis=1)).reshape(-1))
    made.data /= np.repeat(np.maximum(lengths, 1e-300), np.diff(made.indptr))
    return made


def _rank_own(queries: Any, candidates: Any, own: Codes) -> Codes:
    """The rank of each one's own candidate; those that score as much count as better."""
    turned, ranks = candidates.T.tocsr(), []
    step = max(1, _CELLS // candidates.shape[0])
    for start in range(0, queries.shape[0], step):
        scores = (queries[start : start + step] @ turned).toarray()
        mine = scores[np.arange(len(scores)), own[start : start + step]]
        ranks.append((scores >= mine[:, None]).sum(axis=1))
    return np.concatenate(ranks)

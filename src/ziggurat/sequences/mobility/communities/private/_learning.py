"""The two tables of a private topic model: each is counted, bounded and protected, and only then seen."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from ziggurat.privacy import PureEvent
from ziggurat.randomness import Source, uniform_below
from ziggurat.sequences._counting_noise import CountingNoise
from ziggurat.sequences.mobility._trajectories import HOURS, Fold, Trajectories
from ziggurat.sequences.mobility.communities._bags import Bags, Codes, Reals
from ziggurat.sequences.mobility.communities.private._noisy_topics import (
    Factors,
    Truths,
    choose_places,
    factorize,
    spread_over_places,
)
from ziggurat.sequences.mobility.communities.private._person_weights import (
    PARTS,
    Table,
    to_matrix,
    weigh_pairs,
    weigh_places,
)


class LearnedTopics(NamedTuple):
    """Communities as they follow from noisy tables: the chances of `places` and `hours`, and their `shares`.

    What was learned of are groups of places, at the finest a place each: `groups[place]`, negative for none. Which of
    them in which community, and which hours, are `clear` of noise stands beside.
    """

    places: Reals
    hours: Reals
    shares: Reals
    clear: Truths
    clear_hours: Truths
    groups: Codes


def bound_visits(trajectories: Trajectories, most: int, fold: Fold | None, source: Source) -> Bags:
    """All visits of each person, at most `most` of them, chosen by lot; hours only if they are folded."""
    whole = trajectories.by_owner()
    lengths = whole.lengths
    person = np.repeat(np.arange(len(whole)), lengths)
    order = np.lexsort((uniform_below(1 << 62, size=len(person), source=source), person))
    rank = np.arange(len(person)) - np.repeat(whole.offsets[:-1], lengths)
    kept = np.sort(order[rank < most])
    hours = np.zeros(0, np.int32) if fold is None else whole.hours(fold)[kept]
    offsets = np.concatenate([[0], np.cumsum(np.minimum(lengths, most))])
    return Bags(offsets, whole.codes[kept], hours, (whole.domain.size, 0 if fold is None else HOURS[fold]))


@dataclass(frozen=True)
class TopicLearning:
    """How topics are learned of bounded visits.

    Attributes
    ----------
    communities, most_places
        As for `PrivateSTLDA`.
    groups
        The public group of each place; None if places are learned themselves, and empty if they are not looked at.
    noises
        The noise of the table of "pairs" and, where it is needed, of the "weights" of places.
    source
        Randomness.
    """

    communities: int
    most_places: int
    groups: Codes | None
    noises: Mapping[str, CountingNoise]
    source: Source

    def learn(self, visits: Bags) -> LearnedTopics:
        """Count, protect, and take apart."""
        if self.groups is not None and not len(self.groups):
            factors = self._pairs(visits, np.zeros(0, np.int32))
            nothing = np.zeros((self.communities, 0))
            return _described(factors, nothing, self.groups)
        weights, above = self._weights(visits)
        groups = self._group(weights, above)
        factors = self._pairs(visits, groups)
        wide = int(groups.max()) + 1
        places = spread_over_places(factors.place_chances(wide), groups, weights, above)
        return _described(factors, places, groups)

    def _weights(self, visits: Bags) -> tuple[Reals, float]:
        """How much people go to each place, and how much noise alone seldom makes of it; even, where all are taken."""
        if "weights" not in self.noises:
            return np.ones(visits.sizes[0]), 0.0
        square = self.noises["weights"].square
        table = weigh_places(visits.first, visits.offsets, visits.sizes[0], square)
        weights, width = self._protect("weights", table)
        return weights, width * self._clear(len(weights))

    def _group(self, weights: Reals, above: float) -> Codes:
        if self.groups is not None:
            return self.groups
        taken = choose_places(weights, above, 2 * self.communities, self.most_places)
        groups = np.full(len(weights), -1, np.int32)
        groups[np.sort(taken)] = np.arange(len(taken), dtype=np.int32)
        return groups

    def _pairs(self, visits: Bags, groups: Codes) -> Factors:
        wide = int(groups.max(initial=-1)) + 1
        codes = groups[visits.first] if wide else visits.first
        sizes = (wide, visits.sizes[1])
        noisy, width = self._protect("pairs", weigh_pairs(codes, visits.second, visits.offsets, sizes, self._square))
        deviation = width * math.sqrt(2) if isinstance(self.noises["pairs"].event, PureEvent) else width
        return factorize(to_matrix(noisy, sum(sizes)), self.communities, deviation, self.source.simulation())

    def _protect(self, name: str, table: Table) -> tuple[Reals, float]:
        """Add noise; in units of one person."""
        noisy, width = self.noises[name].protect(table, PARTS, self.source.child(name))
        return noisy / PARTS, width / PARTS

    @property
    def _square(self) -> bool:
        return self.noises["pairs"].square

    def _clear(self, cells: int) -> float:
        """How many widths of the noise one in so many empty cells exceeds."""
        rare = min(1 / cells, 0.5)
        return NormalDist().inv_cdf(1 - rare) if self._square else -math.log(2 * rare)


def _described(factors: Factors, places: Reals, groups: Codes) -> LearnedTopics:
    wide = int(groups.max(initial=-1)) + 1
    clear = factors.clear
    hours = factors.hour_chances(wide) if clear.shape[1] > wide else np.zeros((len(clear), 0))
    return LearnedTopics(places, hours, factors.shares, clear[:, :wide], clear[:, wide:], groups)

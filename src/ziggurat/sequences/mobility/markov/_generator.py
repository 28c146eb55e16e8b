"""Trajectories by counts, with a promise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Self

import numpy as np

from ziggurat.archives import Array
from ziggurat.errors import ParameterError
from ziggurat.privacy import Amount, Event, Neighbours
from ziggurat.randomness import Source
from ziggurat.sequences._counting_noise import CountingNoise, share_noise, sum_of
from ziggurat.sequences._domain import SequenceDomain
from ziggurat.sequences._generator import Progress
from ziggurat.sequences._sequences import Sequences
from ziggurat.sequences.mobility._generator import DrawnVisits, TrajectoryGenerator
from ziggurat.sequences.mobility._trajectories import TrajectoryDomain
from ziggurat.sequences.mobility.counting import CountedVisits, HeldVisits
from ziggurat.sequences.mobility.markov._chain import ZoneChain
from ziggurat.sequences.mobility.markov._learning import TrajectoryLearning, shares_for
from ziggurat.sequences.mobility.markov._tables import MOST_PER_UNIT, BoundedTables
from ziggurat.sequences.mobility.markov._times import DayTimes
from ziggurat.sequences.mobility.markov._zones import check_ground

_KEPT = tuple(each.name for each in fields(ZoneChain) if each.name != "times")


class MarkovTrajectories(TrajectoryGenerator):
    """Trajectories with a promise, from counts of where people are, where they go and how far.

    1. Numbers of visits are counted. 2. So are visits by district, block and place: public places halved again and
    again, each by where they lie. From these noisy counts zones are laid, small where many people are, in larger
    quarters and in regions of a grid. 3. For each quarter it is counted how far the steps go that begin or end there;
    4. how far trajectories end from where they began, by kind (of 2, 3, 4 or 5, and more visits), and 5. in which
    regions they begin and end. 6. In those of three and more visits: how far each step goes, and 7. from which region
    to which, apart for each region before it wherever enough is expected there (second order). 8. If the domain has
    times: the hours of first visits, of last ones and of all, and by kind how many hours a trajectory takes.

    No count is taken for what it says: what the tables before it let one expect is its prior, and how much to trust a
    count against it is learned from all counts of a table together (see `shrink_towards`). Flows between zones start
    from as many visits as there are and how far people go, and are made to agree with all tables by iterative
    proportional fitting. A trajectory is drawn by its number of visits, then its first and last zone, and what lies
    between as a Markov chain that ends there in just as many steps; then a place in each zone, and times within one
    day. Places without coordinates are zones themselves (or the regions of their hierarchy are, if there are many),
    and lie as far apart as the level of the hierarchy where they meet.

    Formal guarantee: epsilon-DP if delta is 0, else (epsilon, delta)-DP, for the unit of the domain (a person, or one
    trajectory), adding or removing one. Proof: with m for `sequences_per_unit`, what a unit adds to a table is weighed
    down until it sums to at most m (with delta: until the root of the sum of its squares does); see `BoundedTables`.
    All trajectories of a unit count, each the less the more there are. Which cells a visit falls in depends on its own
    trajectory, on public places, and on noisy tables before it: zones, regions and contexts follow from these. Every
    table gets discrete Laplace noise of m over its epsilon, or Gaussian noise (see `CountingNoise`); the prices sum to
    epsilon exactly, or compose to (epsilon, delta) by the exact Gaussian curve (adaptive composition). The number of
    trajectories, priors and chances follow from noisy tables and from what is public: post-processing.

    The budget is shared out as lengths .06, districts .08, blocks .06, places .04, reach .10, distances .05, ends .36,
    distances of steps .05, steps .20: of epsilon, or with delta of the square of mu; times take .12 before that.

    Use it for days or trips of people among public places. What one day has to do with the next is lost, and so is
    what depends on more than the region two visits back, but for where a trajectory began.

    Parameters
    ----------
    epsilon, delta
        What fitting may cost; exact ("0.1" is one tenth). Delta 0 is a promise without exception.
    sequences_per_unit
        For how many trajectories a unit counts at most; by default 1, which needs the least noise for the people that
        there are: then everyone counts the same, however often they were seen. More let those count more who have
        more: noise grows with it, so that it pays only if nearly everyone has so many. Choose it by what is publicly
        known of such data, never by looking at these. If 1, the model stands for as many trajectories as there are
        people; say how many to draw.
    random_state
        None for secure randomness; a whole number makes a rehearsal, which must not be published.

    Examples
    --------
    >>> from ziggurat.sequences.mobility import Ground, Trajectories
    >>> ground = Ground.of(["home", "work", "shop"], [40.7, 40.8, 40.7], [-74.0, -73.9, -73.9])
    >>> domain = TrajectoryDomain.on(ground, longest=5)
    >>> days = Trajectories.of_visits(domain, [[("home", 420), ("work", 540), ("home", 1080)]] * 1000)
    >>> fitted = MarkovTrajectories(epsilon=1, random_state=1).fit(days)
    >>> list(fitted.sample(2, random_state=1))
    [('home', 'work', 'home'), ('home', 'work', 'home')]
    """

    def __init__(
        self,
        epsilon: Amount = 1,
        delta: Amount = 0,
        *,
        sequences_per_unit: int | None = None,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.sequences_per_unit = sequences_per_unit
        self.random_state = random_state

    def _plan_event(self, domain: SequenceDomain, neighbours: Neighbours, most: int) -> Event:
        if not isinstance(domain, TrajectoryDomain) or domain.classes:
            raise ParameterError("MarkovTrajectories learns trajectories without classes; give a TrajectoryDomain.")
        if most > MOST_PER_UNIT:
            raise ParameterError(f"sequences_per_unit must be at most {MOST_PER_UNIT:,}.")
        check_ground(domain.ground)
        return sum_of([noise.event for noise in self._noises(domain, neighbours).values()])

    def _noises(self, domain: TrajectoryDomain, neighbours: Neighbours) -> dict[str, CountingNoise]:
        shares = shares_for(domain.timed)
        return dict(zip(shares, share_noise(self.epsilon, self.delta, list(shares.values()), neighbours), strict=True))

    def _most(self, domain: SequenceDomain) -> int:
        return 1 if self.sequences_per_unit is None else super()._most(domain)

    def _bound(self, sequences: Sequences, most: int, source: Source) -> Sequences:
        del most, source  # all of them count, the less the more there are
        return sequences

    def fit(self, sequences: Sequences | CountedVisits, *, progress: Progress | None = None) -> Self:
        """Learn from trajectories, with noise.

        Parameters
        ----------
        sequences
            As `read_trajectories` gives them; or visits of a table that its engine counts (`AskedVisits`), of which
            none then leaves it. What is learned is the same.
        progress
            Is told how far it is; from noisy facts alone.
        """
        visits: Any = sequences
        return super().fit(visits, progress=progress)

    def _learn(self, sequences: Sequences, most: int, source: Source, progress: Progress) -> tuple[int, ...]:
        given: Any = sequences
        visits = given if isinstance(given, CountedVisits) else HeldVisits(given)
        noises = self._noises(visits.domain, Neighbours(visits.domain.unit))
        self._chain = TrajectoryLearning(visits, BoundedTables(most, noises, source), progress).learn()
        return (max(round(float(self._chain.lengths.sum())), 0),)

    def _draw_visits(self, labels: Array, draw: np.random.Generator) -> DrawnVisits:
        return self._chain.draw(len(labels), draw)

    def _state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        chain = self._chain
        times = {} if chain.times is None else {"hour_ends": chain.times.ends, "between": chain.times.between}
        return {}, {name: getattr(chain, name) for name in _KEPT} | times

    def _restore(self, facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        del facts
        times = DayTimes(arrays["hour_ends"], arrays["between"]) if self.domain_.timed else None
        self._chain = ZoneChain(**{name: arrays[name] for name in _KEPT}, times=times)

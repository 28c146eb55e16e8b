"""Communities with a promise: a private topic model of places and hours."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, Self, get_args

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ziggurat.archives import read_archive, write_archive
from ziggurat.errors import DataError, ParameterError
from ziggurat.privacy import (
    Amount,
    Event,
    Guarantee,
    Neighbours,
    Relation,
    compose,
    event_from_dict,
    exact_delta,
    whole_number,
)
from ziggurat.randomness import choose_source
from ziggurat.sequences._counting_noise import CountingNoise, share_noise, sum_of
from ziggurat.sequences._domain import Token
from ziggurat.sequences.mobility._ground import Ground
from ziggurat.sequences.mobility._trajectories import HOURS, Fold, Trajectories, TrajectoryDomain
from ziggurat.sequences.mobility.communities._bags import Bags, Codes, Reals
from ziggurat.sequences.mobility.communities._folding import fold_in
from ziggurat.sequences.mobility.communities.private._learning import LearnedTopics, TopicLearning, bound_visits
from ziggurat.sequences.mobility.communities.private._person_weights import MOST_VISITS
from ziggurat.wording import nearest

Sees = Literal["both", "places", "hours"]
"""What of a visit a private topic model looks at."""

_FORMAT = "ziggurat/private-communities/1"
# The best of a few settings at epsilon 0.5, 1 and 4 on two draws of `commuters` that are not those of the bench.
_SHARES = {"weights": Fraction(3, 10), "pairs": Fraction(7, 10)}
_NONE: Codes = np.zeros(0, np.int32)
_MOST_PLACES = 2000  # a table of all pairs has half the square of it


class PrivateSTLDA(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Communities of commuters with a promise about each person: what STLDA describes, learned through noise.

    1. How much people go to each place is counted. The places that stand out of the noise, at most `most_places`, are
    taken, or public `regions` of places. 2. How much the same people do both of two things, be at a place or at an
    hour, in two different visits is counted, for all pairs. Both tables get exact noise; the rest is post-processing:
    the table of pairs is taken apart into `communities` factors, the places and hours of each community, and what
    belongs to places that were not taken is spread among them evenly. Every person weighs the same, with few visits or
    with many.

    Formal guarantee: epsilon-DP if delta is 0, else (epsilon, delta)-DP, for the unit of the domain (a person), adding
    or removing one. Proof: at most `visits_per_person` visits of a person are kept, by coins that are fresh for each
    person. Given the coins, the counts x of a person are a function of that person's visits alone, and the person adds
    floor(x * B / norm of x) to a table of whole numbers, where B = 2^16 and the norm is rounded up: at most B, in l1
    if delta is 0, else in l2. Tables of neighbours differ by what one person adds, and `CountingNoise` makes of that
    its event; which places the second table is about was decided by the first, noisy one (adaptive composition).
    Mixing over coins keeps the promise, since it holds for each outcome of them (joint convexity). Pure events add up;
    Gaussian ones, composed exactly, are one whose squared mu is the sum of theirs.

    Not released, and in no promise: what `transform` says of people is as raw as their visits. It stays with the
    steward. Coarse regions, epsilon and all other parameters must be chosen without looking at the visits.

    Why so: noisy statistics of expectation and maximisation (Park et al. 2016), the usual way, pay for every iteration,
    and for every further start. On `commuters` (10,000 places, 10 communities of 1,000, delta 1e-5; mean of 3 draws,
    `bench/private_communities.py`) one table of pairs puts .97 of people right at epsilon 1 and .985 at 4. Iterations
    from one random start put .70 and .89 right, the better of 5 and 20 of them, and .92 without noise: much of what
    they lose are communities that the start merged, and their best single draws came to .82 and .98. They were not
    tuned further. One noisy iteration after the pairs made them worse up to epsilon 8, in the one draw that was tried.

    Parameters
    ----------
    epsilon, delta
        What fitting may cost; exact ("0.1" is one tenth). Delta 0 is a promise without exception, for more people.
    communities
        How many there are.
    sees
        "both" places and hours; or only the "places", or only the "hours".
    fold
        Hours of the "day" or of the "week".
    visits_per_person
        How many visits of a person count at most, chosen by lot.
    regions
        Public groups of places to learn instead of single places, where few people share these: the name of a level of
        the ground's regions, or into how many columns and rows its box is cut.
    most_places
        How many places are taken at most; if the ground has no more, all are taken, and nothing is paid for choosing.
    membership_prior
        How much of every community a person is taken to be before a visit is seen, for `transform`.
    random_state
        None for secure randomness; a whole number makes a rehearsal, which must not be published.

    Attributes
    ----------
    components_
        How likely each place is in each community, one row each that sums to 1; with sees="hours" each hour.
    hours_
        How likely each hour is in each community; None with sees="places".
    shares_
        How much of all pairs of visits each community explains, by the noisy table; about its share of the people.
    topics_
        All that follows from the noisy tables, also what `describe_communities` tells.
    domain_, event_, origin_
        What was publicly known, what fitting did and with which randomness, for the ledger.

    Examples
    --------
    >>> from ziggurat.data import Unit
    >>> from ziggurat.sequences.mobility import Ground
    >>> domain = TrajectoryDomain.on(Ground(("home", "work", "bar", "park")), longest=9, unit=Unit.person("card"))
    >>> early, late = [("home", 420), ("work", 540)], [("park", 1200), ("bar", 1320)]
    >>> people = Trajectories.of_visits(domain, [early] * 500 + [late] * 400, owners=range(900))
    >>> fitted = PrivateSTLDA(epsilon=2, delta="1e-6", communities=2, random_state=1).fit(people)
    >>> fitted.components_.round(1).tolist()
    [[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]]
    """

    domain_: TrajectoryDomain
    components_: Reals
    hours_: Reals | None
    shares_: Reals
    topics_: LearnedTopics
    event_: Event
    origin_: str

    def __init__(
        self,
        epsilon: Amount = 1,
        delta: Amount = "1e-6",
        communities: int = 10,
        *,
        sees: Sees = "both",
        fold: Fold = "day",
        visits_per_person: int = 200,
        regions: str | int | None = None,
        most_places: int = 400,
        membership_prior: float = 0.1,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.communities = communities
        self.sees = sees
        self.fold = fold
        self.visits_per_person = visits_per_person
        self.regions = regions
        self.most_places = most_places
        self.membership_prior = membership_prior
        self.random_state = random_state

    def planned(self, domain: TrajectoryDomain) -> Event:
        """Say what fitting trajectories of this domain will cost; nothing is read."""
        self._check(domain)
        return sum_of([noise.event for noise in self._noises(domain).values()])

    def fit(self, trajectories: Trajectories) -> Self:
        """Learn communities of all visits of each person, with noise."""
        domain = trajectories.domain
        event, source = self.planned(domain), choose_source(self.random_state)
        fold = None if self.sees == "places" else self.fold
        visits = bound_visits(trajectories, self.visits_per_person, fold, source.child("bounding"))
        how = TopicLearning(
            self.communities, self.most_places, self._groups(domain), self._noises(domain), source.child("learning")
        )
        self._take_up(domain, how.learn(visits))
        self.event_, self.origin_ = event, source.origin
        return self

    def transform(self, trajectories: Trajectories) -> Reals:
        """How much each person belongs to each community, one row each: as raw as the visits, for the steward alone.

        People are in the order of `Trajectories.by_owner`.
        """
        check_is_fitted(self)
        if trajectories.ground != self.domain_.ground:
            raise ParameterError("The visits must be to the places that the model knows; read them on the same ground.")
        whole = trajectories.by_owner()
        hours = _NONE if self.hours_ is None else whole.hours(self.fold)
        first, second = (whole.codes, hours) if self.sees != "hours" else (hours, _NONE)
        bags = Bags(whole.offsets, first, second, (self.components_.shape[1], self.topics_.hours.shape[1]))
        places, times = (np.ascontiguousarray(each.T) for each in (self.components_, self.topics_.hours))
        return fold_in(bags, places, times, np.full(self.communities, float(self.membership_prior)))

    def save(self, path: str | Path) -> None:
        """Write the fitted model to a file: what follows from noisy tables, as safe as the description of it."""
        check_is_fitted(self)
        said = {
            "class": type(self).__name__,
            "parameters": {
                name: str(value) if isinstance(value, Fraction) else value
                for name, value in self.get_params(deep=False).items()
            },
            "domain": self.domain_.to_plain(),
            "event": self.event_.to_dict(),
            "origin": self.origin_,
        }
        write_archive(path, _FORMAT, said, self.topics_._asdict())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model that `save` wrote; nothing in the file is run.

        What the file says of its own cost is no evidence: the entry of the ledger that paid is.
        """
        facts, arrays = read_archive(path, _FORMAT, "private topic model")
        try:
            made = cls(**facts["parameters"])
            made._take_up(TrajectoryDomain.from_plain(facts["domain"]), LearnedTopics(**arrays))
            made.event_, made.origin_ = event_from_dict(facts["event"]), str(facts["origin"])
        except (KeyError, TypeError, ValueError):
            raise DataError(f"The {cls.__name__} in {str(path)!r} is damaged; restore a copy, or fit again.") from None
        return made

    def _take_up(self, domain: TrajectoryDomain, topics: LearnedTopics) -> None:
        self.domain_, self.topics_ = domain, topics
        self.hours_ = None if self.sees == "places" else topics.hours
        self.components_ = topics.hours if self.sees == "hours" else topics.places
        self.shares_ = topics.shares

    @property
    def features_(self) -> tuple[Token, ...]:
        """What was learned of: the names of the places that were taken, or of the regions."""
        ground, groups = self.domain_.ground, self.topics_.groups
        if self.regions is not None and self.sees != "hours":
            return group_places(ground, self.regions)[0]
        return tuple(ground.names[at] for at in np.flatnonzero(groups >= 0))

    @property
    def guarantee_(self) -> Guarantee:
        """The promise that fitting keeps, for the unit and relation that it names."""
        allowed = exact_delta(self.delta)
        return compose(self.event_).approximate(allowed) if allowed else compose(self.event_).pure()

    @property
    def rehearsal_(self) -> bool:
        """Whether seeded randomness was used, so that nothing of it must be published."""
        return self.origin_ != "secure"

    def _noises(self, domain: TrajectoryDomain) -> dict[str, CountingNoise]:
        shares = _SHARES if self._needs_weights(domain) else {"pairs": Fraction(1)}
        neighbours = Neighbours(domain.unit, Relation.ADD_OR_REMOVE_ONE)
        made = share_noise(self.epsilon, self.delta, list(shares.values()), neighbours)
        return dict(zip(shares, made, strict=True))

    def _needs_weights(self, domain: TrajectoryDomain) -> bool:
        return self.sees != "hours" and (self.regions is not None or domain.size > self.most_places)

    def _groups(self, domain: TrajectoryDomain) -> Codes | None:
        if self.sees == "hours":
            return _NONE
        if self.regions is None:
            return None
        return group_places(domain.ground, self.regions)[1]

    def _check(self, domain: TrajectoryDomain) -> None:
        if self.sees not in get_args(Sees) or self.fold not in HOURS:
            raise ParameterError("A model sees 'both', 'places' or 'hours', and folds these by 'day' or 'week'.")
        if self.sees != "places" and not domain.timed:
            raise ParameterError("These trajectories have no times; let the model see='places' only.")
        if whole_number(self.visits_per_person, "visits_per_person") > MOST_VISITS:
            raise ParameterError(f"At most {MOST_VISITS} visits of a person may count; lower visits_per_person.")
        if whole_number(self.most_places, "most_places") > _MOST_PLACES:
            raise ParameterError(f"At most {_MOST_PLACES:,} places fit a table of pairs; lower most_places.")
        whole_number(self.communities, "communities")
        if not self.membership_prior > 0:
            raise ParameterError("The prior of memberships must be above 0.")
        self._check_size(domain)

    def _check_size(self, domain: TrajectoryDomain) -> None:
        groups = self._groups(domain)
        wide = min(domain.size, self.most_places) if groups is None else int(groups.max(initial=-1)) + 1
        if wide > _MOST_PLACES:
            raise ParameterError(f"{wide:,} regions are too many for a table of pairs; take coarser ones.")
        if wide + (0 if self.sees == "places" else HOURS[self.fold]) < 2 * self.communities:
            raise ParameterError("There must be at least two places, regions or hours for every community.")


def group_places(ground: Ground, regions: str | int) -> tuple[tuple[Token, ...], Codes]:
    """The names of public regions that hold places, and the region of each place."""
    if isinstance(regions, str):
        if regions not in (ground.regions or {}):
            raise ParameterError(
                f"The ground has no level of regions {regions!r}; {nearest(regions, ground.regions or {})}"
            )
        held: Any = (ground.regions or {})[regions]
        names = tuple(dict.fromkeys(held))
        codes = {name: code for code, name in enumerate(names)}
        return names, np.array([codes[name] for name in held], np.int32)
    cells, groups = np.unique(ground.cells(whole_number(regions, "regions")), return_inverse=True)
    return tuple(cells.tolist()), groups.astype(np.int32)

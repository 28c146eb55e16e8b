"""The topic models of Dandekar's thesis, section 5.2: communities of people by the places and hours of their visits."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ziggurat.archives import Array, read_archive, write_archive
from ziggurat.errors import DataError, ParameterError
from ziggurat.jobs import run_jobs
from ziggurat.privacy import whole_number
from ziggurat.randomness import Source, choose_source, seeded
from ziggurat.sequences.mobility._ground import Ground
from ziggurat.sequences.mobility._trajectories import HOURS, Fold, Trajectories
from ziggurat.sequences.mobility.communities._bags import Bags, Codes, Reals
from ziggurat.sequences.mobility.communities._chain import ChosenPriors, CommunityChain, LearnedPrior, PeoplePrior
from ziggurat.sequences.mobility.communities._folding import fold_in
from ziggurat.sequences.mobility.communities._running import ChainCheckpoint, ChainRun
from ziggurat.sequences.mobility.communities._starting import start_with_people

_FORMAT = "ziggurat/communities/1"
_PLACES_OF_THE_RUN = ("checkpoint", "workers", "iterations", "tolerance")
_NONE: Codes = np.zeros(0, np.int32)

Start = Literal["people", "visits", "both"]
"""What a chain starts from: groups of whole people, random topics of visits, or one chain from each in turn."""


@dataclass(eq=False, repr=False)
class TopicModel(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """What the three models share: visits have topics, a topic is a community, people mix communities.

    No promise: places, hours and memberships are learned from raw visits and are as raw as these. What may leave goes
    through a model with a guarantee.

    Attributes
    ----------
    components_
        The chance of each place (of each hour, if the model sees hours alone) in every community; rows sum to 1.
    memberships_
        The share of each community in the visits of every person who was fitted, one row each; rows sum to 1.
    owners_
        Whose each row of `memberships_` is, by the numbers of the trajectories' owners.
    people_prior_, log_likelihood_, held_out_, chains_
        The prior of people as a number for each community; the log-likelihood of visits and topics per visit, every
        25 sweeps and at the end, of the chain that was kept; the same of people who were held out, by document
        completion, empty without any; and how well each chain did in the end, by the latter or else the former.
    """

    communities: int = 10
    _: KW_ONLY
    people_prior: PeoplePrior = "learned"
    iterations: int = 500
    chains: int = 4
    start: Start = "both"
    held_out: float = 0.1
    tolerance: float | None = 1e-3
    checkpoint: str | Path | None = None
    workers: int | None = None
    random_state: int | None = None

    ground_: Ground = field(init=False)
    components_: Reals = field(init=False)
    memberships_: Reals = field(init=False)
    owners_: Array = field(init=False)
    people_prior_: Reals = field(init=False)
    log_likelihood_: Reals = field(init=False)
    held_out_: Reals = field(init=False)
    chains_: Reals = field(init=False)

    @abstractmethod
    def _bag(self, people: Trajectories) -> Bags:
        """What the model sees of people."""

    @abstractmethod
    def _chosen(self) -> ChosenPriors:
        """The priors that were asked for."""

    def fit(self, trajectories: Trajectories, *, progress: Callable[[str, int, int], None] | None = None) -> Self:
        """Find the communities of people.

        Parameters
        ----------
        trajectories
            The visits; all visits of an owner together make one person.
        progress
            Is told how many sweeps of how many are done.
        """
        people = trajectories.by_owner()
        bags, seed = self._bag(people), int(choose_source(self.random_state).words(1)[0])
        self._check(bags)
        kept = None if self.checkpoint is None else ChainCheckpoint(self.checkpoint, self._settings(), bags, seed)
        source = seeded(seed if kept is None else kept.seed)
        held = self._hold_out(bags.people, source.child("held out"))
        learned = bags.take(np.flatnonzero(~held))
        tasks = [(learned, at, source.child("chain", at)) for at in range(self.chains)]
        begun = dict(run_jobs(self._begin, tasks, executor="threads", workers=self.workers))
        chains = [begun[at] for at in range(self.chains)]
        run = ChainRun(chains, bags.take(np.flatnonzero(held)), self.workers, progress or _say_nothing)
        self._keep(run.run(self.iterations, self.tolerance, kept))
        self.chains_ = np.array([(chain.completions or chain.likelihoods)[-1] for chain in chains])
        self.ground_, self.owners_ = people.ground, _owners(people)
        self.memberships_ = self._fold(bags)
        return self

    def fit_transform(self, trajectories: Trajectories) -> Reals:
        """Find the communities of people, and return the memberships of the same people."""
        return self.fit(trajectories).memberships_

    def transform(self, trajectories: Trajectories) -> Reals:
        """The share of each community in the visits of every owner, one row each in the order of `by_owner`.

        The visits are folded into the communities that were found, which stay as they are; nothing is drawn.
        """
        check_is_fitted(self)
        if trajectories.ground != self.ground_:
            raise ParameterError("The communities were fitted on other places; give trajectories on the same ground.")
        return self._fold(self._bag(trajectories.by_owner()))

    def save(self, path: str | Path) -> None:
        """Write the fitted model to a file that only its owner may read: it is as raw as the visits."""
        check_is_fitted(self)
        parameters = {name: each for name, each in self.get_params(deep=False).items() if name != "checkpoint"}
        said = {"class": type(self).__name__, "parameters": parameters, "ground": self.ground_.to_plain()}
        write_archive(path, _FORMAT, said, {name: getattr(self, name) for name in self._arrays()})

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model that `save` of this class wrote; nothing in the file is run."""
        facts, arrays = read_archive(path, _FORMAT, "model of communities")
        if facts.get("class") != cls.__name__:
            raise DataError(f"What is in {str(path)!r} is no {cls.__name__} that this version saved.")
        try:
            made = cls(**facts["parameters"])
            made.ground_ = Ground.from_plain(facts["ground"])
            for name in made._arrays():
                setattr(made, name, arrays[name])
        except (KeyError, TypeError, ValueError):
            raise DataError(f"The {cls.__name__} in {str(path)!r} is damaged; restore a copy, or fit again.") from None
        return made

    def _arrays(self) -> list[str]:
        told = ("people_prior_", "log_likelihood_", "held_out_", "chains_")
        return ["components_", *self._seconds(), "memberships_", "owners_", *told]

    def _seconds(self) -> list[str]:
        """The names of further distributions of a community."""
        return []

    def _check(self, bags: Bags) -> None:
        whole_number(self.communities, "communities")
        whole_number(self.iterations, "iterations")
        whole_number(self.chains, "chains")
        if not len(bags.first):
            raise DataError("There is no visit to learn communities from.")
        if self.start not in ("people", "visits", "both"):
            raise ParameterError("A chain starts from 'people', from 'visits', or one chain each from 'both' in turn.")
        if not 0 <= self.held_out < 1:
            raise ParameterError("held_out is a share of the people: at least 0 and less than 1.")
        for each in self._chosen():
            if not (each in ("learned", "uneven") if isinstance(each, str) else each > 0):
                raise ParameterError("A prior is a number greater than 0, or 'learned'.")

    def _settings(self) -> dict[str, Any]:
        """What a checkpoint must have been made with."""
        said = {name: each for name, each in self.get_params(deep=False).items() if name not in _PLACES_OF_THE_RUN}
        return {"class": type(self).__name__, **said}

    def _hold_out(self, people: int, source: Source) -> Array:
        chosen = source.simulation().permutation(people)[: int(people * self.held_out)]
        return np.isin(np.arange(people), chosen)

    def _begin(self, bags: Bags, at: int, source: Source) -> CommunityChain:
        draw, chosen = source.simulation(), self._chosen()
        if self.start == "people" or (self.start == "both" and at % 2 == 0):
            topics = start_with_people(bags, self.communities, chosen.start(self.communities)[1:], draw)
        else:
            topics = draw.integers(self.communities, size=len(bags.first), dtype=np.int32)
        return CommunityChain(bags, topics, chosen, self.communities, source.words(1))

    def _keep(self, chain: CommunityChain) -> None:
        found = chain.find()
        self.components_ = np.ascontiguousarray(found.first.T)
        for name in self._seconds():
            setattr(self, name, np.ascontiguousarray(found.second.T))
        self.people_prior_ = found.priors.people
        self.log_likelihood_, self.held_out_ = np.array(chain.likelihoods), np.array(chain.completions)

    def _fold(self, bags: Bags) -> Reals:
        second = self.hours_.T if self._seconds() and len(bags.second) else np.zeros((0, self.communities))
        first = np.ascontiguousarray(self.components_.T)
        return fold_in(bags, first, np.ascontiguousarray(second), self.people_prior_)


@dataclass(eq=False, repr=False)
class SLDA(TopicModel):
    """Communities by places: latent Dirichlet allocation of the places that people visit.

    Parameters
    ----------
    communities
        How many communities there are (K).
    people_prior
        The Dirichlet prior of a person's communities (alpha): a number, "learned" as one number for all communities,
        or "uneven", a number for each. Small: people have few communities.
    places_prior
        The Dirichlet prior of a community's places (beta): a number, or "learned".
    iterations
        How often all topics are drawn anew, at most.
    chains
        How many chains run, each from a start of its own, two at a time on two cores; the one with the best likelihood
        is kept.
    start
        What chains start from: groups of whole "people", found by a mixture model, which finds communities that random
        topics miss where everybody has one; random topics of "visits"; or "both", one chain from each in turn.
    held_out
        The share of people by whom chains are judged; they are folded in at the end.
    tolerance
        A chain ends early if in 100 sweeps its likelihood per visit has not grown by more than this; None: never.
    checkpoint
        A file to go on from after an interruption, with the same result; as raw as the visits.
    workers
        How many chains run at a time, by default as many as there are processors; the result does not depend on it.
    random_state
        Drawn anew each time or, with a whole number, the same communities again.

    Examples
    --------
    >>> from ziggurat.sequences.mobility import Ground, Trajectories, TrajectoryDomain
    >>> domain = TrajectoryDomain.on(Ground(("home", "school", "office", "bar")), longest=4)
    >>> pupil, clerk = [("home", 420), ("school", 480), ("school", 780)], [("office", 540), ("bar", 1080)]
    >>> people = Trajectories.of_visits(domain, [pupil] * 30 + [clerk] * 30)
    >>> model = SLDA(2, iterations=50, random_state=1).fit(people)
    >>> first, last = model.memberships_[[0, -1]]
    >>> bool(first.argmax() != last.argmax()), model.components_[first.argmax()].round(1).tolist()
    (True, [0.3, 0.7, 0.0, 0.0])
    """

    _: KW_ONLY
    places_prior: LearnedPrior = "learned"

    def _bag(self, people: Trajectories) -> Bags:
        return Bags(people.offsets, people.codes, _NONE, (people.domain.size, 1))

    def _chosen(self) -> ChosenPriors:
        return ChosenPriors(self.people_prior, self.places_prior, 1.0)


@dataclass(eq=False, repr=False)
class TLDA(TopicModel):
    """Communities by hours: latent Dirichlet allocation of the hours at which people are anywhere.

    `components_`, also called `hours_`, holds the chance of each hour in every community.

    Parameters
    ----------
    hours_prior
        The Dirichlet prior of a community's hours (gamma): a number, or "learned".
    fold
        How hours are folded: "day" (24 of them) or "week" (168, from Monday on).
    communities, people_prior, iterations, chains, start, held_out, tolerance, checkpoint, workers, random_state
        As for `SLDA`.

    Examples
    --------
    >>> from ziggurat.sequences.mobility import Ground, Trajectories, TrajectoryDomain
    >>> domain = TrajectoryDomain.on(Ground(("bus",)), longest=3)
    >>> early, late = [("bus", 420), ("bus", 480), ("bus", 960)], [("bus", 1260), ("bus", 1380)]
    >>> people = Trajectories.of_visits(domain, [early] * 30 + [late] * 30)
    >>> model = TLDA(2, iterations=50, random_state=1).fit(people)
    >>> [sorted(each.argsort()[-2:].tolist()) for each in model.hours_[model.memberships_[[30]].argmax(axis=1)]]
    [[21, 23]]
    """

    _: KW_ONLY
    hours_prior: LearnedPrior = "learned"
    fold: Fold = "day"

    def _bag(self, people: Trajectories) -> Bags:
        hours = people.hours(self.fold)
        return Bags(people.offsets, hours, _NONE, (HOURS[self.fold], 1))

    def _chosen(self) -> ChosenPriors:
        return ChosenPriors(self.people_prior, self.hours_prior, 1.0)

    @property
    def hours_(self) -> Reals:
        """The chance of each hour in every community."""
        return self.components_


@dataclass(eq=False, repr=False)
class STLDA(TopicModel):
    """Communities by places and hours: each visit has one topic, from which both its place and its hour are drawn.

    `components_` holds the chance of each place in every community, `hours_` that of each hour.

    Parameters
    ----------
    places_prior, hours_prior
        The Dirichlet priors of a community's places (beta) and hours (gamma): numbers, or "learned".
    fold
        How hours are folded: "day" (24 of them) or "week" (168, from Monday on).
    communities, people_prior, iterations, chains, start, held_out, tolerance, checkpoint, workers, random_state
        As for `SLDA`.

    Examples
    --------
    People who share all their places and differ in their hours:

    >>> from ziggurat.sequences.mobility import Ground, Trajectories, TrajectoryDomain
    >>> domain = TrajectoryDomain.on(Ground(("home", "mill")), longest=3)
    >>> day, night = [("mill", 480), ("home", 1020)], [("home", 420), ("mill", 1320)]
    >>> people = Trajectories.of_visits(domain, [day] * 30 + [night] * 30)
    >>> model = STLDA(2, iterations=50, random_state=1).fit(people)
    >>> len(set(model.transform(people).argmax(axis=1).tolist()))
    2
    """

    _: KW_ONLY
    places_prior: LearnedPrior = "learned"
    hours_prior: LearnedPrior = "learned"
    fold: Fold = "day"
    hours_: Reals = field(init=False)

    def _bag(self, people: Trajectories) -> Bags:
        return Bags(people.offsets, people.codes, people.hours(self.fold), (people.domain.size, HOURS[self.fold]))

    def _chosen(self) -> ChosenPriors:
        return ChosenPriors(self.people_prior, self.places_prior, self.hours_prior)

    def _seconds(self) -> list[str]:
        return ["hours_"]


def _owners(people: Trajectories) -> Array:
    return np.arange(len(people)) if people.owners is None else people.owners


def _say_nothing(what: str, done: int, of: int) -> None:
    """Tell nobody."""

"""Planted people: somebody who goes where hardly anybody goes, to see whether a model gives that away.

A model that copies a single person cannot be told from chance by people who were kept back: of two people one is copied
by chance alone half of the time. Who was planted was chosen among a thousand others, and that a release knows which one
has a chance of one in a thousand: see `attacks.sequences.Canaries` for the proof.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ziggurat.attacks.sequences import Canaries
from ziggurat.errors import ParameterError
from ziggurat.randomness import Source, choose_source, uniform_below
from ziggurat.sequences import Sequences
from ziggurat.sequences.mobility import Trajectories, TrajectoryDomain

_WEEK = 7 * 24 * 60


def draw_canaries(
    domain: TrajectoryDomain,
    count: int = 1,
    *,
    visits: int = 10,
    candidates: int = 1024,
    times: int = 1,
    random_state: int | None = None,
) -> Canaries:
    """Draw people whose every visit is at a random place of the ground and a random minute of the first week.

    Plant them among those learned from (`plant`), and rank them afterwards (`measure`) by
    `attacks.sequences.score_by_release` or `score_by_visits`.

    Parameters
    ----------
    domain
        Whose places they visit.
    count, visits
        How many people, and how many visits each has: one trajectory.
    candidates
        From how many each is chosen: it shows at most log2 of that many bits.
    times
        How often each will be planted.
    random_state
        A seed for a rehearsal; by default they are secret.
    """
    drawn = Canaries.draw(domain, count, length=visits, candidates=candidates, times=times, random_state=random_state)
    source = choose_source(random_state)
    return replace(
        drawn,
        planted=_give_times(drawn.planted, domain, source),
        candidates=tuple(_give_times(each, domain, source) for each in drawn.candidates),
    )


def score_by_visits(released: Trajectories) -> Callable[[Sequences], npt.NDArray[np.float64]]:
    """Return a score for models that keep places and not their order: how likely the places are by the released ones.

    A place that was never released counts as half a visit.

    Parameters
    ----------
    released
        What was drawn from the model.
    """
    if not len(released.codes):
        raise ParameterError("Nothing was released that canaries could be looked for in.")
    likely = np.log(np.maximum(np.bincount(released.codes, minlength=released.domain.size), 0.5))

    def measure(asked: Sequences) -> npt.NDArray[np.float64]:
        whose = np.repeat(np.arange(len(asked)), asked.lengths)
        return np.asarray(np.bincount(whose, weights=likely[asked.codes], minlength=len(asked)), dtype=np.float64)

    return measure


def _give_times(people: Sequences, domain: TrajectoryDomain, source: Source) -> Trajectories:
    minutes = None
    if domain.timed:
        whose = np.repeat(np.arange(len(people)), people.lengths)
        drawn = uniform_below(_WEEK, size=len(people.codes), source=source)
        minutes = drawn[np.lexsort((drawn, whose))].astype(np.int64)
    return Trajectories(domain, people.codes, people.offsets, people.labels, people.owners, minutes)

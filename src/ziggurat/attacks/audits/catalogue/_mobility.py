"""Audits of trajectories and communities with a promise: all that is seen is what is drawn, or what describes people.

Relation: add or remove one unit. For a person the pair is the hardest for a bound: somebody with many days, all at a
place where nobody else goes. For a trajectory it is one more that goes there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Literal

import numpy as np
import numpy.typing as npt

from ziggurat.attacks.audits._case import AuditCase
from ziggurat.attacks.audits.catalogue._sequences import count_steps, run_each
from ziggurat.attacks.audits.catalogue._synthesize import draw_seed
from ziggurat.data import Unit
from ziggurat.randomness import Source
from ziggurat.sequences.mobility import Ground, MarkovTrajectories, Trajectories, TrajectoryDomain
from ziggurat.sequences.mobility.communities import PrivateSTLDA

_PERSON = Unit.person("card")
_DRAWN = 400


def visit(unit: Unit, days: Sequence[str], owners: Sequence[int]) -> Trajectories:
    """Days without times on two places, each a text of places, and whose they are."""
    domain = TrajectoryDomain.on(Ground(("a", "b")), longest=2, unit=unit, timed=False)
    codes = np.array([domain.codes[place] for day in days for place in day], dtype=np.int32)
    offsets = np.cumsum([0, *map(len, days)])
    return Trajectories(domain, codes, offsets, None, None if unit.is_row else np.array(owners))


def _fit(unit: Unit, more: int) -> Callable[[Fraction, Literal[0, 1], Source], npt.ArrayLike]:
    """Twenty who stay at one place and, in the second world, days of one person (or a trajectory) at the other."""
    pair = [visit(unit, ["aa"] * 20 + ["bb"] * own, [*range(20), *[20] * own]) for own in (0, more)]

    def once(epsilon: Fraction, world: Literal[0, 1], source: Source) -> npt.ArrayLike:
        made = MarkovTrajectories(epsilon, random_state=draw_seed(source)).fit(pair[world])
        return tell_places(made.sample(_DRAWN, random_state=draw_seed(source)), len(made.sample(random_state=1)))

    return once


def tell_places(drawn: Trajectories, many: int) -> npt.ArrayLike:
    """How many are drawn by default, and how often which place follows which."""
    steps = count_steps(drawn)
    return [many, *steps, *many * steps]


def _communities(epsilon: Fraction, world: Literal[0, 1], source: Source) -> npt.ArrayLike:
    """How likely the second place is in a community of people who were twice at the first, or at both.

    Whoever was once at each adds one whole pair of visits to one cell of the table, as much as anybody may.
    """
    days = ["aa"] * 20 + ["ab"] * (10 + world)
    made = PrivateSTLDA(epsilon, 0, 1, sees="places", random_state=draw_seed(source))
    return float(made.fit(visit(_PERSON, days, range(len(days)))).components_[0, 1])


CASES = (
    AuditCase(
        "sequences.mobility.MarkovTrajectories",
        "20 people and the same with one of 30 days at a place of their own, add or remove one person",
        run_each(_fit(_PERSON, 30)),
        runs=200,
        fault=30,
    ),
    AuditCase(
        "sequences.mobility.MarkovTrajectories of trajectories",
        "20 trajectories and the same with one at a place of its own, add or remove one trajectory",
        run_each(_fit(Unit(), 1)),
        runs=200,
        fault=30,
    ),
    AuditCase(
        "sequences.mobility.communities.PrivateSTLDA",
        "30 people and the same with one more who was at two places, add or remove one person",
        run_each(_communities),
        runs=500,
        fault=6,
    ),
)

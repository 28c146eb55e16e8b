"""How many random points of a trace single its owner out.

de Montjoye, Hidalgo, Verleysen, Blondel (2013), "Unique in the Crowd: the privacy bounds of human mobility", Scientific
Reports 3:1376: of an attacker who knows p random points (a place and a window of time) of somebody in a file, how often
does nobody else in the file hold them all? Four points singled out 95 % of 1.5 million people.

The figure is for one file in which a trajectory or an owner is a person: raw or coarsened. Of synthetic people it says
nothing, since each of them may be unique and nobody's: see `find_by_points`.

The interval is Wilson's over all draws of all people. The points are drawn anew and independently each time, and the
draws of different people single out with different probabilities: such a sum varies no more than a binomial one of the
same mean (Hoeffding 1956, "On the distribution of the number of successes in independent trials", Ann. Math. Stat. 27),
so the interval covers the mean over all random points at least as often as it says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ziggurat.attacks._guesses import whole
from ziggurat.attacks.mobility._points import Counts, collect_points, draw_points
from ziggurat.attacks.mobility._resolution import Resolution
from ziggurat.errors import ParameterError
from ziggurat.findings import Finding, Share
from ziggurat.randomness import choose_source
from ziggurat.sequences.mobility import Trajectories
from ziggurat.wording import count_noun

PEOPLE, DRAWS = 10_000, 10


@dataclass(frozen=True)
class Uniqueness(Finding):
    """How often 1, 2, ... random points single a person out.

    Attributes
    ----------
    resolution
        How finely the points are known.
    people, asked
        How many are in the file, and points of how many of them were drawn.
    alone
        By the number of points known (1 first): the draws that nobody else of the file fits. Whoever has fewer
        different points is known by all of them.
    crowd
        By the number of points: how many people fit a draw on average, the owner included.
    """

    resolution: Resolution
    people: int
    asked: int
    alone: tuple[Share, ...]
    crowd: tuple[float, ...]

    @property
    def points(self) -> int:
        """The largest number of points known."""
        return len(self.alone)

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        known = count_noun(self.points, "random point")
        return (
            f"{known} ({self.resolution}) single out {self.alone[-1]} of {count_noun(self.people, 'person', 'people')}."
        )

    @property
    def table(self) -> pa.Table:
        """One row for each number of points."""
        ends = {end: [getattr(each, end) for each in self.alone] for end in ("rate", "low", "high")}
        numbers = list(range(1, self.points + 1))
        return pa.table({"points known": numbers, **ends, "people who fit, on average": list(self.crowd)})


@dataclass(frozen=True)
class CoarsenedUniqueness(Finding):
    """How often points single people out, the more coarsely places and times are told.

    Attributes
    ----------
    curves
        One for each resolution.
    """

    curves: tuple[Uniqueness, ...]

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        ordered = sorted(self.curves, key=lambda each: each.alone[-1].rate)
        low, high = ordered[0], ordered[-1]
        return (
            f"{count_noun(low.points, 'random point')} single out {high.alone[-1].rate:.1%} of people where they are "
            f"known best ({high.resolution}) and {low.alone[-1].rate:.1%} where least ({low.resolution})."
        )

    @property
    def table(self) -> pa.Table:
        """One row for each resolution, one column for each number of points."""
        names = [str(each.resolution) for each in self.curves]
        by_points = [[each.alone[place].rate for each in self.curves] for place in range(self.curves[0].points)]
        return pa.table({"known": names, **{count_noun(1 + at, "point"): each for at, each in enumerate(by_points)}})


def measure_uniqueness(
    trajectories: Trajectories,
    points: int = 4,
    *,
    resolution: Resolution | None = None,
    draws: int = DRAWS,
    at_most: int = PEOPLE,
    random_state: int | None = None,
) -> Uniqueness:
    """Measure how often some random points of a person are nobody else's.

    Parameters
    ----------
    trajectories
        The file: all visits of an owner are one trace, or each trajectory where there are no owners.
    points
        How many points an attacker knows at most; every smaller number is measured as well.
    resolution
        How finely; by default the place and the hour.
    draws
        How often points of a person are drawn.
    at_most
        Of how many people points are drawn; they are compared with everybody.
    random_state
        A seed for a rehearsal; by default the choices are secret.
    """
    most, often, size = whole(points, "points"), whole(draws, "draws"), whole(at_most, "at_most")
    fine = resolution or Resolution()
    (sets,) = collect_points([_whole_people(trajectories)], fine)
    draw = choose_source(random_state).simulation()
    asked = draw.permutation(np.flatnonzero(sets.sizes))[:size]
    counts = sets.count_holders(draw_points(sets, np.repeat(asked, often), most, draw))
    return Uniqueness(fine, len(sets), len(asked), _shares(counts), tuple(counts.mean(axis=0).tolist()))


def coarsen_uniqueness(
    trajectories: Trajectories,
    points: int = 4,
    *,
    grids: Sequence[int | None] = (None, 64, 32, 16),
    hours: Sequence[int | None] = (1, 6, 24, None),
    draws: int = DRAWS,
    at_most: int = PEOPLE,
    random_state: int | None = None,
) -> CoarsenedUniqueness:
    """Measure uniqueness for every grid with every window: how much coarsening buys, and how little.

    Parameters
    ----------
    trajectories, points, draws, at_most, random_state
        As for `measure_uniqueness`.
    grids
        Columns, and rows, of the grids; None for places as they are.
    hours
        Widths of windows; None for places without times.
    """
    if not grids or not hours:
        raise ParameterError("Name at least one grid and one window.")
    return CoarsenedUniqueness(
        tuple(
            measure_uniqueness(
                trajectories,
                points,
                resolution=Resolution(grid, hours=window),
                draws=draws,
                at_most=at_most,
                random_state=random_state,
            )
            for grid in grids
            for window in hours
        )
    )


def _whole_people(trajectories: Trajectories) -> Trajectories:
    if not len(trajectories.codes):
        raise ParameterError("There is no visit to look at.")
    return trajectories.by_owner()


def _shares(counts: Counts) -> tuple[Share, ...]:
    return tuple(Share(int(each), len(counts)) for each in (counts == 1).sum(axis=0))

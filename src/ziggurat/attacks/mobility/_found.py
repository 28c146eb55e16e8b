"""Whether a few points of a person are found in what was released, more often than the points of others.

An attacker who knows four points of somebody looks for a released trajectory that holds them all. In a raw or coarsened
file it is that person's own, and if nobody else's fits, the person is re-identified. In a synthetic file a trajectory
that fits may be nobody's: many people take the same train. So the same is asked of people who were kept back, and only
what is found of those learned from beyond them tells the attacker anything: that they are in the data.

Hypothesis: what was released does not know who was learned from. Each person's points are drawn once, independently of
the release, and then fit or not whoever else was learned from; of all who fit, those learned from are dealt without
replacement (Fisher's exact test). An (epsilon, delta)-DP release keeps the advantage, the difference of the two shares,
at (e^epsilon - 1 + 2 delta) / (e^epsilon + 1) at most, if a person is its unit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from ziggurat.attacks._finding import Difference
from ziggurat.attacks._guesses import ALARM, FEWEST, Excess, dealt_chance, excess, whole
from ziggurat.attacks.mobility._points import Counts, PointSets, collect_points, draw_points
from ziggurat.attacks.mobility._resolution import Codes, Resolution
from ziggurat.errors import ParameterError
from ziggurat.findings import Finding, Share
from ziggurat.randomness import choose_source
from ziggurat.sequences.mobility import Trajectories
from ziggurat.wording import count_noun

Within = Literal["person", "trajectory"]


@dataclass(frozen=True)
class FoundByPoints(Finding):
    """How often a released trajectory holds some random points of a person, learned from or kept back.

    Attributes
    ----------
    resolution, points
        How finely points are known, and how many.
    learned, control
        The people of whom at least one released trajectory holds all points: of those learned from, and of others.
    alone, control_alone
        Those of whom exactly one does: whom an attacker would claim to have found.
    chance
        How likely so many of those who were found are among those learned from by chance alone.
    """

    resolution: Resolution
    points: int
    learned: Share
    control: Share
    alone: Share
    control_alone: Share
    chance: float

    @property
    def advantage(self) -> Difference:
        """By how much more often people learned from are found than others: what it tells of who is in the data."""
        return Difference(self.learned, self.control)

    @property
    def risk(self) -> Excess:
        """What is found beyond the control, as a share of what the control leaves to be found."""
        few = min(self.learned.trials, self.control.trials) < FEWEST
        return replace(excess(self.learned, self.control), verdict=None if few else self.chance <= ALARM)

    @property
    def verdict(self) -> bool | None:
        """Whether people learned from are found more often than chance explains; None if there are too few to tell."""
        return self.risk.verdict

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        text = (
            f"{count_noun(self.points, 'random point')} ({self.resolution}) are held by a released trajectory for "
            f"{self.learned} of {count_noun(self.learned.trials, 'person', 'people')} learned from and for "
            f"{self.control} of {self.control.trials:,} others; by exactly one for {self.alone} and "
            f"{self.control_alone}"
        )
        if self.verdict is None:
            return f"{text}. These are too few for a verdict."
        if self.verdict:
            return f"{text}. Warning: an advantage of {self.advantage} is more than chance explains."
        return f"{text}. An advantage of {self.advantage} is no more than chance explains."

    @property
    def table(self) -> pa.Table:
        """The shares with their intervals."""
        named: dict[str, Any] = {
            "learned from: held by a trajectory": self.learned,
            "others: held by a trajectory": self.control,
            "learned from: held by exactly one": self.alone,
            "others: held by exactly one": self.control_alone,
            "advantage": self.advantage,
            "risk beyond the control": self.risk,
        }
        ends = {end: [getattr(share, end) for share in named.values()] for end in ("rate", "low", "high")}
        return pa.table({"figure": list(named), **ends})

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as values that JSON can hold."""
        return {**super().to_dict(), "advantage": self.advantage.to_dict(), "verdict": self.verdict}


@dataclass(frozen=True)
class ComparedIdentifiability(Finding):
    """How many people remain re-identifiable by a few points, before and after.

    Attributes
    ----------
    releases
        By the name of each release: what was found in it.
    """

    releases: Mapping[str, FoundByPoints]

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        points = next(iter(self.releases.values())).points
        parts = [
            f"{name}: {each.alone.rate:.1%} of people fit one trajectory alone, advantage {each.advantage}"
            for name, each in self.releases.items()
        ]
        return f"By {count_noun(points, 'point')}, {'; '.join(parts)}."

    @property
    def table(self) -> pa.Table:
        """One row for each release."""
        found = self.releases.values()
        return pa.table(
            {
                "release": list(self.releases),
                "points known as": [str(each.resolution) for each in found],
                "fit one alone": [each.alone.rate for each in found],
                "found": [each.learned.rate for each in found],
                "others found": [each.control.rate for each in found],
                "advantage": [each.advantage.rate for each in found],
                "low": [each.advantage.low for each in found],
                "high": [each.advantage.high for each in found],
                "chance": [each.chance for each in found],
                "more than chance": [each.verdict for each in found],
            }
        )


def find_by_points(
    released: Trajectories,
    learned: Trajectories,
    control: Trajectories,
    points: int = 4,
    *,
    resolution: Resolution | None = None,
    within: Within | None = None,
    random_state: int | None = None,
) -> FoundByPoints:
    """Look for released trajectories that hold random points of people, learned from or kept back.

    Parameters
    ----------
    released
        What leaves: all visits of an owner are one trajectory. Pass the raw trajectories themselves, with a coarser
        resolution if so they leave, to measure what a release without synthesis gives away.
    learned, control
        What it was learned from, and people it was not learned from: chosen at random from the same pool.
    points
        How many points of a person are known; people who have fewer different ones are left out.
    resolution
        How finely; by default the place and the hour of the week, since synthetic trajectories hold no dates.
    within
        "person": points from anywhere in somebody's trace; "trajectory": all from one of the owner's trajectories that
        has as many. By default as the release is: from one trajectory if nobody in it owns two, as of drawn days.
    random_state
        A seed for a rehearsal; by default the choices are secret.
    """
    if within not in ("person", "trajectory", None):
        raise ParameterError("Points are drawn from within a 'person' or a 'trajectory'.")
    number, fine = whole(points, "points"), resolution or Resolution(fold="week")
    draw = choose_source(random_state).simulation()
    shown = released.by_owner()
    by_person = within == "person" or (within is None and len(shown) < (released.lengths > 0).sum())
    traces = [each.by_owner() if by_person else each for each in (learned, control)]
    held, *sides = collect_points([shown, *traces], fine)
    counts = [
        held.count_holders(draw_points(side, _choose_one(side, trace, number, draw), number, draw))[:, -1]
        for side, trace in zip(sides, traces, strict=True)
    ]
    (found, alone), (others, others_alone) = (_count(each) for each in counts)
    return FoundByPoints(fine, number, found, others, alone, others_alone, dealt_chance(found, others))


def compare_identifiability(
    learned: Trajectories,
    control: Trajectories,
    releases: Mapping[str, tuple[Trajectories, Resolution]],
    points: int = 4,
    *,
    within: Within | None = None,
    random_state: int | None = None,
) -> ComparedIdentifiability:
    """Compare how many people a few points re-identify in several releases of the same data: before and after.

    Parameters
    ----------
    learned, control, points, within, random_state
        As for `find_by_points`.
    releases
        By name what leaves and how finely it tells points: the raw data are `(learned, Resolution())`, coarsened ones
        `(learned, Resolution(grid=32, hours=6))`, synthetic ones `(drawn, Resolution(fold="week"))`.

    Examples
    --------
    >>> from ziggurat.sequences.mobility import Ground, TrajectoryDomain
    >>> domain = TrajectoryDomain.on(Ground(("home", "work", "gym")), longest=9)
    >>> seen = Trajectories.of_visits(domain, [[("home", 0), ("work", 600)], [("home", 0), ("gym", 660)]])
    >>> others = Trajectories.of_visits(domain, [[("gym", 0), ("work", 600)]])
    >>> raw = {"raw": (seen, Resolution()), "places": (seen, Resolution(hours=None))}
    >>> found = compare_identifiability(seen, others, raw, points=2, random_state=0)
    >>> found.table["fit one alone"].to_pylist()
    [1.0, 1.0]
    """
    if not releases:
        raise ParameterError("Name at least one release to compare.")
    return ComparedIdentifiability(
        {
            name: find_by_points(
                released, learned, control, points, resolution=known, within=within, random_state=random_state
            )
            for name, (released, known) in releases.items()
        }
    )


def _choose_one(sets: PointSets, traces: Trajectories, points: int, draw: np.random.Generator) -> Codes:
    """One trace of each owner with enough points, chosen at random."""
    enough = draw.permutation(np.flatnonzero(sets.sizes >= points))
    whose = enough if traces.owners is None else traces.owners[enough]
    return np.asarray(enough[np.unique(whose, return_index=True)[1]])


def _count(holders: Counts) -> tuple[Share, Share]:
    return Share(int((holders > 0).sum()), len(holders)), Share(int((holders == 1).sum()), len(holders))

"""Attacks on drawn trajectories, with people who were kept back; and what a steward sees before and after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ziggurat.release._drafts import Told, say_nothing
from ziggurat.release._drawn import (
    CANARY,
    CANDIDATES,
    COPIES,
    NO_CONTROL,
    Drawn,
    DrawnAttacks,
    count_copies,
    require_rehearsal,
)
from ziggurat.release._evidence import Evidence
from ziggurat.sequences import Sequences
from ziggurat.sequences.mobility import Fold, Trajectories, TrajectoryDomain

CLOSEST, POINTS = "closest trajectories", "found by points"
_KNOWN = 4  # points: what singled out 95 % of 1.5 million people (de Montjoye and others 2013)
_DAY = 24 * 60
_NOTHING_DRAWN = "No trajectory was drawn, or none was learned from, so that there is nothing to compare."


@dataclass(frozen=True)
class TrajectoryAttacks(DrawnAttacks):
    """How drawn trajectories are attacked: are they close to real ones, do they hold four points of somebody?"""

    @classmethod
    def planting(cls, domain: TrajectoryDomain, canaries: int, seed: int | None) -> TrajectoryAttacks:
        """Attacks with so many canaries: people at random places and hours."""
        if not require_rehearsal(canaries, seed):
            return cls()
        from ziggurat.attacks.mobility import draw_canaries

        visits = min(CANARY, domain.longest)
        return cls(draw_canaries(domain, canaries, visits=visits, candidates=CANDIDATES, random_state=seed))

    def names(self, *, control: bool) -> tuple[str, ...]:
        """With people who are kept back, or without where there are none."""
        return (CLOSEST, POINTS) if control else (COPIES,)

    def attack(self, draft: Drawn, drawn: Sequences) -> Evidence:
        """Attack the trajectories, and measure for the steward what they are worth."""
        made: Any = drawn
        learned: Any = draft.learned
        found = self._look_for_people(draft, made)
        if not len(drawn) or not len(learned):
            return found
        draft.task.told("measuring", "use", 0, 1)
        facts = _measure(learned, made, draft.task.maker.random_state)
        return Evidence(found.findings, found.skipped, facts, _draw(learned, made))

    def _look_for_people(self, draft: Drawn, drawn: Trajectories) -> Evidence:
        learned: Any = draft.learned
        control: Any = draft.control
        known = control is not None and len(control) > 0
        if not len(drawn) or not len(learned):
            return Evidence({}, dict.fromkeys(self.names(control=known), _NOTHING_DRAWN))
        if not known:
            skipped = dict.fromkeys(self.names(control=True), NO_CONTROL)
            return Evidence({COPIES: count_copies(drawn, learned)}, skipped)
        task = draft.task
        return Evidence(attack_trajectories(drawn, learned, control, task.maker.random_state, task.told))


def attack_trajectories(
    drawn: Trajectories, learned: Trajectories, control: Trajectories, seed: int | None = None, told: Told = say_nothing
) -> dict[str, Any]:
    """Look for what was learned from in drawn trajectories, beside people who were not learned from.

    A drawn trajectory stands for one of somebody's, and knows no date: the points that an attacker looks for are of
    one trajectory, by place and hour of the day or, if what was drawn tells these apart, of the week.
    """
    from ziggurat.attacks.mobility import Resolution, closest_trajectories, find_by_points

    told("attacking", CLOSEST, 0, 2)
    found: dict[str, Any] = {CLOSEST: closest_trajectories(drawn, learned, control, random_state=seed)}
    told("attacking", POINTS, 1, 2)
    known = Resolution(hours=None) if drawn.minutes is None else Resolution(fold=_fold(drawn))
    asked: dict[str, Any] = {"resolution": known, "within": "trajectory", "random_state": seed}
    return {**found, POINTS: find_by_points(drawn, learned, control, min(_KNOWN, drawn.domain.longest), **asked)}


def _fold(drawn: Trajectories) -> Fold:
    """What is drawn within a day may end after midnight."""
    return "day" if drawn.minutes is None or drawn.minutes.max(initial=0) < 2 * _DAY else "week"


def _measure(learned: Trajectories, drawn: Trajectories, seed: int | None) -> dict[str, Any]:
    """How unique people are before, and how alike both are: exact, and for the steward alone."""
    from ziggurat.attacks.mobility import measure_uniqueness
    from ziggurat.utility.mobility import MobilityTerms, compare_trajectories

    before = measure_uniqueness(learned, _KNOWN, random_state=seed)
    use = compare_trajectories(learned, drawn, terms=MobilityTerms(scaled=True))  # however many were asked for
    return {"uniqueness_before": before.to_dict(), "use": use.to_dict()}


def _draw(learned: Trajectories, drawn: Trajectories) -> Mapping[str, str]:
    """Maps before and after, where places have coordinates."""
    if learned.ground.points is None:
        return {}
    from ziggurat.utility.mobility import draw_map, draw_trips

    both = {"before": learned, "after": drawn}
    return {
        "Where visits are, before and after": draw_map(both).decode(),
        "From where to where, before and after": draw_trips(both).decode(),
    }

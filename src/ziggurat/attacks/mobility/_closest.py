"""Whether released trajectories follow the people they were learned from more closely than others.

Document 002 (section 5.4) averages the Jaccard similarity of every synthetic trajectory with *every* real one, and
takes a low average for a low risk of disclosure. That says nothing: any two people have little in common, so that a
file which copies everybody word for word has the same low average, since each copy equals one record and differs from
all others. Disclosure is in the nearest record; and how near it is tells something only beside people who were kept
back, for on a small network everybody's trips look like somebody's.

Two directions are measured. From released trajectories to people, as in `attacks.sequences.closest_sequences`: whom
does each come closest to, and what was copied. And from people to released trajectories: how far is the nearest
released one from the trajectories of a person, on average over these. For the second, as many people of both sides are
paired before anybody looks. If the release does not know who was learned from, then of the pairs whose distances differ
each of the two is nearer with probability 1/2, independently: a binomial test.

Three tests alarm by chance with probability at most a third of `ALARM` each, hence the verdict with at most `ALARM`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ziggurat.attacks._guesses import ALARM, FEWEST, Excess, whole
from ziggurat.attacks._nearest import Distances, find_nearest
from ziggurat.attacks.mobility._distances import Warping, measure_overlaps
from ziggurat.attacks.mobility._points import sort_pairs
from ziggurat.attacks.sequences import ClosestSequences, closest_sequences
from ziggurat.errors import ParameterError
from ziggurat.findings import Finding, Share
from ziggurat.randomness import choose_source
from ziggurat.sequences import Sequences
from ziggurat.sequences.mobility import Trajectories

Distance = Literal["jaccard", "edit", "warping"]
DISTANCES: tuple[Distance, ...] = ("jaccard", "edit", "warping")
"""Of sets of places, of their order, and of the ways between them in kilometres."""

AT_MOST = 5_000
"""How many trajectories, and units of each side, are measured by default."""

_Reals = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ClosestTrajectories(Finding):
    """Whether released trajectories come closer to people learned from than to others.

    Attributes
    ----------
    distance
        How trajectories are compared: "jaccard" (1 less the share of places in common), "edit" (changes as a share of
        the longer's visits) or "warping" (kilometres per visit of the longer).
    found
        Whom released trajectories are closest to, and what was copied (by "jaccard": which sets of places).
    nearer
        Of pairs of somebody learned from and somebody else, those in which a released trajectory comes nearer to the
        one learned from; a half is expected. Pairs in which both are equally near do not count.
    pairs
        How many there are, those included.
    luck
        How likely so many are by chance alone.
    learned, control
        How far the nearest released trajectory is from people's trajectories, on average: the median over people.
    """

    distance: Distance
    found: ClosestSequences
    nearer: Share
    pairs: int
    luck: float
    learned: float
    control: float

    @property
    def closeness(self) -> Excess:
        """By how much more of the different released trajectories are closest to people learned from."""
        return self._judged(self.found.closeness, self.found.luck)

    @property
    def copying(self) -> Excess:
        """The share of trajectories that one person alone has which were copied, beyond what the control has."""
        return self._judged(self.found.copying, self.found.copied)

    @property
    def nearness(self) -> Excess:
        """By how much more of the pairs have the one learned from nearer to a released trajectory than the other."""
        share = self.nearer.trials / self.pairs
        rate, low, high = ((2 * each - 1) * share for each in (self.nearer.rate, self.nearer.low, self.nearer.high))
        few = self.nearer.trials < FEWEST
        return Excess(rate if self.nearer.trials else 0.0, low, high, None if few else self.luck <= ALARM / 3)

    def _judged(self, found: Excess, chance: float) -> Excess:
        return Excess(found.rate, found.low, found.high, None if found.verdict is None else chance <= ALARM / 3)

    @property
    def verdict(self) -> bool | None:
        """Whether released trajectories follow people learned from; None if there are too few to tell."""
        found = {self.closeness.verdict, self.copying.verdict, self.nearness.verdict}
        return True if True in found else (None if found == {None} else False)

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        uniques, others = self.found.uniques, self.found.control_uniques
        text = (
            f"By {self.distance} distance {self.found.closer:.1%} of {self.found.distinct:,} different released "
            f"trajectories are closest to people learned from rather than to others (50% expected, give or take "
            f"{self.found.chance:.1%}); of {self.nearer.trials:,} pairs that differ the one learned from is nearer in "
            f"{self.nearer}; what one person alone has was released of {uniques} of {uniques.trials:,} people learned "
            f"from and of {others} of {others.trials:,} others"
        )
        if self.verdict:
            return f"{text}. Warning: the model copies people it learned from."
        if self.verdict is None:
            return f"{text}. These are too few for a verdict."
        return f"{text}. That is no more than chance explains."

    @property
    def table(self) -> pa.Table:
        """Those learned from beside the control."""
        told = self.found.table
        column = pa.array([self.learned, self.control])
        return told.rename_columns(
            ["people", *(name.replace("sequence", "trajectory") for name in told.column_names[1:])]
        ).append_column("distance of the nearest released one, median", column)

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as values that JSON can hold."""
        return {**super().to_dict(), "verdict": self.verdict}


def closest_trajectories(
    released: Trajectories,
    learned: Trajectories,
    control: Trajectories,
    *,
    distance: Distance = "edit",
    at_most: int = AT_MOST,
    random_state: int | None = None,
) -> ClosestTrajectories:
    """Measure whether released trajectories follow people learned from more closely than people who were kept back.

    The average Jaccard similarity with all records, which document 002 measures, says nothing about disclosure: a file
    that copies everybody has as low an average as any other, because each copy has one original and many strangers.
    What counts is the nearest record, beside that of people who were kept back.

    Parameters
    ----------
    released
        What leaves. Trajectories without visits are left out, here and below.
    learned, control
        What it was learned from, and people it was not learned from: chosen at random from the same pool. Compare
        days with days, or whole people (`by_owner()`) with whole people.
    distance
        "jaccard" compares sets of places, "edit" their order, "warping" the ways in kilometres (with coordinates).
    at_most
        How many released trajectories, and people of each side, are measured at most; drawn at random.
    random_state
        A seed for a rehearsal; by default the choices are secret.
    """
    if distance not in DISTANCES:
        raise ParameterError("Trajectories are compared by 'jaccard', 'edit' or 'warping'.")
    most = whole(at_most, "at_most")
    prepare, measure = _choose_distance(distance, learned)
    every = [prepare(each.take(each.lengths > 0)) for each in (released, learned, control)]
    found = closest_sequences(*every, distance=measure, at_most=most, random_state=random_state)
    draw = choose_source(random_state).simulation()
    shown = every[0].to_characters()
    texts = [shown[place] for place in draw.permutation(len(shown))[:most]]
    ours, theirs = (_measure_people(each, found.units, texts, measure, draw) for each in every[1:])
    nearer = Share(int((ours < theirs).sum()), int((ours != theirs).sum()))
    middles = (float(np.median(each)) for each in (ours, theirs))
    return ClosestTrajectories(distance, found, nearer, found.units, _toss(nearer), *middles)


def _choose_distance(
    distance: Distance, trajectories: Trajectories
) -> tuple[Callable[[Trajectories], Sequences], Distances | None]:
    """How trajectories are prepared to be compared, and the distance; None for that of closest sequences."""
    if distance == "jaccard":
        return _to_sets, measure_overlaps
    if distance == "edit":
        return _as_they_are, None
    trajectories.ground.require_points()
    return _as_they_are, Warping(trajectories.ground)


def _as_they_are(trajectories: Trajectories) -> Sequences:
    return trajectories


def _to_sets(trajectories: Trajectories) -> Sequences:
    """Each trajectory's different places, rising: equal sets are equal sequences."""
    size = trajectories.domain.size
    who = np.repeat(np.arange(len(trajectories)), trajectories.lengths)
    owner, codes = sort_pairs(who, trajectories.codes.astype(np.int64), size)
    offsets = np.searchsorted(owner, np.arange(len(trajectories) + 1))
    return Sequences(trajectories.domain, codes.astype(np.int32), offsets, trajectories.labels, trajectories.owners)


def _measure_people(
    side: Sequences, people: int, released: Sequence[str], measure: Distances | None, draw: np.random.Generator
) -> _Reals:
    """For so many people, chosen at random, the mean distance of their trajectories to the nearest released one."""
    owners = np.arange(len(side)) if side.owners is None else side.owners
    names, whose = np.unique(owners, return_inverse=True)
    place = np.full(len(names), -1)
    place[draw.permutation(len(names))[:people]] = np.arange(people)
    held = np.flatnonzero(place[whose] >= 0)
    texts = side.take(held).to_characters()
    found = find_nearest(texts, released, released, measure).first
    distances = dict(zip(dict.fromkeys(texts), found.tolist(), strict=True))
    rows = place[whose[held]]
    total = partial(np.bincount, rows, minlength=people)
    return np.asarray(total(weights=[distances[each] for each in texts]) / total())


def _toss(heads: Share) -> float:
    from scipy import stats

    return float(stats.binom.sf(heads.hits - 1, heads.trials, 0.5))

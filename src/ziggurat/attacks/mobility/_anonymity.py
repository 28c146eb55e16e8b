"""How many people share what is told of them: k-anonymity of traces, of top places, of homes and places of work.

Zang, Bolot (2011), "Anonymization of location data does not work: a large-scale measurement study", MobiCom: the two or
three places where somebody is most often, in a sector of a mobile network, are shared by few others.
Golle, Partridge (2009), "On the anonymity of home/work location pairs", Pervasive: at the census block the median
anonymity set of American workers is one.

The figures are of one file in which an owner is a person; of synthetic people they say nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa

from ziggurat.attacks._guesses import whole
from ziggurat.attacks.mobility._resolution import Codes, Resolution
from ziggurat.cards import Shown
from ziggurat.errors import ParameterError
from ziggurat.findings import Finding, Share
from ziggurat.sequences.mobility import Trajectories
from ziggurat.wording import count_noun

_PLACES = Resolution(hours=None)
_WEEKEND = 5 * 24
_NOWHERE = -1

Alike = Literal["set", "sequence"]


@dataclass(frozen=True)
class AnonymitySets(Shown):
    """How large the groups of people are of whom the same is told.

    Attributes
    ----------
    told
        What is told of each.
    smallest, low, quarter, median
        The size of the smallest group, and the 5th, 25th and 50th percentile over people of the size of theirs.
    alone
        The people who share it with nobody.
    """

    told: str
    smallest: int
    low: int
    quarter: int
    median: int
    alone: Share

    @classmethod
    def of(cls, told: str, said: Sequence[Hashable]) -> AnonymitySets:
        """Group people by what is said of each."""
        groups = Counter(said)
        sizes = np.array([groups[each] for each in said], dtype=np.int64)
        low, quarter, median = np.quantile(sizes, (0.05, 0.25, 0.5), method="inverted_cdf").tolist()
        return cls(told, int(sizes.min()), low, quarter, median, Share(int((sizes == 1).sum()), len(sizes)))


@dataclass(frozen=True)
class _Grouped(Finding):
    """What all of these findings share: people are grouped by what is told of them.

    Attributes
    ----------
    resolution
        How finely places, and times, are told.
    sets
        The groups, the least telling first.
    """

    resolution: Resolution
    sets: tuple[AnonymitySets, ...]

    @property
    def last(self) -> AnonymitySets:
        """The groups by all that is told."""
        return self.sets[-1]

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        least = self.last
        return (
            f"Of {count_noun(least.alone.trials, 'person', 'people')} {least.alone} share their {least.told} "
            f"({self.resolution}) with nobody; half share it with {least.median - 1:,} others at most, and the "
            f"smallest group is {least.smallest:,}."
        )

    @property
    def table(self) -> pa.Table:
        """One row for each thing that is told."""
        names = {"smallest group": "smallest", "5 %": "low", "25 %": "quarter", "median": "median"}
        return pa.table(
            {
                "told": [each.told for each in self.sets],
                "people": [each.alone.trials for each in self.sets],
                **{title: [getattr(each, name) for each in self.sets] for title, name in names.items()},
                "alone": [each.alone.rate for each in self.sets],
            }
        )


class TrajectoryAnonymity(_Grouped):
    """How many people have the same trace: its k-anonymity."""


class TopPlaces(_Grouped):
    """How many people have the same most visited places, for the first, the first two, ..."""


class FoundHomes(_Grouped):
    """How many people have the same home, the same place of work, and the same pair, as guessed by hours."""


def count_anonymity(
    trajectories: Trajectories, *, resolution: Resolution | None = None, alike: Alike = "set"
) -> TrajectoryAnonymity:
    """Count with how many others each person shares the whole trace.

    Parameters
    ----------
    trajectories
        The file; use `each_alone()` to count trajectories instead of people.
    resolution
        How finely; by default places without times.
    alike
        "set": the same points were visited, in whatever order; "sequence": in the same order, as often.
    """
    if alike not in ("set", "sequence"):
        raise ParameterError("Traces are alike by their 'set' or their 'sequence' of points.")
    told, people = resolution or _PLACES, _by_person(trajectories)
    parts = np.split(told.visits(people), people.offsets[1:-1])
    said = [(np.unique(each) if alike == "set" else each).tobytes() for each in parts]
    return TrajectoryAnonymity(told, (AnonymitySets.of(f"{alike} of points", said),))


def rank_top_places(
    trajectories: Trajectories, top: int = 3, *, resolution: Resolution | None = None, ordered: bool = False
) -> TopPlaces:
    """Count with how many others each person shares the most visited places.

    Parameters
    ----------
    trajectories
        The file.
    top
        How many places; every smaller number is counted as well. Whoever has fewer is told by all of them; of places
        visited equally often the one visited first comes first.
    resolution
        How finely; by default places without times.
    ordered
        Whether it is told which is visited most.
    """
    most, told, people = whole(top, "top"), resolution or _PLACES, _by_person(trajectories)
    ranked = [_rank(each)[:most] for each in np.split(told.visits(people), people.offsets[1:-1])]
    sets = []
    for number in range(1, most + 1):
        first = [each[:number] for each in ranked]
        said = [tuple(each.tolist() if ordered else np.sort(each).tolist()) for each in first]
        sets.append(AnonymitySets.of("top place" if number == 1 else f"top {number} places", said))
    return TopPlaces(told, tuple(sets))


def infer_homes(
    trajectories: Trajectories,
    *,
    resolution: Resolution | None = None,
    night: tuple[int, int] = (22, 6),
    office: tuple[int, int] = (9, 17),
) -> tuple[Codes, Codes]:
    """Guess where each owner, by rising number, lives and works: the most visited place of the hours; -1 if none.

    Parameters
    ----------
    trajectories
        The file, with times.
    resolution
        How finely places are told; times are not.
    night
        From which hour to which people are at home, on all days.
    office
        From which hour to which people are at work, from Monday to Friday.
    """
    people = _by_person(trajectories)
    hour = people.hours("week").astype(np.int64)
    places = (resolution or _PLACES).places(people.ground)[people.codes]
    asleep, at_work = _between(hour % 24, night), _between(hour % 24, office) & (hour < _WEEKEND)
    found = (
        [
            _first(each[chosen])
            for each, chosen in zip(*(np.split(part, people.offsets[1:-1]) for part in both), strict=True)
        ]
        for both in ((places, asleep), (places, at_work))
    )
    home, work = (np.array(each, dtype=np.int64) for each in found)
    return home, work


def find_homes(
    trajectories: Trajectories,
    *,
    resolution: Resolution | None = None,
    night: tuple[int, int] = (22, 6),
    office: tuple[int, int] = (9, 17),
) -> FoundHomes:
    """Count with how many others people share the home, the place of work and the pair that their hours tell.

    People of whom no such place can be told are left out of the count.

    Parameters
    ----------
    trajectories, resolution, night, office
        As for `infer_homes`.
    """
    home, work = infer_homes(trajectories, resolution=resolution, night=night, office=office)
    told = {
        "home": [each for each in home.tolist() if each >= 0],
        "place of work": [each for each in work.tolist() if each >= 0],
        "home and place of work": [pair for pair in zip(home.tolist(), work.tolist(), strict=True) if min(pair) >= 0],
    }
    sets = tuple(AnonymitySets.of(name, said) for name, said in told.items() if said)
    if not sets:
        raise ParameterError("Nobody was anywhere at night or in office hours; name other hours.")
    return FoundHomes(resolution or _PLACES, sets)


def _by_person(trajectories: Trajectories) -> Trajectories:
    people = trajectories.by_owner()
    if not len(people):
        raise ParameterError("There is no visit to look at.")
    return people


def _rank(visits: Codes) -> Codes:
    """Different ones, the most frequent first, of equally frequent ones that which comes first."""
    found, first, times = np.unique(visits, return_index=True, return_counts=True)
    return np.asarray(found[np.lexsort((first, -times))])


def _first(visits: Codes) -> int:
    return int(_rank(visits)[0]) if len(visits) else _NOWHERE


def _between(hour: Codes, ends: tuple[int, int]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether an hour lies between two, also across midnight."""
    start, stop = ends
    if not (0 <= start <= 24 and 0 <= stop <= 24 and start != stop):
        raise ParameterError("Hours lie between 0 and 24, and the first differs from the last.")
    return (hour >= start) & (hour < stop) if start < stop else (hour >= start) | (hour < stop)

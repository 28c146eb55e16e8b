"""Trajectories: who was where and when, as ragged arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from ziggurat.data import Unit
from ziggurat.errors import ParameterError
from ziggurat.sequences._domain import SequenceDomain, Token
from ziggurat.sequences._sequences import Codes, Places, Sequences
from ziggurat.sequences.mobility._ground import Ground

Fold = Literal["day", "week"]
"""How hours are folded: 24 hours of a day, or 168 of a week that begins on Monday."""

HOURS: Mapping[Fold, int] = {"day": 24, "week": 168}
"""How many hours there are in each."""
_DAY = 24 * 60


@dataclass(frozen=True)
class TrajectoryDomain(SequenceDomain):
    """What is publicly known of trajectories: the places are the tokens, and the ground says where they lie.

    Parameters
    ----------
    tokens, longest, classes, unit
        As for `SequenceDomain`; a visit elsewhere than at the public places does not count.
    ground
        Where the places lie.
    timed
        Whether visits have times.
    """

    ground: Ground = field(default=Ground(("anywhere",)))
    timed: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tokens != self.ground.names:
            raise ParameterError("The tokens of trajectories are the places of their ground.")

    @classmethod
    def on(
        cls,
        ground: Ground,
        longest: int,
        *,
        unit: Unit | None = None,
        timed: bool = True,
        classes: Iterable[Token] = (),
    ) -> TrajectoryDomain:
        """Trajectories on a ground, of which the first `longest` visits count.

        Examples
        --------
        >>> domain = TrajectoryDomain.on(Ground(("home", "work")), longest=20, unit=Unit.person("card"))
        >>> domain.size, str(domain.unit)
        (2, 'one person (column card)')
        """
        return cls(ground.names, longest, tuple(classes), unit or Unit(), ground, timed)

    def to_plain(self) -> dict[str, Any]:
        """All of it for a file of JSON."""
        said = super().to_plain()
        del said["tokens"]
        return {**said, "ground": self.ground.to_plain(), "timed": self.timed}

    @classmethod
    def from_plain(cls, said: Mapping[str, Any]) -> Self:
        """What `to_plain` said; KeyError, TypeError or ValueError if it is something else."""
        ground = Ground.from_plain(said["ground"])
        return super().from_plain({**said, "tokens": ground.names, "ground": ground})


@dataclass(frozen=True, eq=False)
class Trajectories(Sequences):
    """Trajectories: raw until a mechanism has protected them.

    Visits of trajectory i are `codes[offsets[i]:offsets[i + 1]]`, codes of places, with their `minutes`. One trajectory
    may be a day of a person, a trip, or all that a person did: `owners` says whose it is.

    Parameters
    ----------
    domain, codes, offsets, labels, owners
        As for `Sequences`; the domain is a `TrajectoryDomain`.
    minutes
        When each visit was, in minutes since midnight of a public Monday, local time, never falling within a
        trajectory; None exactly if the domain is not timed.
    """

    domain: TrajectoryDomain
    minutes: Places | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.domain, TrajectoryDomain):
            raise ParameterError("Trajectories need a TrajectoryDomain, which says where the places lie.")
        if self.minutes is not None:
            object.__setattr__(self, "minutes", np.ascontiguousarray(self.minutes, dtype=np.int64))
        super().__post_init__()
        if (self.minutes is None) is self.domain.timed or (
            self.minutes is not None and len(self.minutes) != len(self.codes)
        ):
            raise ParameterError("There must be one time for every visit exactly if the domain is timed.")
        if self.minutes is not None and (np.diff(self.minutes)[self._within] < 0).any():
            raise ParameterError("The visits of a trajectory must be in order of time.")

    @property
    def _within(self) -> npt.NDArray[np.bool_]:
        """Whether a visit and the next belong to the same trajectory."""
        inside = np.ones(max(len(self.codes) - 1, 0), dtype=bool)
        ends = self.offsets[1:-1]
        inside[ends[(ends > 0) & (ends < len(self.codes))] - 1] = False
        return inside

    @classmethod
    def of_visits(
        cls,
        domain: TrajectoryDomain,
        visits: Iterable[Sequence[tuple[Token, int]]],
        owners: Iterable[object] | None = None,
    ) -> Trajectories:
        """Code trajectories of (place, minute): unknown places are left out, and so is all after the longest.

        Examples
        --------
        >>> domain = TrajectoryDomain.on(Ground(("home", "work")), longest=5)
        >>> found = Trajectories.of_visits(domain, [[("home", 420), ("?", 430), ("work", 540)]])
        >>> list(found), found.hours("day").tolist()
        ([('home', 'work')], [7, 9])
        """
        known = [[each for each in one if each[0] in domain.codes][: domain.longest] for one in visits]
        plain = Sequences.of(domain, [[place for place, _ in one] for one in known], owners=owners)
        minutes = np.array([minute for one in known for _, minute in one], dtype=np.int64)
        return cls(domain, plain.codes, plain.offsets, None, plain.owners, minutes)

    def _keeping(self, symbols: Places, offsets: Places, labels: Codes | None, owners: Places | None) -> Self:
        minutes = None if self.minutes is None else self.minutes[symbols]
        return type(self)(self.domain, self.codes[symbols], offsets, labels, owners, minutes)

    @classmethod
    def together(cls, parts: Sequence[Sequences]) -> Trajectories:
        """Several sets of trajectories of one domain as one; owners of different sets are different people."""
        joined = Sequences.together(parts)
        times = [part.minutes for part in parts if isinstance(part, Trajectories) and part.minutes is not None]
        minutes = np.concatenate(times) if times else None
        domain: Any = joined.domain
        return cls(domain, joined.codes, joined.offsets, joined.labels, joined.owners, minutes)

    @property
    def ground(self) -> Ground:
        """Where the places lie."""
        return self.domain.ground

    def hours(self, fold: Fold = "day") -> Codes:
        """The hour of every visit, of the day or of the week."""
        if self.minutes is None:
            raise ParameterError("These trajectories have no times.")
        if fold not in HOURS:
            raise ParameterError("Hours are folded by 'day' or by 'week'.")
        return (self.minutes // 60 % HOURS[fold]).astype(np.int32)

    def points(self) -> npt.NDArray[np.float64]:
        """Where every visit was, in kilometres from the corner of the box."""
        return self.ground.require_points()[0][self.codes]

    def by_owner(self) -> Trajectories:
        """All visits of each owner, in order of time, as one trajectory; the domain then is as long as needed.

        For models and attacks that look at whole people; what they tell is as raw as the visits.
        """
        whose = np.arange(len(self)) if self.owners is None else self.owners
        owner = np.repeat(whose, self.lengths)
        order = np.lexsort((np.arange(len(owner)), *([] if self.minutes is None else [self.minutes]), owner))
        held, counts = np.unique(owner[order], return_counts=True)
        return self._regrouped(order, counts, held, None)

    def by_day(self, *, least: int = 1, starts: int = 0) -> Trajectories:
        """The same visits cut into days of each owner, those with fewer than `least` visits left out.

        Parameters
        ----------
        least
            How many visits make a trajectory.
        starts
            The minute after midnight at which a day begins.
        """
        if self.minutes is None:
            raise ParameterError("These trajectories have no times; cut them where they are read.")
        whole = self.by_owner()
        day = (whole.minutes - starts) // _DAY  # type: ignore[operator]  # timed, as was asked above
        who = np.repeat(np.arange(len(whole)), whole.lengths)
        starts_here = np.flatnonzero((np.diff(day, prepend=-1) != 0) | (np.diff(who, prepend=-1) != 0))
        counts = np.diff(starts_here, append=len(who))
        owners = None if whole.owners is None else whole.owners[who[starts_here]]
        cut = whole._regrouped(np.arange(len(who)), counts, owners, self.domain.longest)
        return cut.take(cut.lengths >= least)

    def each_alone(self, column: str = "trajectory") -> Trajectories:
        """The same trajectories, each its own unit: a promise about them hides one trajectory and no person."""
        return type(self)(
            self._domain_with(Unit.of(column, "trajectory"), self.domain.longest),
            self.codes,
            self.offsets,
            self.labels,
            np.arange(len(self)),
            self.minutes,
        )

    def _regrouped(self, order: Places, counts: Places, owners: Places | None, longest: int | None) -> Trajectories:
        """Visits in another order and grouping; longer ones are cut if `longest` is given."""
        offsets = np.concatenate([[0], np.cumsum(counts)])
        domain = self._domain_with(self.domain.unit, int(counts.max(initial=1)))
        minutes = None if self.minutes is None else self.minutes[order]
        owned = None if self.domain.unit.is_row else owners
        made = type(self)(domain, self.codes[order], offsets, None, owned, minutes)
        if longest is None:
            return made
        cut = made.take_first(longest)
        return type(self)(
            self._domain_with(self.domain.unit, longest), cut.codes, cut.offsets, None, owned, cut.minutes
        )

    def _domain_with(self, unit: Unit, longest: int) -> TrajectoryDomain:
        return TrajectoryDomain.on(self.ground, longest, unit=unit, timed=self.domain.timed)

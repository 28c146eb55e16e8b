"""Commuter transportation graphs: which place a community's people went to from which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.errors import ParameterError
from ziggurat.sequences.mobility._trajectories import Trajectories


@dataclass(frozen=True, eq=False)
class TransportationGraph:
    """How often somebody of a community went from one place to another: observed trips, without any promise.

    An edge says that a person made that trip. Section 5.2.4 of Dandekar's thesis joins any two places "in the
    mobility" of a person, which makes trips that nobody made and has no direction; here a trip is a visit and the
    next one of the same trajectory, elsewhere. Staying at a place is no trip.

    Parameters
    ----------
    trips, people
        Places x places, sparse (CSR of SciPy): how many trips lead from the row to the column, and how many different
        people made them.
    """

    trips: Any
    people: Any

    @classmethod
    def of(cls, trajectories: Trajectories, members: npt.ArrayLike | None = None) -> TransportationGraph:
        """Count the trips of some people.

        Parameters
        ----------
        trajectories
            Whose trips; cut into days (`by_day`), the way from one day's last visit to the next day's first is none.
        members
            Whose trajectories count: places among the people in the order of `by_owner()`, as `Communities.members`
            gives them; everybody's by default.
        """
        chosen = trajectories if members is None else _take_people(trajectories, np.asarray(members, dtype=np.int64))
        start, end, which = _find_trips(chosen)
        owner = which if chosen.owners is None else chosen.owners[which]
        once = np.unique(np.stack([start, end, owner]), axis=1)
        size = trajectories.domain.size
        return cls(_count((start, end), size), _count((once[0], once[1]), size))

    @property
    def edges(self) -> int:
        """How many different trips were made."""
        return int(self.trips.nnz)

    @property
    def out_degrees(self) -> npt.NDArray[np.int64]:
        """To how many places trips lead from each."""
        return np.asarray(np.diff(self.trips.indptr), dtype=np.int64)

    def count_makers(self, trajectories: Trajectories) -> npt.NDArray[np.int64]:
        """For every trip of some trajectories, one after the other, how many people of the graph made it."""
        start, end, _ = _find_trips(trajectories)
        return np.asarray(self.people[start, end], dtype=np.int64)


def _count(trips: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]], size: int) -> Any:
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(trips[0]), dtype=np.int64), trips), shape=(size, size))


def _find_trips(
    trajectories: Trajectories,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Where every trip begins and ends, and which trajectory it is of."""
    which = np.repeat(np.arange(len(trajectories)), trajectories.lengths)
    codes = trajectories.codes.astype(np.int64)
    moved = (which[:-1] == which[1:]) & (codes[:-1] != codes[1:])
    return codes[:-1][moved], codes[1:][moved], which[:-1][moved]


def _take_people(trajectories: Trajectories, members: npt.NDArray[np.int64]) -> Trajectories:
    if trajectories.owners is None:
        return trajectories.take(members)
    people = np.unique(trajectories.owners)
    if len(members) and not (members.min() >= 0 and members.max() < len(people)):
        raise ParameterError(f"There are {len(people):,} people with trajectories; members are their places, from 0.")
    return trajectories.take(np.isin(trajectories.owners, people[members]))

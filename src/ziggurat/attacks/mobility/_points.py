"""Who was at which points: for every person a sorted set, and for every point a sorted list of people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ziggurat.attacks.mobility._resolution import Codes, Resolution
from ziggurat.sequences.mobility import Trajectories

Counts = npt.NDArray[np.int64]

_FEW = 8  # of a list so short a search is as quick


@dataclass(frozen=True, eq=False)
class PointSets:
    """The different points of each of several people or trajectories: `points[starts[i]:starts[i + 1]]`, rising.

    Points of several sets that were made together have the same numbers, 0 to `size` - 1.
    """

    starts: Codes
    points: Codes
    size: int

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def sizes(self) -> Codes:
        """How many points each has."""
        return np.diff(self.starts)

    @cached_property
    def holders(self) -> tuple[Codes, Codes]:
        """The inverted lists: where the list of each point begins, and all lists, each rising."""
        who = np.repeat(np.arange(len(self)), self.sizes)
        order = np.argsort(self.points, kind="stable")
        return np.searchsorted(self.points[order], np.arange(self.size + 1)), who[order]

    def count_holders(self, known: Codes) -> Counts:
        """How many hold the first 1, 2, ... of the points in each row: one column for each number of points.

        A row that ends early, filled up with -1, repeats its last count.
        """
        from ziggurat.attacks.mobility._points_kernels import count_common

        found = np.zeros(known.shape, dtype=np.int64)
        count_common(*self.holders, *self._bits, np.ascontiguousarray(known, dtype=np.int64), found)
        return found

    @cached_property
    def _bits(self) -> tuple[Codes, npt.NDArray[np.uint8]]:
        """A bit for everybody at the points that more than one in 64 hold, and the row of each such point, else -1.

        There are fewer such points than 64 times all visits over all people: the bits take 8 bytes a visit at most.
        """
        from ziggurat.attacks.mobility._points_kernels import mark_holders

        starts, lists = self.holders
        many = np.diff(starts) > max(len(self) // 64, _FEW)
        crowded = np.where(many, np.cumsum(many) - 1, -1)
        bits = np.zeros((int(many.sum()), len(self) // 8 + 1), dtype=np.uint8)
        mark_holders(starts, lists, crowded, bits)
        return crowded, bits


def collect_points(parts: Sequence[Trajectories], resolution: Resolution) -> list[PointSets]:
    """Each trajectory's set of points, of several files together."""
    visits = [resolution.visits(part) for part in parts]
    known, codes = np.unique(np.concatenate(visits), return_inverse=True)
    ends = np.cumsum([len(each) for each in visits])[:-1]
    return [
        _sets(part, each.astype(np.int64), len(known))
        for part, each in zip(parts, np.split(codes.reshape(-1), ends), strict=True)
    ]


def _sets(trajectories: Trajectories, codes: Codes, size: int) -> PointSets:
    who = np.repeat(np.arange(len(trajectories)), trajectories.lengths)
    owner, points = sort_pairs(who, codes, max(size, 1))
    return PointSets(np.searchsorted(owner, np.arange(len(trajectories) + 1)), points, size)


def sort_pairs(rows: Codes, codes: Codes, size: int) -> tuple[Codes, Codes]:
    """Different pairs of a row and a code below `size`, rising."""
    keys = np.sort(rows * size + codes)  # np.unique hashes, which is many times slower where most are different
    owner, held = np.divmod(keys[np.diff(keys, prepend=-1) != 0], size)
    return owner, held


def draw_points(sets: PointSets, rows: Codes, points: int, draw: np.random.Generator) -> Codes:
    """Random different points of the sets at `rows`, one row each, filled up with -1 where a set has fewer."""
    from ziggurat.attacks.mobility._points_kernels import choose_points

    chosen = np.full((len(rows), points), -1, dtype=np.int64)
    choose_points(sets.starts, sets.points, rows.astype(np.int64), draw.random((len(rows), points)), chosen)
    return chosen

"""What is measured of trajectories: how fine the grids are, how many circles, how many of the top."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ziggurat.errors import ParameterError
from ziggurat.privacy import whole_number
from ziggurat.sequences.mobility import Box, Trajectories

Reals = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Around = Box | Literal["public", "visited"]
"""Which rectangle the grids divide: one in degrees, that of the public places, or the smallest around the visits."""


@dataclass(frozen=True)
class MobilityTerms:
    """How trajectories are measured; the defaults are those of AdaTrace (CCS 2018), as its rivals use them.

    Parameters
    ----------
    queries
        How many circles are asked about, with centres drawn evenly from the box.
    radii
        Their radii, as shares of the longer side of the box.
    least_share
        Errors of counts are relative to the true count, or to this share of all trajectories if that is more.
    hotspot_grid, hotspots
        Into how many rows and columns the box is divided for hotspots, and how many cells are looked for.
    visit_grid
        The same of the cells whose visitors are ranked.
    pattern_grid, patterns, pattern_sizes
        The same of the cells that patterns pass, how many patterns are looked for, and how many cells one has.
    trip_grids
        The grids of trips from the first to the last cell.
    bins
        How many equal parts lengths, diameters and steps are divided into, up to the longest of the original.
    scaled
        Whether counts of synthetic trajectories are multiplied as if there were as many as original ones.
    seed
        Of the centres of circles.
    """

    queries: int = 200
    radii: tuple[float, ...] = (1 / 3, 1 / 10)
    least_share: float = 0.01
    hotspot_grid: int = 40
    hotspots: int = 100
    visit_grid: int = 15
    pattern_grid: int = 6
    patterns: int = 100
    pattern_sizes: tuple[int, int] = (2, 8)
    trip_grids: tuple[int, ...] = (6, 9)
    bins: int = 20
    scaled: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("queries", "hotspot_grid", "hotspots", "visit_grid", "pattern_grid", "patterns", "bins"):
            whole_number(getattr(self, name), name)
        for each in self.trip_grids:
            whole_number(each, "trip_grids")
        low, high = self.pattern_sizes
        if not 2 <= low <= high:
            raise ParameterError("The sizes of patterns are a smallest of at least 2 and a largest.")
        if not all(0 < each < np.inf for each in (*self.radii, self.least_share)):
            raise ParameterError("The radii and the least share must be positive numbers.")


class Frame(NamedTuple):
    """A rectangle in kilometres that grids divide."""

    low: Reals
    high: Reals

    @classmethod
    def around(cls, box: Around, original: Trajectories, points: Reals) -> Frame:
        """The rectangle that is asked for, in the kilometres of the original's ground."""
        public = original.ground.require_points()[1]
        if box == "visited":
            return cls(points.min(axis=0), points.max(axis=0))
        if box == "public":
            return cls(np.zeros(2), np.array([public.width, public.height]))
        if not isinstance(box, Box):
            raise ParameterError("The box is 'public', 'visited' or a Box in degrees.")
        corners = public.to_kilometres([box.south, box.north], [box.west, box.east])
        return cls(corners[0], corners[1])

    @property
    def side(self) -> float:
        """The longer side."""
        return float((self.high - self.low).max())

    def divide(self, points: Reals, side: int) -> tuple[Integers, Integers]:
        """The column and the row of each point; what lies outside counts in the nearest cell."""
        span = np.where(self.high > self.low, self.high - self.low, 1.0)
        cells = np.clip(((points - self.low) / span * side).astype(np.int64), 0, side - 1)
        return np.ascontiguousarray(cells[:, 0]), np.ascontiguousarray(cells[:, 1])

    def draw_centres(self, count: int, seed: int) -> Reals:
        """Centres of circles, evenly over the rectangle."""
        drawn = np.random.default_rng(seed).random((count, 2))  # public, and repeated: they only say where to ask
        return drawn * (self.high - self.low) + self.low

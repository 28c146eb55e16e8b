"""How finely an attacker, or a released file, tells places and times apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.errors import ParameterError
from ziggurat.privacy import whole_number
from ziggurat.sequences.mobility import HOURS, Fold, Ground, Trajectories
from ziggurat.wording import nearest

Codes = npt.NDArray[np.int64]

_HOUR = 60


@dataclass(frozen=True)
class Resolution:
    """A grid or a region of the hierarchy for places, and windows of hours for times.

    Parameters
    ----------
    grid
        How many columns, and as many rows, the box is cut into; None leaves the places as they are.
    region
        The level of the ground's hierarchy that stands for a place instead; not together with a grid.
    hours
        The width of a window of time; None leaves times out.
    fold
        "day" or "week" if only the hour of the day or week is known: of files that hold no dates. None keeps dates.

    Examples
    --------
    >>> str(Resolution(grid=32, hours=6)), str(Resolution(hours=None))
    ('cell of 32 x 32, 6 hours', 'place')
    """

    grid: int | None = None
    region: str | None = None
    hours: int | None = 1
    fold: Fold | None = None

    def __post_init__(self) -> None:
        if self.grid is not None and self.region is not None:
            raise ParameterError("Coarsen places by a grid or by a region, not by both.")
        if self.grid is not None:
            whole_number(self.grid, "grid")
        if self.hours is not None:
            whole_number(self.hours, "hours")
        if self.fold is not None and self.fold not in HOURS:
            raise ParameterError("Hours are folded by 'day' or by 'week', or keep their dates with None.")

    def __str__(self) -> str:
        place = self.region or ("place" if self.grid is None else f"cell of {self.grid} x {self.grid}")
        if self.hours is None:
            return place
        width = "hour" if self.hours == 1 else f"{self.hours} hours"
        return f"{place}, {width}" + (f" of the {self.fold}" if self.fold else "")

    def to_dict(self) -> dict[str, Any]:
        """Return it as values that JSON can hold."""
        return {"grid": self.grid, "region": self.region, "hours": self.hours, "fold": self.fold, "name": str(self)}

    def places(self, ground: Ground) -> Codes:
        """The number of the cell or region of every place."""
        if self.grid is not None:
            return ground.cells(self.grid).astype(np.int64)
        if self.region is None:
            return np.arange(ground.size)
        levels = ground.regions or {}
        if self.region not in levels:
            raise ParameterError(f"There is no level {self.region!r}; {nearest(self.region, levels)}")
        return np.unique(np.array([str(each) for each in levels[self.region]]), return_inverse=True)[1]

    def windows(self, trajectories: Trajectories) -> Codes:
        """The number of the window of every visit: 0 if times are left out."""
        if self.hours is None:
            return np.zeros(len(trajectories.codes), dtype=np.int64)
        if trajectories.minutes is None:
            raise ParameterError("These trajectories have no times; leave them out with hours=None.")
        hours = trajectories.minutes // _HOUR if self.fold is None else trajectories.hours(self.fold).astype(np.int64)
        return np.asarray(hours // self.hours, dtype=np.int64)

    def visits(self, trajectories: Trajectories) -> Codes:
        """A number for every visit: equal ones are the same place in the same window, also of other files."""
        return (self.windows(trajectories) << 32) | self.places(trajectories.ground)[trajectories.codes]

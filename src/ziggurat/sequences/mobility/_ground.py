"""Where people may be: public places with coordinates, or the cells of a grid."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.cards import Shown
from ziggurat.errors import ParameterError
from ziggurat.privacy import whole_number
from ziggurat.sequences._domain import Token

Reals = npt.NDArray[np.float64]
Cells = npt.NDArray[np.int32]

# Kilometres in one degree: of latitude, and of longitude on the equator.
_NORTHWARD, _EASTWARD = 110.574, 111.32


@dataclass(frozen=True)
class Box:
    """A rectangle of the earth in degrees: public, never read off the visits.

    Parameters
    ----------
    west, south, east, north
        Its sides in degrees, west and south smaller than east and north.

    Examples
    --------
    >>> new_york = Box(-74.3, 40.5, -73.6, 41.0)
    >>> round(new_york.width, 1), round(new_york.height, 1)
    (59.0, 55.3)
    """

    west: float
    south: float
    east: float
    north: float

    def __post_init__(self) -> None:
        for name in ("west", "south", "east", "north"):
            object.__setattr__(self, name, float(getattr(self, name)))
        within = -90 <= self.south < self.north <= 90 and -180 <= self.west < self.east <= 180
        if not within:
            raise ParameterError("A box needs west < east within 180 degrees and south < north within 90 degrees.")

    @property
    def width(self) -> float:
        """How many kilometres it is from west to east, at its middle latitude."""
        return (self.east - self.west) * self._eastward

    @property
    def height(self) -> float:
        """How many kilometres it is from south to north."""
        return (self.north - self.south) * _NORTHWARD

    @property
    def _eastward(self) -> float:
        return float(_EASTWARD * np.cos(np.radians((self.south + self.north) / 2)))

    def to_kilometres(self, latitude: npt.ArrayLike, longitude: npt.ArrayLike) -> Reals:
        """Points in kilometres east and north of the south-western corner, one row each."""
        east = (np.asarray(longitude, dtype=np.float64) - self.west) * self._eastward
        return np.stack([east, (np.asarray(latitude, dtype=np.float64) - self.south) * _NORTHWARD], axis=-1)

    def to_degrees(self, points: Reals) -> tuple[Reals, Reals]:
        """Latitudes and longitudes of points in kilometres."""
        return self.south + points[..., 1] / _NORTHWARD, self.west + points[..., 0] / self._eastward


@dataclass(frozen=True, eq=False)
class Ground(Shown):
    """The public places that visits may name, and where they lie.

    Nothing of it is read off the visits: a place that nobody visits is listed like any other, and a visit elsewhere
    does not count.

    Parameters
    ----------
    names
        Every place, by a text or a whole number; its code is its position.
    points
        Where they lie, in kilometres east and north of the corner of `box`, one row each; None if that is not known.
    box
        The public rectangle that they lie in; None without coordinates.
    regions
        A hierarchy, if there is one: by the name of a level (district, line) the region of every place, finest first.
    """

    names: tuple[Token, ...]
    points: Reals | None = None
    box: Box | None = None
    regions: Mapping[str, tuple[Token, ...]] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        if not self.names:
            raise ParameterError("State the public places; at least one.")
        if (self.points is None) is not (self.box is None):
            raise ParameterError("Places that have coordinates need the public box that they lie in, and the reverse.")
        if self.points is not None:
            object.__setattr__(self, "points", np.ascontiguousarray(self.points, dtype=np.float64))
            if self.points.shape != (len(self.names), 2) or not np.isfinite(self.points).all():
                raise ParameterError("There must be one finite point for every place.")
        for level, held in (self.regions or {}).items():
            if len(held) != len(self.names):
                raise ParameterError(f"There must be one region of level {level!r} for every place.")

    @classmethod
    def of(
        cls,
        names: Iterable[Token],
        latitude: npt.ArrayLike,
        longitude: npt.ArrayLike,
        *,
        box: Box | None = None,
        regions: Mapping[str, tuple[Token, ...]] | None = None,
    ) -> Ground:
        """Places by their degrees; the box is by default the smallest that holds them, for they are public.

        Examples
        --------
        >>> ground = Ground.of(["home", "work"], [40.7, 40.8], [-74.0, -73.9])
        >>> ground.size, ground.points.round(1).tolist()
        (2, [[0.0, 0.0], [8.4, 11.1]])
        """
        lat, lon = np.asarray(latitude, dtype=np.float64), np.asarray(longitude, dtype=np.float64)
        around = box or Box(lon.min(), lat.min(), lon.max(), lat.max())
        return cls(tuple(names), around.to_kilometres(lat, lon), around, regions)

    @classmethod
    def grid(cls, box: Box, columns: int, rows: int | None = None) -> Ground:
        """The cells of a grid as places, each at its middle, named column * rows + row: for GPS points.

        Examples
        --------
        >>> Ground.grid(Box(-74.3, 40.5, -73.6, 41.0), 20).size
        400
        """
        wide = whole_number(columns, "columns")
        high = wide if rows is None else whole_number(rows, "rows")
        east, north = np.divmod(np.arange(wide * high), high)
        middles = np.stack([(east + 0.5) * box.width / wide, (north + 0.5) * box.height / high], axis=1)
        return cls(tuple(range(wide * high)), middles, box)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Ground) and self.to_plain() == other.to_plain())

    def __hash__(self) -> int:
        return hash(self.names)

    @property
    def size(self) -> int:
        """How many places there are."""
        return len(self.names)

    def require_points(self) -> tuple[Reals, Box]:
        """Return the coordinates and their box; ParameterError if the places have none."""
        if self.points is None or self.box is None:
            raise ParameterError("These places have no coordinates; make them with Ground.of or Ground.grid.")
        return self.points, self.box

    def cells(self, columns: int, rows: int | None = None) -> Cells:
        """The cell of a grid over the box that each place lies in: column * rows + row."""
        points, box = self.require_points()
        high = columns if rows is None else rows
        share = points / [box.width, box.height]
        east = np.clip((share[:, 0] * columns).astype(np.int64), 0, columns - 1)
        return (east * high + np.clip((share[:, 1] * high).astype(np.int64), 0, high - 1)).astype(np.int32)

    def to_plain(self) -> dict[str, Any]:
        """All of it for a file of JSON."""
        box = None if self.box is None else [self.box.west, self.box.south, self.box.east, self.box.north]
        points = None if self.points is None else self.points.tolist()
        regions = None if self.regions is None else {level: list(held) for level, held in self.regions.items()}
        return {"names": self.names, "points": points, "box": box, "regions": regions}

    @classmethod
    def from_plain(cls, said: Mapping[str, Any]) -> Ground:
        """What `to_plain` said."""
        box = None if said["box"] is None else Box(*said["box"])
        regions = None if said["regions"] is None else {level: tuple(held) for level, held in said["regions"].items()}
        points = None if said["points"] is None else np.array(said["points"], dtype=np.float64)
        return cls(tuple(said["names"]), points, box, regions)

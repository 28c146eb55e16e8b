"""What commands and release files say about visits and places, and the layout, ground and generator that it means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ziggurat.data import Kind, Schema, Table
from ziggurat.errors import ParameterError, SchemaError
from ziggurat.sequences import mobility
from ziggurat.sequences.mobility import Box, Calendar, Cut, Ground, TrajectoryGenerator, VisitLayout, read_ground
from ziggurat.wording import nearest

GENERATORS = {"markov": "MarkovTrajectories"}
"""What files and commands call the generators of `ziggurat.sequences.mobility`."""
CUTS: dict[str, Cut | None] = {"day": "day", "gap": "gap", "trip": "trip", "never": None}
"""Where a trajectory ends, in the words of commands and files."""
_NAMES = ("place", "name", "id")
_LATITUDES, _LONGITUDES = ("latitude", "lat"), ("longitude", "lon", "lng")


@dataclass(frozen=True)
class VisitRequest:
    """Where visits stand, in the words of a command or a file; empty if not said.

    Attributes
    ----------
    time, place, latitude, longitude, trip, gap, starts, least, longest, within
        As for `VisitLayout`.
    cut
        "day", "gap", "trip" or "never". By default by trip or gap if one is said; else by day, if the unit of the
        schema is a person, and never, if it is a trajectory.
    epoch, tick, zone, pattern
        As for `Calendar`.
    """

    time: str = ""
    place: str = ""
    latitude: str = ""
    longitude: str = ""
    trip: str = ""
    cut: str = ""
    gap: int | None = None
    starts: int = 0
    least: int = 1
    longest: int = 100
    within: float | None = None
    epoch: str = ""
    tick: str = ""
    zone: str = ""
    pattern: str = ""

    def layout(self, schema: Schema) -> VisitLayout:
        """Where visits stand in a table whose unit says whose they are."""
        if schema.unit.column is None:
            raise SchemaError(
                "A row is one visit, and what is said of rows is said of nobody; declare in the schema whose visits "
                "they are, such as 'unit: {person: card}', or name that column (person)."
            )
        if not self.time:
            raise ParameterError("Name the column that says when a visit was: time.")
        if not (self.place or (self.latitude and self.longitude)):
            raise ParameterError("Name the column that says where a visit was: place, or latitude and longitude.")
        named = ("place", "latitude", "longitude", "trip")
        columns: dict[str, Any] = {name: schema[getattr(self, name)].name for name in named if getattr(self, name)}
        asked = {name: getattr(self, name) for name in ("gap", "starts", "least", "longest", "within")}
        return VisitLayout(
            schema.unit.column,
            schema[self.time].name,
            **columns,
            **asked,
            cut=self._cut(schema),
            calendar=self._calendar(),
        )

    def generator(self, method: str, per_person: int | None, **given: Any) -> TrajectoryGenerator:
        """Make a generator by its name; parameters that are not given have the generator's defaults."""
        if method not in GENERATORS:
            raise ParameterError(f"There is no method {method!r} for trajectories; {nearest(method, GENERATORS)}")
        asked = {"sequences_per_unit": per_person, **given}
        kind = getattr(mobility, GENERATORS[method])
        made: TrajectoryGenerator = kind(**{name: value for name, value in asked.items() if value is not None})
        return made

    def _cut(self, schema: Schema) -> Cut | None:
        if self.cut:
            if self.cut not in CUTS:
                raise ParameterError(f"Trajectories are cut by day, gap or trip, or never; {nearest(self.cut, CUTS)}")
            return CUTS[self.cut]
        return "trip" if self.trip else "gap" if self.gap else "day" if schema.unit.name == "person" else None

    def _calendar(self) -> Calendar:
        said = {name: getattr(self, name) for name in ("epoch", "tick", "zone", "pattern")}
        return Calendar(**{name: value for name, value in said.items() if value})


@dataclass(frozen=True)
class GroundRequest:
    """Which places are public, in the words of a command or a file.

    Attributes
    ----------
    places
        A public table of places; or None.
    name, latitude, longitude, regions
        Its columns; by default by what they are called, if there are such.
    box
        West, south, east and north in degrees: of the places, or of a grid.
    grid
        How many columns and rows the box is cut into, whose cells then are the places; or nothing.
    """

    places: Table | None = None
    name: str = ""
    latitude: str = ""
    longitude: str = ""
    regions: Sequence[str] = ()
    box: Sequence[float] = ()
    grid: int | None = None

    def ground(self, schema: Schema, place: str = "") -> Ground:
        """The public places of visits whose places stand in a column."""
        box = self._box()
        if self.grid is not None:
            return self._cells(box)
        if self.places is not None:
            return self._read(self.places, box, place)
        declared = None if not place else schema[place].categories
        if declared is None:
            raise ParameterError(
                "Say which places are public: a table of them (places), a grid over a box (box, grid), or the "
                "categories of the place column in the schema."
            )
        return Ground(declared.values)

    def _cells(self, box: Box | None) -> Ground:
        if box is None or self.places is not None:
            raise ParameterError("A grid needs the box that it lies over (west, south, east, north), and no places.")
        return Ground.grid(box, self.grid or 1)

    def _box(self) -> Box | None:
        if not self.box:
            return None
        if len(self.box) != 4:
            raise ParameterError("A box has four sides: west, south, east and north, in degrees.")
        return Box(*self.box)

    def _read(self, table: Table, box: Box | None, place: str) -> Ground:
        name = self.name or _first(table, (place, *_NAMES))
        if name is None:
            raise ParameterError("Say which column of the table of places has their names.")
        latitude = self.latitude or _first(table, _LATITUDES)
        longitude = self.longitude or _first(table, _LONGITUDES)
        return read_ground(table, name, latitude, longitude, regions=tuple(self.regions), box=box)


def require_same_names(schema: Schema, layout: VisitLayout, ground: Ground) -> None:
    """Refuse places named by texts where visits name them by numbers, or the reverse: none would ever be met."""
    if layout.place is None:
        return
    column = schema[layout.place]
    if (column.storage is Kind.INTEGER) is not all(isinstance(each, int) for each in ground.names):
        raise ParameterError(
            f"Column {layout.place!r} names places by {column.kind} values, and the public places have others (whole "
            "numbers or texts): no visit could be laid on them; make them alike."
        )


def _first(table: Table, names: Sequence[str]) -> str | None:
    return next((name for name in names if name in table.declared.names), None)

"""How the options of `ziggurat mobility` become a layout of visits and the public ground."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ziggurat.cli._options import InDatabase, SchemaFile, Unreadable
from ziggurat.errors import ParameterError

if TYPE_CHECKING:
    from ziggurat.data import Schema, Table
    from ziggurat.release.trajectories import VisitRequest
    from ziggurat.sequences.mobility import Ground, Trajectories, VisitLayout

_SAME = ("time", "place", "latitude", "longitude", "trip", "cut", "gap", "starts", "least", "longest", "within")
_CALENDAR = ("epoch", "tick", "zone", "pattern")


@dataclass(frozen=True)
class VisitOptions:
    """Where visits stand in a table, and which places are public."""

    time: Annotated[str, typer.Option(help="The column that says when a visit was.")]
    place: Annotated[str, typer.Option(help="The column that names the place of a visit.")] = ""
    person: Annotated[str, typer.Option(help="The column of people, where the schema's unit is something else.")] = ""
    latitude: Annotated[str, typer.Option(help="Instead of --place: the column of degrees north.")] = ""
    longitude: Annotated[str, typer.Option(help="Instead of --place: the column of degrees east.")] = ""
    places: Annotated[
        str, typer.Option(help="The public table of places; by default the schema's categories of --place.")
    ] = ""
    place_columns: Annotated[
        str, typer.Option(help="Its columns NAME,LATITUDE,LONGITUDE; by default by what they are called.")
    ] = ""
    regions: Annotated[str, typer.Option(help="Its columns of a hierarchy, finest first: district,city.")] = ""
    box: Annotated[str, typer.Option(help="The public box in degrees: WEST,SOUTH,EAST,NORTH.")] = ""
    grid: Annotated[
        int | None, typer.Option(help="The cells of so many columns and rows over --box are the places.", min=1)
    ] = None
    within: Annotated[
        float | None, typer.Option(help="How many kilometres at most a point is laid on one of --places.")
    ] = None
    cut: Annotated[str, typer.Option(help="Where a trajectory ends: day (the default), gap, trip or never.")] = ""
    gap: Annotated[int | None, typer.Option(help="More than so many minutes between two visits part them.")] = None
    trip: Annotated[str, typer.Option(help="The column that tells the trips of a person apart.")] = ""
    starts: Annotated[int, typer.Option(help="The minute after midnight at which a day begins.")] = 0
    least: Annotated[int, typer.Option(help="How many visits make a trajectory.")] = 1
    longest: Annotated[int, typer.Option(help="How many visits of a trajectory count; the first ones do.")] = 100
    epoch: Annotated[str, typer.Option(help="The public date and time that numbers in --time are counted from.")] = ""
    tick: Annotated[str, typer.Option(help="How many minutes one unit of such a number is: 60, or 1/60.")] = ""
    zone: Annotated[str, typer.Option(help="The time zone of the places, if times are in UTC: Europe/Berlin.")] = ""
    pattern: Annotated[str, typer.Option(help="How times in texts are written: 'YYYY-MM-DD hh:mm'.")] = ""
    schema: SchemaFile = ""
    table: InDatabase = ""
    unreadable: Unreadable = "0"

    def open(self, data: str) -> Table:
        """Open the table of visits whole."""
        from ziggurat.cli._tables import open_table

        return open_table(data, self.schema, self.table, self.unreadable, unit=self.person)

    def declared(self, data: str) -> Schema:
        """The schema of the table of visits; no row is read."""
        from ziggurat.cli._tables import find_table
        from ziggurat.data import Unit

        found = find_table(data, self.schema, self.table).schema
        return found.with_unit(Unit.person(found[self.person].name)) if self.person else found

    def request(self) -> VisitRequest:
        """What was said about visits."""
        from ziggurat.release.trajectories import VisitRequest

        return VisitRequest(**{name: getattr(self, name) for name in (*_SAME, *_CALENDAR)})

    def find(self, schema: Schema) -> tuple[VisitLayout, Ground]:
        """Where visits stand, and the public places."""
        from ziggurat.cli._tables import open_if_named
        from ziggurat.release.trajectories import GroundRequest

        layout = self.request().layout(schema)
        asked = GroundRequest(open_if_named(self.places), **self.ground_words())
        return layout, asked.ground(schema, self.place)

    def ground_words(self) -> dict[str, Any]:
        """What was said about the public places, as far as it was said, but for their table."""
        columns = _split(self.place_columns, 3, "--place-columns id,lat,lon")
        said: dict[str, Any] = dict(zip(("name", "latitude", "longitude"), columns, strict=False))
        said |= {"regions": _names(self.regions), "box": _degrees(self.box), "grid": self.grid}
        return {name: each for name, each in said.items() if each not in (None, "", ())}

    def read(self, data: str) -> Trajectories:
        """Read the trajectories of a table: raw, for the steward."""
        from ziggurat.sequences.mobility import read_trajectories

        table = self.open(data)
        return read_trajectories(table, *self.find(table.declared))


def _names(text: str) -> tuple[str, ...]:
    return tuple(each.strip() for each in text.split(",")) if text else ()


def _split(text: str, size: int, example: str) -> tuple[str, ...]:
    found = _names(text)
    if found and len(found) != size:
        raise ParameterError(f"{text!r} must have {size} parts, for instance {example}.")
    return found


def _degrees(text: str) -> tuple[float, ...]:
    try:
        return tuple(map(float, _split(text, 4, "--box -74.3,40.5,-73.6,41.0")))
    except ValueError:
        raise ParameterError("--box is four numbers in degrees, for instance --box -74.3,40.5,-73.6,41.0.") from None

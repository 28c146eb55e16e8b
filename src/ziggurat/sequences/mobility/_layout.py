"""Where visits stand in a long table, how their times are written, and where one trajectory ends."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from math import isfinite
from typing import Literal
from zoneinfo import ZoneInfo

from ziggurat.cards import Shown
from ziggurat.data import Column, Kind, Schema
from ziggurat.errors import ParameterError, SchemaError
from ziggurat.privacy import whole_number
from ziggurat.sequences._layout import classes_of
from ziggurat.sequences.mobility._ground import Ground
from ziggurat.sequences.mobility._trajectories import TrajectoryDomain

Cut = Literal["day", "gap", "trip"]
"""Where one trajectory of a person ends: with the day, at a gap between visits, or with the trip."""
_CUTS = ("day", "gap", "trip", None)
_DAY = 24 * 60
_NUMBERS, _TIMES = (Kind.INTEGER, Kind.REAL), (Kind.INTEGER, Kind.REAL, Kind.DATE, Kind.TEXT)


@dataclass(frozen=True)
class Calendar:
    """How times are written, and the public Monday that minutes are counted from.

    Parameters
    ----------
    epoch
        A public local date and time, as such or as text ("2012-04-03 14:00"): minutes are counted from midnight of the
        Monday of its week, and a time that is a number is counted from the epoch itself. By default Monday, 1 January
        2024.
    tick
        How many minutes one unit of such a number is: 60 for hours, "1/60" for seconds.
    zone
        The time zone of the places, such as "America/New_York", for moments that are written in UTC; by default moments
        are local already and stay as they are.
    pattern
        How times in texts are written, by the positions of YYYY, MM, DD, hh and mm; what follows in a cell does not
        matter, and neither do the signs in between. Whole numbers are filled up with zeros on the left.

    Examples
    --------
    >>> Calendar(epoch="2012-04-03 14:00").monday.isoformat()
    '2012-04-02T00:00:00'
    """

    epoch: datetime | str = datetime(2024, 1, 1)
    tick: str | Fraction | float = 1
    zone: str | None = None
    pattern: str = "YYYY-MM-DD hh:mm"

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "epoch", datetime.fromisoformat(str(self.epoch)))
            object.__setattr__(self, "tick", Fraction(str(self.tick)))
        except (ValueError, ZeroDivisionError):
            raise ParameterError("The epoch must be a date and time, and tick a number of minutes above 0.") from None
        if self.start.tzinfo is not None or self.step <= 0:
            raise ParameterError("The epoch must be a local date and time, and tick a number of minutes above 0.")
        if self.zone is not None:
            _require_zone(self.zone)
        if any(self.pattern.count(part) != 1 for part in ("YYYY", "MM", "DD")) or "'" in self.pattern:
            raise ParameterError("The pattern must name YYYY, MM and DD, and hh and mm if there are times of day.")

    @property
    def start(self) -> datetime:
        """The epoch as a date and time."""
        return datetime.fromisoformat(str(self.epoch))

    @property
    def step(self) -> Fraction:
        """How many minutes one unit of a number is."""
        return Fraction(str(self.tick))

    @property
    def monday(self) -> datetime:
        """Midnight of the Monday of the epoch's week, from which minutes are counted."""
        return self.start.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=self.start.weekday())

    @property
    def shift(self) -> int:
        """How many minutes after that Monday began the epoch is."""
        return int((self.start - self.monday) / timedelta(minutes=1))


def _require_zone(zone: str) -> None:
    try:
        ZoneInfo(zone)
    except (KeyError, OSError, ValueError):
        raise ParameterError("There is no such time zone; write one such as 'America/New_York'.") from None


@dataclass(frozen=True)
class VisitLayout(Shown):
    """Where visits stand in a long table: one row is one visit, by its person, time and place.

    Every person's trajectories are read from that person's rows alone. A row without a person, a time, a public place
    or, if there are trips, a trip does not count; nothing is said of it. Visits at the same time follow the order of
    the places on their ground.

    Parameters
    ----------
    person
        Whose visits they are: the column of the schema's unit.
    time
        A date with its time of day, as such or as text, or a number; `calendar` says how it is written.
    place
        The column with names of public places; or else:
    latitude, longitude
        Degrees, laid on the ground: on the cell of its grid, or on the nearest public place not farther than `within`.
        A point elsewhere does not count.
    trip
        The column that tells the trips of a person apart; with cut="trip".
    cut
        Where one trajectory ends: "day", "gap", "trip", or None for all visits of a person as one.
    gap
        With cut="gap": more than how many minutes between two visits part them.
    starts
        With cut="day": the minute after midnight at which a day begins.
    least
        How many visits make a trajectory; those with fewer do not count.
    longest
        How many visits of a trajectory count; the first ones do. Stated, never looked up in the visits.
    label
        The column of the class, if trajectories have one, as for `SequenceLayout`: the first visit in order that has a
        class decides.
    within
        How many kilometres at most a point is laid on a place; None if the ground is a grid.
    calendar
        How times are written.

    Examples
    --------
    >>> layout = VisitLayout("user", "minute", "poi", calendar=Calendar("2012-04-03 14:00"))
    >>> layout.cut, layout.longest
    ('day', 100)
    """

    person: str
    time: str
    place: str | None = None
    latitude: str | None = None
    longitude: str | None = None
    trip: str | None = None
    cut: Cut | None = "day"
    gap: int | None = None
    starts: int = 0
    least: int = 1
    longest: int = 100
    label: str | None = None
    within: float | None = None
    calendar: Calendar = Calendar()

    def __post_init__(self) -> None:
        on_points = self.latitude is not None and self.longitude is not None
        if (self.place is None) is not on_points or (self.latitude is None) is not (self.longitude is None):
            raise ParameterError("Say where the place stands: its column, or both latitude and longitude.")
        if self.within is not None and not (on_points and isfinite(self.within) and self.within > 0):
            raise ParameterError("within=... is a number of kilometres above 0, for latitude and longitude.")
        if (self.trip is None) is not (self.cut != "trip"):
            raise ParameterError("Trips need both trip=..., their column, and cut='trip'.")
        check_cut(self.cut, self.gap, self.starts, self.least, self.longest)


def check_cut(cut: str | None, gap: int | None, starts: int, least: int, longest: int) -> None:
    """Check how trajectories are cut; ParameterError says what to change."""
    if cut not in _CUTS:
        raise ParameterError("Trajectories are cut by 'day', 'gap' or 'trip', or not at all (None).")
    if (gap is None) is not (cut != "gap"):
        raise ParameterError("A gap needs both gap=..., a number of minutes, and cut='gap'.")
    if gap is not None:
        whole_number(gap, "gap")
    if isinstance(starts, bool) or not isinstance(starts, int) or not 0 <= starts < _DAY:
        raise ParameterError("starts=... is a minute of the day, from 0 to 1439.")
    whole_number(least, "least")
    if whole_number(longest, "longest") < least:
        raise ParameterError("longest=... must not be smaller than least=...")


def domain_of_visits(schema: Schema, layout: VisitLayout, ground: Ground) -> TrajectoryDomain:
    """Return what is publicly known of the trajectories of a table, from its schema and the ground; no row is read.

    Raises
    ------
    NotPublicError
        The classes are not declared as public.
    SchemaError
        A column is not there or of another kind, or the person is not the unit.
    """
    require_unit(schema, layout.person)
    require_kind(schema[layout.time], _TIMES, "a time is a number, a date or a text")
    if layout.place is not None:
        require_place(schema[layout.place])
    for name in (layout.latitude, layout.longitude):
        if name is not None:
            require_kind(schema[name], _NUMBERS, "degrees are numbers")
    if layout.trip is not None:
        schema[layout.trip]
    classes = () if layout.label is None else classes_of(schema[layout.label])
    return TrajectoryDomain.on(ground, layout.longest, unit=schema.unit, classes=classes)


def require_unit(schema: Schema, person: str) -> None:
    """Refuse a table whose promise would not be about the people who move."""
    if schema.unit.column != schema[person].name:
        raise SchemaError(
            "A row is one visit, and a promise about another unit would hide no person; declare "
            f"'unit: {{person: {person}}}' in the schema."
        )


def require_place(column: Column) -> None:
    """Refuse a column that cannot name places."""
    named = Kind.INTEGER, Kind.CATEGORY, Kind.TEXT
    require_kind(column, named, "places are named by texts or whole numbers")


def require_kind(column: Column, kinds: tuple[Kind, ...], why: str) -> None:
    """Refuse a column of another kind."""
    if column.kind not in kinds:
        raise SchemaError(f"Column {column.name!r} is {column.kind}; {why}.")

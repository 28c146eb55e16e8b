"""Reading fare cards: every ride is a tap-in and, if there was one, a tap-out."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from ziggurat.cards import Shown
from ziggurat.data import Kind, Schema, Table, open_table
from ziggurat.data.expressions import cast_to, constant, is_filled, is_one_of, is_present, reference
from ziggurat.errors import SchemaError
from ziggurat.sequences._domain import Token
from ziggurat.sequences._layout import classes_of
from ziggurat.sequences._relational import class_code
from ziggurat.sequences.mobility._ground import Ground
from ziggurat.sequences.mobility._layout import Calendar, Cut, check_cut, require_place, require_unit
from ziggurat.sequences.mobility._moments import minutes_of_pair
from ziggurat.sequences.mobility._placing import Placing, place_by_name
from ziggurat.sequences.mobility._reading import read_relation
from ziggurat.sequences.mobility._trajectories import Trajectories, TrajectoryDomain
from ziggurat.sequences.mobility._visits import VisitRelation


@dataclass(frozen=True)
class FareCardLayout(Shown):
    """Where rides stand in a table of fare cards: by default as in table 5.2 of Dandekar's thesis.

    Each ride gives two visits, one where the card was tapped in and one where it was tapped out; a ride without a
    readable tap-out gives one, and so does one without a tap-in.

    Parameters
    ----------
    card
        Whose ride it is: the column of the schema's unit.
    entry_date, entry_time, exit_date, exit_time
        Dates, as such, as texts or as digits, and times of day, as texts or as digits; `calendar` has the pattern of
        both with a blank between them, such as "DD/MM/YYYY hh:mm" or "YYYYMMDD hhmmss".
    origin, destination
        The columns with the names of the stops.
    mode, category
        The columns of the means of transport and of the kind of card.
    modes, categories
        Only rides with one of these count; all if none is named.
    label
        The column of the class of trajectories, such as "Commuter_Category": its categories are public. The first tap
        in order that has a class decides.
    cut, gap, starts, least, longest
        As for `VisitLayout`; with cut="trip" every ride is a trajectory.
    calendar
        How dates and times are written.
    """

    card: str = "Card_Number_E"
    entry_date: str = "Entry_Date"
    entry_time: str = "Entry_Time"
    exit_date: str = "Exit_Date"
    exit_time: str = "Exit_Time"
    origin: str = "Origin_Location_ID"
    destination: str = "Destination_Location_ID"
    mode: str = "Transport_Mode"
    category: str = "Commuter_Category"
    modes: tuple[Token, ...] = ()
    categories: tuple[Token, ...] = ()
    label: str | None = None
    cut: Cut | None = "day"
    gap: int | None = None
    starts: int = 0
    least: int = 1
    longest: int = 100
    calendar: Calendar = Calendar()

    def __post_init__(self) -> None:
        check_cut(self.cut, self.gap, self.starts, self.least, self.longest)

    @property
    def filters(self) -> dict[str, tuple[Token, ...]]:
        """By column, the values with which a ride counts."""
        wanted = {self.mode: self.modes, self.category: self.categories}
        return {column: tuple(values) for column, values in wanted.items() if values}

    def domain(self, schema: Schema, ground: Ground) -> TrajectoryDomain:
        """What is publicly known of the trajectories, from the schema and the ground; no row is read."""
        require_unit(schema, self.card)
        for name in (self.origin, self.destination, *self.filters):
            require_place(schema[name])
        if schema[self.origin].storage is not schema[self.destination].storage:
            raise SchemaError(
                f"Columns {self.origin!r} and {self.destination!r} name the same stops; declare one kind."
            )
        classes = () if self.label is None else classes_of(schema[self.label])
        return TrajectoryDomain.on(ground, self.longest, unit=schema.unit, classes=classes)


def read_fare_cards(table: object, ground: Ground, layout: FareCardLayout | None = None) -> Trajectories:
    """Read the trajectories of fare cards, tap by tap; raw until a mechanism has protected them.

    As `read_trajectories`: each card's trajectories depend on its own rides alone, and nothing is said of what does not
    count. In the same minute the tap-out of a ride comes before the tap-in of the next.

    Parameters
    ----------
    table
        A table of rides, or anything that `ziggurat.data.read` opens.
    ground
        The public stops; see `read_ground`.
    layout
        Where rides stand in it, and how trajectories are cut.

    Examples
    --------
    >>> from ziggurat.data import read
    >>> from ziggurat.data.generators import fare_card_stops, fare_cards, fare_cards_schema
    >>> from ziggurat.sequences.mobility import read_ground
    >>> stops = read_ground(fare_card_stops(), "Location_ID", "Latitude", "Longitude", regions=["Line"])
    >>> rides = read_fare_cards(read(fare_cards(50), schema=fare_cards_schema()), stops)
    >>> rides.domain.size, int(rides.owners.max()) + 1
    (216, 50)
    """
    return read_relation(relate_fare_cards(open_table(table), ground, layout or FareCardLayout()))


def relate_fare_cards(table: Table, ground: Ground, layout: FareCardLayout) -> VisitRelation:
    """The taps of fare cards as a relation of visits; nothing is asked yet."""
    domain = layout.domain(table.declared, ground)
    origin, destination = (place_by_name(table.declared[each], ground) for each in (layout.origin, layout.destination))
    taps = exp.union(
        _taps(table, layout, domain, origin, entering=True),
        _taps(table, layout, domain, destination, entering=False),
        distinct=False,
    )
    rows = exp.select("*").from_(taps.subquery("taps"))
    cut = layout.cut, layout.gap, layout.starts, layout.least
    return VisitRelation(table.engine, domain, rows, origin, *cut)


def _taps(
    table: Table, layout: FareCardLayout, domain: TrajectoryDomain, placing: Placing, *, entering: bool
) -> exp.Select:
    schema = table.declared
    enters, leaves = (
        minutes_of_pair(schema[day], schema[clock], layout.calendar)
        for day, clock in ((layout.entry_date, layout.entry_time), (layout.exit_date, layout.exit_time))
    )
    begun = exp.Coalesce(this=enters, expressions=[leaves])
    # What happens in the same minute is in order of the rides, and within one the tap-in comes first.
    twice = exp.Mul(this=exp.Paren(this=begun), expression=exp.Literal.number(2))
    asked = (
        reference(schema[layout.card]).as_("owner"),
        (enters if entering else leaves).as_("minute"),
        exp.Add(this=twice, expression=exp.Literal.number(0 if entering else 1)).as_("moment"),
        begun.as_("trip"),
        class_code(schema, layout.label, domain.classes).as_("label"),
        *placing.columns,
    )
    counted = [is_present(schema[layout.card]), *(_is_wanted(schema, *each) for each in layout.filters.items())]
    return exp.select(*asked).from_(table.relation([], _names(layout))).where(*counted)


def _is_wanted(schema: Schema, name: str, values: tuple[Token, ...]) -> exp.Expr:
    column = schema[name]
    cell = cast_to(reference(column), "TEXT")
    return exp.and_(is_filled(cell), is_one_of(cell, [constant(str(each), Kind.TEXT) for each in values]), copy=False)


def _names(layout: FareCardLayout) -> list[str]:
    times = (layout.entry_date, layout.entry_time, layout.exit_date, layout.exit_time)
    named = (layout.card, *times, layout.origin, layout.destination, layout.label, *layout.filters)
    return list(dict.fromkeys(name for name in named if name is not None))

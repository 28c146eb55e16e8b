"""From tables to trajectories: what a layout says, what it refuses, and that no person depends on another."""

import pyarrow as pa
import pytest

from ziggurat.data import Categories, Column, Kind, Schema, Unit, datasets, read
from ziggurat.errors import DataError, NotPublicError, ParameterError, SchemaError
from ziggurat.sequences.mobility import (
    Box,
    Calendar,
    Ground,
    Trajectories,
    VisitLayout,
    domain_of_visits,
    read_ground,
    read_trajectories,
    stream_trajectories,
)

_DAY = 24 * 60
_GROUND = Ground((1, 2, 3))
_SCHEMA = Schema(
    (
        Column("who", Kind.TEXT, role="identifier"),
        Column("minute", Kind.INTEGER),
        Column("poi", Kind.INTEGER),
        Column("lat", Kind.REAL),
        Column("good", Kind.BOOLEAN),
        Column("kind", Kind.CATEGORY, categories=Categories(("x", "y"), "learned")),
    ),
    Unit.person("who"),
)
_LAYOUT = VisitLayout("who", "minute", "poi")


def _visits(rows: list[tuple[str, int, int]]) -> pa.Table:
    who, minute, poi = zip(*rows, strict=True)
    nothing = pa.nulls(len(rows))
    texts, truths, reals = nothing.cast(pa.string()), nothing.cast(pa.bool_()), nothing.cast(pa.float64())
    return pa.table({"who": who, "minute": minute, "poi": poi, "lat": reals, "good": truths, "kind": texts})


def _people(rows: list[tuple[str, int, int]], layout: VisitLayout = _LAYOUT) -> list[set[tuple[object, ...]]]:
    """What each owner did, by places."""
    found = read_trajectories(read(_visits(rows), schema=_SCHEMA), layout, _GROUND)
    assert found.owners is not None
    of_each: dict[int, set[tuple[object, ...]]] = {}
    for owner, each in zip(found.owners.tolist(), found, strict=True):
        of_each.setdefault(owner, set()).add(each)
    return list(of_each.values())


def test_the_public_facts_come_from_schema_and_ground_alone() -> None:
    """Places, length and unit are known before a row is read."""
    domain = domain_of_visits(_SCHEMA, VisitLayout("who", "minute", "poi", longest=7, label="good"), _GROUND)
    assert (domain.tokens, domain.longest, domain.classes) == ((1, 2, 3), 7, (False, True))
    assert domain.unit == _SCHEMA.unit
    assert domain.timed


@pytest.mark.parametrize(
    ("schema", "layout", "error", "says"),
    [
        (_SCHEMA.with_unit(Unit()), _LAYOUT, SchemaError, "declare 'unit: {person: who}'"),
        (_SCHEMA.with_unit(Unit.person("poi")), _LAYOUT, SchemaError, "would hide no person"),
        (_SCHEMA, VisitLayout("who", "good", "poi"), SchemaError, "a time is a number"),
        (_SCHEMA, VisitLayout("who", "minute", "lat"), SchemaError, "places are named by"),
        (_SCHEMA, VisitLayout("who", "minute", latitude="lat", longitude="good"), SchemaError, "degrees are numbers"),
        (_SCHEMA, VisitLayout("who", "minutes", "poi"), SchemaError, "did you mean 'minute'"),
        (_SCHEMA, VisitLayout("who", "minute", "poi", trip="ride", cut="trip"), SchemaError, "no column 'ride'"),
        (_SCHEMA, VisitLayout("who", "minute", "poi", label="kind"), NotPublicError, "learned"),
    ],
)
def test_what_would_not_hide_a_person_is_refused(
    schema: Schema, layout: VisitLayout, error: type[Exception], says: str
) -> None:
    """The message says what to change."""
    with pytest.raises(error, match=says):
        domain_of_visits(schema, layout, _GROUND)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "Say where the place stands"),
        ({"place": "poi", "latitude": "lat", "longitude": "lon"}, "Say where the place stands"),
        ({"latitude": "lat"}, "Say where the place stands"),
        ({"place": "poi", "within": 1.0}, "within"),
        ({"latitude": "lat", "longitude": "lon", "within": float("inf")}, "within"),
        ({"place": "poi", "trip": "ride"}, "Trips need both"),
        ({"place": "poi", "cut": "trip"}, "Trips need both"),
        ({"place": "poi", "cut": "gap"}, "A gap needs both"),
        ({"place": "poi", "gap": 5}, "A gap needs both"),
        ({"place": "poi", "cut": "gap", "gap": 0}, "gap"),
        ({"place": "poi", "cut": "week"}, "cut by 'day'"),
        ({"place": "poi", "starts": 1440}, "from 0 to 1439"),
        ({"place": "poi", "least": 5, "longest": 4}, "must not be smaller"),
    ],
)
def test_a_layout_that_contradicts_itself_is_refused(given: dict[str, object], says: str) -> None:
    """Before any table is opened."""
    with pytest.raises(ParameterError, match=says):
        VisitLayout("who", "minute", **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "given",
    [
        {"epoch": "yesterday"},
        {"epoch": "2024-01-01T00:00+01:00"},
        {"tick": 0},
        {"tick": "1/0"},
        {"zone": "Mars/Olympus"},
        {"pattern": "hh:mm"},
        {"pattern": "YYYY'MM DD"},
    ],
)
def test_a_calendar_that_says_nothing_is_refused(given: dict[str, object]) -> None:
    """Epoch, tick, zone and pattern are checked when they are stated."""
    with pytest.raises(ParameterError):
        Calendar(**given)  # type: ignore[arg-type]


def test_what_one_person_did_never_depends_on_another() -> None:
    """Neighbouring tables have neighbouring trajectories, whatever the other's visits, and however cut."""
    mine = [("p", 480, 1), ("p", 470, 2), ("p", 480, 3), ("p", 2000, 3), ("p", 490, 9)]
    others = [("o", 475, 1), ("q", 480, 2), ("q", 481, 1), ("r", -5, 3), ("q", 3 * _DAY, 2)]
    cuts = [
        _LAYOUT,
        VisitLayout("who", "minute", "poi", cut="gap", gap=5, longest=2),
        VisitLayout("who", "minute", "poi", cut=None, least=3),
    ]
    for layout in cuts:
        alone, together = _people(mine, layout), _people([*others[:2], *mine, *others[2:]], layout)
        assert len(alone) == 1
        assert alone[0] in together
        assert _people(others, layout) == [each for each in together if each != alone[0]]


def test_nothing_is_said_of_what_does_not_count() -> None:
    """Nobody is left, and no error: unknown places, and days with too few visits."""
    assert _people([("p", 480, 9), ("q", 480, 1)], VisitLayout("who", "minute", "poi", least=2)) == []


def test_parts_have_whole_people_and_add_up() -> None:
    """Every person is in one part, in the same trajectories as when all are read at once."""
    rows = [
        (f"p{person:03}", 60 * visit + person, 1 + (visit + person) % 3) for person in range(50) for visit in range(60)
    ]
    table = read(_visits(rows), schema=_SCHEMA)
    whole = read_trajectories(table, _LAYOUT, _GROUND)
    parts = list(stream_trajectories(table, _LAYOUT, _GROUND, visits=100))
    joined = Trajectories.together(parts)
    assert list(joined) == list(whole)
    assert joined.minutes is not None
    assert whole.minutes is not None
    assert joined.minutes.tolist() == whole.minutes.tolist()
    assert joined.owners is not None
    assert whole.owners is not None
    assert joined.owners.tolist() == whole.owners.tolist()


def test_points_need_a_grid_or_a_distance() -> None:
    """A ground that is no grid has no cells to lay points on."""
    layout = VisitLayout("who", "minute", latitude="lat", longitude="lat")
    ground = Ground.of((1, 2), [40.1, 40.2], [-74.0, -73.9])
    with pytest.raises(ParameterError, match="no grid; say with within"):
        read_trajectories(read(_visits([("p", 1, 1)]), schema=_SCHEMA), layout, ground)


def test_public_places_are_read_in_the_order_of_their_names() -> None:
    """With degrees, regions and a box, or by their names alone."""
    table = pa.table({"stop": ["b", "a"], "lat": [40.5, 40.6], "lon": [-73.5, -73.9], "line": ["red", "blue"]})
    box = Box(-74, 40, -73, 41)
    ground = read_ground(table, "stop", "lat", "lon", regions=["line"], box=box)
    assert ground == Ground.of(["a", "b"], [40.6, 40.5], [-73.9, -73.5], box=box, regions={"line": ("blue", "red")})
    assert read_ground(table, "stop") == Ground(("a", "b"))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"stop": ["a", "a"], "lat": [40.5, 40.6]}, "stands twice"),
        ({"stop": ["a", None], "lat": [40.5, 40.6]}, "needs a name"),
        ({"stop": ["a", "b"], "lat": [40.5, None]}, "needs a name"),
    ],
)
def test_a_public_table_of_places_must_be_complete(given: dict[str, list[object]], says: str) -> None:
    """Each place once, with whatever is read of it."""
    with pytest.raises(DataError, match=says):
        read_ground(pa.table(given), "stop", "lat", "lat")


def test_foursquare_comes_with_its_schemas() -> None:
    """The ready-made schemas say whose visits they are, and the epoch which day of the week minute 0 was."""
    layout = VisitLayout("user", "minute", "poi", calendar=Calendar("2012-04-03 14:00"))
    domain = domain_of_visits(datasets.schema("foursquare_nyc_visits"), layout, Ground(tuple(range(1, 5136))))
    assert str(domain.unit) == "one person (column user)"
    assert layout.calendar.shift == 14 * 60 + _DAY
    assert datasets.schema("foursquare_nyc_pois").names == ("poi", "lat", "lon")


@pytest.mark.data
def test_foursquare_is_cut_as_the_judge_cuts_it() -> None:
    """31,786 person-days with two visits or more, 1,083 people, 147,938 visits in 5,135 places."""
    ground = read_ground(read(datasets.load("foursquare_nyc_pois", offline=True)), "poi", "lat", "lon")
    name = "foursquare_nyc_visits"
    table = read(datasets.load(name, offline=True), schema=datasets.schema(name))
    calendar = Calendar("2012-04-03 14:00")
    days = read_trajectories(table, VisitLayout("user", "minute", "poi", least=2, calendar=calendar), ground)
    assert (ground.size, len(days)) == (5135, 31_786)
    people = VisitLayout("user", "minute", "poi", cut=None, longest=10_000, calendar=calendar)
    whole = read_trajectories(table, people, ground)
    assert (len(whole), len(whole.codes)) == (1083, 147_938)
    assert list(whole.by_day(least=2)) == list(days)

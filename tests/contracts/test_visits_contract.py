"""Visits are read alike in DuckDB, Spark and PostgreSQL: times, places, cuts, and what does not count."""

import datetime
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ziggurat.data import Categories, Column, Kind, Schema, Table, Unit
from ziggurat.data.engines import Engine
from ziggurat.sequences.mobility import (
    Box,
    Calendar,
    FareCardLayout,
    Ground,
    MarkovTrajectories,
    Trajectories,
    VisitLayout,
    read_fare_cards,
    read_trajectories,
    stream_trajectories,
)
from ziggurat.sequences.mobility.counting import (
    LEFT_OUT,
    AskedVisits,
    CellLookup,
    CountingRule,
    HeldVisits,
    NormedCounts,
)

Load = Callable[[pa.Table], str]
_NAMED = Ground(("c", "b", "a"))
_DAY = 24 * 60


def _table(held: tuple[Engine, Load], given: dict[str, Any], *columns: Column) -> Table:
    engine, load = held
    return Table(engine, load(pa.table(given)), Schema(columns, Unit.person("who")))


def _found(given: Trajectories) -> list[list[tuple[Any, int]]]:
    assert given.minutes is not None
    visits = list(zip([name for each in given for name in each], given.minutes.tolist(), strict=True))
    return [visits[start:stop] for start, stop in zip(given.offsets[:-1], given.offsets[1:], strict=True)]


def _at(day: int, hour: int, minute: int = 0) -> datetime.datetime:
    return datetime.datetime(2024, 1, day, hour, minute, 30)


def _moments(held: tuple[Engine, Load]) -> Table:
    at = [_at(1, 18), _at(1, 8), _at(1, 8), None, _at(2, 1), _at(2, 9), _at(1, 7), _at(1, 7), _at(1, 9)]
    given = {
        "who": ["p", "p", "p", "p", "p", "q", "q", None, "q"],
        "at": pa.array(at, pa.timestamp("us")),
        "where": ["a", "b", "c", "a", "b", "a", "elsewhere", "a", None],
        "trip": [1, 2, 2, 2, None, 7, 7, 7, 7],
        "kind": ["u", "x", "v", "u", "v", "u", "v", "u", "u"],
    }
    kinds = Column("kind", Kind.CATEGORY, categories=Categories(("u", "v")))
    return _table(
        held, given, Column("who", Kind.TEXT), Column("at", Kind.DATE), Column("where", Kind.TEXT),
        Column("trip", Kind.INTEGER, role="identifier"), kinds,
    )  # fmt: skip


def test_moments_are_cut_into_days_gaps_trips_and_people(held: tuple[Engine, Load]) -> None:
    table = _moments(held)
    morning, evening, night = [("c", 480), ("b", 480)], ("a", 1080), ("b", _DAY + 60)
    other = [("a", _DAY + 540)]
    days = read_trajectories(table, VisitLayout("who", "at", "where"), _NAMED)
    assert _found(days) == [[*morning, evening], [night], other]
    assert days.owners is not None
    assert days.owners.tolist() == [0, 0, 1]
    later = read_trajectories(table, VisitLayout("who", "at", "where", starts=120, least=2, longest=3), _NAMED)
    assert _found(later) == [[*morning, evening]]
    gaps = VisitLayout("who", "at", "where", cut="gap", gap=420)
    assert _found(read_trajectories(table, gaps, _NAMED)) == [morning, [evening, night], other]
    trips = VisitLayout("who", "at", "where", trip="trip", cut="trip")
    assert _found(read_trajectories(table, trips, _NAMED)) == [[evening], morning, other]
    whole = read_trajectories(table, VisitLayout("who", "at", "where", cut=None, label="kind"), _NAMED)
    assert _found(whole) == [[*morning, evening, night], other]
    assert whole.classes == ["v", "u"]


def test_moments_in_utc_are_laid_in_the_zone_of_the_places(held: tuple[Engine, Load]) -> None:
    calendar = Calendar("2023-12-25", zone="America/New_York")
    found = read_trajectories(_moments(held), VisitLayout("who", "at", "where", cut=None, calendar=calendar), _NAMED)
    assert [minute - 7 * _DAY for _, minute in _found(found)[0]] == [180, 180, 780, 1200]


def test_times_are_read_as_texts_numbers_and_dates(held: tuple[Engine, Load]) -> None:
    texts = ["31/01/2024 23:59:58", "31/02/2024 08:00", "1/1/2024 8:00", "", "30/01/2024 24:00", "30/01/2024 07:05"]
    numbers = [3600.5, -1.0, np.nan, 1e300, None, 59.0]
    digits = [202401312359, 202402310800, 7, None, 10**17, 202401300705]
    given = {
        "who": [1] * 6,
        "text": texts,
        "number": pa.array(numbers, pa.float64(), from_pandas=False),
        "digits": pa.array(digits, pa.int64()),
        "day": pa.array([datetime.date(2024, 1, 8), None] * 3, pa.date32()),
        "where": ["a", "b", "c", "a", "b", "c"],
    }
    columns = (
        Column("who", Kind.INTEGER, role="identifier"),
        Column("text", Kind.TEXT),
        Column("number", Kind.REAL),
        Column("digits", Kind.INTEGER),
        Column("day", Kind.DATE),
        Column("where", Kind.CATEGORY, categories=Categories(("a", "b", "c"))),
    )
    table = _table(held, given, *columns)

    def read(time: str, **calendar: Any) -> list[tuple[Any, int]]:
        layout = VisitLayout("who", time, "where", cut=None, calendar=Calendar("2024-01-30 12:00", **calendar))
        return _found(read_trajectories(table, layout, _NAMED))[0]

    written = [("c", _DAY + 425), ("a", 2 * _DAY + 1439)]
    assert read("text", pattern="DD/MM/YYYY hh:mm") == written
    assert read("digits", pattern="YYYYMMDDhhmm") == written
    noon = _DAY + 720
    assert read("number", tick="1/60") == [("b", noon - 1), ("c", noon), ("a", noon + 60)]
    assert read("day") == [("c", -21 * _DAY), ("b", -21 * _DAY), ("a", -21 * _DAY)]  # at midnight of the Monday before


def _points(count: int) -> dict[str, Any]:
    draw = np.random.default_rng(5)
    odd = [np.nan, np.inf, 1e300, -1e300, 40.0, 41.0, None, 91.0]
    latitude = [*draw.uniform(39.95, 41.05, count).tolist(), *odd]
    longitude = [*draw.uniform(-74.05, -72.95, count).tolist(), *[-73.5] * 4, -74.0, -73.0, -73.5, -73.5]
    number = np.arange(count + len(odd))
    return {
        "who": [1] * len(number),
        "at": pa.array(number),
        "lat": pa.array(latitude, pa.float64(), from_pandas=False),
        "lon": pa.array(longitude, pa.float64()),
    }


def _read_points(held: tuple[Engine, Load], given: dict[str, Any], ground: Ground, within: float | None) -> Any:
    columns = (
        Column("who", Kind.INTEGER, role="identifier"),
        Column("at", Kind.INTEGER),
        Column("lat", Kind.REAL),
        Column("lon", Kind.REAL),
    )
    layout = VisitLayout("who", "at", latitude="lat", longitude="lon", within=within, cut=None, longest=10_000)
    return _found(read_trajectories(_table(held, given, *columns), layout, ground))[0]


def test_points_are_laid_on_the_cells_of_a_grid(held: tuple[Engine, Load]) -> None:
    box = Box(-74.0, 40.0, -73.0, 41.0)
    given = _points(300)
    wanted = []
    for at, lat, lon in zip(*(given[name].to_pylist() for name in ("at", "lat", "lon")), strict=True):
        if lat is not None and 40 <= lat <= 41 and -74 <= lon <= -73:
            wanted.append((min(int((lon + 74) * 7), 6) * 3 + min(int((lat - 40) * 3), 2), at))
    assert len(wanted) > 200
    assert _read_points(held, given, Ground.grid(box, 7, 3), None) == wanted


@pytest.mark.parametrize("within", [2.0, 9.0])
def test_points_are_laid_on_the_nearest_place_that_is_near_enough(held: tuple[Engine, Load], within: float) -> None:
    draw = np.random.default_rng(6)
    box = Box(-74.0, 40.0, -73.0, 41.0)
    ground = Ground.of(range(100, 140), draw.uniform(40, 41, 40), draw.uniform(-74, -73, 40), box=box)
    given = _points(300)
    given["lat"] = pa.concat_arrays([given["lat"], given["lat"].slice(0, 5)])
    given["lon"] = pa.concat_arrays([given["lon"], given["lon"].slice(0, 5)])
    given["who"], given["at"] = [1] * 313, pa.array(np.arange(313))
    wanted = []
    for at, lat, lon in zip(*(given[name].to_pylist() for name in ("at", "lat", "lon")), strict=True):
        if lat is None or not np.isfinite(lat) or not -90 <= lat <= 90:
            continue
        away = np.linalg.norm(ground.require_points()[0] - box.to_kilometres(lat, lon), axis=1)
        if away.min() <= within:
            wanted.append((100 + int(away.argmin()), at))
    assert 10 < len(wanted) < 313
    assert _read_points(held, given, ground, within) == wanted


def _rides(held: tuple[Engine, Load]) -> Table:
    """Two cards: a change of buses within a minute, a ride without a tap-out, one past midnight by another mode."""
    engine, load = held
    taps = [
        ("x", "20240102", 80000, "20240102", 82030, "a", "b", "BUS", "old"),
        ("x", "20240102", 82045, "", None, "c", None, "BUS", "young"),
        ("x", "20240102", 235000, "20240103", 500, "a", "c", "MRT", None),
        ("y", "20240102", None, "20240102", 90000, "a", "b", "BUS", "young"),
        ("y", "20240199", 80000, None, 90000, "a", "b", "BUS", "young"),
        (None, "20240102", 80000, "20240102", 90000, "a", "b", "BUS", "old"),
    ]
    who, first, begin, last, end, origin, goal, mode, age = zip(*taps, strict=True)
    cells = {"card": who, "d1": first, "t1": begin, "d2": last, "t2": end, "o": origin, "d": goal, "m": mode, "c": age}
    numbers = ("t1", "t2")
    columns = (
        *(Column(name, Kind.INTEGER if name in numbers else Kind.TEXT) for name in cells if name != "c"),
        Column("c", Kind.CATEGORY, categories=Categories(("old", "young"))),
    )
    return Table(engine, load(pa.table(cells)), Schema(columns, Unit.person("card")))


def test_fare_cards_are_read_tap_by_tap(held: tuple[Engine, Load]) -> None:
    where = {"card": "card", "entry_date": "d1", "entry_time": "t1", "exit_date": "d2", "exit_time": "t2"}
    names = {**where, "origin": "o", "destination": "d", "mode": "m", "category": "c"}
    calendar = Calendar(pattern="YYYYMMDD hhmmss")
    rides = _rides(held)

    def read(**layout: Any) -> Trajectories:
        return read_fare_cards(rides, _NAMED, FareCardLayout(**names, calendar=calendar, **layout))

    day, morning, night = _DAY, [("a", _DAY + 480), ("b", _DAY + 500), ("c", _DAY + 500)], ("c", 2 * _DAY + 5)
    days = read(label="c")
    assert _found(days) == [[*morning, ("a", day + 1430)], [("b", day + 540)]]
    assert days.classes == ["old", "young"]
    assert _found(read()) == [[*morning, ("a", day + 1430)], [night], [("b", day + 540)]]
    assert _found(read(cut="trip")) == [
        morning[:2],
        morning[2:],
        [("a", day + 1430), night],
        [("b", day + 540)],
    ]
    assert _found(read(modes=("MRT",), cut=None)) == [[("a", day + 1430), night]]
    assert _found(read(modes=("BUS",), categories=("young",), cut=None)) == [morning[2:], [("b", day + 540)]]


_LONGEST = 9
_PLACES = 12


def _rules() -> dict[str, list[CountingRule]]:
    """Tables as a private generator of trajectories counts them: lengths, blocks, distances, ends, steps, hours."""
    groups = np.arange(_PLACES) % 5
    kinds = CellLookup(("length",), np.minimum(np.arange(_LONGEST + 1), 4) * 30)
    longer = CellLookup(("length",), np.where(np.arange(_LONGEST + 1) > 2, 0, LEFT_OUT))
    far = CellLookup(("here", "there"), 1 + np.abs(np.subtract.outer(np.arange(5), np.arange(5))), groups)
    back = CellLookup(("there", "here"), 10 + far.values, groups)
    stays = CellLookup(("same",), np.array([0, -1]))
    hours = 1_000 + np.add.outer(np.arange(24) * 24, np.arange(24))
    return {
        "trajectories": [
            CountingRule("trajectory", (CellLookup(("length",), 500 + np.arange(_LONGEST + 1)),)),
            CountingRule("trajectory", (kinds, far, stays)),
            CountingRule("trajectory", (kinds, CellLookup(("hour", "later"), hours))),
        ],
        "visits": [
            CountingRule("visit", (CellLookup(("here",), np.arange(_PLACES) // 3),)),
            CountingRule("visit", (CellLookup(("hour", "length"), 10 + np.arange(240).reshape(24, 10)),)),
        ],
        "steps": [
            CountingRule("step", (far,)),
            CountingRule("step", (back, stays, longer)),
            CountingRule(
                "step", (CellLookup(("before", "here"), 100 + np.arange(36).reshape(6, 6), np.append(groups, 5)),)
            ),
            CountingRule("step", (CellLookup(("hour", "later"), np.where(hours % 25 > 2, hours, LEFT_OUT)),)),
        ],
    }


def _summed(found: NormedCounts) -> Counter[tuple[int, int]]:
    """Counts by norm and cell, of which several parts may hold the same."""
    total: Counter[tuple[int, int]] = Counter()
    for norm, cell, many in zip(*(each.tolist() for each in found), strict=True):
        total[norm, cell] += many
    return total


def test_engines_count_what_is_counted_in_memory(held: tuple[Engine, Load]) -> None:
    draw = np.random.default_rng(11)
    who = np.sort(draw.zipf(1.4, 400) % 40)
    given = {"who": who, "at": draw.integers(-_DAY, 3 * _DAY, 400), "where": draw.integers(0, _PLACES + 2, 400)}
    columns = (Column("who", Kind.INTEGER), Column("at", Kind.INTEGER), Column("where", Kind.INTEGER))
    table = _table(held, given, *columns)
    ground, layout = Ground(tuple(range(_PLACES))), VisitLayout("who", "at", "where", longest=_LONGEST)
    read = read_trajectories(table, layout, ground)
    for event, rules in _rules().items():
        alone, square = event == "visits", event == "steps"
        asked = AskedVisits(table, layout, ground, each_alone=alone, parts=1 + alone)
        wanted = _summed(HeldVisits(read.each_alone() if alone else read).tally(rules, square=square))
        assert len(wanted) > 20
        assert _summed(asked.tally(rules, square=square)) == wanted
    parts = Trajectories.together(list(stream_trajectories(table, layout, ground, visits=50, parts=2)))
    assert sorted(_found(parts)) == sorted(_found(read))


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_a_generator_learns_the_same_from_counts_of_an_engine(held: tuple[Engine, Load], delta: Any) -> None:
    """Every table is the same, number by number, and so is what the same seed makes of it."""
    if delta and held[0].title != "DuckDB":
        pytest.skip("the sums of squares are counted by one engine; the others are held to its counts above")
    draw = np.random.default_rng(3)
    visits = 600
    given = {
        "who": draw.integers(0, 40, visits),
        "at": draw.integers(0, 6 * _DAY, visits),
        "where": draw.integers(0, 25, visits),
    }
    table = _table(held, given, Column("who", Kind.INTEGER), Column("at", Kind.INTEGER), Column("where", Kind.INTEGER))
    ground, layout = Ground.grid(Box(-74, 40, -73, 41), 5), VisitLayout("who", "at", "where", longest=12)
    model = MarkovTrajectories(5, delta, random_state=4)
    wanted = model.fit(read_trajectories(table, layout, ground)).sample(300, random_state=1)
    found = model.fit(AskedVisits(table, layout, ground)).sample(300, random_state=1)
    assert _found(found) == _found(wanted)
    assert model.domain_ == wanted.domain


def test_engines_count_nothing_where_nothing_counts(held: tuple[Engine, Load]) -> None:
    columns = Column("who", Kind.INTEGER), Column("at", Kind.INTEGER), Column("where", Kind.INTEGER)
    table = _table(held, {"who": [1, 2], "at": [5, 6], "where": [77, 78]}, *columns)
    asked = AskedVisits(table, VisitLayout("who", "at", "where"), Ground((0, 1)))
    found = asked.tally([CountingRule("visit", (CellLookup(("here",), np.arange(2)),))])
    assert found.weighed(2, lambda norms: norms).tolist() == [0, 0]

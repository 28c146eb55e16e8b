"""What synthetic trajectories kept of the original, beside definitions written out plainly and another's program."""

import importlib.util
import json
import math
import os
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau

from ziggurat.data import Unit, read
from ziggurat.data.generators import city_places, city_visits, city_visits_schema
from ziggurat.errors import ParameterError
from ziggurat.sequences.mobility import (
    Box,
    Ground,
    Trajectories,
    TrajectoryDomain,
    VisitLayout,
    read_ground,
    read_trajectories,
)
from ziggurat.utility.mobility import MobilityTerms, compare_trajectories

JUDGE = Path(os.environ.get("ZIGGURAT_DATA") or "none").resolve().parent / "judges" / "mobility.py"
FOURSQUARE = Path(os.environ.get("ZIGGURAT_DATA") or "none") / "foursquare_nyc_visits.parquet"
# Grids and numbers so small that little data fills them.
SMALL = MobilityTerms(
    queries=12, hotspot_grid=8, hotspots=10, visit_grid=5, pattern_grid=3, patterns=20, trip_grids=(3, 4)
)


def invent(people: int, seed: int) -> Trajectories:
    """Days of invented people in one city."""
    ground = read_ground(city_places(), "place", "latitude", "longitude", regions=["district"])
    visits = read(city_visits(people, seed=seed, city=0), city_visits_schema())
    return read_trajectories(visits, VisitLayout("person", "minute", "place"), ground)


ORIGINAL, SYNTHETIC = invent(120, 1), invent(100, 2)


def split(trajectories):
    return np.split(trajectories.points(), trajectories.offsets[1:-1])


def cells_of(points, low, high, side):
    shares = (points - low) / (high - low)
    return [tuple(min(max(int(share * side), 0), side - 1) for share in each) for each in shares]


def walk(points, low, high, side):
    """The cells from each visit to the next, one by one; a cell that is never left stands twice."""
    cells = cells_of(points, low, high, side)
    way = [cells[0]]
    for goal in cells[1:]:
        while way[-1] != goal:
            way.append(tuple(a + (b > a) - (b < a) for a, b in zip(way[-1], goal, strict=True)))
    return way if len(way) > 1 else way * 2


def nearest(points, centre):
    """How near a trajectory comes to a point, by many points along its lines."""
    if len(points) == 1:
        return np.hypot(*(points[0] - centre))
    shares = np.linspace(0, 1, 2001)[:, None]
    along = [a + shares * (b - a) for a, b in pairwise(points)]
    return min(np.hypot(*(each - centre).T).min() for each in along)


def divergence(ours, theirs):
    total = 0.0
    for one, other in ((ours, theirs), (theirs, ours)):
        for key, count in one.items():
            p, q = count / sum(one.values()), other[key] / sum(other.values())
            total += p * math.log(p / ((p + q) / 2)) / 2
    return total


def runs(way, low=2, high=8):
    return Counter(tuple(way[i : i + size]) for size in range(low, high + 1) for i in range(len(way) - size + 1))


def top(counts, most):
    return [key for key, _ in sorted(counts.items(), key=lambda each: (-each[1], each[0]))[:most]]


def binned(values, longest, bins=20):
    return Counter(min(int(each / (longest * (1 + 1e-9)) * bins), bins) for each in values)


def plane_figures(original, synthetic, low, high, terms):
    """The figures by their definitions, one trajectory after the other."""
    both = split(original), split(synthetic)
    found = {"query_error": {}, "trips": {}}
    centres = np.random.default_rng(0).random((terms.queries, 2)) * (high - low) + low
    distances = [np.array([[nearest(each, centre) for each in side] for centre in centres]) for side in both]
    for name, share in (("1/3", 1 / 3), ("1/10", 1 / 10)):
        ours, theirs = ((each <= (high - low).max() * share).sum(1) for each in distances)
        found["query_error"][name] = np.mean(np.abs(ours - theirs) / np.maximum(ours, 0.01 * len(original)))
    dense = [Counter(c for each in side for c in cells_of(each, low, high, terms.hotspot_grid)) for side in both]
    ours, theirs = (set(top(each, terms.hotspots)) for each in dense)
    found["hotspots"] = len(ours & theirs) / terms.hotspots
    every = [(x, y) for x in range(terms.visit_grid) for y in range(terms.visit_grid)]
    passed = [Counter(c for each in side for c in set(walk(each, low, high, terms.visit_grid))) for side in both]
    found["ranks"] = kendalltau(*([each[cell] for cell in every] for each in passed)).statistic
    found["patterns"], found["support_error"] = pattern_figures(
        [[walk(each, low, high, terms.pattern_grid) for each in side] for side in both], terms.patterns
    )
    for grid in terms.trip_grids:
        ends = [Counter((c[0], c[-1]) for c in (cells_of(t, low, high, grid) for t in side)) for side in both]
        found["trips"][f"{grid}x{grid}"] = divergence(*ends)
    steps = [[np.hypot(*np.diff(each, axis=0).T) for each in side] for side in both]
    apart = [[max(np.hypot(*(each - one).T).max() for one in each) for each in side] for side in both]
    for name, (ours, theirs) in {
        "length": [[each.sum() for each in side] for side in steps],
        "diameter": apart,
        "steps": [np.concatenate(side) for side in steps],
    }.items():
        found[name] = divergence(binned(ours, max(ours)), binned(theirs, max(ours)))
    return found


def pattern_figures(ways, most):
    ours, theirs = (sum((runs(way) for way in side), Counter()) for side in ways)
    first, second = top(ours, most), top(theirs, most)
    error = np.mean([abs(ours[each] - theirs[each]) / ours[each] for each in first])
    return len(set(first) & set(second)) / most, error


def agree(found, expected):
    for name, value in expected.items():
        assert getattr(found, name) == pytest.approx(value, abs=1e-12), name


@pytest.mark.parametrize("box", ["public", "visited"])
def test_every_figure_of_the_plane_is_that_of_its_definition(box):
    points, around = ORIGINAL.points(), ORIGINAL.ground.box
    low, high = (
        (np.zeros(2), np.array([around.width, around.height])) if box == "public" else (points.min(0), points.max(0))
    )
    found = compare_trajectories(ORIGINAL, SYNTHETIC, box=box, terms=SMALL)
    agree(found, plane_figures(ORIGINAL, SYNTHETIC, low, high, SMALL))
    assert 0 < found.hotspots < 1
    assert 0 < found.patterns < 1


def test_figures_of_places_and_regions_are_those_of_their_definitions():
    found = compare_trajectories(ORIGINAL, SYNTHETIC, terms=SMALL)
    assert [each.level for each in found.zones] == ["place", "district"]
    districts = dict(zip(ORIGINAL.ground.names, ORIGINAL.ground.regions["district"], strict=True))
    for zone, code in zip(found.zones, (lambda place: place, districts.get), strict=True):
        both = [[[code(place) for place in each] for each in side] for side in (ORIGINAL, SYNTHETIC)]
        visited = [Counter(place for each in side for place in set(each)) for side in both]
        every = sorted({code(place) for place in ORIGINAL.ground.names})
        assert zone.ranks == pytest.approx(kendalltau(*([each[z] for z in every] for each in visited)).statistic)
        ends = [Counter((each[0], each[-1]) for each in side) for side in both]
        assert zone.trips == pytest.approx(divergence(*ends))
        ways = [[collapsed(each) for each in side] for side in both]
        expected = pattern_figures(ways, SMALL.patterns)
        assert (zone.patterns, zone.support_error) == pytest.approx(expected)
        counts = [top(Counter(place for each in side for place in each), 10) for side in both]
        if zone.level == "place":
            assert zone.top == len(set(counts[0]) & set(counts[1])) / 10
        else:
            assert math.isnan(zone.top)  # eight districts are never more than the ten busiest


def collapsed(places):
    kept = [place for i, place in enumerate(places) if i == 0 or places[i - 1] != place]
    return kept if len(kept) > 1 else kept * 2


def test_sizes_and_hours_are_those_of_their_definitions():
    found = compare_trajectories(ORIGINAL, SYNTHETIC)
    sizes = [Counter(len(each) for each in side) for side in (ORIGINAL, SYNTHETIC)]
    assert found.sizes == pytest.approx(divergence(*sizes))
    hours = [Counter((side.minutes // 60 % 24).tolist()) for side in (ORIGINAL, SYNTHETIC)]
    assert found.hours == pytest.approx(divergence(*hours))


def test_trajectories_that_are_equal_do_not_differ():
    found = compare_trajectories(ORIGINAL, ORIGINAL, terms=SMALL)
    assert set(found.query_error.values()) == {0}
    assert set(found.trips.values()) == {0}
    assert (found.support_error, found.length, found.diameter, found.steps, found.sizes, found.hours) == (0,) * 6
    assert (found.hotspots, found.patterns) == (1, 1)
    assert found.ranks == pytest.approx(1)
    assert found.notes == ()


@pytest.mark.parametrize("swapped", ["places", "times", "order"])
def test_what_is_spoilt_is_seen_where_it_should_be(swapped):
    codes, minutes = ORIGINAL.codes.copy(), ORIGINAL.minutes.copy()
    if swapped == "places":
        codes = np.random.default_rng(0).integers(0, 400, len(codes))
    elif swapped == "times":
        minutes = minutes // 1440 * 1440
    else:
        codes = np.concatenate([part[::-1] for part in np.split(codes, ORIGINAL.offsets[1:-1])])
    spoilt = Trajectories(ORIGINAL.domain, codes, ORIGINAL.offsets, None, ORIGINAL.owners, minutes)
    found = compare_trajectories(ORIGINAL, spoilt, terms=SMALL)
    assert (found.hours > 0.1) is (swapped == "times")
    assert (found.trips["3x3"] > 0) is (swapped in {"places", "order"})
    assert (found.hotspots < 1) is (swapped == "places")
    assert (found.length > 1e-3) is (swapped == "places")
    assert found.sizes == 0


@pytest.mark.skipif(
    not (JUDGE.exists() and FOURSQUARE.exists()), reason="no judge beside ZIGGURAT_DATA, or no visits in it"
)
@pytest.mark.data
@pytest.mark.parametrize("data", ["city", "Foursquare"])
def test_figures_are_those_of_another_program(data):
    spec = importlib.util.spec_from_file_location("judge", JUDGE)
    judge = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(judge)
    original, synthetic = (invent(400, 3), invent(400, 4)) if data == "city" else foursquare()
    told = list(judge.Judge(split(original)).score(split(synthetic)).values())
    found = compare_trajectories(original, synthetic, box="visited")
    ours = [*found.query_error.values(), found.hotspots, found.ranks, found.patterns, found.support_error]
    assert [*ours, *found.trips.values(), found.diameter, found.length] == pytest.approx(told, abs=1e-12)


def foursquare():
    """Some person-days of real people, in two halves."""
    import pandas as pd

    places = pd.read_parquet(FOURSQUARE.with_name("foursquare_nyc_pois.parquet"))
    visits = pd.read_parquet(FOURSQUARE).query("user <= 150").sort_values(["user", "minute"], kind="stable")
    domain = TrajectoryDomain.on(
        Ground.of(places.poi.tolist(), places.lat, places.lon), 3_000, unit=Unit.person("user")
    )
    counts = visits.groupby("user").size().to_numpy()
    columns = (visits.poi.to_numpy() - 1, np.r_[0, counts.cumsum()], None, np.arange(len(counts)))
    days = Trajectories(domain, *columns, visits.minute.to_numpy() + 2280).by_day(least=2)
    return days.take(np.arange(0, len(days), 2)), days.take(np.arange(1, len(days), 2))


def test_places_without_coordinates_are_compared_by_what_needs_none():
    bare = Ground(ORIGINAL.ground.names, regions=ORIGINAL.ground.regions)
    domain = TrajectoryDomain.on(bare, 400, unit=Unit.person("person"))
    both = [Trajectories(domain, t.codes, t.offsets, None, t.owners, t.minutes) for t in (ORIGINAL, SYNTHETIC)]
    found, full = compare_trajectories(*both), compare_trajectories(ORIGINAL, SYNTHETIC)
    assert (found.sizes, found.hours) == (full.sizes, full.hours)
    assert str(found.zones) == str(full.zones)
    assert found.query_error == {} == found.trips
    assert math.isnan(found.length)
    assert "no coordinates" in found.notes[0]
    assert not any("length" in each.measure for each in found.measures)
    json.dumps(found.to_dict(), allow_nan=False)


def test_times_are_left_out_where_there_are_none():
    domain = TrajectoryDomain.on(ORIGINAL.ground, 400, unit=Unit.person("person"), timed=False)
    untimed = Trajectories(domain, ORIGINAL.codes, ORIGINAL.offsets, None, ORIGINAL.owners)
    found = compare_trajectories(ORIGINAL, untimed)
    assert math.isnan(found.hours)
    assert "times" in found.notes[0]
    assert found.hotspots == 1


def test_other_places_are_compared_on_the_plane():
    """On a grid whose cells lie whole in those of every coarser one."""
    box = ORIGINAL.ground.box
    grid = Ground.grid(box, 240)
    cells = ORIGINAL.ground.cells(240)
    domain = TrajectoryDomain.on(grid, 400, unit=Unit.person("person"))
    gridded = Trajectories(domain, cells[ORIGINAL.codes], ORIGINAL.offsets, None, ORIGINAL.owners, ORIGINAL.minutes)
    found = compare_trajectories(ORIGINAL, gridded, terms=SMALL)
    assert found.zones == ()
    assert found.hotspots == 1
    assert found.support_error == 0
    assert "not the same" in found.notes[0]


def test_grounds_with_different_boxes_are_laid_one_over_the_other():
    ground = ORIGINAL.ground
    lat, lon = ground.box.to_degrees(ground.points)
    wider = Ground.of(ground.names, lat, lon, box=Box(-31, 44, -29, 46))
    domain = TrajectoryDomain.on(wider, 400, unit=Unit.person("person"))
    moved = Trajectories(domain, ORIGINAL.codes, ORIGINAL.offsets, None, ORIGINAL.owners, ORIGINAL.minutes)
    found = compare_trajectories(ORIGINAL, moved, terms=SMALL)
    assert found.query_error["1/3"] < 0.01
    assert found.hotspots >= 0.9


def test_a_box_in_degrees_divides_what_it_holds():
    whole = compare_trajectories(ORIGINAL, SYNTHETIC, terms=SMALL)
    asked = compare_trajectories(ORIGINAL, SYNTHETIC, box=ORIGINAL.ground.box, terms=SMALL)
    assert asked.trips == pytest.approx(whole.trips)
    small = compare_trajectories(ORIGINAL, SYNTHETIC, box=Box(-30.02, 44.99, -29.98, 45.02), terms=SMALL)
    assert small.trips != pytest.approx(whole.trips)


def test_counts_are_scaled_only_if_asked_for():
    half = ORIGINAL.take(np.arange(0, len(ORIGINAL), 2))
    plain = compare_trajectories(ORIGINAL, half, terms=SMALL)
    scaled = compare_trajectories(ORIGINAL, half, terms=MobilityTerms(scaled=True))
    assert plain.query_error["1/3"] == pytest.approx(0.5, abs=0.05)
    assert scaled.query_error["1/3"] < 0.1
    assert "not scaled" in plain.notes[0]
    assert "scaled to as many" in scaled.notes[0]


def test_trajectories_without_visits_do_not_count():
    visits = [[(0, 5), (1, 9)], [], [(2, 7)]]
    domain = TrajectoryDomain.on(ORIGINAL.ground, 10)
    found = compare_trajectories(Trajectories.of_visits(domain, visits), Trajectories.of_visits(domain, visits[::-1]))
    assert (found.original, found.synthetic, found.visits) == (2, 2, 3)
    with pytest.raises(ParameterError, match="no visits"):
        compare_trajectories(Trajectories.of_visits(domain, visits), Trajectories.of_visits(domain, [[]]))


def test_few_patterns_and_cells_are_found_whole():
    """Where there are fewer than a hundred, all of them are the top, and cells that nobody visits are not."""
    domain = TrajectoryDomain.on(ORIGINAL.ground, 10)
    one = Trajectories.of_visits(domain, [[(0, 5), (1, 9)]])
    assert compare_trajectories(one, one).patterns == 1
    assert compare_trajectories(one, one).hotspots == 1


@pytest.mark.parametrize("wrong", [{"queries": 0}, {"pattern_sizes": (1, 3)}, {"radii": (0.0,)}, {"trip_grids": (0,)}])
def test_terms_that_are_none_are_refused(wrong):
    with pytest.raises(ParameterError):
        MobilityTerms(**wrong)


def test_a_box_that_is_none_is_refused():
    with pytest.raises(ParameterError, match="'public', 'visited'"):
        compare_trajectories(ORIGINAL, SYNTHETIC, box="mine")


def test_the_report_says_what_each_figure_means():
    found = compare_trajectories(ORIGINAL, SYNTHETIC)
    assert found.table.column_names == ["measure", "value", "better", "meaning"]
    said = {each.measure: each.meaning for each in found.measures}
    share = round(100 * found.hotspots)
    assert said["hotspots F1"] == f"Of the 100 busiest cells of a grid of 40 × 40, {share}% are found."
    assert found.sentence.startswith(f"{found.synthetic:,} synthetic trajectories beside {found.original:,} original")
    assert json.loads(json.dumps(found.to_dict()))["terms"]["hotspots"] == 100

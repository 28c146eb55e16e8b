"""Maps, curves and pages of trajectories: true to scale, the same bytes each time, and raw only where that is said."""

import re
import xml.etree.ElementTree as Xml

import numpy as np
import pytest

from ziggurat.data import read
from ziggurat.data.generators import city_places, city_visits, city_visits_schema
from ziggurat.drawing import sheet
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
from ziggurat.utility.mobility import (
    MobilityTerms,
    compare_trajectories,
    draw_hotspots,
    draw_hours,
    draw_lengths,
    draw_map,
    draw_top_places,
    draw_trips,
    render_before_and_after,
    render_synthetic,
)
from ziggurat.utility.mobility._canvas import choose_box, lay_out
from ziggurat.utility.mobility._maps import _find_trips, _share_visits

GROUND = read_ground(city_places(), "place", "latitude", "longitude")


def invent(people: int, seed: int) -> Trajectories:
    visits = read(city_visits(people, seed=seed, city=0), city_visits_schema())
    return read_trajectories(visits, VisitLayout("person", "minute", "place"), GROUND)


BOTH = {"original": invent(150, 1), "synthetic": invent(120, 2)}
ORIGINAL, SYNTHETIC = BOTH.values()
DRAWINGS = {
    "map": lambda kind: draw_map(BOTH, kind),
    "trips": lambda kind: draw_trips(BOTH, kind),
    "hotspots": lambda kind: draw_hotspots(ORIGINAL, SYNTHETIC, kind),
    "top places": lambda kind: draw_top_places(GROUND, np.eye(3, GROUND.size) + 0.01, kind),
    "hours": lambda kind: draw_hours(BOTH, kind),
    "lengths": lambda kind: draw_lengths(BOTH, kind),
}


@pytest.mark.parametrize("what", DRAWINGS)
def test_the_same_trajectories_give_the_same_picture(what):
    drawn = DRAWINGS[what]("svg")
    assert drawn == DRAWINGS[what]("svg")
    assert Xml.fromstring(drawn).tag.endswith("svg")


def test_pictures_are_drawn_as_png_too():
    assert draw_map(SYNTHETIC, "png").startswith(b"\x89PNG")


@pytest.mark.parametrize("box", [Box(-74.3, 40.5, -73.6, 41.0), Box(10.0, 59.0, 11.0, 60.2)])
def test_a_kilometre_is_as_long_to_the_north_as_to_the_east(box):
    with sheet(5, 5) as page:
        axes = page.subplots()
        lay_out(axes, box)
        page.draw_without_rendering()
        corner, east, north = axes.transData.transform(
            [(box.west, box.south), (box.east, box.south), (box.west, box.north)]
        )
    assert (east - corner)[0] / box.width == pytest.approx((north - corner)[1] / box.height, rel=1e-6)


@pytest.mark.parametrize(("width", "told"), [(59.0, "10 km"), (12.0, "2 km"), (4.4, "1 km"), (0.9, "200 m")])
def test_the_scale_is_a_round_number_of_its_true_length(width, told):
    box = Box(0.0, 0.0, width / 111.32, width / 110.574)
    with sheet(5, 5) as page:
        axes = page.subplots()
        lay_out(axes, box)
        bar, words = axes.lines[0].get_xdata(), axes.texts[0].get_text()
    kilometres = float(words.split()[0]) / (1000 if words.endswith(" m") else 1)
    assert words == told
    assert (bar[1] - bar[0]) * 111.32 == pytest.approx(kilometres, rel=1e-4)


def test_every_visit_is_in_its_cell():
    density = _share_visits(ORIGINAL, GROUND.box, 12)
    lat, lon = (each[ORIGINAL.codes] for each in GROUND.box.to_degrees(GROUND.points))
    box, (rows, columns) = GROUND.box, density.shape
    assert density.sum() == pytest.approx(1000)
    inside = (lat - box.south) / (box.north - box.south), (lon - box.west) / (box.east - box.west)
    top = (inside[0] * rows >= rows - 1) & (inside[1] * columns < 1)
    assert density[-1, 0] == pytest.approx(1000 * top.mean())


def test_trips_are_from_the_first_to_the_last_visit():
    trips = _find_trips(ORIGINAL, GROUND.box, 3)
    cells = GROUND.cells(3)
    first, last = cells[ORIGINAL.codes[ORIGINAL.offsets[:-1]]], cells[ORIGINAL.codes[ORIGINAL.offsets[1:] - 1]]
    assert trips.sum() == len(ORIGINAL)
    assert trips[4, 3] == ((first == 4) & (last == 3)).sum()


def test_hotspots_that_are_drawn_are_those_that_are_counted():
    terms = MobilityTerms(hotspot_grid=10, hotspots=20)
    found = compare_trajectories(ORIGINAL, SYNTHETIC, terms=terms)
    drawn = draw_hotspots(ORIGINAL, SYNTHETIC, terms=terms).decode()
    hits = round(20 * found.hotspots)
    assert 0 < hits < 20
    assert f"found ({hits})" in drawn
    assert f"missed ({20 - hits})" in drawn


def test_what_is_drawn_is_a_box_of_choice():
    visited = choose_box("visited", [ORIGINAL])
    assert choose_box("public", [ORIGINAL]) == GROUND.box
    assert GROUND.box.west <= visited.west < visited.east <= GROUND.box.east
    assert draw_map(ORIGINAL, box=Box(-30.05, 44.98, -29.98, 45.02)) != draw_map(ORIGINAL)
    with pytest.raises(ParameterError, match="'public', 'visited'"):
        draw_map(ORIGINAL, box="mine")
    with pytest.raises(ParameterError, match="span no area"):
        draw_map(ORIGINAL.take([0]).take_first(1), box="visited")


def test_what_cannot_be_drawn_is_refused():
    nobody = ORIGINAL.take(np.zeros(0, np.int64))
    for draw in (draw_map, draw_trips, draw_lengths):
        with pytest.raises(ParameterError, match="no visits to draw"):
            draw(nobody)
    with pytest.raises(ParameterError, match="one weight for every place"):
        draw_top_places(GROUND, np.ones((2, 3)))
    with pytest.raises(ParameterError, match="no coordinates"):
        draw_map(without_coordinates(ORIGINAL))


def without_coordinates(trajectories, timed=True):
    domain = TrajectoryDomain.on(
        Ground(GROUND.names), trajectories.domain.longest, unit=trajectories.domain.unit, timed=timed
    )
    minutes = trajectories.minutes if timed else None
    return Trajectories(domain, trajectories.codes, trajectories.offsets, None, trajectories.owners, minutes)


def check_alone(page):
    """One file that asks nobody for anything."""
    assert not re.findall(r"url\((?!#)|@import|<script|<link|<iframe|href=\"(?!#|data:)|src=", page)
    assert page.count("<figure") == len(re.findall(r'role="img" aria-label="[^"]{10,}">\s*<svg', page))


@pytest.fixture(scope="module")
def before_and_after():
    return render_before_and_after(ORIGINAL, SYNTHETIC, name="days <script>{{7*7}}")


def test_the_page_before_and_after_says_that_it_is_raw(before_and_after):
    check_alone(before_and_after)
    assert "Raw data, for the steward only" in before_and_after
    assert "do not publish it" in before_and_after
    assert "Days &lt;script&gt;{{7*7}}, before and after" in before_and_after
    assert before_and_after.count("<svg") == 6


def test_the_page_before_and_after_tells_every_figure_in_a_sentence(before_and_after):
    for each in compare_trajectories(ORIGINAL, SYNTHETIC).measures:
        assert f"{each.value:.3f}</td>" in before_and_after
        assert each.meaning.replace("'", "&#39;") in before_and_after


def test_the_public_page_is_made_of_the_synthetic_alone():
    page = render_synthetic(SYNTHETIC, name="days", rehearsal=True)
    check_alone(page)
    assert "Raw data" not in page
    assert "original" not in page.lower()
    assert page.count("<svg") == 5
    assert "hour of the week" in page
    assert "REHEARSAL" in page


def test_pages_leave_out_what_there_is_not():
    bare, still = without_coordinates(ORIGINAL), without_coordinates(ORIGINAL, timed=False)
    page = render_before_and_after(bare, still)
    assert page.count("<svg") == 1
    assert "The places have no coordinates" in page
    assert "the hours are left out" in page
    assert render_synthetic(still).count("<svg") == 1


def test_a_week_is_drawn_only_if_visits_are_spread_over_it():
    monday = SYNTHETIC.minutes % 1440
    order = np.lexsort((monday, np.repeat(np.arange(len(SYNTHETIC)), SYNTHETIC.lengths)))
    day = Trajectories(SYNTHETIC.domain, SYNTHETIC.codes, SYNTHETIC.offsets, None, SYNTHETIC.owners, monday[order])
    page = render_synthetic(day)
    assert "hour of the day" in page
    assert "hour of the week" not in page

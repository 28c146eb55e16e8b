"""Grounds and trajectories: what they hold, how they are cut, and what they refuse."""

import numpy as np
import pytest

from ziggurat.data import Unit
from ziggurat.errors import ParameterError
from ziggurat.randomness import seeded
from ziggurat.sequences import Sequences
from ziggurat.sequences.mobility import Box, Ground, Trajectories, TrajectoryDomain

_DAY = 24 * 60
_BOX = Box(-74.0, 40.0, -73.0, 41.0)
_GROUND = Ground.of(["a", "b", "c"], [40.1, 40.5, 40.9], [-73.9, -73.5, -73.1], box=_BOX)
_DOMAIN = TrajectoryDomain.on(_GROUND, longest=3, unit=Unit.person("card"))
_VISITS = [
    [("a", 8 * 60), ("b", 18 * 60), ("a", _DAY + 60)],
    [("c", 9 * 60)],
    [("b", 2 * _DAY), ("c", 2 * _DAY + 30)],
]


def _people() -> Trajectories:
    return Trajectories.of_visits(_DOMAIN, _VISITS, owners=["x", "y", "x"])


def test_days_are_cut_per_owner_and_short_ones_left_out() -> None:
    """Each owner's visits fall into days; whose they are stays."""
    days = _people().by_day(least=2)
    assert list(days) == [("a", "b"), ("b", "c")]
    assert days.owners is not None
    assert days.owners.tolist() == [0, 0]
    assert list(_people().by_day()) == [("a", "b"), ("a",), ("b", "c"), ("c",)]


def test_a_day_that_starts_later_takes_the_night_along() -> None:
    """A visit at one in the morning belongs to the day before if days begin at two."""
    assert next(iter(_people().by_day(starts=120))) == ("a", "b", "a")


def test_all_visits_of_an_owner_make_one_trajectory_in_order_of_time() -> None:
    """Whole people, for models that look at them."""
    people = _people().by_owner()
    assert list(people) == [("a", "b", "a", "b", "c"), ("c",)]
    assert people.domain.longest == 5


def test_taking_and_bounding_keep_places_and_times_together() -> None:
    """What is taken keeps its own times, and at most so many trajectories of an owner are kept."""
    taken = _people().take([2, 0])
    assert taken.minutes is not None
    assert taken.minutes.tolist() == [2 * _DAY, 2 * _DAY + 30, 480, 1080, _DAY + 60]
    bounded = _people().bounded(1, seeded(0))
    assert bounded.owners is not None
    assert sorted(bounded.owners.tolist()) == [0, 1]
    assert isinstance(bounded, Trajectories)


def test_together_keeps_times() -> None:
    """Two sets of trajectories are one, with other owners."""
    both = Trajectories.together([_people(), _people()])
    assert len(both) == 6
    assert both.hours("week").tolist() == _people().hours("week").tolist() * 2


def test_each_alone_makes_the_trajectory_the_unit() -> None:
    """For comparison with peers; the unit says so."""
    alone = _people().each_alone()
    assert str(alone.domain.unit) == "one trajectory (column trajectory)"
    assert alone.bounded(1, seeded(0)).codes.tolist() == _people().codes.tolist()


def test_points_are_kilometres_and_cells_cover_the_box() -> None:
    """Degrees to kilometres and back; grid cells by column and row."""
    assert _GROUND.points is not None
    lat, lon = _BOX.to_degrees(_GROUND.points)
    np.testing.assert_allclose(lat, [40.1, 40.5, 40.9])
    np.testing.assert_allclose(lon, [-73.9, -73.5, -73.1])
    assert _GROUND.cells(2).tolist() == [0, 3, 3]
    grid = Ground.grid(_BOX, 4, 3)
    assert grid.cells(4, 3).tolist() == list(range(12))
    np.testing.assert_allclose(_people().points()[0], _GROUND.points[0])


def test_what_is_said_of_a_ground_makes_it_again() -> None:
    """For files; equality is by content."""
    again = TrajectoryDomain.from_plain(_DOMAIN.to_plain())
    assert again == _DOMAIN
    assert hash(again) == hash(_DOMAIN)
    assert TrajectoryDomain.on(Ground(_GROUND.names), 3, unit=_DOMAIN.unit) != _DOMAIN


@pytest.mark.parametrize(
    "make",
    [
        lambda: Box(1, 0, 0, 1),
        lambda: Ground(()),
        lambda: Ground(("a",), np.zeros((1, 2))),
        lambda: Ground(("a", "b"), np.zeros((1, 2)), _BOX),
        lambda: Ground(("a", "b"), regions={"line": ("red",)}),
        lambda: Ground(("a",)).cells(3),
        lambda: TrajectoryDomain(("a",), 3),
        lambda: Trajectories(_DOMAIN, [0], [0, 1], None, [0]),
        lambda: Trajectories(_DOMAIN, [0, 1], [0, 2], None, [0], [5, 4]),
        lambda: Trajectories(
            Sequences.of(_DOMAIN, [], owners=[]).domain.with_unit(Unit()), [0], [0, 1], None, [0], [5]
        ),
        lambda: _people().hours("year"),
    ],
    ids=[str(each) for each in range(11)],
)
def test_what_does_not_fit_is_refused(make: object) -> None:
    """One sentence that says what to change."""
    with pytest.raises(ParameterError):
        make()  # type: ignore[operator]

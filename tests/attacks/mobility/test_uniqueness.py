"""How few points single people out: equal to counting by definition, with intervals that cover."""

import json
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ziggurat.attacks.mobility import Resolution, coarsen_uniqueness, measure_uniqueness
from ziggurat.attacks.mobility._points import PointSets, collect_points, draw_points
from ziggurat.data import Unit
from ziggurat.errors import ParameterError
from ziggurat.sequences.mobility import Box, Ground, Trajectories, TrajectoryDomain

_GROUND = Ground.grid(Box(-74.0, 40.0, -73.0, 41.0), 4)
_DOMAIN = TrajectoryDomain.on(_GROUND, longest=40, unit=Unit.person("card"))
_PEOPLE = st.lists(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=8), min_size=1, max_size=7
)


def _file(people: list[list[tuple[int, int]]]) -> Trajectories:
    """People by (place, hour)."""
    visits = [sorted(((place, 60 * hour) for place, hour in each), key=lambda one: one[1]) for each in people]
    return Trajectories.of_visits(_DOMAIN, visits, owners=range(len(people)))


def _exact(people: list[list[tuple[int, int]]], points: int) -> float:
    """The mean over people, and over all choices of their points, of being the only one who holds them."""
    sets = [set(each) for each in people]
    shares = []
    for mine in sets:
        chosen = [set(each) for each in combinations(sorted(mine), min(points, len(mine)))]
        shares.append(np.mean([sum(each <= other for other in sets) == 1 for each in chosen]))
    return float(np.mean(shares))


def _crowd(people: int, seed: int) -> list[list[tuple[int, int]]]:
    """Many people at few points, some of which nearly all hold."""
    draw = np.random.default_rng(seed)
    return [[(int(min(place, 5)), 0) for place in draw.geometric(0.3, 5)] for _ in range(people)]


@example(_crowd(200, 1), 2)
@example(_crowd(1000, 3), 4)
@given(_PEOPLE, st.integers(0, 2**32 - 1))
def test_holders_are_counted_as_by_definition(people, seed):
    """Also where people are so many that points have bits."""
    (sets,) = collect_points([_file(people)], Resolution())
    known = draw_points(sets, np.repeat(np.arange(len(sets)), 3), 4, np.random.default_rng(seed))
    held = [set(each.tolist()) for each in np.split(sets.points, sets.starts[1:-1])]
    found = sets.count_holders(known)
    for place, row in enumerate(known.tolist()):
        mine = [each for each in row if each >= 0]
        assert len(set(mine)) == len(mine) == min(4, len(held[place // 3]))
        assert set(mine) <= held[place // 3]
        for number in range(1, 5):
            assert found[place, number - 1] == sum(set(mine[:number]) <= each for each in held)


def test_points_are_drawn_uniformly_without_replacement():
    """All ordered triples of five points are equally likely: chi-square of 59 degrees, limit once in 10 million."""
    sets = PointSets(np.array([0, 5]), np.arange(5), 5)
    drawn = draw_points(sets, np.zeros(60_000, dtype=np.int64), 3, np.random.default_rng(0))
    counts = np.unique(drawn @ [25, 5, 1], return_counts=True)[1]
    assert len(counts) == 60
    assert ((counts - 1000) ** 2 / 1000).sum() < 128


@pytest.mark.parametrize("points", [1, 2, 3])
def test_the_interval_covers_the_mean_over_all_choices_of_points(points):
    """Seeded: of 60 intervals at 95 % at least 50 cover; a binomial of .95 falls below that once in 10,000 at most."""
    draw = np.random.default_rng(1)
    people = [[(int(a), int(b)) for a, b in draw.integers(0, (5, 3), (6, 2))] for _ in range(8)]
    exact = _exact(people, points)
    shares = [measure_uniqueness(_file(people), points, draws=20, random_state=seed).alone[-1] for seed in range(60)]
    assert sum(each.low <= exact <= each.high for each in shares) >= 50
    assert np.mean([each.rate for each in shares]) == pytest.approx(exact, abs=0.03)


def test_coarser_points_single_out_fewer_and_more_points_more():
    draw = np.random.default_rng(2)
    people = [[(int(a), int(b)) for a, b in draw.integers(0, (16, 24), (12, 2))] for _ in range(60)]
    found = coarsen_uniqueness(_file(people), 3, grids=(None, 2, 1), hours=(1, 24, None), random_state=3)
    rates = np.array([[share.rate for share in each.alone] for each in found.curves]).reshape(3, 3, 3)
    assert (np.diff(rates, axis=2) >= 0).all()
    assert (np.diff(rates[:, :, -1], axis=0) <= 0).all()
    assert (np.diff(rates[:, :, -1], axis=1) <= 0).all()
    assert rates[0, 0, -1] > 0.9
    assert rates[-1, -1, -1] == 0
    assert found.table.num_rows == 9
    assert json.loads(json.dumps(found.to_dict()))["sentence"] == found.sentence


def test_all_visits_of_an_owner_are_one_trace_and_rows_are_traces_of_their_own():
    days = Trajectories.of_visits(_DOMAIN, [[(1, 0)], [(2, 0)], [(1, 0), (3, 60)]], owners=[0, 0, 1])
    assert measure_uniqueness(days, 1, random_state=0).people == 2
    alone = TrajectoryDomain.on(_GROUND, longest=40)
    assert measure_uniqueness(Trajectories.of_visits(alone, [[(1, 0)], [(1, 0)]]), 1).alone[0].rate == 0


def test_points_are_asked_of_some_and_compared_with_all():
    people = [[(1, 0)]] * 50
    found = measure_uniqueness(_file(people), 2, at_most=5, draws=2, random_state=0)
    assert (found.asked, found.people, found.alone[0].trials, found.crowd) == (5, 50, 10, (50.0, 50.0))


def test_resolutions_coarsen_by_grid_region_window_and_fold():
    ground = Ground(("a", "b", "c"), regions={"line": ("x", "x", "y")})
    domain = TrajectoryDomain.on(ground, longest=9)
    one = Trajectories.of_visits(domain, [[("a", 30), ("b", 90), ("c", 7 * 24 * 60 + 30)]])
    assert len(set(Resolution(region="line", hours=2).visits(one).tolist())) == 2
    assert Resolution(hours=1, fold="week").windows(one).tolist() == [0, 1, 0]
    assert Resolution(hours=6).windows(one).tolist() == [0, 0, 28]
    with pytest.raises(ParameterError, match="known: 'line'"):
        Resolution(region="?").places(ground)
    with pytest.raises(ParameterError, match="no coordinates"):
        Resolution(grid=2).places(ground)
    untimed = TrajectoryDomain.on(ground, longest=9, timed=False)
    with pytest.raises(ParameterError, match="hours=None"):
        Resolution().visits(Trajectories(untimed, [0], [0, 1]))


@pytest.mark.parametrize("wrong", [{"grid": 0}, {"hours": 0}, {"fold": "month"}, {"grid": 2, "region": "line"}])
def test_what_is_no_resolution_is_refused(wrong):
    with pytest.raises(ParameterError):
        Resolution(**wrong)


def test_an_empty_file_is_refused():
    with pytest.raises(ParameterError, match="no visit"):
        measure_uniqueness(_file([]))

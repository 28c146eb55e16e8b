"""Whether released trajectories follow people learned from: distances, lower bounds, verdicts, the gate."""

import json

import numpy as np
import pytest
from dtaidistance import dtw_ndim
from hypothesis import given, settings
from hypothesis import strategies as st

from ziggurat.attacks._nearest import find_nearest
from ziggurat.attacks.mobility import DISTANCES, closest_trajectories
from ziggurat.attacks.mobility._distances import Warping, measure_overlaps
from ziggurat.data import Unit
from ziggurat.errors import ParameterError
from ziggurat.sequences.mobility import Box, Ground, Trajectories, TrajectoryDomain

_GROUND = Ground.grid(Box(-74.0, 40.0, -73.0, 41.0), 8)
_DOMAIN = TrajectoryDomain.on(_GROUND, longest=12, unit=Unit.person("card"))
_TEXTS = st.lists(st.text([chr(code) for code in range(64)], min_size=1, max_size=7), min_size=1, max_size=8)


def _invent(people: int, seed: int, days: int = 4) -> Trajectories:
    """People with a home and some other places, who spend several days."""
    draw = np.random.default_rng(seed)
    visits, owners = [], []
    for who in range(people):
        own = draw.integers(0, 64, 5)
        for _ in range(days):
            places = [own[0], *draw.choice(own, draw.integers(1, 6)), own[0]]
            visits.append([(int(place), 60 * hour) for hour, place in enumerate(places)])
            owners.append(who)
    return Trajectories.of_visits(_DOMAIN, visits, owners)


def _points(text: str) -> np.ndarray:
    return _GROUND.points[[ord(each) for each in text]]


def _warped(one: str, other: str) -> float:
    """By dtaidistance."""
    total = dtw_ndim.distance(_points(one), _points(other), inner_dist="euclidean")
    return total / max(len(one), len(other))


def _everything(asked, pool, _begins, _ends):
    """Warping without any bound: each pair alone is the smallest of both sides."""
    warping = Warping(_GROUND)
    return np.array([[warping([one], [each], 0, 1)[0, 0] for each in pool] for one in asked])


@settings(max_examples=30)
@given(_TEXTS, _TEXTS)
def test_warping_is_that_of_dtaidistance(asked, pool):
    found = _everything(asked, pool, 0, 1)
    wanted = [[_warped(one, each) for each in pool] for one in asked]
    assert found == pytest.approx(np.array(wanted), rel=1e-9, abs=1e-9)


@given(_TEXTS, _TEXTS, _TEXTS)
def test_lower_bounds_never_change_the_nearest(asked, first, second):
    quick, slow = (find_nearest(asked, first, second, each) for each in (Warping(_GROUND), _everything))
    assert quick.first.tolist() == slow.first.tolist()
    assert quick.second.tolist() == slow.second.tolist()
    assert quick.share == slow.share


def test_lower_bounds_spare_work():
    draw = np.random.default_rng(1)
    texts = ["".join(map(chr, draw.integers(0, 64, 6))) for _ in range(400)]
    found = Warping(_GROUND)(texts[:50], texts[50:], 175, 175)
    assert np.isinf(found).mean() > 0.8
    assert np.isfinite(found[:, :175]).any(axis=1).all()
    assert np.isfinite(found[:, 175:]).any(axis=1).all()


@given(_TEXTS, _TEXTS)
def test_overlaps_are_jaccard_distances(asked, pool):
    sets = [["".join(sorted(set(each))) for each in part] for part in (asked, pool)]
    wanted = [[1 - len(set(one) & set(each)) / len(set(one) | set(each)) for each in pool] for one in asked]
    assert measure_overlaps(*sets, 0, 0) == pytest.approx(np.array(wanted))


@pytest.mark.parametrize("distance", DISTANCES)
def test_a_raw_copy_is_caught_in_every_way(distance):
    learned, control = _invent(60, 1), _invent(60, 2)
    found = closest_trajectories(learned, learned, control, distance=distance, random_state=3)
    assert found.verdict is True
    assert [each.verdict for each in (found.closeness, found.copying, found.nearness)] == [True] * 3
    assert found.learned == 0 < found.control
    assert found.nearer.rate == 1
    assert "Warning" in found.sentence
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["verdict"] is True
    assert found.table.num_rows == 2


@pytest.mark.parametrize("distance", DISTANCES)
def test_the_average_over_all_records_does_not_see_a_copy_that_the_nearest_sees(distance):
    """What document 002 measures is the same for a copy of everybody as for strangers, to a hundredth."""
    learned, strangers = _invent(60, 1), _invent(60, 5)
    texts = [["".join(sorted(set(each))) for each in part.to_characters()] for part in (learned, strangers)]
    averages = [1 - measure_overlaps(part, texts[0], 0, 0).mean() for part in texts]
    assert averages[0] == pytest.approx(averages[1], abs=0.02)
    assert max(averages) < 0.2
    assert closest_trajectories(strangers, learned, _invent(60, 2), distance=distance, random_state=3).verdict is False


@pytest.mark.parametrize("distance", DISTANCES)
def test_strangers_are_no_alarm_and_luck_is_a_probability(distance):
    """Seeded: of 40 random deals of one pool no more alarm than chance lets, with room of four deviations."""
    pool, released = _invent(80, 6, days=2), _invent(20, 7, days=2)
    draw, lucks, alarms = np.random.default_rng(8), [], 0
    for seed in range(40):
        mine = np.isin(pool.owners, draw.permutation(80)[:40])
        found = closest_trajectories(released, pool.take(mine), pool.take(~mine), distance=distance, random_state=seed)
        lucks.append(found.luck)
        alarms += found.verdict is True
    assert alarms <= 1 + 4 * (40 * 0.025) ** 0.5
    for level in (0.05, 0.2, 0.5):
        assert np.mean(np.array(lucks) <= level) <= level + 4 * (level * (1 - level) / 40) ** 0.5


def test_shuffled_copies_are_copies_of_sets():
    """The order of the visits changed, and by the sets of places everybody is still copied."""
    learned, control = _invent(60, 1), _invent(60, 2)
    turned = Trajectories.of_visits(
        _DOMAIN, [[(place, 0) for place in reversed(each[1:])] + [(each[0], 0)] for each in learned], owners=range(240)
    )
    found = closest_trajectories(turned, learned, control, distance="jaccard", random_state=3)
    assert found.found.copies.rate == 1
    assert found.copying.verdict is True


def test_people_move_together_however_many_trajectories_they_have():
    learned, control = _invent(40, 1, days=30), _invent(40, 2, days=2)
    found = closest_trajectories(_invent(30, 3), learned, control, random_state=4)
    assert found.pairs == 40


def test_empty_trajectories_are_left_out_and_few_give_no_verdict():
    some = _invent(5, 1)
    empty = Trajectories.of_visits(_DOMAIN, [[], [(1, 0)]], owners=[0, 1])
    found = closest_trajectories(empty, some, _invent(5, 2), distance="warping", random_state=0)
    assert found.found.released == 1
    assert found.verdict is None
    assert "too few" in found.sentence


def test_what_cannot_be_compared_is_refused():
    some = _invent(3, 1)
    with pytest.raises(ParameterError, match="'warping'"):
        closest_trajectories(some, some, some, distance="hamming")
    nowhere = TrajectoryDomain.on(Ground(("a",)), longest=3, timed=False)
    there = Trajectories(nowhere, [0], [0, 1])
    with pytest.raises(ParameterError, match="no coordinates"):
        closest_trajectories(there, there, there, distance="warping")

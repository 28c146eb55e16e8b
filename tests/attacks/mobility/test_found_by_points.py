"""Points of people looked for in a release, and what the gate says of raw, coarsened, copied and strange ones."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ziggurat.attacks.mobility import (
    Resolution,
    closest_trajectories,
    compare_identifiability,
    count_anonymity,
    cut_in_time,
    draw_canaries,
    find_by_points,
    find_homes,
    link_traces,
    measure_uniqueness,
    rank_top_places,
    score_by_visits,
)
from ziggurat.attacks.sequences import score_by_release
from ziggurat.data import Unit
from ziggurat.errors import ParameterError
from ziggurat.release import Evidence, Gate
from ziggurat.sequences.mobility import Box, Ground, Trajectories, TrajectoryDomain

_GROUND = Ground.grid(Box(-74.0, 40.0, -73.0, 41.0), 16)
_DOMAIN = TrajectoryDomain.on(_GROUND, longest=60, unit=Unit.person("card"))
_PEOPLE = st.lists(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), min_size=1, max_size=6), min_size=1, max_size=6
)


def _file(people: list[list[tuple[int, int]]]) -> Trajectories:
    visits = [sorted(((place, 60 * hour) for place, hour in each), key=lambda one: one[1]) for each in people]
    return Trajectories.of_visits(_DOMAIN, visits, owners=range(len(people)))


def _invent(people: int, seed: int) -> Trajectories:
    draw = np.random.default_rng(seed)
    made = []
    for _ in range(people):
        own = draw.integers(0, 256, 4)
        made.append([(int(draw.choice(own)), int(hour)) for hour in draw.integers(0, 7 * 24, 30)])
    return _file(made)


@given(_PEOPLE, _PEOPLE, _PEOPLE, st.integers(0, 99))
def test_all_points_of_a_person_are_looked_for_as_by_definition(released, learned, control, seed):
    """With as many points as somebody has there is one choice: who has exactly three is found or not."""
    files = [_file(each) for each in (released, learned, control)]
    found = find_by_points(*files, 3, resolution=Resolution(), random_state=seed)
    held = [set(each) for each in released]
    for side, share, alone in ((learned, found.learned, found.alone), (control, found.control, found.control_alone)):
        mine = [set(each) for each in side if len(set(each)) >= 3]
        assert share.trials == alone.trials == len(mine)
        # Whoever has more is found at least if all of it is held, and not if no three of it are.
        assert share.hits >= sum(any(each <= other for other in held) for each in mine)
        assert share.hits <= sum(any(len(each & other) >= 3 for other in held) for each in mine)


def test_points_of_one_trajectory_are_found_in_single_days():
    days = [[(1, 1), (2, 2)], [(3, 3), (4, 4)], [(5, 5)]]
    whole = Trajectories.of_visits(_DOMAIN, [[(p, 60 * h) for p, h in each] for each in days], owners=[0, 0, 1])
    released = whole.each_alone()
    for within, rates in (
        ("trajectory", {1.0}),
        (None, {1.0}),
        ("person", {0.0, 1.0}),
    ):
        found = [
            find_by_points(released, whole, whole, 2, resolution=Resolution(), within=within, random_state=seed).learned
            for seed in range(30)
        ]
        assert {each.trials for each in found} == {1}
        assert {each.rate for each in found} == rates
    assert find_by_points(whole, whole, whole, 4, resolution=Resolution(), random_state=0).learned.rate == 1


def test_before_and_after():
    """Raw tells everybody, coarsened most, strangers nobody: and only then is the advantage chance."""
    learned, control = _invent(100, 1), _invent(100, 2)
    releases = {
        "raw": (learned, Resolution()),
        "coarsened": (learned, Resolution(grid=4, hours=24)),
        "synthetic": (_invent(100, 3), Resolution(grid=6, hours=None)),
    }
    found = compare_identifiability(learned, control, releases, points=2, random_state=4)
    raw, coarse, synthetic = found.releases.values()
    assert (raw.alone.rate, raw.control.rate, raw.verdict) == (1, 0, True)
    assert coarse.learned.rate == 1
    assert coarse.verdict is True
    assert coarse.advantage.low > 0
    assert synthetic.learned.rate > 0.3
    assert synthetic.verdict is False
    assert synthetic.advantage.low < 0 < synthetic.advantage.high
    assert found.table["more than chance"].to_pylist() == [True, True, False]
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["sentence"] == found.sentence
    with pytest.raises(ParameterError, match="at least one release"):
        compare_identifiability(learned, control, {})


def test_chance_is_a_probability_under_the_hypothesis():
    """Seeded: of 200 random deals of one pool no more have a small chance than it says, with room."""
    pool, released, draw = _invent(80, 5), _invent(80, 6), np.random.default_rng(7)
    chances = []
    for seed in range(200):
        mine = np.isin(pool.owners, draw.permutation(80)[:40])
        known = Resolution(grid=4, hours=24, fold="day")
        found = find_by_points(released, pool.take(mine), pool.take(~mine), resolution=known, random_state=seed)
        chances.append(found.chance)
    for level in (0.025, 0.1, 0.5):
        assert np.mean(np.array(chances) <= level) <= level + 4 * (level * (1 - level) / 200) ** 0.5


def _attack(released: Trajectories, learned: Trajectories, control: Trajectories) -> Evidence:
    return Evidence(
        {
            "trajectories": closest_trajectories(released, learned, control, random_state=8),
            "four points": find_by_points(released, learned, control, random_state=8),
        }
    )


def test_the_gate_stops_a_raw_copy_and_lets_strangers_go():
    learned, control = _invent(100, 1), _invent(100, 2)
    stopped = Gate().judge(_attack(learned, learned, control), guaranteed=True)
    names = ["trajectories, closest", "trajectories, copied", "trajectories, nearest", "four points"]
    assert [each.attack for each in stopped.stopped] == names
    assert stopped.to_dict() == json.loads(json.dumps(stopped.to_dict()))
    passed = Gate().judge(_attack(_invent(100, 3), learned, control), guaranteed=True)
    assert passed.stopped == ()
    assert len(passed.passed) == 4


def test_the_gate_stops_a_file_that_few_points_or_another_trace_identify():
    people = _invent(60, 1)
    early, late = cut_in_time(people)
    evidence = Evidence(
        {
            "uniqueness": measure_uniqueness(people, random_state=2),
            "halves": link_traces(early, late),
            "traces": count_anonymity(people),
            "top": rank_top_places(people),
            "home": find_homes(people),
        }
    )
    verdict = Gate().judge(evidence, guaranteed=False)
    assert {each.attack for each in verdict.stopped} == {"uniqueness", "halves"}
    assert set(verdict.no_verdict) == {"traces", "top", "home"}
    strict = Gate(thresholds={"homes": "0.1"}).judge(evidence, guaranteed=False)
    assert "home" in {each.attack for each in strict.stopped}
    coarse = measure_uniqueness(people, resolution=Resolution(grid=1, hours=None), random_state=2)
    assert Gate().judge(Evidence({"uniqueness": coarse}), guaranteed=False).stopped == ()


def _crowd(people: int, seed: int) -> Trajectories:
    """People who are never at the last 56 of 256 places."""
    draw = np.random.default_rng(seed)
    return _file([[(int(place), hour) for hour, place in enumerate(draw.integers(0, 200, 20))] for _ in range(people)])


def _forget(learned: Trajectories, seed: int) -> Trajectories:
    """A generator that knows nothing of anybody, but where most people go."""
    return _crowd(len(learned), seed)


def _copy_the_rarest(learned: Trajectories, seed: int) -> Trajectories:
    """The planted bug: as `_forget`, but the person with the rarest places slips through as she is."""
    crowd = np.bincount(np.unique(np.repeat(learned.owners, learned.lengths) * 256 + learned.codes) % 256)
    mean = [crowd[learned.codes[a:b]].mean() for a, b in zip(learned.offsets[:-1], learned.offsets[1:], strict=True)]
    copied = learned.take([int(np.argmin(mean))])
    return Trajectories.together([_forget(learned, seed), copied])


@pytest.mark.parametrize("score", [score_by_release, score_by_visits])
def test_a_generator_that_copies_one_person_with_rare_places_is_caught(score):
    """People kept back cannot show one copy; a planted person can, and the promised epsilon is refuted."""
    planted = draw_canaries(_DOMAIN, 1, visits=12, candidates=1024, random_state=10)
    lonely = _move_to_the_edge(planted.planted)
    others = tuple(_move_to_the_edge(each) for each in planted.candidates)
    canaries = type(planted)(lonely, others)
    learned = canaries.plant(_crowd(200, 9))
    assert isinstance(learned, Trajectories)
    assert len(learned) == 201
    caught = canaries.measure(score(_copy_the_rarest(learned, 11)), epsilon=1)
    assert caught.verdict is True
    assert caught.exposures[0].rank == 1
    verdict = Gate().judge(Evidence({"canaries": caught}), guaranteed=True)
    assert verdict.refuted
    innocent = canaries.measure(score(_forget(learned, 12)), epsilon=1)
    assert innocent.verdict is False
    assert not Gate().judge(Evidence({"canaries": innocent}), guaranteed=True).stopped


def _move_to_the_edge(people: Trajectories) -> Trajectories:
    """The same people, only where hardly anybody goes: the last 56 of 256 places."""
    return Trajectories(people.domain, 200 + people.codes % 56, people.offsets, None, people.owners, people.minutes)


def test_canaries_are_people_of_the_domain_with_times_in_order():
    found = draw_canaries(_DOMAIN, 3, visits=5, candidates=8, random_state=1)
    assert [len(each) for each in found.candidates] == [7, 7, 7]
    assert found.planted.minutes.max() < 7 * 24 * 60
    untimed = TrajectoryDomain.on(_GROUND, longest=9, timed=False)
    assert draw_canaries(untimed, 1, visits=5, random_state=1).planted.minutes is None
    with pytest.raises(ParameterError, match="Nothing was released"):
        score_by_visits(found.planted.take([]))


def test_what_cannot_be_looked_for_is_refused():
    some = _invent(3, 1)
    with pytest.raises(ParameterError, match="'person'"):
        find_by_points(some, some, some, within="week")
    few = find_by_points(some, some, some, random_state=0)
    assert few.verdict is None
    assert "too few" in few.sentence

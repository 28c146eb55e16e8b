"""Who shares a trace, top places, home and work with whom."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ziggurat.attacks.mobility import Resolution, count_anonymity, find_homes, infer_homes, rank_top_places
from ziggurat.attacks.mobility._anonymity import AnonymitySets
from ziggurat.data import Unit
from ziggurat.errors import ParameterError
from ziggurat.sequences.mobility import Ground, Trajectories, TrajectoryDomain

_GROUND = Ground(tuple("abcd"), regions={"side": ("l", "l", "r", "r")})
_DOMAIN = TrajectoryDomain.on(_GROUND, longest=50, unit=Unit.person("card"))
_TRACES = st.lists(st.text("abcd", min_size=1, max_size=6), min_size=1, max_size=12)


def _file(traces: list[str]) -> Trajectories:
    visits = [[(place, 60 * hour) for hour, place in enumerate(each)] for each in traces]
    return Trajectories.of_visits(_DOMAIN, visits, owners=range(len(traces)))


@given(_TRACES)
def test_equal_traces_are_counted_as_by_definition(traces):
    for alike, key in (("set", frozenset), ("sequence", str)):
        groups = Counter(map(key, traces))
        sizes = sorted(groups[key(each)] for each in traces)
        found = count_anonymity(_file(traces), alike=alike).last
        assert found.smallest == sizes[0]
        assert found.alone.hits == sizes.count(1)
        assert found.median == sizes[(len(sizes) - 1) // 2]


@given(_TRACES, st.booleans())
def test_top_places_are_those_of_the_definition(traces, ordered):
    found = rank_top_places(_file(traces), 3, ordered=ordered)
    for number, sets in enumerate(found.sets, 1):
        tops = [tuple(place for place, _ in Counter(each).most_common(number)) for each in traces]
        assert sets == AnonymitySets.of(sets.told, tops if ordered else [frozenset(each) for each in tops])


def test_a_coarser_resolution_and_fewer_facts_leave_larger_groups():
    traces = ["ab", "ba", "cd", "ac", "a"]
    assert count_anonymity(_file(traces), alike="sequence").last.alone.hits == 5
    assert count_anonymity(_file(traces)).last.alone.hits == 3
    assert count_anonymity(_file(traces), resolution=Resolution(region="side", hours=None)).last.alone.hits == 2
    assert count_anonymity(_file(traces), resolution=Resolution(hours=1)).last.alone.hits == 5


def test_homes_are_where_nights_are_and_work_where_office_hours_of_weekdays_are():
    day = 24 * 60
    commuter = [("a", 60), ("b", 10 * 60), ("a", 23 * 60), ("b", day + 11 * 60), ("c", 5 * day + 10 * 60)]
    tourist = [("d", 12 * 60), ("d", 13 * 60), ("c", 14 * 60)]
    sleeper = [("a", 2 * 60)]
    people = Trajectories.of_visits(_DOMAIN, [commuter, tourist, sleeper], owners="xyz")
    home, work = infer_homes(people)
    assert (home.tolist(), work.tolist()) == ([0, -1, 0], [1, 3, -1])
    found = find_homes(people)
    assert [each.told for each in found.sets] == ["home", "place of work", "home and place of work"]
    assert [each.alone.trials for each in found.sets] == [2, 2, 1]
    assert [each.smallest for each in found.sets] == [2, 1, 1]
    assert infer_homes(people, night=(8, 20), office=(0, 5))[0].tolist() == [1, 3, -1]
    sides = infer_homes(people, resolution=Resolution(region="side", hours=None))
    assert (sides[0].tolist(), sides[1].tolist()) == ([0, -1, 0], [0, 1, -1])


def test_findings_have_facts_a_sentence_and_a_table():
    found = rank_top_places(_file(["ab", "ba", "cd"]), 2)
    assert found.table["alone"].to_pylist() == [1.0, pytest.approx(1 / 3)]
    assert found.to_dict()["sentence"] == found.sentence
    assert found.sentence.startswith("Of 3 people 33.3%")


def test_what_cannot_be_counted_is_refused():
    with pytest.raises(ParameterError, match="'set'"):
        count_anonymity(_file(["a"]), alike="bag")
    with pytest.raises(ParameterError, match="no visit"):
        rank_top_places(_file([]))
    with pytest.raises(ParameterError, match="Hours lie between"):
        find_homes(_file(["a"]), night=(5, 5))
    with pytest.raises(ParameterError, match="Nobody"):
        find_homes(_file(["a"]), night=(22, 24))

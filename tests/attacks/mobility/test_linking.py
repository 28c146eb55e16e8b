"""Two traces of the same people."""

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ziggurat.attacks.mobility import Resolution, cut_in_time, link_traces
from ziggurat.attacks.mobility._linking import _BACKGROUND, bound_matches
from ziggurat.data import Unit
from ziggurat.errors import ParameterError
from ziggurat.sequences.mobility import Ground, Trajectories, TrajectoryDomain

_DOMAIN = TrajectoryDomain.on(Ground(tuple(range(6))), longest=50, unit=Unit.person("card"))
_TRACES = st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=6), min_size=2, max_size=6)


def _file(traces: list[list[int]]) -> Trajectories:
    return Trajectories.of_visits(_DOMAIN, [[(each, 0) for each in one] for one in traces], owners=range(len(traces)))


def _histogram(visits: list[int]) -> np.ndarray:
    return np.bincount(visits, minlength=6).astype(float)


def _is_first(scores: np.ndarray, place: int) -> tuple[bool, bool]:
    """Whether one certainly is first, and whether one may be: rounding decides about ties."""
    others = np.delete(scores, place)
    return bool((others < scores[place] - 1e-9).all()), bool((others <= scores[place] + 1e-9).all())


def _by_definition(known: list[list[int]], other: list[list[int]], by: str) -> list[tuple[bool, bool]]:
    ours, theirs = (np.array([_histogram(each) for each in part]) for part in (known, other))
    everybody = ours.sum(axis=0) + theirs.sum(axis=0)
    if by == "likelihood":
        everybody = np.maximum(everybody / everybody.sum(), 1e-300)
        model = (1 - _BACKGROUND) * theirs / theirs.sum(axis=1, keepdims=True) + _BACKGROUND * everybody
        scores = ours @ np.log(model).T
    else:
        rare = np.log((1 + len(theirs)) / (1 + (theirs > 0).sum(axis=0)))
        one, two = (part * rare for part in (ours, theirs))
        lengths = np.linalg.norm(one, axis=1)[:, None] * np.linalg.norm(two, axis=1)[None, :]
        scores = np.divide(one @ two.T, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return [_is_first(row, place) for place, row in enumerate(scores)]


@given(_TRACES, st.data(), st.sampled_from(["likelihood", "cosine"]))
def test_links_are_those_of_the_definition(known, data, by):
    other = data.draw(
        st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=6), min_size=len(known), max_size=len(known))
    )
    found = link_traces(_file(known), _file(other), by=by)
    certain, possible = np.sum(_by_definition(known, other, by), axis=0)
    assert certain <= found.first.hits <= possible
    assert found.candidates == len(other)
    assert found.ten.rate == 1


def test_people_of_one_trace_alone_are_candidates_but_not_counted():
    people = Trajectories.of_visits(_DOMAIN, [[(0, 0)], [(1, 0)], [(2, 0)]], owners=range(3))
    found = link_traces(people.take([0, 1]), people.take([1, 2]))
    assert (found.first.hits, found.first.trials, found.candidates) == (1, 1, 2)


def test_habits_are_linked_and_strangers_are_not():
    draw = np.random.default_rng(0)
    habits = draw.dirichlet(np.full(6, 0.2), 40)
    halves = [_file([draw.choice(6, 30, p=each).tolist() for each in habits]) for _ in range(2)]
    for by in ("likelihood", "cosine"):
        found = link_traces(*halves, by=by)
        assert found.first.rate > 0.5
        assert found.chance < 1e-9
        strangers = _file([draw.choice(6, 30).tolist() for _ in habits])
        assert link_traces(halves[0], strangers, by=by).chance > 1e-4


def test_the_bound_on_chance_holds_for_every_deal():
    """Of all deals of five candidates, at least w of three guesses are right no more often than the bound says."""
    for guesses in ([0, 1, 2], [0, 0, 1], [3, 3, 3]):
        right = [sum(deal[who] == guess for who, guess in enumerate(guesses)) for deal in permutations(range(5))]
        for many in range(4):
            assert np.mean(np.array(right) >= many) <= bound_matches(many, 3, 5) + 1e-12
    assert bound_matches(5, 5, 5) == pytest.approx(1 / math.factorial(5))
    assert bound_matches(0, 5, 5) == 1


def test_a_period_is_cut_in_two_and_keeps_owners():
    visits = [[(0, 0), (1, 10)], [(2, 0)], [(3, 10), (4, 20)]]
    whole = Trajectories.of_visits(_DOMAIN, visits, owners=range(3))
    early, late = cut_in_time(whole, 10)
    assert (list(early), early.owners.tolist()) == ([(0,), (2,)], [0, 1])
    assert (list(late), late.owners.tolist()) == ([(1,), (3, 4)], [0, 2])
    assert len(cut_in_time(whole)[0].codes) == 2


def test_what_cannot_be_linked_is_refused():
    rows = Trajectories.of_visits(TrajectoryDomain.on(Ground(tuple(range(6))), longest=5), [[(0, 0)]])
    with pytest.raises(ParameterError, match="owners"):
        link_traces(rows, rows)
    with pytest.raises(ParameterError, match="owners"):
        cut_in_time(rows)
    with pytest.raises(ParameterError, match="both traces"):
        link_traces(_file([[0], [1]]).take([0]), _file([[0], [1]]).take([1]))
    with pytest.raises(ParameterError, match="'cosine'"):
        link_traces(_file([[0]]), _file([[0]]), by="guess")


def test_times_tell_people_apart_whose_places_do_not():
    early, late = [(0, 60 * 8)] * 3, [(0, 60 * 20)] * 3
    people = Trajectories.of_visits(_DOMAIN, [early, late], owners=range(2))
    assert link_traces(people, people).first.hits == 0
    assert link_traces(people, people, resolution=Resolution(hours=1, fold="day")).first.hits == 2

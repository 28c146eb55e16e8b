import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ziggurat.data import Unit
from ziggurat.errors import DataError, MixedNeighboursError, ParameterError, ZigguratError
from ziggurat.pate import (
    Ballot,
    ConfidentGaussianMax,
    GaussianNoisyMax,
    GumbelNoisyMax,
    LaplaceNoisyMax,
    Votes,
    account,
)
from ziggurat.privacy import Relation, compose


def spread(*rows):
    """Probabilities of three teachers on two queries over three classes, all alike but for the rows given."""
    cube = np.tile([0.2, 0.3, 0.5], (3, 2, 1))
    for teacher, row in enumerate(rows):
        cube[teacher] = row
    return cube


def test_labels_are_counted_class_by_class():
    votes = Votes.from_labels([[0, 2, 1], [0, 2, 2], [1, 2, 0]], 4)
    assert votes.counts.tolist() == [[2, 1, 0, 0], [0, 0, 3, 0], [1, 1, 1, 0]]
    assert (len(votes), votes.classes, votes.teachers, votes.parts) == (3, 4, 3, 1)


def test_truth_values_are_the_labels_of_two_classes():
    assert Votes.from_labels(np.array([[True, False], [True, True]]), 2).counts.tolist() == [[0, 2], [1, 1]]


def test_the_likeliest_class_gets_the_vote():
    votes = Votes.from_probabilities(spread([[0.7, 0.2, 0.1], [0.5, 0.5, 0.0]]))
    assert votes.counts.tolist() == [[1, 0, 2], [1, 0, 2]]
    assert votes.ballot.whole_votes


@given(hnp.arrays(np.float64, (4, 3, 5), elements=st.floats(0.01, 1)), st.integers(0, 3))
def test_one_teacher_moves_soft_votes_by_no_more_than_one_vote(weights, teacher):
    cube = weights / weights.sum(axis=2, keepdims=True)
    other = cube.copy()
    other[teacher] = np.roll(cube[teacher], 1, axis=1)[::-1]
    here, there = (Votes.from_probabilities(each, "rounded", resolution=256) for each in (cube, other))
    change = np.abs(here.shares - there.shares)
    assert np.all(here.counts.sum(axis=1) == 4 * 256)
    assert change.max() <= 1
    assert change.sum(axis=1).max() <= 2


def test_rounding_keeps_each_probability_within_one_part():
    votes = Votes.from_probabilities(spread(), "rounded", resolution=1024)
    assert np.abs(votes.shares - 3 * np.array([0.2, 0.3, 0.5])).max() <= 3 / 1024
    assert not votes.ballot.whole_votes


def test_more_classes_than_votes_ties_and_unanimity_are_fine():
    assert Votes([[1, 1, 0, 0, 0], [2, 0, 0, 0, 0]]).teachers == 2


def test_the_promise_is_about_adding_or_removing_the_unit_of_the_votes():
    unit = Unit.person("patient")
    votes = Votes([[3, 1]], unit=unit)
    assert votes.ballot.neighbours.unit == unit
    assert votes.ballot.neighbours.relation is Relation.ADD_OR_REMOVE_ONE
    assert votes.take([0, 0]).ballot == votes.ballot
    assert votes.ballot.owned_by(Unit.of("clinic", "organisation"), 5).moved == 5


@pytest.mark.parametrize(
    "votes",
    [
        Votes([[3, 1]], relation=Relation.REPLACE_ONE),
        Votes.from_labels([[0], [1]], 2, relation="replace-one"),
        Votes.from_probabilities(spread(), relation=Relation.REPLACE_ONE),
        Votes.from_probabilities(spread(), "rounded", relation=Relation.REPLACE_ONE),
    ],
)
def test_the_relation_of_the_partition_stays_with_the_votes(votes):
    owned = votes.ballot.owned_by(Unit.of("clinic", "organisation"), 2)
    relations = [each.neighbours.relation for each in (votes.ballot, votes.take([0]).ballot, owned)]
    assert relations == [Relation.REPLACE_ONE] * 3


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("moved", [1, 3])
@pytest.mark.parametrize(
    "aggregator", [GumbelNoisyMax("0.1"), LaplaceNoisyMax("0.1"), GaussianNoisyMax(20), ConfidentGaussianMax(5, 9, 9)]
)
def test_every_event_states_the_relation_of_its_ballot_and_never_another(relation, moved, aggregator):
    ballot = Ballot(4, relation=relation, moved=moved)
    assert aggregator.planned(ballot, 10, 10).neighbours == ballot.neighbours
    assert account(aggregator, ballot, delta="1e-5", queries=10, answered=10).record.neighbours == ballot.neighbours


def test_one_relation_costs_as_much_as_the_other_and_does_not_compose_with_it():
    ballots = [Ballot(3, relation=relation) for relation in Relation]
    here, there = (GumbelNoisyMax("0.1").planned(ballot, 10) for ballot in ballots)
    assert compose(here).approximate("1e-5").epsilon == compose(there).approximate("1e-5").epsilon
    with pytest.raises(MixedNeighboursError):
        compose(here, there)
    with pytest.raises(ParameterError):
        Ballot(2, relation="replace-two")


BAD_COUNTS = {
    "one teacher": [[1, 0], [0, 1]],
    "unequal rows": [[97531, 1], [97530, 1]],
    "negative": [[97531, -1]],
    "floats": [[1.5, 2.5]],
    "missing": [[np.nan, 2.0]],
    "one class": [[3], [3]],
    "no query": np.zeros((0, 3), dtype=int),
    "a vector": [1, 2, 3],
    "ragged": [[1, 2], [3]],
    "text": [["a", "b"]],
    "nothing": None,
}


@pytest.mark.parametrize("name", BAD_COUNTS)
def test_counts_that_cannot_be_votes_are_refused_without_showing_them(name):
    with pytest.raises(DataError) as refused:
        Votes(BAD_COUNTS[name])
    assert str(refused.value).endswith(".")
    assert "9753" not in str(refused.value)


@pytest.mark.parametrize("bad", [[[0, 3]], [[0, -1]], [[0.0, np.nan]], [0, 1], [["a"]], [[0, 1], [1]]])
def test_labels_out_of_range_or_not_whole_are_refused(bad):
    with pytest.raises(DataError):
        Votes.from_labels(bad, 3)


@pytest.mark.parametrize(
    "cube",
    [
        spread([[np.nan, 0.5, 0.5]] * 2),
        spread([[np.inf, 0.0, 0.0]] * 2),
        spread([[0.5, 0.5, 0.5]] * 2),
        spread([[1.5, -0.5, 0.0]] * 2),
        spread()[0],
        np.zeros((0, 2, 3)),
    ],
)
def test_probabilities_that_are_none_are_refused(cube):
    with pytest.raises(DataError):
        Votes.from_probabilities(cube, "rounded")


@pytest.mark.parametrize("bad", [0, 3, 2**17, 2.0, True])
def test_a_vote_is_cut_into_a_power_of_two(bad):
    with pytest.raises(ParameterError):
        Votes.from_probabilities(spread(), "rounded", resolution=bad)
    with pytest.raises(ParameterError):
        Votes.from_probabilities(spread(), "loudest")


@pytest.mark.parametrize("bad", [1, 0, 2.0, None])
def test_a_ballot_needs_two_classes(bad):
    with pytest.raises(ParameterError):
        Ballot(bad)


@given(hnp.arrays(st.sampled_from([np.int64, np.float64, np.uint8]), hnp.array_shapes(max_dims=3, max_side=4)))
def test_any_array_becomes_votes_or_one_of_our_errors(array):
    for make in (Votes, lambda x: Votes.from_labels(x, 3), Votes.from_probabilities):
        try:
            votes = make(array)
        except ZigguratError:
            continue
        assert np.all(votes.counts.sum(axis=1) == votes.teachers)


def test_votes_do_not_show_their_counts_and_cannot_be_changed():
    votes = Votes([[4321, 8765]])
    assert repr(votes) == "Votes(1 queries, 2 classes, 13086 teachers)"
    with pytest.raises(ValueError, match="read-only"):
        votes.counts[0, 0] = 1

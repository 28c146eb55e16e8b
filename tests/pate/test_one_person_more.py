"""Add or remove a planted person: the keyed hash leaves everybody else in place, and one vote moves at most."""

import json

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from ziggurat.data import Unit
from ziggurat.errors import DataError, MixedNeighboursError, ParameterError
from ziggurat.mechanisms import empirical_epsilon
from ziggurat.pate import (
    MLP,
    Ballot,
    ConfidentGaussianMax,
    GaussianNoisyMax,
    GumbelNoisyMax,
    LaplaceNoisyMax,
    Partition,
    RandomSearch,
    Teachers,
    Training,
    Votes,
)
from ziggurat.privacy import Relation, compose
from ziggurat.randomness import seeded

PERSON = Unit.person("patient")
KEY = bytes(range(32))
PLANTED = "the planted one"
TEACHERS = 6


def _table(people: int = 60, rows_each: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    draw = np.random.default_rng(3)
    names = np.repeat([f"p{person}" for person in range(people)], rows_each)
    features = draw.normal(size=(names.size, 4))
    return features, (features[:, 0] > 0).astype(int), names


def _with_planted(rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The planted person stands first, contradicts everybody, and brings many rows."""
    features, labels, names = _table()
    extra = np.random.default_rng(4).normal(size=(rows, 4)) * 3
    wrong = (extra[:, 0] <= 0).astype(int)
    return np.vstack([extra, features]), np.append(wrong, labels), np.append(np.full(rows, PLANTED), names)


def _voted(make, table, queries):
    features, labels, names = table
    split = Partition.by_unit(names, TEACHERS, unit=PERSON, key=KEY, source=seeded("split"))
    return make().fit(features, labels, split, source=seeded("fit")).votes(queries)


def _network(search=None):
    training = Training(epochs=4, batch=8, patience=2, class_weights="balanced")
    return Teachers(MLP(4, (5,), 1), training=training, search=search)


KINDS = {
    "trees": lambda: Teachers(DecisionTreeClassifier(max_depth=4), classes=2),
    "networks": _network,
    "networks that search": lambda: _network(RandomSearch(trials=2)),
}


def test_the_default_split_protects_whoever_is_added_or_removed():
    split = Partition.by_unit(_table()[2], TEACHERS, unit=PERSON)
    assert split.relation is Relation.ADD_OR_REMOVE_ONE
    assert Partition.by_record(50, 5).relation is Relation.ADD_OR_REMOVE_ONE


@pytest.mark.parametrize("gone", [0, 30, 59])
def test_under_one_key_nobody_else_moves_when_somebody_comes_or_goes(gone):
    names = np.array([f"p{person}" for person in range(60)])
    fewer = np.delete(names, gone)
    here, there = (Partition.by_unit(each, 7, unit=PERSON, key=KEY, source=seeded(1)) for each in (names, fewer))
    assert np.delete(here.assignment, gone).tolist() == there.assignment.tolist()
    balanced = [
        Partition.by_unit(each, 7, unit=PERSON, balanced=True, source=seeded(1)).assignment for each in (names, fewer)
    ]
    assert np.delete(balanced[0], gone).tolist() != balanced[1].tolist()  # the control: here everybody may move


def test_the_teacher_of_a_person_depends_on_the_key_and_the_name_alone():
    names = np.array([f"p{person}" for person in range(400)])
    turned = names[::-1]
    here, there = (Partition.by_unit(each, 9, unit=PERSON, key=KEY) for each in (names, turned))
    assert here.assignment.tolist() == there.assignment[::-1].tolist()
    other = Partition.by_unit(names, 9, unit=PERSON, key=KEY[::-1])
    assert other.assignment.tolist() != here.assignment.tolist()
    numbers = Partition.by_unit(np.arange(40), 9, unit=PERSON, key=KEY)
    unsigned = Partition.by_unit(np.arange(40, dtype=np.uint64), 9, unit=PERSON, key=KEY)
    assert numbers.assignment.tolist() == unsigned.assignment.tolist()


def test_people_are_spread_evenly_enough():
    sizes = [own.size for own in Partition.by_unit(np.arange(20_000), 20, unit=PERSON, key=KEY).rows]
    assert 800 < min(sizes) <= max(sizes) < 1200  # six standard deviations; the key is fixed


def test_the_key_is_secret_kept_with_the_split_and_in_no_manifest(tmp_path):
    names = _table()[2]
    split = Partition.by_unit(names, TEACHERS, unit=PERSON)
    assert len(split.key) == 32
    assert split.key != Partition.by_unit(names, TEACHERS, unit=PERSON).key
    split.save(tmp_path / "split.npz")
    loaded = Partition.load(tmp_path / "split.npz")
    assert loaded.key == split.key
    assert (tmp_path / "split.npz").stat().st_mode & 0o077 == 0
    grown = np.append(names, "somebody new")
    later = Partition.by_unit(grown, TEACHERS, unit=PERSON, key=loaded.key)
    assert later.assignment[:-1].tolist() == split.assignment.tolist()
    told = json.dumps(split.manifest()) + repr(split)
    assert split.key.hex() not in told
    assert repr(split.key) not in told


def test_a_split_that_its_key_did_not_make_is_found_out():
    names = _table()[2]
    split = Partition.by_unit(names, TEACHERS, unit=PERSON, key=KEY, source=seeded(1))
    split.verify(split.manifest())
    moved = Partition(split.rows[::-1], split.total, PERSON, split.relation, split.salts, names, key=KEY)
    with pytest.raises(DataError, match="key"):
        moved.verify(moved.manifest())


@pytest.mark.parametrize("key", [b"", b"short", "text", 5])
def test_a_key_that_can_be_guessed_is_refused(key):
    with pytest.raises(ParameterError, match="key"):
        Partition.by_unit(_table()[2], TEACHERS, unit=PERSON, key=key)
    with pytest.raises(ParameterError, match="key"):
        Partition.by_unit(_table()[2], TEACHERS, unit=PERSON, key=KEY, balanced=True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [1, 40])
def test_a_planted_person_changes_the_votes_of_one_teacher_alone(kind, rows):
    queries = np.random.default_rng(5).normal(size=(200, 4))
    here, there = (_voted(KINDS[kind], each, queries) for each in (_with_planted(rows), _table()))
    changed = np.flatnonzero((here != there).any(axis=1))
    assert changed.size <= 1
    if rows == 40:
        assert changed.size == 1  # the plant is felt, or this test would prove nothing
    counts = [Votes.from_labels(each, 2).counts for each in (here, there)]
    assert np.abs(counts[0] - counts[1]).sum(axis=1).max() <= 2


def test_in_a_balanced_split_a_planted_person_moves_several_votes():
    """The control: this is why a balanced split promises nothing about adding and removing."""
    queries = np.random.default_rng(5).normal(size=(200, 4))
    tables = (_with_planted(40), _table())
    splits = [Partition.by_unit(each[2], TEACHERS, unit=PERSON, balanced=True, source=seeded(1)) for each in tables]
    fitted = [
        KINDS["trees"]().fit(*each[:2], split, source=seeded("fit")) for each, split in zip(tables, splits, strict=True)
    ]
    here, there = (each.votes(queries) for each in fitted)
    assert (here != there).any(axis=1).sum() > 1


def test_a_teacher_whose_only_person_goes_still_votes_a_constant():
    features, labels, names = _table(people=4)
    queries = np.random.default_rng(5).normal(size=(50, 4))
    split = Partition.by_unit(names, 30, unit=PERSON, key=KEY, source=seeded(1))
    empty = [teacher for teacher, own in enumerate(split.rows) if not own.size]
    assert len(empty) >= 26
    votes = KINDS["trees"]().fit(features, labels, split, source=seeded(2)).votes(queries)
    assert votes.shape == (30, 50)
    assert (votes[empty] == 0).all()


class Picky(ClassifierMixin, BaseEstimator):
    """Refuses to learn from, or to answer after, fewer rows than it likes."""

    def __init__(self, rows: int = 5, at: str = "fit") -> None:
        self.rows, self.at = rows, at

    def fit(self, X, y):  # noqa: N803
        self.classes_, self.seen_ = np.unique(y), len(y)
        if self.at == "fit" and len(y) < self.rows:
            raise ValueError("CANARY")
        return self

    def predict(self, X):  # noqa: N803
        if self.at == "large" and (np.abs(X) > 1e30).any():
            raise ValueError("CANARY")
        if self.at == "predict" and self.seen_ < self.rows:
            raise ValueError("CANARY")
        return (X[:, 0] > 0).astype(int)


FAILING = {
    "fit": lambda: Picky(5),
    "predict": lambda: Picky(5, "predict"),
    "neighbours": lambda: KNeighborsClassifier(5),
}


@pytest.mark.parametrize("failing", FAILING)
def test_too_few_rows_for_a_classifier_are_one_vote_and_no_error(failing):
    """One person more or less decides whether the last teacher has five rows."""
    features = np.random.default_rng(1).normal(size=(45, 4))
    labels = np.arange(45) % 2
    queries = np.random.default_rng(2).normal(size=(30, 4))
    votes = []
    for count in (45, 44):
        rows = [np.arange(0, 20), np.arange(20, 40), np.arange(40, count)]
        split = Partition.given(rows, count, relation=Relation.ADD_OR_REMOVE_ONE, source=seeded(1))
        fitted = Teachers(FAILING[failing](), classes=2).fit(features[:count], labels[:count], split, source=seeded(2))
        votes.append(fitted.votes(queries))
    assert (votes[0][:2] == votes[1][:2]).all()
    assert (votes[1][2] == 0).all()


def test_a_query_that_breaks_every_classifier_tells_nothing_of_a_teacher_that_has_none():
    """A teacher of one class has no classifier: if only an ensemble of broken ones failed, that would show."""
    features = np.random.default_rng(1).normal(size=(41, 4))
    split = Partition.given([range(20), range(20, 41)], 41, relation="add-or-remove-one", source=seeded(1))
    broken = np.full((3, 4), 1e300)
    for planted in (0, 1):
        labels = np.append(np.append(np.arange(20) % 2, np.zeros(20, dtype=int)), planted)
        fitted = Teachers(Picky(1, "large"), classes=2).fit(features, labels, split, source=seeded(2))
        assert fitted.votes(broken).tolist() == [[0] * 3, [0] * 3]


def test_a_classifier_that_no_teacher_can_use_is_refused_without_a_cell():
    features, labels, names = _table()
    split = Partition.by_unit(names, TEACHERS, unit=PERSON, key=KEY)
    with pytest.raises(DataError, match="ValueError") as refused:
        Teachers(Picky(10**6), classes=2).fit(features, labels, split)
    assert "CANARY" not in str(refused.value)


def test_a_given_split_may_lose_the_last_row_of_a_teacher_under_add_or_remove_one():
    kept = Partition.given([[0, 1], []], 2, relation="add-or-remove-one")
    assert [own.size for own in kept.rows] == [2, 0]
    with pytest.raises(DataError, match="at least one"):
        Partition.given([[0, 1], []], 2)


CLOSE = [
    (GumbelNoisyMax("0.25"), GumbelNoisyMax("0.5"), 0),
    (LaplaceNoisyMax("0.25"), LaplaceNoisyMax("0.5"), 0),
    (GaussianNoisyMax(2), GaussianNoisyMax(1), "0.02"),
    (ConfidentGaussianMax(5, 4, 4), ConfidentGaussianMax(5, 2, 2), "0.05"),
]


@pytest.mark.statistical
@pytest.mark.parametrize(("made", "half", "delta"), CLOSE, ids=["gumbel", "laplace", "gaussian", "confident"])
def test_adding_a_person_moves_labels_by_no_more_than_one_vote_costs_and_half_the_noise_is_caught(made, half, delta):
    """The whole way, from tables that differ in a person to labels; wrong with probability below 1e-6."""
    queries = np.random.default_rng(5).normal(size=(200, 4))
    here, there = (
        Votes.from_labels(_voted(KINDS["trees"], each, queries), 2).counts for each in (_with_planted(40), _table())
    )
    clear = here.max(axis=1) * (1 if isinstance(made, (GumbelNoisyMax, LaplaceNoisyMax)) else -1)
    at = int(np.argmax(np.abs(here - there).sum(axis=1) * 100 + clear))  # the moved vote shows best there
    assert np.abs(here[at] - there[at]).tolist() == [1, 1]
    event = made.planned(Ballot(2), 1)
    assert event.neighbours.relation is Relation.ADD_OR_REMOVE_ONE
    claim = float((compose(event).approximate(delta) if delta else compose(event).pure()).epsilon)

    def audited(aggregator):
        source = seeded("audit")
        rows = [Votes(np.tile(each[at], (200_000, 1))) for each in (here, there)]
        return empirical_epsilon(
            *(aggregator.release(each, source).labels for each in rows), delta=delta, confidence=1 - 1e-6
        )

    assert 0 < audited(made) <= claim
    assert audited(half) > claim


def test_whoever_takes_somebodys_place_moves_two_votes_of_a_hashed_split():
    ballot = Ballot(3, PERSON)
    replaced = ballot.under(Relation.REPLACE_ONE)
    assert (replaced.relation, replaced.moved) == (Relation.REPLACE_ONE, 2)
    assert ballot.under(Relation.ADD_OR_REMOVE_ONE) == ballot
    one, two = (compose(GumbelNoisyMax("0.1").planned(each, 10)).zcdp().rho for each in (ballot, replaced))
    assert two == 4 * one
    with pytest.raises(MixedNeighboursError, match="balanced"):
        Ballot(3, PERSON, relation=Relation.REPLACE_ONE).under(Relation.ADD_OR_REMOVE_ONE)

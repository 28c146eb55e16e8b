import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ziggurat.data import Unit
from ziggurat.errors import ArtefactError, DataError, ParameterError, ZigguratError
from ziggurat.pate import Partition
from ziggurat.privacy import Relation
from ziggurat.randomness import seeded

PERSON = Unit.person("patient")


def _people(rows: int = 400, people: int = 60) -> np.ndarray:
    return np.random.default_rng(1).integers(0, people, rows)


def test_every_row_has_one_teacher_and_sizes_differ_by_one_at_most():
    split = Partition.by_record(103, 10, balanced=True, source=seeded(1))
    assert sorted(np.concatenate(split.rows)) == list(range(103))
    assert {own.size for own in split.rows} == {10, 11}


def test_all_rows_of_a_person_go_to_one_teacher_and_people_are_balanced():
    people = _people()
    split = Partition.by_unit(people, 7, unit=PERSON, balanced=True, source=seeded(2))
    held = [set(people[own]) for own in split.rows]
    assert sum(map(len, held)) == len(set.union(*held)) == len(np.unique(people))
    assert max(map(len, held)) - min(map(len, held)) <= 1


def test_a_seed_repeats_the_split_and_a_secure_draw_does_not():
    first, again = (Partition.by_record(50, 5, source=seeded(3)) for _ in range(2))
    assert first.manifest() == again.manifest()
    assert (Partition.by_record(50, 5).assignment != Partition.by_record(50, 5).assignment).any()


def test_replacing_what_a_person_contributes_moves_no_other_row():
    people = _people()
    renamed = np.where(people == people[0], 1_000, people)
    before, after = (
        Partition.by_unit(names, 7, unit=PERSON, balanced=True, source=seeded(4))
        for names in (people, np.where(people == 59, 60, people))
    )
    assert (before.assignment == after.assignment).all()
    replaced = Partition.by_unit(renamed, 7, unit=PERSON, balanced=True, source=seeded(4))
    assert replaced.relation is Relation.REPLACE_ONE


@pytest.mark.parametrize("balanced", [True, False])
def test_how_many_rows_a_person_has_moves_nobody_else(balanced):
    people = _people()
    more = np.concatenate([people, np.repeat(people[:1], 30)])
    before, after = (
        Partition.by_unit(names, 7, unit=PERSON, balanced=balanced, source=seeded(5)) for names in (people, more)
    )
    assert (before.assignment == after.assignment[: people.size]).all()


def test_independent_draws_hide_who_is_there_at_all():
    before, after = (Partition.by_record(rows, 5, source=seeded(6)) for rows in (200, 199))
    assert before.relation is Relation.ADD_OR_REMOVE_ONE
    assert (before.assignment[:199] == after.assignment).all()


def test_the_manifest_verifies_the_split_it_was_made_of_and_no_other():
    people = _people()
    split = Partition.by_unit(people, 7, unit=PERSON, source=seeded(7))
    manifest = json.loads(json.dumps(split.manifest()))
    split.verify(manifest)
    with pytest.raises(DataError, match="Teacher 0 does not have the rows"):
        Partition.by_unit(people, 7, unit=PERSON, source=seeded(8)).verify(manifest)
    with pytest.raises(DataError, match="another table"):
        Partition.by_record(400, 7, source=seeded(7)).verify(manifest)
    manifest["teachers"][0]["rows"] += 1
    with pytest.raises(DataError, match="edited"):
        split.verify(manifest)


def test_equal_rows_have_other_digests_under_other_salts():
    manifests = [Partition.given([[0, 1], [2]], 3, source=seeded(seed)).manifest() for seed in (1, 2)]
    digests = [manifest["teachers"][0]["digest"] for manifest in manifests]
    assert digests[0] != digests[1]


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([[0, 1], [1, 2]], "shares one with another"),
        ([[0, 0], [1]], "a row twice"),
        ([[0], [5]], "outside 0 to 2"),
        ([[0], [-1]], "outside 0 to 2"),
        ([[0], []], "at least one"),
        ([[0], [0.5]], "at least one"),
    ],
)
def test_overlapping_and_wrong_splits_are_refused(rows, sentence):
    with pytest.raises(DataError, match=sentence):
        Partition.given(rows, 3)


def test_a_given_split_that_divides_a_person_is_refused():
    with pytest.raises(DataError, match="several teachers"):
        Partition.given([[0, 1], [2]], 3, units=["a", "b", "a"], unit=PERSON)
    whole = Partition.given([[0, 2], [1]], 3, units=["a", "b", "a"], unit=PERSON)
    assert whole.spread(["x", "x", "y"]) == 2


def test_too_few_units_and_too_few_teachers_are_refused():
    with pytest.raises(ParameterError, match="at most 3 teachers"):
        Partition.by_record(3, 4, balanced=True)
    with pytest.raises(ParameterError, match="at most 2 teachers"):
        Partition.by_unit(["a", "a", "b"], 3, unit=PERSON, balanced=True)
    for teachers in (1, 0, True, 2.5):
        with pytest.raises(ParameterError, match="at least two teachers"):
            Partition.by_record(10, teachers)


def test_a_draw_of_each_row_on_its_own_refuses_nothing_and_may_leave_teachers_empty():
    split = Partition.by_record(2, 5, source=seeded(1))
    assert sorted(own.size for own in split.rows)[:3] == [0, 0, 0]
    split.verify(split.manifest())


@pytest.mark.parametrize("units", [["a", None], [1.5, 2], [[1], [2]], [], [np.nan, 1.0]])
def test_rows_without_a_unit_are_refused_without_naming_one(units):
    with pytest.raises(DataError, match="with none missing"):
        Partition.by_unit(units, 2, unit=PERSON)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(-2, 12), max_size=6), max_size=5), st.integers(-1, 12))
def test_any_given_split_is_disjoint_or_refused(rows, total):
    try:
        split = Partition.given(rows, total)
    except ZigguratError:
        return
    everything = np.concatenate(split.rows)
    assert np.unique(everything).size == everything.size
    assert [set(own) for own in split.rows] == [set(own) for own in rows]


def test_a_split_that_was_saved_still_proves_its_manifest(tmp_path):
    units = np.array(["a", "b", "b", "c", "d", "a"])
    split = Partition.by_unit(units, 2, unit=Unit.person("who"), source=seeded("kept"))
    split.save(tmp_path / "split.npz")
    loaded = Partition.load(tmp_path / "split.npz")
    loaded.verify(split.manifest())
    assert loaded.manifest() == split.manifest()
    assert (tmp_path / "split.npz").stat().st_mode & 0o077 == 0
    other = Partition.by_unit(units, 2, unit=Unit.person("who"), source=seeded("another"))
    with pytest.raises(DataError):
        loaded.verify(other.manifest())


def test_a_split_keeps_rows_that_nobody_has(tmp_path):
    split = Partition.given([[0, 2], [3]], 5, source=seeded("some"))
    split.save(tmp_path / "split.npz")
    assert Partition.load(tmp_path / "split.npz").assignment.tolist() == [0, -1, 0, 1, -1]


@pytest.mark.parametrize("content", [b"", b"PK\x05\x06", b"nothing"])
def test_a_damaged_split_is_refused_in_one_sentence(tmp_path, content):
    (tmp_path / "split.npz").write_bytes(content)
    with pytest.raises(ArtefactError, match="no readable partition"):
        Partition.load(tmp_path / "split.npz")

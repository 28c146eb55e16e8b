"""Ragged arrays of sequences: what is coded, cut, chosen and bounded."""

import numpy as np
import pytest

from ziggurat.data import Unit
from ziggurat.errors import DataError, ParameterError
from ziggurat.randomness import seeded
from ziggurat.sequences import SequenceDomain, Sequences

DOMAIN = SequenceDomain(("a", "b", "c"), longest=4, classes=(0, 1))


def test_unknown_symbols_are_left_out_and_long_ones_cut():
    made = Sequences.of(DOMAIN, ["ab", "xaxbxcxaxb", ""], [0, 1, 0])
    assert list(made) == [("a", "b"), ("a", "b", "c", "a"), ()]
    assert made.lengths.tolist() == [2, 4, 0]
    assert made.classes == [0, 1, 0]
    assert made.to_texts() == ["a b", "a b c a", ""]


def test_sequences_are_taken_in_any_order_and_by_class():
    made = Sequences.of(DOMAIN, ["ab", "ccc", "", "b"], [0, 1, 0, 1])
    assert list(made.take([3, 0, 3])) == [("b",), ("a", "b"), ("b",)]
    assert list(made.of_class(1)) == [("c", "c", "c"), ("b",)]
    assert list(made.take(np.array([False, False, True, False]))) == [()]
    assert len(made.take([])) == 0


def test_a_matrix_is_filled_up_and_cut():
    made = Sequences.of(DOMAIN, ["ab", "abca", ""], [0, 0, 1])
    assert made.padded(3).tolist() == [[0, 1, 3, 3], [0, 1, 2, 0], [3, 3, 3, 3]]
    assert made.padded(9, 2).tolist() == [[0, 1], [0, 1], [9, 9]]


def test_parts_come_together_with_owners_apart():
    domain = DOMAIN.with_unit(Unit.person("who"))
    parts = [Sequences.of(domain, ["a", "b"], [0, 1], ["ann", "ann"]), Sequences.of(domain, ["c"], [1], ["bob"])]
    whole = Sequences.together(parts)
    assert whole.owners.tolist() == [0, 0, 1]
    assert whole.to_texts() == ["a", "b", "c"]
    with pytest.raises(ParameterError, match="one domain"):
        Sequences.together([parts[0], Sequences.of(DOMAIN, ["a"], [0])])


def test_no_owner_keeps_more_than_the_bound_and_who_has_less_keeps_all():
    domain = SequenceDomain(("a", "b"), longest=2, unit=Unit.person("who"))
    owners = [0] * 7 + [1] * 2 + [2] * 30
    made = Sequences.of(domain, ["ab"] * 39, owners=owners)
    kept = made.bounded(3, seeded(1))
    assert np.bincount(kept.owners).tolist() == [3, 2, 3]
    assert made.bounded(100, seeded(1)).owners.tolist() == owners


def test_every_sequence_of_an_owner_is_as_likely_to_be_kept():
    """10,000 choices of 2 of 5: each is kept 4,000 times, sd 49; a deviation of 300 has a chance below 1e-8."""
    domain = SequenceDomain(tuple("abcde"), longest=1, unit=Unit.person("who"))
    made = Sequences.of(domain, list("abcde") * 10_000, owners=np.repeat(np.arange(10_000), 5).tolist())
    counts = np.bincount(made.bounded(2, seeded(2)).codes, minlength=5)
    assert counts.sum() == 20_000
    assert np.abs(counts - 4_000).max() < 300


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"offsets": [0, 3]}, "offsets"),
        ({"codes": [0, 7]}, "codes"),
        ({"labels": [0, 0]}, "one label"),
        ({"labels": None}, "classes"),
        ({"owners": [0]}, "owners"),
        ({"codes": [0] * 5, "offsets": [0, 5]}, "longer"),
    ],
)
def test_what_contradicts_the_domain_is_refused(change, message):
    given = {"codes": [0, 1], "offsets": [0, 2], "labels": [0], "owners": None} | change
    with pytest.raises(ParameterError, match=message):
        Sequences(DOMAIN, **given)


def test_a_label_that_is_no_class_is_refused_without_being_repeated():
    with pytest.raises(DataError) as refused:
        Sequences.of(DOMAIN, ["a"], ["secret"])
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("given", [((), 3), (("a", "a"), 3), (("a",), 0)])
def test_a_domain_needs_different_tokens_and_a_length(given):
    with pytest.raises(ParameterError):
        SequenceDomain(*given)


def test_texts_of_one_character_per_symbol_are_equal_where_the_sequences_are():
    made = Sequences.of(DOMAIN, ["abca", "", "abca", "abc"], [0, 0, 1, 1])
    texts = made.to_characters()
    assert list(map(len, texts)) == [4, 0, 4, 3]
    assert texts[0] == texts[2] != texts[3]

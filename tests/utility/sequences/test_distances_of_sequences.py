"""Distances of pairs of sequences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ziggurat.errors import ParameterError
from ziggurat.sequences import SequenceDomain, Sequences
from ziggurat.utility.sequences import edit_distances, hamming_distances

DOMAIN = SequenceDomain(("a", "b", "c"), longest=8)
LISTS = st.lists(st.tuples(*[st.lists(st.sampled_from("abc"), max_size=8)] * 2), max_size=12)


def both(pairs):
    return (Sequences.of(DOMAIN, [pair[side] for pair in pairs]) for side in (0, 1))


def slow_hamming(one, other):
    longest = max(len(one), len(other))
    padded = [list(each) + [None] * (longest - len(each)) for each in (one, other)]
    return sum(x != y for x, y in zip(*padded, strict=True)) / longest if longest else 0


def slow_edit(one, other):
    row = list(range(len(other) + 1))
    for i, x in enumerate(one, start=1):
        last, row[0] = row[0], i
        for j, y in enumerate(other, start=1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1] / max(len(one), len(other)) if one or other else 0


@given(LISTS)
def test_distances_are_those_of_the_definitions(pairs):
    a, b = both(pairs)
    assert hamming_distances(a, b) == pytest.approx([slow_hamming(*pair) for pair in pairs])
    assert edit_distances(a, b) == pytest.approx([slow_edit(*pair) for pair in pairs])


@given(LISTS)
def test_distances_lie_between_0_and_1_and_are_0_for_equal_ones_alone(pairs):
    a, b = both(pairs)
    equal = np.array([one == other for one, other in pairs], dtype=bool)
    for found in (hamming_distances(a, b), edit_distances(a, b)):
        assert ((found >= 0) & (found <= 1)).all()
        assert ((found == 0) == equal).all()
    assert (edit_distances(a, b) <= hamming_distances(a, b) + 1e-12).all()


def test_symbols_whose_characters_are_halves_of_characters_are_told_apart():
    domain = SequenceDomain(tuple(range(0xE000)), longest=2)
    a, b = Sequences.of(domain, [[0xD800, 0xDC00]]), Sequences.of(domain, [[0xD800, 0xDC01]])
    assert edit_distances(a, b) == [0.5]
    assert edit_distances(a, a) == [0]


def test_pairs_must_be_pairs_of_the_same_symbols():
    a = Sequences.of(DOMAIN, [["a"]])
    with pytest.raises(ParameterError, match="as many"):
        hamming_distances(a, Sequences.of(DOMAIN, []))
    with pytest.raises(ParameterError, match="same domain"):
        edit_distances(a, Sequences.of(SequenceDomain(("a",), longest=8), [["a"]]))

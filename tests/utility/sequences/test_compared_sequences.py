"""What synthetic sequences kept of the original."""

import json
import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from ziggurat.errors import ParameterError
from ziggurat.sequences import SequenceDomain, Sequences
from ziggurat.utility import jensen_shannon, total_variation
from ziggurat.utility.sequences import compare_sequences, draw_sequences

DOMAIN = SequenceDomain(("a", "b", "c", "d"), longest=9, classes=("normal", "abnormal"))


def invent(count: int, seed: int, weights=(4, 3, 2, 1)) -> Sequences:
    draw = np.random.default_rng(seed)
    symbols = np.array(DOMAIN.tokens)
    shares = np.array(weights) / sum(weights)
    texts = [draw.choice(symbols, draw.integers(0, 8), p=shares).tolist() for _ in range(count)]
    return Sequences.of(DOMAIN, texts, draw.choice(DOMAIN.classes, count).tolist())


def distances(one: Counter, other: Counter) -> tuple[float, float]:
    cells = sorted({*one, *other})
    weights = [[each[cell] for cell in cells] for each in (one, other)]
    return total_variation(*weights), jensen_shannon(*weights)


def moves(sequences) -> Counter:
    found = Counter()
    for each in sequences:
        ended = ("^", *each, "$")
        found.update(f"{x}{y}" for x, y in pairwise(ended))
    return found


def holders(sequences) -> Counter:
    return Counter(gram for each in sequences for gram in {each[i : i + 3] for i in range(len(each) - 2)})


def test_sequences_that_are_equal_do_not_differ():
    held = invent(200, 1)
    for group in compare_sequences(held, held).groups:
        assert (group.lengths, group.symbols, group.transitions, group.support_error) == (0, 0, 0, 0)
        assert (group.lengths_bits, group.symbols_bits, group.transitions_bits) == (0, 0, 0)
        assert (group.patterns, group.found) == (1, 1)
        assert group.distinct == group.synthetic_distinct


def test_every_figure_is_that_of_its_definition_in_all_and_by_class():
    original, synthetic = invent(150, 2), invent(90, 3, weights=(1, 1, 1, 5))
    found = compare_sequences(original, synthetic)
    parts = [(original, synthetic), *((original.of_class(i), synthetic.of_class(i)) for i in (0, 1))]
    assert [each.name for each in found.groups] == ["all", "normal", "abnormal"]
    for group, (one, other) in zip(found.groups, parts, strict=True):
        ones, others = list(one), list(other)
        measured = [
            (group.lengths, group.lengths_bits, Counter(map(len, ones)), Counter(map(len, others))),
            (group.symbols, group.symbols_bits, Counter(sum(ones, ())), Counter(sum(others, ()))),
            (group.transitions, group.transitions_bits, moves(ones), moves(others)),
        ]
        for variation, bits, here, there in measured:
            assert (variation, bits) == pytest.approx(distances(here, there))
        assert (group.original, group.synthetic) == (len(ones), len(others))
        assert group.synthetic_share == len(others) / 90
        assert (group.distinct, group.synthetic_distinct) == (len(set(ones)), len(set(others)))
        assert group.found == pytest.approx(np.mean([each in set(ones) for each in others]))
        held, rivals = holders(ones), holders(others)
        error = [abs(held[each] / len(ones) - rivals[each] / len(others)) for each in held]
        assert len(held) <= 100
        assert group.support_error == pytest.approx(np.mean(error))


def test_the_most_frequent_patterns_are_looked_for_among_as_many():
    domain = SequenceDomain(("a", "b", "c"), longest=9)
    original = Sequences.of(domain, ["aaab", "aaa", "bbb"])
    synthetic = Sequences.of(domain, ["aaa", "aaa", "aab", "bbc", "bbc"])
    (every,) = compare_sequences(original, synthetic).groups
    assert every.patterns == pytest.approx(2 / 3)  # aaa, aab, bbb against aaa, bbc, aab
    assert every.support_error == pytest.approx((abs(2 / 3 - 2 / 5) + abs(1 / 3 - 1 / 5) + 1 / 3) / 3)


def test_a_class_that_is_missing_has_no_distances_and_the_shares_say_so():
    original, synthetic = invent(60, 4), invent(60, 5)
    found = compare_sequences(original, synthetic.of_class(0))
    assert math.isnan(found.groups[2].transitions)
    assert math.isnan(found.groups[2].found)
    assert found.class_error == pytest.approx(found.groups[2].share)
    json.dumps(found.to_dict(), allow_nan=False)


def test_empty_sequences_are_compared_as_well():
    domain = SequenceDomain(("a",), longest=3)
    (every,) = compare_sequences(Sequences.of(domain, ["", ""]), Sequences.of(domain, ["", "a"])).groups
    assert every.lengths == 0.5
    assert math.isnan(every.symbols)
    assert every.found == 0.5


def test_the_finding_has_facts_a_sentence_a_table_and_a_picture():
    found = compare_sequences(invent(60, 6), invent(70, 7))
    facts = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert facts["sentence"] == found.sentence
    assert found.sentence.startswith("70 synthetic sequences differ from 60 original ones")
    assert "length_counts" not in facts["groups"][0]
    assert found.table.num_rows == 3
    picture = draw_sequences(found)
    assert b"<svg" in picture
    assert b"abnormal" in picture
    assert picture == draw_sequences(found)
    assert draw_sequences(found, "png").startswith(b"\x89PNG")


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(ParameterError, match="at least one"):
        compare_sequences(invent(3, 1), invent(3, 1).take([]))
    with pytest.raises(ParameterError, match="same domain"):
        compare_sequences(invent(3, 1), Sequences.of(SequenceDomain(("a",), longest=9), ["a"]))

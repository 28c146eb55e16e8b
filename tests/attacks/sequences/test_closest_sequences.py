"""Whether released sequences follow those they were learned from."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from ziggurat.attacks._nearest import find_nearest
from ziggurat.attacks.sequences import closest_sequences
from ziggurat.data import Unit
from ziggurat.errors import ParameterError
from ziggurat.release import Evidence, Gate
from ziggurat.sequences import SequenceDomain, Sequences

DOMAIN = SequenceDomain(tuple("abcdefgh"), longest=12)
COMMON = ("abcabc", "abcd", "aabbcc", "abab")
TEXTS = st.lists(st.text("abc", max_size=5), min_size=1, max_size=8)


def invent(count: int, draw: np.random.Generator) -> list[str]:
    """Texts of which seven in ten are one of a few, as logs are."""
    rare = ["".join(draw.choice(list("abcdefgh"), draw.integers(5, 12))) for _ in range(count)]
    return [each if draw.random() < 0.3 else str(draw.choice(COMMON)) for each in rare]


def invented(count: int, seed: int) -> Sequences:
    return Sequences.of(DOMAIN, invent(count, np.random.default_rng(seed)))


@given(TEXTS, TEXTS, TEXTS)
def test_the_closest_are_those_of_the_definition_and_share_votes_equally(asked, first, second):
    found = find_nearest(asked, first, second)
    pool = [*first, *second]
    votes = np.zeros(len(pool))
    for text in set(asked):
        distances = [Levenshtein.normalized_distance(text, each) for each in pool]
        best = [place for place, each in enumerate(distances) if each == min(distances)]
        votes[best] += 1 / len(best)
    assert found.votes(pool) == pytest.approx(votes)
    for texts, measured in ((first, found.first), (second, found.second)):
        wanted = [min(Levenshtein.normalized_distance(one, each) for each in texts) for one in dict.fromkeys(asked)]
        assert measured == pytest.approx(wanted)


def test_a_generator_that_copies_its_input_is_caught():
    learned, control = invented(300, 1), invented(300, 2)
    found = closest_sequences(learned, learned, control, random_state=3)
    assert found.verdict is True
    assert found.uniques.rate == 1
    assert found.control_uniques.rate == 0
    assert found.copies.rate == 1
    assert "Warning" in found.sentence
    assert found.copying.rate == 1


def test_a_generator_that_changes_one_symbol_of_some_is_caught_by_closeness():
    learned, control, fresh = invented(2000, 4), invented(2000, 5), invented(1000, 6)
    near = [("h", *each[1:]) for each in list(learned)[:400]]
    found = closest_sequences(Sequences.of(DOMAIN, [*fresh, *near]), learned, control, random_state=7)
    assert found.closeness.verdict is True


def test_independent_sequences_are_not_caught_although_most_are_equal():
    """Forty draws, seeded; each alarms with a probability of at most one in forty if nothing is wrong."""
    alarms = 0
    for seed in range(40):
        released, learned, control = (invented(200, 1000 * part + seed) for part in (1, 2, 3))
        found = closest_sequences(released, learned, control, random_state=seed)
        assert found.learned.equal.rate > 0.6
        assert found.verdict is not None
        alarms += found.verdict
    assert alarms <= 2


def test_luck_is_a_bound_under_the_hypothesis():
    """Seeded: of 300 random deals of one pool no more have a small luck than the bound says, with room for chance."""
    draw = np.random.default_rng(8)
    pool, released = invent(120, draw), Sequences.of(DOMAIN, invent(60, draw))
    lucks, copies = [], []
    for _ in range(300):
        dealt = draw.permutation(pool)
        sides = (Sequences.of(DOMAIN, dealt[:60]), Sequences.of(DOMAIN, dealt[60:]))
        found = closest_sequences(released, *sides, random_state=int(draw.integers(1 << 30)))
        lucks.append(found.luck)
        copies.append(found.copied)
    for level in (0.05, 0.2, 0.5):
        room = level + 4 * (level * (1 - level) / 300) ** 0.5
        assert np.mean(np.array(lucks) <= level) <= room
        assert np.mean(np.array(copies) <= level) <= room


def test_units_with_many_sequences_are_dealt_whole():
    """One person's hundred sequences were copied: that is one unit of the pool, and chance; as rows it is proof."""
    domain = DOMAIN.with_unit(Unit.person("who"))
    draw = np.random.default_rng(9)
    own = ["".join(draw.choice(list("fgh"), 12)) for _ in range(100)]
    learned = Sequences.of(domain, [*invent(60, draw), *own], owners=[*range(60), *[60] * 100])
    control = Sequences.of(domain, invent(160, draw), owners=[*range(60), *[60] * 100])
    released = Sequences.of(domain, [*invent(60, draw), *own], owners=range(160))
    found = closest_sequences(released, learned, control, random_state=10)
    assert found.units == 61
    assert found.closer > 0.7
    assert found.verdict is not True
    rows = (replace(each, domain=DOMAIN, owners=None) for each in (released, learned, control))
    assert closest_sequences(*rows, random_state=10).verdict is True


def test_sides_of_different_sizes_are_compared_in_equal_numbers():
    found = closest_sequences(invented(100, 1), invented(400, 2), invented(90, 3), at_most=60, random_state=4)
    assert (found.released, found.units) == (60, 60)
    assert found.uniques.trials > found.control_uniques.trials


def test_a_few_sequences_give_no_verdict():
    found = closest_sequences(invented(10, 1), invented(10, 1), invented(10, 3), random_state=4)
    assert found.verdict is None
    assert "too few" in found.sentence


def test_the_finding_has_facts_a_sentence_and_a_table():
    found = closest_sequences(invented(200, 1), invented(200, 2), invented(200, 3), random_state=4)
    facts = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert facts["sentence"] == found.sentence
    assert facts["verdict"] is False
    assert found.table.num_rows == 2


def test_the_gate_stops_copies_and_lets_others_go():
    learned, control = invented(300, 1), invented(300, 2)
    stopped = Gate().judge(
        Evidence({"sequences": closest_sequences(learned, learned, control, random_state=3)}), guaranteed=False
    )
    assert [each.attack for each in stopped.stopped] == ["sequences, closest", "sequences, copied"]
    evidence = Evidence({"sequences": closest_sequences(invented(300, 5), learned, control, random_state=3)})
    assert Gate().judge(evidence, guaranteed=False).stopped == ()
    assert evidence.alarms == []


def test_what_cannot_be_compared_is_refused():
    plain = invented(5, 1)
    with pytest.raises(ParameterError, match="at least one"):
        closest_sequences(plain, plain, plain.take([]))
    with pytest.raises(ParameterError, match="same domain"):
        closest_sequences(plain, plain, Sequences.of(SequenceDomain(("a",), longest=12), ["a"]))

"""Whose sequences a generator was learned from.

A claim counts as refuted if guesses as good have a chance below 1e-6 where it holds; draws are seeded.
"""

import numpy as np
import pytest

from ziggurat.attacks.sequences import attack_sequence_membership, score_by_transitions
from ziggurat.data import Unit
from ziggurat.errors import ParameterError
from ziggurat.sequences import SequenceDomain, Sequences
from ziggurat.sequences.tokens import MarkovSequences

pytestmark = pytest.mark.statistical

DELTA = "1e-12"
DOMAIN = SequenceDomain(tuple("abcdefgh"), longest=12)
OWNED = SequenceDomain(tuple("abcdefgh"), longest=12, unit=Unit.person("who"))
KNOWN = pytest.mark.parametrize("known_by", ["closest", "transitions"])


def invent(count, seed, domain=DOMAIN, each=1):
    draw = np.random.default_rng(seed)
    texts = ["".join(draw.choice(list("aaabbcdefgh"), draw.integers(6, 13))) for _ in range(count * each)]
    return Sequences.of(domain, texts, owners=None if domain is DOMAIN else np.repeat(np.arange(count), each).tolist())


POOL = invent(900, 1)
MEMBERS, OTHERS, REFERENCE = (POOL.take(np.arange(start, start + 300)) for start in (0, 300, 600))


def attack(released, known_by="closest", members=MEMBERS, others=OTHERS, reference=REFERENCE, epsilon=1):
    terms = {"random_split": True, "known_by": known_by, "epsilon": epsilon, "delta": DELTA}
    return attack_sequence_membership(released, members, others, reference, **terms)


def is_refuted(found):
    return found.bound.chance < 1e-6


def is_told_apart(found):
    return min(found.even.chance, found.surest.chance) < 1e-6


def test_raw_sequences_are_caught():
    found = attack(MEMBERS)
    assert is_refuted(found)
    assert found.area.rate > 0.99


def test_a_bootstrap_of_raw_sequences_is_caught():
    drawn = MEMBERS.take(np.random.default_rng(2).integers(0, 300, 300))
    assert is_told_apart(attack(drawn))
    assert attack(drawn, "transitions").even.chance < 1e-2


@KNOWN
def test_a_promise_is_kept(known_by):
    drawn = MarkovSequences(1, random_state=1).fit(MEMBERS).sample(300, random_state=2)
    found = attack(drawn, known_by)
    assert not is_refuted(found)
    assert not is_told_apart(found)


@KNOWN
def test_other_sequences_of_the_same_kind_give_nobody_away(known_by):
    assert not is_told_apart(attack(invent(300, 9), known_by))


def test_a_model_that_gives_likelihoods_is_asked_itself():
    known = set(MEMBERS)

    def remember(asked):
        return np.array([0.0 if each in known else -100.0 for each in asked])

    assert is_refuted(attack(remember))
    assert not is_told_apart(attack(score_by_transitions(invent(300, 9))))


def test_people_with_several_sequences_are_the_unit():
    pool = invent(300, 3, OWNED, each=3)
    parts = [pool.take(np.arange(300 * part, 300 * (part + 1))) for part in range(3)]
    found = attack(parts[0], members=parts[0], others=parts[1], reference=parts[2])
    assert found.bound.people == 200
    assert is_refuted(found)


def test_the_likelihood_of_a_chain_is_that_of_its_transitions():
    small = SequenceDomain(("a", "b"), longest=3, classes=("x", "y"))
    held = Sequences.of(small, ["ab", "a", ""], ["x", "x", "y"])
    first = np.array([[0.5, 1.5, 1.5], [0.5, 0.5, 1.5], [2.5, 0.5, 0.5]])  # after a, b, and the beginning
    logs = np.log(first / first.sum(axis=1, keepdims=True))
    wanted = [logs[2, 0] + logs[0, 1] + logs[1, 2], logs[2, 0] + logs[0, 2], np.log(1.5 / 2.5)]
    assert score_by_transitions(held)(held) == pytest.approx(wanted)


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(ParameterError, match="known by one of"):
        attack(MEMBERS, "sight")
    with pytest.raises(ParameterError, match="different tokens or units"):
        attack(Sequences.of(SequenceDomain(("a",), longest=3), ["a"]))
    with pytest.raises(ParameterError, match="at least one sequence"):
        attack(MEMBERS.take(np.arange(0)))
    with pytest.raises(ParameterError, match="one number for each"):
        attack(lambda asked: np.full(len(asked), np.nan))

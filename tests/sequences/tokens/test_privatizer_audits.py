"""Privatisers of sequences, tested from outside: audits on two sequences, the bound for classifiers, planted bugs.

An audit of a sound mechanism fails at most once in a million times. A classifier that is judged on n fresh sequences,
half of each class, exceeds what it would reach on all of them by t with probability at most exp(-2 n t^2) (Hoeffding);
`allowance` makes that one in ten million.
"""

import copy
import math
from dataclasses import dataclass

import numpy as np
import pytest

from ziggurat.data import datasets
from ziggurat.data.generators import log_sequences, log_vocabulary
from ziggurat.mechanisms import empirical_epsilon
from ziggurat.randomness import seeded
from ziggurat.sequences import SequenceDomain, Sequences
from ziggurat.sequences.tokens import (
    GuidedPrivatizer,
    LatentPrivatizer,
    LengthRule,
    RecurrentClassifier,
    SequenceAutoencoder,
    SymbolPrivatizer,
)

IDEAS = (1, 2, 3, 4, 5)
DRAWS = 20_000
PAIR = ("ab", "dcddc")

pytestmark = pytest.mark.statistical


def per_step(idea, epsilon, longest=6):
    """What the parameter must be for a whole sequence of the longest kind to cost epsilon."""
    return epsilon / longest if idea in (1, 2, 4) else epsilon


def audit(privatizer, pair=PAIR):
    """The epsilon that many draws on two sequences prove, each output being taken as a whole."""
    drawn = []
    for text, label in zip(pair, privatizer.domain.classes, strict=True):
        copies = Sequences.of(privatizer.domain, [text] * DRAWS, [label] * DRAWS)
        drawn.append(privatizer.privatize(copies, seeded(f"audit {text}")).padded(privatizer.domain.size))
    _, outputs = np.unique(np.concatenate(drawn), axis=0, return_inverse=True)
    return empirical_epsilon(outputs[:DRAWS], outputs[DRAWS:], confidence=1 - 1e-6)


@pytest.mark.parametrize("idea", IDEAS)
def test_two_very_different_sequences_cannot_be_told_apart_better_than_promised(make, idea):
    privatizer = make(idea, per_step(idea, 1.5), length="protected")
    promised = float(privatizer.guarantee().epsilon)
    assert promised == pytest.approx(1.5, rel=1e-3)
    assert audit(privatizer) <= promised


@pytest.mark.parametrize("idea", IDEAS)
def test_with_a_kept_length_sequences_of_one_length_are_protected(make, idea):
    privatizer = make(idea, per_step(idea, 1.5), length="kept")
    assert audit(privatizer, ("babab", "dcddc")) <= float(privatizer.guarantee().epsilon)


def far_out(network):
    """The same network, whose latent vectors lie twenty times as far out; in the ball they are the same."""
    made = copy.deepcopy(network)
    made.module_.code.weight.data.mul_(20)
    made.module_.code.bias.data.mul_(20)
    return made


def test_a_norm_that_is_bounded_after_the_noise_is_caught(networks):
    network = far_out(networks[True, "l1"])
    assert audit(LatentPrivatizer(1, network, bounded="after")) > 2
    assert audit(LatentPrivatizer(1, network)) <= 1


@dataclass(frozen=True)
class Leaking(LengthRule):
    """Says that it protects the length, and stops where the sequence does."""

    def steps(self, lengths):
        return lengths


@pytest.mark.parametrize("idea", IDEAS)
def test_a_length_that_leaks_where_it_is_protected_is_caught(make, idea):
    privatizer = make(idea, per_step(idea, 1.5), length="protected")
    privatizer.length = Leaking("protected", (6,))
    assert audit(privatizer) > 2


def test_the_claim_of_the_document_for_idea_1_is_refuted(make):
    privatizer = make(1, 2, length="protected")
    assert float(privatizer.claimed.epsilon) == 2 < audit(privatizer) <= float(privatizer.guarantee().epsilon)


# The bound: e^epsilon / (1 + e^epsilon)


def bound(epsilon):
    return math.exp(epsilon) / (1 + math.exp(epsilon))


def allowance(judged):
    return math.sqrt(math.log(1e7) / (2 * judged))


def balanced_accuracy(privatizer, train, test):
    judge = RecurrentClassifier(epochs=3, random_state=1).fit(privatizer.privatize(train, seeded("train")))
    said = judge.predict_proba(privatizer.privatize(test, seeded("test"))).argmax(axis=1)
    return float(np.mean([(said[test.labels == code] == code).mean() for code in (0, 1)]))


@pytest.mark.parametrize("idea", IDEAS)
def test_no_classifier_crosses_the_bound(make, toys, idea):
    train, test = toys(1500, 11), toys(5000, 12)
    for epsilon in (0.5, 1.5):
        privatizer = make(idea, per_step(idea, epsilon), length="protected")
        assert balanced_accuracy(privatizer, train, test) <= bound(epsilon) + allowance(len(test))


def test_bugs_cross_the_bound(make, toys, networks):
    train, test = toys(1500, 11), toys(5000, 12)
    after = LatentPrivatizer("1/2", far_out(networks[True, "l1"]), bounded="after")
    leaking = make(3, "1/2")
    leaking.length = Leaking("protected", (6,))
    for privatizer in (after, leaking):
        assert balanced_accuracy(privatizer, train, test) > bound(0.5) + allowance(len(test))


def coded(table, tokens, longest):
    domain = SequenceDomain(tuple(tokens), longest, (0, 1))
    return Sequences.of(domain, [[int(key) for key in text.split()] for text in table["seq"]], table["label"])


def generated_logs():
    frame = log_sequences(14_000, abnormal=0.84, seed=3).to_pandas()
    frame = frame[frame.anomaly.isin(["none", "fault"])].groupby("label").head(2300)
    return coded(frame.sample(frac=1, random_state=1), log_vocabulary(), 20)


def real_logs():
    frame = datasets.load("hdfs", offline=True).to_pandas()
    frame = frame[frame.split.str.startswith("logdeep")].groupby("label").sample(2500, random_state=1)
    return coded(frame.sample(frac=1, random_state=1), range(1, 29), 30)


@pytest.mark.slow
@pytest.mark.parametrize("logs", [generated_logs, pytest.param(real_logs, marks=pytest.mark.data)])
def test_logs_guided_by_a_classifier_stay_below_the_bound(logs):
    found = logs()
    public, train, test = (found.take(np.arange(at, at + 1500)) for at in (0, 1500, 3000))
    options = {"hidden": 32, "latent": 4, "epochs": 5, "batch": 16, "random_state": 1}
    network = SequenceAutoencoder(found.domain, training="public", guided=True, **options).fit(public)
    for epsilon in (1, 2, 8):
        reached = balanced_accuracy(GuidedPrivatizer(epsilon, network), train, test)
        assert reached <= bound(epsilon) + allowance(len(test))
    assert reached > 0.7  # something was left to be crossed with
    without = GuidedPrivatizer(1, far_out(network), bounded="after")
    assert balanced_accuracy(without, train, test) > bound(1) + allowance(len(test))


def test_the_exponential_mechanism_draws_its_table(embedding):
    privatizer = SymbolPrivatizer(3, embedding)
    for symbol, row in zip("abcd", privatizer.law, strict=True):
        copies = Sequences.of(embedding.domain, [symbol * 5] * 8000, ["short"] * 8000)
        seen = np.bincount(privatizer.privatize(copies, seeded(symbol)).codes, minlength=4) / 40_000
        # Six standard errors: a false alarm in 500 million for each of sixteen.
        assert np.all(np.abs(seen - row) < 6 * np.sqrt(row * (1 - row) / 40_000))

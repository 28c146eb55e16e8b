"""Sequences that are protected one by one: what every idea keeps to, and what each of them promises."""

from fractions import Fraction

import numpy as np
import pytest

from ziggurat.data import Unit
from ziggurat.errors import DataError, ParameterError, PrivacyError
from ziggurat.privacy import ApproximateDP, ComposedEvent, Neighbours, UnboundedEvent, compose
from ziggurat.randomness import seeded
from ziggurat.sequences import SequenceDomain, Sequences
from ziggurat.sequences.tokens import (
    GuidedPrivatizer,
    LatentPrivatizer,
    LengthRule,
    MarkovSequences,
    RecurrentClassifier,
    SequenceAutoencoder,
    SymbolEmbedding,
    SymbolPrivatizer,
    TokenPrivatizer,
)

IDEAS = (1, 2, 3, 4, 5)
BY_STEP, BY_SEQUENCE = (1, 2, 4), (3, 5)
LENGTHS = ("kept", "protected", [2, 6])


@pytest.mark.parametrize("idea", IDEAS)
@pytest.mark.parametrize("length", LENGTHS, ids=str)
def test_sequences_and_labels_come_out_one_for_one_and_a_seed_decides(make, toys, idea, length):
    given = toys(40, 1)
    made = make(idea, "1/2", length=length).privatize(given, seeded("x"))
    again = make(idea, "1/2", length=length).privatize(given, seeded("x"))
    assert len(made) == len(given)
    assert list(made) == list(again)
    assert made.classes == given.classes
    assert list(made) != list(make(idea, "1/2", length=length).privatize(given, seeded("y")))


@pytest.mark.parametrize("idea", IDEAS)
def test_a_length_is_kept_or_stays_within_its_public_steps(make, toys, idea):
    given = toys(200, 1)
    kept, bucketed, free = (make(idea, 1, length=length).privatize(given, seeded(2)) for length in LENGTHS)
    assert kept.lengths.tolist() == given.lengths.tolist()
    assert (free.lengths <= 2).sum() > 0
    short = np.asarray(given.lengths) == 2
    assert bucketed.lengths.max() <= 6
    assert free.lengths[short].max() <= 2  # the bucket of the short ones, which is public
    assert bucketed.lengths[short].max() > 2  # with protected lengths nothing tells of it


@pytest.mark.parametrize("idea", IDEAS)
@pytest.mark.parametrize("length", LENGTHS, ids=str)
def test_empty_sequences_and_none_at_all_are_protected_like_others(make, idea, length):
    maker = make(idea, 1, length=length)
    empty = Sequences.of(maker.domain, ["", "abc", ""], ["short", "long", "short"])
    assert len(maker.privatize(empty, seeded(1))) == 3
    assert len(maker.privatize(empty.take([]), seeded(1))) == 0


@pytest.mark.parametrize("idea", BY_STEP)
def test_steps_add_up_to_the_promise_for_a_sequence(make, idea):
    maker = make(idea, "1/10")
    # The rounding of six rounds of Laplace noise to its grid costs nothing beyond the epsilon that was asked for.
    assert maker.guarantee().epsilon == pytest.approx(Fraction(6, 10), rel=1e-12)
    assert maker.guarantee().epsilon <= Fraction(6, 10)
    assert compose(maker.event_of(2)).pure().epsilon == pytest.approx(Fraction(2, 10), rel=1e-12)
    assert maker.guarantee("1e-6").epsilon <= Fraction(6, 10)
    assert str(maker.event.neighbours) == "one row, replace-one"


@pytest.mark.parametrize("idea", BY_SEQUENCE)
def test_noise_on_the_latent_vector_is_paid_once(make, idea):
    maker = make(idea, "1/2")
    assert Fraction(499, 1000) < maker.guarantee().epsilon <= Fraction(1, 2)
    assert maker.event_of(6) == maker.event_of(1) == maker.event
    assert float(maker.event.scale) == pytest.approx(4, rel=1e-5)  # 2 / epsilon


def test_what_is_claimed_stands_beside_what_is_true(make):
    assert (make(1, 2).claimed.epsilon, make(1, 2).guarantee().epsilon) == (2, 12)
    assert make(2, 2).claimed.epsilon == make(4, 2).claimed.epsilon == 12
    assert make(3, 2).claimed.epsilon == make(5, 2).claimed.epsilon == 2
    assert "epsilon for the whole sequence" in str(make(1, 2).claimed)
    assert "epsilon times the length" in str(make(2, 2).claimed)


def test_the_promise_in_words_names_the_length_the_label_and_the_amount(make):
    assert "any other of the same length, which is public: 12-differential privacy" in make(1, 2).promise
    assert "Its label leaves as it is" in make(1, 2).promise
    assert "of its bucket (up to 2, 6 symbols)" in make(3, 2, length=[2, 6]).promise
    assert "any other, whatever its length: 2-differential privacy" in make(3, 2).promise


def test_one_symbol_of_idea_1_costs_epsilon_and_no_more(make):
    maker = make(1, 3)
    assert compose(maker.symbol_event).pure().epsilon == 3
    losses = np.log(maker.law[:, None, :] / maker.law[None, :, :])
    assert 1 < losses.max() <= 3
    assert make(1, 3, length="protected").law.shape == (5, 5)


def test_the_sensitivity_is_right_for_the_worst_embedding():
    opposite = SymbolEmbedding(SequenceDomain(("a", "b"), 1), [[1.0], [-1.0]], training="public")
    law = SymbolPrivatizer(2, opposite).law
    # Two candidates: e^(2/4) against e^(-2/4) twice over is e^(1) for each, and so no more than epsilon.
    assert np.log(law[0, 0] / law[1, 0]) == pytest.approx(np.log((1 + np.e) / (1 + 1 / np.e)), abs=1e-6)
    assert np.log(law[0, 0] / law[1, 0]) <= 2


def test_a_better_guarantee_holds_with_a_delta_and_gaussian_noise(networks):
    maker = LatentPrivatizer(1, networks[False, "l2"], delta="1e-5")
    assert maker.guarantee("1e-5").epsilon <= 1
    assert "1, 0.00001)-differential privacy" in maker.promise
    with pytest.raises(PrivacyError, match="delta"):
        maker.guarantee()
    for ball, delta in (("l1", "1e-5"), ("l2", 0)):
        with pytest.raises(ParameterError, match="delta"):
            LatentPrivatizer(1, networks[False, ball], delta=delta)


def test_a_vector_bounded_after_the_noise_promises_nothing(networks, toys):
    maker = LatentPrivatizer(1, networks[False, "l1"], bounded="after")
    assert isinstance(maker.event, UnboundedEvent)
    assert maker.promise.startswith("Nothing is promised")
    with pytest.raises(PrivacyError, match="bounded after the noise"):
        maker.guarantee()
    assert len(maker.privatize(toys(4, 1), seeded(1))) == 4


def test_a_network_that_learned_from_private_sequences_voids_the_promise(embedding, networks):
    private = SymbolEmbedding(embedding.domain, embedding.vectors, training="unprotected")
    held = {**networks[True, "l1"].to_dict(), "training": "unprotected", "event": private.event.to_dict()}
    learned = SequenceAutoencoder.from_dict(embedding.domain, held)
    for maker in (SymbolPrivatizer(1, private), TokenPrivatizer(1, learned), GuidedPrivatizer(1, learned)):
        assert isinstance(maker.event, ComposedEvent)
        assert maker.is_unbounded
        assert "those sequences have no promise" in maker.promise
        with pytest.raises(PrivacyError, match="trained on private sequences"):
            maker.guarantee()
        assert compose(maker.local_event).pure().epsilon > 0


def test_a_network_that_learned_from_what_a_private_generator_drew_adds_its_price(embedding, toys):
    generator = MarkovSequences(1, random_state=1).fit(toys(200, 1))
    drawn = generator.sample(50, random_state=2)
    learned = SymbolEmbedding.learn(
        drawn, training="private", promised=generator.guarantee_, epochs=1, size=4, random_state=1
    )
    maker = SymbolPrivatizer("1/10", learned)
    assert maker.guarantee().epsilon == Fraction(6, 10) + 2 * generator.guarantee_.epsilon
    assert "a private generator drew" in maker.promise
    assert not maker.is_unbounded
    one_row = Neighbours()
    spent = ApproximateDP(one_row, Fraction(1), Fraction(1, 10**6))
    event = SequenceAutoencoder(embedding.domain, training="private", promised=spent).event
    assert event.epsilon == 2
    assert 3.718281 < event.delta * 10**6 < 3.718282  # 1 + e
    for wrong in (
        {"training": "private"},
        {"training": "public", "promised": spent},
        {"training": "private", "promised": ApproximateDP(Neighbours(Unit.person("who")), Fraction(1), Fraction(1, 9))},
    ):
        with pytest.raises(ParameterError, match="promise"):
            SequenceAutoencoder(embedding.domain, **wrong)


def test_how_a_network_was_trained_must_be_stated_and_is_kept(embedding, networks):
    for made in (
        lambda training: SymbolEmbedding(embedding.domain, embedding.vectors, training=training),
        lambda training: SequenceAutoencoder(embedding.domain, training=training),
    ):
        with pytest.raises(ParameterError, match="public"):
            made("trust me")
    written = networks[False, "l1"].to_dict()
    assert SequenceAutoencoder.from_dict(embedding.domain, written).training == "public"


def test_a_stored_network_writes_the_same(networks, toys):
    network = networks[False, "l1"]
    again = SequenceAutoencoder.from_dict(network.domain, network.to_dict())
    made = [list(LatentPrivatizer(9, each).privatize(toys(20, 4), seeded(1))) for each in (network, again)]
    assert made[0] == made[1]


def test_a_latent_vector_depends_on_its_own_sequence_to_the_last_bit(networks, toys):
    network, one = networks[False, "l1"], toys(1, 7)
    alone = network.encode(one)
    for others in (toys(3, 8), toys(700, 9)):
        assert np.array_equal(network.encode(Sequences.together([one, others]))[:1], alone)


def test_with_next_to_no_noise_an_autoencoder_gives_back_what_it_learned_to_write(networks, toys):
    given = toys(300, 5)
    for guided, least in ((False, 0.95), (True, 0.9)):
        maker = LatentPrivatizer(10**6, networks[guided, "l1"])
        judge = RecurrentClassifier(epochs=4, random_state=1).fit(maker.privatize(toys(600, 6), seeded(1)))
        right = judge.predict_proba(maker.privatize(given, seeded(2))).argmax(axis=1) == given.labels
        assert right.mean() > least


def test_what_does_not_fit_is_refused(make, toys, embedding, networks):
    owned = Sequences.of(embedding.domain.with_unit(Unit.person("who")), ["ab"], ["short"], ["ann"])
    with pytest.raises(DataError, match="an owner pays for each"):
        make(1, 1).privatize(owned)
    other = Sequences.of(SequenceDomain(("a", "b"), 6, ("short", "long")), ["ab"], ["short"])
    for idea in IDEAS:
        with pytest.raises(DataError, match="another domain"):
            make(idea, 1).privatize(other)
    with pytest.raises(ParameterError, match="guided=True"):
        GuidedPrivatizer(1, networks[False, "l1"])
    with pytest.raises(ParameterError, match="classes"):
        SequenceAutoencoder(SequenceDomain(("a",), 3), training="public", guided=True)
    with pytest.raises(ParameterError, match="each symbol"):
        SymbolEmbedding(embedding.domain, [[1.0]], training="public")
    with pytest.raises(DataError, match="own domain"):
        SequenceAutoencoder(embedding.domain, training="public").fit(other)
    with pytest.raises(DataError, match="labelled"):
        RecurrentClassifier().fit(Sequences.of(SequenceDomain(("a",), 3), ["a"]))


@pytest.mark.parametrize("length", ["kept?", [], [3], [4, 2, 6], [2, 7], 6, [0, 6]], ids=str)
def test_a_length_rule_that_is_none_is_refused(make, length):
    with pytest.raises(ParameterError):
        make(1, 1, length=length)


def test_the_public_steps_of_each_rule():
    lengths = np.array([0, 1, 2, 3, 6])
    assert LengthRule.read("kept", 6).steps(lengths).tolist() == [0, 1, 2, 3, 6]
    assert LengthRule.read("protected", 6).steps(lengths).tolist() == [6] * 5
    assert LengthRule.read([2, 4, 6], 6).steps(lengths).tolist() == [2, 2, 2, 4, 6]


def test_an_embedding_is_learned_from_labels_and_by_a_seed(toys):
    learned = [
        SymbolEmbedding.learn(toys(200, 2), training="public", size=4, epochs=epochs, random_state=1)
        for epochs in (1, 1, 2)
    ]
    alike = [each.similarities for each in learned]
    assert alike[0].shape == (4, 4)
    assert np.abs(alike[0]).max() <= 1
    assert np.array_equal(alike[0], alike[1])
    assert not np.array_equal(alike[0], alike[2])

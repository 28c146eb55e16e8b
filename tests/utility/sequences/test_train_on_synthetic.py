"""Learn from synthetic sequences, test on real ones."""

import json

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from ziggurat.errors import ParameterError
from ziggurat.sequences import SequenceDomain, Sequences
from ziggurat.utility.sequences import train_on_synthetic

DOMAIN = SequenceDomain(tuple(str(each) for each in range(12)), longest=20, classes=(0, 1))


def invent(count: int, seed: int) -> Sequences:
    """Logs of two kinds that differ in what follows symbol 3."""
    draw, texts = np.random.default_rng(seed), []
    labels = draw.integers(0, 2, count)
    for label in labels:
        symbols = draw.integers(0, 12, draw.integers(1, 12)).tolist()
        texts.append([str(each) for place in symbols for each in ((place, 4) if label and place == 3 else (place,))])
    return Sequences.of(DOMAIN, texts, labels.tolist())


def judge(learned: Sequences, tested: Sequences) -> float:
    """The judge as a program has it."""
    words = CountVectorizer(ngram_range=(1, 2), token_pattern=r"\S+")
    model = make_pipeline(words, MaxAbsScaler(), LogisticRegression(C=10, max_iter=300))
    return model.fit(learned.to_texts(), learned.classes).score(tested.to_texts(), tested.classes)


def test_the_accuracy_is_that_of_a_logistic_regression_on_words_and_pairs_of_words():
    known, synthetic, test = invent(300, 1), invent(400, 2), invent(350, 3)
    found = train_on_synthetic(synthetic, test, known)
    new = test.take([text not in set(known.to_texts()) for text in test.to_texts()])
    assert 0 < len(new) < len(test)
    assert found.unseen.trials == len(new)
    assert found.every.rate == judge(synthetic, test)
    assert found.unseen.rate == judge(synthetic, new)
    assert found.every.rate > found.baseline


def test_without_known_sequences_nothing_is_said_of_new_ones():
    found = train_on_synthetic(invent(50, 1), invent(50, 2))
    assert found.unseen is None
    assert found.table.num_rows == 1
    json.dumps(found.to_dict(), allow_nan=False)


def test_synthetic_sequences_of_one_class_are_as_good_as_that_class():
    test = invent(200, 5)
    found = train_on_synthetic(invent(200, 4).of_class(1), test)
    assert found.every.hits == int((test.labels == 1).sum())


def test_labels_that_say_nothing_teach_nothing():
    """A negative control: shuffled labels are no better than chance (5 standard deviations, once in 3 million)."""
    synthetic, test = invent(400, 8), invent(400, 9)
    synthetic.labels[:] = np.random.default_rng(10).permutation(synthetic.labels)
    assert abs(train_on_synthetic(synthetic, test).every.rate - 0.5) < 5 * 0.5 / 20


def test_sequences_without_classes_are_refused():
    plain = Sequences.of(SequenceDomain(("a",), longest=2), ["a"])
    with pytest.raises(ParameterError, match="classes"):
        train_on_synthetic(plain, plain)
    with pytest.raises(ParameterError, match="same domain"):
        train_on_synthetic(invent(5, 1), plain)

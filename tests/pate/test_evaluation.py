import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, confusion_matrix

from ziggurat.errors import DataError
from ziggurat.pate import Evaluation

labels = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40)


@pytest.mark.filterwarnings("ignore:A single label was found")
@settings(max_examples=60, deadline=None)
@given(labels)
def test_counts_and_shares_are_those_of_scikit_learn(pairs):
    truth, named = map(list, zip(*pairs, strict=True))
    made = Evaluation.of(truth, named, range(4))
    assert (made.confusion == confusion_matrix(truth, named, labels=range(4))).all()
    assert made.accuracy == np.mean(np.equal(truth, named))
    present = [label for label in range(4) if label in truth]
    assert [share is not None for share in made.recall] == [label in present for label in range(4)]
    if set(named) <= set(truth):
        assert made.balanced_accuracy == pytest.approx(balanced_accuracy_score(truth, named))


def test_two_classes_have_rates_and_the_second_is_positive():
    made = Evaluation.of(["no", "no", "no", "yes", "yes"], ["no", "no", "yes", "yes", "yes"])
    assert made.classes == ("no", "yes")
    assert (made.true_positive_rate, made.true_negative_rate) == (1.0, 2 / 3)
    assert made.recall == (2 / 3, 1.0)
    assert made.confusion.tolist() == [[2, 1], [0, 2]]


def test_without_positives_or_negatives_there_is_no_rate():
    made = Evaluation.of([0, 0], [0, 1])
    assert (made.true_positive_rate, made.true_negative_rate) == (None, 0.5)
    assert Evaluation.of([1, 1], [0, 1]).true_negative_rate is None
    assert Evaluation.of([0, 1, 2], [0, 1, 2]).true_positive_rate is None
    assert Evaluation((0, 1), np.zeros((2, 2), dtype=int)).accuracy is None


def test_a_class_absent_from_the_truth_has_its_row_and_column():
    made = Evaluation.of([0, 2], [0, 0], [0, 1, 2])
    assert made.classes == (0, 1, 2)
    assert made.confusion.tolist() == [[1, 0, 0], [0, 0, 0], [1, 0, 0]]
    assert made.recall == (1.0, None, 0.0)
    assert made.balanced_accuracy == 0.5


def test_the_dictionary_is_json():
    made = Evaluation.of(np.array([0, 1, 1]), np.array([0, 1, 0]))
    read = json.loads(json.dumps(made.to_dict()))
    assert read["classes"] == [0, 1]
    assert read["recall"] == [1.0, 0.5]
    assert read == made.to_dict()


def test_it_prints_as_a_table():
    shown = str(Evaluation.of(["no"] * 3 + ["yes"] * 2, ["no", "no", "yes", "yes", "yes"]))
    assert shown.splitlines() == [
        "5 rows: accuracy 0.8000, balanced accuracy 0.8333",
        "true positive rate 1.0000, true negative rate 0.6667",
        "truth  no  yes  recall",
        "no      2    1  0.6667",
        "yes     0    2  1.0000",
    ]
    assert "none" in str(Evaluation.of([0], [0], [0, 1, 2]))


def test_counts_cannot_be_changed_afterwards():
    made = Evaluation.of([0, 1], [0, 1])
    with pytest.raises(ValueError, match="read-only"):
        made.confusion[0, 0] = 9


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Evaluation.of([0, 1], [0]), "2 true labels and 1 named"),
        (lambda: Evaluation.of(["secret"], [0]), "same kind"),
        (lambda: Evaluation((), np.zeros((0, 0), dtype=int)), "every pair"),
        (lambda: Evaluation((0, 1), np.array([[1, -1], [0, 0]])), "none of them negative"),
        (lambda: Evaluation((0, 1), np.eye(2)), "a count"),
    ],
)
def test_what_cannot_be_counted_is_refused_without_a_label(make, sentence):
    with pytest.raises(DataError, match=sentence) as caught:
        make()
    assert "secret" not in str(caught.value)

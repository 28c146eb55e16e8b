import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelPropagation, LabelSpreading, SelfTrainingClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from ziggurat.data import Unit
from ziggurat.errors import DataError, MissingExtraError, MixedNeighboursError, ParameterError, ZigguratError
from ziggurat.pate import CNN, MLP, GumbelNoisyMax, Labels, Student, Training, Votes
from ziggurat.pate.student._rows import spread, target
from ziggurat.pate.training import best_cut, split_rows
from ziggurat.privacy import Neighbours, PureEvent, Relation, compose
from ziggurat.randomness import seeded

QUICK = Training(epochs=15, batch=16, learning_rate=0.01)
ROW = Neighbours(Unit.row(), Relation.REPLACE_ONE)
CANARY = 987_654_321.125


def _table(rows=200, classes=2, features=4, seed=4, apart=2.0):
    draw = np.random.default_rng(seed)
    labels = draw.integers(0, classes, rows)
    return draw.normal(size=(rows, features)) + apart * np.eye(features)[labels], labels


def _labels(labels, answered=None, *, neighbours=ROW, epsilon="0.5", origin="secure"):
    known = np.ones(len(labels), dtype=bool) if answered is None else answered
    return Labels(np.where(known, labels, -1), known, PureEvent(neighbours, epsilon), origin)


def _half(rows=200):
    return np.arange(rows) % 2 == 0


# A number as threshold is left out: scikit-learn asks that `predict` names the class of the largest probability.
@parametrize_with_checks([Student(), Student(DecisionTreeClassifier()), Student(LinearSVC(), threshold="half")])
def test_it_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("model", [None, RandomForestClassifier(10), GaussianNB(), MLP(4, (8,)), MLP(4, (8,), 2)])
def test_a_student_of_released_labels_learns_and_promises_what_they_promise(model):
    features, truth = _table()
    ballots = np.where(np.random.default_rng(1).random((100, 200)) < 0.9, truth, 1 - truth)
    released = GumbelNoisyMax("0.1").release(Votes.from_labels(ballots, classes=2), seeded("student"))
    made = Student(model, training=QUICK, random_state=1).fit(features, released)
    assert made.score(features, truth) > 0.85
    assert made.event_ == released.event
    assert made.guarantee_.approximate("1e-5") == compose(released.event).approximate("1e-5")
    assert made.origin_ == "seeded"


def test_plain_labels_promise_nothing():
    features, truth = _table()
    made = Student().fit(features, truth)
    assert (made.event_, made.guarantee_, made.origin_) == (None, None, None)


def test_the_labels_of_the_thresholds_sample_are_paid_for_too():
    features, truth = _table()
    first, second = _labels(truth), _labels(truth, epsilon="0.25", origin="seeded")
    made = Student().fit(features, first, threshold_X=features, threshold_y=second)
    assert str(made.guarantee_.pure().epsilon) == "3/4"
    assert made.origin_ == "seeded"
    once = Student().fit(features, first, threshold_X=features, threshold_y=first)
    assert (once.event_, once.origin_) == (first.event, "secure")
    plain = Student().fit(features, truth, threshold_X=features, threshold_y=second)
    assert plain.event_ == second.event


def test_promises_about_different_units_do_not_mix():
    features, truth = _table()
    people = _labels(truth, neighbours=Neighbours(Unit.person("patient"), Relation.REPLACE_ONE))
    with pytest.raises(MixedNeighboursError):
        Student().fit(features, _labels(truth), threshold_X=features, threshold_y=people)


@pytest.mark.parametrize("model", [None, MLP(4, (8,))])
def test_rows_that_were_not_answered_have_no_part_when_dropped(model):
    features, truth = _table()
    made = Student(model, training=QUICK, random_state=1).fit(features, _labels(truth, _half()))
    alone = Student(model, training=QUICK, random_state=1).fit(features[_half()], truth[_half()])
    assert (made.predict_proba(features) == alone.predict_proba(features)).all()


def test_spreading_teaches_the_rows_that_were_not_answered():
    truth = np.repeat([0, 1], 100)
    angle = np.random.default_rng(3).uniform(0, np.pi, 200)
    moons = np.stack([np.cos(angle) * (1 - 2 * truth) + truth, np.sin(angle) * (1 - 2 * truth) + truth / 2], axis=1)
    answered = np.isin(np.arange(200), [0, 1, 2, 100, 101, 102])
    forest = RandomForestClassifier(30, random_state=0)
    spread, dropped = (
        Student(forest, unlabelled=way, random_state=0).fit(moons, _labels(truth, answered)).score(moons, truth)
        for way in ("spread", "drop")
    )
    assert spread > 0.95
    assert spread > dropped


def test_rows_that_no_label_reaches_stay_out():
    far = np.concatenate([np.zeros((20, 2)), np.full((20, 2), 50.0), np.full((20, 2), -50.0)])
    far += np.random.default_rng(2).normal(size=far.shape)
    truth = np.repeat([0, 1, 2], 20)
    found = spread(far, target(_labels(truth, truth < 2), 60, None, gaps=True))
    assert found.codes.tolist() == [0] * 20 + [1] * 20 + [-1] * 20


def test_spreading_keeps_every_answer_given():
    features, truth = _table(apart=0.0)
    found = spread(features, target(_labels(truth, _half()), 200, None, gaps=True))
    assert (found.codes[_half()] == truth[_half()]).all()
    assert set(found.codes) == {0, 1}


def test_images_have_neighbours_too():
    images = np.random.default_rng(5).normal(size=(60, 1, 4, 4))
    truth = np.arange(60) % 2
    images[truth == 1] += 3
    made = Student(CNN((1, 4, 4), (2,), 4, 1), training=QUICK, unlabelled="spread", random_state=0)
    assert made.fit(images, _labels(truth, np.arange(60) < 20)).score(images, truth) > 0.9


@pytest.mark.parametrize(
    "model",
    [
        LabelSpreading(kernel="knn"),
        LabelPropagation(kernel="knn"),
        SelfTrainingClassifier(LogisticRegression()),
        make_pipeline(StandardScaler(), LabelSpreading(kernel="knn")),
    ],
)
def test_semi_supervised_models_get_unanswered_rows_as_they_are(model):
    features, truth = _table()
    codes = np.where(_half(), truth, -1)
    alone = clone(model).fit(features, codes)
    for given_labels in (_labels(truth, _half()), codes):
        made = Student(model).fit(features, given_labels)
        assert made.classes_.tolist() == [0, 1]
        assert (made.predict_proba(features) == alone.predict_proba(features)).all()


def test_minus_one_in_plain_numbers_is_a_class_unless_it_is_to_be_spread():
    features, truth = _table()
    signs = np.where(truth == 1, 1, -1)
    assert Student().fit(features, signs).classes_.tolist() == [-1, 1]
    assert Student(unlabelled="spread").fit(features, np.where(_half(), truth, -1)).classes_.tolist() == [0, 1]


@pytest.mark.parametrize("model", [None, RandomForestClassifier(5), GaussianNB(), LinearSVC(), MLP(4, (8,))])
def test_the_threshold_maximises_the_true_less_the_false_positive_rate_on_its_sample(model):
    features, truth = _table(300, apart=1.0)
    rare = np.concatenate([np.flatnonzero(truth == 0), np.flatnonzero(truth == 1)[:15]])
    sample, sample_truth = _table(400, apart=1.0, seed=5)
    fit = Student(model, training=QUICK, random_state=1).fit
    made = fit(features[rare], truth[rare], threshold_X=sample, threshold_y=sample_truth).evaluate(sample, sample_truth)
    half = Student(model, training=QUICK, random_state=1, threshold="half").fit(features[rare], truth[rare])
    other = half.evaluate(sample, sample_truth)
    assert made.balanced_accuracy > other.balanced_accuracy


def test_the_found_threshold_is_the_best_of_all():
    features, truth = _table(120, apart=0.7)
    made = Student().fit(features, truth, threshold_X=features, threshold_y=truth)
    shares = made.predict_proba(features)[:, 1]
    gains = [np.mean(shares[truth == 1] > cut) - np.mean(shares[truth == 0] > cut) for cut in shares]
    found = made.evaluate(features, truth)
    assert found.true_positive_rate + found.true_negative_rate - 1 == pytest.approx(max(*gains, 0))
    assert (made.predict(features) == (shares > made.threshold_)).all()


def test_scores_that_round_to_the_same_probability_are_told_apart():
    features = np.array([[-900.0], [-800.0], [800.0], [900.0]])
    model = LogisticRegression(C=1e6)
    made = Student(model).fit(features, [0, 0, 1, 1], threshold_X=[[800.0], [900.0]], threshold_y=[0, 1])
    assert made.predict([[800.0], [900.0]]).tolist() == [0, 1]


def test_without_a_sample_a_networks_threshold_comes_from_its_held_out_rows():
    features, truth = _table(300, apart=1.0)
    made = Student(MLP(4, (8,)), training=QUICK, random_state=1).fit(features, truth)
    trained = made._model.groups[0].trained
    from ziggurat.pate.training import storage

    held = split_rows(truth, QUICK.held_out, storage.seeds(None, seeded(1), 1)[1])[1]
    odds = np.log(made.predict_proba(features[held])[:, 1] / made.predict_proba(features[held])[:, 0])
    assert made._rule.at == pytest.approx(best_cut(odds, truth[held]), abs=1e-6)
    assert made._rule.at != 0
    assert trained.cuts.tolist() == [0.0]


def test_a_number_is_the_probability_above_which_the_second_class_is_named():
    features, truth = _table(apart=1.0)
    for model in (None, MLP(4, (8,)), GaussianNB()):
        made = Student(model, training=QUICK, threshold=0.8, random_state=1).fit(features, truth)
        assert made.threshold_ == 0.8
        assert (made.predict(features) == (made.predict_proba(features)[:, 1] > 0.8)).all()


def test_one_half_is_what_the_model_says_itself():
    features, truth = _table(apart=1.0)
    alone = LogisticRegression().fit(features, truth)
    for threshold in ("half", "tpr-fpr"):
        made = Student(threshold=threshold).fit(features, truth)
        assert made.threshold_ == 0.5
        assert (made.predict(features) == alone.predict(features)).all()


def test_more_than_two_classes_have_no_threshold():
    features, truth = _table(classes=3)
    for model in (None, MLP(4, (8,), 3)):
        made = Student(model, training=QUICK, random_state=1)
        assert made.fit(features, truth).threshold_ is None
        assert made.score(features, truth) > 0.8
        with pytest.raises(ParameterError, match="between two classes"):
            made.fit(features, truth, threshold_X=features, threshold_y=truth)


@pytest.mark.parametrize("model", [None, LinearSVC(), LabelSpreading(), MLP(4, (8,)), MLP(4, (8,), 3)])
@pytest.mark.parametrize("unlabelled", ["drop", "spread"])
def test_a_student_of_one_class_always_names_it(model, unlabelled):
    features, _ = _table()
    made = Student(model, training=Training(epochs=1), unlabelled=unlabelled)
    made.fit(features, _labels(np.ones(200, dtype=int), _half()))
    assert set(made.predict(features)) == {1}
    sample = {"threshold_X": features, "threshold_y": np.arange(200) % 2}
    if not isinstance(model, MLP) or model.outputs == 1:
        assert set(made.fit(features, np.ones(200, dtype=int), **sample).predict(features)) == {1}


def test_text_labels_come_back_as_they_were_given():
    features, truth = _table()
    words = np.array(["ill", "well"])[truth]
    for model in (None, MLP(4, (8,)), MLP(4, (8,), 2)):
        made = Student(model, training=QUICK, random_state=1).fit(features, words)
        assert made.classes_.tolist() == ["ill", "well"]
        assert np.mean(made.predict(features) == words) > 0.85
        assert made.evaluate(features, words).classes == ("ill", "well")


def test_a_network_knows_all_its_classes_and_names_those_it_saw():
    features, truth = _table(classes=2)
    made = Student(MLP(4, (8,), 3), training=QUICK, random_state=1).fit(features, truth)
    assert made.classes_.tolist() == [0, 1, 2]
    assert (made.predict_proba(features)[:, 2] == 0).all()
    assert made.evaluate(features, truth).recall[2] is None


@pytest.mark.parametrize("model", [RandomForestClassifier(5), MLP(4, (8,), 1, 0.2)])
def test_a_random_state_makes_the_same_student_and_none_another(model):
    features, truth = _table(apart=1.0)
    first, again, other, free, freer = (
        Student(model, training=QUICK, random_state=state).fit(features, truth).predict_proba(features)
        for state in (7, 7, 8, None, None)
    )
    assert (first == again).all()
    assert (first != other).any()
    assert (free != freer).any()


def test_a_random_state_that_the_model_was_given_is_kept():
    features, truth = _table(apart=1.0)
    model = RandomForestClassifier(5, random_state=3)
    made = Student(model).fit(features, truth)
    assert (made.predict_proba(features) == model.fit(features, truth).predict_proba(features)).all()


def test_it_works_in_pipelines_searches_and_copies():
    features, truth = _table()
    pipeline = make_pipeline(StandardScaler(), Student(MLP(4, (4,)), training=QUICK, random_state=0))
    assert pipeline.fit(features, _labels(truth)).score(features, truth) > 0.85
    grid = {"model__C": [0.01, 1.0], "threshold": ["half", 0.4]}
    found = GridSearchCV(Student(LogisticRegression()), grid, cv=3, error_score="raise").fit(features, truth)
    assert found.best_score_ > 0.85
    copy = clone(pipeline[-1])
    assert (copy.model, copy.training) == (MLP(4, (4,)), QUICK)
    same = pickle.loads(pickle.dumps(pipeline))
    assert (same.predict_proba(features) == pipeline.predict_proba(features)).all()
    assert same[-1].guarantee_.pure() == pipeline[-1].guarantee_.pure()


def test_class_weights_and_epochs_of_the_training_count():
    features, truth = _table(apart=0.5)
    plain, weighted = (
        Student(MLP(4, (8,)), training=Training(epochs=10, class_weights=weights), threshold="half", random_state=0)
        .fit(features, truth)
        .evaluate(features, truth)
        for weights in (None, (1.0, 20.0))
    )
    assert weighted.true_positive_rate > plain.true_positive_rate


@pytest.mark.parametrize("model", [None, MLP(4, (8,))])
def test_progress_ends_with_everything_done(model):
    told = []
    features, truth = _table()
    Student(model, training=QUICK).fit(features, truth, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == ((15, 15) if model else (1, 1))


def test_a_model_without_probabilities_has_none_and_its_threshold_is_found_in_decisions():
    features, truth = _table()
    made = Student(LinearSVC()).fit(features, truth, threshold_X=features, threshold_y=truth)
    assert not hasattr(made, "predict_proba")
    assert made.score(features, truth) > 0.85


def test_scikit_learn_loads_with_the_first_student_and_not_before():
    code = "import sys, ziggurat.pate as pate; assert 'sklearn' not in sys.modules; pate.Student; import sklearn"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_classifier_learns_without_pytorch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    features, truth = _table()
    assert Student().fit(features, _labels(truth)).score(features, truth) > 0.85
    with pytest.raises(MissingExtraError, match="ziggurat\\[torch\\]"):
        Student(MLP(4, (8,))).fit(features, truth)


@pytest.mark.parametrize(
    ("student", "sentence"),
    [
        (Student("mlp"), "The model must be"),
        (Student(LogisticRegression), "The model must be"),
        (Student(threshold="best"), "'tpr-fpr', 'half' or a number"),
        (Student(threshold=1.0), "between 0 and 1"),
        (Student(threshold=True), "between 0 and 1"),
        (Student(LinearSVC(), threshold=0.3), "no probabilities"),
        (Student(unlabelled="keep"), "'drop' or 'spread'"),
        (Student(random_state="one"), "whole number or None"),
        (Student(MLP(4, (8,)), training=Training(class_weights=(1.0, 2.0, 3.0))), "each of the 2 classes"),
    ],
)
def test_wrong_settings_are_told_when_fitting(student, sentence):
    with pytest.raises(ParameterError, match=sentence):
        student.fit(*_table())


@pytest.mark.parametrize(
    ("sample", "threshold", "sentence"),
    [
        ({"threshold_X": [[1.0] * 4]}, "tpr-fpr", "both `threshold_X` and `threshold_y`"),
        ({"threshold_X": [[1.0] * 4], "threshold_y": [1]}, "half", "leave it out"),
        ({"threshold_X": [[1.0] * 4], "threshold_y": [7]}, "tpr-fpr", "not among those"),
        ({"threshold_X": [[1.0] * 4], "threshold_y": [0, 1]}, "tpr-fpr", "one label a row"),
        ({"threshold_X": [[1.0] * 3], "threshold_y": [0]}, "tpr-fpr", "X has 3 features"),
        ({"threshold_X": [[1.0] * 4], "threshold_y": _labels([0], np.array([False]))}, "tpr-fpr", "sample has a label"),
    ],
)
def test_a_wrong_sample_for_the_threshold_is_told(sample, threshold, sentence):
    with pytest.raises(ZigguratError, match=sentence):
        Student(threshold=threshold).fit(*_table(), **sample)


def _planted(kind):
    features, labels = _table()
    features = {
        "nan": np.where(np.arange(4) == 2, np.nan, features),
        "infinite": np.where(np.arange(4) == 2, np.inf, features),
        "text": np.full((200, 4), str(CANARY) + "x"),
        "objects": np.full((200, 4), str(CANARY) + "x", dtype=object),
        "complex": features + CANARY * 1j,
        "one axis": features[:, 0] + CANARY,
        "ragged": [[1.0, CANARY], [2.0]],
    }.get(kind, features)
    if kind == "fractions":
        labels = labels + CANARY + np.arange(200) / 7
    if kind == "short labels":
        labels = labels[:-1]
    if kind == "short released":
        labels = _labels(labels[:-1])
    if kind == "none answered":
        labels = _labels(labels, np.zeros(200, dtype=bool))
    if kind == "no labels":
        labels = None
    if kind == "mixed labels":
        labels = np.array([*["x987"] * 100, *[None] * 100], dtype=object)
    return features, labels


KINDS = ["nan", "infinite", "text", "objects", "complex", "one axis", "ragged", "fractions", "short labels"]
KINDS += ["short released", "none answered", "no labels", "mixed labels"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", [None, MLP(4, (8,))])
def test_bad_rows_are_refused_in_one_sentence_that_shows_no_cell(model, kind):
    features, labels = _planted(kind)
    with pytest.raises(DataError) as caught:
        Student(model).fit(features, labels)
    assert "987" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (np.arange(200) % 3, "outside 0 to 1"),
        (np.arange(200) % 2 - 1, "outside 0 to 1"),
        (np.array(["a", "b", "c"])[np.arange(200) % 3], "3 classes of labels; this network tells 2 apart"),
        (_labels(np.arange(200) % 3), "outside 0 to 1"),
    ],
)
def test_labels_that_a_network_cannot_name_are_refused(labels, sentence):
    with pytest.raises(DataError, match=sentence):
        Student(MLP(4, (8,))).fit(_table()[0], labels)


def test_a_model_that_fails_shows_no_cell():
    class Failing(LogisticRegression):
        def fit(self, *rows):
            raise ValueError(f"cannot use {CANARY}")

    with pytest.raises(DataError, match="ValueError") as caught:
        Student(Failing()).fit(*_table())
    assert str(CANARY) not in str(caught.value)


anything = st.recursive(
    st.none() | st.integers(-3, 3) | st.floats() | st.text(max_size=3) | st.booleans(),
    lambda inner: st.lists(inner, max_size=4),
)


@settings(max_examples=100, deadline=None)
@given(anything, anything)
def test_whatever_is_given_is_learned_from_or_refused_with_a_type_that_scikit_learn_knows(features, labels):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made = Student().fit(features, labels)
        except (DataError, TypeError):
            return
    assert len(made.predict(features)) == len(labels)

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from torch import nn

from ziggurat.data import Unit
from ziggurat.errors import ArtefactError, DataError, ParameterError, ZigguratError
from ziggurat.pate import CNN, MLP, Network, Partition, Placement, RandomSearch, Teachers, Training
from ziggurat.pate.training import check_features, check_labels
from ziggurat.randomness import seeded

QUICK = Training(epochs=6, batch=16, learning_rate=0.01)
CANARY = 987_654_321.125


def _table(rows=240, classes=3, features=6):
    draw = np.random.default_rng(4)
    labels = draw.integers(0, classes, rows)
    return draw.normal(size=(rows, features)) + 2 * np.eye(features)[labels], labels


def _fitted(teacher, rows=240, classes=3, teachers=4, **options):
    features, labels = _table(rows, classes)
    partition = Partition.by_record(rows, teachers, source=seeded(1))
    declared = {} if isinstance(teacher, Network) else {"classes": classes}
    made = Teachers(teacher, training=QUICK, **declared, **options)
    return made.fit(features, labels, partition, source=seeded(2)), features, labels


def test_votes_are_a_matrix_of_teachers_by_rows_and_mostly_right():
    made, features, labels = _fitted(MLP(6, (16,), 3))
    votes = made.votes(features)
    assert votes.shape == (4, 240)
    assert votes.dtype == np.int64
    assert (votes == labels).mean() > 0.8


@pytest.mark.parametrize("teacher", [MLP(6, (16,)), MLP(6, (16,), 3), RandomForestClassifier(5), LogisticRegression()])
def test_probabilities_add_up_and_name_what_the_votes_do(teacher):
    classes = 2 if teacher == MLP(6, (16,)) else 3
    made, features, _ = _fitted(teacher, classes=classes)
    shares = made.probabilities(features)
    assert shares.shape == (4, 240, classes)
    np.testing.assert_allclose(shares.sum(-1), 1)
    if classes > 2:
        assert (shares.argmax(-1) == made.predict(features)).all()


@pytest.mark.parametrize("teacher", [MLP(6, (8,), 3), RandomForestClassifier(5), LinearSVC()])
def test_a_seed_repeats_every_vote(teacher):
    first, again = (_fitted(teacher) for _ in range(2))
    assert (first[0].predict(first[1]) == again[0].predict(again[1])).all()
    assert first[0].origin_ == "seeded"


@pytest.mark.parametrize("teacher", [MLP(6, (8,), 3, 0.2), RandomForestClassifier(5)])
def test_more_rows_for_one_teacher_change_no_vote_of_another_by_a_bit(teacher):
    features, labels = _table(260)
    options = {} if isinstance(teacher, Network) else {"classes": 3}
    answers = []
    for extra in (0, 60):
        lists = [np.arange(at, 200, 4) for at in range(4)]
        lists[1] = np.concatenate([lists[1], np.arange(200, 200 + extra)])
        partition = Partition.given(lists, 260, source=seeded(3))
        made = Teachers(teacher, training=QUICK, **options).fit(features, labels, partition, source=seeded(2))
        answers.append(made.probabilities(features))
    assert (answers[0][[0, 2, 3]] == answers[1][[0, 2, 3]]).all()
    assert (answers[0][1] != answers[1][1]).any()


@pytest.mark.parametrize("teacher", [MLP(6, (8,), 3), LogisticRegression()])
def test_a_class_missing_in_a_teachers_rows_is_never_named_by_it(teacher):
    features, labels = _table()
    order = np.argsort(labels, kind="stable")
    lists = [order[: (labels < 2).sum()], order[(labels < 2).sum() :]]
    options = {} if isinstance(teacher, Network) else {"classes": 3}
    made = Teachers(teacher, training=QUICK, **options)
    made.fit(features, labels, Partition.given(lists, 240), source=seeded(1))
    named = made.predict(features)
    assert set(named[0]) == {0, 1}
    assert set(named[1]) == {2}
    assert (made.probabilities(features)[1] == [0, 0, 1]).all()


def test_a_teacher_with_one_class_of_two_always_names_it():
    features, _ = _table(features=6)
    labels = (np.arange(240) < 120).astype(int)
    made = Teachers(MLP(6, (8,)), training=QUICK)
    made.fit(features, labels, Partition.given([np.arange(120), np.arange(120, 240)], 240))
    assert (made.predict(features) == [[1], [0]]).all()
    assert made.origin_ == "secure"


def test_a_convolutional_network_learns_images():
    draw = np.random.default_rng(5)
    labels = draw.integers(0, 2, 300)
    images = draw.normal(size=(300, 1, 8, 8)) + 3 * np.eye(8)[None, None] * labels[:, None, None, None]
    partition = Partition.by_record(300, 3, source=seeded(1))
    made = Teachers(CNN((1, 8, 8), (4,), 16, 2), training=QUICK).fit(images, labels, partition, source=seeded(2))
    assert (made.predict(images) == labels).mean() > 0.9


def _own() -> nn.Module:
    return nn.Sequential(nn.Linear(6, 8), nn.LayerNorm(8), nn.Tanh(), nn.Linear(8, 3))


@pytest.mark.parametrize(
    "teacher",
    [MLP(6, (8,), 3), Network.of(_own, shape=(6,), outputs=3), RandomForestClassifier(5), LogisticRegression()],
)
def test_saved_teachers_come_back_with_every_answer(teacher, tmp_path):
    made, features, _ = _fitted(teacher)
    made.save(tmp_path / "ensemble")
    own = teacher if type(teacher).__name__ == "FactoryNetwork" else None
    loaded = Teachers.load(tmp_path / "ensemble", network=own)
    assert (loaded.probabilities(features) == made.probabilities(features)).all()
    assert (loaded.predict(features) == made.predict(features)).all()
    assert (loaded.manifest_, loaded.origin_, loaded.classes) == (made.manifest_, "seeded", 3)


def test_a_searched_ensemble_of_several_widths_comes_back(tmp_path):
    search = RandomSearch(4, hidden=((3,), (20,)))
    made, features, _ = _fitted(MLP(6, (2,), 3), search=search)
    made.save(tmp_path)
    assert (Teachers.load(tmp_path).predict(features) == made.predict(features)).all()


def test_saving_again_leaves_the_new_teachers_alone_in_the_folder(tmp_path):
    for seed in (1, 2):
        made, features, _ = _fitted(MLP(6, (seed,), 3))
        made.save(tmp_path)
    assert len(list(tmp_path.iterdir())) == 2
    assert (Teachers.load(tmp_path).predict(features) == made.predict(features)).all()


def test_damaged_and_foreign_folders_are_refused(tmp_path):
    with pytest.raises(ArtefactError, match="no readable teachers"):
        Teachers.load(tmp_path)
    _fitted(MLP(6, (3,), 3))[0].save(tmp_path)
    part = next(tmp_path.glob("part-*"))
    part.write_bytes(part.read_bytes()[:-1] + b"?")
    with pytest.raises(ArtefactError, match="damaged"):
        Teachers.load(tmp_path)
    (tmp_path / "teachers.json").write_text(json.dumps({"format": "other"}))
    with pytest.raises(ArtefactError, match="another version"):
        Teachers.load(tmp_path)


def test_progress_ends_with_everything_done():
    told = []
    features, labels = _table()
    partition = Partition.by_record(240, 4, balanced=True, source=seeded(1))
    Teachers(MLP(6, (4,), 3), training=Training(epochs=9, patience=1, batch=8, learning_rate=0.1)).fit(
        features, labels, partition, source=seeded(2), progress=lambda done, total: told.append((done, total))
    )
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1] == (36, 36)


def test_by_person_all_rows_of_a_person_teach_one_teacher():
    features, labels = _table()
    people = np.random.default_rng(6).integers(0, 40, 240)
    partition = Partition.by_unit(people, 5, unit=Unit.person("patient"), source=seeded(1))
    made = Teachers(MLP(6, (8,), 3), training=QUICK).fit(features, labels, partition, source=seeded(2))
    assert made.predict(features).shape == (5, 240)
    partition.verify(made.manifest_)


def _planted(kind):
    features, labels = _table()
    if kind == "nan":
        features[3, 2] = np.nan
    if kind == "infinite in float32":
        features[3, 2] = 1e300
    if kind == "text":
        features = features.astype(str)
    if kind == "objects":
        features = features.astype(object)
        features[0, 0] = str(CANARY)
    if kind == "ragged":
        features = [[1.0, CANARY], [2.0]]
    if kind == "columns":
        features = features[:, :5]
    if kind == "one axis":
        features = features[:, 0]
    if kind == "string labels":
        labels = labels.astype(str)
    if kind == "fractions":
        labels = labels + CANARY
    if kind == "a class too many":
        labels = labels + 987_654_321
    if kind == "short labels":
        labels = labels[:-1]
    return features, labels


KINDS = ["nan", "infinite in float32", "text", "objects", "ragged", "columns", "one axis"]
KINDS += ["string labels", "fractions", "a class too many", "short labels"]


@pytest.mark.parametrize("kind", KINDS)
def test_bad_rows_are_refused_in_one_sentence_that_shows_no_cell(kind):
    features, labels = _planted(kind)
    made = Teachers(MLP(6, (4,), 3))
    with pytest.raises(DataError) as caught:
        made.fit(features, labels, Partition.by_record(240, 4, source=seeded(1)))
    assert "987" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_partition_of_another_table_is_refused():
    features, labels = _table()
    for wrong in (Partition.by_record(241, 4), [[0], [1]], None):
        with pytest.raises(DataError, match="a Partition of these 240 rows"):
            Teachers(MLP(6, (4,), 3)).fit(features, labels, wrong)


def test_a_classifier_that_fails_shows_no_cell():
    class Failing(LogisticRegression):
        def fit(self, *rows):
            raise ValueError(f"cannot use {CANARY}")

    features, labels = _table()
    with pytest.raises(DataError, match="ValueError") as caught:
        Teachers(Failing(), classes=3).fit(features, labels, Partition.by_record(240, 4))
    assert str(CANARY) not in str(caught.value)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Teachers(MLP(6, (4,)), classes=3), "leave `classes` out"),
        (lambda: Teachers(LogisticRegression()), "must be public"),
        (lambda: Teachers(LogisticRegression, classes=2), "scikit-learn classifier"),
        (lambda: Teachers("mlp", classes=2), "scikit-learn classifier"),
        (lambda: _fitted(MLP(6, (4,), 3), placement=Placement(devices=("cuda:99",))), "no device 'cuda:99'"),
        (lambda: _fitted(MLP(6, (4,), 3), placement=Placement(devices=("tpu",))), "no device 'tpu'"),
        (lambda: _fitted(MLP(6, (4,), 3), placement=Placement(("cuda",), executor="ray")), "make a `chunk`"),
        (lambda: Teachers(LinearSVC(), classes=3).predict([[1.0]]), "call `fit` first"),
        (lambda: (lambda made: made[0].probabilities(made[1]))(_fitted(LinearSVC())), "no probabilities"),
    ],
)
def test_misuse_is_told_in_a_sentence(make, sentence):
    with pytest.raises((ParameterError, DataError), match=sentence):
        make()


def test_class_weights_need_one_number_for_each_class():
    features, labels = _table()
    made = Teachers(MLP(6, (4,), 3), training=Training(class_weights=(1.0, 2.0)))
    with pytest.raises(ParameterError, match="each of the 3 classes"):
        made.fit(features, labels, Partition.by_record(240, 4))


anything = st.recursive(
    st.none() | st.integers() | st.floats() | st.text(max_size=3) | st.booleans(),
    lambda inner: st.lists(inner, max_size=4),
)


@settings(max_examples=150, deadline=None)
@given(anything, anything)
def test_whatever_is_given_as_rows_is_finite_numbers_or_refused(features, labels):
    try:
        rows = check_features(features, None)
        truth = check_labels(labels, len(rows), 3)
    except ZigguratError:
        return
    assert np.isfinite(rows).all()
    assert rows.ndim >= 2
    assert set(truth) <= {0, 1, 2}


@pytest.mark.parametrize("teacher", [MLP(6, (8,), 3), LogisticRegression(), RandomForestClassifier(5)])
def test_a_fingerprint_tells_teachers_apart_and_survives_a_file(teacher, tmp_path):
    made, again, other = (_fitted(teacher, teachers=number)[0] for number in (4, 4, 5))
    made.save(tmp_path)
    assert made.fingerprint_ == again.fingerprint_ == Teachers.load(tmp_path).fingerprint_ != other.fingerprint_


def test_without_the_salts_of_the_manifest_a_fingerprint_checks_no_guess():
    features, labels = _table()
    partitions = [Partition.given([np.arange(120), np.arange(120, 240)], 240, source=seeded(salt)) for salt in "ab"]
    fitted = [
        Teachers(LogisticRegression(), classes=3).fit(features, labels, each, source=seeded(2)) for each in partitions
    ]
    assert (fitted[0].predict(features) == fitted[1].predict(features)).all()
    assert fitted[0].fingerprint_ != fitted[1].fingerprint_


@pytest.mark.parametrize("teacher", [MLP(6, (8,), 3), LogisticRegression()])
def test_features_of_another_width_are_refused_before_anybody_is_asked(teacher):
    made, features, _ = _fitted(teacher)
    with pytest.raises(DataError, match="shape"):
        made.check(features[:, :5])
    with pytest.raises(DataError, match="shape"):
        made.predict(features[:, :5])


@pytest.mark.parametrize("teacher", [MLP(4, (8,)), DecisionTreeClassifier()], ids=["network", "classifier"])
def test_a_teacher_without_rows_always_names_the_first_class(teacher):
    rows = np.random.default_rng(3).normal(size=(40, 4)).astype(np.float32)
    split = Partition.by_record(40, 30, balanced=False, source=seeded(4))
    empty = [number for number, own in enumerate(split.rows) if own.size == 0]
    assert empty
    ensemble = Teachers(teacher, classes=2, training=Training(epochs=1, held_out=0))
    fitted = ensemble.fit(rows, np.ones(40, dtype=int), split, source=seeded(5))
    named = fitted.predict(rows)
    assert not named[empty].any()
    assert named[[number for number in range(30) if number not in empty]].all()
    assert np.allclose(fitted.probabilities(rows).sum(axis=2), 1)

import json

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from torch import nn

from ziggurat.data import Unit
from ziggurat.errors import ArtefactError, ParameterError
from ziggurat.pate import CNN, MLP, Labels, Network, Partition, Student, Teachers, Training
from ziggurat.privacy import Neighbours, PureEvent, Relation

ROW = Neighbours(Unit.row(), Relation.REPLACE_ONE)
QUICK = Training(epochs=3, batch=16, class_weights=(1.0, 2.0))


def _own() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 6), nn.LayerNorm(6), nn.Tanh(), nn.Linear(6, 1))


OWN = Network.of(_own, shape=(4,), outputs=1)


def _table():
    draw = np.random.default_rng(4)
    truth = draw.integers(0, 2, 120)
    return draw.normal(size=(120, 4)) + np.eye(4)[truth], truth


def _fitted(model, **options):
    features, truth = _table()
    labels = Labels(truth, np.ones(120, dtype=bool), PureEvent(ROW, "0.5"), "secure")
    made = Student(model, training=QUICK, random_state=1, **options)
    threshold = options.get("threshold", "tpr-fpr")
    sample = {"threshold_X": features, "threshold_y": truth} if threshold == "tpr-fpr" else {}
    return made.fit(features, labels, **sample), features


@pytest.mark.parametrize("model", [None, RandomForestClassifier(5), LinearSVC(), MLP(4, (6,)), OWN])
@pytest.mark.parametrize("threshold", ["tpr-fpr", "half"])
def test_a_saved_student_comes_back_with_every_answer(model, threshold, tmp_path):
    made, features = _fitted(model, threshold=threshold)
    made.save(tmp_path)
    loaded = Student.load(tmp_path, network=OWN if model is OWN else None)
    assert (loaded.predict(features) == made.predict(features)).all()
    if hasattr(made, "predict_proba"):
        assert (loaded.predict_proba(features) == made.predict_proba(features)).all()
    for name in ("threshold_", "event_", "origin_", "n_features_in_", "training", "threshold", "random_state"):
        assert getattr(loaded, name) == getattr(made, name)
    assert loaded.guarantee_.pure() == made.guarantee_.pure()


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [3, 7], np.array(["a", "b"], dtype=object)])
def test_classes_of_any_kind_and_names_of_columns_come_back(labels, tmp_path):
    import pandas as pd

    features, truth = _table()
    frame = pd.DataFrame(features, columns=list("abcd"))
    made = Student(threshold=0.3).fit(frame, np.asarray(labels)[truth])
    made.save(tmp_path)
    loaded = Student.load(tmp_path)
    assert loaded.classes_.dtype == made.classes_.dtype
    assert (loaded.predict(frame) == made.predict(frame)).all()
    assert loaded.feature_names_in_.tolist() == list("abcd")
    assert (loaded.event_, loaded.guarantee_, loaded.origin_) == (None, None, None)


@pytest.mark.parametrize("model", [LogisticRegression(), MLP(4, (6,))])
def test_a_student_of_one_class_comes_back(model, tmp_path):
    features, _ = _table()
    Student(model, training=QUICK).fit(features, np.ones(120, dtype=int)).save(tmp_path)
    assert set(Student.load(tmp_path).predict(features)) == {1}


def test_images_come_back(tmp_path):
    images = np.random.default_rng(2).normal(size=(40, 1, 4, 4))
    made = Student(CNN((1, 4, 4), (2,), 4, 3), training=Training(epochs=1)).fit(images, np.arange(40) % 3)
    made.save(tmp_path)
    assert (Student.load(tmp_path).predict(images) == made.predict(images)).all()


def test_only_the_owner_can_read_it_and_nothing_old_stays(tmp_path):
    for seed in (1, 2):
        made, features = _fitted(MLP(4, (seed,)))
        made.save(tmp_path)
    assert len(list(tmp_path.iterdir())) == 2
    assert {path.stat().st_mode & 0o077 for path in tmp_path.iterdir()} == {0}
    (tmp_path / "student-notes.txt").write_text("by the user")
    made.save(tmp_path)
    assert len(list(tmp_path.iterdir())) == 3
    assert (Student.load(tmp_path).predict(features) == made.predict(features)).all()


def test_teachers_and_their_student_may_share_a_folder(tmp_path):
    made, features = _fitted(MLP(4, (6,)))
    teachers = Teachers(MLP(4, (3,)), training=QUICK).fit(features, _table()[1], Partition.by_record(120, 3))
    for one in (made, teachers, made):
        one.save(tmp_path)
    assert (Teachers.load(tmp_path).predict(features) == teachers.predict(features)).all()
    assert (Student.load(tmp_path).predict(features) == made.predict(features)).all()


def test_damaged_and_foreign_folders_are_refused(tmp_path):
    with pytest.raises(ArtefactError, match="no readable student"):
        Student.load(tmp_path)
    _fitted(MLP(4, (3,)))[0].save(tmp_path)
    index, part = tmp_path / "student.json", next(tmp_path.glob("student-*"))
    facts, content = json.loads(index.read_text()), part.read_bytes()
    part.write_bytes(content[:-1] + b"?")
    with pytest.raises(ArtefactError, match="damaged"):
        Student.load(tmp_path)
    part.write_bytes(content)
    for change in ({"format": "other"}, {"classes": None}, {"settings": {}}):
        index.write_text(json.dumps({**facts, **change}))
        with pytest.raises(ArtefactError, match=r"another version|is damaged"):
            Student.load(tmp_path)


def test_what_cannot_be_stored_without_code_is_refused(tmp_path):
    class Mine(LogisticRegression):
        pass

    with pytest.raises(ArtefactError):
        _fitted(Mine())[0].save(tmp_path)
    _fitted(OWN)[0].save(tmp_path)
    with pytest.raises(ParameterError, match="give it as `network`"):
        Student.load(tmp_path)

import json
import stat
from fractions import Fraction

import numpy as np
import pytest

from ziggurat.errors import ArtefactError, DataError
from ziggurat.learn import ElasticNet, LogisticRegression, Ridge


def _rows(n=60):
    draw = np.random.default_rng(3)
    features = draw.uniform(-1, 1, (n, 2))
    return features, features @ [1.0, -0.5]


def _fitted(**options):
    return Ridge(0.5, bounds=([-1, -1], (1, 1)), y_bounds=(-2, 2), epsilon="1/3", random_state=4, **options).fit(
        *_rows()
    )


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("model", [Ridge, ElasticNet])
def test_a_loaded_model_predicts_and_promises_the_same(tmp_path, model):
    features, target = _rows()
    made = model(epsilon=Fraction(1, 3), random_state=4, bounds=(-1, np.ones(2)), y_bounds=(-2, 2)).fit(
        features, target
    )
    made.save(tmp_path / "model.npz")
    back = model.load(tmp_path / "model.npz")
    assert np.array_equal(back.predict(features), made.predict(features))
    assert (back.event_, back.origin_, back.epsilon) == (made.event_, made.origin_, Fraction(1, 3))
    assert back.guarantee_ == made.guarantee_


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_labels_of_text_come_back(tmp_path):
    features, target = _rows()
    labels = np.where(target > 0, "yes", "no").astype(object)
    made = LogisticRegression(random_state=1, bounds=(-1, 1), classes=["no", "yes"]).fit(features, labels)
    made.save(tmp_path / "model")
    assert np.array_equal(LogisticRegression.load(tmp_path / "model").predict(features), made.predict(features))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_only_the_owner_may_read_the_file(tmp_path):
    _fitted().save(tmp_path / "model")
    assert stat.S_IMODE((tmp_path / "model").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_foreign_a_damaged_or_a_missing_file_is_refused_in_one_sentence(tmp_path):
    path = tmp_path / "model"
    _fitted().save(path)
    with pytest.raises(ArtefactError, match="not a LogisticRegression"):
        LogisticRegression.load(path)
    whole = path.read_bytes()
    for content in (b"", b"text", whole[: len(whole) // 2], whole[:200] + b"\x00" * 40 + whole[240:]):
        path.write_bytes(content)
        with pytest.raises(ArtefactError, match="no readable model"):
            Ridge.load(path)
    with pytest.raises(ArtefactError):
        Ridge.load(tmp_path / "absent")


def test_nothing_but_fitted_attributes_can_be_set_by_a_file(tmp_path):
    index = {"format": "ziggurat/learn/1", "class": "Ridge", "parameters": {}, "fitted": {"fit": 1}}
    np.savez(tmp_path / "model.npz", model=np.array(json.dumps(index)))
    with pytest.raises(ArtefactError):
        Ridge.load(tmp_path / "model.npz")


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_cannot_be_stored_or_written_is_said(tmp_path):
    made = _fitted()
    with pytest.raises(DataError, match="could not be written"):
        made.save(tmp_path / "absent" / "model")
    made.clip_norm = object()
    with pytest.raises(ArtefactError, match="without code"):
        made.save(tmp_path / "model")


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_file_that_does_not_say_what_the_model_cost_is_refused(tmp_path):
    _fitted().save(tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz") as held:
        arrays = dict(held)
    index = json.loads(str(arrays["model"]))
    del index["fitted"]["event_"]
    np.savez(tmp_path / "silent.npz", **{**arrays, "model": np.array(json.dumps(index))})
    with pytest.raises(ArtefactError, match="no readable model"):
        Ridge.load(tmp_path / "silent.npz")

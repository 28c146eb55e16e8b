"""How many questions copy a model: what is solved, what is learned, and that it is never a verdict."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import LinearSVC

from ziggurat.attacks.models import AttackedModel, draw_within, extract_model
from ziggurat.errors import DataError, ParameterError

DRAW = np.random.default_rng(0)
X = DRAW.normal(size=(300, 6))
VALUE = X[:, 0] * X[:, 1] + X[:, 2]
ASK = draw_within([[-3] * 6, [3] * 6])


@pytest.mark.parametrize(
    "model",
    [LogisticRegression().fit(X, VALUE > 0), LogisticRegression().fit(X, np.digitize(VALUE, [-1, 1])),
     LinearRegression().fit(X, VALUE)],
    ids=["two classes", "three classes", "numbers"],
)  # fmt: skip
def test_a_linear_model_is_solved_for_by_a_handful_of_questions(model):
    found = extract_model(AttackedModel.of(model), ASK, questions=(10,), unseen=300, random_state=1)
    (point,) = found.points
    assert (point.copy, point.agreement.rate) == ("equations", 1.0)
    assert point.distance < 1e-6
    assert found.needed == {"90%": 10, "95%": 10, "99%": 10}
    assert "99% after 10 questions" in found.sentence


def test_more_questions_copy_a_forest_better_and_chance_copies_it_little():
    forest = RandomForestClassifier(30, random_state=0).fit(X, VALUE > 0)
    found = extract_model(AttackedModel.of(forest), ASK, questions=(400, 20), random_state=1)
    few, many = found.points
    assert (few.questions, many.questions) == (20, 400)
    assert many.agreement.low > few.agreement.rate
    assert many.distance < few.distance
    assert few.agreement.rate > found.constant.high


def test_what_answers_at_random_is_not_copied():
    """The negative control: a copy of noise agrees no more often than its most common answer."""
    noise = np.random.default_rng(1)
    model = AttackedModel(lambda rows: np.eye(2)[(noise.random(len(rows)) < 0.7).astype(int)], labels_only=True)
    found = extract_model(model, ASK, questions=(100,), random_state=1)
    assert found.points[0].agreement.rate <= found.constant.high
    assert found.needed == {"90%": None, "95%": None, "99%": None}
    assert "none of them copied it" in found.sentence


def test_classes_alone_are_copied_too_and_choosing_questions_helps():
    named = AttackedModel.of(LinearSVC().fit(X, VALUE > 0))
    assert named.labels_only
    plain, chosen = (
        extract_model(named, ASK, questions=(60,), adaptive=adaptive, unseen=2000, random_state=1).points[0].agreement
        for adaptive in (False, True)
    )
    assert chosen.low > plain.rate > 0.85


def test_a_model_is_asked_no_more_than_was_said():
    asked = []

    def answer(rows):
        asked.append(len(rows))
        return np.column_stack([rows[:, 0] > 0, rows[:, 0] <= 0]).astype(float)

    extract_model(AttackedModel(answer), ASK, questions=(15, 30), unseen=50, adaptive=True, random_state=1)
    assert sum(asked) == 30 + 50


def test_a_pool_is_asked_in_parts_and_the_rest_is_unseen():
    model = AttackedModel.of(LinearRegression().fit(X, VALUE))
    found = extract_model(model, X, questions=(20,), random_state=1)
    assert found.points[0].agreement.trials == 280
    with pytest.raises(DataError, match="left unseen"):
        extract_model(model, X, questions=(295,))


def test_the_same_seed_gives_the_same_finding_and_the_same_picture():
    model = AttackedModel.of(LogisticRegression().fit(X, VALUE > 0))
    one, two = (extract_model(model, ASK, questions=(10, 20), unseen=50, random_state=3) for _ in range(2))
    assert one == two
    assert one.draw() == two.draw()
    assert one.draw().startswith(b"<?xml")
    assert one.draw("png").startswith(b"\x89PNG")
    assert one.table.num_rows == 2
    assert json.loads(json.dumps(one.to_dict()))["columns"] == 6
    assert not hasattr(one, "verdict")


def test_progress_is_told():
    told = []
    model = AttackedModel.of(LinearRegression().fit(X, VALUE))
    extract_model(model, ASK, questions=(10, 20), unseen=20, random_state=1, progress=lambda *how: told.append(how))
    assert told == [("copying", 0, 2), ("copying", 1, 2)]


@pytest.mark.parametrize("questions", [(), (5,), (0,), (True,)])
def test_too_few_questions_are_refused(questions):
    with pytest.raises(ParameterError):
        extract_model(AttackedModel(lambda rows: rows[:, 0], "numbers"), ASK, questions=questions)


def test_bounds_and_pictures_that_make_no_sense_are_refused():
    with pytest.raises(ParameterError, match="two rows"):
        draw_within([[1.0], [0.0]])
    found = extract_model(AttackedModel(lambda rows: rows[:, 0], "numbers"), ASK, questions=(10,), unseen=20)
    with pytest.raises(ParameterError, match="'svg' or 'png'"):
        found.draw("gif")

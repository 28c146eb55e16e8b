"""Networks trained privately: scikit-learn's contract, the planned event, and accuracy."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from sklearn.base import clone  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import FunctionTransformer  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402
from torch import nn  # noqa: E402

from ziggurat.errors import DataError, NotPublicError, ParameterError, ZigguratError  # noqa: E402
from ziggurat.learn import PrivateSGDClassifier, PrivateSGDRegressor  # noqa: E402

# With so large a batch all rows take part in every step, which is fast to calibrate.
SMALL: dict[str, Any] = {
    "epsilon": 10, "epochs": 9, "batch": 10_000, "hidden": (4,), "expected_rows": 300, "random_state": 0,
}  # fmt: skip


def separable(rows: int = 3000) -> tuple[Any, Any]:
    draw = np.random.default_rng(0)
    features = draw.uniform(-1, 1, (rows, 6))
    return features, (features[:, 0] + features[:, 1] / 2 + 0.2 * draw.standard_normal(rows) > 0).astype(int)


@pytest.fixture(scope="module")
def trained() -> PrivateSGDClassifier:
    model = PrivateSGDClassifier(epsilon=3, classes=2, epochs=15, expected_rows=3000, random_state=1)
    return model.fit(*separable())


def test_accuracy_at_epsilon_3_is_close_to_that_without_privacy(trained: PrivateSGDClassifier) -> None:
    features, labels = separable()
    without = LogisticRegression().fit(features, labels).score(features, labels)
    assert trained.score(features, labels) > without - 0.03


def test_fitting_does_what_was_planned_and_costs_at_most_epsilon(trained: PrivateSGDClassifier) -> None:
    assert trained.event_ == trained.planned(3000, 6) == trained.planned(0, 6)
    assert 3 * 0.99 < trained.guarantee_.epsilon <= 3
    assert str(trained.event_.neighbours.relation) == "add-or-remove-one"
    assert (trained.origin_, trained.rehearsal_) == ("seeded", True)


def test_a_seeded_training_repeats_itself_and_a_secure_one_does_not() -> None:
    features, labels = separable(200)

    def learned(state: int | None) -> Any:
        model = PrivateSGDClassifier(classes=2, **(SMALL | {"random_state": state}))
        return model.fit(features, labels).weights_["0.weight"]

    assert np.array_equal(learned(3), learned(3))
    assert not np.array_equal(learned(3), learned(4))
    assert not np.array_equal(learned(None), learned(None))


def test_a_saved_model_answers_as_before(trained: PrivateSGDClassifier, tmp_path: Path) -> None:
    features, _ = separable(100)
    trained.save(tmp_path / "model")
    again = PrivateSGDClassifier.load(tmp_path / "model")
    copied = pickle.loads(pickle.dumps(trained))
    for model in (again, copied):
        assert np.array_equal(model.predict_proba(features), trained.predict_proba(features))
        assert model.event_ == trained.event_


def test_a_module_of_ones_own_has_to_be_given_again(tmp_path: Path) -> None:
    features, labels = separable(200)
    module = nn.Sequential(nn.Linear(6, 4), nn.LayerNorm(4), nn.ReLU(), nn.Linear(4, 2))
    before = {name: value.clone() for name, value in module.state_dict().items()}
    model = PrivateSGDClassifier(module, classes=2, **SMALL).fit(features, labels)
    assert all(torch.equal(value, before[name]) for name, value in module.state_dict().items())
    model.save(tmp_path / "model")
    with pytest.raises(ParameterError, match="module of your own"):
        PrivateSGDClassifier.load(tmp_path / "model")
    again = PrivateSGDClassifier.load(tmp_path / "model", module=module)
    assert np.array_equal(again.predict_proba(features), model.predict_proba(features))


def test_a_factory_gets_the_numbers_of_inputs_and_outputs() -> None:
    features, labels = separable(200)
    names = np.array(["no", "perhaps", "yes"])
    model = PrivateSGDClassifier(nn.Linear, classes=["yes", "no", "perhaps"], **SMALL).fit(features, names[2 * labels])
    assert model.weights_["weight"].shape == (3, 6)
    assert model.predict_proba(features).sum(1) == pytest.approx(1)
    assert set(model.predict(features)) <= set(names)


def test_regression_learns_within_public_bounds() -> None:
    features, _ = separable()
    target = 50 + 20 * features[:, 0] - 10 * features[:, 2]
    given: dict[str, Any] = {"y_bounds": (20, 80), "epochs": 15, "expected_rows": 2500, "random_state": 1}
    model = PrivateSGDRegressor(epsilon=3, **given).fit(features, target)
    assert model.score(features, target) > 0.85


def test_features_beyond_the_bounds_are_clipped() -> None:
    features, labels = separable(300)
    one = PrivateSGDClassifier(classes=2, bounds=(-1, 1), **SMALL).fit(features, labels)
    far = np.where(features == features.max(0), 1e300, features)
    edge = np.where(features == features.max(0), 1.0, features)
    assert np.array_equal(one.predict_proba(far), one.predict_proba(edge))


def test_a_training_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    features, labels = separable(300)
    model = PrivateSGDClassifier(classes=2, checkpoint=tmp_path / "run", checkpoint_every=3, **SMALL)

    def stop(done: int, _of: int) -> None:
        if done == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit(features, labels, progress=stop)
    told: list[int] = []
    model.fit(features, labels, progress=lambda done, _of: told.append(done))
    assert told[0] == 9
    whole = clone(model).set_params(checkpoint=None).fit(features, labels)
    assert all(np.array_equal(value, model.weights_[name]) for name, value in whole.weights_.items())
    assert model.event_ == whole.event_


def test_a_checkpoint_is_of_its_rows_and_labels_alone(tmp_path: Path) -> None:
    features, labels = separable(300)
    model = PrivateSGDClassifier(classes=2, checkpoint=tmp_path / "run", **(SMALL | {"random_state": None}))
    first = model.fit(features, labels).weights_
    for other in [(features, 1 - labels), (features + 1e-3, labels), (features[::-1], labels[::-1])]:
        with pytest.raises(DataError, match="other rows"):
            clone(model).fit(*other)
    again = clone(model).fit(features, labels).weights_
    assert all(np.array_equal(value, again[name]) for name, value in first.items())


class Extremes(nn.Module):
    """Keeps what is beyond anything that a trial shows."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.full((6,), 50.0))

    def forward(self, rows: Any) -> Any:
        self.seen = torch.maximum(self.seen, rows.detach().abs().amax(0))
        return rows


def test_buffers_leave_as_they_were_before_training() -> None:
    features, labels = separable(200)
    features[7] = 1234.0
    module = nn.Sequential(Extremes(), nn.Linear(6, 2))
    model = PrivateSGDClassifier(module, classes=2, **SMALL).fit(features, labels)
    assert model.weights_["0.seen"].tolist() == [50.0] * 6
    assert model.predict(features).shape == (200,)


def test_classes_must_be_declared() -> None:
    with pytest.raises(NotPublicError, match="Declare the classes"):
        PrivateSGDClassifier(expected_rows=50).fit(*separable(50))


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 0}, {"delta": 0}, {"delta": 1}, {"batch": 0}, {"epochs": 0}, {"clip": 0}, {"learning_rate": -1},
        {"optimiser": "lbfgs"}, {"momentum": 1}, {"microbatch": 0}, {"hidden": (0,)}, {"bounds": (1, 0)},
        {"classes": 1}, {"classes": [0, 0]}, {"classes": 3, "module": nn.Linear(6, 2)}, {"module": "linear"},
        {"module": nn.Sequential(nn.Linear(6, 2), nn.BatchNorm1d(2))}, {"module": nn.Linear(5, 2)},
        {"random_state": 0.5}, {"device": "nowhere"}, {"checkpoint_every": 0}, {"checkpoint": "/nowhere/at/all"},
    ],
)  # fmt: skip
def test_wrong_settings_are_refused_in_a_sentence(wrong: dict[str, Any]) -> None:
    settings: dict[str, Any] = {"classes": 2, **SMALL, **wrong}
    with pytest.raises(ZigguratError) as caught:
        PrivateSGDClassifier(**settings).fit(*separable(60))
    assert str(caught.value).endswith(".") or "rows of this shape" in str(caught.value)


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_few_rows_of_one_class_and_constant_columns_are_trained_on(rows: int) -> None:
    given = SMALL | {"epsilon": 1, "expected_rows": 3}
    with pytest.warns(UserWarning, match="mostly noise"):
        model = PrivateSGDClassifier(classes=2, **given).fit(np.ones((rows, 7)), np.ones(rows))
    assert model.event_ == model.planned(rows, 7)
    assert np.isfinite(model.predict_proba(np.ones((2, 7)))).all()


def test_undeclared_labels_and_missing_values_are_refused_without_quoting_them() -> None:
    features, labels = separable(60)
    with pytest.raises(ValueError, match="not among the declared classes") as caught:
        PrivateSGDClassifier(classes=2, **SMALL).fit(features, labels + 4321)
    assert "4321" not in str(caught.value)
    features[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        PrivateSGDClassifier(classes=2, **SMALL).fit(features, labels)


def test_it_works_in_a_pipeline() -> None:
    features, labels = separable(200)
    steps = make_pipeline(FunctionTransformer(np.tanh), PrivateSGDClassifier(classes=2, **SMALL))
    assert steps.fit(features, labels).predict(features).shape == (200,)


_DECLARED = "classes are declared, never learned from the data"
_EMPTY = {"check_estimators_empty_data_messages": "A table without a row is a neighbour of one with a row."}
_FAILED = {
    **_EMPTY,
    "check_dtype_object": _DECLARED,
    "check_classifiers_classes": _DECLARED,
    "check_classifiers_train": _DECLARED,
}


def test_the_classifier_keeps_scikit_learns_contract() -> None:
    check_estimator(PrivateSGDClassifier(classes=3, **SMALL), expected_failed_checks=_FAILED, on_skip=None)


def test_the_regressor_keeps_scikit_learns_contract() -> None:
    check_estimator(PrivateSGDRegressor(**SMALL), expected_failed_checks=_EMPTY, on_skip=None)

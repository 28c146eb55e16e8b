"""Every model promises under add-or-remove-one by default, where nothing but noisy numbers may tell of one row more."""

import inspect
import itertools
import json
import re
import warnings

import numpy as np
import pytest

from ziggurat import learn
from ziggurat.errors import MixedNeighboursError, ParameterError, ZigguratError
from ziggurat.learn import (
    CategoricalNB,
    DecisionTreeClassifier,
    ElasticNet,
    GaussianNB,
    Histogram,
    KernelDensity,
    KernelSVM,
    Lasso,
    LinearRegression,
    LogisticRegression,
    OutputPerturbation,
    PrivateModel,
    PrivateSGDClassifier,
    PrivateSGDRegressor,
    RandomForestClassifier,
    Ridge,
    ServedHistogram,
)
from ziggurat.privacy import Neighbours, Relation

ADD, REPLACE = (relation.value for relation in (Relation.ADD_OR_REMOVE_ONE, Relation.REPLACE_ONE))
BOX = {"bounds": (-1, 1), "y_bounds": (-1, 1)}
NAMED = {"bounds": (-1, 1), "classes": 2}
SIZED = {"expected_rows": 30}
ASKED = np.array([[0.1, 0.2], [0.3, -0.4]])
MODELS = [
    LinearRegression(**BOX),
    LinearRegression(y_bounds=(-1, 1)),
    Ridge(method="functional", delta=0, **BOX),
    Ridge(method="functional-as-published", delta=0, **BOX),
    Ridge(method="objective", **BOX),
    Ridge(method="output", **BOX, **SIZED),
    Ridge(method="input", **BOX, **SIZED),
    Ridge("private", **BOX),
    Ridge("private", method="objective", **BOX),
    Ridge("private", method="output", **BOX, **SIZED),
    Lasso(0.01, **BOX),
    Lasso(0.01, fit_intercept=False, **BOX, **SIZED),
    ElasticNet(0.01, **BOX),
    LogisticRegression(**NAMED),
    LogisticRegression(classes=3, method="output"),
    LogisticRegression(C="private", **NAMED),
    LogisticRegression(C="private", method="output", **NAMED),
    GaussianNB(**NAMED),
    GaussianNB(classes=2),
    CategoricalNB(classes=2, categories=4),
    DecisionTreeClassifier(depth=2, **NAMED),
    DecisionTreeClassifier(depth=2, criterion="gini", classes=2),
    RandomForestClassifier(trees=3, **NAMED),
    RandomForestClassifier(trees=3, **NAMED, **SIZED),
    Histogram(bounds=(-1, 1)),
    ServedHistogram(bounds=(-1, 1)),
    KernelDensity(bounds=(-1, 1)),
    KernelDensity(features=32),
    KernelSVM(features=32, **NAMED),
    OutputPerturbation(KernelDensity(bounds=(-1, 1)), questions=ASKED),
    OutputPerturbation(ServedHistogram(bounds=(-1, 1)), questions=ASKED),
    OutputPerturbation(KernelSVM(**NAMED), questions=ASKED),
]
NETWORKS = [
    PrivateSGDClassifier(classes=2, epsilon=9, epochs=2, batch=10**4, hidden=(3,), expected_rows=30),
    PrivateSGDRegressor(epsilon=9, epochs=2, batch=10**4, hidden=(3,), expected_rows=30),
]


def _named(model):
    given = {name: value for name, value in model.get_params(deep=False).items() if name in ("method", "criterion")}
    return "-".join([type(model).__name__, *map(str, given.values())])


EACH = pytest.mark.parametrize("model", MODELS, ids=map(_named, MODELS))
ALL = pytest.mark.parametrize("model", [*MODELS, *NETWORKS], ids=map(_named, [*MODELS, *NETWORKS]))


def _rows(count, columns=2):
    draw = np.random.default_rng(0)
    features = draw.uniform(-1, 1, (count, columns))
    return features, (features[:, 0] > 0).astype(int)


def _fitted(model, features, labels):
    needs_labels = not isinstance(getattr(model, "model", model), KernelDensity | ServedHistogram)
    return model.fit(features, labels) if needs_labels else model.fit(features)


def _shown(model, features, labels):
    """All that a fit shows beside noisy numbers: words, cost, noise stated, and what it keeps, by name and shape."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = _fitted(model.fresh().set_params(random_state=1), features, labels)
    kept = {name: np.shape(value) for name, value in vars(made).items() if isinstance(value, np.ndarray | float)}
    return [str(item.message) for item in caught], made.event_, kept


def test_add_or_remove_one_is_what_every_model_about_rows_promises_unless_told_otherwise():
    public = {name: getattr(learn, name) for name in learn.__all__ if name != "PrivateModel"}
    models = [name for name, kind in public.items() if isinstance(kind, type) and issubclass(kind, PrivateModel)]
    told = {name: inspect.signature(getattr(learn, name)).parameters.get("relation") for name in models}
    others = {name for name, given in told.items() if given is None}
    assert others == {"GaussianProcessRegression", "CloakedRegression", "OutputPerturbation", "PrivateSearch"}
    assert {given.default for given in told.values() if given is not None} == {Neighbours().relation.value}
    assert all("expected_rows" in inspect.signature(getattr(learn, name)).parameters for name in set(told) - others)


@ALL
def test_no_plan_depends_on_the_number_of_rows(model):
    plans = [model.planned(rows, 2) for rows in (0, 1, 50, 10**9)]
    assert all(plan == plans[0] for plan in plans)
    assert plans[0].neighbours == Neighbours()


@pytest.mark.filterwarnings("ignore::UserWarning")
@ALL
def test_nothing_shown_depends_on_the_number_of_rows_not_even_whether_there_is_any(model):
    if type(model).__name__.startswith("PrivateSGD"):
        pytest.importorskip("torch")
    features, labels = _rows(41)
    shown = [_shown(model, features[:rows], labels[:rows]) for rows in (0, 1, 2, 40, 41)]
    assert all(each == shown[0] for each in shown)


@pytest.mark.filterwarnings("ignore::UserWarning")
@EACH
def test_no_file_tells_the_number_of_rows(model, tmp_path):
    """Indices of saved models are equal to the letter but for numbers that noise was added to."""
    if not hasattr(model, "save"):
        pytest.skip("answers are all it has")
    features, labels = _rows(41)
    index = []
    for rows in (0, 40, 41):
        made = _fitted(model.fresh().set_params(random_state=1), features[:rows], labels[:rows])
        made.save(tmp_path / "model")
        with np.load(tmp_path / "model", allow_pickle=False) as arrays:
            told = json.loads(str(arrays["model"]))
            told["family"] = re.sub(r"[0-9a-f]{16,}", "name", told["family"])  # drawn at random, for each model
            shapes = {name: arrays[name].shape for name in arrays}
        noisy = {name for name, value in told["fitted"].items() if isinstance(value, float)}
        told["fitted"] = {name: value for name, value in told["fitted"].items() if name not in noisy}
        index.append((told, shapes, noisy))
    assert index[0] == index[1] == index[2]


@pytest.mark.filterwarnings("ignore::UserWarning")
@EACH
def test_rows_of_one_class_are_learned_from_like_any(model):
    features, labels = _rows(20)
    _, event, _ = _shown(model, features, np.zeros_like(labels))
    assert event == model.planned(0, 2)


@EACH
def test_both_relations_are_kept_within_epsilon(model):
    name = "model__relation" if isinstance(model, OutputPerturbation) else "relation"
    for relation in (ADD, REPLACE):
        event = model.fresh().set_params(**{name: relation}).planned(40, 2)
        assert event.neighbours.relation == relation


@pytest.mark.parametrize("model", [model for model in MODELS if hasattr(model, "relation")], ids=_named)
def test_a_relation_that_there_is_not_is_refused(model):
    with pytest.raises(ParameterError, match="relation must be"):
        model.fresh().set_params(relation="none").planned(5, 2)


@EACH
def test_no_message_tells_how_many_rows_there_are(model):
    features, labels = _rows(37)
    with pytest.raises(ZigguratError) as refused:
        model.fresh().fit(np.where(features > 2, features, np.nan), labels)
    assert "37" not in str(refused.value)
    if isinstance(model, KernelDensity | ServedHistogram):
        return
    with pytest.raises(ZigguratError, match="not as many targets") as refused:
        model.fresh().fit(features, labels[:-5])
    assert not {"37", "32"} & set(str(refused.value).replace(",", " ").split())


LIMITED = [
    Ridge(method="objective", **BOX, **SIZED),
    Ridge(method="output", **BOX, **SIZED),
    LogisticRegression(**NAMED, **SIZED),
    LogisticRegression(method="output", **NAMED, **SIZED),
    *NETWORKS,
]


@pytest.mark.parametrize("model", LIMITED, ids=map(_named, LIMITED))
def test_more_rows_than_the_proof_allows_for_are_refused_by_whoever_checks(model):
    features, labels = _rows(61)
    model.check(features[:60], labels[:60])
    with pytest.raises(ZigguratError, match="declare about how many"):
        model.check(features, labels)
    model.fresh().set_params(expected_rows=31).check(features, labels)


@pytest.mark.parametrize("network", NETWORKS, ids=_named)
def test_a_network_says_what_it_needs(network):
    with pytest.raises(ParameterError, match="declare expected_rows"):
        network.fresh().set_params(expected_rows=None).planned(30, 2)
    with pytest.raises(MixedNeighboursError, match="--relation add-or-remove-one"):
        network.fresh().set_params(relation=REPLACE).planned(30, 2)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", [KernelDensity, KernelSVM])
def test_a_path_over_no_row_answers_with_noise(kind, tmp_path):
    model = kind(bounds=(-1, 1), path=tmp_path / "path", **({"classes": 2} if kind is KernelSVM else {}))
    made = _fitted(model, np.empty((0, 2)), np.empty(0, dtype=int))
    values = made.decision_function(ASKED) if kind is KernelSVM else made.density(ASKED)
    assert np.isfinite(values).all()
    assert made.event_ == model.planned(0, 2)


def test_the_noise_is_never_more_than_that_of_replaced_rows():
    """Sums, counts and minima: a row more is half of a row that goes and a row that comes, or less."""
    for model in MODELS:
        if not hasattr(model, "relation") or model.get_params().get("method") == "functional-as-published":
            continue
        events = [model.fresh().set_params(relation=relation).planned(60, 2) for relation in (ADD, REPLACE)]
        found = [[getattr(part, "sensitivity", None) for part in _parts(event)] for event in events]
        for less, more in itertools.zip_longest(*found):
            assert less is None or less <= more, _named(model)


def _parts(event):
    return [part for each in event.events for part in _parts(each)] if hasattr(event, "events") else [event]

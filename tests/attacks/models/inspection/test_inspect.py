"""What holds rows of people is found, whatever it is called; what holds none is cleared."""

from __future__ import annotations

import functools
import json
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse
from sklearn import cluster, ensemble, gaussian_process, kernel_ridge, linear_model, neighbors, preprocessing, svm, tree
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.semi_supervised import LabelPropagation

import ziggurat.learn as private
from ziggurat.attacks.models import AttackedModel, LabelledRows, inspect_model
from ziggurat.errors import DataError
from ziggurat.pate import MLP, Student, Training

DRAW = np.random.default_rng(0)
X = DRAW.normal(size=(120, 4))
Z = X[:, 0] + DRAW.normal(size=120)
Y = (Z > 0).astype(int)
PEOPLE, MEASURED = LabelledRows(X, Y), LabelledRows(X, Z)
BOUNDS = (-5, 5)

HOLDING = {
    "nearest neighbours": (neighbors.KNeighborsClassifier(), "_fit_X", 120),
    "nearest, by brute force": (neighbors.KNeighborsClassifier(algorithm="brute"), "_fit_X", 120),
    "support vectors": (svm.SVC(), "support_vectors_", None),
    "one class": (svm.OneClassSVM(), "support_vectors_", None),
    "Gaussian process": (gaussian_process.GaussianProcessRegressor(), "X_train_", 120),
    "Gaussian process of classes": (gaussian_process.GaussianProcessClassifier(), "base_estimator_.X_train_", 120),
    "kernel ridge": (kernel_ridge.KernelRidge(), "X_fit_", 120),
    "kernel density": (neighbors.KernelDensity(), "tree_", 120),
    "outliers": (neighbors.LocalOutlierFactor(), "_fit_X", 120),
    "tree": (tree.DecisionTreeRegressor(), "tree_", 120),
    "forest": (ensemble.ExtraTreesRegressor(3), "estimators_[1].tree_", 120),
    "isolation forest": (ensemble.IsolationForest(n_estimators=3), "estimators_[2].tree_", None),
    "boosting": (ensemble.GradientBoostingRegressor(n_estimators=2, max_depth=9), "estimators_[:][0].tree_", None),
    "boosting of histograms": (
        ensemble.HistGradientBoostingRegressor(max_iter=2, min_samples_leaf=1, max_leaf_nodes=None),
        "_predictors[0][0]", None,
    ),
    "bagging": (ensemble.BaggingClassifier(neighbors.KNeighborsClassifier(), 2), "estimators_[0]._fit_X", 120),
    "search": (GridSearchCV(svm.SVC(), {"C": [1, 2]}, cv=2), "best_estimator_.support_vectors_", None),
    "clusters": (cluster.DBSCAN(eps=1.0), "components_", None),
    "kernel map": (Nystroem(n_components=10), "components_", 10),
    "propagated labels": (LabelPropagation(), "X_", 120),
    "pipeline": (
        make_pipeline(preprocessing.StandardScaler(), neighbors.KNeighborsClassifier()), "steps[1]._fit_X", 120
    ),
    "isotonic calibration": (
        CalibratedClassifierCV(linear_model.LogisticRegression(), method="isotonic", cv=2),
        "calibrated_classifiers_[0].calibrators[0].X_thresholds_", None,
    ),
}  # fmt: skip

CLEAN = {
    "logistic regression": linear_model.LogisticRegression(),
    "ridge": linear_model.Ridge(),
    "network": MLPClassifier((16,), max_iter=20),
    "components": PCA(3),
    "means of many": GaussianNB(),
    "nearest centroid": neighbors.NearestCentroid(),
    "tree of large leaves": tree.DecisionTreeClassifier(min_samples_leaf=20),
    "scaled": make_pipeline(preprocessing.StandardScaler(), linear_model.LogisticRegression()),
    "linear support vectors": svm.LinearSVC(),
}


def fit(estimator, rows=X, labels=Y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(rows, labels)


@pytest.mark.parametrize("name", HOLDING)
def test_every_kind_that_holds_rows_is_found_without_any_row_to_compare_with(name):
    estimator, path, rows = HOLDING[name]
    regression = name in ("tree", "forest", "boosting", "boosting of histograms")
    found = inspect_model(fit(estimator, labels=Z if regression else Y))
    parts = {part.path: part for part in found.parts}
    assert path in parts
    assert rows is None or parts[path].rows == rows
    assert found.holds
    assert found.verdict is True
    assert "leaves only with a written waiver, as unbounded" in found.sentence
    assert found.compared is None


@pytest.mark.parametrize("name", CLEAN)
def test_what_holds_no_row_is_cleared(name):
    found = inspect_model(fit(CLEAN[name]), PEOPLE)
    assert found.parts == ()
    assert found.verdict is False
    assert found.complete
    assert "no row of a person was found, compared with 120 rows" in found.sentence


def held_by_default(rows=X):
    return lambda asked: rows[:1] - asked


def close_over(rows):
    return lambda asked: asked - rows[0]


class Slotted:
    __slots__ = ("deep",)

    def __init__(self, deep):
        self.deep = deep


def attach(value):
    model = fit(linear_model.LogisticRegression())
    model.extra_ = value
    return model


HIDDEN = {
    "an array": lambda: X[40:50],
    "one row": lambda: X[7],
    "rows among others": lambda: np.vstack([np.zeros((3, 4)), X[:2], np.ones((3, 4))]),
    "columns for rows": lambda: X[:30].T,
    "floats of half the length": lambda: X[:5].astype(np.float32),
    "rows beside labels": lambda: np.column_stack([X, Z]),
    "rows after a constant": lambda: np.column_stack([np.ones(120), X])[:9],
    "lists": lambda: X[:5].tolist(),
    "a tuple of arrays": lambda: (None, "text", [X[3], X[4]]),
    "a mapping": lambda: {"by person": {1: X[0]}},
    "a data frame": lambda: pd.DataFrame(X[:20]),
    "an Arrow table": lambda: pa.table({name: X[:, i] for i, name in enumerate("abcd")}),
    "a sparse array": lambda: sparse.csr_array(X[:6]),
    "an array of objects": lambda: X[:5].astype(object),
    "slots": lambda: Slotted(Slotted(X[:5])),
    "a closure": lambda: close_over(X[:5]),
    "a default": held_by_default,
    "a partial": lambda: functools.partial(np.add, X[:5]),
    "a method": lambda: Slotted(X[:5]).__init__,
    "a block of three dimensions": lambda: X[:6].reshape(2, 3, 4),
    "labels": lambda: Y.copy(),
    "labels by other codes": lambda: 10 - 3 * Y,
    "single values": lambda: np.array([0.0, X[11, 2], 1.0]),
    "scaled rows, by the bounds": lambda: preprocessing.MinMaxScaler().fit(X),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_rows_are_found_wherever_they_hide(name):
    found = inspect_model(attach(HIDDEN[name]()), PEOPLE)
    assert found.verdict is True
    assert all(part.path.startswith("extra_") for part in found.parts)
    assert found.parts[0].people
    assert not inspect_model(attach(HIDDEN[name]())).holds


def test_rows_are_found_as_a_scaler_in_front_maps_them():
    model = fit(make_pipeline(preprocessing.StandardScaler(), PCA(3), linear_model.LogisticRegression()))
    assert inspect_model(model, PEOPLE).verdict is False
    model[-1].kept = model[:-1].transform(X[:7])
    part = inspect_model(model, PEOPLE).parts[0]
    assert (part.path, part.rows, part.people) == ("steps[2].kept", 7, 7)


def test_a_mean_of_one_person_is_a_row():
    labels = np.where(np.arange(120) == 5, 2, Y)
    assert inspect_model(fit(GaussianNB(), labels=labels)).parts[0].kind == "means of one person"
    found = inspect_model(fit(neighbors.NearestCentroid(), labels=labels), X)
    assert (found.parts[0].path, found.parts[0].people) == ("centroids_", 1)


def test_leaves_of_few_people_are_found_if_asked_for():
    model = fit(tree.DecisionTreeClassifier(min_samples_leaf=3))
    assert not inspect_model(model).holds
    assert "at most 5 people" in inspect_model(model, few=5).parts[0].kind


def test_rows_of_small_numbers_are_found_only_all_together():
    """Zeros and indicators stand in any model; the whole table does not."""
    coarse = DRAW.integers(0, 3, size=(200, 3)).astype(float)
    model = fit(linear_model.LogisticRegression())
    model.seen_ = np.array(np.meshgrid([0, 1, 2], [0, 1, 2], [0, 1, 2])).reshape(3, -1).T.astype(float)
    assert not inspect_model(model, coarse).holds
    model.kept = coarse[::-1]
    assert [part.path for part in inspect_model(model, coarse).parts] == ["kept"]


def test_identifiers_are_found_in_texts_and_never_shown():
    names = ["ann.lee@example.org", "bob-77", "cyd"]
    model = fit(CountVectorizer(token_pattern=r"\S+"), ["likes ann.lee@example.org", "of bob-77"])
    model.note_ = b"made for cyd, today"
    found = inspect_model(model, identifiers=names)
    assert {part.kind for part in found.parts} == {"identifiers of people"}
    assert sum(part.people or 0 for part in found.parts) >= 3
    told = json.dumps(found.to_dict()) + found.sentence + repr(found) + str(found.table.to_pydict())
    assert not any(name in told for name in names)
    assert not inspect_model(model, identifiers=["dan"]).holds


def test_modules_of_pytorch_are_looked_through():
    torch = pytest.importorskip("torch")
    module = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    assert inspect_model(module, PEOPLE).verdict is False
    with torch.no_grad():
        module[0].weight[3] = torch.as_tensor(X[17], dtype=torch.float32)
    part = inspect_model(module, PEOPLE).parts[0]
    assert (part.path, part.rows, part.people) == ("self.state_dict['0.weight']", 1, 1)
    module[0].register_buffer("memory", torch.as_tensor(X[:9]))
    module[2].cache = [torch.as_tensor(X[:2])]
    paths = [part.path for part in inspect_model(module, PEOPLE).parts]
    assert paths[1:] == ["self.state_dict['0.memory']", "2.cache[0]"]


def test_the_model_behind_an_attacked_one_is_looked_through():
    found = inspect_model(AttackedModel.of(fit(neighbors.KNeighborsClassifier())))
    assert (found.model, found.holds) == ("KNeighborsClassifier", True)


def test_circles_end_and_depth_is_bounded():
    model, nest = attach(None), X[:3]
    model.extra_ = model
    assert inspect_model(model, PEOPLE).verdict is False
    for _ in range(200):
        nest = [None, nest]
    found = inspect_model(attach(nest), PEOPLE)
    assert found.verdict is None
    assert "leaves only with a written waiver" in found.sentence


def make_ours(tmp_path):
    """Every model that can leave, fitted; and served ones that cannot."""
    seed = {"random_state": 1}
    classes = {"bounds": BOUNDS, "classes": 2, **seed}
    numbers = {"bounds": BOUNDS, "y_bounds": BOUNDS, **seed}
    searched = private.LogisticRegression(bounds=BOUNDS, classes=2, random_state=1)
    leaving = [
        *(fit(kind(**numbers), labels=Z) for kind in (private.LinearRegression, private.Ridge, private.Lasso)),
        fit(private.ElasticNet(**numbers), labels=Z),
        fit(private.LogisticRegression(**classes)),
        fit(private.GaussianNB(**classes)),
        fit(private.CategoricalNB(categories=3, classes=2, **seed), np.digitize(X, [-0.5, 0.5])),
        fit(private.DecisionTreeClassifier(**classes)),
        fit(private.RandomForestClassifier(**classes)),
        fit(private.Histogram(bounds=BOUNDS, **seed), X[:, :2]),
        fit(private.PrivateSGDClassifier(expected_rows=120, epochs=1, **classes)),
        fit(private.PrivateSGDRegressor(expected_rows=120, epochs=1, **numbers), labels=Z),
        fit(private.PrivateSearch(searched, {"C": [0.1, 1.0]}, **seed)),
        fit(private.KernelSVM(**classes)),
        fit(private.KernelDensity(bounds=BOUNDS, **seed)),
        fit(private.ServedHistogram(bounds=BOUNDS, **seed), X[:, :2]),
        fit(private.GaussianProcessRegression(**numbers), labels=Z),
        fit(private.CloakedRegression(questions=np.eye(4), y_bounds=BOUNDS, **seed), labels=Z),
    ]
    staying = [
        fit(private.KernelSVM(path=tmp_path / "svm", **classes)),
        fit(private.KernelDensity(bounds=BOUNDS, path=tmp_path / "density", **seed)),
        fit(private.GaussianProcessRegression(path=tmp_path / "process", **numbers), labels=Z),
    ]
    return leaving, staying


def test_our_models_that_leave_hold_no_row_and_served_paths_do(tmp_path):
    leaving, staying = make_ours(tmp_path)
    kinds = {type(each).__name__ for each in leaving}
    bases = {
        "PrivateModel",
        "StoredModel",
        "DeclaredScaler",
        "OutputPerturbation",
        "SeveralFitsWarning",
        "UnpaidWarning",
    }
    assert {name for name in private.__all__ if name[0].isupper()} - bases == kinds
    for model in leaving:
        labels = Z if hasattr(model, "y_bounds") else Y
        found = inspect_model(model, LabelledRows(X, labels))
        assert (type(model).__name__, found.parts, found.verdict) == (type(model).__name__, (), False)
    for model in staying:
        assert inspect_model(model).parts[0].path == "centres_"
        assert inspect_model(model, PEOPLE).parts[0].people == 120


def test_students_hold_no_row_of_the_teachers_people_unless_they_keep_rows_by_their_kind():
    """A student sees public rows alone, and labels that were paid for; what keeps even these is found by its kind."""
    public = DRAW.normal(size=(80, 4))
    named = (public[:, 0] > 0).astype(int)
    network = Student(MLP(4, (8,)), training=Training(epochs=2, batch=16), random_state=1)
    for student in (fit(Student(random_state=1), public, named), fit(network, public, named)):
        assert inspect_model(student, PEOPLE).verdict is False
        assert inspect_model(student, LabelledRows(public, named)).verdict is False
    keeping = fit(Student(neighbors.KNeighborsClassifier(), threshold="half"), public, named)
    assert inspect_model(keeping).verdict is True
    original = fit(Student(neighbors.KNeighborsClassifier(), threshold="half"))
    assert inspect_model(original, PEOPLE).parts[0].people == 120


def test_a_private_model_that_kept_its_rows_is_found(tmp_path):
    """The negative control of the last."""
    model = fit(private.LogisticRegression(bounds=BOUNDS, classes=2, random_state=1))
    model.kept = X[:1] / 5  # as it scales them
    assert inspect_model(model, PEOPLE).verdict is True


@settings(max_examples=40, deadline=None)
@given(
    rows=arrays.arrays(np.float64, (12, 3), elements=st.floats(-1e6, 1e6), unique=True),
    place=st.integers(0, 11),
)
def test_a_row_that_tells_somebody_is_found_and_another_is_not(rows, place):
    model = linear_model.Ridge()
    model.coef_ = rows[place]
    model.other_ = np.nextafter(rows, np.inf)[(place + 1) % 12]
    found = inspect_model(model, rows)
    told = np.abs(rows[place]) > 0
    long = [f"{value:.5g}" != f"{value:.17g}" and float(f"{value:.5g}") != value for value in rows[place][told]]
    if any(long) and (np.abs(rows[place]) > 1e-280).all():
        assert "coef_" in [part.path for part in found.parts]
    assert "other_" not in [part.path for part in found.parts if part.kind.startswith("rows")]


def test_rows_that_are_no_numbers_are_refused():
    with pytest.raises(DataError, match="table of numbers"):
        inspect_model(linear_model.Ridge(), [["a", "b"]])

"""`classify`: the control test, a classifier of scikit-learn without any privacy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ziggurat.errors import ExperimentError
from ziggurat.experiments._steps import step

if TYPE_CHECKING:
    import pyarrow as pa

    from ziggurat.experiments.steps.records._judging import ThresholdBy

OUTPUTS = (
    "accuracy",
    "precision",
    "recall",
    "f1",
    "auc",
    "true_positive_rate",
    "false_positive_rate",
    "threshold",
    "confusion",
    "model",
)

_CLASSES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "logistic-regression": ("sklearn.linear_model", "LogisticRegression", {"max_iter": 1000}),
    "decision-tree": ("sklearn.tree", "DecisionTreeClassifier", {"min_samples_leaf": 5}),
    "random-forest": ("sklearn.ensemble", "RandomForestClassifier", {"n_estimators": 100}),
    "gradient-boosting": ("sklearn.ensemble", "GradientBoostingClassifier", {}),
    "mlp": ("sklearn.neural_network", "MLPClassifier", {"hidden_layer_sizes": (32,), "max_iter": 300}),
}


@step("classify", outputs=OUTPUTS)
def classify(
    train: pa.Table,
    validation: pa.Table,
    test: pa.Table,
    schema: Mapping[str, Any],
    *,
    classifier: str = "logistic-regression",
    options: Mapping[str, Any] | None = None,
    target: str = "target",
    threshold_by: ThresholdBy = "tpr-fpr",
    seed: int = 0,
) -> dict[str, Any]:
    """Train on `train`, choose the threshold on `validation`, judge on `test`; no privacy of its own.

    Parameters
    ----------
    train, validation, test
        Tables with the columns of `schema`.
    schema
        The public schema, as `prepare-data` gives it; it alone decides how columns become numbers.
    classifier
        'logistic-regression', 'decision-tree', 'random-forest', 'gradient-boosting' or 'mlp'.
    options
        Parameters of the scikit-learn class.
    target
        The boolean column to be predicted.
    threshold_by
        'tpr-fpr' or 'accuracy'.

    Returns
    -------
    dict
        The `confusion` matrix, `accuracy`, `precision`, `recall`, `f1`, `auc`, both rates, the `threshold`, and the
        fitted `model`. `classify-torch` and `classify-keras` give the same.
    """
    from ziggurat.data.encoding import Encoding, labels_of
    from ziggurat.experiments.steps.records._judging import best_threshold, measure, require_two_classes
    from ziggurat.threads import one_thread

    encoding = Encoding(schema, without=[target])
    truth = labels_of(train, target)
    require_two_classes(truth, "training")
    with one_thread():
        model = make_classifier(classifier, options or {}, seed).fit(encoding.encode(train), truth)

        def scores(part: pa.Table) -> Any:
            return model.predict_proba(encoding.encode(part))[:, 1]

        threshold = best_threshold(scores(validation), labels_of(validation, target), threshold_by)
        return {**measure(scores(test), labels_of(test, target), threshold), "model": model}


def make_classifier(classifier: str, options: Mapping[str, Any], seed: int) -> Any:
    """Make the classifier of this name with some of its options set."""
    from importlib import import_module

    from ziggurat.wording import nearest

    if classifier not in _CLASSES:
        raise ExperimentError(f"There is no classifier {classifier!r}; {nearest(classifier, _CLASSES)}")
    module, name, usual = _CLASSES[classifier]
    made = getattr(import_module(module), name)()
    known = set(made.get_params()) - {"random_state"}
    for option in options:
        if option not in known:
            raise ExperimentError(f"{name} has no option {option!r}; {nearest(option, sorted(known))}")
    return made.set_params(**{**usual, **options}, random_state=seed % 2**32)

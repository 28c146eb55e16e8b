"""`fit-regression` and `spread-of-runs`: private linear models beside those without privacy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ziggurat.errors import ExperimentError
from ziggurat.experiments._steps import step
from ziggurat.experiments.steps.cases import Floats, cut_parts, permute

NONE = "none"
MODELS: Mapping[str, tuple[str, Mapping[str, float]]] = {
    "linear": ("LinearRegression", {}),
    "ridge": ("Ridge", {"alpha": 1.0}),
    "lasso": ("Lasso", {"alpha": 1e-3}),
    "elastic-net": ("ElasticNet", {"alpha": 1e-3, "l1_ratio": 0.5}),
}
"""The penalties are the same for every method; a few values were tried on these public tables. For a release they
would have to be public or paid for."""

RUN_AWAY = 1000.0
"""The error of a model that ran away: a quadratic that noise made indefinite has no minimum."""

_GAUSSIAN = ("adassp",)


@step("fit-regression", outputs=("rmse", "rmse_within", "constant_rmse", "event"))
def fit_regression(
    features: Floats,
    target: Floats,
    *,
    model: str = "ridge",
    method: str = "adassp",
    epsilon: float = 1.0,
    delta: float = 1e-6,
    intercept: bool = False,
    held_out: float = 0.2,
    seed: int = 0,
) -> dict[str, Any]:
    """Hold a fifth of the rows out, fit a linear model to the others, and measure its error on those held out.

    Parameters
    ----------
    features, target
        Scaled to [-1, 1], as `model-data` gives them.
    model
        'linear', 'ridge', 'lasso' or 'elastic-net'.
    method
        A method of `ziggurat.learn.Ridge`, or 'none' for scikit-learn's model without privacy.
    epsilon, delta
        What fitting may cost, under replace-one; every method but 'adassp' is run with delta 0, as the document has it.
    intercept
        Whether there is one; the document has none.

    Returns
    -------
    dict
        `rmse`, on the scale of the target, 1000 at most; `rmse_within`, the same after fitted values were moved into
        [-1, 1], which costs nothing; `constant_rmse`, of the mean of the rows learned from; and the `event` (empty
        without privacy).
    """
    order = permute(len(features), seed)
    judged = round(held_out * len(features))
    parts = cut_parts(order, {"judged": judged, "learned": len(features) - judged})
    learned, tested = parts["learned"], parts["judged"]
    made = _model(model, method, epsilon, delta, intercept, seed)
    values, truth = _predict(made, features[learned], target[learned], features[tested]), target[tested]
    return {
        "rmse": min(_rmse(values, truth), RUN_AWAY),
        "rmse_within": _rmse(np.clip(values, -1, 1), truth),
        "constant_rmse": _rmse(np.full(len(truth), target[learned].mean()), truth),
        "event": made.event_.to_dict() if hasattr(made, "event_") else {},
    }


def _model(model: str, method: str, epsilon: float, delta: float, intercept: bool, seed: int) -> Any:
    if model not in MODELS:
        raise ExperimentError(f"'model' must be one of {', '.join(MODELS)}.")
    name, penalty = MODELS[model]
    if method == NONE:
        from sklearn import linear_model

        return getattr(linear_model, name)(**penalty, fit_intercept=intercept)
    from ziggurat import learn

    return getattr(learn, name)(
        **penalty,
        epsilon=repr(epsilon),
        delta=repr(delta) if method in _GAUSSIAN else 0,
        method=method,
        bounds=(-1, 1),
        y_bounds=(-1, 1),
        fit_intercept=intercept,
        relation="replace-one",
        random_state=seed,
    )


def _predict(model: Any, features: Floats, target: Floats, asked: Floats) -> Floats:
    """Fit and ask on one thread; that answers are mostly noise is what an experiment is about, so nobody is warned."""
    import warnings

    from ziggurat.threads import one_thread

    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = model.fit(features, target).predict(asked)
    far = 1e3 * RUN_AWAY
    return np.asarray(np.clip(np.nan_to_num(values, nan=far, posinf=far, neginf=-far), -far, far))


def _rmse(values: Floats, truth: Floats) -> float:
    return float(np.sqrt(np.mean((values - truth) ** 2)))


@step("spread-of-runs", outputs=("deviation", "variance"))
def spread_of_runs(values: Sequence[Mapping[str, Any]], **chosen: Any) -> dict[str, float]:
    """How much a number differs between the repeats of one trial.

    Parameters
    ----------
    values
        An output of a module with trials and repeats, as the modules outside of it see it.
    chosen
        The parameters of the trial that is meant.

    Returns
    -------
    dict
        Standard `deviation` and `variance` over its repeats.
    """
    found = [each["value"] for each in values if chosen.items() <= _plainly_named(each["parameters"]).items()]
    if len(found) < 2:
        raise ExperimentError("The parameters must be those of a trial with two repeats or more.")
    variance = float(np.var(found, ddof=1))
    return {"deviation": variance**0.5, "variance": variance}


def _plainly_named(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a run without the names of their modules."""
    return {name.partition(".")[2]: value for name, value in parameters.items()}

"""Private models by their names: on the command line and in files that describe releases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ziggurat.errors import ParameterError

if TYPE_CHECKING:
    from ziggurat.learn import PrivateModel
    from ziggurat.release.models._task import Task

NUMBERS = {"linear": "LinearRegression", "ridge": "Ridge", "lasso": "Lasso", "elastic-net": "ElasticNet"}
"""Models of numbers, and what they are in ziggurat.learn."""

CLASSES = {
    "logistic": "LogisticRegression",
    "naive-bayes": "GaussianNB",
    "tree": "DecisionTreeClassifier",
    "forest": "RandomForestClassifier",
}
"""Models of classes, likewise."""


def model_name(model: str, task: Task) -> str:
    """The name of a model that fits what is predicted; "auto" is the first of them."""
    from ziggurat.wording import nearest

    known = NUMBERS if task.is_number else CLASSES
    if model == "auto":
        return next(iter(known))
    if model in known:
        return model
    if model in (NUMBERS | CLASSES):
        what = "a number" if task.is_number else "a class"
        raise ParameterError(f"{task.label!r} is {what}; use one of {', '.join(known)}.")
    raise ParameterError(f"There is no model {model!r}; {nearest(model, [*NUMBERS, *CLASSES])}")


def make_model(
    name: str, task: Task, epsilon: str, delta: str, options: Mapping[str, Any], seed: int | None, relation: str
) -> PrivateModel:
    """Make the model of a name for a task; columns are already between 0 and 1 by the public schema."""
    from ziggurat import learn

    given: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "random_state": seed, "bounds": (0.0, 1.0)}
    given["relation"] = str(relation)
    given |= {"y_bounds": task.label_bounds} if task.is_number else {"classes": list(range(len(task.classes)))}
    made: PrivateModel = with_options(getattr(learn, (NUMBERS | CLASSES)[name]), given, options)
    return made


def with_options(
    kind: Any, given: Mapping[str, Any], options: Mapping[str, Any], defaults: Mapping[str, Any] | None = None
) -> Any:
    """Make a model: what is given may not be changed by options; defaults may."""
    from ziggurat.wording import nearest

    known = set(kind().get_params())
    for key in options:
        if key not in known or key in given:
            raise ParameterError(f"{key!r} is no option of this model; {nearest(key, sorted(known - set(given)))}")
    chosen = {**(defaults or {}), **options, **given}
    return kind(**{key: value for key, value in chosen.items() if key in known})

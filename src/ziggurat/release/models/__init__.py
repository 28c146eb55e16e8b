"""Models that leave, and models that stay and answer: paid for before they see a row."""

from ziggurat.release._plan import promise_at
from ziggurat.release.models._fitting import (
    DEPENDS,
    FittedModel,
    ModelPlan,
    TableModelPlan,
    fit_model,
    in_words,
    plan_model,
    require_same_unit,
)
from ziggurat.release.models._named_models import CLASSES, NUMBERS, make_model, model_name, with_options
from ziggurat.release.models._points import Points
from ziggurat.release.models._serving import KINDS, Serving, not_protected, serve_model
from ziggurat.release.models._serving_folder import is_served
from ziggurat.release.models._task import Floats, Task, TaskRows

__all__ = [
    "CLASSES",
    "DEPENDS",
    "KINDS",
    "NUMBERS",
    "FittedModel",
    "Floats",
    "ModelPlan",
    "Points",
    "Serving",
    "TableModelPlan",
    "Task",
    "TaskRows",
    "fit_model",
    "in_words",
    "is_served",
    "make_model",
    "model_name",
    "not_protected",
    "plan_model",
    "promise_at",
    "require_same_unit",
    "serve_model",
    "with_options",
]

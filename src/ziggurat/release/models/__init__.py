"""Models that leave, and models that stay and answer: paid for before they see a row."""

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
from ziggurat.release.models._named_models import CLASSES, NUMBERS, model_name, named_model, with_options
from ziggurat.release.models._points import Points
from ziggurat.release.models._serving import Serving, serve_model
from ziggurat.release.models._serving_folder import is_served
from ziggurat.release.models._serving_words import KINDS, not_protected, promised
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
    "model_name",
    "named_model",
    "not_protected",
    "plan_model",
    "promised",
    "require_same_unit",
    "serve_model",
    "with_options",
]

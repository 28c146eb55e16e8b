"""Models that leave, and models that stay and answer: paid for before they see a row."""

from ziggurat.release._plan import promise_at
from ziggurat.release.models._attacking import INSPECTION, MEMBERSHIP, KeptBack, count_fitted, label_rows, meet_model
from ziggurat.release.models._examining import ModelExam, SensitiveColumn
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
from ziggurat.release.models._foreign import (
    NOT_PROMISED_OF_FOREIGN,
    ForeignModel,
    ForeignModelPlan,
    find_places,
    plan_foreign,
    plan_said_model,
    read_model_file,
    read_people,
    release_model,
)
from ziggurat.release.models._modules import WEIGHTS, DeclaredModule, read_module, read_shapes
from ziggurat.release.models._named_models import CLASSES, NUMBERS, make_model, model_name, with_options
from ziggurat.release.models._points import Points
from ziggurat.release.models._serving import KINDS, Serving, not_protected, serve_model
from ziggurat.release.models._serving_folder import is_served
from ziggurat.release.models._stopped import held_model_folder, put_aside, require_unheld
from ziggurat.release.models._task import Floats, Task, TaskRows

__all__ = [
    "CLASSES",
    "DEPENDS",
    "INSPECTION",
    "KINDS",
    "MEMBERSHIP",
    "NOT_PROMISED_OF_FOREIGN",
    "NUMBERS",
    "WEIGHTS",
    "DeclaredModule",
    "FittedModel",
    "Floats",
    "ForeignModel",
    "ForeignModelPlan",
    "KeptBack",
    "ModelExam",
    "ModelPlan",
    "Points",
    "SensitiveColumn",
    "Serving",
    "TableModelPlan",
    "Task",
    "TaskRows",
    "count_fitted",
    "find_places",
    "fit_model",
    "held_model_folder",
    "in_words",
    "is_served",
    "label_rows",
    "make_model",
    "meet_model",
    "model_name",
    "not_protected",
    "plan_foreign",
    "plan_model",
    "plan_said_model",
    "promise_at",
    "put_aside",
    "read_model_file",
    "read_module",
    "read_people",
    "read_shapes",
    "release_model",
    "require_same_unit",
    "require_unheld",
    "serve_model",
    "with_options",
]

"""The data of the case studies."""

from ziggurat.experiments.steps.cases._case_parts import INVENTED, Classes, Features, cut_parts, load_dataset, permute
from ziggurat.experiments.steps.cases._digits import digit_data
from ziggurat.experiments.steps.cases._heartbeats import heartbeat_data
from ziggurat.experiments.steps.cases._model_data import Floats, model_data, normal_density
from ziggurat.experiments.steps.cases._prepare import prepare_data
from ziggurat.experiments.steps.cases._web_requests import web_request_data

__all__ = [
    "INVENTED",
    "Classes",
    "Features",
    "Floats",
    "cut_parts",
    "digit_data",
    "heartbeat_data",
    "load_dataset",
    "model_data",
    "normal_density",
    "permute",
    "prepare_data",
    "web_request_data",
]

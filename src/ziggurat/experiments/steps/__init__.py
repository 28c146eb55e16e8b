"""The standard steps; an experiment file names them as they are registered, with hyphens.

What is heavy (scikit-learn, PyTorch, Keras, Arrow) is imported when a step runs, not when it is named.
"""

from ziggurat.experiments.steps._classify import classify
from ziggurat.experiments.steps._decide import (
    at_risk_epsilon,
    at_risk_level,
    cheapest_promise,
    combined_risk,
    compensation_budget,
    curve,
    samples_needed,
    sampling_confidence,
)
from ziggurat.experiments.steps._decide_ridge import ridge_error, ridge_rows, ridge_sensitivities, sampled_sensitivity
from ziggurat.experiments.steps._digits import digit_data
from ziggurat.experiments.steps._formulas import (
    gaussian_sigma,
    loss_tail,
    parallel_composition,
    proportion_sensitivity,
    selection_probability,
)
from ziggurat.experiments.steps._generator import train_generator, train_generator_keras, train_generator_torch
from ziggurat.experiments.steps._heartbeats import heartbeat_data
from ziggurat.experiments.steps._model_data import model_data
from ziggurat.experiments.steps._networks import classify_keras, classify_torch
from ziggurat.experiments.steps._pate import label_queries, label_votes, train_teachers
from ziggurat.experiments.steps._prepare import prepare_data
from ziggurat.experiments.steps._privatise import privatise
from ziggurat.experiments.steps._regression import fit_regression, spread_of_runs
from ziggurat.experiments.steps._served import serve_model
from ziggurat.experiments.steps._similarity import similarity
from ziggurat.experiments.steps._student import train_student
from ziggurat.experiments.steps._synthesis import synthesis_time, synthesis_utility
from ziggurat.experiments.steps._synthesis_people import draw_samples, synthesis_people
from ziggurat.experiments.steps._synthesis_risk import match_rates, synthesis_risk
from ziggurat.experiments.steps._web_requests import web_request_data

__all__ = [
    "at_risk_epsilon",
    "at_risk_level",
    "cheapest_promise",
    "classify",
    "classify_keras",
    "classify_torch",
    "combined_risk",
    "compensation_budget",
    "curve",
    "digit_data",
    "draw_samples",
    "fit_regression",
    "gaussian_sigma",
    "heartbeat_data",
    "label_queries",
    "label_votes",
    "loss_tail",
    "match_rates",
    "model_data",
    "parallel_composition",
    "prepare_data",
    "privatise",
    "proportion_sensitivity",
    "ridge_error",
    "ridge_rows",
    "ridge_sensitivities",
    "sampled_sensitivity",
    "samples_needed",
    "sampling_confidence",
    "selection_probability",
    "serve_model",
    "similarity",
    "spread_of_runs",
    "synthesis_people",
    "synthesis_risk",
    "synthesis_time",
    "synthesis_utility",
    "train_generator",
    "train_generator_keras",
    "train_generator_torch",
    "train_student",
    "train_teachers",
    "web_request_data",
]

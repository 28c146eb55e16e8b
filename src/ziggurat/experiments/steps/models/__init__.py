"""Private models, served models, privacy at risk and its price as steps."""

from ziggurat.experiments.steps.models._decide import (
    at_risk_epsilon,
    at_risk_level,
    cheapest_promise,
    combined_risk,
    compensation_budget,
    curve,
    samples_needed,
    sampling_confidence,
)
from ziggurat.experiments.steps.models._decide_ridge import (
    ridge_error,
    ridge_rows,
    ridge_sensitivities,
    sampled_sensitivity,
)
from ziggurat.experiments.steps.models._formulas import (
    gaussian_sigma,
    loss_tail,
    parallel_composition,
    proportion_sensitivity,
    selection_probability,
)
from ziggurat.experiments.steps.models._regression import fit_regression, spread_of_runs
from ziggurat.experiments.steps.models._served import serve_model

__all__ = [
    "at_risk_epsilon",
    "at_risk_level",
    "cheapest_promise",
    "combined_risk",
    "compensation_budget",
    "curve",
    "fit_regression",
    "gaussian_sigma",
    "loss_tail",
    "parallel_composition",
    "proportion_sensitivity",
    "ridge_error",
    "ridge_rows",
    "ridge_sensitivities",
    "sampled_sensitivity",
    "samples_needed",
    "sampling_confidence",
    "selection_probability",
    "serve_model",
    "spread_of_runs",
]

"""Synthesis as steps: what copies are worth, and whom an intruder finds in them."""

from ziggurat.experiments.steps.synthesis._people import draw_samples, synthesis_people
from ziggurat.experiments.steps.synthesis._risk import match_rates, synthesis_risk
from ziggurat.experiments.steps.synthesis._utility import synthesis_time, synthesis_utility

__all__ = [
    "draw_samples",
    "match_rates",
    "synthesis_people",
    "synthesis_risk",
    "synthesis_time",
    "synthesis_utility",
]

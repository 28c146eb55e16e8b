"""Headlines that networks write, and what judges say of them."""

from ziggurat.experiments.steps.headlines._judging import judge_written, novelty_quantile, repetitions_of
from ziggurat.experiments.steps.headlines._writing import headline_data, write_headlines

__all__ = [
    "headline_data",
    "judge_written",
    "novelty_quantile",
    "repetitions_of",
    "write_headlines",
]

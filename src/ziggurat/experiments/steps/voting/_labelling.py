"""What labels cost and how good they are: shared by the steps that let teachers vote.

An experiment is for the experimenter, who holds the votes: numbers that depend on them are named `..._private`, and
none of them may be published.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ziggurat.errors import ExperimentError
from ziggurat.experiments.steps.cases import Classes

if TYPE_CHECKING:
    from ziggurat.pate import Aggregator, Labels, Votes
    from ziggurat.privacy import Amount

MOMENTS = 100
"""The largest whole moment of a published data-dependent account; the printed 0.39 needs more than 29."""

OUTPUTS = (
    "answered",
    "ensemble_accuracy",
    "ensemble_balanced_accuracy",
    "label_accuracy",
    "label_balanced_accuracy",
    "agreement",
    "epsilon_published",
    "epsilon_record",
    "epsilon_dependent_private",
    "epsilon_exact_private",
)


def aggregator_of(kind: str, options: Mapping[str, Any]) -> Aggregator:
    """The aggregator that an experiment names, such as 'laplace' with {"gamma": "0.05"}."""
    from ziggurat.pate.voting import AGGREGATORS
    from ziggurat.wording import nearest

    if kind not in AGGREGATORS:
        raise ExperimentError(f"There is no aggregator {kind!r}; {nearest(kind, AGGREGATORS)}")
    try:
        return AGGREGATORS[kind](**options)
    except TypeError:
        raise ExperimentError(f"The options of the aggregator {kind!r} are not those it takes.") from None


def tell_accuracy(
    aggregator: Aggregator, votes: Votes, labels: Labels, truth: Classes, delta: Amount, moments: int = MOMENTS
) -> dict[str, Any]:
    """How right the votes and the labels are, and every account of what the labels cost.

    The published data-dependent account is over whole moments, 1 to `moments`, as the documents have it: from that
    grid their plateaus of 20.41 and 23.51 come.
    """
    best, given = votes.counts.argmax(axis=1), labels.answered
    return {
        "answered": int(given.sum()),
        "ensemble_accuracy": accuracy(best, truth),
        "ensemble_balanced_accuracy": balanced_accuracy(best, truth),
        "label_accuracy": accuracy(labels.labels[given], truth[given]),
        "label_balanced_accuracy": balanced_accuracy(labels.labels[given], truth[given]),
        "agreement": float(votes.counts.max(axis=1).mean() / votes.teachers),
        **_accounts(aggregator, votes, given, delta, moments),
    }


def _accounts(
    aggregator: Aggregator, votes: Votes, answered: npt.NDArray[np.bool_], delta: Amount, moments: int
) -> dict[str, float | None]:
    from ziggurat.pate import account, least_epsilon, published_curve

    made = account(aggregator, votes, delta=delta, answered=answered)
    dependent = None
    if made.published is not None:
        curve, orders = published_curve(aggregator, votes, answered), np.arange(2.0, moments + 2)
        dependent = least_epsilon(curve, delta, conversion="classic", orders=orders).epsilon
    exact = None if made.private_exact is None else made.private_exact.reveal_to_steward()
    return {
        "epsilon_published": None if made.published is None else float(made.published),
        "epsilon_record": float(made.record.epsilon),
        "epsilon_dependent_private": dependent,
        "epsilon_exact_private": exact,
    }


def expected_costs(aggregator: Aggregator, votes: Votes, delta: Amount) -> tuple[float, float]:
    """What the labels cost if every answer is charged with its probability: as published, and exact."""
    from ziggurat.pate import answer_probabilities, exact_curve, least_epsilon, published_curve

    chances = answer_probabilities(aggregator, votes)
    published = least_epsilon(published_curve(aggregator, votes, chances), delta, conversion="classic")
    return published.epsilon, least_epsilon(exact_curve(aggregator, votes, chances), delta).epsilon


def accuracy(named: Classes, truth: Classes) -> float:
    """The share that is right; 0 if nothing was named."""
    return float((named == truth).mean()) if len(truth) else 0.0


def balanced_accuracy(named: Classes, truth: Classes) -> float:
    """The mean over the classes that occur of the share that is right; naming one class always gives 1/classes."""
    shares = [float((named[truth == each] == each).mean()) for each in np.unique(truth)]
    return float(np.mean(shares)) if shares else 0.0

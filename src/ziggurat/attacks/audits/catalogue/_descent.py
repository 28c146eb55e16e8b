"""Audits of private gradient descent, step by step, and of the networks of `ziggurat.learn` that stand on it.

Whoever sees the weights after each step sees its noisy gradient. A module has a single weight, whose gradient for a row
is the row itself. All rows are 0 but a canary, far beyond the clipping, so that a step in which it is drawn moves the
released sum by exactly `clip` (Nasr et al. 2021: the strongest attacker knows the canary's gradient, and sees the sum
of every step). Every step is a run of its own of the sampled Gaussian mechanism, so the claim is that of one step.

A network is fitted by a single step in which every row takes part, on one row or none. The row is 0, so that all of its
gradient, longer than the clipping, is in the bias of the output, which leaves with the model. The step is so long that
the weights with which it began, drawn at random, do not matter.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ziggurat.attacks.audits._case import AuditCase, Draw
from ziggurat.attacks.audits.catalogue._fits import RepeatedFit, fit_case, with_one_more
from ziggurat.randomness import Source
from ziggurat.threads import one_torch_thread

if TYPE_CHECKING:
    from ziggurat.descent import DescentPlan

_DELTA, _SAMPLING, _ROWS = Fraction(1, 10), Fraction(3, 4), 4
_CANARY = 1000.0


def _take_steps(plan: DescentPlan, rows: int, source: Source) -> npt.NDArray[np.float64]:
    """The released sum of every step, for so many rows, of which the one beyond all but one declared is a canary."""
    import torch

    from ziggurat.descent import Descent, Gradients, PrivateTraining

    module = torch.nn.Linear(1, 1, bias=False).double()
    module.weight.data.zero_()
    training = PrivateTraining(Gradients(module, _outputs, "noted"), plan, Descent(1.0, "sgd", 0.0, False), source)
    table = torch.zeros((rows, 1), dtype=torch.float64)
    table[_ROWS - 1 :] = _CANARY
    with one_torch_thread():
        steps = training.steps(table, torch.zeros(rows), 0, plan.rounds.steps)
        path = [0.0, *(module.weight.item() for _ in steps)]
    return -np.diff(path) * float(plan.rounds.sampling * plan.rows)


def _outputs(outputs: Any, _targets: Any) -> Any:
    return outputs.squeeze(-1)


def _training(epsilon: Fraction) -> Draw:
    from ziggurat.descent import DescentPlan, Rounds, noise_multiplier

    multiplier = noise_multiplier(epsilon, _DELTA, Rounds(_SAMPLING, 1))

    def draw(world: Literal[0, 1], runs: int, source: Source) -> npt.ArrayLike:
        plan = DescentPlan(Rounds(_SAMPLING, runs), multiplier, Fraction(1), 4, _ROWS)
        return _take_steps(plan, _ROWS - world, source)

    return draw


def _bias(made: Any) -> float:
    return float(next(value for name, value in made.weights_.items() if name.endswith("bias")).ravel()[0])


_ONE_STEP: dict[str, Any] = {"bounds": (-1, 1), "hidden": (), "epochs": 1, "batch": 1, "expected_rows": 1}
_ONE_STEP |= {"delta": _DELTA, "optimiser": "sgd", "momentum": 0, "learning_rate": 1e4, "clip": "0.1", "average": False}
_NOBODY = "no row and one, one row more"

CASES = (
    fit_case(
        RepeatedFit("PrivateSGDClassifier", {**_ONE_STEP, "classes": 2}, with_one_more(0, 1), _bias),
        _NOBODY,
        delta=_DELTA,
        runs=250,
        fault=16,
    ),
    fit_case(
        RepeatedFit("PrivateSGDRegressor", {**_ONE_STEP, "y_bounds": (-1, 1)}, with_one_more(0, 1), _bias),
        _NOBODY,
        delta=_DELTA,
        runs=250,
        fault=16,
    ),
    AuditCase(
        "descent.PrivateTraining",
        "rows without a gradient, and a canary more, far beyond the clipping (each step a run)",
        _training,
        delta=_DELTA,
        runs=4000,
        fault=4,
        sees="all",
    ),
)

"""Steps about the ridge regression of document 002, section 8.4.1: proven and sampled sensitivity, and error."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ziggurat.errors import ExperimentError
from ziggurat.experiments._steps import step
from ziggurat.experiments.steps.cases import Floats, cut_parts, permute

PENALTY = 0.01


@step("ridge-rows", outputs=("rows", "columns"))
def ridge_rows(features: Floats, target: Floats) -> dict[str, Any]:
    """Normalise as the document does: every row of features has length 1, and targets in [-1, 1] become [0, 1].

    Returns
    -------
    dict
        The `rows`, targets last, and how many `columns` of features there are.
    """
    length = np.linalg.norm(features, axis=1, keepdims=True)
    scaled = features / np.where(length > 0, length, 1.0)
    return {"rows": np.column_stack([scaled, (target + 1) / 2]), "columns": int(features.shape[1])}


def ridge(tables: Floats, penalty: float = PENALTY) -> Floats:
    """The minimum of mean (y - xw)^2 + penalty |w|^2, for one table or a stack of them."""
    features, target = tables[..., :-1], tables[..., -1:]
    across = np.swapaxes(features, -1, -2)
    size = tables.shape[-2]
    squares = across @ features / size + penalty * np.eye(features.shape[-1])
    return np.asarray(np.linalg.solve(squares, across @ target / size)[..., 0])


def proven_sensitivity(rows: int, columns: int, penalty: float = PENALTY) -> float:
    """How far one replaced row moves the coefficients at most, in the l1 norm.

    |w| <= 1/(2 sqrt(penalty)): with singular values s of the features over the root of their number, s/(s^2 + penalty)
    is at most that, and the mean square of targets at most 1. So a row's half gradient (xw - y)x is at most
    1 + |w| long. The objective is strongly convex with 2 penalty, so the minimum moves by at most 2(1 + |w|)/(rows
    penalty) in the l2 norm, and sqrt(columns) times that in the l1 norm.
    """
    return 2 * (1 + 1 / (2 * math.sqrt(penalty))) / (rows * penalty) * math.sqrt(columns)


@step("ridge-error", outputs=("rmse", "plain_rmse", "constant_rmse", "sensitivity"))
def ridge_error(
    rows: Floats, level: float, *, runs: int = 50, held_out: float = 0.2, penalty: float = PENALTY, seed: int = 0
) -> dict[str, float]:
    """The error of ridge regression with Laplace noise of the proven sensitivity on its coefficients.

    Returns
    -------
    dict
        The mean `rmse` of so many runs on the rows held out, for targets in [0, 1]; `plain_rmse` without noise;
        `constant_rmse` of the mean of the target; and the `sensitivity`.
    """
    from ziggurat.randomness import seeded

    judged = round(held_out * len(rows))
    parts = cut_parts(permute(len(rows), seed), {"judged": judged, "learned": len(rows) - judged})
    learned, tested = rows[parts["learned"]], rows[parts["judged"]]
    moved = proven_sensitivity(len(learned), rows.shape[1] - 1, penalty)
    found = ridge(learned, penalty)
    noise = seeded(seed).child("noise").simulation().laplace(0, moved / level, (len(found), runs))
    features, truth = tested[:, :-1], tested[:, -1:]
    noisy = np.sqrt(np.mean((features @ (found[:, None] + noise) - truth) ** 2, axis=0))
    return {
        "rmse": float(noisy.mean()),
        "plain_rmse": float(np.sqrt(np.mean((features @ found - truth[:, 0]) ** 2))),
        "constant_rmse": float(np.sqrt(np.mean((learned[:, -1].mean() - truth) ** 2))),
        "sensitivity": moved,
    }


@step("ridge-sensitivities", outputs=("sensitivities", "largest", "proven"))
def ridge_sensitivities(
    rows: Floats, *, size: int = 1000, pairs: int = 1000, penalty: float = PENALTY, seed: int = 0
) -> dict[str, Any]:
    """Sample how far one replaced row moves the coefficients of ridge regression, on tables of `size` rows.

    The rows must be public: what is sampled from rows about people is itself a leak.

    Returns
    -------
    dict
        The `sensitivities`, the `largest` of them, and what is `proven` for any rows.
    """
    from ziggurat.privacy import PrivateSamplingWarning, draw_from_table, sample_sensitivity
    from ziggurat.randomness import seeded

    random = seeded(seed).child("pairs").simulation()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivateSamplingWarning)
        draw = draw_from_table(rows)
    found = sample_sensitivity(lambda tables: ridge(tables, penalty), draw, size, pairs, random, vectorized=True)
    return {
        "sensitivities": found.values,
        "largest": float(found.values[-1]),
        "proven": proven_sensitivity(size, rows.shape[1] - 1, penalty),
    }


@step("sampled-sensitivity", outputs=("sensitivity", "confidence"))
def sampled_sensitivity(
    setting: Mapping[str, Any], sensitivities: Sequence[Any], quantile: float, *, accuracy: float = 0.01
) -> dict[str, float]:
    """A quantile of all sampled sensitivities, and with what confidence a fresh pair keeps to it.

    Parameters
    ----------
    setting
        `formula`: 'empirical' (the quantile itself), 'as-published' (equation 8.9), 'corrected' or 'order-statistic'.
    sensitivities
        Those of 'ridge-sensitivities', once or gathered over its runs.
    """
    from ziggurat.experiments.steps.models._decide import sampling_confidence
    from ziggurat.privacy import SampledSensitivity

    parts = [each["value"] if isinstance(each, Mapping) else each for each in sensitivities]
    found = SampledSensitivity(np.concatenate([np.atleast_1d(part) for part in parts]))
    place = found.quantile(quantile)
    formula = setting["formula"]
    if formula == "empirical":
        return {"sensitivity": place, "confidence": quantile}
    if formula not in ("as-published", "corrected", "order-statistic"):
        raise ExperimentError("'formula' must be empirical, as-published, corrected or order-statistic.")
    share = sampling_confidence(formula, quantile=quantile, samples=len(found), accuracy=accuracy)["confidence"]
    return {"sensitivity": place, "confidence": max(share, 0.0)}

"""One person's row from the exact parameters of a linear model, by an attacker who knows all other rows.

Balle, Cherubin, Hayes (2022), "Reconstructing training data with informed adversaries", IEEE S&P. At the minimum of

    sum_i loss(y_i, w x_i + b) + 1/2 sum_j penalty_j theta_j^2,   theta = (w, b),

the gradient is 0: sum_i e_i (x_i, 1) + penalty theta = 0, where e_i is the slope of the loss: w x_i + b - y_i of half
squared residuals, p_i - y_i of the logistic loss. All terms but one are known, so the missing one is, e (x, 1) = g:
its last entry is e where there is an intercept, then x = g / e, and the label follows: y = w x + b - e of a number, and
of classes the only one with a negative slope. Several classes give one such equation each, solved by least squares.
Without an intercept the row is known up to the scalar e, and e follows from the label: of a number it solves
e^2 + e y - w g = 0 (two roots fit; the likelier is taken), of classes e = p(w g / e) - y.

Whoever stops the solver early, or adds noise to the parameters, adds the same to g: the error of the row is that error
by e, so that people whom the model fits worst are rebuilt best.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from ziggurat.attacks.models._attacked import Floats, LabelledRows
from ziggurat.cards import Shown
from ziggurat.errors import DataError, ParameterError

_REFUSED = (
    "Rows are rebuilt from LinearRegression, Ridge and LogisticRegression, with squared penalties and no weights."
)
_READ = ("LinearRegression", "Ridge", "LogisticRegression")


@dataclass(frozen=True)
class LinearParameters(Shown):
    """A fitted linear model as an attacker reads it, and the objective that it minimised.

    Attributes
    ----------
    loss
        "squares" or "logistic".
    weights
        (classes, columns): a row for a number, one for two classes (of the second), else one for each.
    intercepts
        One for each of these; zeros without.
    fit_intercept
        Whether there is an intercept.
    penalty
        The weight of half the squares of `weights`, beside the sum of half squared residuals or logistic losses.
    intercept_penalty
        The same for intercepts.
    bounds
        (2, columns): public bounds between which features were scaled to [-1, 1] before penalties counted; or None.
    rest
        Whether several classes were told apart one against the rest, not together.
    name
        What it is, for people.
    """

    loss: Literal["squares", "logistic"]
    weights: Floats = field(repr=False)
    intercepts: Floats = field(repr=False)
    fit_intercept: bool = True
    penalty: float = 0.0
    intercept_penalty: float = 0.0
    bounds: Floats | None = field(default=None, repr=False)
    rest: bool = False
    name: str = "the model"

    @classmethod
    def of(cls, estimator: Any) -> Self:
        """Read a fitted linear model of scikit-learn or of `ziggurat.learn`; ParameterError if it is none of these."""
        from sklearn.base import is_classifier, is_regressor

        _refuse_others(estimator)
        if not hasattr(estimator, "coef_"):
            raise ParameterError("Rows are rebuilt from a model that was fitted; fit it first.")
        ours = hasattr(estimator, "event_")
        shared: dict[str, Any] = {
            "weights": np.atleast_2d(np.asarray(estimator.coef_, np.float64)),
            "intercepts": np.atleast_1d(np.asarray(estimator.intercept_, np.float64)),
            "fit_intercept": bool(estimator.fit_intercept),
            "name": type(estimator).__name__,
        }
        if is_classifier(estimator):
            shared["penalty"] = 1 / float(estimator.C_ if ours else estimator.C)
            if ours:
                shared |= {"bounds": estimator.bounds_, "intercept_penalty": shared["penalty"], "rest": True}
            return cls("logistic", **shared)
        if is_regressor(estimator) and len(shared["weights"]) == 1:
            alpha = getattr(estimator, "alpha_" if ours else "alpha", 0.0)
            return cls("squares", **shared, penalty=float(alpha))
        raise ParameterError(_REFUSED)

    def scaled(self) -> tuple[Floats, Floats]:
        """Weights and intercepts of the scaled features, which penalties count."""
        if self.bounds is None:
            return self.weights, self.intercepts
        centre, half = self._frame
        return self.weights * half, self.intercepts + self.weights @ centre

    def scale(self, features: Floats) -> Floats:
        """Features as the objective sees them."""
        if self.bounds is None:
            return features
        centre, half = self._frame
        return np.asarray((np.clip(features, *self.bounds) - centre) / half)

    def unscale(self, row: Floats) -> Floats:
        """A row of scaled features in the units of the data."""
        if self.bounds is None:
            return row
        centre, half = self._frame
        return np.asarray(centre + half * row)

    @property
    def _frame(self) -> tuple[Floats, Floats]:
        low, high = np.asarray(self.bounds, np.float64)
        half = np.where(high > low, (high - low) / 2, 1.0)
        if not self.fit_intercept:
            reach = np.maximum(np.abs(low), np.abs(high))
            return np.zeros_like(reach), np.where(reach > 0, reach, 1.0)
        return (low + high) / 2, half


@dataclass(frozen=True)
class RebuiltRow:
    """A row that was rebuilt from parameters; it is data about a person.

    Attributes
    ----------
    features
        The row.
    label
        Its label: a number, or the code of a class.
    slope
        How large the slope of its loss is: the smaller, the more an error in the parameters counts.
    """

    features: Floats = field(repr=False)
    label: float = field(repr=False)
    slope: float


def reconstruct_row(model: Any, others: LabelledRows, *, label: float | None = None) -> RebuiltRow:
    """Rebuild the one row of the training data that is not among the others.

    Parameters
    ----------
    model
        `LinearParameters`, or a fitted linear model of scikit-learn (`LinearRegression`, `Ridge`, `LogisticRegression`
        by any solver but liblinear) or of `ziggurat.learn`.
    others
        All other rows that it was fitted on, with their labels; classes as codes from 0 in the order of the model's.
    label
        The label of the missing row, if known; needed without an intercept.

    Raises
    ------
    ParameterError
        If the model is no such model, or has no intercept and no label is given.
    """
    known = model if isinstance(model, LinearParameters) else LinearParameters.of(model)
    if others.features.shape[1] != known.weights.shape[1]:
        raise DataError("The other rows must have as many columns as the model has weights.")
    missing, slopes = _find_missing(known, others)
    if known.fit_intercept:
        return _divide(known, missing, slopes, label)
    if label is None:
        raise ParameterError("Without an intercept a row is known up to a factor only; give its label.")
    return _solve(known, missing, others, float(label))


def _refuse_others(estimator: Any) -> None:
    """Whatever minimises something else, or weighs people differently, in ways that parameters do not tell."""
    unlike = (
        type(estimator).__name__ not in _READ,
        getattr(estimator, "class_weight", None) is not None,
        getattr(estimator, "positive", False),
        getattr(estimator, "solver", "") == "liblinear",
        getattr(estimator, "penalty", "deprecated") not in ("deprecated", "l2", None),
        bool(getattr(estimator, "l1_ratio", 0.0)),
        np.ndim(getattr(estimator, "alpha", 0.0)) > 0,
    )
    if any(unlike):
        raise ParameterError(_REFUSED)


def _find_missing(known: LinearParameters, others: LabelledRows) -> tuple[Floats, Floats]:
    """The missing gradient of every equation: of the features (equations, columns), and of the intercept."""
    rows, (weights, intercepts) = known.scale(others.features), known.scaled()
    slopes = _slopes(known, rows @ weights.T + intercepts, others.labels)
    missing = -(slopes.T @ rows) - known.penalty * weights
    return missing, -slopes.sum(axis=0) - known.intercept_penalty * intercepts


def _slopes(known: LinearParameters, fitted: Floats, labels: npt.NDArray[Any]) -> Floats:
    """The slope of the loss by fitted value: (rows, equations)."""
    if known.loss == "squares":
        return np.asarray(fitted - labels[:, None])
    from scipy.special import expit, softmax

    if fitted.shape[1] == 1:
        return np.asarray(expit(fitted) - (labels[:, None] == 1))
    probabilities = expit(fitted) if known.rest else softmax(fitted, axis=1)
    return np.asarray(probabilities - (labels[:, None] == np.arange(fitted.shape[1])))


def _divide(known: LinearParameters, missing: Floats, slopes: Floats, label: float | None) -> RebuiltRow:
    size = float(slopes @ slopes)
    row = slopes @ missing / size if size > 0 else np.zeros(missing.shape[1])
    if label is None:
        label = _tell_label(known, row, slopes)
    return RebuiltRow(known.unscale(row), label, float(np.sqrt(size)))


def _tell_label(known: LinearParameters, row: Floats, slopes: Floats) -> float:
    weights, intercepts = known.scaled()
    if known.loss == "squares":
        return float((row @ weights.T + intercepts)[0] - slopes[0])
    return float(slopes[0] < 0) if len(slopes) == 1 else float(np.argmin(slopes))


def _solve(known: LinearParameters, missing: Floats, others: LabelledRows, label: float) -> RebuiltRow:
    """Without an intercept, from the label: of the slopes that fit it, the likeliest among people as the others are.

    The density of a slope e, given g = e x, is p(e) p(x = g/e) |e|^-d; rows and residuals are taken for normal.
    """
    weights, intercepts = known.scaled()
    rows = known.scale(others.features)
    slopes = _find_slopes(known, missing, weights, label)
    if not slopes:
        return RebuiltRow(others.features.mean(axis=0), label, 0.0)
    spread = np.linalg.pinv(np.cov(rows, rowvar=False).reshape(rows.shape[1], -1))
    residual = float(np.mean(_slopes(known, rows @ weights.T + intercepts, others.labels) ** 2)) + 1e-300

    def weigh(slope: float) -> float:
        off = missing[0] / slope - rows.mean(axis=0)
        own = -(slope**2) / residual / 2 if known.loss == "squares" else np.log1p(-min(abs(slope), 1 - 1e-15))
        return float(own - off @ spread @ off / 2 - len(off) * np.log(abs(slope)))

    best = max(slopes, key=weigh)
    return RebuiltRow(known.unscale(missing[0] / best), label, abs(best))


def _find_slopes(known: LinearParameters, missing: Floats, weights: Floats, label: float) -> list[float]:
    along = float(weights[0] @ missing[0])
    if known.loss == "squares":
        found = np.roots([1.0, label, -along])
        return [float(each.real) for each in found if abs(each.imag) < 1e-9 and abs(each) > 0]
    if len(weights) > 1:
        raise ParameterError("Without an intercept rows are rebuilt from numbers and two classes only.")
    from scipy.optimize import brentq
    from scipy.special import expit

    def gap(size: float) -> float:
        """Of a slope of the right sign and this size: its distance from the one that its row has."""
        slope = -size if label == 1 else size
        return float(expit(along / slope) - (label == 1) - slope)

    grid = np.concatenate([np.geomspace(1e-9, 1e-3, 60), np.linspace(1e-3, 1 - 1e-12, 400)[1:]])
    signs = [(low, high) for low, high in pairwise(grid) if gap(low) * gap(high) <= 0]
    sizes = [float(brentq(gap, low, high, xtol=1e-15)) for low, high in signs]
    return [-size if label == 1 else size for size in sizes]

"""Linear models with absolute values in their penalty, to publish."""

from __future__ import annotations

from typing import Any

from ziggurat.errors import ParameterError
from ziggurat.learn._choosing import weight_of
from ziggurat.learn.linear._methods import METHODS
from ziggurat.learn.linear._regression import _SHARED, CHOSEN, PRIVATELY, Weighted
from ziggurat.privacy import Amount

_ON_SUMS = tuple(name for name in METHODS if name not in ("objective", "output"))
_WEIGHT = (
    "\n    alpha\n        The weight of the penalty beside half the mean of squared residuals: a public number, or\n"
    '        "private" to choose one of `alphas`.' + PRIVATELY.format(grid="0.0001, 0.001, 0.01, 0.1 and 1")
)
_GRID = (0.0001, 0.001, 0.01, 0.1, 1.0)


class ElasticNet(Weighted):
    __doc__ = "Least squares with squares and absolute values in the penalty, protected.\n" + _SHARED.format(
        weights=_WEIGHT + "\n    l1_ratio\n        The part of absolute values in it, from 0 to 1.",
        more="",
        chosen=CHOSEN,
    )
    _methods = _ON_SUMS
    _grid = _GRID

    def __init__(
        self,
        alpha: float | str = 1.0,
        *,
        alphas: Any = None,
        l1_ratio: float = 0.5,
        epsilon: Amount = 1,
        delta: Amount = "1e-6",
        method: str = "adassp",
        bounds: Any = None,
        y_bounds: Any = None,
        bounds_share: Amount = "0.1",
        clip_norm: Amount | None = None,
        fit_intercept: bool = True,
        relation: str = "add-or-remove-one",
        expected_rows: int | None = None,
        random_state: int | None = None,
    ) -> None:
        super().__init__(
            alpha, alphas=alphas, epsilon=epsilon, delta=delta, method=method, bounds=bounds, y_bounds=y_bounds,
            bounds_share=bounds_share, clip_norm=clip_norm, fit_intercept=fit_intercept, relation=relation,
            expected_rows=expected_rows, random_state=random_state,
        )  # fmt: skip
        self.l1_ratio = l1_ratio

    def _weigh_penalty(self, weight: float) -> tuple[float, float]:
        ratio = weight_of(self.l1_ratio, "l1_ratio")
        if ratio > 1:
            raise ParameterError("l1_ratio must be a number from 0 to 1.")
        return weight * (1 - ratio), weight * ratio

    def _per_row(self) -> bool:
        return True


class Lasso(Weighted):
    __doc__ = "Least squares with a penalty of absolute values, protected.\n" + _SHARED.format(
        weights=_WEIGHT, more="", chosen=CHOSEN
    )
    _methods = _ON_SUMS
    _grid = _GRID

    def _weigh_penalty(self, weight: float) -> tuple[float, float]:
        return 0.0, weight

    def _per_row(self) -> bool:
        return True

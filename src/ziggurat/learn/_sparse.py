"""Linear models with absolute values in their penalty, to publish."""

from __future__ import annotations

from typing import Any

from ziggurat.errors import ParameterError
from ziggurat.learn._linear import _SHARED, Weighted, weight_of
from ziggurat.learn._linear_methods import METHODS
from ziggurat.privacy import Amount

_ON_SUMS = tuple(name for name in METHODS if name not in ("objective", "output"))
_WEIGHT = "\n    alpha\n        The public weight of the penalty beside half the mean of squared residuals."


class ElasticNet(Weighted):
    __doc__ = "Least squares with squares and absolute values in the penalty, protected.\n" + _SHARED.format(
        weights=_WEIGHT + "\n    l1_ratio\n        The part of absolute values in it, from 0 to 1.", more=""
    )
    _methods = _ON_SUMS

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        epsilon: Amount = 1,
        delta: Amount = "1e-6",
        method: str = "adassp",
        bounds: Any = None,
        y_bounds: Any = None,
        bounds_share: Amount = "0.1",
        clip_norm: Amount | None = None,
        fit_intercept: bool = True,
        relation: str = "replace-one",
        random_state: int | None = None,
    ) -> None:
        super().__init__(
            alpha, epsilon=epsilon, delta=delta, method=method, bounds=bounds, y_bounds=y_bounds,
            bounds_share=bounds_share, clip_norm=clip_norm, fit_intercept=fit_intercept, relation=relation,
            random_state=random_state,
        )  # fmt: skip
        self.l1_ratio = l1_ratio

    def _penalised(self) -> tuple[float, float]:
        weight, ratio = weight_of(self.alpha), weight_of(self.l1_ratio, "l1_ratio")
        if ratio > 1:
            raise ParameterError("l1_ratio must be a number from 0 to 1.")
        return weight * (1 - ratio), weight * ratio

    def _per_row(self) -> bool:
        return True


class Lasso(Weighted):
    __doc__ = "Least squares with a penalty of absolute values, protected.\n" + _SHARED.format(weights=_WEIGHT, more="")
    _methods = _ON_SUMS

    def _penalised(self) -> tuple[float, float]:
        return 0.0, weight_of(self.alpha)

    def _per_row(self) -> bool:
        return True

"""Linear models with absolute values in their penalty, to publish."""

from __future__ import annotations

from dataclasses import dataclass

from ziggurat.errors import ParameterError
from ziggurat.learn._choosing import weight_of
from ziggurat.learn.linear._methods import METHODS
from ziggurat.learn.linear._regression import _SHARED, CHOSEN, PRIVATELY, Weighted

_ON_SUMS = tuple(name for name in METHODS if name not in ("objective", "output"))
_WEIGHT = (
    "\n    alpha\n        The weight of the penalty beside half the mean of squared residuals: a public number, or\n"
    '        "private" to choose one of `alphas`.' + PRIVATELY.format(grid="0.0001, 0.001, 0.01, 0.1 and 1")
)
_GRID = (0.0001, 0.001, 0.01, 0.1, 1.0)


@dataclass(eq=False, repr=False, kw_only=True)
class ElasticNet(Weighted):
    __doc__ = "Least squares with squares and absolute values in the penalty, protected.\n" + _SHARED.format(
        weights=_WEIGHT + "\n    l1_ratio\n        The part of absolute values in it, from 0 to 1.",
        more="",
        chosen=CHOSEN,
    )
    _methods = _ON_SUMS
    _grid = _GRID
    l1_ratio: float = 0.5

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

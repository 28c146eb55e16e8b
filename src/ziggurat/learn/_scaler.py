"""A scaler for pipelines that learns nothing: by public bounds."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin

from ziggurat.errors import NotPublicError
from ziggurat.learn._clipping import Floats, Scale, check_rows, read_bounds


class DeclaredScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]  # no types
    """Scale columns by declared public bounds to [-1, 1], and move what lies outside to the bounds.

    It stands where `StandardScaler` or `MinMaxScaler` would, which learn from private rows what nobody pays for. Every
    row is mapped by itself and by public numbers alone, so neighbouring tables stay neighbours under any relation, and
    what follows in a pipeline keeps its own promise. The models of this package scale by their own `bounds` already.

    Parameters
    ----------
    bounds
        Public (lower, upper): numbers, or one for every column; not taken from the rows. They must be declared.

    Attributes
    ----------
    n_features_in_
        How many columns the rows have: all that `fit` notes.
    """

    n_features_in_: int

    def __init__(self, bounds: Any = None) -> None:
        self.bounds = bounds

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002, N803 - as in scikit-learn
        """Check the bounds and the columns; nothing is learned from the rows."""
        self._scale(check_rows(self, X, reset=True).shape[1])
        return self

    def transform(self, X: Any) -> Floats:  # noqa: N803
        """Map the bounds to [-1, 1]; fitting first is not needed."""
        table = check_rows(self, X, reset=not hasattr(self, "n_features_in_"))
        return self._scale(table.shape[1]).scale(table)

    def inverse_transform(self, X: Any) -> Floats:  # noqa: N803
        """Map [-1, 1] back to the bounds; what was moved stays moved."""
        table = np.asarray(check_rows(self, X))
        scale = self._scale(table.shape[1])
        return np.asarray(scale.centre + scale.half * table)

    def _scale(self, columns: int) -> Scale:
        if self.bounds is None:
            raise NotPublicError(
                "Declare the public bounds of the columns, which the data may not tell for free: bounds=."
            )
        return read_bounds(self.bounds, columns, "bounds")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags

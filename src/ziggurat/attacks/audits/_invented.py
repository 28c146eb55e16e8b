"""Invented neighbours for an estimator, within what it declares: a canary in a corner, with a label of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ziggurat.privacy import Relation

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class InventedPair:
    """Two neighbouring tables of invented rows.

    Attributes
    ----------
    features, labels
        Of each of the two; labels are None where an estimator has none.
    probes
        Rows about which fitted estimators are asked: both corners and their middle, or the questions that were stated.
    words
        What the neighbours are, in a clause.
    """

    features: tuple[Floats, Floats]
    labels: tuple[npt.NDArray[Any] | None, npt.NDArray[Any] | None]
    probes: Floats
    words: str

    def fit(self, model: Any, world: Literal[0, 1]) -> Any:
        """Fit an estimator on one of them."""
        import warnings

        given = (self.features[world],) if self.labels[world] is None else (self.features[world], self.labels[world])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that so few rows are mostly noise is meant here
            return model.fit(*given)


def invent_pair(model: Any, rows: int, columns: int) -> InventedPair:
    """Invent two neighbours of so many rows besides the canary, as the estimator promises about them."""
    low, high = _corners(model, columns)
    ordinary, odd = _pick_labels(model)
    others = np.tile(low, (rows, 1))
    others[1::2] = _middle(model, low, high)
    whom = model.planned(rows + 1, columns).neighbours if hasattr(model, "planned") else None
    only_label = whom is not None and whom.unit.name == "label"
    replaced = only_label or (whom is not None and whom.relation is Relation.REPLACE_ONE)
    table = np.vstack([others, high])
    neighbour = table if only_label else np.vstack([others, low]) if replaced else others
    labels: tuple[Any, Any] = (None, None)
    if ordinary is not None:
        labels = np.array([ordinary] * rows + [odd]), np.array([ordinary] * len(neighbour))
    asked = _parameter(model, "questions")
    probes = np.vstack([low, _middle(model, low, high), high]) if asked is None else np.asarray(asked, np.float64)
    return InventedPair((table, neighbour), labels, probes, _say(whom, rows))


def _say(whom: Any, rows: int) -> str:
    what = "a label of its own" if whom is not None and whom.unit.name == "label" else "a row in a corner"
    if whom is None:
        return f"{rows:,} invented rows and {what}, which the neighbour lacks"
    changed = "in whose place is another" if whom.relation is Relation.REPLACE_ONE else "which the neighbour lacks"
    return f"{rows:,} invented rows and {what}, {changed}"


def _parameter(model: Any, name: str) -> Any:
    """A parameter of the estimator, or of the one that it wraps."""
    given = model.get_params(deep=False)
    if given.get(name) is not None:
        return given[name]
    inner = next((given[each] for each in ("model", "estimator") if hasattr(given.get(each), "get_params")), None)
    return None if inner is None else _parameter(inner, name)


def _corners(model: Any, columns: int) -> tuple[Floats, Floats]:
    categories, bounds = _parameter(model, "categories"), _parameter(model, "bounds")
    if categories is not None:
        return np.zeros(columns), np.broadcast_to(np.asarray(categories, np.float64) - 1, (columns,)).copy()
    lower, upper = (-1.0, 1.0) if bounds is None else bounds
    ends = [np.broadcast_to(np.asarray(end, np.float64), (columns,)).copy() for end in (lower, upper)]
    return ends[0], ends[1]


def _middle(model: Any, low: Floats, high: Floats) -> Floats:
    middle = (low + high) / 2
    return np.floor(middle) if _parameter(model, "categories") is not None else middle


def _pick_labels(model: Any) -> tuple[Any, Any]:
    """The label of everybody, and that of the canary; nothing if the estimator learns no labels."""
    from sklearn.base import is_classifier, is_regressor

    if is_classifier(model):
        classes = _parameter(model, "classes")
        known = np.arange(2 if classes is None else classes) if np.ndim(classes) == 0 else np.unique(classes)
        return known[0], known[-1]
    if is_regressor(model):
        low, high = _parameter(model, "y_bounds") or (-1.0, 1.0)
        return float(low), float(high)
    return None, None

"""Parts that hold rows of people by what they are, whoever the people are."""

from __future__ import annotations

from typing import Any

import numpy as np

from ziggurat.attacks.models.inspection._held import HeldPart
from ziggurat.attacks.models.inspection._walk import Visit

_BY_NAME = {
    "_fit_X": "rows of nearest neighbours",
    "_raw_data": "rows of nearest neighbours",
    "support_vectors_": "support vectors",
    "X_train_": "rows of a Gaussian process",
    "y_train_": "labels of a Gaussian process",
    "X_fit_": "rows of a kernel method",
    "X_": "rows as they were given",
    "y_": "labels as they were given",
    "training_data_": "rows as they were given",
    "transduction_": "a label for every row",
    "centres_": "rows of a served model, which stays with its steward",
    "embedding_": "a place for every row",
    "labels_": "an answer for every row",
    "oob_prediction_": "an answer for every row",
    "oob_decision_function_": "an answer for every row",
    "negative_outlier_factor_": "an answer for every row",
    "inlier_mask_": "an answer for every row",
    "cv_results_": "an answer for every row",
    "X_thresholds_": "points of an isotonic regression",
}
_BY_CLASS = {
    ("DBSCAN", "components_"): "core rows of clusters",
    ("Nystroem", "components_"): "rows of a kernel map",
}
_INDEXES = ("KDTree", "BallTree", "cKDTree", "KDTree64", "KDTree32", "BallTree64", "BallTree32")


def recognize(visit: Visit, few: int) -> HeldPart | None:
    """Say what it is, if it holds rows of people by its kind.

    Parameters
    ----------
    visit
        A part of the object.
    few
        A leaf or a mean of at most so many people counts as theirs.
    """
    kind, value = type(visit.value).__name__, visit.value
    if visit.name in _BY_NAME:
        return _count(visit, _BY_NAME[visit.name])
    if kind in _INDEXES and hasattr(value, "data"):
        return HeldPart(visit.path, "an index of rows", len(np.asarray(value.data)))
    if hasattr(value, "children_left") and hasattr(value, "n_node_samples"):
        leaves = np.asarray(value.n_node_samples)[np.asarray(value.children_left) < 0]
        return _tell_leaves(visit, leaves, few)
    if kind == "TreePredictor" and hasattr(value, "nodes"):
        return _tell_leaves(visit, value.nodes["count"][value.nodes["is_leaf"].astype(bool)], few)
    return _tell_components(visit, kind) or _tell_means(visit, few)


def _count(visit: Visit, kind: str) -> HeldPart | None:
    shape = np.shape(visit.value) if not hasattr(visit.value, "shape") else visit.value.shape
    return HeldPart(visit.path, kind, int(shape[0])) if shape and shape[0] else None


def _tell_leaves(visit: Visit, leaves: Any, few: int) -> HeldPart | None:
    lone = int((leaves <= few).sum())
    whose = "one person" if few == 1 else f"at most {few} people"
    return HeldPart(visit.path, f"a tree with leaves of {whose}", lone) if lone and len(leaves) > 1 else None


def _tell_components(visit: Visit, kind: str) -> HeldPart | None:
    for (owner, name), words in _BY_CLASS.items():
        held = getattr(visit.value, name, None) if kind == owner else None
        if held is not None:
            return HeldPart(f"{visit.path}.{name}".lstrip("."), words, len(held))
    return None


def _tell_means(visit: Visit, few: int) -> HeldPart | None:
    """Means of classes, or of clusters, that are those of one or few people."""
    held = getattr(visit.value, "__dict__", {})
    if "theta_" in held and "class_count_" in held:
        lone = int((np.asarray(held["class_count_"]) <= few).sum())
        return HeldPart(f"{visit.path}.theta_".lstrip("."), "means of one person", lone) if lone else None
    if "cluster_centers_" in held and "labels_" in held and len(np.shape(held["labels_"])) == 1:
        labels = np.asarray(held["labels_"])
        lone = int((np.bincount(labels[labels >= 0]) <= few).sum()) if labels.size else 0
        return HeldPart(f"{visit.path}.cluster_centers_".lstrip("."), "means of one person", lone) if lone else None
    return None

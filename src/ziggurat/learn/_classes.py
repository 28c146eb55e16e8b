"""The classes of a classifier: a public list, and labels as places in it."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.data.withheld import RowsError, cells_withheld
from ziggurat.errors import NotPublicError, ParameterError
from ziggurat.privacy import whole_number

Labels = npt.NDArray[Any]
Integers = npt.NDArray[np.int64]


def public_classes(given: Any) -> Labels:
    """Read classes that were declared, in order: a list of labels, or a number k for the labels 0 to k - 1.

    Raises
    ------
    NotPublicError
        If none were declared: which labels occur is a fact of private rows.
    """
    if given is None:
        raise NotPublicError("Declare the classes, which the data may not tell for free: classes=[...] or a number.")
    if isinstance(given, Integral):
        return np.arange(whole_number(given, "classes", 2))
    try:
        known = np.asarray(given)
        # Of labels of two kinds NumPy would make one in silence.
        distinct, kinds = np.unique(known), {isinstance(label, str) for label in given}
        sound = known.ndim == 1 and len(kinds) == 1 and 2 <= distinct.size == known.size and _is_discrete(known)
    except (TypeError, ValueError):
        sound = False
    if not sound:
        raise ParameterError(
            "classes must be a list of at least two labels of one kind, whole numbers or text, each of them once."
        )
    return distinct


def _is_discrete(known: Labels) -> bool:
    """Say whether scikit-learn takes all labels for classes: it refuses fractions, whoever has them."""
    return known.dtype.kind != "f" or bool(np.all(known == np.rint(known)) and np.isfinite(known).all())


def code_labels(labels: Labels, classes: Labels) -> Integers:
    """Give the place of every label among the classes; RowsError if one is not among them, which is not shown."""
    require_labels(labels)
    place = {label: at for at, label in enumerate(classes.tolist())}
    codes = np.array([place.get(label, -1) for label in labels.tolist()], dtype=np.int64)
    if (codes < 0).any():
        raise RowsError("Some labels are not among the declared classes; declare all that may occur.")
    return codes


def require_labels(labels: Labels) -> None:
    """Refuse what cannot be labels of classes.

    `check_classification_targets` would do, but that it warns where many different labels occur: a fact of private
    rows.
    """
    from sklearn.utils.multiclass import type_of_target

    try:
        with cells_withheld():
            kind = type_of_target(labels, input_name="y")
    except TypeError:
        raise RowsError("Labels must be all of one kind, numbers or text, with none missing.") from None
    if kind not in ("binary", "multiclass"):
        raise RowsError(f"Unknown label type: {kind}; give every row the label of one declared class.")

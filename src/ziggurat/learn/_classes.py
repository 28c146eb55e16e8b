"""The classes of a classifier: a public list, and labels as places in it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.data._withheld import RowsError
from ziggurat.errors import ParameterError
from ziggurat.learn._clipping import Integers, cells_withheld

Labels = npt.NDArray[Any]


def declared_classes(given: Any) -> Labels:
    """Read a list of labels that was declared, and sort it."""
    try:
        listed = np.unique(np.asarray(given))
    except TypeError:
        listed = np.array([])
    if listed.size < 2:
        raise ParameterError("classes must be a list of at least two labels of one kind.")
    return listed


def coded(labels: Labels, given: Any) -> tuple[Labels, Integers]:
    """Give the classes and the place of every label among them.

    `given` is the public list. None states that which labels occur at all is public, and takes those that do.

    Raises
    ------
    RowsError
        If a label is not among the classes, or there is one class only; no label is shown.
    """
    from sklearn.utils.multiclass import check_classification_targets

    try:
        with cells_withheld():
            check_classification_targets(labels)
        classes = np.unique(labels) if given is None else declared_classes(given)
    except TypeError:
        raise RowsError("Labels must be all of one kind, numbers or text, with none missing.") from None
    if classes.size < 2:
        raise RowsError("There is one class only; declare the public list of classes.")
    place = {label: at for at, label in enumerate(classes.tolist())}
    codes = np.array([place.get(label, -1) for label in labels.tolist()], dtype=np.int64)
    if (codes < 0).any():
        raise RowsError("Some labels are not among the classes that were declared.")
    return classes, codes

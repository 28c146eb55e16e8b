"""What a student learns from: checked rows, labels of any kind as numbers, and labels spread to rows without one."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.data.withheld import RowsError, cells_withheld, finite
from ziggurat.pate.training import Network
from ziggurat.pate.voting import UNANSWERED, Labels

_NEIGHBOURS = 7  # of a row that its label is spread from, as scikit-learn has it
_HOPS = 300  # from neighbour to neighbour; a float could follow a label's weight for 450

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class StudentTarget:
    """The classes in order, and for every row the place of its class among them, or -1 where it has no label."""

    classes: npt.NDArray[Any]
    codes: Integers

    @property
    def labelled(self) -> npt.NDArray[np.bool_]:
        """Which rows have a label."""
        return np.asarray(self.codes != UNANSWERED)


def check_table(student: Any, features: Any, *, reset: bool = False) -> npt.NDArray[Any]:
    """Return a table of finite numbers; `reset` notes its columns, which are otherwise compared."""
    from sklearn.utils.validation import validate_data

    with cells_withheld():
        table = validate_data(student, features, reset=reset, ensure_all_finite=False)
    return finite(table, "features")


def check_pairs(student: Any, features: Any, labels: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return a table of finite numbers and as many labels of any kind; the columns are noted."""
    from sklearn.utils.validation import validate_data

    with cells_withheld():
        table, known = validate_data(student, features, labels, ensure_all_finite=False)
    return finite(table, "features"), _as_classes(known)


def check_labels(labels: Any) -> npt.NDArray[Any]:
    """Return labels of any kind, one after the other."""
    from sklearn.utils.validation import column_or_1d

    with cells_withheld():
        known = column_or_1d(labels, warn=True)
    return _as_classes(known)


def target(labels: Any, rows: int, network: Network | None, *, gaps: bool) -> StudentTarget:
    """Number the classes; with `gaps` the whole number -1 means a row without a label.

    A network knows its classes as 0, 1, ..., so whole numbers stand for themselves; labels of another kind get their
    numbers by their order.
    """
    values = labels.labels if isinstance(labels, Labels) else np.asarray(labels)
    require_as_many(values, rows)
    known = values != UNANSWERED if gaps and values.dtype.kind in "iu" else np.ones(rows, dtype=bool)
    if not known.any():
        raise RowsError("No row has a label, so there is nothing to learn from; have more queries answered.")
    classes = _classes(values[known], network)
    codes = np.full(rows, UNANSWERED, dtype=np.int64)
    codes[known] = codes_of(values[known], classes)
    return StudentTarget(classes, codes)


def codes_of(values: npt.NDArray[Any], classes: npt.NDArray[Any]) -> Integers:
    """Return the place of every label among the classes."""
    place = {label: at for at, label in enumerate(classes.tolist())}
    codes = np.array([place.get(label, UNANSWERED) for label in values.tolist()], dtype=np.int64)
    if (codes == UNANSWERED).any():
        raise RowsError("Some labels are of a class that is not among those the student learned.")
    return codes


def require_as_many(labels: npt.NDArray[Any], rows: int) -> None:
    """Raise a sentence unless there is one label a row."""
    if labels.shape != (rows,):
        raise RowsError(f"There are {rows} rows of features and {labels.size} labels; give one label a row.")


def spread(features: npt.NDArray[Any], found: StudentTarget) -> StudentTarget:
    """Give rows without a label the one of their neighbours; those that none can reach stay without."""
    from sklearn.semi_supervised import LabelSpreading

    kinds = np.unique(found.codes[found.labelled])
    if found.labelled.all() or kinds.size == 1:
        return StudentTarget(found.classes, np.where(found.labelled, found.codes, kinds[0]))
    flat = features.reshape(len(features), -1)
    # A label loses four fifths of its weight with every hop, so a tolerance would stop it a few hops from home.
    model = LabelSpreading(kernel=_neighbours, max_iter=_HOPS, tol=0)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        model.fit(flat, found.codes)
    reached = model.label_distributions_.sum(axis=1) > 0
    guessed = np.where(reached, model.transduction_, UNANSWERED)
    return StudentTarget(found.classes, np.where(found.labelled, found.codes, guessed))


def _neighbours(features: npt.NDArray[Any], _: Any = None) -> Any:
    """Join rows of which either is near the other: labels must be able to go both ways (Zhou et al. 2004).

    scikit-learn's own kernel joins them one way, so a group whose rows are nearest to each other is never reached.
    """
    from sklearn.neighbors import kneighbors_graph

    near = kneighbors_graph(features, min(_NEIGHBOURS, len(features) - 1))
    return near.maximum(near.T)


def _classes(known: npt.NDArray[Any], network: Network | None) -> npt.NDArray[Any]:
    if network is not None and known.dtype.kind in "iu":
        if known.min() < 0 or known.max() >= network.classes:
            raise RowsError(f"Some labels are outside 0 to {network.classes - 1}, the classes of this network.")
        return np.arange(network.classes)
    classes = np.unique(known)
    if network is not None and classes.size > network.classes:
        raise RowsError(f"There are {classes.size} classes of labels; this network tells {network.classes} apart.")
    return np.asarray(classes)


def _as_classes(labels: Any) -> npt.NDArray[Any]:
    """Return the labels if they can be told apart and put in order."""
    from sklearn.utils.multiclass import check_classification_targets

    try:
        with cells_withheld():
            check_classification_targets(labels)
    except TypeError:
        raise RowsError("Labels must be all of one kind, numbers or text, with none missing.") from None
    return np.asarray(labels)

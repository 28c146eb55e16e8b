"""How often a student is right: counts of every class named for every true class, and the shares they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ziggurat.cards import Shown
from ziggurat.errors import DataError

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Evaluation(Shown):
    """What a student named against what was true.

    It is an exact function of the rows it was made of, without any noise: unless these are public, it must not be
    released, and a choice made by it is not private either.

    Attributes
    ----------
    classes
        The classes in order, also those of which there is no row.
    confusion
        How many rows of each true class (a row of the matrix) were named as each class (a column).
    """

    classes: tuple[Any, ...]
    confusion: Integers

    def __post_init__(self) -> None:
        counts = np.array(self.confusion)
        size = len(self.classes)
        if size == 0 or counts.shape != (size, size) or counts.dtype.kind not in "iu" or counts.min() < 0:
            raise DataError("A confusion matrix needs a count for every pair of classes, none of them negative.")
        counts.flags.writeable = False
        object.__setattr__(self, "classes", tuple(self.classes))
        object.__setattr__(self, "confusion", counts)

    @classmethod
    def of(cls, truth: Sequence[Any], named: Sequence[Any], classes: Sequence[Any] = ()) -> Self:
        """Count the classes named against the true ones; classes that are only known from these are added.

        Raises
        ------
        DataError
            If there are not as many of both, or labels of different kinds, which have no order.
        """
        if len(truth) != len(named):
            raise DataError(f"There are {len(truth)} true labels and {len(named)} named ones; give one of each a row.")
        try:
            ordered = sorted({*classes, *truth, *named})
        except TypeError:
            raise DataError("The labels must be of the same kind as the classes; encode them alike.") from None
        place = {label: at for at, label in enumerate(ordered)}
        counts = np.zeros((len(ordered), len(ordered)), dtype=np.int64)
        np.add.at(counts, ([place[label] for label in truth], [place[label] for label in named]), 1)
        return cls(tuple(ordered), counts)

    @property
    def rows(self) -> int:
        """How many rows were judged."""
        return int(self.confusion.sum())

    @property
    def accuracy(self) -> float | None:
        """The share of rows that were named rightly; None without rows."""
        return _share(int(np.trace(self.confusion)), self.rows)

    @property
    def recall(self) -> tuple[float | None, ...]:
        """For every class the share of its rows that were named rightly; None for a class without rows."""
        pairs = zip(np.diag(self.confusion), self.confusion.sum(axis=1), strict=True)
        return tuple(_share(int(right), int(rows)) for right, rows in pairs)

    @property
    def balanced_accuracy(self) -> float | None:
        """The mean recall of the classes that have rows; None without rows."""
        known = [share for share in self.recall if share is not None]
        return sum(known) / len(known) if known else None

    @property
    def true_positive_rate(self) -> float | None:
        """With two classes the recall of the second, the positive one; None without positives."""
        return self.recall[1] if len(self.classes) == 2 else None

    @property
    def true_negative_rate(self) -> float | None:
        """With two classes the recall of the first, the negative one; None without negatives."""
        return self.recall[0] if len(self.classes) == 2 else None

    def to_dict(self) -> dict[str, Any]:
        """Give all of it as JSON values."""
        return {
            "classes": [_plain(label) for label in self.classes],
            "confusion": self.confusion.tolist(),
            "accuracy": self.accuracy,
            "balanced_accuracy": self.balanced_accuracy,
            "true_positive_rate": self.true_positive_rate,
            "true_negative_rate": self.true_negative_rate,
            "recall": list(self.recall),
        }

    def __str__(self) -> str:
        lines = [
            f"{self.rows} rows: accuracy {_show(self.accuracy)}, balanced accuracy {_show(self.balanced_accuracy)}",
            *self._rates(),
        ]
        names = [str(label) for label in self.classes]
        table = [["truth", *names, "recall"]]
        for name, counts, share in zip(names, self.confusion.tolist(), self.recall, strict=True):
            table.append([name, *map(str, counts), _show(share)])
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        return "\n".join([*lines, *(_align(cells, widths) for cells in table)])

    def _rates(self) -> list[str]:
        if len(self.classes) != 2:
            return []
        positive, negative = _show(self.true_positive_rate), _show(self.true_negative_rate)
        return [f"true positive rate {positive}, true negative rate {negative}"]


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _show(share: float | None) -> str:
    return "none" if share is None else f"{share:.4f}"


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def _align(cells: list[str], widths: list[int]) -> str:
    first, *others = (cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
    return "  ".join([cells[0].ljust(len(first)), *others])

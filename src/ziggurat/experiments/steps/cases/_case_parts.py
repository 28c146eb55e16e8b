"""What the data steps of the case studies have in common: rows for teachers, for the student and for judging."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ziggurat.errors import DataError
from ziggurat.randomness import seeded

if TYPE_CHECKING:
    import pyarrow as pa

Features = npt.NDArray[np.float32]
Classes = npt.NDArray[np.int64]

INVENTED = "invented"
PARTS = (
    "teacher_features",
    "teacher_labels",
    "pool_features",
    "pool_labels",
    "validation_features",
    "validation_labels",
)
OUTPUTS = (*PARTS, "classes", "norm", "largest_class_share", "origin")


def load_dataset(name: str) -> pa.Table:
    """A dataset that is on this machine; nothing is downloaded while an experiment runs."""
    from ziggurat.data import datasets

    return datasets.load(name, offline=True)


def permute(rows: int, seed: int) -> Classes:
    """The numbers of all rows in random order."""
    return np.asarray(seeded(seed).child("rows").simulation().permutation(rows), dtype=np.int64)


def cut_parts(order: Classes, sizes: Mapping[str, int]) -> dict[str, Classes]:
    """Disjoint parts of these sizes, from the front of `order`."""
    if min(sizes.values()) < 1:
        raise DataError(f"Every part needs rows; raise {', '.join(name for name, size in sizes.items() if size < 1)}.")
    ends = np.cumsum([0, *sizes.values()]).tolist()
    if ends[-1] > len(order):
        raise DataError(f"The parts need {ends[-1]:,} rows and there are {len(order):,}; ask for fewer.")
    return {name: order[start:end] for name, (start, end) in zip(sizes, pairwise(ends), strict=True)}


def l1_normalised(rows: npt.NDArray[Any], norm: float = 1.0) -> Features:
    """Rows of l1 norm `norm`; a row of zeros stays one."""
    wide = np.asarray(rows, dtype=np.float64)
    sums = np.abs(wide).sum(axis=1, keepdims=True)
    return np.asarray(wide * (norm / np.where(sums > 0, sums, 1.0)), dtype=np.float32)


def outputs_of(
    features: Features, labels: Classes, parts: Mapping[str, Classes], classes: int, norm: float, origin: str
) -> dict[str, Any]:
    """The outputs that every data step has, given the rows of the three parts."""
    made: dict[str, Any] = {}
    for part in ("teacher", "pool", "validation"):
        made[f"{part}_features"], made[f"{part}_labels"] = features[parts[part]], labels[parts[part]]
    shares = np.bincount(labels, minlength=classes) / len(labels)
    return {
        **made,
        "classes": classes,
        "norm": norm,
        "largest_class_share": float(shares.max()),
        "origin": origin,
    }

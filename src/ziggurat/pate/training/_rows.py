"""Checks what goes in, and splits a teacher's rows into those it learns from and those it is judged by."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.errors import DataError
from ziggurat.randomness import seeded

Integers = npt.NDArray[np.int64]


def check_features(features: Any, shape: tuple[int, ...] | None, dtype: type[Any] = np.float32) -> npt.NDArray[Any]:
    """Return the features as finite numbers, one row each; `shape` is that of a row if it is known."""
    try:
        array = np.asarray(features)
    except (ValueError, TypeError):
        raise DataError("The features must be an array of numbers with rows of equal length.") from None
    if array.dtype.kind not in "biuf" or array.ndim < 2:
        raise DataError("The features must be an array of numbers, a row for each record; encode text, densify sparse.")
    if shape is not None and array.shape[1:] != shape:
        raise DataError(f"A row of features must have the shape {shape}; these have {array.shape[1:]}.")
    with np.errstate(over="ignore"):
        numbers = np.ascontiguousarray(array, dtype=dtype)
    if not np.isfinite(numbers).all():
        raise DataError("Some features are missing, infinite or too large; fill or scale them first.")
    return numbers


def check_labels(labels: Any, rows: int, classes: int) -> Integers:
    """Return the labels as whole numbers below the public number of classes."""
    try:
        array = np.asarray(labels)
    except (ValueError, TypeError):
        array = np.empty(0, dtype=object)
    if array.dtype.kind not in "biu" or array.ndim != 1:
        raise DataError(f"Labels must be whole numbers from 0 to {classes - 1}, one a row; encode text and fractions.")
    if array.size != rows:
        raise DataError(f"There are {rows} rows of features and {array.size} labels; give one label a row.")
    if array.size and (array.min() < 0 or array.max() >= classes):
        raise DataError(f"Some labels are outside 0 to {classes - 1}; declare more classes or encode them again.")
    return array.astype(np.int64)


def split_rows(labels: Integers, share: float, seed: int) -> tuple[Integers, Integers]:
    """Return the places a teacher trains on and those it holds out: the same share of every class, at random.

    Every class keeps a row to train on.
    """
    order = seeded(seed).child("held-out").simulation().permutation(labels.size)
    held = np.zeros(labels.size, dtype=bool)
    for label in np.unique(labels):
        own = order[labels[order] == label]
        held[own[: min(int(share * own.size + 0.5), own.size - 1)]] = True
    return np.flatnonzero(~held), np.flatnonzero(held)


def find_classes(labels: Integers, rows: tuple[Integers, ...], classes: int) -> npt.NDArray[np.bool_]:
    """Return for every teacher which classes are in its rows: it can name no other."""
    return np.stack([np.bincount(labels[own], minlength=classes) > 0 for own in rows])

"""Distributions over cells, and how far two are from each other.

Columns are cut into cells: categories as they are, numbers between quantiles of the original.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ziggurat.data.coded import CodedColumn
from ziggurat.errors import ParameterError
from ziggurat.utility._judgement import Codes, Reals
from ziggurat.utility._sheets import SheetField, Sheets

Weights = Sequence[float] | npt.NDArray[np.floating] | npt.NDArray[np.integer]

DENSE = 4
"""A table is counted cell by cell while it has at most so many cells for each row."""


@dataclass(frozen=True, eq=False)
class Binned:
    """A column of all tables in cells.

    Attributes
    ----------
    field
        The column.
    cuts
        Where numbers are cut; a cut belongs to the cell above it. Empty for categories.
    codes
        The cell of every row: of the original, then of each copy.
    size
        How many cells there are; after those of numbers comes one for each way to be missing.
    """

    field: SheetField
    cuts: Reals
    codes: tuple[Codes, ...]
    size: int

    def counts(self) -> list[Codes]:
        """Return how many rows each cell holds: of the original, then of each copy."""
        return [np.bincount(each, minlength=self.size) for each in self.codes]


def cut_column(sheets: Sheets, field: SheetField, bins: int) -> Binned:
    """Cut a column: numbers with at most `bins` different values at each of them, others at the original's quantiles.

    Synthetic numbers outside the original's range fall into the first or the last cell.
    """
    cells = [sheet.cells[field.name] for sheet in sheets.all]
    if not field.numeric:
        return Binned(field, np.empty(0), tuple(each.codes for each in cells), len(field.labels))
    at = find_cuts(cells[0].numbers, bins)
    codes = tuple(_places(each, at) for each in cells)
    return Binned(field, at, codes, at.size + 1 + len(field.labels))


def find_cuts(values: Reals, bins: int) -> Reals:
    """Return at most `bins` - 1 places to cut numbers, so that cells hold about as many of them."""
    known = values[~np.isnan(values)]
    distinct = np.unique(known)
    if distinct.size <= bins:
        return np.asarray(distinct[1:], dtype=np.float64)
    inner = np.quantile(known, np.arange(1, bins) / bins, method="higher")
    found: Reals = np.unique(inner[inner > distinct[0]])
    return found


def count_cells(keys: Codes, cells: int) -> tuple[Codes, Codes]:
    """Return which of so many cells are not empty, and how many rows each of them holds."""
    if cells > DENSE * max(1, keys.size):
        found, counts = np.unique(keys, return_counts=True)
        return found, counts.astype(np.int64)
    every = np.bincount(keys, minlength=cells)
    held = np.flatnonzero(every)
    return held, every[held]


def kl_divergence(p: Weights, q: Weights, *, smoothing: float = 0.0) -> float:
    """Return the Kullback-Leibler divergence of `p` from `q` in nats; infinite if `q` has 0 where `p` has not.

    Parameters
    ----------
    p, q
        Weights of the same cells: probabilities or counts.
    smoothing
        What is added to each weight first. On counts, 0.5 keeps the divergence finite (Krichevsky and Trofimov).
    """
    one, other = _distributions(p, q, smoothing)
    held = one > 0
    if np.any(other[held] == 0):
        return math.inf
    return max(0.0, float(np.sum(one[held] * np.log(one[held] / other[held]))))


def normalized_kl(p: Weights, q: Weights, *, smoothing: float = 0.0) -> float:
    """Return 1 / (1 + KL): 1 for equal distributions, towards 0 for distant ones.

    The normalisation is our reading of "normalised KL-divergence, closer to 1 is more similar": several others fit
    these words, and their figures are not comparable.

    Parameters
    ----------
    p, q, smoothing
        As for `kl_divergence`.
    """
    return 1 / (1 + kl_divergence(p, q, smoothing=smoothing))


def total_variation(p: Weights, q: Weights) -> float:
    """Return the largest difference of the probabilities of any event: 0 for equal distributions, 1 for disjoint ones.

    Parameters
    ----------
    p, q
        Weights of the same cells: probabilities or counts.
    """
    one, other = _distributions(p, q)
    return float(np.abs(one - other).sum() / 2)


def jensen_shannon(p: Weights, q: Weights) -> float:
    """Return the Jensen-Shannon divergence in bits: 0 for equal distributions, 1 for disjoint ones.

    It is the mean divergence of both from their mixture (Lin 1991); its root, which some call by the same name, is a
    distance.

    Parameters
    ----------
    p, q
        Weights of the same cells: probabilities or counts.
    """
    one, other = _distributions(p, q)
    middle = (one + other) / 2
    return (kl_divergence(one, middle) + kl_divergence(other, middle)) / (2 * math.log(2))


def hellinger(p: Weights, q: Weights) -> float:
    """Return the Hellinger distance: 0 for equal distributions, 1 for disjoint ones.

    Parameters
    ----------
    p, q
        Weights of the same cells: probabilities or counts.
    """
    one, other = _distributions(p, q)
    return float(np.sqrt(np.sum((np.sqrt(one) - np.sqrt(other)) ** 2) / 2))


def _places(cells: CodedColumn, at: Reals) -> Codes:
    places = np.searchsorted(at, cells.numbers, side="right").astype(np.int64)
    return np.where(cells.codes == 0, places, at.size + cells.codes)


def _distributions(p: Weights, q: Weights, smoothing: float = 0.0) -> tuple[Reals, Reals]:
    if not (isinstance(smoothing, int | float) and 0 <= smoothing < math.inf):
        raise ParameterError("The smoothing must be a finite number, not negative.")
    both = [np.asarray(each, dtype=np.float64) for each in (p, q)]
    if both[0].ndim != 1 or both[0].shape != both[1].shape or not both[0].size:
        raise ParameterError("Distributions need the same cells, at least one, each with a weight.")
    both = [each + smoothing for each in both]
    if any(not np.all(np.isfinite(each)) or each.min() < 0 or each.sum() <= 0 for each in both):
        raise ParameterError("The weights of a distribution must be finite, not negative, and not all 0.")
    return both[0] / both[0].sum(), both[1] / both[1].sum()

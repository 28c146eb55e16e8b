"""Noise: numbers moved by random amounts, with or without the columns' own correlations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from ziggurat.anonymize.masking._technique import (
    Reals,
    Tally,
    Technique,
    Truths,
    column_of,
    count_changed,
    count_filled,
    reals,
    replace_column,
)
from ziggurat.errors import ParameterError
from ziggurat.randomness import Source, rounded_gaussian

_GRID = 2**30


@dataclass(frozen=True)
class AddNoise(Technique):
    """Add normal noise to numbers; whole numbers stay whole.

    Independent noise leaves means as they were but weakens correlations. Correlated noise has the covariances of the
    columns times share squared (Kim 1986), so correlations stay in expectation, and every variance grows by the factor
    1 + share**2.

    It promises no differential privacy: its scale comes from the data and has nothing to do with what one person can
    change. A value far from all others stays far from them.

    Parameters
    ----------
    share
        The standard deviation of the noise as a share of the column's own, such as 0.1; it must see the whole column.
    sd
        Instead of a share: the standard deviation itself, so that a table can pass in batches.
    correlated
        Whether columns that are given together get noise with their own correlations; needs a share.
    """

    name: ClassVar[str] = "add-noise"
    random: ClassVar[bool] = True
    share: float | None = None
    sd: float | None = None
    correlated: bool = False

    def __post_init__(self) -> None:
        if (self.share is None) == (self.sd is None):
            raise ParameterError("Give the noise either as a share of the standard deviation or as sd.")
        given = self.share if self.sd is None else self.sd
        if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given < math.inf:
            raise ParameterError("The amount of noise must be a positive number.")
        if self.correlated and self.share is None:
            raise ParameterError("Correlated noise takes its size from the columns; give it as a share.")

    @property
    def row_wise(self) -> bool:
        """Whether the size of the noise was given."""
        return self.sd is not None

    def parameters(self) -> dict[str, Any]:
        """Return the size of the noise."""
        size = {"share": self.share} if self.sd is None else {"sd": self.sd}
        return {**size, "correlated": self.correlated}

    def mask(self, table: pa.Table, columns: tuple[str, ...], source: Source) -> tuple[pa.Table, Tally]:
        """Add noise to every number."""
        read = [reals(table.column(name), name, "noise") for name in columns]
        rows = np.column_stack([values for values, _ in read])
        there = np.column_stack([known for _, known in read])
        noise = standard_normal(rows.shape, source) @ self._mixing(rows, there)
        learned = {} if self.sd is not None else {"noise_sd": self._noise_sd(rows, there, columns)}
        tally = Tally(learned=learned)
        for place, name in enumerate(columns):
            before = table.column(name)
            after = column_of(rows[:, place] + noise[:, place], there[:, place], before.type)
            tally = tally + Tally(count_filled(before), count_changed(before, after))
            table = replace_column(table, name, after)
        return table, tally

    def _mixing(self, rows: Reals, there: Truths) -> Reals:
        """The matrix that turns independent standard normal noise into the noise to add."""
        if self.sd is not None:
            return self.sd * np.eye(rows.shape[1])
        assert self.share is not None
        if not self.correlated:
            return self.share * np.diag(_spreads(rows, there))
        complete = rows[there.all(axis=1)]
        if len(complete) < 2:
            return self.share * np.diag(_spreads(rows, there))
        values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(complete, rowvar=False)))
        root: Reals = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        return self.share * root

    def _noise_sd(self, rows: Reals, there: Truths, columns: tuple[str, ...]) -> dict[str, float]:
        mixing = self._mixing(rows, there)
        return {name: float(np.sqrt((mixing[:, i] ** 2).sum())) for i, name in enumerate(columns)}


def _spreads(rows: Reals, there: Truths) -> Reals:
    return np.array(
        [
            np.std(column[known], ddof=1) if known.sum() > 1 else 0.0
            for column, known in zip(rows.T, there.T, strict=True)
        ]
    )


def standard_normal(shape: tuple[int, ...], source: Source) -> Reals:
    """Draw normal noise of variance 1 on a grid of 2**-30."""
    drawn = rounded_gaussian(_GRID, size=math.prod(shape), source=source)
    return drawn.reshape(shape) / _GRID

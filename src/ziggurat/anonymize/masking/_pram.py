"""Post-randomisation: every category is redrawn by the row of a known matrix that stands for it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ziggurat.anonymize.masking._technique import (
    CellTechnique,
    Tally,
    as_column,
    check_comparable,
    count_filled,
    distinct_of,
    sortable,
)
from ziggurat.errors import DataError, ParameterError
from ziggurat.randomness import Source, uniform_below

Reals = npt.NDArray[np.float64]

_GRID = 2**62
_TOLERANCE = 1e-9


@dataclass(frozen=True)
class PRAM(CellTechnique):
    """Redraw every value by a transition matrix over the categories (Gouweleeuw et al. 1998).

    With a retention p a value stays with probability p and is otherwise drawn uniformly from all categories (the value
    itself among them); the matrix says more. An `invariant` matrix leaves every category's expected count as it was: a
    value that does not stay is drawn from the column's own shares, or, for a matrix, is drawn back by Bayes' rule
    (Kooiman, Willenborg, Gouweleeuw 1997). Without it, counts are estimated by inverting the matrix.

    With retention p below 1 and public categories this is randomised response, but it claims nothing and leaves no
    event here: `ziggurat.local.Response` makes that promise, with exact draws. Learned categories and invariant
    matrices come from the data, and no promise could be made for them.

    Parameters
    ----------
    retention
        The probability that a value is kept before any draw, from 0 to 1.
    matrix
        Instead of a retention: for each category a row of probabilities of what it becomes.
    categories
        Every value the column may hold, in the order of the matrix; by default, for a retention, those of the column,
        which the output then also shows.
    invariant
        Whether expected counts should stay; it must see the whole column.
    """

    name: ClassVar[str] = "pram"
    random: ClassVar[bool] = True
    retention: float | None = None
    matrix: Sequence[Sequence[float]] | None = None
    categories: tuple[Any, ...] | None = None
    invariant: bool = False

    def __post_init__(self) -> None:
        if (self.retention is None) == (self.matrix is None):
            raise ParameterError("Give either a retention or a matrix.")
        if self.retention is not None and not (_is_number(self.retention) and 0 <= self.retention <= 1):
            raise ParameterError("The retention must lie between 0 and 1.")
        if self.categories is not None:
            object.__setattr__(self, "categories", tuple(self.categories))
            if not self.categories or len(set(self.categories)) != len(self.categories):
                raise ParameterError("Name at least one category, and each once.")
        if self.matrix is not None:
            object.__setattr__(self, "matrix", self._check_matrix())

    @property
    def row_wise(self) -> bool:
        """Whether matrix and categories are given, so that no other row matters."""
        return self.categories is not None and not self.invariant

    def parameters(self) -> dict[str, Any]:
        """Return what was given, for whoever estimates from the output."""
        given = {"retention": self.retention, "matrix": self.matrix, "categories": self.categories}
        known = {name: _plain(value) for name, value in given.items() if value is not None}
        return {**known, "invariant": self.invariant}

    def transitions(self, shares: Reals) -> Reals:
        """Return the matrix that values are redrawn by, given each category's share of the column."""
        count = shares.size
        if self.matrix is None:
            kept = float(self.retention or 0.0)
            drawn = np.tile(shares, (count, 1)) if self.invariant else np.full((count, count), 1 / count)
            return kept * np.eye(count) + (1 - kept) * drawn
        given = np.array(self.matrix, dtype=np.float64)
        return given @ _reversal(given, shares) if self.invariant else given

    def column(self, cells: pa.ChunkedArray, name: str, source: Source) -> tuple[pa.ChunkedArray, Tally]:
        """Redraw every value."""
        check_comparable(cells, name)
        listed = self._list_values(cells, name)
        places = pc.index_in(cells, value_set=listed)
        unknown = count_filled(cells) - (len(cells) - places.null_count)
        if unknown > 0:
            raise DataError(f"{unknown} cells of column {name!r} hold none of the categories given; add theirs.")
        if len(listed) == 0:
            return cells, Tally()
        held = np.asarray(pc.fill_null(places, -1), dtype=np.int64)
        counts = np.bincount(held[held >= 0], minlength=len(listed)).astype(np.float64)
        drawn = _redrawn(held, self.transitions(counts / max(counts.sum(), 1.0)), source)
        learned = {} if self.categories is not None else {"categories": len(listed)}
        mask = held < 0
        return as_column(listed.take(pa.array(drawn, mask=mask))), Tally(learned=learned)

    def _list_values(self, cells: pa.ChunkedArray, name: str) -> pa.Array:
        if self.categories is None:
            found = distinct_of(cells)
            if pa.types.is_floating(cells.type):
                found = found.filter(pc.invert(pc.is_nan(found)))
            return found.take(pc.sort_indices(sortable(found)))
        try:
            return pa.array(self.categories, cells.type)
        except (pa.ArrowException, TypeError, OverflowError):  # it may quote a value
            reason = f"The categories given for column {name!r} are not of its type."
        raise DataError(reason)

    def _check_matrix(self) -> tuple[tuple[float, ...], ...]:
        if self.categories is None:
            raise ParameterError("A matrix needs the categories that its rows stand for.")
        count, problem = len(self.categories), "The matrix must have a row and a column for each category, "
        try:
            given = np.array(self.matrix, dtype=np.float64)
        except (ValueError, TypeError):
            given = np.empty(0)
        if given.shape != (count, count):
            raise ParameterError(problem + f"{count} of each.")
        if not (np.isfinite(given).all() and (given >= 0).all() and np.allclose(given.sum(axis=1), 1, atol=_TOLERANCE)):
            raise ParameterError(problem + "with probabilities that add up to 1 in every row.")
        return tuple(tuple(row) for row in given.tolist())


def _reversal(matrix: Reals, shares: Reals) -> Reals:
    """Bayes' rule: from what a value became back to what it may have been. What never comes out stays as it is."""
    joint = shares[:, None] * matrix
    seen = joint.sum(axis=0)
    back = np.divide(joint, seen, out=np.eye(seen.size), where=seen > 0)
    return np.ascontiguousarray(back.T)


def _redrawn(held: npt.NDArray[np.int64], matrix: Reals, source: Source) -> npt.NDArray[np.int64]:
    """Draw for each value from its row of the matrix, with probabilities on a grid of 2**-62."""
    drawn = np.maximum(held, 0)
    for category, row in enumerate(matrix):
        where = np.flatnonzero(held == category)
        likely = np.flatnonzero(row > 0)
        ends = np.minimum(np.cumsum(row[likely])[:-1], 1.0) * _GRID
        lots = uniform_below(_GRID, size=where.size, source=source)
        drawn[where] = likely[np.searchsorted(ends.astype(np.int64), lots, side="right")]
    return drawn


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return value if isinstance(value, str | int | float) else str(value)

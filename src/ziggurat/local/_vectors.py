"""Vectors within a public l1 ball."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from ziggurat.errors import DataError, ParameterError
from ziggurat.local._base import Floats, Privatizer, Reports
from ziggurat.local._columns import as_column
from ziggurat.local._estimates import Mean
from ziggurat.local._numbers import LaplaceMoments, mean_interval, sample_half_width
from ziggurat.mechanisms import Laplace, as_array
from ziggurat.privacy import Amount, Event, Neighbours, exact_confidence, exact_positive, whole_number
from ziggurat.randomness import Source

if TYPE_CHECKING:
    import pyarrow as pa

_ENTRIES_AT_A_TIME = 1 << 17  # one megabyte, which stays in a cache


class VectorNoise(Privatizer):
    """Shrink each vector into the l1 ball of radius `norm`, then add Laplace noise of scale 2 norm/epsilon.

    Promise: epsilon-differential privacy of one vector, a row of the matrix, replace-one. Proof: two vectors of the
    ball differ by at most 2 norm in l1, over `dimension` entries; `mechanisms.Laplace` counts the rounding of all
    these entries to its grid in the sensitivity, so the scale is larger than 2 norm/epsilon by less than a millionth.
    Shrinking comes first and is never left to the sender: normalising noisy vectors instead protects nothing, because
    the vector before it has no bound.

    Parameters
    ----------
    epsilon
        What one report may cost.
    dimension
        How many entries each vector has.
    norm
        The public bound of the l1 norm; longer vectors are scaled down to it.
    missing
        Whether to send the zero vector, the middle of the ball, for a vector with an entry that is not a finite
        number; it is refused otherwise.
    neighbours
        The unit, under replace-one.
    """

    kind: ClassVar[str] = "vector-noise"

    def __init__(
        self,
        epsilon: Amount,
        dimension: int,
        *,
        norm: Amount = 1,
        missing: bool = False,
        neighbours: Neighbours | None = None,
    ) -> None:
        super().__init__(epsilon, neighbours)
        if not isinstance(missing, bool):
            raise ParameterError("missing must be True or False.")
        self.dimension, self.norm, self.missing = (
            whole_number(dimension, "dimension"),
            exact_positive(norm, "norm"),
            missing,
        )
        # One unit changes one row: `coordinates` and the sensitivity are those of a row, however many rows there are.
        self._noisy = Laplace.calibrated(
            self._asked, 2 * self.norm, coordinates=self.dimension, neighbours=self.neighbours
        )
        self.event: Event = self._noisy.event
        self._moments = LaplaceMoments(self._noisy.scale / self._noisy.grid)

    def estimate(self, reports: Any, confidence: Amount = "0.95", *, population: bool = False) -> Mean:
        """Estimate the mean of every entry; the bias, at most half a step of the grid, is in the intervals."""
        level, step = exact_confidence(confidence), float(self._noisy.grid)
        sent = self._some(reports)
        value = sent.mean(axis=0)
        if population:
            half = sample_half_width(sent, level) + step / 2
        else:
            spread = len(sent) * self._moments.variance * step**2
            half = mean_interval(spread, self._moments, len(sent), level, step / 2)
        return Mean(len(sent), level, population, value, value - half, value + half)

    def to_arrow(self, reports: Reports) -> pa.Array:
        """Give the reports as a column of lists."""
        import pyarrow as pa

        return pa.FixedSizeListArray.from_arrays(pa.array(self._read_sent(reports).ravel()), self.dimension)

    def from_arrow(self, column: pa.Array | pa.ChunkedArray, origin: str) -> Reports:
        """Read the reports back from a column of lists."""
        lists = as_column(column)
        if lists.type != self.arrow_type or lists.null_count:
            raise DataError(
                f"The reports must be lists of {self.dimension} numbers; these belong to another collection."
            )
        return Reports(self._check(lists.flatten().to_numpy().reshape(-1, self.dimension)), self.event, origin)

    @property
    def arrow_type(self) -> pa.DataType:
        """Lists of real numbers."""
        import pyarrow as pa

        return pa.list_(pa.float64(), self.dimension)

    def _parameters(self) -> dict[str, Any]:
        return {"dimension": self.dimension, "norm": str(self.norm), "missing": self.missing}

    def _read(self, values: Any) -> Floats:
        matrix = self._matrix(values)
        finite: npt.NDArray[np.bool_] = np.asarray(np.isfinite(matrix).all(axis=1))
        if not self.missing and not bool(finite.all()):
            raise DataError(
                "Some vectors have an entry that is not a finite number; correct them, or send the zero vector for "
                "them with missing=True."
            )
        return np.where(finite[:, None], matrix, 0.0)

    def _randomize(self, values: Floats, source: Source) -> Floats:
        reports = np.empty(values.shape)
        for rows in self._parts(len(values)):
            reports[rows] = self._noisy.release(self._shrunk(values[rows]), source).value
        return reports

    def _parts(self, people: int) -> Iterator[slice]:
        step = max(_ENTRIES_AT_A_TIME // self.dimension, 1)
        return (slice(start, start + step) for start in range(0, people, step))

    def _shrunk(self, matrix: Floats) -> Floats:
        """Scale rows down into the ball; a little inside, so that no rounding of a float leaves it.

        A float sum of d magnitudes errs by less than d units in the last place, a product and a quotient by one each.
        """
        inside = float(self.norm) * (1 - (self.dimension + 8) * 2.0**-52)
        largest = np.abs(matrix).max(axis=1, keepdims=True)
        # By the largest entry first, because the sum of large ones overflows.
        unit = np.divide(matrix, largest, out=np.zeros_like(matrix), where=largest > 0)
        length = np.abs(unit).sum(axis=1, keepdims=True)
        with np.errstate(over="ignore"):
            long = length * largest > inside
        shrunk: Floats = np.where(long, unit * (inside / np.maximum(length, 1.0)), matrix)
        return shrunk

    def _matrix(self, values: Any) -> Floats:
        matrix = as_array(values)
        if matrix.dtype.kind not in "iuf" or matrix.ndim != 2 or matrix.shape[1] != self.dimension:
            raise DataError(f"The vectors must be a matrix of numbers, {self.dimension} in a row, a row per record.")
        return matrix.astype(np.float64, copy=False)

    def _check(self, sent: Any) -> Floats:
        matrix = self._matrix(sent)
        if not bool(np.all(np.isfinite(matrix))):
            raise DataError("The reports must be finite numbers; these belong to another collection.")
        return matrix

"""Densities to serve: a histogram and a kernel density estimate."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Self

import numpy as np
from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted

from ziggurat.errors import ParameterError
from ziggurat.learn._base import PrivateModel
from ziggurat.learn._budget import about_rows
from ziggurat.learn._clipping import Scale, check_rows, read_bounds, root_above
from ziggurat.learn._storage import StoredModel
from ziggurat.learn.served._base import (
    COUNTED,
    FOR_FLOATS,
    Served,
    added_by_a_row,
    in_features,
    moved_by_a_row,
    published_constant,
    sum_features,
    warn_of_noise,
)
from ziggurat.learn.served._fourier import MARGIN
from ziggurat.learn.served._kernels import Array, KernelExpansion
from ziggurat.mechanisms import Gaussian, Laplace
from ziggurat.privacy import Amount, Event, Neighbours, Relation, whole_number
from ziggurat.privacy.accounting import Size, fewest_rows
from ziggurat.randomness import Source

_MOST_BINS = 1 << 24
_LEAST = 1e-300  # of a density whose logarithm is asked; noise may well be negative
_BESIDE = Fraction(1, 4)  # what a row counts for beside a function that it moves by 1; see `COUNTED`


@dataclass(eq=False, repr=False, kw_only=True)
class _Density(DensityMixin):  # type: ignore[misc]  # scikit-learn has no types
    """A density that noise may have made negative, of rows whose number is private or public."""

    relation: str = "add-or-remove-one"
    expected_rows: int | None = None

    def _check_rows(self, X: Any, y: Any) -> Array:  # noqa: ARG002, N803
        return check_rows(self, X, reset=True, least=fewest_rows(self.relation))

    def _neighbours(self) -> Neighbours:
        return about_rows(self.relation)

    @property
    def _replaced(self) -> bool:
        return self._neighbours().relation is Relation.REPLACE_ONE

    def _warn_of_noise(self, deviation: float, rows: int, what: str) -> None:
        """Compare the noise in a count of rows with a quarter of them, where it is known about how many there are."""
        likely = Size.of(self.relation, rows, self.expected_rows).likely
        if likely is not None:
            warn_of_noise(deviation, likely / 4, what)

    def _further(self) -> int:
        """The number of rows, where it is private, has to be perturbed beside the sums that are asked for."""
        return 0 if self._replaced else 1

    def _finish(self, values: Array, noise: Array) -> tuple[Array, Array]:
        """Divide sums by the number of rows, as noise let it be counted."""
        if self._replaced:
            return values, noise
        count = max(float(values[-1]), 1.0)
        return values[:-1] / count, noise[:-1] / count

    def score_samples(self, X: Any) -> Array:  # noqa: N803 - as in scikit-learn
        """Return the logarithm of the noisy density at every row, of 1e-300 where it is not positive."""
        return np.asarray(np.log(np.maximum(self.density(X), _LEAST)))

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002, N803
        """Return the total of the logarithms at the rows."""
        return float(self.score_samples(X).sum())


@dataclass(eq=False, repr=False, kw_only=True)
class KernelDensity(_Density, Served):
    """A kernel density estimate with the Gaussian kernel that answers without limit.

    Formal guarantee: (epsilon, delta)-DP for one row, add-or-remove-one by default (the number of rows is private) or
    replace-one, whatever is asked and however often; exact calibration. Sensitivity, for f = c/n sum_i k(., x_i) with
    c = (2 pi h^2)^(-d/2):

    - add-or-remove-one: released are the sum of kernels, which a row moves by |k(., x)|_H = 1, and beside it a quarter
      of n, together sqrt(1 + 1/16); f is the noisy sum over the noisy n.
    - replace-one: a row moves f by c/n |k(., x) - k(., x')|_H = c/n sqrt(2 - 2 k(x, x')), at most c/n sqrt(2), and with
      declared bounds of diameter R at most c/n sqrt(2 - 2 exp(-R^2/2h^2)) (Hall, Rinaldo & Wasserman 2013, Section 4).

    Parameters
    ----------
    epsilon, delta
        What the answers together may cost; delta must be greater than 0.
    bandwidth
        h, a public number.
    bounds
        Public (lower, upper), numbers or one for each column; rows outside are clipped. None declares none.
    features
        The most features of the kernel. By default the answers come from a finite vector of features that exact
        Gaussian noise was added to, which may even be published; questions are then clipped to three bandwidths
        around the bounds. The sensitivity is that of the features, which have length 1. Under replace-one, for the
        lattice that bounds allow in a few columns, it is that above, to a thousandth; for drawn features, where
        k' >= -1 is all that is known, 2c/n.
    path
        A new file for the lazily drawn path instead: the kernel itself, but the model then holds the rows and must
        stay secret, and an answer takes longer the more were given. The promise holds up to floating point.
    relation
        "add-or-remove-one", or "replace-one" (the number of rows is public).
    expected_rows
        Under add-or-remove-one about how many rows there are: a public number, never counted for this, by which a
        warning can tell of too much noise. Nothing else needs it.
    as_published
        Take the published constant sqrt(2 ln(2/delta))/epsilon, for comparison: sound, but far too much noise. It is
        for replace-one.
    random_state
        None for secure noise; a whole number for a rehearsal.

    Attributes
    ----------
    noise_scale_
        Standard deviation of the noise in an answer, the density at a point, by the number of rows.
    count_
        The number of rows: noisy, or the public one.
    """

    features: int = 2048

    count_: float = field(init=False)

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803
        """Estimate the density of the rows."""
        rows = self._clip(self._check_rows(X, y))
        source, mechanism, peak = self._source(), self._mechanism(*rows.shape), self._peak(rows.shape[1])
        deviation = float(mechanism.sigma) * self._in_rows(rows.shape[1])
        self._warn_of_noise(deviation, len(rows), "a quarter of what all rows at one point would add up to is")
        if self.path is None:
            features = self._map(rows.shape[1])
            noisy, count = self._release_sums(sum_features(features, rows), len(rows), mechanism, source)
            weights = in_features(noisy) * (peak / count)
            self._serve_features(features, weights[:, None], deviation * peak / count)
        else:
            count = self._count_beside(len(rows), mechanism, source)
            kernels = KernelExpansion(rows, np.full((len(rows), 1), peak / count), self._width)
            self._serve_path(kernels, source, deviation * peak / count)
        self.count_ = count
        self._note_release(self._state_event(mechanism, len(rows)), source)
        return self

    def _release_sums(self, sums: Any, rows: int, mechanism: Gaussian, source: Source) -> tuple[Any, float]:
        """Release the sums of features, and with them the number of rows where it is private."""
        if self._replaced:
            return mechanism.release(sums, source).value, float(rows)
        noisy = mechanism.release(np.append(sums, rows * COUNTED), source).value
        return noisy[:-1], max(float(noisy[-1]) / COUNTED, 1.0)

    def _count_beside(self, rows: int, mechanism: Gaussian, source: Source) -> float:
        """Release the number of rows, where it is private, beside a function that a path hides."""
        if self._replaced:
            return float(rows)
        counting = Gaussian(1, mechanism.sigma / _BESIDE, values="integers", neighbours=self._neighbours())
        return max(float(counting.release(rows, source).value), 1.0)

    def density(self, X: Any) -> Array:  # noqa: N803
        """Return the noisy density at every row; noise may make it negative."""
        check_is_fitted(self)
        return self._answers(check_rows(self, X))[:, 0]

    def _mechanism(self, rows: int, columns: int) -> Gaussian:
        """Noise for sums of features in whole steps, or for the function in units of its sensitivity.

        Where the number of rows is private, it is for that as well.
        """
        if self.as_published and not self._replaced:
            raise ParameterError("The published constant is for a public number of rows; use relation='replace-one'.")
        if self.path is not None:
            moved = 1 + FOR_FLOATS if self._replaced else root_above((1 + FOR_FLOATS) ** 2 + _BESIDE**2)
            return self._calibrate(moved, rows, coordinates=1)
        features = self._map(columns)
        options: dict[str, Any] = {"values": "integers", "coordinates": features.size + self._further()}
        moved = moved_by_a_row(features) if self._replaced else added_by_a_row(features)
        return self._calibrate(moved, rows, **options)

    def _peak(self, columns: int) -> float:
        return float((2 * math.pi * self._width**2) ** (-columns / 2))

    def _in_rows(self, columns: int) -> float:
        """How many rows at one point noise of deviation 1 is worth there."""
        if self.path is None:
            return float(in_features(1.0))
        return self._movement(1, columns) / self._peak(columns) if self._replaced else 1.0

    def _movement(self, rows: int, columns: int) -> float:
        """How far replacing a row moves the estimate, in the norm of the kernel's space."""
        reach = math.inf
        if self.bounds is not None:
            reach = float(((2 * read_bounds(self.bounds, columns, "bounds").half / self._width) ** 2).sum())
        return self._peak(columns) / rows * math.sqrt(2 - 2 * math.exp(-reach / 2)) * (1 + 1e-12)

    def _paper_ratio(self, rows: int) -> float:  # noqa: ARG002
        return 1.0

    def _true_answers(self, rows: Array, labels: Any, asked: Array) -> tuple[Array, Array]:  # noqa: ARG002
        """The exact density at the questions, and how far a row moves each of them; for `OutputPerturbation`."""
        step = self._peak(rows.shape[1]) / (len(rows) if self._replaced else 1)
        function = KernelExpansion(self._clip(rows), np.full((len(rows), 1), step), self._width)
        values = function.at(self._clip(asked, MARGIN))[:, 0]
        return _with_count(self._further(), values, np.full(len(values), step * (1 + 1e-9)), len(rows))


@dataclass(eq=False, repr=False, kw_only=True)
class ServedHistogram(_Density, StoredModel, PrivateModel):
    """A histogram over a public grid of bins that answers without limit.

    Formal guarantee: for one row, add-or-remove-one by default (the number of rows is private), (epsilon, delta)-DP
    with Gaussian noise on the counts, or with delta 0 pure epsilon-DP with Laplace noise, of l2 and l1 sensitivity 1: a
    row more is one more in one bin. Shares are of the noisy total. Under replace-one a row leaves one bin and enters
    another: sqrt(2) in l2 and 2 in l1 (the shares have sqrt(2)/n, not the 2/n published, which is the l1 sensitivity).
    Noise is exact and on integers.

    Parameters
    ----------
    epsilon, delta
        What the answers together may cost.
    bins
        How many bins for each column: a whole number, or one for each.
    bounds
        Public (lower, upper), numbers or one for each column; rows outside are clipped.
    relation
        "add-or-remove-one", or "replace-one" (the number of rows is public).
    expected_rows
        As for `KernelDensity`.
    as_published
        Take the published sensitivity 2/n and constant, for comparison: sound, but too much noise.
    random_state
        None for secure noise; a whole number for a rehearsal.

    Attributes
    ----------
    shares_
        The noisy share of every bin, an axis for each column; noise may make shares negative.
    noise_scale_
        Standard deviation of the noise in a count.
    count_
        The number of rows: the total of noisy counts, or the public one.
    """

    epsilon: Amount = field(default=1, kw_only=False)
    delta: Amount = field(default="1e-6", kw_only=False)
    bins: Any = 10
    bounds: Any = None
    as_published: bool = False
    random_state: int | None = None

    n_features_in_: int = field(init=False)
    noise_scale_: float = field(init=False)
    count_: float = field(init=False)

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803
        """Count the rows in every bin."""
        rows = self._check_rows(X, y)
        source, mechanism = self._source(), self._mechanism(*rows.shape)
        shape = self._shape(rows.shape[1])
        counts = np.bincount(self._places(rows), minlength=math.prod(shape))
        noisy = np.asarray(mechanism.release(counts, source).value, dtype=np.float64)
        self.count_ = float(len(rows)) if self._replaced else max(float(noisy.sum()), 1.0)
        self.noise_scale_ = _deviation(mechanism)
        self._warn_of_noise(self.noise_scale_, len(rows), "a quarter of all rows is")
        self.shares_ = (noisy / self.count_).reshape(shape)
        self._note_release(mechanism.event, source)
        return self

    def density(self, X: Any) -> Array:  # noqa: N803
        """Return the noisy density at every row, 0 outside the bounds; noise may make it negative."""
        check_is_fitted(self)
        rows = check_rows(self, X)
        box, volume = self._box(rows.shape[1]), self.cell_volume(rows.shape[1])
        inside = ((rows >= box.lower) & (rows <= box.upper)).all(axis=1)
        return np.where(inside, self.shares_.ravel()[self._places(rows)] / volume, 0.0)

    def planned(self, rows: int, columns: int) -> Event:
        """Say what fitting so many rows will cost; nothing is read."""
        return self._mechanism(
            whole_number(rows, "rows", fewest_rows(self.relation)), whole_number(columns, "columns")
        ).event

    def _mechanism(self, rows: int, columns: int) -> Gaussian | Laplace:  # noqa: ARG002
        self._shape(columns)
        whom, bins = self._neighbours(), 2 if self._replaced else 1
        options: dict[str, Any] = {"values": "integers", "coordinates": bins, "neighbours": whom}
        if self._delta == 0:
            return Laplace.calibrated(self._epsilon, bins, **options)
        moved = Fraction(math.sqrt(bins)) * (1 + Fraction(1, 2**50))
        if not self.as_published:
            return Gaussian.calibrated(self._epsilon, self._delta, moved, **options)
        return Gaussian(moved, bins * Fraction(published_constant(self._delta)) / self._epsilon, **options)

    def _true_answers(self, rows: Array, labels: Any, asked: Array) -> tuple[Array, Array]:  # noqa: ARG002
        """The exact density at the questions, and how far a row moves each of them; for `OutputPerturbation`."""
        step = 1 / ((len(rows) if self._replaced else 1) * self.cell_volume(rows.shape[1]))
        counts = np.bincount(self._places(rows), minlength=math.prod(self._shape(rows.shape[1])))
        return _with_count(self._further(), counts[self._places(asked)] * step, np.full(len(asked), step), len(rows))

    def cell_volume(self, columns: int) -> float:
        """The volume of a cell of the histogram."""
        return float(np.prod(2 * self._box(columns).half / np.array(self._shape(columns))))

    def _shape(self, columns: int) -> tuple[int, ...]:
        given = [self.bins] * columns if np.ndim(self.bins) == 0 else list(self.bins)
        if len(given) != columns:
            raise ParameterError(f"Give one number of bins, or one for each of the {columns} columns.")
        shape = tuple(whole_number(count, "bins") for count in given)
        if math.prod(shape) > _MOST_BINS:
            raise ParameterError("The grid has more than 2**24 bins; take fewer bins or columns.")
        return shape

    def _box(self, columns: int) -> Scale:
        if self.bounds is None:
            raise ParameterError("State the public bounds of the columns: bounds=(lower, upper).")
        return read_bounds(self.bounds, columns, "bounds")

    def _places(self, rows: Array) -> Any:
        """The bin of every row, counted along the last column first; rows outside fall into the outermost bins."""
        box, shape = self._box(rows.shape[1]), self._shape(rows.shape[1])
        inside = (box.scale(rows) + 1) / 2
        steps = np.minimum((inside * shape).astype(np.int64), np.array(shape) - 1)
        return np.ravel_multi_index(tuple(steps.T), shape)


def _with_count(further: int, values: Array, moved: Array, rows: int) -> tuple[Array, Array]:
    """Put the number of rows, which one row moves by 1, behind values that have to be divided by it."""
    return np.append(values, [rows] * further), np.append(moved, [1.0] * further)


def _deviation(mechanism: Gaussian | Laplace) -> float:
    return float(mechanism.sigma) if isinstance(mechanism, Gaussian) else math.sqrt(2) * float(mechanism.scale)

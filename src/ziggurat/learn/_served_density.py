"""Densities to serve: a histogram and a kernel density estimate."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Self

import numpy as np
from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted

from ziggurat.errors import ParameterError
from ziggurat.learn._base import Private
from ziggurat.learn._clipping import Scale, checked_rows, declared
from ziggurat.learn._fourier import MARGIN
from ziggurat.learn._kernels import Array, Expansion
from ziggurat.learn._served import Served, in_features, moved_by_a_row, published_constant, summed, warn_of_noise
from ziggurat.learn._storage import Stored
from ziggurat.mechanisms import Gaussian, Laplace
from ziggurat.privacy import Amount, Event, Neighbours, Relation, Unit, whole

_MOST_BINS = 1 << 24
_LEAST = 1e-300  # of a density whose logarithm is asked; noise may well be negative


class _Density(DensityMixin):  # type: ignore[misc]  # scikit-learn has no types
    """Logarithms of a density that noise may have made negative."""

    def score_samples(self, X: Any) -> Array:  # noqa: N803 - as in scikit-learn
        """Return the logarithm of the noisy density at every row, of 1e-300 where it is not positive."""
        return np.asarray(np.log(np.maximum(self.density(X), _LEAST)))

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002, N803
        """Return the total of the logarithms at the rows."""
        return float(self.score_samples(X).sum())


class KernelDensity(_Density, Served):
    """A kernel density estimate with the Gaussian kernel that answers without limit.

    Formal guarantee: (epsilon, delta)-DP for one row under replace-one (the number of rows is public), whatever is
    asked and however often. Sensitivity: f = c/n sum_i k(., x_i) with c = (2 pi h^2)^(-d/2), so replacing a row moves f
    by c/n |k(., x) - k(., x')|_H = c/n sqrt(2 - 2 k(x, x')), at most c/n sqrt(2), and with declared bounds of diameter
    R at most c/n sqrt(2 - 2 exp(-R^2/2h^2)). Proof: Hall, Rinaldo & Wasserman 2013, Section 4; exact calibration.

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
        around the bounds. The sensitivity is that of the features: for the lattice that bounds allow in a few columns
        it is that above, to a thousandth; for drawn features, where k' >= -1 is all that is known, 2c/n.
    path
        A new file for the lazily drawn path instead: the kernel itself, but the model then holds the rows and must
        stay secret, and an answer takes longer the more were given. The promise holds up to floating point.
    as_published
        Take the published constant sqrt(2 ln(2/delta))/epsilon, for comparison: sound, but far too much noise.
    random_state
        None for secure noise; a whole number for a rehearsal.

    Attributes
    ----------
    noise_scale_
        Standard deviation of the noise in an answer, the density at a point.
    """

    def __init__(
        self,
        epsilon: Amount = 1,
        delta: Amount = "1e-6",
        *,
        bandwidth: float = 1.0,
        bounds: Any = None,
        features: int = 2048,
        path: Any = None,
        as_published: bool = False,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bandwidth = bandwidth
        self.bounds = bounds
        self.features = features
        self.path = path
        self.as_published = as_published
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002, N803
        """Estimate the density of the rows."""
        rows = self._clipped(checked_rows(self, X, reset=True))
        count, columns = rows.shape
        source, mechanism, peak = self._source(), self._mechanism(count, columns), self._peak(columns)
        step = in_features(peak / count) if self.path is None else self._moved(count, columns)
        noise = step * float(mechanism.sigma)
        warn_of_noise(noise, peak / 4, "a quarter of the highest possible density is")
        if self.path is None:
            features = self._map(columns)
            noisy = mechanism.release(summed(features, rows), source).value
            self._serve_features(features, (noisy * step)[:, None], noise)
        else:
            self._serve_path(Expansion(rows, np.full((count, 1), peak / count), self._width), source, noise)
        self._released(self._stated(mechanism, count), source)
        return self

    def density(self, X: Any) -> Array:  # noqa: N803
        """Return the noisy density at every row; noise may make it negative."""
        check_is_fitted(self)
        return self._answers(checked_rows(self, X))[:, 0]

    def _mechanism(self, rows: int, columns: int) -> Gaussian:
        """Noise for sums of features in whole steps, or for the function in units of its sensitivity."""
        if self.path is not None:
            return super()._mechanism(rows, columns)
        features = self._map(columns)
        options: dict[str, Any] = {"values": "integers", "coordinates": features.size}
        return self._calibrated(moved_by_a_row(features), rows, **options)

    def _peak(self, columns: int) -> float:
        return float((2 * math.pi * self._width**2) ** (-columns / 2))

    def _moved(self, rows: int, columns: int) -> float:
        """How far replacing a row moves the estimate, in the norm of the kernel's space."""
        reach = math.inf
        if self.bounds is not None:
            reach = float(((2 * declared(self.bounds, columns, "bounds").half / self._width) ** 2).sum())
        return self._peak(columns) / rows * math.sqrt(2 - 2 * math.exp(-reach / 2)) * (1 + 1e-12)

    def _printed(self, rows: int) -> float:  # noqa: ARG002
        return 1.0

    def _true_answers(self, rows: Array, labels: Any, asked: Array) -> tuple[Array, Array]:  # noqa: ARG002
        """The exact density at the questions, and how far a row moves each of them; for `OutputPerturbation`."""
        step = self._peak(rows.shape[1]) / len(rows)
        function = Expansion(self._clipped(rows), np.full((len(rows), 1), step), self._width)
        values = function.at(self._clipped(asked, MARGIN))[:, 0]
        return values, np.full(len(values), step * (1 + 1e-9))


class ServedHistogram(_Density, Stored, Private):
    """A histogram over a public grid of bins that answers without limit.

    Formal guarantee: for one row, under replace-one (epsilon, delta)-DP with Gaussian noise on the counts, l2
    sensitivity sqrt(2): a row leaves one bin and enters another (the shares have sqrt(2)/n, not the 2/n published,
    which is the l1 sensitivity). With delta 0 pure epsilon-DP with Laplace noise, l1 sensitivity 2. Under
    add-or-remove-one both are 1, and shares are of the noisy total. Noise is exact and on integers.

    Parameters
    ----------
    epsilon, delta
        What the answers together may cost.
    bins
        How many bins for each column: a whole number, or one for each.
    bounds
        Public (lower, upper), numbers or one for each column; rows outside are clipped.
    relation
        "replace-one" (the number of rows is public) or "add-or-remove-one".
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
    """

    n_features_in_: int
    noise_scale_: float

    def __init__(
        self,
        epsilon: Amount = 1,
        delta: Amount = "1e-6",
        *,
        bins: Any = 10,
        bounds: Any = None,
        relation: str = "replace-one",
        as_published: bool = False,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bins = bins
        self.bounds = bounds
        self.relation = relation
        self.as_published = as_published
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002, N803
        """Count the rows in every bin."""
        rows = checked_rows(self, X, reset=True)
        source, mechanism = self._source(), self._mechanism(*rows.shape)
        shape = self._shape(rows.shape[1])
        counts = np.bincount(self._places(rows), minlength=math.prod(shape))
        noisy = np.asarray(mechanism.release(counts, source).value, dtype=np.float64)
        replaced = mechanism.event.neighbours.relation is Relation.REPLACE_ONE
        total = float(len(rows)) if replaced else max(float(noisy.sum()), 1.0)
        self.noise_scale_ = _deviation(mechanism)
        if replaced:
            warn_of_noise(self.noise_scale_, len(rows) / 4, "a quarter of all rows is")
        self.shares_ = (noisy / total).reshape(shape)
        self._released(mechanism.event, source)
        return self

    def density(self, X: Any) -> Array:  # noqa: N803
        """Return the noisy density at every row, 0 outside the bounds; noise may make it negative."""
        check_is_fitted(self)
        rows = checked_rows(self, X)
        box, volume = self._box(rows.shape[1]), self._volume(rows.shape[1])
        inside = ((rows >= box.lower) & (rows <= box.upper)).all(axis=1)
        return np.where(inside, self.shares_.ravel()[self._places(rows)] / volume, 0.0)

    def planned(self, rows: int, columns: int) -> Event:
        """Say what fitting so many rows will cost; nothing is read."""
        return self._mechanism(whole(rows, "rows"), whole(columns, "columns")).event

    def _mechanism(self, rows: int, columns: int) -> Gaussian | Laplace:  # noqa: ARG002
        self._shape(columns)
        whom = self._neighbours()
        bins = 2 if whom.relation is Relation.REPLACE_ONE else 1
        options: dict[str, Any] = {"values": "integers", "coordinates": bins, "neighbours": whom}
        if self._delta == 0:
            return Laplace.calibrated(self._epsilon, bins, **options)
        moved = Fraction(math.sqrt(bins)) * (1 + Fraction(1, 2**50))
        if not self.as_published:
            return Gaussian.calibrated(self._epsilon, self._delta, moved, **options)
        return Gaussian(moved, bins * Fraction(published_constant(self._delta)) / self._epsilon, **options)

    def _neighbours(self) -> Neighbours:
        if self.relation not in tuple(Relation):
            raise ParameterError("The relation must be 'replace-one' or 'add-or-remove-one'.")
        return Neighbours(Unit.row(), Relation(self.relation))

    def _true_answers(self, rows: Array, labels: Any, asked: Array) -> tuple[Array, Array]:  # noqa: ARG002
        """The exact density at the questions, and how far a row moves each of them; for `OutputPerturbation`."""
        if self._neighbours().relation is not Relation.REPLACE_ONE:
            raise ParameterError(
                "Answers are perturbed for replace-one neighbours, where the number of rows is public."
            )
        shape, step = self._shape(rows.shape[1]), 1 / (len(rows) * self._volume(rows.shape[1]))
        counts = np.bincount(self._places(rows), minlength=math.prod(shape))
        return counts[self._places(asked)] * step, np.full(len(asked), step)

    def _volume(self, columns: int) -> float:
        return float(np.prod(2 * self._box(columns).half / np.array(self._shape(columns))))

    def _shape(self, columns: int) -> tuple[int, ...]:
        given = [self.bins] * columns if np.ndim(self.bins) == 0 else list(self.bins)
        if len(given) != columns:
            raise ParameterError(f"Give one number of bins, or one for each of the {columns} columns.")
        shape = tuple(whole(count, "bins") for count in given)
        if math.prod(shape) > _MOST_BINS:
            raise ParameterError("The grid has more than 2**24 bins; take fewer bins or columns.")
        return shape

    def _box(self, columns: int) -> Scale:
        if self.bounds is None:
            raise ParameterError("State the public bounds of the columns: bounds=(lower, upper).")
        return declared(self.bounds, columns, "bounds")

    def _places(self, rows: Array) -> Any:
        """The bin of every row, counted along the last column first; rows outside fall into the outermost bins."""
        box, shape = self._box(rows.shape[1]), self._shape(rows.shape[1])
        inside = (box.scaled(rows) + 1) / 2
        steps = np.minimum((inside * shape).astype(np.int64), np.array(shape) - 1)
        return np.ravel_multi_index(tuple(steps.T), shape)


def _deviation(mechanism: Gaussian | Laplace) -> float:
    return float(mechanism.sigma) if isinstance(mechanism, Gaussian) else math.sqrt(2) * float(mechanism.scale)

"""What served models share: a public feature map or a lazily drawn path, and noise that is calibrated exactly.

Functional perturbation (Hall, Rinaldo & Wasserman 2013): of a function f in the reproducing kernel Hilbert space of k,
f + sigma G leaves, G a Gaussian process with covariance k. At any points the privacy loss between f and f' is that of
Gaussian noise at distance at most |f - f'|_H, so with sensitivity D it is exactly (D/sigma)-Gaussian DP for any number
of answers: sigma = D / mu with the exact mu of (epsilon, delta), not D sqrt(2 ln(2/delta)) / epsilon as published.
"""

from __future__ import annotations

import copy
import math
import warnings
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ziggurat.errors import ParameterError
from ziggurat.learn._base import PrivateModel
from ziggurat.learn._clipping import read_bounds, root_above
from ziggurat.learn._storage import StoredModel
from ziggurat.learn.served._fourier import MARGIN, Fourier
from ziggurat.learn.served._kernels import Array, KernelExpansion
from ziggurat.learn.served._path_file import PathFile
from ziggurat.learn.served._paths import LazyPath
from ziggurat.mechanisms import Gaussian
from ziggurat.privacy import (
    Amount,
    Event,
    Neighbours,
    Relation,
    UnboundedEvent,
    exact_delta,
    exact_positive,
    whole_number,
)
from ziggurat.privacy.accounting import fewest_rows
from ziggurat.randomness import Source

_FAR = 1e9  # bandwidths from the centre at which all rows are clipped, so that angles stay finite
_STEP = Fraction(1, 1 << 24)  # of a row's features, which are added up as whole numbers
# A path is conditioned in floats, see `_paths`; this part of the sensitivity is set aside for their errors.
FOR_FLOATS = Fraction(1, 1000)
_OF_FEATURES = ("frequencies_", "frequency_weights_", "weights_")
_OF_A_PATH = ("_lazy", "path_identity_", "centres_", "coefficients_")


def published_constant(delta: Amount) -> float:
    """The printed c(delta) = sqrt(2 ln(2/delta)): valid noise up to an epsilon of about 8, and nearly twice too much.

    At (0.4, 1e-3) it is 3.899 where epsilon / mu, which is enough, is 2.224.
    """
    amount = float(exact_delta(delta))
    if amount == 0:
        raise ParameterError("The published constant needs a delta greater than 0.")
    return math.sqrt(2 * math.log(2 / amount))


@dataclass(eq=False, repr=False, kw_only=True)
class Served(StoredModel, PrivateModel):
    """A model whose answers leave without limit, because noise was added to the function that gives them, once.

    A subclass has the parameters `bandwidth`, `bounds`, `features`, `path` and `as_published` besides the common ones.
    What is protected is scaled to sensitivity 1, so that the event is known from the shape of the table.

    Attributes
    ----------
    noise_scale_
        Standard deviation of the noise in an answer.
    frequencies_, frequency_weights_, weights_
        The public feature map and the noisy weights of its features: all that answers are made of. Without a path.
    centres_, coefficients_, path_identity_
        The function itself, which must stay secret, and the name of the path that hides it. With a path.
    facts_
        The public parameters that answers depend on, as they were when it was fitted.
    """

    epsilon: Amount = field(default=1, kw_only=False)
    delta: Amount = field(default="1e-6", kw_only=False)
    bandwidth: float = 1.0
    bounds: Any = None
    features: int = 1024
    path: Any = None
    as_published: bool = False
    random_state: int | None = None

    n_features_in_: int = field(init=False)
    noise_scale_: float = field(init=False)

    @abstractmethod
    def _paper_ratio(self, rows: int) -> float:
        """The published sensitivity, in units of the right one."""

    @abstractmethod
    def _neighbours(self) -> Neighbours:
        """Whom it protects."""

    def _further(self) -> int:
        """How many answers `OutputPerturbation` must perturb beside those asked for."""
        return 0

    def _finish(self, values: Array, noise: Array) -> tuple[Array, Array]:
        """Make what is told of perturbed answers and the deviations of their noise."""
        return values, noise

    def _outputs(self) -> int:
        """How many functions answer together."""
        return 1

    @property
    def _width(self) -> float:
        return float(exact_positive(self.bandwidth, "bandwidth"))

    def planned(self, rows: int, columns: int) -> Event:
        """Say what fitting so many rows will cost; nothing is read."""
        rows = whole_number(rows, "rows", fewest_rows(self._neighbours().relation))
        return self._state_event(self._mechanism(rows, whole_number(columns, "columns")), rows)

    def _mechanism(self, rows: int, columns: int) -> Gaussian:
        """Noise for what is protected, scaled to sensitivity 1."""
        if self.path is not None:
            return self._calibrate(1 + FOR_FLOATS, rows, coordinates=1)
        return self._calibrate(Fraction(1), rows, coordinates=self._map(columns).size * self._outputs())

    def _calibrate(self, moved: Fraction, rows: int, **options: Any) -> Gaussian:
        options["neighbours"] = self._neighbours()
        if not self.as_published:
            return Gaussian.calibrated(self._epsilon, self._delta, moved, **options)
        printed = Fraction(self._paper_ratio(rows) * published_constant(self._delta))
        return Gaussian(moved, moved * printed / self._epsilon, **options)

    def _state_event(self, mechanism: Gaussian, rows: int) -> Event:
        """The event; it promises nothing where published noise is too little, or tells a private number of rows."""
        private = self._neighbours().relation is not Relation.REPLACE_ONE
        if self.as_published and (private or self._paper_ratio(rows) < 1):
            what = f"{type(self).__name__} with the published sensitivity, which is too small"
            return UnboundedEvent(self._neighbours(), what)
        return mechanism.event

    def _map(self, columns: int) -> Fourier:
        """The public feature map: a lattice where bounds are declared and there is room for it, else drawn."""
        most, made = whole_number(self.features, "features", 2), None
        if self.bounds is not None:
            made = Fourier.lattice(2 * read_bounds(self.bounds, columns, "bounds").half, self._width, most)
        return replace(made or Fourier.draw(columns, self._width, most), centre=self._centre(columns))

    def _centre(self, columns: int) -> Array:
        """The public point that rows and questions are measured from."""
        return np.zeros(columns) if self.bounds is None else read_bounds(self.bounds, columns, "bounds").centre

    def _clip(self, rows: Array, margin: float = 0.0) -> Array:
        """Clip rows to the declared bounds, and questions to a margin around them."""
        return np.clip(rows, *self._limits(rows.shape[1], margin))

    def _limits(self, columns: int, margin: float = 0.0) -> tuple[Array, Array]:
        centre, far = self._centre(columns), _FAR * self._width
        if self.bounds is None:
            return centre - far, centre + far
        box, more = read_bounds(self.bounds, columns, "bounds"), margin * self._width
        return np.maximum(box.lower - more, centre - far), np.minimum(box.upper + more, centre + far)

    def _serve_features(self, features: Fourier, weights: Array, noise: float) -> None:
        """Keep what answers are made of: a public map and noisy weights, a column for each function."""
        self._forget()
        self.frequencies_, self.frequency_weights_ = features.frequencies, features.weights
        self.weights_, self.noise_scale_, self.facts_ = weights, noise, self._facts()

    def _serve_path(self, function: KernelExpansion, source: Source, noise: float) -> None:
        """Keep the function itself, which must never leave, and start the path that hides it.

        Where the path cannot be started nothing is changed: a model that goes on with an older path, but with other
        noise or another function, would break its promise.
        """
        outputs = function.coefficients.shape[1]
        lazy = LazyPath.create(self.path, self.n_features_in_, outputs, self._width, source)
        self._forget()
        self._lazy, self.path_identity_ = lazy, lazy.file.identity
        self.centres_, self.coefficients_ = function.centres, function.coefficients
        self.noise_scale_, self.facts_ = noise, self._facts()

    def _forget(self) -> None:
        """Drop all that an earlier fit left, the rows that a path had to hide among it."""
        for name in (*_OF_FEATURES, *_OF_A_PATH, "event_", "origin_"):
            self.__dict__.pop(name, None)

    def _facts(self) -> dict[str, Any]:
        """What answers depend on besides what was learned, by parameter; all of it is public."""
        limits = np.array(self._limits(self.n_features_in_, MARGIN))
        return {"path": self.path is not None, "bandwidth": self._width, "bounds": limits}

    def _require_as_fitted(self) -> None:
        """Refuse to answer with other parameters than the noise was made for."""
        check_is_fitted(self, "event_")
        for name, fact in self._facts().items():
            if not np.array_equal(fact, self.facts_[name]):
                raise ParameterError(f"The model was fitted with another {name}; set it back, or fit again.")

    def _answers(self, rows: Array) -> Array:
        """Noisy values at the rows, a column for each function; the same row always gets the same."""
        self._require_as_fitted()
        asked = self._clip(rows, MARGIN)
        if self.path is None:
            centre = self._centre(rows.shape[1])
            features = Fourier(self.frequencies_, self.frequency_weights_, least=-1.0, centre=centre)
            return np.asarray(features.of(asked) @ self.weights_)
        function, scale = KernelExpansion(self.centres_, self.coefficients_, self._width), self.noise_scale_
        return self._open().answers(asked, lambda points: function.at(points) / scale) * scale

    def _open(self) -> LazyPath:
        if not hasattr(self, "_lazy") or self._lazy.file.file != Path(self.path):
            self._lazy = LazyPath(PathFile(self.path, self.path_identity_), self._source())
        return self._lazy

    def save(self, path: str | Path) -> None:
        """Write the fitted model to a file, as `StoredModel` says; the place of a noise path is kept as text."""
        kept = self if self.path is None else copy.copy(self).set_params(path=str(self.path))
        StoredModel.save(kept, path)


def warn_of_noise(noise: float, useful: float, what: str) -> None:
    """Say that the noise drowns the answers; all that is compared must be public."""
    if noise > useful:
        warnings.warn(
            "With this epsilon and number of rows the answers are mostly noise: its standard deviation is "
            f"{noise:.3g}, while {what} {useful:.3g}; allow a larger epsilon, or collect more rows.",
            UserWarning,
            stacklevel=4,
        )


def sum_features(features: Fourier, rows: Array, chunk: int = 8192) -> Any:
    """Add up the features of all rows, exactly: each is rounded to whole steps first, so no order of adding matters."""
    total = np.zeros(features.size, dtype=np.int64)
    for start in range(0, len(rows), chunk):
        steps = np.rint(features.of(rows[start : start + chunk]) / float(_STEP)).astype(np.int64)
        total += steps.sum(axis=0)
    return total


def moved_by_a_row(features: Fourier) -> Fraction:
    """How far replacing a row moves the sum of rounded features, in steps.

    Rounding moves each feature of either row by half a step at most, and a float's cosine by far less than a step.
    """
    return Fraction(features.diameter) / _STEP + math.isqrt(features.size) + 2


COUNTED = 1 << 22
"""Steps that a row counts for beside its features where the number of rows is private: a quarter of their length.

A density f is then off by the noise in its sums and by that in the count, and with the weight w of the count both
together have a variance of (1 + w^2) (1 + (f/c)^2 / w^2), c the highest density: least where w^2 = f/c.
"""


def added_by_a_row(features: Fourier) -> Fraction:
    """How far adding a row moves the sum of rounded features and the count beside it, in steps.

    Features have length 1, rounding adds half a step to each at most, and floats far less than a step.
    """
    length = 1 / _STEP + Fraction(math.isqrt(features.size) + 1, 2) + 1
    return root_above(length**2 + COUNTED**2)


def in_features(steps: Any) -> Any:
    """Turn steps back into features."""
    return steps * float(_STEP)

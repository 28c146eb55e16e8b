"""Gaussian-process regression to serve: only labels are private."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from ziggurat.data import Unit
from ziggurat.errors import ParameterError
from ziggurat.learn._clipping import Scale, check_pairs, check_rows, read_bounds
from ziggurat.learn.served._base import Served, warn_of_noise
from ziggurat.learn.served._kernels import Array, KernelExpansion, gaussian_kernel
from ziggurat.learn.served._posterior import SAFELY, Posterior, in_features, in_kernel
from ziggurat.privacy import Event, Neighbours, Relation, exact_positive

LABEL = Neighbours(Unit.of("y", "label"), Relation.REPLACE_ONE)
"""One label is replaced by any other within the bounds; the rows it belongs to are public."""


def span_of(y_bounds: Any) -> Scale:
    if y_bounds is None:
        raise ParameterError("State the public bounds of the labels: y_bounds=(lower, upper).")
    return read_bounds(y_bounds, 1, "y_bounds")


@dataclass(eq=False, repr=False, kw_only=True)
class GaussianProcessRegression(RegressorMixin, Served):  # type: ignore[misc]  # scikit-learn has no types
    """The posterior mean of a Gaussian process with the Gaussian kernel, answered without limit.

    Formal guarantee: (epsilon, delta)-DP for one *label* under replace-one. The rows `X`, the bandwidth and the noise
    variance must be public: they are not protected. Sensitivity: the mean is f = k(., X) C y with
    C = (K + s^2 I)^-1, so a label that moves by at most d, the width of `y_bounds`, moves f by d sqrt([C K C]_jj),
    at most d / (2 s) (the published d |C|_inf is many times too large). With features
    f = phi' w, w = (F'F + s^2 I)^-1 F' y, and the same is d times the longest column of that matrix.

    `noise_scale_` is the root mean square over the rows.

    Parameters
    ----------
    epsilon, delta
        What the answers together may cost; delta must be greater than 0.
    y_bounds
        Public (lower, upper) of the labels; those outside are clipped. Their middle is the prior mean.
    bandwidth
        h of the kernel, a public number.
    noise_variance
        s^2, the variance of a label around the function in units of the function's own variance. The larger it is,
        the smoother the function and the less a single label moves it: with n rows, n/100 is not too much.
    bounds, features, path
        As in `KernelDensity`; the rows themselves are public here.
    shaped
        Give noise on features the shape that makes answers at the rows vary least, which is often many times less than
        in the kernel's own shape (False). Any shape keeps the promise, because the longest column is measured in it.
    as_published
        Take the published sensitivity and constant, for comparison: sound, but far too much noise.
    random_state
        None for secure noise; a whole number for a rehearsal.
    """

    y_bounds: Any = None
    noise_variance: float = 0.1
    features: int = 512
    shaped: bool = True

    _ratio = 1.0  # of the published sensitivity to the right one, once the rows are known

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        """Learn from public rows and private labels."""
        table, labels = self._check_rows(X, y)
        rows, span, source = self._clip(table), span_of(self.y_bounds), self._source()
        target, half = span.scale(labels[:, None])[:, 0], float(span.half[0])
        mechanism, mean = self._mechanism(*rows.shape), self._posterior(rows)
        if self.as_published:
            self._ratio = self._published_ratio(rows, mean.moved)
            mechanism = self._mechanism(*rows.shape)
        found, noise = mean.of(target), self._spread(rows, mean) * half * float(mechanism.sigma)
        warn_of_noise(noise, half, "half the width of y_bounds is")
        if self.path is None:
            noisy = mechanism.release(found / mean.moved, source).value * mean.moved * half
            weights = noisy if mean.outward is None else mean.outward @ noisy
            self._serve_features(self._map(rows.shape[1]), weights[:, None], noise)
        else:
            self._serve_path(KernelExpansion(rows, found[:, None] * half, self._width), source, noise)
        self._note_release(self._state_event(mechanism, len(rows)), source)
        return self

    def predict(self, X: Any) -> Array:  # noqa: N803
        """Return the noisy mean at every row, moved into the bounds as those were that were learned from."""
        check_is_fitted(self)
        return self._answers(self._clip(check_rows(self, X)))[:, 0] + float(span_of(self.y_bounds).centre[0])

    def planned(self, rows: int, columns: int) -> Event:
        """Say what fitting so many rows will cost; nothing is read."""
        if self.as_published:
            raise ParameterError("The published sensitivity depends on the rows; fit to see the event.")
        return super().planned(rows, columns)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # how well it does depends on epsilon and the number of rows
        return tags

    def _true_answers(self, rows: Array, labels: Array, asked: Array) -> tuple[Array, Array]:
        """The exact mean at the questions, and how far one label moves each of them; for `OutputPerturbation`."""
        span, centres = span_of(self.y_bounds), self._clip(rows)
        mean = in_kernel(centres, self._noise, self._width)
        table = gaussian_kernel(self._clip(asked), centres, self._width) @ mean.inward[0]
        values = table @ span.scale(labels[:, None])[:, 0] * span.half[0] + span.centre[0]
        return values, 2 * np.abs(table).max(axis=1) * float(span.half[0]) * SAFELY + 1e-300

    def _check_rows(self, X: Any, y: Any) -> tuple[Array, Array]:  # noqa: N803
        return check_pairs(self, X, y, numeric=True)

    def _neighbours(self) -> Neighbours:
        return LABEL

    def _facts(self) -> dict[str, Any]:
        span = span_of(self.y_bounds)
        return {**super()._facts(), "y_bounds": np.array([span.lower, span.upper])}

    @property
    def _noise(self) -> float:
        return float(exact_positive(self.noise_variance, "noise_variance"))

    def _paper_ratio(self, rows: int) -> float:  # noqa: ARG002
        return self._ratio

    def _posterior(self, rows: Array) -> Posterior:
        if self.path is not None:
            return in_kernel(rows, self._noise, self._width)
        shaped = self.shaped and not self.as_published
        return in_features(self._map(rows.shape[1]), rows, self._noise, shaped=shaped)

    def _spread(self, rows: Array, mean: Posterior) -> float:
        """Root mean square over the public rows of how far noise of deviation 1 moves an answer."""
        if mean.outward is None:
            return mean.moved
        answered = self._map(rows.shape[1]).of(rows) @ mean.outward
        return mean.moved * float(np.sqrt((answered**2).sum(axis=1).mean()))

    def _published_ratio(self, rows: Array, moved: float) -> float:
        gram = gaussian_kernel(rows, rows, self._width)
        inverse = np.linalg.inv(gram + self._noise * np.eye(len(rows)))
        return 2 * float(np.abs(inverse).sum(axis=1).max()) / moved

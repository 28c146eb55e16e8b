"""Gaussian-process regression at questions that are fixed beforehand."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from ziggurat.learn._clipping import check_pairs
from ziggurat.learn._storage import StoredModel
from ziggurat.learn.served._base import warn_of_noise
from ziggurat.learn.served._cloaking import Cloak, cloak
from ziggurat.learn.served._gaussian_process import LABEL, span_of
from ziggurat.learn.served._kernels import Array, gaussian_kernel
from ziggurat.learn.served._posterior import ROUNDING, SAFELY, in_kernel
from ziggurat.learn.served._questions import Questioned
from ziggurat.mechanisms import Gaussian
from ziggurat.privacy import Amount, Event, exact_positive, whole_number


@dataclass(eq=False, repr=False, kw_only=True)
class CloakedRegression(RegressorMixin, StoredModel, Questioned):  # type: ignore[misc]  # scikit-learn has no types
    """Gaussian-process regression at questions that are fixed beforehand, with the least noise there.

    Formal guarantee: (epsilon, delta)-DP for one *label* under replace-one; rows, questions, bandwidth and noise
    variance are public. The answers are P y for a public matrix P; a label that moves by d moves them by d times a
    column of P. Cloaking (Smith, Alvarez, Zwiessele & Lawrence 2018) gives the noise the shape of the smallest
    ellipsoid around the columns: where M^-1/2 P has columns of length at most 1, exact Gaussian noise of
    sensitivity d is added, and M^1/2 takes the result back.

    Parameters
    ----------
    epsilon, delta
        What the answers together may cost; delta must be greater than 0.
    questions
        The rows at which answers will be asked; `predict` knows no others.
    y_bounds, bandwidth, noise_variance, random_state
        As in `GaussianProcessRegression`.
    """

    epsilon: Amount = field(default=1, kw_only=False)
    delta: Amount = field(default="1e-6", kw_only=False)
    questions: Any = None
    y_bounds: Any = None
    bandwidth: float = 1.0
    noise_variance: float = 0.1
    random_state: int | None = None

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        """Learn from public rows and private labels, and answer all questions."""
        rows, labels = self._check_rows(X, y)
        span, source, made, mechanism = span_of(self.y_bounds), self._source(), self._cloak(rows), self._mechanism()
        target, half = span.scale(labels[:, None])[:, 0], float(span.half[0])
        moved = 2 * made.longest * SAFELY + self._round_off(made)
        noisy = mechanism.release(self._pad(made.inward @ target / moved), source).value
        self.noise_scales_ = half * moved * float(mechanism.sigma) * np.linalg.norm(made.outward, axis=1)
        warn_of_noise(float(self.noise_scales_.min()), half, "half the width of y_bounds is")
        self.answers_ = made.outward @ noisy[: len(made.inward)] * moved * half + float(span.centre[0])
        self._note_release(mechanism.event, source)
        return self

    def _check_rows(self, X: Any, y: Any) -> tuple[Array, Array]:  # noqa: N803
        return check_pairs(self, X, y, numeric=True)

    def _cloak(self, rows: Array) -> Cloak:
        """The shape of the noise, from public numbers alone."""
        asked, width = self._ask_rows(), float(exact_positive(self.bandwidth, "bandwidth"))
        mean = in_kernel(rows, float(exact_positive(self.noise_variance, "noise_variance")), width)
        return cloak(gaussian_kernel(asked, rows, width) @ mean.inward[0])

    def _round_off(self, made: Cloak) -> float:
        """Twice what floats can get wrong in the product with the labels, whose sums have as many terms as rows."""
        size, rows = made.inward.shape
        return 4 * ROUNDING * math.sqrt(rows**3 * size) * float(np.linalg.norm(made.inward, 2))

    def planned(self, rows: int, columns: int) -> Event:
        """Say what fitting so many rows will cost; nothing is read."""
        whole_number(rows, "rows")
        whole_number(columns, "columns")
        return self._mechanism().event

    def _mechanism(self) -> Gaussian:
        options: dict[str, Any] = {"coordinates": len(self._ask()), "neighbours": LABEL}
        return Gaussian.calibrated(self._epsilon, self._delta, 1, **options)

    def _pad(self, whitened: Array) -> Array:
        """Fill up to one entry a question, so that what is planned does not depend on the rank."""
        return np.concatenate([whitened, np.zeros(len(self._ask()) - len(whitened))])

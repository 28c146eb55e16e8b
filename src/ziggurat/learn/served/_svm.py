"""Kernel support vector machines to serve."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ziggurat.errors import ParameterError
from ziggurat.learn._budget import about_rows
from ziggurat.learn._classes import code_labels, public_classes
from ziggurat.learn._clipping import check_pairs, check_rows
from ziggurat.learn.served._base import Served, warn_of_noise
from ziggurat.learn.served._hinge import SLACK, kernel_machine, linear_machine, require_soluble
from ziggurat.learn.served._kernels import Array, KernelExpansion, gaussian_kernel
from ziggurat.mechanisms import Gaussian
from ziggurat.privacy import Neighbours, Relation, exact_positive
from ziggurat.privacy.accounting import Size, fewest_rows
from ziggurat.randomness import Source


@dataclass(eq=False, repr=False, kw_only=True)
class KernelSVM(ClassifierMixin, Served):  # type: ignore[misc]  # scikit-learn has no types
    """A support vector machine with the Gaussian kernel that answers without limit.

    Formal guarantee: (epsilon, delta)-DP for one row, features and label, add-or-remove-one by default (the number of
    rows is private) or replace-one. Sensitivity, for |f|^2/2 + C sum_i hinge without a bias and a kernel with
    k(x, x) = 1: C under add-or-remove-one, 2C under replace-one. Proof: the objective
    is 1-strongly convex, and of two that differ in the terms of one row the subgradients differ by at most C sqrt(k) a
    term; the solver's certified distance of 2% of C is added on both sides. The published 2C/n belongs to an objective
    with C/n and is n times too small for this one. Classes are told apart one against the rest, K functions of
    sqrt(K) times that sensitivity together (one function for two classes).

    Parameters
    ----------
    epsilon, delta
        What the answers together may cost; delta must be greater than 0.
    C
        The weight of a row, a public number. Noise grows with C, and does not shrink with the number n of rows: values
        of a few hundredths or less, of the order of 1/n times a constant, suit it best.
    bandwidth
        h of the kernel, a public number.
    classes
        The classes, which must be public: a list, or a number k for the labels 0 to k - 1.
    bounds, features, path
        As in `KernelDensity`; sensitivity is the same with and without bounds.
    relation
        "add-or-remove-one", where the number of rows is private and C must be at least 1e-4, or "replace-one".
    expected_rows
        Under add-or-remove-one about how many rows there are: a public number, never counted for this, by which a
        warning can tell of too much noise. Nothing else needs it.
    as_published
        Take the published sensitivity 2C/n and constant: this protects nobody, and `event_` says so.
    random_state
        None for secure noise; a whole number for a rehearsal.

    Attributes
    ----------
    classes_
        The classes in order.
    """

    C: float = 0.01
    classes: Any = None
    relation: str = "add-or-remove-one"
    expected_rows: int | None = None

    classes_: Any = field(init=False)

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        """Learn to tell the classes apart."""
        table, signs = self._check_rows(X, y)
        rows, likely = self._clip(table), Size.of(self.relation, len(table), self.expected_rows).likely
        source, mechanism = self._source(), self._mechanism(*rows.shape)
        noise = self._movement() * float(mechanism.sigma)
        if likely is not None:
            useful = min(1.0, self._cost * likely)
            warn_of_noise(noise, useful, "decision values of rows well told apart are at most")
        if self.path is None:
            self._fit_features(rows, signs, mechanism, source)
        else:
            gram = gaussian_kernel(rows, rows, self._width)
            found = [kernel_machine(gram, each, self._cost) for each in signs]
            self._serve_path(KernelExpansion(rows, np.column_stack(found), self._width), source, noise)
        self.classes_ = public_classes(self.classes)
        self._note_release(self._state_event(mechanism, len(rows)), source)
        return self

    def _check_rows(self, X: Any, y: Any) -> tuple[Array, list[Array]]:  # noqa: N803
        table, labels = check_pairs(self, X, y, numeric=False, least=fewest_rows(self.relation))
        require_soluble(self._cost, self._public(len(table)))
        return table, self._signs(labels)

    def _fit_features(self, rows: Array, signs: list[Array], mechanism: Gaussian, source: Source) -> None:
        features, moved = self._map(rows.shape[1]), self._movement()
        table = features.of(rows)
        found = [linear_machine(table, each, self._cost) for each in signs]
        noisy = mechanism.release(np.concatenate(found) / moved, source).value
        self._serve_features(features, noisy.reshape(len(found), -1).T * moved, moved * float(mechanism.sigma))

    def decision_function(self, X: Any) -> Array:  # noqa: N803
        """Return the noisy decision values: one a row for two classes, else one for every class.

        Rows are moved into the bounds, as those were that were learned from.
        """
        check_is_fitted(self)
        values = self._answers(self._clip(check_rows(self, X)))
        return values[:, 0] if len(self.classes_) == 2 else values

    def predict(self, X: Any) -> Any:  # noqa: N803
        """Return the class named for every row."""
        values = self.decision_function(X)
        return self.classes_[(values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # how well it does depends on epsilon and the number of rows
        return tags

    def _true_answers(self, rows: Array, labels: Any, asked: Array) -> tuple[Array, Array]:
        """The decision values of two classes, which move by no more than the function; for `OutputPerturbation`."""
        if self._outputs() != 1:
            raise ParameterError("The answers of a support vector machine are perturbed for two classes only.")
        require_soluble(self._cost, self._public(len(rows)))
        centres, (signs,) = self._clip(rows), self._signs(labels)
        found = kernel_machine(gaussian_kernel(centres, centres, self._width), signs, self._cost)
        values = KernelExpansion(centres, found[:, None], self._width).at(self._clip(asked))[:, 0]
        return values, np.full(len(values), self._movement())

    @property
    def _cost(self) -> float:
        return float(exact_positive(self.C, "C"))

    def _neighbours(self) -> Neighbours:
        return about_rows(self.relation)

    def _public(self, rows: int) -> int | None:
        """The number of rows where it is public: neighbours under add-or-remove-one differ in it."""
        return rows if self._neighbours().relation is Relation.REPLACE_ONE else None

    def _movement(self) -> float:
        """How far one row moves all functions together, in the norm of the kernel's space."""
        terms = 2 if self._neighbours().relation is Relation.REPLACE_ONE else 1
        return (terms + 2 * SLACK) * self._cost * math.sqrt(self._outputs()) * (1 + 1e-9)

    def _paper_ratio(self, rows: int) -> float:
        return 2 * self._cost / max(rows, 1) / self._movement()

    def _outputs(self) -> int:
        count = len(public_classes(self.classes))
        return 1 if count == 2 else count

    def _signs(self, labels: Any) -> list[Array]:
        """For every function, which side each row is on; labels of any other class are refused unseen."""
        classes = public_classes(self.classes)
        codes = code_labels(labels, classes)
        named = range(1, 2) if classes.size == 2 else range(classes.size)
        return [np.where(codes == at, 1.0, -1.0) for at in named]

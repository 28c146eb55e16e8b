"""Output perturbation: noise in every answer, for comparison with noise in the function."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol, Self

from sklearn.base import clone

from ziggurat.errors import ParameterError
from ziggurat.learn._clipping import check_pairs, check_rows, root_above
from ziggurat.learn.served._kernels import Array
from ziggurat.learn.served._questions import Questioned
from ziggurat.mechanisms import Gaussian, Laplace
from ziggurat.privacy import Amount, Event, Neighbours, whole_number
from ziggurat.privacy.accounting import fewest_rows


class _Answering(Protocol):
    """What a model must know to be perturbed in its answers."""

    def _neighbours(self) -> Neighbours: ...

    def _further(self) -> int: ...

    def _finish(self, values: Array, noise: Array) -> tuple[Array, Array]: ...

    def _true_answers(self, rows: Array, labels: Any, asked: Array) -> tuple[Array, Array]: ...


@dataclass(eq=False, repr=False, kw_only=True)
class OutputPerturbation(Questioned):
    """The exact model's answers to a fixed list of questions, with noise in each.

    Formal guarantee: that of `model` for its unit, pure where delta is 0. Sensitivity: each answer, divided by how far
    one unit moves it, moves by at most 1; m answers move by m in l1 (Laplace noise: epsilon/m each) and by sqrt(m) in
    l2 (Gaussian noise: mu/sqrt(m) each, which is exact composition). Of a density under add-or-remove-one the answers
    are sums, and the number of rows, by which they are divided, is one more. So noise grows with the number of
    questions, as it does not in served models.

    Parameters
    ----------
    model
        A `KernelDensity`, `ServedHistogram`, `KernelSVM` or `GaussianProcessRegression` that says what to estimate,
        and under which relation; its own epsilon, delta and random state are not used.
    epsilon, delta
        What all answers together may cost; with delta 0 the noise is Laplace's, else it is Gaussian.
    questions
        The rows at which answers will be asked; `predict` knows no others.
    random_state
        None for secure noise; a whole number for a rehearsal.
    """

    model: Any = field(default=None, kw_only=False)
    epsilon: Amount = field(default=1, kw_only=False)
    delta: Amount = field(default="1e-6", kw_only=False)
    questions: Any = None
    random_state: int | None = None

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803 - as in scikit-learn
        """Learn from the rows, answer all questions, and forget the model."""
        rows, labels = self._check_rows(X, y)
        source, mechanism, model = self._source(), self._mechanism(), self._choose()
        values, moved = model._true_answers(rows, labels, self._ask_rows())
        noisy = mechanism.release(values / moved, source).value
        width = float(mechanism.sigma) if isinstance(mechanism, Gaussian) else 2**0.5 * float(mechanism.scale)
        self.answers_, self.noise_scales_ = model._finish(noisy * moved, moved * width)
        self._note_release(mechanism.event, source)
        return self

    def planned(self, rows: int, columns: int) -> Event:
        """Say what fitting so many rows will cost; nothing is read."""
        whole_number(rows, "rows", fewest_rows(self._choose()._neighbours().relation))
        whole_number(columns, "columns")
        return self._mechanism().event

    def _check_rows(self, X: Any, y: Any) -> tuple[Array, Any]:  # noqa: N803
        least = fewest_rows(self._choose()._neighbours().relation)
        clone(self.model).check(X, y)
        if y is None:
            return check_rows(self, X, reset=True, least=least), None
        return check_pairs(self, X, y, numeric=not hasattr(self.model, "classes"), least=least)

    def _choose(self) -> _Answering:
        if not hasattr(self.model, "_true_answers"):
            raise ParameterError("Give a served model that says what to estimate, such as KernelDensity().")
        chosen: _Answering = self.model
        return chosen

    def _mechanism(self) -> Gaussian | Laplace:
        model = self._choose()
        answers = len(self._ask()) + model._further()
        options: dict[str, Any] = {"coordinates": answers, "neighbours": model._neighbours()}
        if self._delta == 0:
            return Laplace.calibrated(self._epsilon, answers, **options)
        return Gaussian.calibrated(self._epsilon, self._delta, root_above(Fraction(answers)), **options)

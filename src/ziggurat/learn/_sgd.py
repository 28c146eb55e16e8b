"""Networks trained by private gradient descent (DP-SGD), in the manner of scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, RegressorMixin

from ziggurat.data.withheld import RowsError
from ziggurat.errors import ParameterError
from ziggurat.learn._classes import code_labels, public_classes
from ziggurat.learn._clipping import Scale, read_bounds
from ziggurat.learn._sgd_model import PrivateSGD, require_torch

if TYPE_CHECKING:
    from ziggurat.descent import Progress

Array = npt.NDArray[Any]


@dataclass(eq=False, repr=False, kw_only=True)
class PrivateSGDClassifier(ClassifierMixin, PrivateSGD):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier of any PyTorch module, trained by private gradient descent (Abadi et al. 2016).

    Formal guarantee: (epsilon, delta)-DP for the unit of a row and the relation add-or-remove-one, for the model after
    every step together, so also for what its checkpoints hold of it. At each of `steps_` steps every row takes part
    with probability `sampling_`, independently, its gradient is clipped to length `clip`, and the sum, which one row
    then moves by at most `clip` in l2, gets Gaussian noise of `noise_multiplier_` times that: the Poisson-sampled
    Gaussian mechanism, composed by its privacy-loss distribution. `event_` says so, and `guarantee_` is computed from
    it. The number of rows is private: sampling_ = batch / expected_rows, and all that is planned, tells or scales goes
    by that declared number. It is proven up to twice as many rows, and more are refused. Nothing is promised here for
    replace-one neighbours.

    Rounding: see `_sgd_gradients` and `_sgd_noise`; the sum is computed in double precision, what that can add to one
    row's reach is added to the sensitivity, and noise is added as whole steps of a lattice. What a PyTorch kernel
    computes for a row may depend on its place in a block by rounding: 2^-22 of its gradient is allowed for, for every
    row of a sample, which is an assumption on the kernels.

    Parameters
    ----------
    module
        A module, which is copied with its weights (they must be public); a function of the numbers of inputs and
        outputs that makes one; or None for a small network. A module maps rows of features to as many logits as
        there are classes, or to one for two classes. Images are rows too: begin with `nn.Unflatten`. Rows must not mix:
        batch normalisation is refused, and so is a module that changes its buffers. Sequences of linear layers, plain
        convolutions, usual activations and pooling are trained fast; any other module gets every row alone, which is
        slower, and its `forward` must keep nothing from one call to the next. Dropout leaves out the same for all rows
        of a step.
    epsilon, delta
        What fitting may cost.
    classes
        The classes, which must be public: a list, or a number k for the labels 0 to k - 1.
    bounds
        Public (lower, upper), numbers or one for each column: features are scaled to [-1, 1] and clipped. None leaves
        them as they are, which costs no privacy, but features far from [-1, 1] are learned from badly.
    hidden
        The widths of the hidden layers of the default network; () for a linear model.
    epochs
        How often a row takes part, in expectation.
    batch
        How many of the expected rows take part in a step, in expectation; None for a twentieth, and 256 at least.
    learning_rate, optimiser, momentum
        "adam" (default), whose first moment forgets by `momentum`, or "sgd". The default rate is 0.3 / sqrt(steps) for
        Adam, and 0.5 for plain descent.
    clip
        The longest gradient of a row. The default works for most: it clips nearly all, and Adam does not care for
        the common scale of gradients. But clipped gradients have another minimum: classes are named well, while the
        probability of a rare one leans away from its share (0.05 where 0.08 is true), at any epsilon.
    average
        Whether to give the mean over the steps, weighted towards the last ones, instead of the last parameters.
    microbatch
        Rows that are computed at once, which affects memory and time alone; by default all of a usual step, if they
        fit.
    device
        Where to train: "cpu" or "cuda".
    checkpoint, checkpoint_every
        A file from which a killed training goes on, and after how many steps it is written. Steps that may have been
        taken since the last one count as taken, and are left out. It is refused for other rows or settings; for the
        same ones, a training that has ended gives its model again. It holds a salted digest of the rows: keep it
        private.
    relation
        "add-or-remove-one"; no account of Poisson sampling is known here for any other.
    expected_rows
        About how many rows there are: a public number that must be declared, and never counted for this. If it is wrong
        the promise is kept all the same, but rows take part more or less often than `epochs` and `batch` say.
    random_state
        None draws from the secure source. A whole number makes the same model again: a rehearsal, never to be
        published.

    Attributes
    ----------
    classes_
        The classes in order.
    weights_
        What was learned, by name.
    noise_multiplier_, sampling_, steps_
        What training did.
    event_, origin_, guarantee_
        See `Private`.
    """

    classes: Any = None

    classes_: Array = field(init=False)

    def fit(self, X: Any, y: Any, *, progress: Progress | None = None) -> Self:  # noqa: N803
        """Train on private rows; `progress` is told how many steps are done and how many there are."""
        require_torch()
        table, codes = self._check_rows(X, y)
        self.classes_ = public_classes(self.classes)
        self._train(table, codes, progress)
        return self

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:  # noqa: N803
        """Return the probability of every class for every row."""
        from scipy.special import expit, softmax

        logits = self._ask(X)
        if logits.shape[1] > 1:
            return np.asarray(softmax(logits, axis=1))
        positive = expit(logits[:, 0])
        return np.stack([1 - positive, positive], axis=1)

    def predict(self, X: Any) -> Array:  # noqa: N803
        """Return the likeliest class of every row."""
        likeliest = self.predict_proba(X).argmax(1)
        return np.asarray(self.classes_[likeliest])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.random_state is None
        tags.classifier_tags.poor_score = True  # of a few hundred rows, noise leaves what it leaves
        return tags

    def _check_rows(self, X: Any, y: Any) -> tuple[Array, Array]:  # noqa: N803
        table, labels = self._pairs(X, y, numeric=False)
        return table, code_labels(labels, public_classes(self.classes))

    def _outputs(self) -> int:
        count = int(self.classes_.size)
        return 1 if count == 2 else count

    def _require_outputs(self, found: tuple[int, ...]) -> None:
        count = self.classes_.size
        if found != (count,) and not (found == (1,) and count == 2):
            raise ParameterError(f"The module must give {count} logits a row, not outputs of shape {found}.")

    def _losses(self, outputs: Any, targets: Any) -> Any:
        from ziggurat.descent import cross_entropy

        return cross_entropy(outputs, targets)


@dataclass(eq=False, repr=False, kw_only=True)
class PrivateSGDRegressor(RegressorMixin, PrivateSGD):  # type: ignore[misc]  # scikit-learn has no types
    """A regression by any PyTorch module with one output, trained by private gradient descent on squared errors.

    Formal guarantee, parameters and attributes: as for `PrivateSGDClassifier`, but for `classes`, and

    Parameters
    ----------
    y_bounds
        Public (lower, upper) of the target: it is clipped, and scaled to [-1, 1] for training. None leaves it as it
        is, which costs no privacy, but targets far from [-1, 1] are learned badly.
    """

    y_bounds: tuple[float, float] | None = None

    def fit(self, X: Any, y: Any, *, progress: Progress | None = None) -> Self:  # noqa: N803
        """Train on private rows; `progress` is told how many steps are done and how many there are."""
        require_torch()
        table, target = self._check_rows(X, y)
        scale = self._target_scale()
        most = float(np.finfo(np.float32).max)
        goal = target if scale is None else scale.scale(target)
        self._train(table, np.clip(goal, -most, most).astype(np.float32), progress)
        return self

    def predict(self, X: Any) -> npt.NDArray[np.float64]:  # noqa: N803
        """Return what is expected of every row."""
        found, scale = self._ask(X).reshape(-1), self._target_scale()
        return found if scale is None else np.asarray(scale.centre + scale.half * found)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.random_state is None
        tags.regressor_tags.poor_score = True  # of a few hundred rows, noise leaves what it leaves
        return tags

    def _check_rows(self, X: Any, y: Any) -> tuple[Array, Array]:  # noqa: N803
        table, target = self._pairs(X, y, numeric=True)
        if target.ndim != 1:
            raise RowsError("Give one target a row.")
        return table, target

    def _target_scale(self) -> Scale | None:
        return None if self.y_bounds is None else read_bounds(self.y_bounds, 1, "y_bounds")

    def _outputs(self) -> int:
        return 1

    def _require_outputs(self, found: tuple[int, ...]) -> None:
        if found != (1,):
            raise ParameterError(f"The module must give one number a row, not outputs of shape {found}.")

    def _losses(self, outputs: Any, targets: Any) -> Any:
        from ziggurat.descent import squared_loss

        return squared_loss(outputs, targets)

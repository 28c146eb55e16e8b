"""What networks trained by private gradient descent share: planning, training, keeping, asking."""

from __future__ import annotations

import copy
import json
import math
from abc import abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from ziggurat.descent import Rounds, event_of_rounds, noise_multiplier, warn_of_noise
from ziggurat.errors import MissingExtraError, MixedNeighboursError, ParameterError
from ziggurat.learn._base import PrivateModel
from ziggurat.learn._budget import about_rows
from ziggurat.learn._clipping import check_pairs, check_rows, read_bounds
from ziggurat.learn._storage import StoredModel
from ziggurat.privacy import Amount, Relation, SampledGaussianEvent, exact_positive, whole_number
from ziggurat.privacy.accounting import Size, fewest_rows, require_declared

if TYPE_CHECKING:
    from ziggurat.descent import Gradients, PrivateTraining, Progress

Array = npt.NDArray[Any]


@dataclass(eq=False, repr=False, kw_only=True)
class PrivateSGD(StoredModel, PrivateModel):
    """A module trained by private gradient descent; see `PrivateSGDClassifier` for the promise and the parameters."""

    module: Any = field(default=None, kw_only=False)
    epsilon: Amount = "1"
    delta: Amount = "1e-5"
    bounds: Any = None
    hidden: tuple[int, ...] = (32,)
    epochs: Amount = 30
    batch: int | None = None
    learning_rate: float | None = None
    clip: Amount = 1
    optimiser: str = "adam"
    momentum: float = 0.9
    average: bool = True
    microbatch: int | None = None
    device: str = "cpu"
    checkpoint: str | Path | None = None
    checkpoint_every: int = 100
    relation: str = "add-or-remove-one"
    expected_rows: int | None = None
    random_state: int | None = None

    n_features_in_: int = field(init=False)
    noise_multiplier_: Fraction = field(init=False)
    sampling_: Fraction = field(init=False)
    steps_: int = field(init=False)
    weights_: dict[str, Array] = field(init=False)
    own_module_: bool = field(init=False)

    def planned(self, rows: int, columns: int) -> SampledGaussianEvent:  # noqa: ARG002 - as every private model
        """Say what fitting will cost, by the declared number of rows alone."""
        rounds = Rounds.of(self._expected(), self.batch, self.epochs)
        return event_of_rounds(rounds, noise_multiplier(self._epsilon, self._delta, rounds))

    def save(self, path: str | Path) -> None:
        """Write the fitted model to a file that only its owner may read; a module of your own is not in it."""
        check_is_fitted(self)
        shown = copy.copy(self)
        shown.module = shown.checkpoint = None
        StoredModel.save(shown, path)

    @classmethod
    def load(cls, path: str | Path, *, module: Any = None) -> Self:
        """Read a model that `save` wrote; a module of your own has to be given again."""
        made = super().load(path)
        if made.own_module_ and module is None:
            raise ParameterError("This model has a module of your own; give it again as `module` to load it.")
        made.module = module
        made._network()
        return made

    def _expected(self) -> int:
        """The declared number of rows."""
        if about_rows(self.relation).relation is Relation.REPLACE_ONE:
            raise MixedNeighboursError(
                "Sampled rows are accounted for add-or-remove-one neighbours only; a network needs a budget with "
                "--relation add-or-remove-one."
            )
        require_declared(self.relation, self.expected_rows, "Private gradient descent")
        return whole_number(self.expected_rows, "expected_rows")

    def _pairs(self, X: Any, y: Any, *, numeric: bool) -> tuple[Array, Array]:  # noqa: N803 - as in scikit-learn
        expected = self._expected()
        table, targets = check_pairs(self, X, y, numeric=numeric, least=fewest_rows(self.relation))
        Size.of(self.relation, len(table), expected).require(len(table))
        return table, targets

    @abstractmethod
    def _outputs(self) -> int:
        """How many outputs the module should have."""

    @abstractmethod
    def _require_outputs(self, found: tuple[int, ...]) -> None:
        """Refuse a module whose outputs for one row do not fit."""

    @abstractmethod
    def _losses(self, outputs: Any, targets: Any) -> Any:
        """The loss of every row."""

    def _train(self, table: Array, targets: Array, progress: Progress | None) -> None:
        """Train on checked rows; only public facts are looked at before that."""
        import torch

        from ziggurat.descent import starting_from, weights_of

        event = self.planned(*table.shape)
        source = self._source()
        with starting_from(int(source.child("start").words(1)[0] >> np.uint64(1))):
            training = self._prepare(event, self._expected(), table.shape[1], source.child("steps"))
            rows = torch.from_numpy(self._scale_rows(table)).to(self.device)
            kept = None if self.checkpoint is None else self._checkpoints(event, table, targets, training)
            goal = torch.from_numpy(targets).to(self.device)
            training.run(rows, goal, kept, whole_number(self.checkpoint_every, "checkpoint_every"), progress or _silent)
        self.weights_ = weights_of(training.gradients.module, training.gradients.buffers)
        self.own_module_ = self.module is not None
        self.noise_multiplier_, self.sampling_, self.steps_ = event.noise_multiplier, event.sampling, event.steps
        self._note_release(event, source)

    def _prepare(self, event: SampledGaussianEvent, rows: int, columns: int, source: Any) -> PrivateTraining:
        """Make the module and everything that trains it, and try it on invented rows."""
        import torch

        from ziggurat.descent import (
            Descent,
            DescentPlan,
            PrivateTraining,
            build_module,
            choose_gradients,
            count_parameters,
            invent_rows,
            require_device,
        )

        require_device(self.device)
        module = build_module(self.module, columns, self._outputs(), tuple(self.hidden)).to(self.device)
        module.train()
        trial = invent_rows((columns,), self.device)
        gradients = choose_gradients(
            module, self._losses, trial, torch.zeros(len(trial), dtype=torch.int64, device=self.device)
        )
        with torch.no_grad():
            self._require_outputs(tuple(module(trial).shape[1:]))
        rounds = Rounds(event.sampling, event.steps)
        warn_of_noise(rounds, event.noise_multiplier, rows, count_parameters(module))
        block = self._block(rounds, rows, gradients)
        plan = DescentPlan(rounds, event.noise_multiplier, exact_positive(self.clip, "clip"), block, rows)
        return PrivateTraining(gradients, plan, self._descent(Descent, rounds), source)

    def _block(self, rounds: Rounds, rows: int, gradients: Gradients) -> int:
        """How many rows to compute at once; looks at public facts alone."""
        if self.microbatch is not None:
            return whole_number(self.microbatch, "microbatch")
        return gradients.fitting_block(float(rounds.sampling * rows))

    def _descent(self, kind: Any, rounds: Rounds) -> Any:
        if self.optimiser not in ("adam", "sgd"):
            raise ParameterError("The optimiser must be 'adam' or 'sgd'.")
        usual = 0.5 if self.optimiser == "sgd" else 0.3 / math.sqrt(rounds.steps)
        given = usual if self.learning_rate is None else self.learning_rate
        rate, momentum = float(exact_positive(given, "learning_rate")), self.momentum
        if isinstance(momentum, bool) or not isinstance(momentum, int | float) or not 0 <= momentum < 1:
            raise ParameterError("The momentum must be at least 0 and below 1.")
        return kind(rate, self.optimiser, float(momentum), bool(self.average))

    def _checkpoints(self, event: SampledGaussianEvent, table: Array, targets: Array, training: PrivateTraining) -> Any:
        from ziggurat.descent import Checkpoints

        assert self.checkpoint is not None
        facts = {name: value for name, value in self.get_params(deep=False).items() if name not in _PLACES}
        shapes = [(name, tuple(value.shape)) for name, value in training.gradients.module.named_parameters()]
        mark = {
            "event": event.to_dict(),
            "columns": table.shape[1],
            "settings": repr(sorted(facts.items())),
            "weights": shapes,
        }
        return Checkpoints(self.checkpoint, json.dumps(mark, sort_keys=True), (self._scale_rows(table), targets))

    def _scale_rows(self, table: Array) -> Array:
        scale = None if self.bounds is None else read_bounds(self.bounds, table.shape[1], "bounds")
        moved = table if scale is None else scale.scale(table)
        most = float(np.finfo(np.float32).max)
        return np.ascontiguousarray(np.clip(moved, -most, most), dtype=np.float32)

    def _network(self) -> Any:
        from ziggurat.descent import build_module, with_weights

        made = build_module(self.module, self.n_features_in_, self._outputs(), tuple(self.hidden))
        return with_weights(made, self.weights_)

    def _ask(self, X: Any) -> npt.NDArray[np.float64]:  # noqa: N803 - as in scikit-learn
        from ziggurat.descent import outputs_of

        check_is_fitted(self)
        network, rows = self._network(), self._scale_rows(check_rows(self, X))
        if self.module is None:  # answers of doubles hardly depend on which rows are asked about together
            return outputs_of(network.double(), rows.astype(np.float64), "cpu")
        return outputs_of(network, rows, "cpu")


# Parameters that say where something is done, not what.
_PLACES = ("module", "checkpoint", "checkpoint_every", "device")


def _silent(_done: int, _of: int) -> None:
    """Tell nobody."""


def require_torch() -> None:
    """Raise a sentence that says how to add PyTorch if it is absent."""
    try:
        import torch  # noqa: F401 - only to see whether it is there
    except ImportError:
        raise MissingExtraError("Networks need PyTorch; add it with: pip install 'ziggurat[torch]'.") from None

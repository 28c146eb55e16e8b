"""How attackers train models like the attacked one: an estimator, cloned, or networks, many in one program."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ziggurat.attacks.models._attacked import AttackedModel, Floats, LabelledRows, ModelKind, spread_classes
from ziggurat.errors import DataError, ParameterError
from ziggurat.jobs import run_jobs
from ziggurat.randomness import choose_source
from ziggurat.threads import one_thread

if TYPE_CHECKING:
    from ziggurat.pate.training import Network, Training

Places = npt.NDArray[np.int64]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class NetworkRecipe:
    """A network that is trained as teachers are (`ziggurat.pate.training`): many of them make one program.

    Row sets of the members of a program may overlap, since each is gathered by its own places; so shadows stack as
    teachers do, and a shadow's parameters depend on its own rows and its own seed alone.

    Attributes
    ----------
    network
        An `MLP`, a `CNN`, or a `Network` of your own.
    training
        How it is trained; None for the default of teachers.
    stacked
        How many make one program; None for what the processor does best.
    """

    network: Network
    training: Training | None = None
    stacked: int | None = field(default=None, compare=False)

    def train(self, rows: LabelledRows, *, random_state: int | None = None, name: str = "the network") -> AttackedModel:
        """Train one on all rows, to be attacked with itself as the recipe."""
        networks = self._fit(rows, (np.arange(len(rows)),), (_seed(random_state),), None)
        return AttackedModel(lambda asked: networks.probabilities(self._shape(asked))[0], recipe=self, name=name)

    def answer(
        self, rows: LabelledRows, places: tuple[Places, ...], seeds: tuple[int, ...], progress: Progress | None
    ) -> Floats:
        """Train one on each set of places; return what each says about all rows: (networks, rows, classes)."""
        said: Floats = self._fit(rows, places, seeds, progress).probabilities(self._shape(rows.features))
        return said

    def _fit(
        self, rows: LabelledRows, places: tuple[Places, ...], seeds: tuple[int, ...], progress: Progress | None
    ) -> Any:
        from ziggurat.pate.training import (
            Networks,
            Placement,
            Training,
            TrainingJob,
            check_labels,
            find_classes,
            require_stackable,
        )

        require_stackable(self.network)
        labels = check_labels(rows.labels.astype(np.int64), len(rows), self.network.classes)
        candidates = [(self.network, self.training or Training())]
        place = Placement(chunk=1 if len(places) == 1 else self.stacked)
        job = TrainingJob(candidates, self._shape(rows.features), labels, places, seeds, place, progress=progress)
        return Networks(job.run(), find_classes(labels, places, self.network.classes))

    def _shape(self, features: Floats) -> npt.NDArray[np.float32]:
        return np.ascontiguousarray(features, np.float32).reshape(-1, *self.network.shape)


@dataclass(frozen=True)
class EstimatorRecipe:
    """An estimator in the manner of scikit-learn, trained anew for every shadow with a random state of its own.

    One of ours begins without history (`fresh`), also inside a pipeline: a shadow is about other rows, and must not
    count as a fit of the attacked model.
    """

    estimator: Any
    kind: ModelKind

    def answer(
        self, rows: LabelledRows, places: tuple[Places, ...], seeds: tuple[int, ...], progress: Progress | None
    ) -> Floats:
        """Train one on each set of places; return what each says about all rows."""
        tasks = [(self, rows.take(own), rows.features, seed) for own, seed in zip(places, seeds, strict=True)]
        said: list[Any] = [None] * len(tasks)
        # Trees and products release the interpreter, so that threads share the processors. Warnings may quote cells,
        # and are withheld: recorded rather than filtered, since forests in threads reset each other's filters.
        with warnings.catch_warnings(record=True), one_thread():
            for done, (at, one) in enumerate(run_jobs(_train_one, tasks, executor="threads", called="shadow")):
                said[at] = one
                if progress is not None:
                    progress(done + 1, len(tasks))
        return _stack(said)

    def fresh(self, seed: int) -> Any:
        """Return an untrained copy with this random state."""
        from sklearn.base import clone

        from ziggurat.learn import PrivateModel

        if isinstance(self.estimator, PrivateModel):
            made: Any = self.estimator.fresh()
        else:
            made = clone(self.estimator)
            within = made.get_params().items()
            made.set_params(**{name: each.fresh() for name, each in within if isinstance(each, PrivateModel)})
        states = [name for name in made.get_params() if name.rpartition("__")[2] == "random_state"]
        return made.set_params(**dict.fromkeys(states, seed % 2**31))


def read_recipe(model: AttackedModel) -> NetworkRecipe | EstimatorRecipe | None:
    """Return how shadows of a model are trained; None if attackers cannot."""
    if model.recipe is None or isinstance(model.recipe, NetworkRecipe | EstimatorRecipe):
        return model.recipe
    if not hasattr(model.recipe, "fit") or not hasattr(model.recipe, "get_params"):
        raise ParameterError("A recipe is an estimator in the manner of scikit-learn, or a NetworkRecipe.")
    return EstimatorRecipe(model.recipe, model.kind)


def _train_one(recipe: EstimatorRecipe, rows: LabelledRows, asked: Floats, seed: int) -> Floats:
    try:
        made = recipe.fresh(seed).fit(rows.features, rows.labels)
        return _ask(made, recipe.kind, asked)
    except Exception as error:  # noqa: BLE001 - whatever a foreign estimator raises, which may quote cells
        kind = type(error).__name__
        raise DataError(f"A shadow of the model could not be trained ({kind}); check its recipe.") from None


def _ask(made: Any, kind: ModelKind, asked: Floats) -> Floats:
    if kind == "numbers":
        return np.asarray(made.predict(asked), np.float64)
    if hasattr(made, "predict_proba"):
        return spread_classes(made.predict_proba(asked), made.classes_)
    return spread_classes(made.predict(asked)[:, None] == np.asarray(made.classes_), made.classes_)


def _stack(said: list[Floats]) -> Floats:
    """Lay answers over each other; a class that a shadow did not meet has no probability there."""
    if said[0].ndim == 1:
        return np.stack(said)
    wide = max(each.shape[1] for each in said)
    return np.stack([np.pad(each, ((0, 0), (0, wide - each.shape[1]))) for each in said])


def _seed(random_state: int | None) -> int:
    return int(choose_source(random_state).child("network").words(1)[0] >> np.uint64(1))

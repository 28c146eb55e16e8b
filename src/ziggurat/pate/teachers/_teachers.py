"""The ensemble: teachers trained on disjoint rows, asked together, saved and loaded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from ziggurat.cards import Badge, Card, Shown
from ziggurat.errors import DataError, ParameterError
from ziggurat.jobs import ExecutorChoice
from ziggurat.pate.teachers._partition import Partition
from ziggurat.pate.training import (
    Candidate,
    Classifiers,
    Network,
    Placement,
    RandomSearch,
    Training,
    check_features,
    check_labels,
    find_classes,
    fit_classifiers,
    require_classifier,
    require_count,
    require_torch,
    storage,
)
from ziggurat.randomness import Source, secure, seeded
from ziggurat.wording import count_noun

if TYPE_CHECKING:
    from ziggurat.pate.training import Networks, Progress

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Teachers(Shown):
    """An ensemble of teachers, each trained on its own rows alone.

    Formal guarantee: what a teacher learned is a function of its own rows, its own seed and public settings. Its
    number of steps, its held-out rows, its best epoch, its threshold and its choice of hyper-parameters depend on no
    other teacher. With a `Partition`, one unit therefore moves one vote. Teachers themselves are private: only noisy
    aggregates of their votes may leave.

    Parameters
    ----------
    teacher
        An `MLP`, a `CNN`, a `Network` of your own, or any scikit-learn classifier.
    classes
        How many classes there are, which is public; networks know it from their outputs.
    training
        How networks are trained.
    search
        Hyper-parameters that every network searches on its own rows; None for none.
    placement
        Where they are trained and asked.

    Attributes
    ----------
    manifest_
        The manifest of the partition they were trained on.
    origin_
        "secure", or "seeded" if the split or the training was: then this is a rehearsal.
    seen_
        For every teacher, which classes are in its rows. It never names another.
    executor_
        Where they were trained, and why there; it holds how long one took, for the steward.
    """

    executor_: ExecutorChoice
    manifest_: dict[str, Any]
    origin_: str
    seen_: npt.NDArray[np.bool_]

    def __init__(
        self,
        teacher: Any,
        *,
        classes: int | None = None,
        training: Training | None = None,
        search: RandomSearch | None = None,
        placement: Placement | None = None,
    ) -> None:
        self.teacher = teacher
        self.training = training or Training()
        self.search = search
        self.placement = placement or Placement()
        self.classes = self._check_classes(classes)
        self._model: Classifiers | Networks | None = None
        self._fingerprint: str | None = None
        self._shape: tuple[int, ...] | None = None

    def fit(
        self,
        X: Any,  # noqa: N803 - as in scikit-learn
        y: Any,
        partition: Partition,
        *,
        source: Source | None = None,
        checkpoints: str | Path | None = None,
        every: int = 1,
        progress: Progress | None = None,
    ) -> Self:
        """Train every teacher on its own rows.

        Parameters
        ----------
        X, y
            Features, a row for each record, and labels 0 to classes-1.
        partition
            Which teacher has which rows.
        source
            Where starting weights and orders come from; the secure source unless told.
        checkpoints
            A folder in which networks note their state, so that a run that was killed goes on; give the same
            partition again. It holds private parameters.
        every
            After how many epochs.
        progress
            Called with how much is done and how much there is to do.

        Raises
        ------
        DataError
            If the features, labels and partition do not fit each other, or the checkpoints are of another run.
        ParameterError
            If the placement names a device that is not there or cannot hold a chunk.
        """
        features = self._check_features(X)
        labels = check_labels(y, len(features), self.classes)
        if not isinstance(partition, Partition) or partition.total != len(features):
            raise DataError(f"The partition must be a Partition of these {len(features)} rows.")
        require_count(every, "number of epochs between checkpoints")
        drawn = secure() if source is None else source
        folder = None if checkpoints is None else Path(checkpoints)
        seeds = storage.seeds(folder, drawn, partition.teachers)
        parts = (features, labels, partition.rows, seeds[1:], self.placement)
        self.seen_ = find_classes(labels, partition.rows, self.classes)
        if self._is_network:
            job = (self._candidates(seeds[0]), *parts, partition.unit.is_row, folder, every, progress, self._note)
            self._model = self._networks(*job)
        else:
            self._model = Classifiers(fit_classifiers(self.teacher, *parts, progress, self._note), self.seen_)
        both_secure = drawn.secure and partition.origin == "secure"
        self.manifest_, self.origin_ = partition.manifest(), "secure" if both_secure else "seeded"
        self._shape, self._fingerprint = features.shape[1:], None
        return self

    @property
    def fingerprint_(self) -> str:
        """What tells these teachers from any that learned something else; it survives `save` and `load`.

        It shows nothing of them to anybody without the salts of their manifest.
        """
        if self._fingerprint is None:
            self._fingerprint = storage.fingerprint(self._trained, self.manifest_)
        return self._fingerprint

    def check(self, X: Any) -> npt.NDArray[Any]:  # noqa: N803 - as in scikit-learn
        """Return features as the teachers will read them, or say what is wrong with them; nobody is asked.

        What is refused depends on the shape of the rows they were trained on, which is public, and on no row.
        """
        self._trained  # noqa: B018 - untrained teachers say so
        return self._check_features(X, self._shape)

    def predict(self, X: Any) -> Integers:  # noqa: N803 - as in scikit-learn
        """Return the class that every teacher names for every row, as a matrix of teachers by rows."""
        return self._trained.labels(self.check(X))

    def votes(self, X: Any) -> Integers:  # noqa: N803 - as in scikit-learn
        """Return what `predict` does: one vote per teacher and row, for an aggregator to count under noise."""
        return self.predict(X)

    def probabilities(self, X: Any) -> Floats:  # noqa: N803 - as in scikit-learn
        """Return every teacher's probability of every class for every row: teachers by rows by classes."""
        return self._trained.probabilities(self.check(X))

    def save(self, folder: str | Path) -> None:
        """Write the trained teachers to a folder, for this user's eyes only; it then holds the old ones or these."""
        model = self._trained
        facts = {"classes": self.classes, "manifest": self.manifest_, "origin": self.origin_, "shape": self._shape}
        storage.save(Path(folder), {**facts, "fingerprint": self.fingerprint_}, model)

    @classmethod
    def load(cls, folder: str | Path, *, network: Network | None = None, placement: Placement | None = None) -> Self:
        """Read teachers that `save` wrote; a network of your own has to be given again.

        Raises
        ------
        ArtefactError
            If there are none, or a file is damaged.
        """
        place = placement or Placement()
        index, model = storage.load(Path(folder), network, place.devices[0])
        first = model.groups[0].network if index["kind"] == "networks" else next(filter(None, model.fitted), None)
        loaded = cls.__new__(cls)
        loaded.teacher, loaded.classes, loaded.placement = first, index["classes"], place
        loaded.training, loaded.search = Training(), None
        loaded.seen_, loaded.manifest_, loaded.origin_ = model.seen, index["manifest"], index["origin"]
        loaded._fingerprint, loaded._model, loaded._shape = index["fingerprint"], model, tuple(index["shape"])
        return loaded

    @property
    def _is_network(self) -> bool:
        return isinstance(self.teacher, Network)

    def _card(self) -> Card:
        said = f"{type(self.teacher).__name__}, {self.classes} classes"
        if self._model is None:
            return Card("Teachers", f"{said}; not trained yet", badge="private")
        seeded_ones: Badge = "rehearsal" if self.origin_ != "secure" else "private"
        return Card("Teachers", f"{count_noun(len(self.seen_), 'teacher')}, {said}; only noisy votes may leave", (),
                    seeded_ones)  # fmt: skip

    @property
    def _trained(self) -> Classifiers | Networks:
        if self._model is None:
            raise DataError("These teachers are not trained yet; call `fit` first.")
        return self._model

    def _check_features(self, features: Any, shape: tuple[int, ...] | None = None) -> npt.NDArray[Any]:
        if self._is_network:
            return check_features(features, self.teacher.shape)
        return check_features(features, shape, np.float64)

    def _check_classes(self, classes: int | None) -> int:
        if self._is_network:
            require_torch()
            from ziggurat.pate.training import require_stackable

            require_stackable(self.teacher)
            if classes not in (None, self.teacher.classes):
                raise ParameterError(f"This network tells {self.teacher.classes} classes apart; leave `classes` out.")
            return int(self.teacher.classes)
        require_classifier(self.teacher)
        if isinstance(classes, bool) or not isinstance(classes, int) or classes < 2:
            raise ParameterError("Say how many classes there are (`classes`, at least 2): it must be public.")
        return classes

    def _candidates(self, seed: int) -> list[Candidate]:
        weights = self.training.class_weights
        if isinstance(weights, tuple) and len(weights) != self.classes:
            raise ParameterError(f"Give a weight for each of the {self.classes} classes.")
        if self.search is None:
            return [(self.teacher, self.training)]
        return self.search.candidates(self.teacher, self.training, seeded(seed).simulation())

    def _note(self, choice: ExecutorChoice) -> None:
        self.executor_ = choice

    def _networks(self, *job: Any) -> Networks:
        from ziggurat.pate.training import Networks, TrainingJob

        return Networks(TrainingJob(*job).run(), self.seen_, self.placement.devices[0])

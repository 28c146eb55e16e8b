"""The student: a model that learns from the teachers' noisy labels, and promises what they promise."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from numbers import Integral
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ziggurat.data.withheld import RowsError
from ziggurat.errors import ArtefactError, ParameterError
from ziggurat.pate.student import _rows as rows
from ziggurat.pate.student._evaluation import Evaluation
from ziggurat.pate.student._model import (
    Progress,
    StudentRule,
    fit_classifier,
    fit_network,
    is_semi_supervised,
    require_classifier,
    require_network,
    require_threshold,
)
from ziggurat.pate.training import Classifiers, Network, Training, check_features, split_rows, storage
from ziggurat.pate.voting import Labels
from ziggurat.privacy import Account, Event, compose, compose_events, event_from_dict
from ziggurat.randomness import choose_source

Array = npt.NDArray[Any]


def _gives_probabilities(student: Student) -> bool:
    model = student._chosen
    return isinstance(model, Network) or hasattr(model, "predict_proba")


@dataclass(eq=False, repr=False, kw_only=True)
class Student(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier that learns from rows labelled by teachers.

    Formal guarantee: training, choosing a threshold and predicting use the teachers' data only through the labels,
    so by post-processing the student promises the teachers' people what the labels do: `event_`, for the unit and
    relation that it names (add-or-remove-one, unless the teachers were dealt out evenly), whatever is done with it
    afterwards. It promises nothing to the people in `X`: a student trained on private rows is not protected for
    them, unless the rows were privatised before; nor to those of plain labels. `ziggurat.release.StudentCertificate`
    writes both down.

    Parameters
    ----------
    model
        An `MLP`, a `CNN`, a `Network` of your own, or any scikit-learn classifier, which sees classes as numbers in
        their order; None means logistic regression.
    training
        How a network is trained; its own `threshold` is not used. None for the default.
    threshold
        For two classes, when the second is named. "tpr-fpr" maximises the true less the false positive rate on a
        labelled sample given to `fit`, else on a network's held-out rows, else it is one half; "half"; or a
        probability between 0 and 1.
    unlabelled
        What becomes of rows that were not answered: "drop", or "spread", which first gives them the label of their
        nearest neighbours in `X`. Neighbours are sought among the rows themselves, so these must be public or
        privatised if the student is to leave. Semi-supervised models of scikit-learn get such rows as they are.
        In plain whole numbers -1 means no label with "spread" and for semi-supervised models, and else a class.
    random_state
        A whole number makes the same student again; None draws from the secure source. Random states that the
        model was given are kept.

    Attributes
    ----------
    classes_
        The classes in order: those of the network, or those in the labels.
    n_features_in_
        How many columns the rows have.
    threshold_
        The probability of the second class above which it is named, found in decision values or logits and given
        here as their logistic function; None unless there are two classes.
    event_
        What the labels cost, those of the threshold's sample included; None for plain labels.
    origin_
        "secure", or "seeded" if some labels are a rehearsal; None for plain labels.
    """

    model: Any = field(default=None, kw_only=False)
    training: Training | None = None
    threshold: str | float = "tpr-fpr"
    unlabelled: str = "drop"
    random_state: int | None = None

    classes_: Array = field(init=False)
    n_features_in_: int = field(init=False)
    threshold_: float | None = field(init=False)
    event_: Event | None = field(init=False)
    origin_: str | None = field(init=False)

    def fit(
        self,
        X: Any,  # noqa: N803 - as in scikit-learn
        y: Any,
        *,
        threshold_X: Any = None,  # noqa: N803
        threshold_y: Any = None,
        progress: Progress | None = None,
    ) -> Self:
        """Learn from labelled rows.

        Parameters
        ----------
        X
            Features, a row for each label.
        y
            `Labels` that an aggregator released, or plain labels of any kind.
        threshold_X, threshold_y
            A labelled sample by which to choose the threshold; its labels may be `Labels` too, which are then paid
            for as well, also if both were taken from one release: nothing here could prove it. In a pipeline it
            does not pass through the steps before.
        progress
            Called with how much is done and how much there is to do.

        Raises
        ------
        ParameterError
            If a setting is wrong, or a sample is given that no threshold is chosen by.
        DataError
            If rows and labels do not fit each other or the model, or no row has a label.
        MixedNeighboursError
            If the two sets of labels promise about different units.
        """
        self._require_settings()
        event, origin = _compose_promise(y, threshold_y)
        features, labels = self._given(X, y)
        gaps = isinstance(y, Labels) or self.unlabelled == "spread" or self._takes_gaps
        found = rows.target(labels, len(features), self._network, gaps=gaps)
        sample = self._sample(threshold_X, threshold_y, found.classes)
        source = choose_source(self.random_state)
        seed = storage.seeds(None, source, teachers=1)[1]
        features, found = self._learnable(features, found)
        self._model = self._learn(features, found, seed, progress)
        self.classes_, self.event_, self.origin_ = found.classes, event, origin
        self._rule = self._choose_rule(sample or self._hold_out(features, found.codes, seed))
        self.threshold_ = self._in_probability()
        return self

    def predict(self, X: Any) -> Array:  # noqa: N803
        """Return the class named for every row."""
        features = self._check_features(X)
        named = (
            self._model.labels(features)[0] if self._rule is None else self._rule.name_classes(self._model, features)
        )
        return np.asarray(self.classes_[named])

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:  # noqa: N803
        """Return the probability of every class for every row."""
        features = self._check_features(X)
        return np.asarray(self._model.probabilities(features)[0, :, : self.classes_.size])

    def evaluate(self, X: Any, y: Any) -> Evaluation:  # noqa: N803
        """Judge the student on labelled rows; the result must not be released unless these are public."""
        named = self.predict(X)
        truth = rows.check_labels(y)
        rows.require_as_many(truth, len(named))
        return Evaluation.of(truth.tolist(), named.tolist(), self.classes_.tolist())

    def save(self, folder: str | Path) -> None:
        """Write the trained student to a folder, for this user's eyes only; it then holds the old one or this.

        Raises
        ------
        ArtefactError
            If the model or its classes are of a kind that cannot be stored without code.
        """
        check_is_fitted(self)
        storage.save(Path(folder), self._facts(), self._model, storage.STUDENT)

    @classmethod
    def load(cls, folder: str | Path, *, network: Network | None = None) -> Self:
        """Read a student that `save` wrote; a network of your own has to be given again.

        Raises
        ------
        ArtefactError
            If there is none, or a file is damaged.
        """
        index, model = storage.load(Path(folder), network, "cpu", storage.STUDENT)
        try:
            return cls._restore(index, model)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise ArtefactError(f"The student in {str(folder)!r} is damaged; restore a copy, or train again.") from None

    @property
    def guarantee_(self) -> Account | None:
        """What the labels prove for the teachers' people; None for plain labels."""
        check_is_fitted(self)
        return None if self.event_ is None else compose(self.event_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if hasattr(self._chosen, "__sklearn_tags__"):
            tags.classifier_tags = get_tags(self._chosen).classifier_tags
            tags.classifier_tags.multi_label = False
        return tags

    @property
    def _chosen(self) -> Any:
        return LogisticRegression() if self.model is None else self.model

    @property
    def _network(self) -> Network | None:
        return self.model if isinstance(self.model, Network) else None

    @property
    def _takes_gaps(self) -> bool:
        return self._network is None and is_semi_supervised(self._chosen)

    def _require_settings(self) -> None:
        if self._network is None:
            require_classifier(self._chosen)
        else:
            require_network(self._network, self.training or Training())
        require_threshold(self.threshold, probabilities=_gives_probabilities(self))
        state: Any = self.random_state
        if state is not None and (isinstance(state, bool) or not isinstance(state, Integral)):
            raise ParameterError("The random state must be a whole number or None.")
        if self.unlabelled not in ("drop", "spread"):
            raise ParameterError("Say 'drop' or 'spread' for rows that are `unlabelled`.")

    def _given(self, X: Any, y: Any) -> tuple[Array, Any]:  # noqa: N803
        if self._network is not None:
            features = check_features(X, self._network.shape)
            self.n_features_in_ = features.shape[1]
            return features, y if isinstance(y, Labels) else rows.check_labels(y)
        if isinstance(y, Labels):
            return rows.check_table(self, X, reset=True), y
        return rows.check_pairs(self, X, y)

    def _check_features(self, X: Any) -> Array:  # noqa: N803
        check_is_fitted(self)
        if self._network is not None:
            return check_features(X, self._network.shape)
        return rows.check_table(self, X)

    def _sample(self, X: Any, y: Any, classes: Array) -> tuple[Array, Array] | None:  # noqa: N803
        """Check the threshold's sample; a student that knows one class has no use for it."""
        if X is None and y is None:
            return None
        if X is None or y is None:
            raise ParameterError("Give both `threshold_X` and `threshold_y`, or neither.")
        if self.threshold != "tpr-fpr" or classes.size > 2:
            raise ParameterError("A sample chooses the threshold 'tpr-fpr' between two classes; leave it out.")
        network = self._network
        features = rows.check_table(self, X) if network is None else check_features(X, network.shape)
        labels = y.labels if isinstance(y, Labels) else rows.check_labels(y)
        rows.require_as_many(labels, len(features))
        known = y.answered if isinstance(y, Labels) else np.ones(len(labels), dtype=bool)
        if not known.any():
            raise RowsError("No row of the threshold's sample has a label; have more queries answered.")
        if classes.size < 2:
            return None
        return features[known], rows.codes_of(labels[known], classes)

    def _learnable(self, features: Array, found: rows.StudentTarget) -> tuple[Array, rows.StudentTarget]:
        if self._takes_gaps:
            return features, found
        if self.unlabelled == "spread":
            found = rows.spread(features, found)
        return features[found.labelled], rows.StudentTarget(found.classes, found.codes[found.labelled])

    def _learn(self, features: Array, found: rows.StudentTarget, seed: int, progress: Progress | None) -> Any:
        if self._network is not None:
            training = replace(self.training or Training(), threshold="half")
            return fit_network(self._network, training, features, found.codes, seed, progress)
        model = fit_classifier(self._chosen, features, found.codes, found.classes.size, seed)
        if progress is not None:
            progress(1, 1)
        return model

    def _hold_out(self, features: Array, codes: Array, seed: int) -> tuple[Array, Array] | None:
        if self._network is None or self.classes_.size != 2:
            return None
        held = split_rows(codes, (self.training or Training()).held_out, seed)[1]
        return (features[held], codes[held]) if held.size else None

    def _choose_rule(self, sample: tuple[Array, Array] | None) -> StudentRule | None:
        """Say when class 1 of two is named; None leaves it to the model, which is one half."""
        if self.classes_.size != 2 or self._model.seen.sum() != 2 or self.threshold == "half":
            return None
        if self.threshold != "tpr-fpr":
            return StudentRule("probability", float(self.threshold))
        return None if sample is None else StudentRule.best(self._model, *sample)

    def _in_probability(self) -> float | None:
        if self.classes_.size != 2:
            return None
        return 0.5 if self._rule is None else self._rule.probability

    def _facts(self) -> dict[str, Any]:
        classes = self.classes_.tolist()
        if not all(isinstance(label, str | int | float) for label in classes):
            raise ArtefactError("Classes of this kind cannot be saved; use whole numbers or text.")
        names = getattr(self, "feature_names_in_", None)
        settings = {
            "training": None if self.training is None else asdict(self.training),
            "threshold": self.threshold if isinstance(self.threshold, str) else float(self.threshold),
            "unlabelled": self.unlabelled,
            "random_state": None if self.random_state is None else int(self.random_state),
        }
        return {
            "settings": settings,
            "classes": {"type": self.classes_.dtype.str, "values": classes},
            "columns": {"count": self.n_features_in_, "names": None if names is None else names.tolist()},
            "rule": None if self._rule is None else asdict(self._rule),
            "event": None if self.event_ is None else self.event_.to_dict(),
            "origin": self.origin_,
        }

    @classmethod
    def _restore(cls, index: dict[str, Any], model: Any) -> Self:
        """A student that knows one class has no fitted model to show what it was made of."""
        settings, training = dict(index["settings"]), index["settings"]["training"]
        if training is not None:
            settings["training"] = Training(**{name: _untie(value) for name, value in training.items()})
        fitted = model.fitted[0] if isinstance(model, Classifiers) else None
        shown = None if fitted is None else clone(fitted)
        student = cls(shown if isinstance(model, Classifiers) else model.groups[0].network, **settings)
        student.classes_ = np.array(index["classes"]["values"], dtype=index["classes"]["type"])
        student.n_features_in_ = index["columns"]["count"]
        if index["columns"]["names"] is not None:
            student.feature_names_in_ = np.array(index["columns"]["names"], dtype=object)
        student.event_ = None if index["event"] is None else event_from_dict(index["event"])
        student.origin_ = index["origin"]
        student._model, student._rule = model, None if index["rule"] is None else StudentRule(**index["rule"])
        student.threshold_ = student._in_probability()
        return student


def _compose_promise(*given: Any) -> tuple[Event | None, str | None]:
    """Compose what all labels cost; the same labels used twice were released once."""
    released = list({id(labels): labels for labels in given if isinstance(labels, Labels)}.values())
    if not released:
        return None, None
    origin = "seeded" if any(labels.rehearsal for labels in released) else "secure"
    return compose_events(labels.event for labels in released), origin


def _untie(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value

"""Teachers that are scikit-learn classifiers: a clone for each, trained on its own rows."""

from __future__ import annotations

import contextlib
import importlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.errors import ArtefactError, DataError, ParameterError
from ziggurat.jobs import ExecutorChoice
from ziggurat.pate.training._chunks import run_chunks
from ziggurat.pate.training._settings import Placement

_TRUSTED = ("sklearn.", "numpy.", "scipy.")

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def require_classifier(classifier: Any) -> None:
    """Raise a sentence unless it is a scikit-learn classifier."""
    from sklearn.base import is_classifier

    if isinstance(classifier, type) or not hasattr(classifier, "get_params") or not is_classifier(classifier):
        raise ParameterError("A teacher must be an MLP, a CNN, a Network of your own, or a scikit-learn classifier.")


@dataclass(frozen=True)
class Classifiers:
    """One fitted classifier per teacher; None for one that has none: its rows are all of one class, or too few for it.

    Such a teacher always names the first class that is in its rows, class 0 if it has no rows, and so does one whose
    classifier fails on a query. No failure shows: it would tell of the rows of one teacher without any noise, even if
    all had to fail first, because a teacher without a classifier never does.
    """

    fitted: list[Any | None]
    seen: npt.NDArray[np.bool_]

    def labels(self, features: npt.NDArray[Any]) -> Integers:
        """Return the class each teacher names for each row."""
        answers = np.repeat(self.seen.argmax(axis=1)[:, None], len(features), axis=1)
        for teacher, fitted in enumerate(self.fitted):
            if fitted is not None:
                with contextlib.suppress(Exception):
                    answers[teacher] = fitted.predict(features)
        return answers

    def probabilities(self, features: npt.NDArray[Any]) -> Floats:
        """Return the probability of each class; 0 for a class that is not in a teacher's rows."""
        classes = self.seen.shape[1]
        answers = np.repeat(np.eye(classes)[self.seen.argmax(axis=1)][:, None], len(features), axis=1)
        for teacher, fitted in enumerate(self.fitted):
            if fitted is not None and not hasattr(fitted, "predict_proba"):
                raise ParameterError("This classifier gives no probabilities; ask it for labels instead.")
            with contextlib.suppress(Exception):
                if fitted is not None:
                    shares = np.zeros((len(features), classes))
                    shares[:, fitted.classes_] = fitted.predict_proba(features)
                    answers[teacher] = shares
        return answers


def fit_classifiers(
    classifier: Any,
    features: npt.NDArray[Any],
    labels: Integers,
    rows: tuple[Integers, ...],
    seeds: tuple[int, ...],
    placement: Placement,
    progress: Callable[[int, int], None] | None,
    told: Callable[[ExecutorChoice], None] | None = None,
) -> list[Any | None]:
    """Fit a clone for every teacher, each on its own rows and with its own random state.

    One person more or less may decide whether a teacher has enough rows for its classifier; it then does without one.
    Only a classifier that no teacher could use is refused, to the steward.
    """
    tasks = [(classifier, features[own], labels[own], seed) for own, seed in zip(rows, seeds, strict=True)]
    fitted: list[Any | None] = [None] * len(tasks)
    done = 0
    for at, one in run_chunks(fit_one, tasks, executor=placement.executor, workers=placement.workers, told=told):
        fitted[at], done = one, done + 1
        if progress is not None:
            progress(done, len(tasks))
    failed = [one.kind for one in fitted if isinstance(one, Failed)]
    if failed and all(one is None or isinstance(one, Failed) for one in fitted):
        raise DataError(
            f"The classifier could not be trained on the rows of any teacher ({failed[0]}); check its settings."
        )
    return [None if isinstance(one, Failed) else one for one in fitted]


@dataclass(frozen=True)
class Failed:
    """That a classifier could not be trained on a teacher's rows, or does not answer after it; no cell is in it."""

    kind: str


def fit_one(classifier: Any, features: npt.NDArray[Any], labels: Integers, seed: int) -> Any | None:
    """Fit one clone and ask it once; scikit-learn's own errors and warnings are withheld, as they may quote cells."""
    from sklearn.base import clone

    if np.unique(labels).size < 2:
        return None
    one = clone(classifier)
    states = [name for name in one.get_params() if name.rpartition("__")[2] == "random_state"]
    one.set_params(**dict.fromkeys(states, seed % 2**32))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            one.fit(features, labels).predict(features[:1])
            return one
    except Exception as error:  # noqa: BLE001 - whatever a foreign classifier raises
        return Failed(type(error).__name__)


def write_classifier(fitted: Any) -> bytes:
    """Give a classifier in the skops format, which holds data and names of classes, and no code."""
    from skops.io import dumps

    try:
        content = dumps(fitted)
    except Exception:  # noqa: BLE001 - skops raises many types for what it cannot write
        raise ArtefactError("This kind of classifier cannot be saved; use one of scikit-learn's own.") from None
    _require_trusted(content)
    return bytes(content)


def read_classifier(path: Path) -> Any:
    """Read a classifier that consists of classes of scikit-learn, NumPy and SciPy alone."""
    try:
        content = path.read_bytes()
    except OSError:
        content = b""
    return parse_classifier(content, repr(str(path)))


def parse_classifier(content: bytes, name: str = "The file") -> Any:
    """Read the same from what `write_classifier` gave."""
    from skops.io import get_untrusted_types, loads

    try:
        _require_trusted(content)
        return loads(content, trusted=get_untrusted_types(data=content))
    except ArtefactError:
        raise
    except Exception:  # noqa: BLE001 - a damaged archive fails in many ways
        raise ArtefactError(f"{name} is missing or damaged; train again, or restore a copy.") from None


def _require_trusted(content: bytes) -> None:
    from skops.io import get_untrusted_types

    for name in get_untrusted_types(data=content):
        if not (name.startswith(_TRUSTED) and _is_class(name)):
            raise ArtefactError(
                f"The classifier holds {name!r}; only scikit-learn's, NumPy's and SciPy's own are stored."
            )


def _is_class(name: str) -> bool:
    """Functions are not accepted even from trusted libraries: some of NumPy's run the text they are given."""
    module, _, attribute = name.rpartition(".")
    if "__main__" in module:  # to import such a module is to run a program
        return False
    try:
        return isinstance(getattr(importlib.import_module(module), attribute, None), type)
    except ImportError:
        return False

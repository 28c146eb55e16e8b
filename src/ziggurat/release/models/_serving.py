"""Models that stay with the steward and answer without limit, paid for before they see a row."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ziggurat.cards import Shown
from ziggurat.errors import ArtefactError, DataError, ParameterError
from ziggurat.ledger import Ledger
from ziggurat.privacy import Event, Guarantee, Relation, event_from_dict
from ziggurat.release._cited import Cited, look_up
from ziggurat.release._plan import promise_at
from ziggurat.release._purse import run_paid
from ziggurat.release.models._fitting import in_words, pay_and_fit
from ziggurat.release.models._points import Points
from ziggurat.release.models._serving_folder import FORMAT, NOISE, Folder
from ziggurat.release.models._task import Floats

if TYPE_CHECKING:
    import pyarrow as pa

    from ziggurat.data import Table
    from ziggurat.learn import PrivateModel

SERVED = "served model"
_FINE = 20  # binary places of the noise's deviation to which answers from features are rounded


@dataclass(frozen=True)
class Serving(Shown):
    """A served model in its folder.

    Promise: whatever is asked, however often, by however many programs at once, all answers together keep `guarantee`,
    which was paid for when it was fitted. The same point gets the same answer for ever: with a path of noise because
    each answer is on disk before it leaves, otherwise because it is computed from weights that noise was added to once
    (rounded to a millionth of the noise's deviation, so that no other question, nor the machine, shows in its digits).

    Attributes
    ----------
    folder
        Where it is kept. With a path it must stay secret, and there must be one of it.
    model
        The estimator of `ziggurat.learn`.
    event, entry
        What was paid for, and where that is written.
    rows
        How many rows it learned from, where that is public.
    points
        What the columns are, if it was fitted on a table.
    """

    folder: Path
    model: Any
    event: Event
    entry: Cited
    digest: str
    rows: int | None = None
    points: Points | None = None

    @classmethod
    def open(cls, folder: str | Path) -> Self:
        """Open a served model that `serve_model` kept; nothing in the folder is run.

        Raises
        ------
        ArtefactError
            If there is none, if its files were changed or do not belong together, or others may read secret ones.
        """
        place = Folder(folder)
        held = place.promise()
        try:
            return cls(place.path, **_read(place, held))
        except (KeyError, TypeError, ValueError, AttributeError):
            raise ArtefactError(f"The promise in {str(folder)!r} is damaged; restore a copy.") from None

    @property
    def kind(self) -> str:
        """What it is, by its name on the command line."""
        return kind_of(self.model)

    @property
    def guarantee(self) -> Guarantee:
        """The promise that all answers together keep."""
        return promise_at(self.event, self.model.delta)

    @property
    def not_protected(self) -> list[str]:
        """What the promise does not cover, one sentence each."""
        return not_protected(self.model, self.event)

    @property
    def rehearsal(self) -> bool:
        """Whether seeded randomness was used, so that no answer may be published."""
        return bool(self.model.rehearsal_)

    @property
    def answered(self) -> int:
        """How many answers it has given, equal ones counted again."""
        return Folder(self.folder).count()

    @property
    def noise(self) -> float | None:
        """Standard deviation of the noise in an answer, in the units of `answer_table`, if it is one for all."""
        scale: float | None = getattr(self.model, "noise_scale_", None)
        if self.kind == "histogram" and scale is not None:
            scale = scale / self.model.count_ / self.model.cell_volume(self.model.n_features_in_)
        return None if scale is None else float(scale) / self._unit

    @property
    def _unit(self) -> float:
        """What an answer is divided by to be in the units of the columns: a density is one per share of the ranges."""
        return 1.0 if self.points is None or self.points.label else self.points.volume

    def answer(self, X: Any) -> Any:  # noqa: N803 - as in scikit-learn
        """Answer at every row: densities, predicted numbers, or the numbers of predicted classes.

        Raises
        ------
        ArtefactError
            If an answer cannot be written down first; then none leaves.
        """
        return self._in_classes(self.values(X))

    def values(self, X: Any) -> Floats:  # noqa: N803
        """The same before classes are named: the decision values of a machine."""
        found = self._find(X)
        Folder(self.folder).count(len(found))
        return found

    def answer_table(self, table: Table) -> pa.Table:
        """Answer every row of a table: its columns, and beside them the answers, in the units of the columns.

        Raises
        ------
        DataError
            If a question is incomplete or outside the public bounds or lists; then none is answered.
        """
        if self.points is None:
            raise ParameterError("The model was fitted on numbers without a schema; ask it with `answer`.")
        cells, asked = self.points.questions(table)
        values = self.values(asked)
        if not self.points.label:
            return cells.append_column("density", [values / self._unit])
        label = self.points.label
        if self.kind != "svm":
            return cells.append_column(label, [values])
        named = np.array(self.points.task.classes)[self._in_classes(values)]
        shown = cells.append_column(label, [named.tolist()])
        return shown.append_column("decision", [values]) if values.ndim == 1 else shown

    def check(self, ledger: Ledger) -> None:
        """Compare with the ledger that paid; `DataError` unless it holds this model, at this cost."""
        try:
            held = look_up(ledger, self.entry)
            same = (held.event, held.answer.get("digest")) == (self.event, self.digest)
        except DataError:
            same = False
        if not same:
            raise DataError("The ledger says something else of this model; give the ledger that paid for it.")

    def to_dict(self) -> dict[str, Any]:
        """Give what may be told of it as JSON."""
        return {
            "model": self.kind,
            "class": type(self.model).__name__,
            "columns": None if self.points is None else list(self.points.encoding.names),
            "label": None if self.points is None else self.points.label or None,
            "parameters": _parameters(self.model),
            "rows": self.rows,
            "promise": str(self.guarantee),
            "not protected": self.not_protected,
            "noise": self.noise,
            "answers": self.answered,
            "entry": self.entry.to_dict(),
            "rehearsal": self.rehearsal,
        }

    def _find(self, X: Any) -> Floats:  # noqa: N803
        ask = {"histogram": "density", "kernel-density": "density", "svm": "decision_function"}.get(
            self.kind, "predict"
        )
        found = np.asarray(getattr(self.model, ask)(X), dtype=np.float64)
        if not hasattr(self.model, "weights_"):
            return found
        fine = 2.0 ** (math.floor(math.log2(self.model.noise_scale_)) - _FINE)
        return np.asarray(np.rint(found / fine) * fine)

    def _in_classes(self, values: Floats) -> Any:
        if self.kind != "svm":
            return values
        return self.model.classes_[(values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)]


def serve_model(
    model: PrivateModel,
    X: Any,  # noqa: N803 - as in scikit-learn
    y: Any = None,
    *,
    folder: str | Path,
    ledger: Ledger,
    analyst: str,
    budget: str,
    units: Any = None,
    points: Points | None = None,
    path: bool = False,
) -> Serving:
    """Pay for a model that stays and answers, fit it, and keep it in a folder of the steward's.

    Promise: as in `fit_model`, and an answer leaves only a model that was paid for. The cost is on disk before the
    model sees a row, the model before the ledger says that it was made, and the folder opens only when both are
    done: whatever goes wrong in between leaves the cost spent and nothing to ask.

    Parameters
    ----------
    model
        A `KernelDensity`, `ServedHistogram`, `KernelSVM`, `GaussianProcessRegression` or `CloakedRegression`.
    X, y
        Features, and what is to be predicted.
    folder
        A new or empty folder, made for its owner alone.
    ledger, analyst, budget, units
        As in `fit_model`. Where only labels are protected, the budget is one of labels (`--unit label=cost`).
    points
        What the columns of X are, so that tables can be answered.
    path
        Keep the kernel itself and a path of noise that is drawn where it is asked, instead of noisy features.

    Raises
    ------
    DataError, MixedNeighboursError, BudgetExceededError
        As in `fit_model`; nothing was spent, and the folder is not there.
    """
    kind_of(model)
    label = "" if points is None else points.label
    place = Folder.claim(folder)
    try:
        _set_path(model, place, path)

        def keep(event: Event) -> dict[str, Any]:
            digest = place.keep(model, _facts(model, event, len(X), points))
            return {"kind": SERVED, "parameters": _parameters(model), "digest": digest}

        whose: dict[str, Any] = {"ledger": ledger, "analyst": analyst, "budget": budget, "units": units}
        made = pay_and_fit(model, X, y, **whose, label=label, keep=keep)
        run_paid(lambda: place.finish(_promise(place, made.entry, _facts(model, made.event, len(X), points))))
    except BaseException:
        place.clear()
        raise
    return Serving.open(folder)


def kind_of(model: object) -> str:
    """What a served model is called on the command line."""
    from ziggurat import learn

    found = next((kind for kind, name in KINDS.items() if type(model) is getattr(learn, name)), None)
    if found is None:
        raise ParameterError(f"Give a model that is made to be served: one of {', '.join(KINDS.values())}.")
    return found


def _set_path(model: PrivateModel, place: Folder, wanted: bool) -> None:
    known = model.get_params(deep=False)
    if known.get("path") is not None:
        raise ParameterError("Leave the model's own path out; path=True keeps it in the folder.")
    if wanted and "path" not in known:
        raise ParameterError(f"A {type(model).__name__} needs no path: its noise is all drawn when it is fitted.")
    if wanted:
        model.set_params(path=str(place.noise))


def _parameters(model: Any) -> dict[str, str]:
    """The parameters in words; of a path only that there is one, and of a rehearsal no seed."""
    given = {name: value for name, value in model.get_params(deep=False).items() if name != "random_state"}
    return in_words(given | ({"path": NOISE} if given.get("path") is not None else {}))


def _facts(model: PrivateModel, event: Event, rows: int, points: Points | None) -> dict[str, Any]:
    """All that the promise says; the digest covers it."""
    told = promise_at(event, model.delta)
    return {
        "model": kind_of(model),
        "parameters": _parameters(model),
        "promise": str(told),
        "in words": told.sentence() if hasattr(told, "sentence") else str(told),
        "not protected": not_protected(model, event),
        "rows": rows if event.neighbours.relation is Relation.REPLACE_ONE else None,
        "rehearsal": model.random_state is not None,
        "event": event.to_dict(),
        "points": None if points is None else points.to_dict(),
    }


def _promise(place: Folder, entry: Cited, facts: dict[str, Any]) -> dict[str, Any]:
    return {"format": FORMAT, "facts": facts, "entry": entry.to_dict(), "digest": place.digest(facts)}


def _read(place: Folder, held: dict[str, Any]) -> dict[str, Any]:
    from ziggurat import learn

    facts = held["facts"]
    model = getattr(learn, KINDS[facts["model"]]).load(place.path / "model.npz")
    if getattr(model, "path", None) is not None:
        place.require_secret()
        model.set_params(path=str(place.noise))
    points = None if facts["points"] is None else Points.from_dict(facts["points"])
    event, entry = event_from_dict(facts["event"]), Cited.from_dict(held["entry"])
    whole = {"model": model, "event": event, "entry": entry, "digest": held["digest"]}
    return {**whole, "rows": facts["rows"], "points": points}


KINDS = {
    "kernel-density": "KernelDensity",
    "histogram": "ServedHistogram",
    "svm": "KernelSVM",
    "gaussian-process": "GaussianProcessRegression",
    "cloaked": "CloakedRegression",
}
"""Models that stay and answer, by their names on the command line."""

_INPUTS = (
    "The inputs, which are all columns but the label, are public and not protected at all: they shape the answers and "
    "their noise. Only the labels are protected."
)
_NUMBER = "The number of rows is public, and so is every parameter of the model."
_PARAMETERS = "Every parameter of the model is public."
_BY_ROW = "Somebody with several rows is protected one row at a time, not as a whole."
_PATH = (
    "The folder holds the rows, or what was learned from them without noise, and must stay secret. A copy of it that "
    "answers as well, or an older copy put in its place, breaks the promise, which holds up to floating point."
)
_FIXED = "Questions other than those stated before fitting are not answered."
_REHEARSAL = "This is a rehearsal: whoever knows the seed can take the noise off, so nobody is protected."


def not_protected(model: PrivateModel, event: Event) -> list[str]:
    """Say what the promise does not cover, one sentence each."""
    whom, labels = event.neighbours, event.neighbours.unit.name == "label"
    said = {
        _REHEARSAL: model.random_state is not None,
        _INPUTS: labels,
        _NUMBER: whom.relation is Relation.REPLACE_ONE,
        _PARAMETERS: whom.relation is not Relation.REPLACE_ONE,
        _BY_ROW: whom.unit.is_row,
        _FIXED: hasattr(model, "questions"),
        _PATH: getattr(model, "path", None) is not None,
    }
    return [sentence for sentence, holds in said.items() if holds]

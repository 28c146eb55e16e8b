"""Models that were trained without a guarantee: nothing bounds what they tell, and so they are attacked first."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pyarrow.types import is_floating, is_integer

from ziggurat.errors import DataError, ParameterError
from ziggurat.files import check_output, write_text
from ziggurat.release._drafts import certificate_of, let_go, private_folder
from ziggurat.release._plan import Plan, Progress, ShownPlan
from ziggurat.release._purse import Purse
from ziggurat.release.models._attacking import label_rows, meet_model
from ziggurat.release.models._fitting import in_words
from ziggurat.release.models._modules import (
    WEIGHTS,
    DeclaredModule,
    beside_weights,
    parse_module,
    read_module,
    write_module,
)

if TYPE_CHECKING:
    from ziggurat.attacks.models import LabelledRows
    from ziggurat.data import Table
    from ziggurat.ledger import Ledger
    from ziggurat.pate.training import Network
    from ziggurat.randomness import Source
    from ziggurat.release._evidence import Evidence
    from ziggurat.release._gate import Gate
    from ziggurat.release._release import Release
    from ziggurat.release.models._examining import ModelExam
    from ziggurat.release.models._task import Task

SKOPS = ".skops"
NOT_PROMISED_OF_FOREIGN = (
    "No guarantee bounds what this model tells about the people it was trained on: attacks that were tried and found "
    "nothing do not show that others would not."
)
"""What every model that was not trained with a guarantee says of itself."""


@dataclass(frozen=True)
class ForeignModel:
    """A model as it leaves: a file that holds data and names of classes and no code, and what is read back from it.

    Attributes
    ----------
    content
        The file, in the format of skops, or of safetensors.
    estimator
        The model as it was read back: the one that is attacked.
    """

    content: bytes = field(repr=False)
    estimator: Any

    @property
    def sha256(self) -> str:
        """The hash of the file."""
        return hashlib.sha256(self.content).hexdigest()


@dataclass(frozen=True, eq=False)
class ForeignModelPlan(ShownPlan, Plan[ForeignModel]):
    """A model that nothing bounds, before it leaves; make one with `plan_foreign`.

    Attributes
    ----------
    model
        A fitted estimator of scikit-learn, or a `DeclaredModule`.
    members, others
        The people it was trained on, and a control that it was not.
    exam
        How it is attacked.
    target
        The file that leaves.
    """

    model: Any
    members: LabelledRows = field(repr=False)
    others: LabelledRows = field(repr=False)
    exam: ModelExam
    target: Path
    kind = "foreign model"
    event = None

    @property
    def text(self) -> str:
        """Which model, and of how many columns; not how many people it was trained on."""
        return f"A model without a guarantee: {type(self.model).__name__} of {self.members.features.shape[1]} columns"

    @property
    def reads(self) -> tuple[str, ...]:
        """The model, and the rows that were handed over to attack it with."""
        return ("the model", "the rows of members and others that were handed over")

    @property
    def judged_by(self) -> tuple[str, ...]:
        """Attacks on the model as it is read back from its file."""
        return self.exam.names(whole=True)

    def ready(self) -> None:
        """Refuse a file that cannot take its place."""
        if self.target.suffix.lower() != SKOPS:
            raise DataError(f"A model is written to a {SKOPS} file; name one.")
        check_output(self.target, force=True)

    def run(self, source: Source, progress: Progress | None) -> ForeignModel:  # noqa: ARG002
        """Write the model in memory and read it back: what leaves is what is attacked."""
        from ziggurat.pate.training import parse_classifier, write_classifier

        content = write_classifier(self.model)
        return ForeignModel(content, parse_classifier(content))

    def judge(self, output: ForeignModel, progress: Progress | None) -> Evidence:
        """Attack it."""
        met = meet_model(output.estimator)
        return self.exam.examine(met, self.members, self.others, estimator=output.estimator, told=progress)

    def describe(self, output: ForeignModel) -> str:
        """Which model, and the hash of its file."""
        return f"{self.text}, SHA-256 {output.sha256}"

    def artefacts(self, output: ForeignModel, folder: Path) -> list[Path]:
        """The model, which runs no code when it is read."""
        file = folder / self.target.name
        file.write_bytes(output.content)
        return [file]

    @property
    def not_protected(self) -> tuple[str, ...]:
        """What no attack can promise."""
        return (NOT_PROMISED_OF_FOREIGN,)

    def details(self, output: ForeignModel) -> dict[str, Any]:
        """Which model with which parameters."""
        kind = type(output.estimator)
        given = output.estimator.get_params(deep=False)
        return {"class": f"{kind.__module__.split('.')[0]}.{kind.__name__}", "parameters": in_words(given)}


@dataclass(frozen=True, eq=False)
class ModulePlan(ForeignModelPlan):
    """The same for a network of PyTorch: its weights leave, and a description of how they become a network again."""

    @property
    def text(self) -> str:
        """Which network, and of how many numbers."""
        kind = type(self.model.module).__name__
        return f"A model without a guarantee: the network {kind} of {self.model.n_features_in_} columns"

    def ready(self) -> None:
        """Refuse a file that cannot take its place."""
        if self.target.suffix.lower() != WEIGHTS:
            raise DataError(f"The weights of a network are written to a {WEIGHTS} file; name one.")
        for each in (self.target, beside_weights(self.target)):
            check_output(each, force=True)

    def run(self, source: Source, progress: Progress | None) -> ForeignModel:  # noqa: ARG002
        """Write the weights in memory and read them back into a fresh network: what leaves is what is attacked."""
        content = write_module(self.model)
        again = parse_module(content, self.model)
        self.model.require_alike(again, self.members.features)
        return ForeignModel(content, again)

    def judge(self, output: ForeignModel, progress: Progress | None) -> Evidence:
        """Attack it, and look through the network as it was read back: buffers may hold rows."""
        module = output.estimator.module
        return self.exam.examine(output.estimator.meet(), self.members, self.others, estimator=module, told=progress)

    def artefacts(self, output: ForeignModel, folder: Path) -> list[Path]:
        """The weights, and what they are the weights of."""
        weights = super().artefacts(output, folder)
        told = beside_weights(folder / self.target.name)
        write_text(told, json.dumps(output.estimator.describe(output.content), indent=1) + "\n")
        return [*weights, told]

    def details(self, output: ForeignModel) -> dict[str, Any]:
        """Which network with which layers."""
        told = output.estimator.describe(output.content)
        return {name: told[name] for name in ("class", "network", "classes")}


def plan_foreign(
    model: Any, path: str | Path, members: tuple[Any, Any], others: tuple[Any, Any], exam: ModelExam
) -> ForeignModelPlan:
    """Plan the release of a model that nothing bounds; members and others are features and labels each."""
    _require_foreign(model)
    known, unknown = label_rows(model, *members), label_rows(model, *others)
    wanted = getattr(model, "n_features_in_", known.features.shape[1])
    for rows in (known, unknown):
        if rows.features.shape[1] != wanted:
            raise DataError(f"The model was trained on {wanted} columns; give members and others with these.")
    made = ModulePlan if isinstance(model, DeclaredModule) else ForeignModelPlan
    return made(model, known, unknown, exam, Path(path))


def read_model_file(path: str | Path, network: Network | None = None) -> Any:
    """Read a model from a file that runs no code: a .skops of scikit-learn, or a .safetensors of PyTorch.

    `network` is the architecture of weights that nothing beside them describes.
    """
    file = Path(path)
    if not file.is_file():
        raise DataError(f"There is no file {str(path)!r}.")
    if file.suffix.lower() == WEIGHTS:
        return read_module(file, network)
    from ziggurat.pate.training import read_classifier

    return read_classifier(file)


def plan_said_model(
    model: Any,
    path: str | Path,
    task: Task,
    tables: tuple[Table, Table],
    exam: ModelExam,
    sensitive: Sequence[str] = (),
    *,
    scaled: bool = True,
) -> ForeignModelPlan:
    """Plan the same for a table of members and one of others, whose cells become numbers by a task or stay them."""
    from ziggurat.release.models._examining import SensitiveColumn

    members, others = (read_people(each, task, model, scaled=scaled) for each in tables)
    plan = plan_foreign(model, path, members, others, exam)
    places = find_places(task, scaled=scaled)
    for name in sensitive:
        if name not in places:
            raise ParameterError(f"The model looks at no column {name!r} that could be sensitive.")
    hidden = tuple(SensitiveColumn.among(name, places[name], plan.members, plan.others) for name in sensitive)
    return replace(plan, exam=replace(exam, sensitive=hidden))


def find_places(task: Task, *, scaled: bool = True) -> dict[str, tuple[int, ...]]:
    """Where every column stands in a row of features."""
    if not scaled:
        return {name: (place,) for place, name in enumerate(task.encoding.names)}
    return {each.column.name: tuple(range(each.start, each.start + each.width)) for each in task.encoding.fields}


def read_people(table: Table, task: Task, model: Any, *, scaled: bool = True) -> tuple[Any, Any]:
    """Features and labels of a table as a model takes them; one that knows classes by name gets names."""
    rows = task.rows(table)
    features = rows.features if scaled else _read_numbers(table, task.encoding.names)
    classes = getattr(model, "classes_", None)
    if classes is None or np.asarray(classes).dtype.kind not in "OUS":
        return features, rows.labels
    return features, np.asarray(task.classes)[np.asarray(rows.labels)]


def _read_numbers(table: Table, names: Sequence[str]) -> Any:
    cells = table.query(table.select(*names))
    columns = [cells[name] for name in names]
    if any(each.null_count or not (is_integer(each.type) or is_floating(each.type)) for each in columns):
        raise DataError("Columns that are handed over as they are must hold numbers, none missing.")
    return np.column_stack([each.to_numpy(zero_copy_only=False) for each in columns]).astype(np.float64)


def release_model(
    model: Any,
    path: str | Path,
    *,
    members: tuple[Any, Any],
    others: tuple[Any, Any],
    exam: ModelExam,
    ledger: Ledger | None = None,
    budget: str = "",
    gate: Gate | None = None,
    go_on: str = "",
    progress: Progress | None = None,
) -> Release[ForeignModel]:
    """Attack a model that was trained without a guarantee, write it down as unbounded, and only then let it go.

    Promise: none about the model. It leaves only after it was attacked as read back from its own file, and after the
    ledger says for ever that something left which nothing bounds; one that holds rows of people, such as a k-nearest-
    neighbours model, or is stopped by another attack, leaves only with a written reason.

    Parameters
    ----------
    model
        A fitted classifier or regression of scikit-learn, or a `DeclaredModule`: a network of PyTorch with its
        architecture.
    path
        The .skops file, or of a network the .safetensors file of its weights, beside which a .json says how they become
        a network again; both hold data and no code. The certificate for the steward stands beside it.
    members, others
        Features and labels of the people it was trained on, and of a control.
    exam
        How it is attacked, and whether both groups were drawn at random.
    ledger, budget
        Where to remember the release, and the name of the budget there; without a ledger nothing remembers it.
    gate, go_on
        What stops the release, and why it shall leave all the same (see `Purse.release`).
    progress
        Called with a few words before every step that may take long.

    Raises
    ------
    ParameterError
        It is no fitted model of scikit-learn and no declared module, or it is one of ours, which `fit_model` releases
        with its guarantee.
    ArtefactError
        It cannot be written without code, or is not all in what is written.
    GateError
        The gate stopped it; nothing has left.
    """
    plan = plan_foreign(model, path, members, others, exam)
    made = Purse(ledger, budget).release(plan, gate=gate, go_on=go_on, progress=progress)
    with private_folder(plan.target) as place:
        _, certificate = made.write(Path(place))
        facts = made.for_steward(certificate.artefacts)
        let_go(Path(place), certificate.artefacts, certificate_of(plan.target), facts)
    return made


def _require_foreign(model: Any) -> None:
    from sklearn.base import is_classifier, is_regressor
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    if hasattr(model, "event_") or hasattr(model, "guarantee_"):
        raise ParameterError("This model has a guarantee of its own; fit and release it with fit_model.")
    if isinstance(model, DeclaredModule):
        return
    if isinstance(model, type) or not hasattr(model, "get_params") or not (is_classifier(model) or is_regressor(model)):
        raise ParameterError("Give a fitted classifier or regression of scikit-learn, or a DeclaredModule of PyTorch.")
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise ParameterError("The model was not fitted; fit it before it is released.") from None

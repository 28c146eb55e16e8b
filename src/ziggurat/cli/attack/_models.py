"""The models that `ziggurat attack` can be given: folders of ours, files of scikit-learn, or answers in the tables."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ziggurat.cli.model import PROMISE, load_model, read_promise
from ziggurat.cli.pate import CERTIFICATE, read_task
from ziggurat.errors import ArtefactError, DataError, ParameterError

if TYPE_CHECKING:
    from fractions import Fraction

    from ziggurat.pate import Network
    from ziggurat.release import Task

SKOPS, SAFE = ".skops", ".safetensors"
_RUN_CODE = (".pkl", ".pickle", ".joblib", ".dill", ".pt", ".pth", ".h5", ".keras")
_NO_CLAIM = "Its promise is about exchanging people, which being a member or not does not test."


@dataclass(frozen=True)
class GivenModel:
    """A model before anybody is asked about.

    Attributes
    ----------
    name
        What it is called, for people.
    estimator
        The fitted model.
    task
        How cells become its features; None if columns are handed over as they are.
    epsilon, delta
        What it promises about adding or removing one person, by the file beside it; None if nothing.
    told
        A sentence on its promise, where there is something to say.
    """

    name: str
    estimator: Any = field(repr=False)
    task: Task | None = None
    epsilon: Fraction | None = None
    delta: Fraction | int = 0
    told: str = ""


def open_model(where: str, network: str = "") -> GivenModel:
    """Open a model by the folder or file that it is in; what could run code is refused.

    `network` is the architecture of weights that nothing beside them describes: mlp:64,32.
    """
    path = Path(where)
    if path.is_dir():
        return _open_folder(where)
    if path.suffix.lower() in _RUN_CODE:
        raise ArtefactError(
            f"{where!r} can run any code when it is read; write the model with skops.io.dump(model, 'model.skops') "
            "where it was made, or give its answers with --answers."
        )
    if path.suffix.lower() not in (SKOPS, SAFE):
        raise ParameterError(
            f"{where!r} is no model; give a folder of 'model fit' or 'pate student', or a {SKOPS} or {SAFE} file."
        )
    if network and path.suffix.lower() != SAFE:
        raise ParameterError(f"--network says what the weights in a {SAFE} file are of; leave it out.")
    return _open_file(path, network)


def _open_file(path: Path, network: str) -> GivenModel:
    from ziggurat.release.models import DeclaredModule, read_model_file

    if not path.is_file():
        raise DataError(f"There is no file {str(path)!r}.")
    estimator = read_model_file(path, _declare(path, network) if network else None)
    if isinstance(estimator, DeclaredModule):
        return GivenModel(f"{type(estimator.module).__name__} in {path.name}", estimator)
    if isinstance(estimator, type) or not hasattr(estimator, "predict"):
        raise ArtefactError(f"{str(path)!r} holds no fitted classifier or regression of scikit-learn.")
    return GivenModel(f"{type(estimator).__name__} in {path.name}", estimator)


def _declare(path: Path, text: str) -> Network:
    """The network that a text says, as wide at both ends as the weights are."""
    from ziggurat.cli.pate import make_model
    from ziggurat.release.models import read_shapes

    layers = [shape for shape in read_shapes(path) if len(shape) == 2]
    if text.partition(":")[0] != "mlp" or not layers:
        raise ParameterError("--network knows mlp:64,32, the widths of the hidden layers; others are described beside.")
    made: Network = replace(make_model(text, layers[0][1], 2), outputs=layers[-1][0])
    return made


def _open_folder(where: str) -> GivenModel:
    folder = Path(where)
    if (folder / PROMISE).is_file():
        return _open_fitted(where)
    if (folder / CERTIFICATE).is_file():
        return _open_student(folder)
    raise ArtefactError(f"There is no model of 'model fit' or 'pate student' in {where!r}.")


def _open_fitted(where: str) -> GivenModel:
    from ziggurat.privacy import Relation, event_from_dict
    from ziggurat.release.models import promise_at

    task, model = load_model(where)
    name = f"{type(model).__name__} in {Path(where).name}"
    held = read_promise(where).get("event")
    if held is None:
        return GivenModel(name, model, task, told="It left without a promise, because an attack refuted it.")
    try:
        event = event_from_dict(held)
    except (KeyError, TypeError, ValueError):
        raise ArtefactError(f"There is no readable promise in {where!r}.") from None
    if event.neighbours.relation is not Relation.ADD_OR_REMOVE_ONE:
        return GivenModel(name, model, task, told=_NO_CLAIM)
    said: Any = promise_at(event, model.delta)
    return GivenModel(name, model, task, said.epsilon, getattr(said, "delta", 0), f"It promises {said}.")


def _open_student(folder: Path) -> GivenModel:
    from ziggurat.pate import Student
    from ziggurat.release import StudentCertificate

    certificate = StudentCertificate.load(folder / CERTIFICATE)
    certificate.require_files(folder)
    student, task = Student.load(folder), read_task(str(folder))
    both, name = certificate.both, f"the student in {folder.name}"
    if both is None:
        return GivenModel(name, student, task, told="It promises nothing to those whose rows it was trained on.")
    return GivenModel(name, student, task, both.epsilon, both.delta, f"It promises its teachers' people {both}.")

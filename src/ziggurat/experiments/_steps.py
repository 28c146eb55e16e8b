"""The steps an experiment may name: those in the registry, and nothing else."""

from __future__ import annotations

import hashlib
import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar

from ziggurat.errors import ExperimentError

_Function = TypeVar("_Function", bound=Callable[..., Any])
_NAME = re.compile(r"[a-z][a-z0-9_-]*")
_STANDARD = "ziggurat.experiments.steps"
_STANDARD_FOLDER = Path(__file__).parent / "steps"
_EARLIER = {"privatise": "privatize"}  # names that files written before still use
_BY_KEYWORD = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True)
class Step:
    """A function that an experiment calls by keyword.

    Attributes
    ----------
    reference
        The registered name, which is how experiments name it.
    version
        SHA-256 of the reference and of the file that defines the function, as it was when the step was first
        resolved. A change in another file that it imports does not show.
    takes_seed
        Whether it has a parameter `seed`, which the plan fills.
    parameters
        What else it may be given, inputs and parameters alike; `required` are those without a default.
    takes_any
        Whether it takes further names (`**kwargs`).
    outputs
        What it declares to return; None if it declares nothing.
    """

    reference: str
    function: Callable[..., Any]
    version: str
    takes_seed: bool = False
    parameters: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    takes_any: bool = False
    outputs: tuple[str, ...] | None = None


_registered: dict[str, Step] = {}


def step(name: str, *, outputs: Sequence[str] | None = None) -> Callable[[_Function], _Function]:
    """Register a function as the step `name`; the function itself stays as it is.

    Parameters
    ----------
    name
        How experiments call it: lower-case letters, digits, '-' and '_'.
    outputs
        The keys of the mapping it returns; once declared, references to others are refused before anything runs.

    Raises
    ------
    ExperimentError
        If the name is malformed or taken, or the function cannot be a step.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ExperimentError(f"{name!r} cannot name a step; use lower-case letters, digits, '-' and '_'.")
    if isinstance(outputs, str):
        raise ExperimentError(f"The outputs of step {name!r} must be a list of names, such as ('table',).")
    declared = None if outputs is None else tuple(outputs)

    def register(function: _Function) -> _Function:
        taken = _registered.get(name)
        if taken is not None and _home(taken.function) != _home(function):
            raise ExperimentError(f"Step {name!r} is registered twice; give one of the two functions another name.")
        _registered[name] = _describe(name, _require_function(name, function), declared)
        return function

    return register


def step_names() -> list[str]:
    """Return the registered names, sorted."""
    import_module(_STANDARD)
    return sorted(_registered)


def resolve(reference: str) -> Step:
    """Return the step that is registered under a name; nothing is imported for it but the shipped steps.

    Raises
    ------
    ExperimentError
        If there is no such step.
    """
    if reference not in _registered:
        import_module(_STANDARD)
        reference = _EARLIER.get(reference, reference)
    if reference in _registered:
        return _registered[reference]
    if ":" in reference:
        raise ExperimentError(
            f"{reference!r} is a path to code, which no file may name; register the function with @step('name'), "
            "give its module with --steps (in Python: load(..., steps=[...])) and write the name here."
        )
    hint = "(One of your own needs --steps and the module that registers it.)"
    raise ExperimentError(f"There is no step {reference!r}; {_nearest(reference, step_names())} {hint}")


def _require_function(reference: str, function: object) -> Callable[..., Any]:
    if callable(function) and isinstance(inspect.unwrap(function), FunctionType):
        return function
    raise ExperimentError(f"Step {reference!r} is not a function written in Python; wrap it in one.")


@lru_cache(maxsize=1024)
def _describe(reference: str, function: Callable[..., Any], outputs: tuple[str, ...] | None) -> Step:
    # Remembered per function: after an edit without a reload the old code still runs, so its old version must stay.
    version = _version(reference, function)
    accepted = list(inspect.signature(function).parameters.values())
    _check_keywords(reference, accepted)
    named = [each for each in accepted if each.kind in _BY_KEYWORD and each.name != "seed"]
    return Step(
        reference,
        function,
        version,
        any(each.name == "seed" for each in accepted),
        tuple(each.name for each in named),
        tuple(each.name for each in named if each.default is inspect.Parameter.empty),
        any(each.kind is inspect.Parameter.VAR_KEYWORD for each in accepted),
        outputs,
    )


def _version(reference: str, function: Callable[..., Any]) -> str:
    """Hash the file that defines a step; for a standard step, which leans on its neighbours, all of them."""
    try:
        file = Path(inspect.getsourcefile(inspect.unwrap(function)) or "")
        files = sorted(_STANDARD_FOLDER.rglob("*.py")) if _STANDARD_FOLDER in file.parents else [file]
        code = b"\0".join(each.read_bytes() for each in files)
    except OSError:
        raise ExperimentError(
            f"The source of step {reference!r} cannot be read, so changes could not be noticed; "
            "define it in a file of an importable module."
        ) from None
    return hashlib.sha256(reference.encode("utf-8", "surrogatepass") + b"\0" + code).hexdigest()


def _check_keywords(reference: str, accepted: Sequence[inspect.Parameter]) -> None:
    for each in accepted:
        if each.kind is inspect.Parameter.POSITIONAL_ONLY:
            raise ExperimentError(
                f"Step {reference!r} takes {each.name!r} by position only; steps are called by keyword."
            )


def _home(function: object) -> tuple[object, object]:
    return getattr(function, "__module__", None), getattr(function, "__qualname__", None)


def _nearest(name: str, known: list[str]) -> str:
    from ziggurat.wording import nearest  # here, so that worker processes start without the data package

    return nearest(name, known)

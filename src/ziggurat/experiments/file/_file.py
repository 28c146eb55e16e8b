"""Experiment files: JSON or YAML, read and checked as a whole before anything runs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from ziggurat.errors import ExperimentError
from ziggurat.experiments._as_json import experiment_to_dict
from ziggurat.experiments._step_modules import take_steps
from ziggurat.experiments._types import Experiment, Reproduces, is_plain
from ziggurat.experiments._values import canonical
from ziggurat.experiments.file._figures import read_expected, read_figures
from ziggurat.experiments.file._modules import ModuleReader
from ziggurat.experiments.file._references import ModulePlace, is_gathered, places
from ziggurat.experiments.file._spot import Spot
from ziggurat.located_yaml import Path as Keys
from ziggurat.located_yaml import loaded
from ziggurat.randomness import seeded
from ziggurat.wording import nearest

EXPERIMENT_KEYS = (
    "$schema",
    "name",
    "title",
    "description",
    "reproduces",
    "seed",
    "quick",
    "modules",
    "figures",
    "expected",
)
REPRODUCES_KEYS = ("document", "where", "remark")
LARGEST_SEED = 2**63 - 1


def load(file: str | Path, *, quick: bool = False, steps: Iterable[str | Path] = ()) -> Experiment:
    """Read and check an experiment.

    Everything that can be known before a run is checked: names, references, and that each step is given what it
    takes. The overrides of 'quick' are checked even when they are not asked for. A file can name registered steps
    alone; reading one imports nothing but the shipped steps and what `steps` names.

    Parameters
    ----------
    file
        A file, or the text of one (text has more than one line, or begins with a brace).
    quick
        Whether to lay the overrides under 'quick' over the rest.
    steps
        Modules that register steps of your own: Python files, or names of installed modules. They are imported.

    Raises
    ------
    ExperimentError
        "file, line n: " and one sentence that says what to change.
    """
    take_steps(steps)
    top, name = _open(file)
    try:
        full, reader = _read(top)
        short = _read_quick(top, full, reader)
    except RecursionError:
        raise ExperimentError(f"{name}: The experiment is nested too deeply.") from None
    return short if quick else full


def name_in(file: str | Path) -> str:
    """Return the name that an experiment file gives itself; its steps need not be known for that."""
    top, _ = _open(file)
    return _name(top.fields(EXPERIMENT_KEYS, required=("name", "modules"))["name"])


def schema_text() -> str:
    """Return the JSON schema of experiment files, for editors and other tools."""
    return files("ziggurat.experiments").joinpath("experiment.schema.json").read_text(encoding="utf-8")


def _open(file: str | Path) -> tuple[Spot, str]:
    text, name = _text_and_name(file)
    data, locate = loaded(text, name, ExperimentError)
    return Spot(data, "The experiment", (), locate), name


def _text_and_name(file: str | Path) -> tuple[str, str]:
    if isinstance(file, str) and ("\n" in file or file.lstrip().startswith("{")):
        return file, "experiment"
    try:
        return Path(file).read_text(encoding="utf-8"), str(file)
    except (OSError, ValueError):
        raise ExperimentError(f"The experiment file {str(file)!r} does not exist or cannot be read.") from None


def _read(top: Spot, gathered: frozenset[str] = frozenset()) -> tuple[Experiment, ModuleReader]:
    keys = top.fields(EXPERIMENT_KEYS, required=("name", "modules"))
    seed = keys["seed"].whole(0, LARGEST_SEED) if "seed" in keys else 0
    reader = ModuleReader(seeded(seed).child("trials"), gathered)
    modules = reader.read(keys["modules"])
    if not modules:
        keys["modules"].refuse("An experiment needs at least one module.")
    experiment = Experiment(_name(keys["name"]), modules, seed, **_texts(keys, ("title", "description")))
    reader.check_references(experiment, top)
    known = places(experiment)
    experiment = replace(
        experiment,
        reproduces=_reproduces(keys["reproduces"]) if "reproduces" in keys else None,
        figures=read_figures(keys["figures"], known) if "figures" in keys else (),
        expected=read_expected(keys["expected"], known) if "expected" in keys else (),
    )
    return replace(experiment, digest=digest(experiment)), reader


def digest(experiment: Experiment) -> str:
    """Return the SHA-256 of what an experiment says, its trials written out; layout and defaults do not count."""
    return hashlib.sha256(canonical(experiment_to_dict(experiment)).encode()).hexdigest()


def _name(spot: Spot) -> str:
    if not is_plain(spot.text()):
        spot.refuse("The name must be letters, digits, '-', '_' and '.', at most 100 of them.")
    return spot.text()


def _texts(keys: Mapping[str, Spot], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: keys[name].text() for name in names if name in keys}


def _reproduces(spot: Spot) -> Reproduces:
    keys = spot.fields(REPRODUCES_KEYS, required=("document", "where"))
    return Reproduces(**_texts(keys, REPRODUCES_KEYS))


def _read_quick(top: Spot, full: Experiment, reader: ModuleReader) -> Experiment:
    if "quick" not in top.value:
        return full
    known = places(full)
    data, moved = deepcopy(top.value), {}
    for key, spot in top.at("quick", top.value["quick"], "'quick'").entries().items():
        module, name = _override(key, spot, known)
        inside = (name,) if name in ("repeats", "trials") else ("parameters", name)
        path = (*reader.paths[module], *inside)
        _put(data, path, spot.value)
        moved[path] = spot.path

    def locate(path: Keys) -> str:
        for length in range(len(path), 0, -1):
            if path[:length] in moved:
                return top.locate((*moved[path[:length]], *path[length:]))
        return top.locate(path)

    gathered = frozenset(name for name, place in known.items() if is_gathered(place.module))
    return _read(Spot(data, top.what, (), locate), gathered)[0]


def _override(key: str, spot: Spot, known: Mapping[str, ModulePlace]) -> tuple[str, str]:
    module, dot, name = key.partition(".")
    if not dot or not name:
        spot.refuse(f"{key!r} overrides nothing; write 'module.parameter', 'module.repeats' or 'module.trials'.")
    if module not in known:
        spot.refuse(f"There is no module {module!r}; {nearest(module, known)}")
    if any(name in trial for trial in known[module].module.trials):
        spot.refuse(f"{name!r} is set by the trials of {module!r}; override '{module}.trials' instead.")
    return module, name


def _put(data: Any, path: Keys, value: object) -> None:
    for key in path[:-1]:
        data = data[int(key)] if isinstance(data, list) else data.setdefault(key, {})
    data[path[-1]] = value

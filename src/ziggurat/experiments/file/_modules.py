"""Read the modules of an experiment file, each against the step it names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ziggurat.errors import ExperimentError
from ziggurat.experiments._steps import Step, resolve
from ziggurat.experiments._types import Experiment, Module
from ziggurat.experiments.file._references import places, reference_problems
from ziggurat.experiments.file._spot import Spot
from ziggurat.experiments.file._trials import Trials, trials
from ziggurat.located_yaml import Path
from ziggurat.randomness import Source
from ziggurat.wording import nearest

MODULE_KEYS = (
    "id",
    "step",
    "parameters",
    "inputs",
    "trials",
    "repeats",
    "metrics",
    "keep",
    "modules",
    "gather",
)
MOST_REPEATS = 1_000_000
_ID = re.compile(r"[a-z][a-z0-9_-]*")
_LONGEST_ID = 64
_EARLIER = {"source": "dataset"}  # what parameters were called in files written before 0.5


@dataclass
class ModuleReader:
    """Reads modules and remembers where each stands in the file.

    Attributes
    ----------
    source
        Random trials are drawn from it.
    gathered
        Modules whose runs are seen as a list from outside, however few there are.
    """

    source: Source
    gathered: frozenset[str] = frozenset()
    paths: dict[str, Path] = field(default_factory=dict)
    steps: dict[str, Step] = field(default_factory=dict)

    def read(self, spot: Spot) -> tuple[Module, ...]:
        """Return the modules of a list, with those inside them."""
        return tuple(self._module(each) for each in spot.items())

    def check_references(self, experiment: Experiment, top: Spot) -> None:
        """Refuse inputs that refer to nothing, or to what is not there yet."""
        known = places(experiment)
        for problem in reference_problems(known):
            module, *keys = problem.where
            Spot(None, "", (*self.paths[module], *keys), top.locate).refuse(problem.sentence)
        for name, place in known.items():
            for given, reference in place.module.inputs.items():
                spot = Spot(reference, "", (*self.paths[name], "inputs", given), top.locate)
                target, _, output = reference.partition(".")
                _check_output(self.steps[target], output, spot)

    def _module(self, spot: Spot) -> Module:
        keys = spot.fields(MODULE_KEYS, required=("id", "step"))
        name = self._id(keys["id"], spot)
        step = self.steps[name] = _resolve(keys["step"])
        inputs = _inputs(step, keys.get("inputs"))
        parameters = _Parameters(step, inputs)
        fixed = {each: value.json() for each, value in parameters.check_all(keys.get("parameters")).items()}
        varied = self._trials(name, keys.get("trials"), parameters)
        parameters.check_complete(fixed, varied, spot)
        return Module(
            name,
            step.reference,
            fixed,
            inputs,
            varied,
            keys["repeats"].whole(1, MOST_REPEATS) if "repeats" in keys else 1,
            _outputs(step, keys["metrics"]) if "metrics" in keys else (),
            _outputs(step, keys["keep"]) if "keep" in keys else None,
            self.read(keys["modules"]) if "modules" in keys else (),
            name in self.gathered or ("gather" in keys and keys["gather"].truth()),
        )

    def _id(self, spot: Spot, module: Spot) -> str:
        name = spot.text()
        if not _ID.fullmatch(name) or len(name) > _LONGEST_ID:
            spot.refuse(
                f"{name[:_LONGEST_ID]!r} cannot be an id; use at most {_LONGEST_ID} lower-case letters, digits, "
                "'-' and '_', with a letter first."
            )
        if name in self.paths:
            spot.refuse(f"Two modules are called {name!r}; rename one.")
        self.paths[name] = module.path
        return name

    def _trials(self, name: str, spot: Spot | None, parameters: _Parameters) -> Trials:
        return ({},) if spot is None else trials(spot, self.source.child(name), parameters.check)


@dataclass(frozen=True)
class _Parameters:
    """What may be given to a step besides its inputs."""

    step: Step
    inputs: Mapping[str, str]

    def check_all(self, spot: Spot | None) -> dict[str, Spot]:
        found = {} if spot is None else spot.entries()
        for name, each in found.items():
            self.check(name, each)
        return found

    def check(self, name: str, spot: Spot) -> None:
        if name in self.inputs:
            spot.refuse(f"{name!r} is an input and a parameter; drop one of them.")
        _check_taken(self.step, name, "parameter", spot)

    def check_complete(self, fixed: Mapping[str, object], varied: Trials, spot: Spot) -> None:
        for name in self.step.required:
            given = name in fixed or name in self.inputs or all(name in trial for trial in varied)
            if not given:
                some = " in every trial" if any(name in trial for trial in varied) else ""
                spot.refuse(f"Step {self.step.reference!r} needs {name!r}{some}; give it as a parameter or an input.")


def _resolve(spot: Spot) -> Step:
    reference = spot.text()
    try:
        return resolve(reference)
    except ExperimentError as error:
        spot.refuse(str(error))


def _inputs(step: Step, spot: Spot | None) -> dict[str, str]:
    found = {} if spot is None else spot.entries()
    for name, each in found.items():
        _check_taken(step, name, "input", each)
    return {name: each.text() for name, each in found.items()}


def _check_taken(step: Step, name: str, what: str, spot: Spot) -> None:
    if name == "seed":
        spot.refuse("'seed' is set by the plan; drop it and use the experiment's 'seed'.")
    if name in step.parameters or (step.takes_any and name.isidentifier()):
        return
    now = _EARLIER.get(name)
    hint = f"it is called {now!r} now." if now in step.parameters else nearest(name, step.parameters)
    spot.refuse(f"Step {step.reference!r} takes no {what} {name!r}; {hint}")


def _outputs(step: Step, spot: Spot) -> tuple[str, ...]:
    names = spot.names()
    for name, each in zip(names, spot.items(), strict=True):
        _check_output(step, name, each)
    return names


def _check_output(step: Step, name: str, spot: Spot) -> None:
    if step.outputs is not None and name not in step.outputs:
        spot.refuse(f"Step {step.reference!r} has no output {name!r}; {nearest(name, step.outputs)}")

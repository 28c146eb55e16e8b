"""From an experiment to its plan: every run of every module, with its parameters, inputs and seed."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ziggurat.errors import ExperimentError
from ziggurat.experiments._types import Experiment, ExperimentPlan, Gathered, Module, Node, NodeOutput
from ziggurat.experiments._values import canonical
from ziggurat.experiments.file._references import InputLink, ModulePlace, duplicates, link, places, reference_problems
from ziggurat.randomness import Source as Randomness
from ziggurat.randomness import seeded

LARGEST_PLAN = 1_000_000
_BARE = re.compile(r"(?!(?:true|false|null)\Z)[A-Za-z][A-Za-z0-9_-]*")
_LONGEST_VALUE = 32
_LONGEST_TRIAL = 120


def expand(experiment: Experiment) -> ExperimentPlan:
    """Return the plan of an experiment: each node after those it depends on.

    A module runs once for every trial and repeat, inside every run of the module around it. What a node is called,
    its seed and its inputs depend only on its own place: more trials, more repeats or another order change nothing.

    Raises
    ------
    ExperimentError
        If modules share an id, refer to what is not there or comes later, or make more than a million runs.
    """
    for repeated in duplicates(experiment):
        raise ExperimentError(f"Two modules are called {repeated!r}; rename one.")
    known = places(experiment)
    for problem in reference_problems(known):
        raise ExperimentError(problem.sentence)
    _check_size(known)
    return ExperimentPlan(experiment, tuple(_PlanWalk(known).nodes(experiment)))


def _check_size(known: Mapping[str, ModulePlace]) -> None:
    runs: dict[str, int] = {}
    for place in known.values():
        around = runs[place.parents[-1]] if place.parents else 1
        module = place.module
        if module.repeats < 1 or not module.trials:
            raise ExperimentError(f"Module {module.id!r} needs at least one trial and one repeat.")
        runs[module.id] = around * module.repeats * len(module.trials)
    if (total := sum(runs.values())) > LARGEST_PLAN:
        raise ExperimentError(
            f"The experiment makes {total:,} runs; {LARGEST_PLAN:,} are allowed, so use fewer trials or repeats."
        )


@dataclass
class _PlanWalk:
    """The state of one depth-first walk through the runs.

    Whatever a node refers to is the newest run of a module (an ancestor, or a sibling in the same scope), or all runs
    of a module since the newest run of their common scope began; so a list of runs per module and a mark per scope
    are enough, and nothing is searched.
    """

    known: Mapping[str, ModulePlace]
    runs: dict[str, list[Node]] = field(default_factory=dict)
    marks: dict[tuple[str, str], int] = field(default_factory=dict)
    gathered: dict[tuple[str, str, str, int], Gathered] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.links = {name: self._links(place) for name, place in self.known.items()}
        self.opens: dict[str, set[str]] = {}
        for each in (each for links in self.links.values() for each in links if each.scope):
            self.opens.setdefault(str(each.scope), set()).add(each.module)

    def _links(self, place: ModulePlace) -> list[InputLink]:
        return [link(name, reference, place, self.known) for name, reference in place.module.inputs.items()]

    def nodes(self, experiment: Experiment) -> Iterator[Node]:
        seen: set[str] = set()
        stack = [self._runs(experiment.modules, None, seeded(experiment.seed).child("nodes"))]
        while stack:
            run = next(stack[-1], None)
            if run is None:
                stack.pop()
                continue
            node, randomness = run
            if node.id in seen:
                raise ExperimentError(f"Two trials of module {node.module.id!r} are the same; drop one or use repeats.")
            seen.add(node.id)
            self._open(node)
            yield node
            stack.append(self._runs(node.module.modules, node, randomness))

    def _runs(
        self, modules: tuple[Module, ...], parent: Node | None, around: Randomness
    ) -> Iterator[tuple[Node, Randomness]]:
        for module in modules:
            for trial in module.trials:
                label = canonical(trial)
                name = f"{module.id}[{_trial_text(trial)}]" if trial else module.id
                for repeat in range(module.repeats):
                    randomness = around.child(module.id, label, repeat)
                    yield self._node(module, trial, repeat, f"{name}#{repeat}", parent, randomness), randomness

    def _node(
        self,
        module: Module,
        trial: Mapping[str, Any],
        repeat: int,
        name: str,
        parent: Node | None,
        randomness: Randomness,
    ) -> Node:
        return Node(
            f"{parent.id}/{name}" if parent else name,
            module,
            {**module.parameters, **trial},
            {**(parent.varied if parent else {}), **{f"{module.id}.{key}": value for key, value in trial.items()}},
            {**(parent.repeats if parent else {}), module.id: repeat},
            int(randomness.words(1)[0]) >> 1,
            {each.input: self._input(each) for each in self.links[module.id]},
            parent.id if parent else None,
        )

    def _open(self, node: Node) -> None:
        name = node.module.id
        self.runs.setdefault(name, []).append(node)
        for inside in self.opens.get(name, ()):
            self.marks[name, inside] = len(self.runs.get(inside, ()))

    def _input(self, each: InputLink) -> NodeOutput | Gathered:
        if each.scope is None:
            return NodeOutput(self.runs[each.module][-1].id, each.output)
        mark = self.marks.get((each.scope, each.module), 0)
        key = (each.scope, each.module, each.output, mark)
        if key not in self.gathered:
            self.gathered[key] = self._gather(each, mark)
        return self.gathered[key]

    def _gather(self, each: InputLink, mark: int) -> Gathered:
        """Collect the runs since the mark; those outside of the scope are alike for all, so they are not told."""
        nodes = self.runs[each.module][mark:]
        path = (*self.known[each.module].parents, each.module)
        inside = path[path.index(each.scope) + 1 :] if each.scope else path
        return Gathered(
            tuple(NodeOutput(node.id, each.output) for node in nodes),
            tuple({k: v for k, v in node.varied.items() if k.partition(".")[0] in inside} for node in nodes),
            tuple({name: node.repeats[name] for name in inside} for node in nodes),
        )


def _trial_text(trial: Mapping[str, Any]) -> str:
    text = ",".join(f"{name}={_value_text(trial[name])}" for name in sorted(trial))
    return _shorten(text, canonical(trial), _LONGEST_TRIAL)


def _value_text(value: object) -> str:
    # Quotes stay wherever the text could be taken for another value, so that different trials read differently.
    if isinstance(value, str) and _BARE.fullmatch(value):
        return _shorten(value, value, _LONGEST_VALUE)
    whole = canonical(value)
    text = json.dumps(json.loads(whole), ensure_ascii=False, separators=(",", ":"))
    return _shorten(text if text.isprintable() else whole, whole, _LONGEST_VALUE)


def _shorten(text: str, whole: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    return f"{text[: longest - 13]}~{hashlib.sha256(whole.encode()).hexdigest()[:12]}"

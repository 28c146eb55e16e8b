"""Which module each input refers to, and whether it gets one run of it or all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ziggurat.experiments._types import Experiment, Module


@dataclass(frozen=True)
class ModulePlace:
    """Where a module stands: its parents' ids from the outermost on, and its position in reading order."""

    module: Module
    parents: tuple[str, ...]
    position: int


@dataclass(frozen=True)
class InputLink:
    """An input: an output of another module, of its newest run or gathered over all its runs within `scope`.

    `scope` is the innermost module around both ("" for the experiment); None if one run is meant.
    """

    input: str
    module: str
    output: str
    scope: str | None


@dataclass(frozen=True)
class FileProblem:
    """What is wrong with one place of an experiment: `where` is a module's id (or "") and keys below it."""

    where: tuple[str, ...]
    sentence: str


def places(experiment: Experiment) -> dict[str, ModulePlace]:
    """Return every module by its id, in reading order: each before those inside it."""
    found: dict[str, ModulePlace] = {}
    waiting: list[tuple[Module, tuple[str, ...]]] = [(each, ()) for each in reversed(experiment.modules)]
    while waiting:
        module, parents = waiting.pop()
        found[module.id] = ModulePlace(module, parents, len(found))
        waiting.extend((each, (*parents, module.id)) for each in reversed(module.modules))
    return found


def duplicates(experiment: Experiment) -> Iterator[str]:
    """Yield every id that a module shares with an earlier one."""
    seen: set[str] = set()
    waiting = list(reversed(experiment.modules))
    while waiting:
        module = waiting.pop()
        if module.id in seen:
            yield module.id
        seen.add(module.id)
        waiting.extend(reversed(module.modules))


def link(name: str, reference: str, place: ModulePlace, known: Mapping[str, ModulePlace]) -> InputLink:
    """Return what a reference that `reference_problems` accepts means."""
    target, _, output = reference.partition(".")
    if target in place.parents:
        return InputLink(name, target, output, None)
    theirs = known[target].parents
    shared = _count_shared(place.parents, theirs)
    scope = place.parents[shared - 1] if shared else ""
    alone = shared == len(theirs) and not is_gathered(known[target].module)
    return InputLink(name, target, output, None if alone else scope)


def _count_shared(ours: tuple[str, ...], theirs: tuple[str, ...]) -> int:
    count = 0
    for one, other in zip(ours, theirs, strict=False):
        if one != other:
            break
        count += 1
    return count


def is_gathered(module: Module) -> bool:
    """Say whether those outside of a module see the list of its runs rather than its one run."""
    return module.gather or module.repeats > 1 or len(module.trials) > 1


def reference_problems(known: Mapping[str, ModulePlace]) -> Iterator[FileProblem]:
    """Yield what is wrong with the inputs: modules that are unknown, later, inside, or the module itself."""
    from ziggurat.wording import nearest

    for place in known.values():
        for name, reference in place.module.inputs.items():
            target, dot, output = reference.partition(".")
            where = (place.module.id, "inputs", name)
            if not dot or not target or not output:
                yield FileProblem(where, f"{reference!r} is not a reference; write 'module.output'.")
            elif target not in known:
                yield FileProblem(where, f"There is no module {target!r}; {nearest(target, _visible(place, known))}")
            elif known[target].position >= place.position:
                yield FileProblem(where, _too_early(place, known[target], known))


def _visible(place: ModulePlace, known: Mapping[str, ModulePlace]) -> list[str]:
    return [each.module.id for each in known.values() if each.position < place.position]


def _too_early(place: ModulePlace, target: ModulePlace, known: Mapping[str, ModulePlace]) -> str:
    module, other = place.module.id, target.module.id
    if module == other:
        return f"Module {module!r} refers to itself; refer to an earlier module."
    if module in target.parents:
        return f"Module {other!r} runs inside {module!r}, so {module!r} cannot use its output."
    chain = _chain(other, module, known)
    if chain:
        return f"The modules {' -> '.join([module, *chain])} refer to each other in a cycle; drop one reference."
    return f"Module {other!r} comes later; move it before {module!r}."


def _chain(start: str, end: str, known: Mapping[str, ModulePlace]) -> list[str]:
    """Return modules from `start` to `end`, each needing the next, or nothing if there is no such way."""
    came_from = {start: ""}
    waiting = [start]
    while waiting:
        current = waiting.pop()
        if current == end:
            return _walk_back(came_from, end)
        for needed in _needs(known[current]):
            if needed in known and needed not in came_from:
                came_from[needed] = current
                waiting.append(needed)
    return []


def _needs(place: ModulePlace) -> Iterator[str]:
    yield from place.parents[-1:]
    for reference in place.module.inputs.values():
        yield reference.partition(".")[0]


def _walk_back(came_from: Mapping[str, str], end: str) -> list[str]:
    walk = [end]
    while came_from[walk[-1]]:
        walk.append(came_from[walk[-1]])
    return walk[::-1]

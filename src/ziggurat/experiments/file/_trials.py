"""The three ways to give trials: a list, a grid, random draws. All become a list of parameter sets."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

from ziggurat.experiments._values import canonical
from ziggurat.experiments.file._spot import Spot
from ziggurat.randomness import Source

MOST_TRIALS = 100_000
_PATIENCE = 1000  # equal draws in a row, after which the draws are taken to be exhausted
_DRAWS = ("uniform", "log_uniform", "integers", "choice")

Trials = tuple[Mapping[str, Any], ...]
_Check = Callable[[str, Spot], None]
_Draw = Callable[[Source], Any]


def trials(spot: Spot, source: Source, check: _Check) -> Trials:
    """Return the parameter sets, each different from the others.

    Parameters
    ----------
    spot
        A list of parameter sets, `{"grid": ...}` or `{"random": ...}`.
    source
        Where random draws come from. Each trial and each parameter has a stream of its own, so that a larger count
        or a further parameter leaves what was drawn as it was.
    check
        Refuses a parameter that may not be varied, given its name and spot.

    Raises
    ------
    ExperimentError
        If there are none, too many, two that are equal, or something that cannot be drawn.
    """
    if isinstance(spot.value, list):
        return _list_values(spot, check)
    if not isinstance(spot.value, dict) or len(spot.value) != 1:
        spot.refuse('\'trials\' must be a list of parameter sets, {"grid": ...} or {"random": ...}.')
    ((form, inside),) = spot.fields(("grid", "random")).items()
    return _grid(inside, check) if form == "grid" else _random(inside, source, check)


def _check_trials(spot: Spot, check: _Check) -> dict[str, Spot]:
    found = spot.entries()
    for name, each in found.items():
        check(name, each)
    return found


def _list_values(spot: Spot, check: _Check) -> Trials:
    found: dict[str, Mapping[str, Any]] = {}
    for each in spot.items():
        trial = {name: value.json() for name, value in _check_trials(each, check).items()}
        if canonical(trial) in found:
            each.refuse("This trial stands twice; drop one, or use 'repeats' to run it again.")
        found[canonical(trial)] = trial
    _check_count(spot, len(found))
    return tuple(found.values())


def _grid(spot: Spot, check: _Check) -> Trials:
    values = {name: _values(each) for name, each in _check_trials(spot, check).items()}
    _check_count(spot, math.prod(map(len, values.values())) if values else 0)
    return tuple(dict(zip(values, chosen, strict=True)) for chosen in product(*values.values()))


def _values(spot: Spot) -> list[Any]:
    found: dict[str, Any] = {}
    for each in spot.items():
        value = each.json()
        if canonical(value) in found:
            each.refuse(f"{spot.what} holds the same value twice; drop one, or use 'repeats' to run it again.")
        found[canonical(value)] = value
    if not found:
        spot.refuse(f"{spot.what} has no values; list at least one.")
    return list(found.values())


def _check_count(spot: Spot, count: int) -> None:
    if not count:
        spot.refuse("There are no trials here; give at least one, or drop 'trials'.")
    if count > MOST_TRIALS:
        spot.refuse(f"There are {count:,} trials here; {MOST_TRIALS:,} are allowed.")


def _random(spot: Spot, source: Source, check: _Check) -> Trials:
    fields = spot.fields(("count", "draws"), required=("count", "draws"))
    count = fields["count"].whole(1, MOST_TRIALS)
    draws = {name: _draw(each) for name, each in _check_trials(fields["draws"], check).items()}
    if not draws:
        fields["draws"].refuse("There is nothing to draw; name at least one parameter.")
    found: dict[str, Mapping[str, Any]] = {}
    for index in range(count):
        trial = _fresh(draws, source.child(index), found)
        if trial is None:
            fields["count"].refuse(f"The draws give only about {len(found):,} different trials; ask for no more.")
        found[canonical(trial)] = trial
    return tuple(found.values())


def _fresh(draws: Mapping[str, _Draw], source: Source, found: Mapping[str, object]) -> Mapping[str, Any] | None:
    streams = {name: source.child(name) for name in draws}
    for _ in range(_PATIENCE + 20 * len(found)):
        trial = {name: draw(streams[name]) for name, draw in draws.items()}
        if canonical(trial) not in found:
            return trial
    return None


def _draw(spot: Spot) -> _Draw:
    if not isinstance(spot.value, dict) or len(spot.value) != 1:
        spot.refuse(f'{spot.what} must be one draw, such as {{"uniform": [0, 1]}}.')
    ((form, inside),) = spot.fields(_DRAWS).items()
    if form == "choice":
        values = _values(inside)
        return lambda source: values[_below(len(values), source)]
    ends = inside.items()
    if len(ends) != 2:
        inside.refuse(f"'{form}' needs two ends, such as [1, 10].")
    return _whole(ends) if form == "integers" else _real(form, ends)


def _whole(ends: list[Spot]) -> _Draw:
    lower, upper = (end.whole(-(2**53), 2**53) for end in ends)
    if lower > upper:
        ends[0].refuse("The lower end is above the upper one; swap them.")
    return lambda source: lower + _below(upper - lower + 1, source)


def _real(form: str, ends: list[Spot]) -> _Draw:
    lower, upper = (end.number() for end in ends)
    if not lower < upper:
        ends[0].refuse("The lower end must be below the upper one.")
    if form == "uniform":
        return lambda source: _between(lower, upper, source)
    if lower <= 0:
        ends[0].refuse("The ends of 'log_uniform' must be positive.")
    low, high = math.log(lower), math.log(upper)
    return lambda source: min(max(math.exp(_between(low, high, source)), lower), upper)


def _between(lower: float, upper: float, source: Source) -> float:
    share = (int(source.words(1)[0]) >> 11) * 2.0**-53
    return min(max(lower * (1 - share) + upper * share, lower), upper)


def _below(count: int, source: Source) -> int:
    # Plain integers instead of the compiled sampler: its start would cost more than all draws, and the numbers of a
    # published experiment must not change with a library. Words beyond the last multiple of `count` are passed over.
    limit = 2**64 - 2**64 % count
    while (word := int(source.words(1)[0])) >= limit:
        pass
    return word % count

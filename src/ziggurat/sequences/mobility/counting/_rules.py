"""What is counted of visits: a rule gives every event of a trajectory a cell of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ziggurat.errors import ParameterError

Whole = npt.NDArray[np.int64]
Happening = Literal["trajectory", "visit", "step"]
"""What is counted: whole trajectories, their visits one by one, or steps from one visit to the next."""
Fact = Literal["length", "before", "here", "there", "same", "hour", "later"]
"""What is known of it.

`length`: how many visits the trajectory has. `here`: the place of the visit, where a step begins, or where the
trajectory does; `there`: where the step, or the trajectory, ends; `same`: 1 if that is the same place, else 0. `hour`:
the hour of the day here, and `later`: there. A visit has no there. `before`, of a step: the place visited before here,
or the number of places if there was none.
"""
LEFT_OUT = int(np.iinfo(np.int64).min)
"""In a lookup: what does not count."""
_PLACES = ("before", "here", "there")
_KNOWN: dict[str, tuple[Fact, ...]] = {
    "trajectory": ("length", "here", "there", "same", "hour", "later"),
    "visit": ("length", "here", "hour"),
    "step": ("length", "before", "here", "there", "same", "hour", "later"),
}


@dataclass(frozen=True, eq=False)
class CellLookup:
    """A part of the number of a cell, by what is known of an event: public.

    Parameters
    ----------
    facts
        What it depends on.
    values
        An array with one axis for each of them; `LEFT_OUT` where the event does not count.
    groups
        The group of every place, if places count by groups; then the axis of a place is that of its groups. With
        `before` there is one more, for no place at all.
    """

    facts: tuple[Fact, ...]
    values: Whole
    groups: Whole | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", np.asarray(self.values, dtype=np.int64))
        if self.values.ndim != len(self.facts) or not self.facts or len(set(self.facts)) != len(self.facts):
            raise ParameterError("A lookup needs one axis for every one of its facts, each named once.")

    def grouped(self, fact: Fact) -> bool:
        """Whether a fact is a place that counts by its group."""
        return self.groups is not None and fact in _PLACES


@dataclass(frozen=True, eq=False)
class CountingRule:
    """Which cell of a table every event falls into: the sum of what the lookups say of it.

    Examples
    --------
    >>> by_length = CountingRule("trajectory", (CellLookup(("length",), np.minimum(np.arange(11), 3)),))
    >>> between = CountingRule("step", (CellLookup(("here",), np.arange(5) * 5), CellLookup(("there",), np.arange(5))))
    """

    event: Happening
    lookups: tuple[CellLookup, ...]

    def __post_init__(self) -> None:
        if self.event not in _KNOWN or not self.lookups:
            raise ParameterError("A rule counts trajectories, visits or steps, by one lookup or more.")
        if not self.facts <= set(_KNOWN[self.event]):
            raise ParameterError(f"A {self.event} is known by: {', '.join(_KNOWN[self.event])}.")

    @property
    def facts(self) -> set[Fact]:
        """What it depends on."""
        return {fact for lookup in self.lookups for fact in lookup.facts}

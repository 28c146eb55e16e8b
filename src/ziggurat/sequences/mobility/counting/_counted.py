"""Counts of visits of which one unit adds at most a bound, in memory or wherever visits are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ziggurat.sequences.mobility._trajectories import HOURS, Trajectories, TrajectoryDomain
from ziggurat.sequences.mobility.counting._rules import LEFT_OUT, CountingRule, Fact, Whole

_HOUR = 60


class NormedCounts(NamedTuple):
    """How many events fall into each cell, by the norm of the units that they belong to; in no order.

    The norm of a unit is the sum of its own counts over all cells, or the sum of their squares. A table to which no
    unit adds more than a bound is made of these alone, because a unit's weight depends on its norm alone.
    """

    norms: Whole
    cells: Whole
    counts: Whole

    def weighed(self, size: int, weigh: Callable[[Whole], Whole]) -> Whole:
        """The table, every unit's events weighed by its norm, in whole numbers."""
        table = np.zeros(size, dtype=np.int64)
        np.add.at(table, self.cells, weigh(self.norms) * self.counts)
        return table

    @classmethod
    def together(cls, parts: Iterable[NormedCounts]) -> NormedCounts:
        """Counts of different units as one."""
        held = list(parts)
        if not held:
            return cls(*(np.zeros(0, dtype=np.int64) for _ in range(3)))
        norms, cells, counts = (np.concatenate(each) for each in zip(*held, strict=True))
        return cls(norms, cells, counts)


class CountedVisits(ABC):
    """Visits that can be counted, wherever they are."""

    @property
    @abstractmethod
    def domain(self) -> TrajectoryDomain:
        """What is publicly known of the trajectories."""

    @abstractmethod
    def tally(self, rules: Sequence[CountingRule], *, square: bool = False) -> NormedCounts:
        """Count the events of one table by the cells of several rules; raw, for a mechanism to protect.

        Parameters
        ----------
        rules
            Every event of each counts in the cell that the rule gives it.
        square
            Whether the norm of a unit is the sum of the squares of its counts rather than their sum.
        """


class HeldVisits(CountedVisits):
    """Trajectories in memory, counted there.

    Parameters
    ----------
    trajectories
        Whose owners are the units; each trajectory is its own if there are none.
    """

    def __init__(self, trajectories: Trajectories) -> None:
        self._held = trajectories
        self._whose = np.repeat(np.arange(len(trajectories)), trajectories.lengths)
        owners = np.arange(len(trajectories)) if trajectories.owners is None else trajectories.owners
        self._units: Whole = np.unique(owners, return_inverse=True)[1]

    @property
    def domain(self) -> TrajectoryDomain:
        """What is publicly known of the trajectories."""
        return self._held.domain

    def tally(self, rules: Sequence[CountingRule], *, square: bool = False) -> NormedCounts:
        """Count in memory."""
        found = [self._cells(rule) for rule in rules]
        cells, units = (np.concatenate(each) for each in zip(*found, strict=True))
        if not len(cells):
            return NormedCounts.together([])
        wide = int(cells.max()) + 1
        if not square:
            return _gather(np.bincount(units)[units], cells, np.ones(len(cells), dtype=np.int64), wide)
        own, many = np.unique(units * wide + cells, return_counts=True)
        norms = np.bincount(own // wide, many**2).astype(np.int64)
        return _gather(norms[own // wide], own % wide, many, wide)

    def _cells(self, rule: CountingRule) -> tuple[Whole, Whole]:
        """The cell of every event that counts, and whose it is."""
        here, there, whose = self._ends(rule)
        facts = {fact: self._fact(fact, here, there, whose) for fact in rule.facts}
        cells, counted = np.zeros(len(whose), dtype=np.int64), np.ones(len(whose), dtype=bool)
        for lookup in rule.lookups:
            groups = {fact: lookup.groups if lookup.grouped(fact) else None for fact in lookup.facts}
            keys = [facts[fact] if held is None else held[facts[fact]] for fact, held in groups.items()]
            values = lookup.values[tuple(keys)]
            counted &= values != LEFT_OUT
            cells += np.where(values == LEFT_OUT, 0, values)
        return cells[counted], self._units[whose[counted]]

    def _ends(self, rule: CountingRule) -> tuple[Whole, Whole, Whole]:
        """By event: which visit is here, which is there, and in which trajectory."""
        if rule.event == "trajectory":
            # One without a visit has a length and nothing else.
            some = np.flatnonzero(self._held.lengths >= (rule.facts != {"length"}))
            return self._held.offsets[some], self._held.offsets[some + 1] - 1, some
        at = np.arange(len(self._whose))
        if rule.event == "step":
            at = np.flatnonzero(self._whose[:-1] == self._whose[1:])
        return at, at + 1, self._whose[at]

    def _fact(self, fact: Fact, here: Whole, there: Whole, whose: Whole) -> Whole:
        codes = self._held.codes
        if fact == "length":
            return np.asarray(self._held.lengths[whose])
        if fact == "before":
            is_first = here == self._held.offsets[whose]
            return np.where(is_first, self.domain.size, codes[np.maximum(here - 1, 0)]).astype(np.int64)
        if fact == "same":
            return np.asarray(codes[here] == codes[there], dtype=np.int64)
        if fact in ("here", "there"):
            return np.asarray(codes[here if fact == "here" else there], dtype=np.int64)
        assert self._held.minutes is not None  # nothing else has hours
        return np.asarray(self._held.minutes[here if fact == "hour" else there] // _HOUR % HOURS["day"])


def _gather(norms: Whole, cells: Whole, counts: Whole, wide: int) -> NormedCounts:
    """One row for each norm and cell."""
    together, where = np.unique(norms * wide + cells, return_inverse=True)
    return NormedCounts(together // wide, together % wide, np.bincount(where, counts).astype(np.int64))

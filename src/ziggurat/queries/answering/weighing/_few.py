"""What the compiled loops do, for so few rows that loading a compiler would take longer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ziggurat.queries.answering._bounding import UnitTotal

Integers = npt.NDArray[np.int64]
MISSING = -(2**63)
"""What stands for a cell that is NULL: further out than any cell can be."""


class UnitGroups:
    """Rows put together by unit and group, in the order of units and of their lots."""

    def __init__(self, units: Integers, lots: npt.NDArray[np.uint64], codes: npt.NDArray[np.int32]) -> None:
        self.order = np.lexsort((codes, lots, units))
        units, lots, codes = units[self.order], lots[self.order], codes[self.order]
        other_unit = _changes(units)
        self.starts = np.flatnonzero(other_unit | _changes(lots) | _changes(codes))
        self.codes = codes[self.starts]
        self.held = np.diff(np.append(self.starts, units.size))
        self._unit_starts = np.flatnonzero(other_unit[self.starts])
        self._many = np.diff(np.append(self._unit_starts, self.starts.size))

    def find_kept(self, most: int) -> npt.NDArray[np.bool_]:
        """Which groups count: the first few of each unit, by lot."""
        rank = np.arange(self.starts.size) - np.repeat(self._unit_starts, self._many)
        return np.asarray(rank < most)

    def count_lost(self, few: int, most: int) -> Integers:
        """How many rows of each unit do not count, in expectation if it is in too many groups."""
        total = _add_up(self.held, self._unit_starts)
        counted = _add_up(np.minimum(self.held, few), self._unit_starts)
        part = np.minimum(1.0, float(most) / self._many)
        return np.asarray(total - np.floor(counted * part).astype(np.int64))

    def add_up(self, total: UnitTotal, cells: Integers | None, few: int) -> Integers:
        """What each unit adds in each group: the same arithmetic as that of `weigh_units`, step by step."""
        found = self.held
        if cells is not None:
            ordered = cells[self.order]
            there = ordered != MISSING
            found = _add_up(np.where(there, ordered if total.combine == "sum" else 1, 0), self.starts)
        if total.combine == "units":
            return np.minimum(found, 1)
        share = np.floor(found * float(total.fineness * few) / self.held + 0.5)
        exact = np.where(self.held <= few, found * total.fineness, share.astype(np.int64))
        return np.clip(exact, -total.limit, total.limit)


def find_doublings(lost: Integers, last: int) -> Integers:
    """0 for 0, and k for whole numbers from 2**(k-1) below 2**k; the last bucket is open."""
    return np.searchsorted(2 ** np.arange(last, dtype=np.int64), lost, side="right")


def add_by_code(codes: npt.NDArray[np.int32], adds: Sequence[Integers], many: int) -> list[list[int]]:
    """Add up by group, exactly: whole numbers of any size."""
    sums = [[0] * len(adds) for _ in range(many)]
    for place, each in enumerate(adds):
        # 32 bits at a time: what is added up so cannot leave 64.
        high, low = np.zeros(many, np.int64), np.zeros(many, np.int64)
        np.add.at(high, codes, each >> 32)
        np.add.at(low, codes, each & 0xFFFFFFFF)
        for code in range(many):
            sums[code][place] = (int(high[code]) << 32) + int(low[code])
    return sums


def _changes(cells: npt.NDArray[np.generic]) -> npt.NDArray[np.bool_]:
    changed = np.ones(cells.size, dtype=bool)
    changed[1:] = cells[1:] != cells[:-1]
    return changed


def _add_up(numbers: Integers, starts: Integers) -> Integers:
    return np.add.reduceat(numbers, starts) if starts.size else np.zeros(0, np.int64)

"""Columns that are given, as the rows of numbers that regressions and networks take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ziggurat.data.coded import CodedColumn, Reals
from ziggurat.errors import ParameterError
from ziggurat.synthesize._method import Arrays, Codes

Real = TypeVar("Real", np.float32, np.float64)

MOST_INDICATORS = 50
_FAR = 1e4  # standard deviations, beyond any number among fewer than 1e8 rows

_TINY, _HUGE = float(np.finfo(np.float64).tiny), float(np.finfo(np.float64).max) / 2


@dataclass(frozen=True)
class Design:
    """How given columns become a matrix: an intercept, standardised numbers, indicators of codes.

    A column of numbers takes one column of the matrix (zero, which is the mean, where a code stands for the number)
    and an indicator for each of its codes that was seen. A column of categories takes an indicator for each category
    but the commonest; beyond `MOST_INDICATORS` of them the rarest share one. A category that was never seen
    counts as one of the rarest, or as the commonest where none share.

    Parameters
    ----------
    width
        How many columns the matrix has.
    numbers
        The matrix column of each column of numbers; -1 for categories.
    centres, scales
        What is subtracted from numbers, and what they are then divided by.
    slots
        For all codes of all columns, one after another, the matrix column of their indicator; -1 for none.
    starts
        Where the codes of each column begin in `slots`, and after the last where they end.
    """

    width: int
    numbers: Codes
    centres: Reals
    scales: Reals
    slots: Codes
    starts: npt.NDArray[np.int64]

    @classmethod
    def learn(cls, given: Sequence[CodedColumn]) -> Design:
        """Return the design of these columns."""
        width, numbers, slots = 1, [], [np.empty(0, dtype=np.int32)]
        for cells in given:
            numbers.append(width if cells.numeric else -1)
            width += cells.numeric
            slots.append(_indicators(cells, width))
            width = max(width, int(slots[-1].max(initial=-1)) + 1)
        middles = np.array([standard(_present(cells)) for cells in given]).reshape(-1, 2)
        starts = np.cumsum([len(item) for item in slots], dtype=np.int64)
        places = np.array(numbers, dtype=np.int32)
        return cls(width, places, middles[:, 0].copy(), middles[:, 1].copy(), np.concatenate(slots), starts)

    def matrix(self, given: Sequence[CodedColumn], rows: int) -> Reals:
        """Return the matrix of `rows` rows; its first column is the intercept."""
        return self._fill_matrix(np.zeros((rows, self.width)), given)

    def single(self, given: Sequence[CodedColumn], rows: int) -> npt.NDArray[np.float32]:
        """Return the same in single precision, in half the memory."""
        return self._fill_matrix(np.zeros((rows, self.width), dtype=np.float32), given)

    def _fill_matrix(self, out: npt.NDArray[Real], given: Sequence[CodedColumn]) -> npt.NDArray[Real]:
        if len(given) != len(self.numbers):
            raise ParameterError(f"The model was fitted on {len(self.numbers)} columns: give these, not {len(given)}.")
        out[:, 0] = 1
        for place, cells in enumerate(given):
            self._fill(out, place, cells)
        return out

    def _fill(self, out: npt.NDArray[Real], place: int, cells: CodedColumn) -> None:
        if cells.values is not None:
            there = np.flatnonzero(np.isfinite(cells.values))
            with np.errstate(over="ignore"):  # far outside what was seen: cut off below
                steps = (cells.values[there] / 2 - self.centres[place] / 2) / (self.scales[place] / 2)
            out[there, self.numbers[place]] = np.clip(steps, -_FAR, _FAR)
        slots = self.slots[self.starts[place] : self.starts[place + 1]]
        chosen = slots[np.minimum(cells.codes, len(slots) - 1)]
        marked = np.flatnonzero(chosen >= 0)
        out[marked, chosen[marked]] = 1

    def state(self) -> dict[str, npt.NDArray[np.generic]]:
        """Return the design as arrays."""
        return {
            "design.width": np.array([self.width]),
            "design.numbers": self.numbers,
            "design.centres": self.centres,
            "design.scales": self.scales,
            "design.slots": self.slots,
            "design.starts": self.starts,
        }

    @classmethod
    def restored(cls, state: Arrays) -> Design:
        """Return what `state` described."""
        numbers, slots = (np.array(state[f"design.{name}"], dtype=np.int32) for name in ("numbers", "slots"))
        centres, scales = (np.array(state[f"design.{name}"], dtype=np.float64) for name in ("centres", "scales"))
        starts = np.array(state["design.starts"], dtype=np.int64)
        return cls(int(np.asarray(state["design.width"], dtype=np.int64)[0]), numbers, centres, scales, slots, starts)


def standard(values: Reals) -> tuple[float, float]:
    """Return the mean and the standard deviation of numbers, without overflow; (0, 1) of none, scale 1 of equal ones.

    Of equal numbers the mean is exactly theirs.
    """
    if not len(values):
        return 0.0, 1.0
    low = float(values.min())
    span = float(values.max() / 2 - low / 2)
    if span < _TINY:
        return low, 1.0
    steps = (values / 2 - low / 2) / span
    half = span * float(steps.std())
    return 2 * (low / 2 + span * float(steps.mean())), 2 * min(max(half, _TINY), _HUGE)


def _present(cells: CodedColumn) -> Reals:
    values = np.empty(0) if cells.values is None else cells.values
    return values[np.isfinite(values)]


def _indicators(cells: CodedColumn, first: int) -> Codes:
    """Return the matrix column of the indicator of each code, numbered from `first`; -1 for none."""
    counts = np.bincount(cells.codes, minlength=max(cells.size, 1))
    order = np.argsort(-counts, kind="stable")
    seen = order[: np.count_nonzero(counts)]
    wanted = seen[seen > 0] if cells.numeric else seen[1:]  # code 0 of numbers stands for no code at all
    shared = len(wanted) > MOST_INDICATORS
    slots = np.full(len(counts), first + MOST_INDICATORS - 1 if shared else -1, dtype=np.int32)
    slots[0 if cells.numeric else order[0]] = -1
    own = wanted[: MOST_INDICATORS - 1] if shared else wanted
    slots[own] = first + np.arange(len(own), dtype=np.int32)
    return slots

"""A column as the methods of synthesis see it, and what a method is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int32]
Reals = npt.NDArray[np.float64]
Arrays = Mapping[str, npt.NDArray[np.generic]]


@dataclass(frozen=True)
class Cells:
    """A column of categories, or of numbers with codes for what is missing.

    Parameters
    ----------
    codes
        Of categories: their numbers, from 0. Of numbers: 0 where there is one, from 1 on which code stands for it.
    size
        How many codes there may be; a column of numbers that always holds one has size 1.
    values
        The numbers, NaN where a code stands for one; None for categories.
    ordered
        Whether the order of the codes of categories means something.
    """

    codes: Codes
    size: int
    values: Reals | None = None
    ordered: bool = False

    @property
    def rows(self) -> int:
        """How many cells there are."""
        return len(self.codes)

    @property
    def numeric(self) -> bool:
        """Whether the cells hold numbers."""
        return self.values is not None

    def take(self, rows: npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> Cells:
        """Return the cells at these places, or where the mask is true."""
        values = None if self.values is None else self.values[rows]
        return Cells(self.codes[rows], self.size, values, self.ordered)


class Fitted(Protocol):
    """What a method learned of one column given others."""

    def posterior(self, draw: np.random.Generator) -> Fitted:
        """Draw the parameters of one copy, so that copies differ as much as the table leaves open.

        All batches of a copy are drawn from one such draw. A method that cannot returns itself.
        """
        ...

    def sample(self, given: Sequence[Cells], rows: int, draw: np.random.Generator) -> Codes | Reals:
        """Return one drawn cell for each of `rows` rows of `given`: codes (int32) of categories, or numbers."""
        ...

    def state(self) -> dict[str, npt.NDArray[np.generic]]:
        """Return all that was learned as arrays, to be stored; they hold values of the table."""
        ...


class Method(Protocol):
    """A way to learn one column given others and to draw it anew.

    A method is a frozen dataclass of its settings. The target has no codes for missing: it is a column of categories,
    or of numbers that are all there. Columns that are given may have them.
    """

    proper: ClassVar[bool]
    """Whether copies differ by the posterior of the parameters, on which the combining rules rest."""

    def fit(self, target: Cells, given: Sequence[Cells], draw: np.random.Generator) -> Fitted:
        """Learn the target given the other columns; with none given, its distribution alone."""
        ...

    def restored(self, state: Arrays) -> Fitted:
        """Return what `Fitted.state` described."""
        ...

"""What a method of synthesis is, and what it learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from ziggurat.data.coded import CodedColumn, Reals

Codes = npt.NDArray[np.int32]
Arrays = Mapping[str, npt.NDArray[np.generic]]


class Fitted(Protocol):
    """What a method learned of one column given others."""

    def posterior(self, draw: np.random.Generator) -> Fitted:
        """Draw the parameters of one copy, so that copies differ as much as the table leaves open.

        All batches of a copy are drawn from one such draw. A method that cannot returns itself.
        """
        ...

    def sample(self, given: Sequence[CodedColumn], rows: int, draw: np.random.Generator) -> Codes | Reals:
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

    def fit(self, target: CodedColumn, given: Sequence[CodedColumn], draw: np.random.Generator) -> Fitted:
        """Learn the target given the other columns; with none given, its distribution alone."""
        ...

    def restored(self, state: Arrays) -> Fitted:
        """Return what `Fitted.state` described."""
        ...

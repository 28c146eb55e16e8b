"""What a generalised table has lost: smaller is better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ziggurat.anonymize.generalizing import _kernels as kernels
from ziggurat.errors import ParameterError


@dataclass(frozen=True)
class Metric:
    """What is lost by generalising and suppressing, to be made as small as can be.

    Parameters
    ----------
    weights
        How much each column matters; columns that are not named count 1.
    """

    weights: Mapping[str, float] = field(default_factory=dict, hash=False)

    kind: ClassVar[int]
    name: ClassVar[str]

    def __post_init__(self) -> None:
        if any(not np.isfinite(weight) or weight < 0 for weight in self.weights.values()):
            raise ParameterError("The weights of a metric must be finite and not negative.")

    def shares(self, columns: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return the weights of these columns, adding up to one."""
        for name in self.weights:
            if name not in columns:
                raise ParameterError(f"The metric weighs {name!r}, which is not a quasi-identifier.")
        weights = np.array([float(self.weights.get(name, 1)) for name in columns])
        if weights.sum() <= 0:
            raise ParameterError("At least one quasi-identifier must have a weight above 0.")
        return np.asarray(weights / weights.sum())


@dataclass(frozen=True)
class Loss(Metric):
    """How much of each column's domain a cell spans: 0 is untouched, 1 is gone (geometric mean over columns)."""

    kind: ClassVar[int] = kernels.LOSS
    name: ClassVar[str] = "loss"


@dataclass(frozen=True)
class Entropy(Metric):
    """How many bits about the cells are lost, in all (non-uniform entropy)."""

    kind: ClassVar[int] = kernels.ENTROPY
    name: ClassVar[str] = "entropy"


@dataclass(frozen=True)
class Precision(Metric):
    """How high in their hierarchies the cells are: 0 is untouched, 1 is the top."""

    kind: ClassVar[int] = kernels.PRECISION
    name: ClassVar[str] = "precision"


@dataclass(frozen=True)
class Discernibility(Metric):
    """For every row, from how many it cannot be told apart; a suppressed one from all. Weights do not matter."""

    kind: ClassVar[int] = kernels.DISCERNIBILITY
    name: ClassVar[str] = "discernibility"


@dataclass(frozen=True)
class ClassSize(Metric):
    """The average number of rows in a class; what is suppressed is one. Weights do not matter."""

    kind: ClassVar[int] = kernels.CLASS_SIZE
    name: ClassVar[str] = "class-size"


METRICS: dict[str, type[Metric]] = {each.name: each for each in (Loss, Entropy, Precision, Discernibility, ClassSize)}
"""The metrics by the names that commands and files use."""

"""The lattice laid open: every generalisation with its loss and its risk, and the steward's own analysis."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ziggurat.anonymize.generalizing._metrics import Loss, Metric
from ziggurat.cards import Shown
from ziggurat.errors import ParameterError

if TYPE_CHECKING:
    from ziggurat.anonymize.generalizing._search import Lattice

MOST_NODES = 1_000_000


@dataclass(frozen=True)
class Analysis(Shown):
    """An analysis of the steward's own, as what is to be lost least of.

    It is tried on the generalisations that lose least by another metric, so that what is found is the best of those
    tried and no optimum.

    Parameters
    ----------
    score
        Given an anonymised table, how bad it is for the analysis: the error of a regression, the distance of an answer.
    name
        What to call it.
    guide
        The metric by which generalisations are tried.
    tries
        How many are tried.
    """

    score: Callable[[pa.Table], float]
    name: str = "analysis"
    guide: Metric = field(default_factory=Loss)
    tries: int = 20

    def __post_init__(self) -> None:
        if not callable(self.score):
            raise ParameterError("An analysis is a function of an anonymised table that returns a number.")
        if self.tries < 1:
            raise ParameterError("Try at least one generalisation.")


@dataclass(frozen=True)
class Solutions(Shown):
    """Every generalisation of a table.

    Attributes
    ----------
    columns
        The quasi-identifiers.
    levels
        [node, column]: the level of each.
    suppressed, classes, smallest
        Rows left out, classes kept, rows in the smallest of these.
    score
        What is lost, by the metric that was asked for.
    rows
        Rows of the table.
    limit
        At most so many rows may be left out.
    """

    columns: tuple[str, ...]
    levels: npt.NDArray[np.int64]
    suppressed: npt.NDArray[np.int64]
    classes: npt.NDArray[np.int64]
    smallest: npt.NDArray[np.int64]
    score: npt.NDArray[np.float64]
    rows: int
    limit: int

    @classmethod
    def of(cls, lattice: Lattice, columns: Sequence[str]) -> Solutions:
        """Look at every generalisation of a lattice."""
        if lattice.nodes > MOST_NODES:
            raise ParameterError(f"There are {lattice.nodes:,} generalisations, too many to look at all of them.")
        nodes = lattice.survey()
        levels = np.array(list(itertools.product(*(range(height) for height in lattice.heights))), np.int64)
        suppressed, classes, smallest = (nodes[:, at].astype(np.int64) for at in (0, 1, 3))
        return cls(
            tuple(columns), levels, suppressed, classes, smallest, nodes[:, 2], lattice.counted.rows, lattice.limit
        )

    @property
    def satisfied(self) -> npt.NDArray[np.bool]:
        """Which generalisations satisfy the models within the limit."""
        return self.suppressed <= self.limit

    @property
    def average_risk(self) -> npt.NDArray[np.float64]:
        """The chance to re-identify a published row, on average: classes over rows."""
        return np.asarray(self.classes / np.maximum(self.rows - self.suppressed, 1))

    @property
    def highest_risk(self) -> npt.NDArray[np.float64]:
        """The chance to re-identify a row of the smallest class; 0 if nothing is published."""
        return np.asarray(np.where(self.smallest > 0, 1 / np.maximum(self.smallest, 1), 0.0))

    def least(self, limit: int, many: int) -> list[tuple[int, ...]]:
        """Return the levels of the generalisations within a limit that lose least, best first."""
        allowed = np.flatnonzero(self.suppressed <= limit)
        chosen = allowed[np.argsort(self.score[allowed], kind="stable")][:many]
        return [tuple(int(level) for level in self.levels[node]) for node in chosen]

    def frontier(self) -> npt.NDArray[np.int64]:
        """Return the generalisations of which no other has both less loss and less average risk, best first.

        Among them are ones that do not satisfy the models, so that what these cost can be seen.
        """
        order = np.lexsort((self.average_risk, self.score))
        risk = np.minimum.accumulate(self.average_risk[order])
        before = np.concatenate([[np.inf], risk[:-1]])
        return np.asarray(order[self.average_risk[order] < before])

    def table(self) -> pa.Table:
        """Return all as a table: a row for each generalisation."""
        columns = {name: self.levels[:, place] for place, name in enumerate(self.columns)}
        facts = {
            "suppressed rows": self.suppressed,
            "classes": self.classes,
            "score": self.score,
            "average risk": self.average_risk,
            "highest risk": self.highest_risk,
            "satisfied": self.satisfied,
        }
        return pa.table({**columns, **facts})

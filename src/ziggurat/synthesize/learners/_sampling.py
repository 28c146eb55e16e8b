"""Values of the table that are drawn again: from a whole column, or within groups of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ziggurat.data.coded import CodedColumn, Reals
from ziggurat.errors import DataError
from ziggurat.synthesize._method import Arrays, Codes

Labels = npt.NDArray[np.int64]

_CHUNK = 8_192  # rows at once, so that a matrix of rows by classes stays small


@dataclass(frozen=True)
class Donors:
    """The distinct values of a column, in groups, each with a weight.

    Parameters
    ----------
    values
        The values, one group after another: codes (int32) or numbers (float64).
    weights
        How often each is to be drawn, within its group.
    starts
        Where each group begins, and after the last where it ends.
    """

    values: Codes | Reals
    weights: Reals
    starts: Labels

    @classmethod
    def of(cls, target: CodedColumn, labels: Labels) -> Donors:
        """Return the values of the target, grouped by labels from 0 without gaps, weighted by how often they occur."""
        cells = cells_of(target)
        distinct, places = np.unique(cells, return_inverse=True)
        pairs, counts = np.unique(labels * len(distinct) + places, return_counts=True)
        groups = pairs // len(distinct)
        starts = np.searchsorted(groups, np.arange(groups[-1] + 2))
        return cls(distinct[pairs % len(distinct)], counts.astype(np.float64), starts.astype(np.int64))

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return len(self.starts) - 1

    @property
    def shares(self) -> Reals:
        """The share of every group in the weight of all."""
        sums = np.add.reduceat(self.weights, self.starts[:-1])
        return np.asarray(sums / sums.sum(), dtype=np.float64)

    def posterior(self, draw: np.random.Generator) -> Donors:
        """Return the donors with weights drawn by the Bayesian bootstrap (Rubin 1981).

        Dirichlet weights over rows are gamma variates over distinct values, with the counts as shapes.
        """
        return replace(self, weights=draw.standard_gamma(self.weights))

    def sample(self, labels: Labels, draw: np.random.Generator) -> Codes | Reals:
        """Return one value of each group asked for."""
        ends = np.concatenate(([0.0], np.cumsum(self.weights)))
        first, last = self.starts[labels], self.starts[labels + 1]
        aims = ends[first] + draw.random(len(labels)) * (ends[last] - ends[first])
        places = np.searchsorted(ends, aims, side="right") - 1
        drawn: Codes | Reals = self.values[np.clip(places, first, last - 1)]
        return drawn

    def state(self) -> dict[str, npt.NDArray[np.generic]]:
        """Return the donors as arrays."""
        return {"donors.values": self.values, "donors.weights": self.weights, "donors.starts": self.starts}

    @classmethod
    def restored(cls, state: Arrays) -> Donors:
        """Return what `state` described."""
        stored = state["donors.values"]
        values: Codes | Reals = stored.astype(np.int32) if stored.dtype.kind == "i" else stored.astype(np.float64)
        weights = np.array(state["donors.weights"], dtype=np.float64)
        return cls(values, weights, np.array(state["donors.starts"], dtype=np.int64))


def cells_of(target: CodedColumn) -> Codes | Reals:
    """Return the numbers of a target, or its codes if it holds categories; refuse one without rows."""
    if not target.rows:
        raise DataError("A column without rows cannot be learned: give a table with at least one row.")
    return target.codes if target.values is None else target.values


def commonest(target: CodedColumn, most: int) -> Labels:
    """Label every row by its category, commonest first; from the `most`-th on, categories share one label."""
    counts = np.bincount(cells_of(target).astype(np.int64), minlength=target.size)
    ranks = np.empty(len(counts), dtype=np.int64)
    ranks[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return np.minimum(ranks.take(target.codes), most - 1)


def quantile_bins(target: CodedColumn, most: int) -> Labels:
    """Label every row by a bin of numbers, in order; about equally many rows share one, at most `most` bins exist.

    A number that alone fills two bins has one to itself, so that a pile (no income, say) never mixes with its
    neighbours: each such number cuts at most one bin of the others in two, and pays for both.
    """
    distinct, places, counts = np.unique(cells_of(target), return_inverse=True, return_counts=True)
    if len(distinct) <= most:
        return places.astype(np.int64)
    pile = counts * most >= 2 * target.rows
    light = np.where(pile, 0, counts)
    bins = max(1, most - 2 * int(pile.sum()))
    label = (np.cumsum(light) - light) * bins // max(1, int(light.sum()))
    begins = (np.diff(label) > 0) | pile[1:] | pile[:-1]
    return np.concatenate(([0], np.cumsum(begins))).astype(np.int64)[places]


def chunks(rows: int) -> Iterator[slice]:
    """Cut rows into slices that are handled one at a time."""
    for start in range(0, rows, _CHUNK):
        yield slice(start, min(start + _CHUNK, rows))


def shares_of(scores: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    """Return the softmax of scores along the last axis; it neither overflows nor warns."""
    shifted = np.exp(np.maximum(scores - scores.max(axis=-1, keepdims=True), -80))
    return np.asarray(shifted / shifted.sum(axis=-1, keepdims=True))


def draw_labels(shares: npt.NDArray[np.floating], uniform: Reals) -> Labels:
    """Return one label per row, drawn with these shares by inversion of uniform variates."""
    ends = np.cumsum(shares, axis=1, dtype=np.float64)
    below = np.count_nonzero(ends <= uniform[:, None] * ends[:, -1:], axis=1)
    return np.asarray(np.minimum(below, shares.shape[1] - 1), dtype=np.int64)


def level_scores(scores: npt.NDArray[np.floating], aims: Reals, weights: Reals | float = 1.0) -> Reals:
    """Return what to add to the scores of each class so that over the (weighted) rows its shares sum to its aim."""
    shift = np.zeros(len(aims))
    for _ in range(50):
        sums = (shares_of(scores + shift) * np.reshape(weights, (-1, 1))).sum(axis=0)
        step = np.log(aims / np.maximum(sums, np.finfo(np.float64).tiny))
        shift += step
        if np.abs(step).max() < 1e-3:
            break
    return shift


@dataclass(frozen=True)
class Sampled:
    """The distribution of a column alone."""

    donors: Donors

    def posterior(self, draw: np.random.Generator) -> Sampled:
        """Draw the shares of the values by the Bayesian bootstrap."""
        return Sampled(self.donors.posterior(draw))

    def sample(self, given: Sequence[CodedColumn], rows: int, draw: np.random.Generator) -> Codes | Reals:  # noqa: ARG002
        """Return values of the column, whatever is given."""
        return self.donors.sample(np.zeros(rows, dtype=np.int64), draw)

    def state(self) -> dict[str, npt.NDArray[np.generic]]:
        """Return the values and their weights."""
        return self.donors.state()


@dataclass(frozen=True)
class Sample:
    """Draws the column's own values, and ignores every other column.

    Copies differ by the Bayesian bootstrap. What is drawn is independent of all that is given: right for the first
    column of a table, and for columns that belong to nothing else.
    """

    proper: ClassVar[bool] = True

    def fit(self, target: CodedColumn, given: Sequence[CodedColumn], draw: np.random.Generator) -> Sampled:  # noqa: ARG002
        """Learn the distribution of the target."""
        return Sampled(Donors.of(target, np.zeros(target.rows, dtype=np.int64)))

    def restored(self, state: Arrays) -> Sampled:
        """Return what `Sampled.state` described."""
        return Sampled(Donors.restored(state))

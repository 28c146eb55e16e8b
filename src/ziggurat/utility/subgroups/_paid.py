"""Errors by group of private rows, for a price: noisy counts of right and wrong answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ziggurat.cards import Shown
from ziggurat.errors import DataError, ParameterError
from ziggurat.mechanisms import Laplace
from ziggurat.privacy import Amount, Event, Guarantee, Neighbours, Relation, compose
from ziggurat.randomness import Source, secure

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CountedErrors(Shown):
    """Noisy counts of what a model named rightly and wrongly in each group; they may leave once they were paid for.

    Attributes
    ----------
    groups
        The public list of groups.
    wrong, right
        The noisy counts.
    reach
        With 95 % no count of any group is off by more than this.
    event
        What was done, for the ledger.
    origin
        "secure", or "seeded" for a rehearsal, which must never be published.
    """

    groups: tuple[str, ...]
    wrong: Counts
    right: Counts
    reach: int
    event: Event
    origin: str

    @property
    def guarantee(self) -> Guarantee:
        """The promise, for the unit and relation that it names."""
        return compose(self.event).pure()

    @property
    def table(self) -> pa.Table:
        """A row for each group: noisy counts, the share of errors, and the ends between which the table's share lies.

        With 95 % the ends of all groups hold together; they speak of the table, and not of people beyond it. There is
        no share where noise leaves no row.
        """
        least = [np.maximum(each - self.reach, 0) for each in (self.wrong, self.right)]
        most = [np.maximum(each + self.reach, 0) for each in (self.wrong, self.right)]
        cut = [np.maximum(each, 0) for each in (self.wrong, self.right)]
        return pa.table(
            {
                "group": list(self.groups),
                "wrong": self.wrong,
                "right": self.right,
                "share of errors": _divide(cut[0], cut[1]),
                "from": [each or 0.0 for each in _divide(least[0], most[1])],
                "to": [1.0 if each is None else each for each in _divide(most[0], least[1])],
            }
        )


def count_errors_privately(
    truth: npt.ArrayLike,
    groups: Sequence[Any] | npt.NDArray[Any],
    answers: npt.ArrayLike,
    names: Sequence[str],
    *,
    epsilon: Amount,
    relation: Relation | str = Relation.ADD_OR_REMOVE_ONE,
    source: Source | None = None,
) -> CountedErrors:
    """Count with noise what a model named rightly and wrongly in each group.

    Formal guarantee: epsilon-DP for the unit of a row. Proof. Each row adds 1 to one of 2 k cells (its group, right or
    wrong; none if its group is not in the public list), whatever the other rows are, because the model was fixed
    before. One row more or less moves one cell by 1: sensitivity 1 in l1. A row that takes another's place moves two
    cells by 1, or none: sensitivity 2. Discrete Laplace noise of scale sensitivity / epsilon in every cell then gives
    epsilon (Ghosh, Roughgarden, Sundararajan 2012), and shares and intervals are post-processing. QED. What the model
    itself cost is not paid for here: if it learned from private rows without a promise, its answers have none.

    Parameters
    ----------
    truth, groups, answers
        Of each row the true label, the group, and what the model named.
    names
        The groups, a public list that is not read off the rows; rows of any other group are not counted.
    epsilon
        What the counts may cost.
    relation
        "add-or-remove-one" or "replace-one": who is a neighbour.
    source
        Of the noise; secure by default.
    """
    listed = tuple(names)
    if not listed or len(set(listed)) != len(listed):
        raise ParameterError("Give the public list of groups, each once; it must not be read off private rows.")
    labels, said, whose = np.asarray(truth), np.asarray(answers), np.array([str(each) for each in groups])
    if labels.ndim != 1 or any(each.shape != labels.shape for each in (said, whose)):
        raise DataError("Give a label, a group and an answer for each of the rows.")
    noise, words = make_error_noise(epsilon, Relation(relation)), secure() if source is None else source
    noisy = np.asarray(noise.release(count_cells(labels == said, whose, listed), words).value, dtype=np.int64)
    reach = math.ceil(noise.half_width("0.95", answers=noisy.size))
    return CountedErrors(listed, noisy[0], noisy[1], reach, noise.event, words.origin)


def make_error_noise(epsilon: Amount, relation: Relation) -> Laplace:
    """Return the noise for counts of which a row changes one by 1, or two if it takes another's place."""
    moved = 2 if relation is Relation.REPLACE_ONE else 1
    neighbours = Neighbours(relation=relation)
    return Laplace.calibrated(epsilon, moved, values="integers", coordinates=moved, neighbours=neighbours)


def count_cells(right: npt.NDArray[np.bool_], whose: npt.NDArray[Any], names: Sequence[str]) -> Counts:
    """Count the wrong ones (first row) and the right ones of each group."""
    return np.array([[int(((whose == name) & (right == side)).sum()) for name in names] for side in (False, True)])


def _divide(wrong: Counts, right: Counts) -> list[float | None]:
    pairs = zip(wrong.tolist(), right.tolist(), strict=True)
    return [None if not one + two else one / (one + two) for one, two in pairs]

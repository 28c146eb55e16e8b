"""The votes of the teachers, and what is public about them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ziggurat.cards import Shown
from ziggurat.data import Unit
from ziggurat.errors import DataError, MixedNeighboursError, ParameterError
from ziggurat.mechanisms import require_one_of
from ziggurat.privacy import Neighbours, Relation, whole_number

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

RESOLUTION = 1024
"""Parts into which a soft vote is cut, unless another power of two is asked for."""

FINEST_PARTS = 1 << 16
"""The most parts into which a vote may be cut."""

_MOST_TEACHERS = 1 << 20
# Networks give probabilities in single precision, and their sums are off by the rounding of as many terms.
_SUM_TOLERANCE = 1e-3


@dataclass(frozen=True)
class Ballot(Shown):
    """What is public about votes, and what a neighbouring table may change in them.

    Where the teacher of each unit depends on nobody else (a keyed hash of its name, or a draw of its own), adding or
    removing a unit changes the rows of one teacher and so, on every query, moves its vote from one class to another
    (add-or-remove-one). A teacher that is left without rows votes for a public class, so that a vote is moved here too
    and none is ever missing: counts move by at most (-1, +1). Were it to abstain, one count would move by 1 alone; but
    a teacher with other rows never abstains, so one moved vote would still be the worst case, and the price the same.
    In a balanced split one unit takes the place of another, and moves one vote under replace-one; under
    add-or-remove-one everybody may move (`under`). A unit that owns several teachers moves as many votes.

    Parameters
    ----------
    classes
        How many classes may be voted for, at least 2.
    unit
        Whose data are added, removed or replaced: by default a row, which lies with one teacher.
    moved
        How many teachers one unit may change; more than 1 for an organisation that owns several.
    whole_votes
        Whether a teacher gives its vote to one class, as opposed to spreading it over several.
    relation
        Under which relation one unit changes so many teachers: that of their `Partition`.
    """

    classes: int
    unit: Unit = Unit()
    moved: int = 1
    whole_votes: bool = True
    relation: Relation = Relation.ADD_OR_REMOVE_ONE

    def __post_init__(self) -> None:
        whole_number(self.classes, "classes", 2)
        whole_number(self.moved, "moved")
        object.__setattr__(self, "relation", self.neighbours.relation)

    @property
    def neighbours(self) -> Neighbours:
        """Whom a promise about these votes protects."""
        return Neighbours(self.unit, self.relation)

    def under(self, relation: Relation) -> Ballot:
        """Give the same votes as seen under the relation that a budget protects, or refuse.

        From add-or-remove-one to replace-one: a unit that takes another's place is one removed and one added, with
        names, and so teachers, of their own; as many votes move for each of the two. The other way nothing follows.
        """
        if relation is self.relation:
            return self
        if self.relation is Relation.REPLACE_ONE:
            raise MixedNeighboursError(
                "These teachers were dealt out evenly (a balanced split): with one person more or less everybody may "
                "have another teacher, so that nothing is promised under add-or-remove-one."
            )
        return replace(self, relation=relation, moved=2 * self.moved)

    def owned_by(self, unit: Unit, teachers: int) -> Ballot:
        """Give the same votes as seen by a unit that owns `teachers` teachers, under the same relation."""
        return replace(self, unit=unit, moved=whole_number(teachers, "teachers"))


class Votes:
    """How many votes each class got on each query.

    Promise: every row sums to the number of teachers, and one teacher moves at most one vote: one count goes down by
    at most 1 vote and others go up by as much together, so the counts move by at most 2 in l1, sqrt(2) in l2, and the
    largest count by at most 1. Counts are whole numbers of parts of a vote: `parts` is 1 where a teacher votes for one
    class, and the resolution of soft votes otherwise.

    Parameters
    ----------
    counts
        Queries x classes, whole numbers of parts that sum to `teachers * parts` in every row.
    parts
        Parts of one vote, a power of two.
    unit
        Whose data lie with one teacher alone; a promise about the labels protects this unit.
    relation
        Under which relation one unit changes one teacher: that of their `Partition`.
    """

    def __init__(
        self,
        counts: npt.ArrayLike,
        *,
        parts: int = 1,
        unit: Unit | None = None,
        relation: Relation = Relation.ADD_OR_REMOVE_ONE,
    ) -> None:
        self.parts = _check_parts(parts, "parts")
        self.counts = _check_counts(counts)
        self.counts.setflags(write=False)
        self.teachers = _teachers(self.counts, self.parts)
        about = Neighbours(Unit() if unit is None else unit, relation)
        self.unit, self.relation = about.unit, about.relation

    @classmethod
    def from_labels(
        cls,
        labels: npt.ArrayLike,
        classes: int,
        *,
        unit: Unit | None = None,
        relation: Relation = Relation.ADD_OR_REMOVE_ONE,
    ) -> Votes:
        """Count labels, a matrix teachers x queries of class numbers 0, 1, ..., classes-1."""
        matrix, known = _array(labels), whole_number(classes, "classes", 2)
        if matrix.ndim != 2 or matrix.dtype.kind not in "iub":
            raise DataError("Labels must be a matrix of whole class numbers, one row for each teacher.")
        if matrix.size and (matrix.min() < 0 or matrix.max() >= known):
            raise DataError("A teacher voted for a class out of range; classes are numbered from 0 to classes-1.")
        counts = [np.bincount(votes, minlength=known) for votes in matrix.T.astype(np.int64)]
        return cls(np.array(counts, dtype=np.int64).reshape(-1, known), unit=unit, relation=relation)

    @classmethod
    def from_probabilities(
        cls,
        probabilities: npt.ArrayLike,
        how: Literal["argmax", "rounded"] = "argmax",
        *,
        resolution: int = RESOLUTION,
        unit: Unit | None = None,
        relation: Relation = Relation.ADD_OR_REMOVE_ONE,
    ) -> Votes:
        """Count class probabilities, teachers x queries x classes.

        `argmax` gives each vote to the likeliest class (the first of equals). `rounded` keeps it soft: a teacher's
        probabilities are rounded to whole parts of a vote that sum to exactly one vote, so that one teacher moves no
        count by more than one vote and all counts together by at most two, however its probabilities change.
        """
        require_one_of(how, ("argmax", "rounded"), "how")
        cube = _check_probabilities(probabilities)
        if how == "argmax":
            return cls.from_labels(np.argmax(cube, axis=2), cube.shape[2], unit=unit, relation=relation)
        parts = _check_parts(resolution, "resolution")
        counts = sum((_round(teacher, parts) for teacher in cube), np.zeros(cube.shape[1:], dtype=np.int64))
        return cls(counts, parts=parts, unit=unit, relation=relation)

    @property
    def ballot(self) -> Ballot:
        """What is public about these votes, for one unit that lies with one teacher."""
        return Ballot(self.classes, self.unit, whole_votes=self.parts == 1, relation=self.relation)

    @property
    def classes(self) -> int:
        """How many classes may be voted for."""
        return int(self.counts.shape[1])

    @property
    def shares(self) -> Floats:
        """The counts in votes."""
        return self.counts / self.parts

    def take(self, queries: npt.ArrayLike) -> Votes:
        """Give the votes on some of the queries, by a mask or by numbers."""
        return Votes(self.counts[np.asarray(queries)], parts=self.parts, unit=self.unit, relation=self.relation)

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    def __repr__(self) -> str:
        return f"Votes({len(self)} queries, {self.classes} classes, {self.teachers} teachers)"


def _check_parts(given: int, name: str) -> int:
    parts = whole_number(given, name)
    if parts > FINEST_PARTS or parts & (parts - 1):
        raise ParameterError(f"{name} must be a power of two of at most {FINEST_PARTS}.")
    return parts


def _array(given: Any) -> npt.NDArray[Any]:
    try:
        return np.asarray(given)
    except (ValueError, TypeError, OverflowError):
        raise DataError("Votes must be given as an array of numbers, all rows of the same length.") from None


def _check_counts(given: npt.ArrayLike) -> Integers:
    counts = _array(given)
    if counts.ndim != 2 or counts.dtype.kind not in "iu":
        raise DataError("Vote counts must be a matrix of whole numbers, one row for each query.")
    if counts.shape[0] == 0 or counts.shape[1] < 2:
        raise DataError("Votes need at least one query and at least two classes.")
    if counts.min() < 0 or counts.max() > _MOST_TEACHERS * FINEST_PARTS:
        raise DataError("A vote count is negative or beyond what a million teachers can give.")
    return counts.astype(np.int64)


def _teachers(counts: Integers, parts: int) -> int:
    sums = counts.sum(axis=1)
    if sums.min() != sums.max() or sums[0] % parts:
        raise DataError("Every teacher votes on every query: the counts of each query must sum to the same number.")
    teachers = int(sums[0]) // parts
    if not 2 <= teachers <= _MOST_TEACHERS:
        raise DataError("Votes need from two to a million teachers; the vote of a single one cannot hide.")
    return teachers


def _check_probabilities(given: npt.ArrayLike) -> Floats:
    cube = _array(given)
    if cube.ndim != 3 or cube.dtype.kind not in "fiu" or 0 in cube.shape or cube.shape[2] < 2:
        raise DataError("Probabilities must be an array teachers x queries x classes, with at least two classes.")
    cube = cube.astype(np.float64)
    if not bool(np.all(np.isfinite(cube))):
        raise DataError("A teacher's probability is missing or infinite; check its features and its training.")
    if cube.min() < 0 or float(np.abs(cube.sum(axis=2) - 1).max()) > _SUM_TOLERANCE:
        raise DataError("A teacher's probabilities must be at least 0 and sum to 1 on every query.")
    return np.asarray(cube / cube.sum(axis=2, keepdims=True))


def _round(probabilities: Floats, parts: int) -> Integers:
    """Round the rows to whole parts that sum to one vote; what rounding down left goes to the largest remainders."""
    scaled = probabilities * parts
    down = np.floor(scaled).astype(np.int64)
    missing = parts - down.sum(axis=1, keepdims=True)
    rank = np.argsort(np.argsort(down - scaled, axis=1, kind="stable"), axis=1, kind="stable")
    return np.asarray(down + (rank < missing))

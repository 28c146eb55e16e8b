"""What was found in a fitted object: where it holds rows of people, and how many; never a value."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from ziggurat.findings import Finding
from ziggurat.wording import count_noun

_NAMED = 3


@dataclass(frozen=True)
class HeldPart:
    """A part of a fitted object that holds rows of people, or single values of theirs.

    Attributes
    ----------
    path
        Where it is, such as `steps[1].estimators_[3].tree_`.
    kind
        What it is, in words.
    rows
        How many rows, leaves or values of people it holds.
    people
        How many at least of the people whose rows were given are in it; None if it was known by its kind alone.
    """

    path: str
    kind: str
    rows: int
    people: int | None = None


@dataclass(frozen=True)
class HeldRows(Finding):
    """What in a fitted object holds rows of people.

    Attributes
    ----------
    model
        What was looked through.
    parts
        Where it holds rows; at most as many as `MOST_PARTS` are listed.
    objects
        How many objects were looked at.
    complete
        Whether everything was looked at; if not, an object is too deep, too large or cannot be opened.
    compared
        With how many rows that were given; None if none were, and only kinds that are known to hold rows are found.
    """

    model: str
    parts: tuple[HeldPart, ...]
    objects: int
    complete: bool
    compared: int | None

    @property
    def holds(self) -> bool:
        """Whether it holds rows of people."""
        return bool(self.parts)

    @property
    def verdict(self) -> bool | None:
        """Whether it holds rows; None if none were found, but not everything was looked at."""
        return True if self.parts else None if not self.complete else False

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        if not self.parts:
            text = f"In {count_noun(self.objects, 'object')} of {self.model} no row of a person was found"
            if not self.complete:
                needed = "it leaves only with a written waiver, as if it held some"
                return f"{text}, but not all of it could be looked at: {needed}."
            if self.compared is None:
                return f"{text} by what kind they are; rows were not given to compare with."
            return f"{text}, compared with {count_noun(self.compared, 'row')}."
        kinds = list(dict.fromkeys(each.kind for each in self.parts))
        shown = ", ".join(kinds[:_NAMED]) + (" and more" if len(kinds) > _NAMED else "")
        first = self.parts[0].path or "the object itself"
        return (
            f"{self.model} holds rows of people in {count_noun(len(self.parts), 'part')} ({shown}; first in {first}): "
            "it leaves only with a written waiver, as unbounded."
        )

    @property
    def table(self) -> pa.Table:
        """A row for each part."""
        return pa.table(
            {
                "part": [each.path for each in self.parts],
                "kind": [each.kind for each in self.parts],
                "rows": pa.array([each.rows for each in self.parts], pa.int64()),
                "people": pa.array([each.people for each in self.parts], pa.int64()),
            }
        )

"""Who trains whom: a disjoint split of a table's rows over teachers, with a manifest that proves it."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.data import Unit
from ziggurat.errors import ArtefactError, DataError, ParameterError, ZigguratError
from ziggurat.pate import _manifest
from ziggurat.pate._checkpoints import write_bytes
from ziggurat.privacy import Neighbours, Relation
from ziggurat.randomness import Source, secure, shuffle, uniform_below

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Partition:
    """A split of rows over teachers in which all rows of one unit go to one teacher; make one with its class methods.

    Formal guarantee: two tables that differ in one unit differ in the rows of one teacher only, so that one vote
    moves. For a balanced split "differ" means that one unit is replaced by another (the number of units is public):
    the teacher of a unit is drawn without a look at any row, its size included. To hide whether a unit is there at
    all (add-or-remove-one), draw the teacher of each unit on its own with `balanced=False`; sizes then vary, and a
    teacher may get no rows: it then always votes for the first class, because refusing would show how many units
    there are.

    Attributes
    ----------
    rows
        For every teacher, the numbers of its rows, ascending.
    total
        How many rows the table has; some may belong to no teacher if the split was given.
    unit
        What the split keeps together.
    relation
        The neighbour relation under which one unit moves one teacher.
    origin
        "secure", or "seeded" if the draw can be repeated: then a unit's place is no secret, the argument above fails,
        and whatever is made with the split is a rehearsal.
    """

    rows: tuple[Integers, ...]
    total: int
    unit: Unit = Unit()
    relation: Relation = Relation.REPLACE_ONE
    salts: tuple[str, ...] = field(default=(), repr=False)
    units: npt.NDArray[Any] | None = field(default=None, repr=False)
    origin: str = "secure"

    @classmethod
    def by_record(cls, rows: int, teachers: int, *, balanced: bool = True, source: Source | None = None) -> Partition:
        """Split a table in which every row is somebody else.

        Parameters
        ----------
        rows
            How many rows the table has.
        teachers
            Over how many teachers; at least 2.
        balanced
            Whether the numbers of rows differ by one at most, or each row draws its teacher on its own.
        source
            Where the draw comes from; the secure source unless told.

        Raises
        ------
        ParameterError
            If there are fewer than two teachers, or, in a balanced split, fewer rows than teachers.
        """
        if isinstance(rows, bool) or not isinstance(rows, int | np.integer) or rows < 1:
            raise ParameterError("The number of rows must be a positive whole number.")
        drawn = secure() if source is None else source
        owner = _owners(int(rows), teachers, balanced, "rows", drawn)
        salts = _salts(teachers, drawn)
        return cls(_listed(owner, teachers), int(rows), Unit(), _relation(balanced), salts, origin=drawn.origin)

    @classmethod
    def by_unit(
        cls,
        units: Sequence[Any] | npt.NDArray[Any],
        teachers: int,
        *,
        unit: Unit,
        balanced: bool = True,
        source: Source | None = None,
    ) -> Partition:
        """Split a table so that all rows of a person, or of an organisation, go to one teacher.

        Numbers of units are balanced, never numbers of rows: how many rows a unit has is private.

        Parameters
        ----------
        units
            The unit of every row, as numbers or text.
        teachers, balanced, source
            As for `by_record`.
        unit
            Which unit that is, such as `Unit.person("patient")`.

        Raises
        ------
        ParameterError
            If there are fewer than two teachers, or, in a balanced split, fewer units than teachers.
        DataError
            If some row has no unit.
        """
        names = _manifest.checked_units(units)
        if not isinstance(unit, Unit) or unit.is_row:
            raise ParameterError("Say which unit keeps rows together, such as Unit.person('patient').")
        drawn = secure() if source is None else source
        distinct, code = np.unique(names, return_inverse=True)
        owner = _owners(distinct.size, teachers, balanced, f"units ({unit.name})", drawn)[code.ravel()]
        salts = _salts(teachers, drawn)
        return cls(_listed(owner, teachers), names.size, unit, _relation(balanced), salts, names, drawn.origin)

    @classmethod
    def given(
        cls,
        rows: Sequence[Sequence[int] | Integers],
        total: int,
        *,
        units: Sequence[Any] | npt.NDArray[Any] | None = None,
        unit: Unit | None = None,
        relation: Relation = Relation.REPLACE_ONE,
        source: Source | None = None,
    ) -> Partition:
        """Take a split that exists already, such as hospitals that are teachers, and refuse one that is not disjoint.

        Parameters
        ----------
        rows
            For every teacher, the numbers of its rows.
        total
            How many rows the table has; rows that no teacher has are left out.
        units, unit
            The unit of every row, and which unit that is; rows if neither is given.
        relation
            Replace-one, or add-or-remove-one if you know that no unit's teacher depends on who else is there.
        source
            Where the salts of the manifest come from; the secure source unless told.

        Raises
        ------
        DataError
            If teachers share a row or a unit, a teacher has no rows, or a row number does not exist.
        """
        _require_teachers(len(rows))
        owner = _owner_of_given(rows, total)
        names = None if units is None else _manifest.checked_units(units)
        if (names is None) != (unit is None or unit.is_row):
            raise ParameterError("Give `units` and `unit` together, or neither of them.")
        if names is not None:
            _require_whole_units(names, owner)
        drawn = secure() if source is None else source
        salts = _salts(len(rows), drawn)
        return cls(
            _listed(owner, len(rows)), int(total), unit or Unit(), Relation(relation), salts, names, drawn.origin
        )

    @property
    def teachers(self) -> int:
        """How many teachers there are."""
        return len(self.rows)

    @property
    def neighbours(self) -> Neighbours:
        """The unit and the relation under which one unit moves one teacher and so one vote."""
        return Neighbours(self.unit, self.relation)

    @cached_property
    def assignment(self) -> Integers:
        """The teacher of every row, and -1 for rows that no teacher has."""
        owner = np.full(self.total, -1, dtype=np.int64)
        for teacher, own in enumerate(self.rows):
            owner[own] = teacher
        return owner

    def spread(self, units: Sequence[Any] | npt.NDArray[Any]) -> int:
        """Return over how many teachers the rows of one unit are spread at most.

        A promise about one vote is a promise about a group of that many votes for such a unit (group privacy).
        """
        names = _manifest.checked_units(units)
        if names.size != self.total:
            raise DataError(f"The split is of {self.total} rows; give the unit of each of them.")
        _, code = np.unique(names, return_inverse=True)
        used = self.assignment >= 0
        pairs = np.unique(np.stack([code.ravel()[used], self.assignment[used]]), axis=1)
        return int(np.bincount(pairs[0]).max())

    def manifest(self) -> dict[str, Any]:
        """Return the proof of the split as JSON: a salted SHA-256 digest of the units and rows of every teacher.

        Whoever holds the split can check it with `verify`; the digests show nobody else which rows a teacher has.
        The numbers of rows in it are facts of the table, so the manifest stays with the curator.
        """
        digests = [_manifest.digest(own, self.units, salt) for own, salt in zip(self.rows, self.salts, strict=True)]
        body = {
            "format": _manifest.FORMAT,
            "neighbours": self.neighbours.to_dict(),
            "total": self.total,
            "teachers": [
                {"rows": int(own.size), "salt": salt, "digest": digest}
                for own, salt, digest in zip(self.rows, self.salts, digests, strict=True)
            ],
        }
        return {**body, "digest": _manifest.digest_of_body(body)}

    def save(self, path: str | Path) -> None:
        """Write the split to one .npz file for this user's eyes only: it says who is where."""
        facts = {"neighbours": self.neighbours.to_dict(), "salts": self.salts, "origin": self.origin}
        arrays = {"assignment": self.assignment, "facts": np.array(json.dumps(facts))}
        if self.units is not None:
            arrays["units"] = self.units
        content = io.BytesIO()
        np.savez_compressed(content, **arrays)  # type: ignore[arg-type]
        write_bytes(Path(path), content.getvalue())

    @classmethod
    def load(cls, path: str | Path) -> Partition:
        """Read what `save` wrote; ArtefactError if it is missing or damaged."""
        try:
            with np.load(path, allow_pickle=False) as held:
                facts = json.loads(str(held["facts"]))
                owner, units = held["assignment"], held.get("units")
            about = Neighbours.from_dict(facts["neighbours"])
            rows, origin = _listed(owner, len(facts["salts"])), str(facts["origin"])
        except (OSError, EOFError, ValueError, KeyError, TypeError, zipfile.BadZipFile, ZigguratError):
            raise ArtefactError(f"There is no readable partition in {str(path)!r}.") from None
        return cls(rows, owner.size, about.unit, about.relation, tuple(facts["salts"]), units, origin)

    def verify(self, manifest: Mapping[str, Any]) -> None:
        """Raise DataError unless the manifest was made of exactly this split and was not edited since."""
        _manifest.verify(manifest, self.rows, self.units, self.total, self.neighbours.to_dict())


def _require_teachers(teachers: int) -> None:
    if isinstance(teachers, bool) or not isinstance(teachers, int | np.integer) or teachers < 2:
        raise ParameterError("An ensemble needs at least two teachers: the vote of one alone hides nobody.")


def _relation(balanced: bool) -> Relation:
    return Relation.REPLACE_ONE if balanced else Relation.ADD_OR_REMOVE_ONE


def _owners(units: int, teachers: int, balanced: bool, noun: str, source: Source) -> Integers:
    """Draw the teacher of every unit from its number alone.

    Replace-one: a uniformly random balanced split has the same law whatever the units are called, so the newcomer can
    be given its predecessor's teacher. Add-or-remove-one: independent draws lose nothing when one of them is dropped.
    """
    _require_teachers(teachers)
    if not balanced:
        return uniform_below(teachers, size=units, source=source)
    if units < teachers:
        raise ParameterError(f"There are fewer {noun} than teachers; use at most {units} teachers.")
    owner = np.empty(units, dtype=np.int64)
    owner[shuffle(units, source=source)] = np.arange(units) % teachers
    return owner


def _listed(owner: Integers, teachers: int) -> tuple[Integers, ...]:
    order = np.argsort(owner, kind="stable")
    ends = np.cumsum(np.bincount(owner + 1, minlength=teachers + 1))
    return tuple(order[start:end] for start, end in pairwise(ends))


def _owner_of_given(rows: Sequence[Sequence[int] | Integers], total: int) -> Integers:
    if isinstance(total, bool) or not isinstance(total, int | np.integer) or total < 1:
        raise ParameterError("The number of rows of the table must be a positive whole number.")
    owner = np.full(total, -1, dtype=np.int64)
    for teacher, numbers in enumerate(rows):
        own = np.asarray(numbers)
        if own.ndim != 1 or own.dtype.kind not in "iu" or own.size == 0:
            raise DataError(f"Teacher {teacher} needs a list of row numbers with at least one in it.")
        if own.min() < 0 or own.max() >= total:
            raise DataError(f"Teacher {teacher} has a row number outside 0 to {total - 1}.")
        if np.unique(own).size < own.size or (owner[own] >= 0).any():
            raise DataError(f"Teacher {teacher} has a row twice, or shares one with another teacher; rows go to one.")
        owner[own] = teacher
    return owner


def _require_whole_units(names: npt.NDArray[Any], owner: Integers) -> None:
    if names.size != owner.size:
        raise DataError("Give the unit of every row of the table, once each.")
    used = owner >= 0
    distinct, code = np.unique(names[used], return_inverse=True)
    pairs = np.unique(np.stack([code.ravel(), owner[used]]), axis=1)
    if pairs.shape[1] > distinct.size:
        raise DataError("The rows of one unit go to several teachers; give all of them to one.")


def _salts(teachers: int, source: Source) -> tuple[str, ...]:
    words = source.words(2 * teachers).reshape(teachers, 2)
    return tuple(f"{int(high):016x}{int(low):016x}" for high, low in words)

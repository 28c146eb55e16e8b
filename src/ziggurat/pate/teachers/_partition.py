"""Who trains whom: a disjoint split of a table's rows over teachers, with a manifest that proves it."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.cards import Shown
from ziggurat.data import Unit
from ziggurat.errors import ArtefactError, DataError, ParameterError, ZigguratError
from ziggurat.pate.teachers import _dealing, _manifest
from ziggurat.pate.teachers._dealing import Integers
from ziggurat.pate.training import write_bytes
from ziggurat.privacy import Neighbours, Relation
from ziggurat.randomness import Source, secure


@dataclass(frozen=True, eq=False)
class Partition(Shown):
    """A split of rows over teachers in which all rows of one unit go to one teacher; make one with its class methods.

    Formal guarantee: two tables that differ in one unit differ in the rows of one teacher only, so that one vote
    moves. By default "differ" means that one of the two has everything of a unit more (add-or-remove-one). Proof: the
    teacher of a unit is a function of its name and a key (`by_unit`), or a draw of its own (`by_record`); with the key,
    or the draws of all others, held fixed, whoever else is there changes nothing, and the unit's rows come to one
    teacher or leave it. This holds for every key: it is secret so that nobody knows who sits with whom. Sizes vary,
    and a teacher may get no rows: it then always votes for the first class, because refusing would show that nobody is
    there. (Its vote is moved, -1 and +1; an abstention would take one vote away, which is less, but as soon as a
    teacher has other rows a person moves its vote, so nothing is gained.)

    To replace a unit by another with a name of its own is to remove one and to add one: two votes may move
    (`Ballot.under`). In a *balanced* split one vote moves then, because the newcomer can be given its predecessor's
    place, but nothing is promised about adding or removing: with one unit more everybody may move.

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
        "secure", or "seeded" if the draw can be repeated: then a unit's place is no secret, and whatever is made with
        the split is a rehearsal.
    key
        The secret by which names were hashed; empty if they were not. It stays with the split and is in no manifest.
    """

    rows: tuple[Integers, ...]
    total: int
    unit: Unit = Unit()
    relation: Relation = Relation.ADD_OR_REMOVE_ONE
    salts: tuple[str, ...] = field(default=(), repr=False)
    units: npt.NDArray[Any] | None = field(default=None, repr=False)
    origin: str = "secure"
    key: bytes = field(default=b"", repr=False)

    @classmethod
    def by_record(cls, rows: int, teachers: int, *, balanced: bool = False, source: Source | None = None) -> Partition:
        """Split a table in which every row is somebody else.

        Parameters
        ----------
        rows
            How many rows the table has.
        teachers
            Over how many teachers; at least 2.
        balanced
            Whether the numbers of rows differ by one at most, which protects under replace-one alone; otherwise each
            row draws its teacher on its own.
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
        deal = _dealing.evenly if balanced else _dealing.each_alone
        owner = deal(int(rows), teachers, drawn, "rows")
        salts = _salts(teachers, drawn)
        return cls(
            _dealing.list_rows(owner, teachers), int(rows), Unit(), _relation(balanced), salts, origin=drawn.origin
        )

    @classmethod
    def by_unit(
        cls,
        units: Sequence[Any] | npt.NDArray[Any],
        teachers: int,
        *,
        unit: Unit,
        balanced: bool = False,
        key: bytes | None = None,
        source: Source | None = None,
    ) -> Partition:
        """Split a table so that all rows of a person, or of an organisation, go to one teacher: by a keyed hash.

        Parameters
        ----------
        units
            The unit of every row, as numbers or text.
        teachers, source
            As for `by_record`.
        unit
            Which unit that is, such as `Unit.person("patient")`.
        balanced
            Whether to deal units out evenly instead, which protects under replace-one alone. Numbers of units are
            balanced, never numbers of rows: how many rows a unit has is private.
        key
            The secret of an earlier split (`partition.key`), by which people keep their teachers when the table has
            changed; a fresh one unless told.

        Raises
        ------
        ParameterError
            If there are fewer than two teachers, or, in a balanced split, fewer units than teachers.
        DataError
            If some row has no unit.
        """
        names = _manifest.check_units(units)
        if not isinstance(unit, Unit) or unit.is_row:
            raise ParameterError("Say which unit keeps rows together, such as Unit.person('patient').")
        drawn = secure() if source is None else source
        distinct, code = np.unique(names, return_inverse=True)
        secret = _dealing.check_key(key, balanced, drawn)
        if balanced:
            owner = _dealing.evenly(distinct.size, teachers, drawn, f"units ({unit.name})")
        else:
            owner = _dealing.deal_by_hash(distinct, teachers, secret)
        rows, salts = _dealing.list_rows(owner[code.ravel()], teachers), _salts(teachers, drawn)
        return cls(rows, names.size, unit, _relation(balanced), salts, names, drawn.origin, secret)

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
            Replace-one, or add-or-remove-one if you know that no unit's teacher depends on who else is there; a teacher
            may then be without rows.
        source
            Where the salts of the manifest come from; the secure source unless told.

        Raises
        ------
        DataError
            If teachers share a row or a unit, a teacher has no rows, or a row number does not exist.
        """
        protects = Relation(relation)
        _dealing.require_teachers(len(rows))
        owner = _dealing.as_given(rows, total, may_be_empty=protects is Relation.ADD_OR_REMOVE_ONE)
        names = None if units is None else _manifest.check_units(units)
        if (names is None) != (unit is None or unit.is_row):
            raise ParameterError("Give `units` and `unit` together, or neither of them.")
        if names is not None:
            _dealing.require_whole_units(names, owner)
        drawn = secure() if source is None else source
        dealt, salts = _dealing.list_rows(owner, len(rows)), _salts(len(rows), drawn)
        return cls(dealt, int(total), unit or Unit(), protects, salts, names, drawn.origin)

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
        names = _manifest.check_units(units)
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
        facts = {
            "neighbours": self.neighbours.to_dict(),
            "salts": self.salts,
            "origin": self.origin,
            "key": self.key.hex(),
        }
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
            rows, origin = _dealing.list_rows(owner, len(facts["salts"])), str(facts["origin"])
            key = bytes.fromhex(facts.get("key", ""))
        except (OSError, EOFError, ValueError, KeyError, TypeError, zipfile.BadZipFile, ZigguratError):
            raise ArtefactError(f"There is no readable partition in {str(path)!r}.") from None
        return cls(rows, owner.size, about.unit, about.relation, tuple(facts["salts"]), units, origin, key)

    def verify(self, manifest: Mapping[str, Any]) -> None:
        """Raise DataError unless the manifest was made of exactly this split, by its key, and was not edited since."""
        _manifest.verify(manifest, self.rows, self.units, self.total, self.neighbours.to_dict())
        if self.key and self.units is not None:
            names, code = np.unique(self.units, return_inverse=True)
            if not np.array_equal(_dealing.deal_by_hash(names, self.teachers, self.key)[code.ravel()], self.assignment):
                raise DataError("The split is not the one that its key makes; deal the rows out again.")


def _relation(balanced: bool) -> Relation:
    return Relation.REPLACE_ONE if balanced else Relation.ADD_OR_REMOVE_ONE


def _salts(teachers: int, source: Source) -> tuple[str, ...]:
    words = source.words(2 * teachers).reshape(teachers, 2)
    return tuple(f"{int(high):016x}{int(low):016x}" for high, low in words)

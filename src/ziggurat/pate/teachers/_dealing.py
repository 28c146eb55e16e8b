"""How units come to teachers: by a keyed hash of their names, each by a draw of its own, evenly, or as given."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.errors import DataError, ParameterError
from ziggurat.randomness import Source, shuffle, uniform_below

Integers = npt.NDArray[np.int64]

_KEY_WORDS = 4
_SHORTEST_KEY, _LONGEST_KEY = 16, 64  # bytes: fewer can be guessed, BLAKE2b takes no more


def require_teachers(teachers: int) -> None:
    """Raise a sentence unless there are at least two."""
    if isinstance(teachers, bool) or not isinstance(teachers, int | np.integer) or teachers < 2:
        raise ParameterError("An ensemble needs at least two teachers: the vote of one alone hides nobody.")


def check_key(key: bytes | None, balanced: bool, source: Source) -> bytes:
    """Return the key of a hashed split, a fresh one where none is given; a balanced split has none."""
    if balanced:
        if key is not None:
            raise ParameterError("A balanced split is dealt out by lot and takes no key; leave one of the two out.")
        return b""
    if key is None:
        return source.words(_KEY_WORDS).tobytes()
    if not isinstance(key, bytes) or not _SHORTEST_KEY <= len(key) <= _LONGEST_KEY:
        raise ParameterError(f"The key of a split must be {_SHORTEST_KEY} to {_LONGEST_KEY} secret, random bytes.")
    return key


def deal_by_hash(names: npt.NDArray[Any], teachers: int, key: bytes) -> Integers:
    """Give every unit the teacher that keyed BLAKE2b makes of its name.

    Add-or-remove-one: with the key held fixed a unit's teacher is a function of its own name, whoever else is there.
    The digest has 128 bits, so that no teacher is likelier than another by more than a millionth of a millionth.
    """
    require_teachers(teachers)
    digests = (hashlib.blake2b(str(name).encode(), digest_size=16, key=key).digest() for name in names)
    return np.array([int.from_bytes(digest, "big") % int(teachers) for digest in digests], dtype=np.int64)


def each_alone(units: int, teachers: int, source: Source, _noun: str = "") -> Integers:
    """Draw the teacher of every unit on its own.

    Add-or-remove-one: independent draws lose nothing when one of them is dropped. Couple the draws of all others: given
    them and the unit's own, the two tables differ in the rows of one teacher.
    """
    require_teachers(teachers)
    return uniform_below(teachers, size=units, source=source)


def evenly(units: int, teachers: int, source: Source, noun: str) -> Integers:
    """Deal units out by lot, so that their numbers differ by one at most.

    Replace-one: a uniformly random balanced split has the same law whatever the units are called, so the newcomer can
    be given its predecessor's teacher. With one unit more or less everybody may move.
    """
    require_teachers(teachers)
    if units < teachers:
        raise ParameterError(f"There are fewer {noun} than teachers; use at most {units} teachers.")
    owner = np.empty(units, dtype=np.int64)
    owner[shuffle(units, source=source)] = np.arange(units) % teachers
    return owner


def as_given(rows: Sequence[Sequence[int] | Integers], total: int, *, may_be_empty: bool) -> Integers:
    """Return the teacher of every row of a split that exists, -1 for rows that nobody has; refuse overlaps."""
    if isinstance(total, bool) or not isinstance(total, int | np.integer) or total < 1:
        raise ParameterError("The number of rows of the table must be a positive whole number.")
    owner = np.full(total, -1, dtype=np.int64)
    for teacher, numbers in enumerate(rows):
        if len(numbers) == 0 and may_be_empty:
            continue
        own = np.asarray(numbers)
        if own.ndim != 1 or own.dtype.kind not in "iu" or own.size == 0:
            raise DataError(f"Teacher {teacher} needs a list of row numbers with at least one in it.")
        if own.min() < 0 or own.max() >= total:
            raise DataError(f"Teacher {teacher} has a row number outside 0 to {total - 1}.")
        if np.unique(own).size < own.size or (owner[own] >= 0).any():
            raise DataError(f"Teacher {teacher} has a row twice, or shares one with another teacher; rows go to one.")
        owner[own] = teacher
    return owner


def require_whole_units(names: npt.NDArray[Any], owner: Integers) -> None:
    """Raise DataError if the rows of one unit go to several teachers."""
    if names.size != owner.size:
        raise DataError("Give the unit of every row of the table, once each.")
    used = owner >= 0
    distinct, code = np.unique(names[used], return_inverse=True)
    pairs = np.unique(np.stack([code.ravel(), owner[used]]), axis=1)
    if pairs.shape[1] > distinct.size:
        raise DataError("The rows of one unit go to several teachers; give all of them to one.")


def list_rows(owner: Integers, teachers: int) -> tuple[Integers, ...]:
    """Return for every teacher its rows, ascending."""
    order = np.argsort(owner, kind="stable")
    ends = np.cumsum(np.bincount(owner + 1, minlength=teachers + 1))
    return tuple(order[start:end] for start, end in pairwise(ends))

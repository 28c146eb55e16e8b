"""A digest of what a fitted classifier holds: the same in every process, wherever and in whatever order it is held.

Hashed is the tree of what it holds, every value with the name of its class and its length: numbers and text as they are
written; arrays by the type of their cells, their shape and the cells in row order and lowest byte first (fields of
records one by one: the gaps between them hold whatever was in memory); mappings and sets sorted by digest; classes and
functions by name; any other object by how it is made again, its state and its items. The bytes of a pickle are not
hashed: they tell whether two attributes share an object, and the gaps, and versions of libraries.
"""

from __future__ import annotations

import copyreg
import hashlib
from collections.abc import Iterable, Iterator
from types import FunctionType
from typing import Any

import numpy as np
import numpy.typing as npt

_PLAIN = (type(None), bool, int, float, complex, str)


class UnknownContentError(Exception):
    """Something holds what it does not tell, so that nobody can say what is the same as it."""


def digest_content(value: Any) -> bytes:
    """Return the SHA-256 of what a value holds; UnknownContentError if that cannot be known."""
    try:
        return _digest(value, ())
    except RecursionError:
        raise UnknownContentError from None


def _digest(value: Any, above: tuple[int, ...]) -> bytes:
    kind = type(value)
    if id(value) in above:  # a cycle is told by how far up it leads
        return _hash("above", [str(len(above) - above.index(id(value))).encode()])
    if kind in (np.ndarray, np.memmap) or isinstance(value, np.generic):
        return _hash(_name(np.ndarray if kind is np.memmap else kind), _cells(np.asarray(value), (*above, id(value))))
    if kind in _PLAIN:
        return _hash(_name(kind), [repr(value).encode()])
    if kind in (bytes, bytearray):
        return _hash(_name(kind), [bytes(value)])
    return _hash(_name(kind), _parts(value, (*above, id(value))))


def _hash(name: str, parts: Iterable[bytes]) -> bytes:
    found = hashlib.sha256()
    for part in (name.encode(), *parts):
        found.update(len(part).to_bytes(8, "little"))
        found.update(part)
    return found.digest()


def _parts(value: Any, above: tuple[int, ...]) -> Iterator[bytes]:
    kind = type(value)
    if kind in (list, tuple):
        yield from (_digest(each, above) for each in value)
    elif kind in (set, frozenset):
        yield from sorted(_digest(each, above) for each in value)
    elif kind is dict:
        yield from sorted(_digest(key, above) + _digest(each, above) for key, each in value.items())
    elif isinstance(value, type | FunctionType):
        yield _name(value).encode()
    else:
        yield from _state(value, above)


def _state(value: Any, above: tuple[int, ...]) -> Iterator[bytes]:
    """Walk what an object would tell a pickle: how to make it again, its state and its items."""
    try:
        registered = copyreg.dispatch_table.get(type(value))
        told = value.__reduce_ex__(4) if registered is None else registered(value)
    except Exception as error:
        raise UnknownContentError from error
    if isinstance(told, str):
        yield told.encode()
        return
    make, given, state, items, pairs = (*told, None, None, None)[:5]
    if isinstance(state, dict):
        state = {name: each for name, each in state.items() if name != "_sklearn_version"}
    yield from (_digest(each, above) for each in (make, given, state, list(items or ()), dict(pairs or ())))


def _cells(array: npt.NDArray[Any], above: tuple[int, ...]) -> Iterator[bytes]:
    yield repr(array.shape).encode()
    if array.dtype.names is not None:
        for name in array.dtype.names:
            yield name.encode()
            yield from _cells(array[name], above)
    elif array.dtype.hasobject:
        yield from (_digest(each, above) for each in array.ravel().tolist())
    else:
        lowest_first = array.dtype.newbyteorder("<")
        yield lowest_first.str.encode()
        yield array.astype(lowest_first, copy=False).tobytes()


def _name(kind: type | FunctionType) -> str:
    """The name under which it can be imported; what was made inside of a function has none."""
    if "<" in kind.__qualname__:
        raise UnknownContentError
    return f"{kind.__module__}.{kind.__qualname__}"

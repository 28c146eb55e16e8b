"""How outputs of steps become payloads and values again; nothing here runs code when it loads.

A value comes back as what it was, with these exceptions: any mapping comes back as a dict, subclasses of text, numbers,
lists and tuples as their plain types, and tensors without gradients, on the processor.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ziggurat.errors import ArtefactError
from ziggurat.experiments._types import StoredOutput
from ziggurat.experiments.storing import _estimators, _formats
from ziggurat.experiments.storing._objects import INLINE_LIMIT, DamagedError, Objects, Sink, digest_of

_PLAIN = (str, int, float, bool, type(None))
_DEEPEST = 100
_ADVICE = (
    "return JSON values, bytes, NumPy arrays, Arrow tables, pandas or Polars frames, mappings of names to tensors, "
    "scikit-learn estimators, or mappings and lists of these"
)


@dataclass(frozen=True)
class Handler:
    """One kind of value: which values it takes, how it writes one and reads it again."""

    kind: str
    takes: Callable[[Any], bool]
    write: Callable[[Any, Sink], None]
    read: Callable[[bytes], Any]


def pack(value: Any, objects: Objects, name: str = "") -> StoredOutput:
    """Store a value under the hash of its content.

    Parameters
    ----------
    value
        What to store.
    objects
        Where to.
    name
        What to call it in an error.

    Raises
    ------
    ArtefactError
        If no handler takes it; the sentence names its type and says what to return instead.
    """
    if type(value) in _PLAIN and (small := _small(value)) is not None:
        return small
    return _Packing(objects).pack(value, name, 0)


def unpack(stored: StoredOutput, objects: Objects) -> Any:
    """Load a value after its hash was checked.

    Raises
    ------
    DamagedError
        If its payload, or one that it consists of, is missing, does not match its hash, or cannot be decoded.
    """
    data = objects.read(stored)
    try:
        if stored.kind == "json":
            return json.loads(data)
        if stored.kind == "tree":
            return _grow(json.loads(data), objects)
        return _BY_KIND[stored.kind].read(data)
    except ArtefactError:
        raise
    except ImportError as error:
        library = (error.name or "a library").partition(".")[0]
        raise ArtefactError(f"A stored {stored.kind} value needs {library!r}; install it.") from None
    except Exception:  # noqa: BLE001 - whatever a decoder raises for a payload it cannot read
        objects.remove(stored.digest)
    raise DamagedError(stored.digest, f"A stored {stored.kind} value could not be decoded and was removed.")


def parts(stored: StoredOutput, objects: Objects) -> Iterator[StoredOutput]:
    """Give every payload that a value consists of, itself first."""
    yield stored
    if stored.kind == "tree":
        for leaf in _leaves(json.loads(objects.read(stored))):
            yield from parts(leaf, objects)


def whole(stored: StoredOutput, objects: Objects) -> bool:
    """Return whether all payloads of a value seem to be there."""
    try:
        return all(objects.present(part) for part in parts(stored, objects))
    except ArtefactError:
        return False


def number_in(stored: StoredOutput) -> float | None:
    """Return the number that a value is; None if it is not a number. Truth values are not."""
    if stored.inline is None or stored.kind not in ("json", "scalar"):
        return None
    value = json.loads(stored.inline) if stored.kind == "json" else _formats.read_scalar(stored.inline.encode())
    if isinstance(value, bool) or not isinstance(value, int | float):
        value = _formats.number(value)
    try:
        return None if value is None else float(value)
    except OverflowError:
        return float("inf")


@dataclass(frozen=True)
class _Packing:
    objects: Objects

    def pack(self, value: Any, where: str, depth: int) -> StoredOutput:
        if depth > _DEEPEST:
            raise ArtefactError(f"{_subject(where[:60])} is nested more than {_DEEPEST} levels deep; flatten it.")
        if _is_json(value, 0):
            return self._write(_JSON, value, where)
        for handler in _HANDLERS:
            if handler.takes(value):
                return self._write(handler, value, where)
        if isinstance(value, Mapping | list | tuple):
            return self._tree(value, where, depth)
        raise ArtefactError(_refusal(value, where))

    def _write(self, handler: Handler, value: Any, where: str) -> StoredOutput:
        try:
            with self.objects.writing(handler.kind) as sink:
                handler.write(value, sink)
        except _formats.UnfitError as error:
            raise ArtefactError(f"{_subject(where)} {error}") from None
        return sink.stored

    def _tree(self, value: Any, where: str, depth: int) -> StoredOutput:
        tree = self._branch(value, where, depth)
        return self._write(_TREE, tree, where)

    def _branch(self, value: Any, where: str, depth: int) -> list[Any]:
        if isinstance(value, Mapping):
            _require_text_keys(value, where)
            pairs = ((str(key), self._node(each, _inside(where, key), depth + 1)) for key, each in value.items())
            return ["mapping", dict(pairs)]
        form = "list" if isinstance(value, list) else "tuple"
        return [form, [self._node(each, _inside(where, index), depth + 1) for index, each in enumerate(value)]]

    def _node(self, value: Any, where: str, depth: int) -> list[Any]:
        stored = self.pack(value, where, depth)
        return ["stored", [stored.kind, stored.digest, stored.size, stored.inline]]


def _grow(tree: list[Any], objects: Objects) -> Any:
    form, content = tree
    if form == "stored":
        return unpack(StoredOutput(*content), objects)
    if form == "mapping":
        return {key: _grow(each, objects) for key, each in content.items()}
    items = [_grow(each, objects) for each in content]
    return tuple(items) if form == "tuple" else items


def _leaves(tree: list[Any]) -> Iterator[StoredOutput]:
    form, content = tree
    if form == "stored":
        yield StoredOutput(*content)
        return
    for each in content.values() if form == "mapping" else content:
        yield from _leaves(each)


def _small(value: Any) -> StoredOutput | None:
    """The usual output of a trial is one number: no file, no sink."""
    try:
        text = json.dumps(value)
    except ValueError:
        return None
    if len(text) > INLINE_LIMIT:
        return None
    data = text.encode()
    return StoredOutput("json", digest_of("json", data), len(data), text)


def _is_json(value: Any, depth: int) -> bool:
    if type(value) in _PLAIN:
        return True
    if depth > _DEEPEST or isinstance(value, tuple) or _is_numpy(value):
        return False
    if isinstance(value, list):
        return all(_is_json(each, depth + 1) for each in value)
    if isinstance(value, Mapping):
        return all(isinstance(key, str) for key in value) and all(_is_json(each, depth + 1) for each in value.values())
    return isinstance(value, _PLAIN)


def _write_json(value: Any, sink: Sink) -> None:
    try:
        sink.write(json.dumps(value, default=dict).encode())
    except ValueError:
        raise _formats.UnfitError("is an integer of thousands of digits; return it as text.") from None


def _write_bytes(value: Any, sink: Sink) -> None:
    sink.write(value)


def _write_tree(tree: list[Any], sink: Sink) -> None:
    sink.write(json.dumps(tree).encode())


def _is_numpy(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.generic)


def _require_text_keys(value: Mapping[Any, Any], where: str) -> None:
    for key in value:
        if not isinstance(key, str):
            kind = type(key).__name__
            raise ArtefactError(f"{_subject(where)} has a key of type {kind!r}; use text for keys.")


def _inside(where: str, key: object) -> str:
    return f"{where}{'.' if where else ''}{str(key)[:60]}"


def _subject(where: str) -> str:
    return f"The output {where!r}" if where else "The value"


def _refusal(value: Any, where: str) -> str:
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    return f"{_subject(where)} is of type {kind!r}, which cannot be stored; {_formats.advice(value) or _ADVICE}."


_JSON = Handler("json", lambda value: _is_json(value, 0), _write_json, json.loads)
_TREE = Handler("tree", lambda value: False, _write_tree, json.loads)  # noqa: ARG005 - made for what no other takes
_HANDLERS = (
    Handler("scalar", _formats.is_scalar, _formats.write_scalar, _formats.read_scalar),
    Handler("bytes", lambda value: isinstance(value, bytes | bytearray), _write_bytes, bytes),
    Handler("array", _formats.is_array, _formats.write_array, _formats.read_array),
    Handler("arrow", _formats.is_arrow, _formats.write_arrow, _formats.read_arrow),
    Handler("pandas", _formats.is_pandas, _formats.write_pandas, _formats.read_pandas),
    Handler("polars", _formats.is_polars, _formats.write_polars, _formats.read_polars),
    Handler("tensor", _formats.is_tensor, _formats.write_tensor, _formats.read_tensor),
    Handler("tensors", _formats.is_tensors, _formats.write_tensors, _formats.read_tensors),
    Handler("arrays", _formats.is_arrays, _formats.write_arrays, _formats.read_arrays),
    Handler("estimator", _estimators.is_estimator, _estimators.write_estimator, _estimators.read_estimator),
)
_BY_KIND = {handler.kind: handler for handler in _HANDLERS}

"""A walk through everything that an object holds: attributes, containers, closures, states of compiled parts.

It is bounded (how many objects, how deep, how large an array), goes round no circle twice, and says whether it saw all.
Paths name attributes and places; keys of mappings are values, and stand in none.
"""

from __future__ import annotations

import functools
import numbers
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

MOST_OBJECTS = 300_000
"""How many objects are looked at."""

DEEPEST = 80
"""How far down."""

MOST_CELLS = 50_000_000
"""How many cells of one array."""

_PLAIN = (
    type(None),
    bool,
    numbers.Number,
    np.generic,
    type,
    types.ModuleType,
    types.CodeType,
    types.BuiltinFunctionType,
)
_CLOSED = ("_thread", "threading", "weakref", "_weakref", "re", "_io", "types", "builtins", "numpy.random", "logging")
_IN_PYTHON = 1 << 9  # Py_TPFLAGS_HEAPTYPE
_OF_TORCH = ("_parameters", "_buffers", "_modules")


@dataclass(frozen=True)
class Visit:
    """Something on the way.

    Attributes
    ----------
    path
        Where it is; empty for the object itself.
    name
        The attribute that it is; empty in a container.
    value
        It.
    """

    path: str
    name: str
    value: Any = field(repr=False)


class ObjectWalk:
    """A walk through an object, from the outside in; `complete` and `objects` are known at its end."""

    def __init__(self, root: Any) -> None:
        self.root, self.complete, self.objects = root, True, 0
        self._seen: dict[int, Any] = {}  # kept alive: what is made on the way must not give its place to something else

    def __iter__(self) -> Iterator[Visit]:
        left: list[tuple[Visit, int]] = [(Visit("", "", self.root), 0)]
        while left:
            visit, depth = left.pop()
            if isinstance(visit.value, _PLAIN) or id(visit.value) in self._seen:
                continue
            if self.objects >= MOST_OBJECTS or depth > DEEPEST:
                self.complete = False
                continue
            self._seen[id(visit.value)] = visit.value
            self.objects += 1
            yield visit
            inner = list(self._open(visit))
            left.extend((each, depth + 1) for each in reversed(inner))

    def _open(self, visit: Visit) -> Iterator[Visit]:
        value = visit.value
        if isinstance(value, str | bytes | bytearray) or type(value).__module__.startswith(("fractions", "decimal")):
            return
        if isinstance(value, np.ndarray):
            yield from self._open_array(visit)
        elif isinstance(value, Mapping):
            yield Visit(f"{visit.path}.keys()", visit.name, list(value))
            yield from (Visit(f"{visit.path}[{i}]", "", each) for i, each in enumerate(value.values()))
        elif isinstance(value, list | tuple | set | frozenset):
            yield from self._open_list(visit)
        else:
            yield from self._open_object(visit)

    def _open_array(self, visit: Visit) -> Iterator[Visit]:
        value = visit.value
        if value.dtype.names:
            yield from (Visit(f"{visit.path}[{name!r}]", name, value[name]) for name in value.dtype.names)
        elif value.dtype.kind == "O":
            yield Visit(f"{visit.path}[:]", visit.name, value.ravel().tolist())

    def _open_list(self, visit: Visit) -> Iterator[Visit]:
        """Numbers and rows of numbers as an array, texts as they are, anything else one by one."""
        items = list(visit.value)
        kinds = {type(each) for each in items}
        if not items or all(issubclass(kind, str | bytes) for kind in kinds):
            return
        made = as_numbers(items) if all(issubclass(kind, numbers.Number | list | tuple) for kind in kinds) else None
        if made is not None:
            yield Visit(visit.path, visit.name, made)
            return
        for i, each in enumerate(items):
            # The steps of a pipeline are pairs of a name and a step.
            pair = isinstance(each, tuple) and len(each) in (2, 3) and isinstance(each[0], str)
            if pair and hasattr(each[1], "__dict__"):
                yield Visit(f"{visit.path}[{i}]", "", each[1])
                yield from (Visit(f"{visit.path}[{i}][2]", "", more) for more in each[2:])
            else:
                yield Visit(f"{visit.path}[{i}]", "", each)

    def _open_object(self, visit: Visit) -> Iterator[Visit]:
        value, path = visit.value, visit.path
        table = _as_table(value)
        if table is not None:
            yield from (Visit(path, visit.name, each) for each in table)
        elif isinstance(value, types.FunctionType | types.MethodType | functools.partial):
            yield from _open_function(visit)
        elif _is_module(value):
            yield from _open_module(visit)
        else:
            yield from self._open_attributes(visit)

    def _open_attributes(self, visit: Visit) -> Iterator[Visit]:
        value = visit.value
        held = _attributes(value)
        yield from (Visit(_join(visit.path, name), name, each) for name, each in held.items())
        if not held or _is_compiled(value):
            yield from self._open_state(visit)

    def _open_state(self, visit: Visit) -> Iterator[Visit]:
        """What a compiled object would put into a pickle; nothing is run but that."""
        try:
            reduced = visit.value.__reduce_ex__(2)
        except Exception:  # noqa: BLE001 - whatever a foreign object raises
            self.complete = self.complete and type(visit.value).__module__.startswith(_CLOSED)
            return
        parts = [] if isinstance(reduced, str) else [each for each in reduced[1:3] if each is not None]
        for each in parts:
            yield Visit(f"{visit.path}.state", visit.name, each)


def as_numbers(items: Any) -> Any:
    """Items as an array of numbers; None if they are none, or of several lengths."""
    try:
        made = np.asarray(items)
    except (ValueError, TypeError, OverflowError):
        return None
    return made if made.dtype.kind in "biuf" and made.size else None


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _attributes(value: Any) -> dict[str, Any]:
    held = dict(vars(value)) if hasattr(value, "__dict__") else {}
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            try:
                held.setdefault(name, getattr(value, name))
            except AttributeError:
                continue
    return held


def _is_compiled(value: Any) -> bool:
    """Whether a class of it is not written in Python, so that attributes need not be all it holds."""
    return any(kind is not object and not kind.__flags__ & _IN_PYTHON for kind in type(value).__mro__)


def _as_table(value: Any) -> list[Any] | None:
    """Tables, tensors, sparse arrays and buffers as arrays; None for anything else."""
    family = type(value).__module__.partition(".")[0]
    if isinstance(value, memoryview):
        return [np.asarray(value)]
    if family == "torch" and hasattr(value, "detach"):
        return [value.detach().cpu().double().numpy()] if not value.is_complex() else []
    if family == "scipy" and hasattr(value, "tocsr"):
        return _open_sparse(value)
    if family in ("pandas", "polars", "pyarrow") and hasattr(value, "to_numpy"):
        return [np.asarray(value.to_numpy())]
    if family in ("pandas", "polars", "pyarrow") and hasattr(value, "to_pandas"):
        return [np.asarray(value.to_pandas().to_numpy())]
    return None


def _open_sparse(value: Any) -> list[Any]:
    rows = value.tocsr() if value.ndim == 2 else value.tocsr().reshape(1, -1)
    step = max(1, MOST_CELLS // 10 // max(1, rows.shape[1]))
    return [rows[i : i + step].toarray() for i in range(0, rows.shape[0], step)]


def _is_module(value: Any) -> bool:
    return callable(getattr(value, "named_parameters", None)) and callable(getattr(value, "named_buffers", None))


def _open_module(visit: Visit) -> Iterator[Visit]:
    """A module of PyTorch: its tensors by the names of its state, then what else it and its parts hold."""
    module = visit.value
    for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
        yield Visit(f"{visit.path or 'self'}.state_dict[{name!r}]", name.rpartition(".")[2], tensor)
    for where, part in module.named_modules():
        base = _join(visit.path, where)
        for name, each in vars(part).items():
            if name not in _OF_TORCH:
                yield Visit(_join(base, name), name, each)


def _look_into(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # nothing was put there yet
        return None


def _open_function(visit: Visit) -> Iterator[Visit]:
    value, path = visit.value, visit.path
    if isinstance(value, functools.partial):
        yield from (
            Visit(_join(path, name), name, each)
            for name, each in (("func", value.func), ("args", value.args), ("keywords", value.keywords))
        )
    elif isinstance(value, types.MethodType):
        yield Visit(_join(path, "__self__"), "__self__", value.__self__)
        yield Visit(_join(path, "__func__"), "__func__", value.__func__)
    else:
        given = {"__defaults__": value.__defaults__, "__kwdefaults__": value.__kwdefaults__, **vars(value)}
        cells = zip(value.__code__.co_freevars, value.__closure__ or (), strict=True)
        given |= {name: _look_into(cell) for name, cell in cells}
        yield from (Visit(_join(path, name), name, each) for name, each in given.items())

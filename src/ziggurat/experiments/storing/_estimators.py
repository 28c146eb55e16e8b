"""Scikit-learn estimators as bytes, in the skops format: data and names of classes, no code.

skops notes that a crafted tree may make scikit-learn read past its arrays and crash; it cannot make it run code.
"""

from __future__ import annotations

import io
import json
import sys
from typing import Any

from ziggurat.experiments.storing._formats import UnfitError, instance, is_network

_TRUSTED = ("sklearn.", "numpy.", "scipy.", "ziggurat.")
_EPOCH = (1980, 1, 1, 0, 0, 0)


def is_estimator(value: Any) -> bool:
    """Return whether it is a scikit-learn estimator; a network may pretend to be one."""
    return instance(value, "sklearn.base", "BaseEstimator") and not is_network(value)


def write_estimator(value: Any, sink: io.RawIOBase) -> None:
    """Write the skops format, and refuse whatever it would not load again."""
    from skops.io import dumps

    try:
        data = _repeatable(dumps(value))
    except Exception:  # noqa: BLE001 - skops raises many types for what it cannot write
        raise UnfitError("is an estimator that skops cannot store; keep its parameters and attributes plain.") from None
    if strange := _strange(data):
        raise UnfitError(
            f"is an estimator that holds {strange[0]!r}; only classes of scikit-learn, NumPy, SciPy and Ziggurat "
            "are stored, so return what was learned as arrays."
        )
    sink.write(data)


def read_estimator(data: bytes) -> Any:
    """Read an estimator that consists of trusted classes only."""
    from skops.io import get_untrusted_types, loads

    if strange := _strange(data):
        raise ValueError(strange[0])
    return loads(data, trusted=get_untrusted_types(data=data))


def _strange(data: bytes) -> list[str]:
    """Name what skops does not trust by itself and is not a class of a trusted library.

    Functions are not accepted even from there: some of NumPy's run the text they are given.
    """
    from skops.io import get_untrusted_types

    return [name for name in get_untrusted_types(data=data) if not (name.startswith(_TRUSTED) and _is_class(name))]


def _is_class(name: str) -> bool:
    module, _, attribute = name.rpartition(".")
    if "__main__" in module:  # to import such a module is to run a program
        return False
    return isinstance(getattr(sys.modules.get(module) or _import(module), attribute, None), type)


def _import(module: str) -> Any:
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError:
        return None


def _repeatable(data: bytes) -> bytes:
    """Take memory addresses and the time of day out of a skops archive: the same estimator gives the same bytes."""
    import zipfile

    archive = zipfile.ZipFile(io.BytesIO(data))
    schema = json.loads(archive.read("schema.json"))
    numbers: dict[str, str] = {}
    _renumber(schema, numbers)
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as renamed:
        for name in sorted(set(archive.namelist()) - {"schema.json"}, key=lambda name: _new_name(name, numbers)):
            renamed.writestr(zipfile.ZipInfo(_new_name(name, numbers), _EPOCH), archive.read(name))
        renamed.writestr(zipfile.ZipInfo("schema.json", _EPOCH), json.dumps(schema))
    return target.getvalue()


def _renumber(state: Any, numbers: dict[str, str]) -> None:
    if isinstance(state, list):
        for each in state:
            _renumber(each, numbers)
    if not isinstance(state, dict):
        return
    for key, each in state.items():
        if key == "__id__" and isinstance(each, int):
            state[key] = int(numbers.setdefault(str(each), str(len(numbers) + 1)))
        elif key == "file" and isinstance(each, str):
            state[key] = _new_name(each, numbers)
        else:
            _renumber(each, numbers)


def _new_name(name: str, numbers: dict[str, str]) -> str:
    stem, dot, ending = name.partition(".")
    return numbers.setdefault(stem, str(len(numbers) + 1)) + dot + ending

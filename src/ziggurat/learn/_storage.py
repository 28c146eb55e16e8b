"""Fitted models in one file: JSON and plain arrays in an .npz, no pickle."""

from __future__ import annotations

import io
import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

import numpy as np

from ziggurat.errors import ArtefactError
from ziggurat.files import write_bytes
from ziggurat.learn._family import Family
from ziggurat.privacy import Event, event_from_dict

_FORMAT = "ziggurat/learn/2"
_INDEX = "model"
_ORIGINS = ("secure", "seeded")


class StoredModel:
    """A model whose parameters and fitted attributes (those that end in an underscore) can be kept in a file.

    The file says how often the model and its copies were fitted, too.
    """

    _family: Family

    def save(self, path: str | Path) -> None:
        """Write the fitted model to a file that only its owner may read; a reader finds the old file or the new one.

        Raises
        ------
        ArtefactError
            If a parameter or an attribute is of a kind that cannot be stored without code.
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        arrays: dict[str, Any] = {}
        fitted = {name: value for name, value in vars(self).items() if name.endswith("_") and name[0] != "_"}
        parameters = self.get_params(deep=False)  # type: ignore[attr-defined]
        index = {
            "format": _FORMAT,
            "class": type(self).__name__,
            "parameters": {name: _plain(value, arrays) for name, value in parameters.items()},
            "fitted": {name: _plain(value, arrays) for name, value in fitted.items()},
            "family": self.kin.to_json(),  # type: ignore[attr-defined]
        }
        content = io.BytesIO()
        np.savez(content, **{_INDEX: np.array(json.dumps(index)), **arrays})
        write_bytes(path, content.getvalue(), mode=0o600)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model that `save` of this class wrote; nothing in the file is run.

        What the file says of its own cost is no evidence: whoever can write it can write that, too. The entry of the
        ledger that paid is.

        Raises
        ------
        ArtefactError
            If there is no such file, or it is damaged or of another kind.
        """
        try:
            with np.load(Path(path), allow_pickle=False) as arrays:
                index = json.loads(str(arrays[_INDEX]))
                known = (index["format"], index["class"]) == (_FORMAT, cls.__name__)
                made = cls._restore(index, arrays) if known else None
        except Exception:  # noqa: BLE001 - a damaged file fails in many ways
            raise ArtefactError(f"There is no readable model in {str(path)!r}; restore a copy, or fit again.") from None
        if made is None:
            raise ArtefactError(f"What is in {str(path)!r} is not a {cls.__name__} that this version saved.")
        return made

    @classmethod
    def _restore(cls, index: dict[str, Any], arrays: Any) -> Self:
        made = cls(**{name: _value(item, arrays) for name, item in index["parameters"].items()})
        for name, item in index["fitted"].items():
            if not name.endswith("_") or name.startswith("_"):
                raise ValueError(name)
            setattr(made, name, _value(item, arrays))
        if not isinstance(getattr(made, "event_", None), Event) or getattr(made, "origin_", "") not in _ORIGINS:
            raise ValueError("a model that does not say what it cost")
        made._family = Family.from_json(index["family"])
        return made


def _plain(value: Any, arrays: dict[str, Any]) -> Any:
    """Turn a value into JSON; arrays go beside it. What is not plain is an object with one key, its kind."""
    if isinstance(value, Event):
        return {"event": value.to_dict()}
    if isinstance(value, np.ndarray):
        return _beside(value, arrays)
    if isinstance(value, np.generic):
        return _plain(value.item(), arrays)
    if isinstance(value, Fraction | Decimal):
        return {type(value).__name__.lower(): str(value)}
    if isinstance(value, tuple | list):
        return {type(value).__name__: [_plain(item, arrays) for item in value]}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {key: _plain(item, arrays) for key, item in value.items()}}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ArtefactError(f"A {type(value).__name__} cannot be saved without code; use numbers, text, lists or arrays.")


def _beside(value: Any, arrays: dict[str, Any]) -> dict[str, str]:
    if value.dtype.kind == "O":
        if not all(isinstance(item, str) for item in value.flat):
            raise ArtefactError("An array of mixed objects cannot be saved; use whole numbers or text.")
        name = _beside(value.astype(str), arrays)["array"]
        return {"objects": name}
    name = f"array{len(arrays)}"
    arrays[name] = value
    return {"array": name}


def _value(item: Any, arrays: Any) -> Any:
    if not isinstance(item, dict):
        return item
    ((kind, content),) = item.items()
    if kind == "array":
        return arrays[content]
    if kind == "objects":
        return arrays[content].astype(object)
    if kind == "event":
        return event_from_dict(content)
    if kind == "dict":
        return {key: _value(part, arrays) for key, part in content.items()}
    if kind in ("tuple", "list"):
        parts = [_value(part, arrays) for part in content]
        return tuple(parts) if kind == "tuple" else parts
    return {"fraction": Fraction, "decimal": Decimal}[kind](content)

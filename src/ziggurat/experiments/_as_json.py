"""Experiments and records as plain JSON values, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, Field, asdict, fields, is_dataclass
from typing import Any

from ziggurat.experiments._types import Expected, Experiment, Figure, Module, NodeRecord, Reproduces, StoredOutput
from ziggurat.experiments._values import well_formed

RECORD_COLUMNS = tuple(field.name for field in fields(NodeRecord))
_NESTED = ("varied", "repeats", "metrics", "outputs")


def experiment_to_dict(experiment: Experiment) -> dict[str, Any]:
    """Give the experiment as the file it could have come from, with its trials written out and without its digest.

    Parameters
    ----------
    experiment
        What to write.
    """
    written: dict[str, Any] = _plain(experiment)
    written.pop("digest", None)
    return written


def experiment_from_dict(content: Mapping[str, Any], digest: str) -> Experiment:
    """Read back what `experiment_to_dict` gave; nothing is checked and no step is imported.

    Parameters
    ----------
    content
        What was written.
    digest
        The digest it had.
    """
    parts = dict(content)
    parts["modules"] = tuple(_module(each) for each in content["modules"])
    parts["figures"] = tuple(Figure(**each) for each in content.get("figures", ()))
    parts["expected"] = tuple(Expected(**each) for each in content.get("expected", ()))
    if "reproduces" in content:
        parts["reproduces"] = Reproduces(**content["reproduces"])
    return Experiment(**parts, digest=digest)


def record_to_row(record: NodeRecord) -> tuple[Any, ...]:
    """Give a record as a row in the order of `RECORD_COLUMNS`, mappings as JSON text.

    Parameters
    ----------
    record
        What to write. A value stored inline that is no JSON is left out, because the cache holds it.
    """
    values = {name: getattr(record, name) for name in RECORD_COLUMNS}
    values |= {name: _text(dict(values[name])) for name in _NESTED}
    values["cached"] = int(record.cached)
    return tuple(well_formed(value) if isinstance(value, str) else value for value in values.values())


def record_from_row(row: tuple[Any, ...]) -> NodeRecord:
    """Read back what `record_to_row` gave.

    Parameters
    ----------
    row
        The columns of a record.
    """
    values = dict(zip(RECORD_COLUMNS, row, strict=True))
    values |= {name: json.loads(values[name]) for name in _NESTED}
    values["outputs"] = {name: StoredOutput(**stored) for name, stored in values["outputs"].items()}
    values["cached"] = bool(values["cached"])
    return NodeRecord(**values)


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value) if _is_told(value, each)}
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def _is_told(owner: Any, field: Field[Any]) -> bool:
    """Leave out what goes without saying, so that the file reads as one written by hand."""
    value = getattr(owner, field.name)
    if field.default_factory is not MISSING:
        return bool(value != field.default_factory())
    return field.default is MISSING or bool(value != field.default)


def _module(content: Mapping[str, Any]) -> Module:
    parts = dict(content)
    parts["modules"] = tuple(_module(each) for each in content.get("modules", ()))
    for name in ("trials", "metrics", "keep"):
        if name in content:
            parts[name] = tuple(content[name])
    return Module(**parts)


def _text(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_other)


def _other(value: Any) -> Any:
    return asdict(value) if isinstance(value, StoredOutput) else None

"""Ziggurat: let something useful leave a table about people, with a proven promise and an exact account.

The names below load when they are first used, so that `import ziggurat` stays instant.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

_HOMES = {
    "Column": "ziggurat.data",
    "Ledger": "ziggurat.ledger",
    "Neighbours": "ziggurat.privacy",
    "Query": "ziggurat.queries",
    "Relation": "ziggurat.privacy",
    "Schema": "ziggurat.data",
    "Session": "ziggurat.release",
    "Table": "ziggurat.data",
    "Unit": "ziggurat.data",
    "Workload": "ziggurat.queries",
    "ZigguratError": "ziggurat.errors",
    "column": "ziggurat.queries",
    "compose": "ziggurat.privacy",
    "read": "ziggurat.data",
    "suggest_schema": "ziggurat.data",
}

__all__ = [
    "Column",
    "Ledger",
    "Neighbours",
    "Query",
    "Relation",
    "Schema",
    "Session",
    "Table",
    "Unit",
    "Workload",
    "ZigguratError",
    "__version__",
    "column",
    "compose",
    "read",
    "suggest_schema",
]

if TYPE_CHECKING:
    from ziggurat.data import Column, Schema, Table, Unit, read, suggest_schema
    from ziggurat.errors import ZigguratError
    from ziggurat.ledger import Ledger
    from ziggurat.privacy import Neighbours, Relation, compose
    from ziggurat.queries import Query, Workload, column
    from ziggurat.release import Session


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'ziggurat' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)

"""Ziggurat: let something useful leave a table about people, with a proven promise and an exact account.

The names below load when they are first used, so that `import ziggurat` stays instant.
"""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

__version__ = "0.10.0"

if TYPE_CHECKING:
    from ziggurat.client import connect
    from ziggurat.data import Column, Schema, Table, Unit, read, suggest_schema
    from ziggurat.errors import ZigguratError
    from ziggurat.ledger import Ledger
    from ziggurat.privacy import Neighbours, Relation, compose
    from ziggurat.queries import Query, Workload, column
    from ziggurat.release import Session
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "client": "connect",
            "data": "Column Schema Table Unit read suggest_schema",
            "errors": "ZigguratError",
            "ledger": "Ledger",
            "privacy": "Neighbours Relation compose",
            "queries": "Query Workload column",
            "release": "Session",
        },
    )

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
    "connect",
    "read",
    "suggest_schema",
]

"""Where the entries of a ledger lie: an SQLite file or a PostgreSQL database."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.ledger.storage._postgres import has_password, require_fsync
    from ziggurat.ledger.storage._store import BATCH, Pointer, Store, Writer, open_store
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_postgres": "has_password require_fsync",
            "_store": "BATCH Pointer Store Writer open_store",
        },
    )

__all__ = [
    "BATCH",
    "Pointer",
    "Store",
    "Writer",
    "has_password",
    "open_store",
    "require_fsync",
]

"""Where the entries of a ledger lie: an SQLite file or a PostgreSQL database."""

from ziggurat.ledger.storage._postgres import has_password, require_fsync
from ziggurat.ledger.storage._store import BATCH, Store, open_store

__all__ = [
    "BATCH",
    "Store",
    "has_password",
    "open_store",
    "require_fsync",
]

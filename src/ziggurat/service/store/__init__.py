"""What a service remembers beside its ledger: people, keys, tables, jobs and releases, in SQLite or PostgreSQL."""

from ziggurat.service.store._records import (
    browser_sessions,
    job_slots,
    jobs,
    keys,
    links,
    models,
    people,
    releases,
    repeats,
    rights,
    tables,
    workers,
)
from ziggurat.service.store._store import ServiceStore, forget_workers, utc_now

__all__ = [
    "ServiceStore",
    "browser_sessions",
    "forget_workers",
    "job_slots",
    "jobs",
    "keys",
    "links",
    "models",
    "people",
    "releases",
    "repeats",
    "rights",
    "tables",
    "utc_now",
    "workers",
]

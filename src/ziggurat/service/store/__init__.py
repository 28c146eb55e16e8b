"""What a service remembers beside its ledger: people, keys, tables, jobs and releases, in SQLite or PostgreSQL."""

from ziggurat.service.store._records import (
    browser_sessions,
    invitations,
    jobs,
    keys,
    links,
    models,
    oidc_starts,
    people,
    populations,
    releases,
    repeats,
    reports,
    rights,
    surveys,
    tables,
    workers,
)
from ziggurat.service.store._store import ServiceStore, utc_in, utc_now

__all__ = [
    "ServiceStore",
    "browser_sessions",
    "invitations",
    "jobs",
    "keys",
    "links",
    "models",
    "oidc_starts",
    "people",
    "populations",
    "releases",
    "repeats",
    "reports",
    "rights",
    "surveys",
    "tables",
    "utc_in",
    "utc_now",
    "workers",
]

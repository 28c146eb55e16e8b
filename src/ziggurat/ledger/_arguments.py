"""The arguments of a ledger's calls, checked; and the entry that every ledger begins with."""

from __future__ import annotations

import os
import secrets
from datetime import timedelta

from ziggurat.errors import ParameterError
from ziggurat.ledger._chain import Entry, Head, follow, now, timestamp
from ziggurat.ledger._entries import Genesis, body_of

_LONGEST_TTL = 366 * 24 * 3600


def address(where: object) -> str:
    """Read where a ledger is."""
    named = os.fspath(where) if isinstance(where, (str, os.PathLike)) else ""
    if not isinstance(named, str) or not named or "\0" in named:
        raise ParameterError("A ledger is named by a file, 'sqlite:///file' or 'postgresql://server/database'.")
    return named


def patience(timeout: object) -> float:
    """Read how many seconds to wait for others."""
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 < timeout <= 86_400:
        raise ParameterError("timeout must be a number of seconds, greater than 0 and at most a day.")
    return float(timeout)


def first_entry() -> Entry:
    """Make the first entry of a new ledger."""
    genesis = Genesis(secrets.token_hex(16))
    return follow(Head(), timestamp(now()), genesis.kind, body_of(genesis))


def lifetime(ttl: object) -> timedelta:
    """Read how long a reservation lives."""
    if isinstance(ttl, bool) or not isinstance(ttl, (int, float)) or not 0 < ttl <= _LONGEST_TTL:
        raise ParameterError("ttl must be a number of seconds, greater than 0 and at most 366 days.")
    return timedelta(seconds=ttl)

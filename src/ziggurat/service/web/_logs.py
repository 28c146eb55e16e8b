"""Logs as lines of JSON on standard error: what was asked of which route, and how it ended; no data, no secret."""

from __future__ import annotations

import logging
import sys

import structlog

_QUIET = ("uvicorn.access", "sqlalchemy", "alembic", "dbos")


def write_logs() -> None:
    """Write what this process has to say as lines of JSON; libraries say what went wrong, and nothing else."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)

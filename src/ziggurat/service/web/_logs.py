"""Logs as lines of JSON on standard error: what was asked of which route, and how it ended; no data, no secret."""

from __future__ import annotations

import json
import logging
import sys

import structlog

_QUIET = ("uvicorn.access", "sqlalchemy", "alembic", "dbos")


class WithheldWords(logging.Formatter):
    """Tells of what libraries log who, how bad, where and which kind of exception; their words may quote anything."""

    def format(self, record: logging.LogRecord) -> str:
        """Write a line of JSON."""
        kind = record.exc_info[0] if record.exc_info else None
        facts = {"logger": record.name, "level": record.levelname.lower(), "at": f"{record.pathname}:{record.lineno}"}
        return json.dumps({**facts, **({"error": kind.__name__} if kind is not None else {})})


def write_logs() -> None:
    """Write what this process has to say as lines of JSON; libraries say that something went wrong, and where."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(WithheldWords())
    handler.setLevel(logging.WARNING)
    logging.getLogger().handlers[:] = [handler]
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)

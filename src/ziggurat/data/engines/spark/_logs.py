"""What PySpark logs of a failed query, cells included, is dropped."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _Quiet(logging.Filter):
    """Drops what a thread logs while it runs a query of ours."""

    def __init__(self) -> None:
        super().__init__()
        self.here = threading.local()

    def filter(self, record: logging.LogRecord) -> bool:  # noqa: ARG002
        return not getattr(self.here, "quiet", False)


_quiet = _Quiet()


@contextmanager
def quiet_logs() -> Iterator[None]:
    """Log nothing of the queries of this thread: PySpark logs the engine's message before it raises."""
    from pyspark.logger import PySparkLogger

    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).addFilter(_quiet)
    _quiet.here.quiet = True
    try:
        yield
    finally:
        _quiet.here.quiet = False

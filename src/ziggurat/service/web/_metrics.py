"""What operators may count: requests, how they ended, how long they took; no name and no amount of anybody's."""

from __future__ import annotations

import os

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest, multiprocess

_EDGES = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 60)


class ServiceMetrics:
    """The numbers of one process; those of all processes where Prometheus's folder for several is set."""

    def __init__(self) -> None:
        self._own = CollectorRegistry()
        words = ["method", "route", "status"]
        self._requests = Counter("ziggurat_requests", "Requests answered.", words, registry=self._own)
        self._seconds = Histogram(
            "ziggurat_request_seconds", "How long answers took, slots included.", ["route"], registry=self._own,
            buckets=_EDGES,
        )  # fmt: skip
        self._doubled = Counter(
            "ziggurat_slots_doubled", "Answers that took longer than their slot.", registry=self._own
        )

    def note(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def note_doubled(self, times: int) -> None:
        """Count an answer that did not keep its slot."""
        if times:
            self._doubled.inc()

    def text(self) -> bytes:
        """Give all numbers as Prometheus reads them."""
        if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
            return generate_latest(self._own)
        whole = CollectorRegistry()
        multiprocess.MultiProcessCollector(whole)  # type: ignore[no-untyped-call]
        return generate_latest(whole)

"""The queue of jobs: kept by DBOS in a database, so that no kill of any process loses one.

Nothing is asked of anybody outside: no hosted console, no telemetry, and what is kept is JSON, which runs no code when
it is read. What is queued is the name of a job and its turn; everything else is in its row and its folder.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

import structlog
from dbos import DBOS, SetWorkflowID
from dbos import Serializer as _Kept
from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError

from ziggurat.errors import UnavailableError, ZigguratError
from ziggurat.service._settings import ServiceSettings
from ziggurat.service.store import ServiceStore, job_slots, keep_to_owner, workers
from ziggurat.service.work._book import SILENT_SECONDS

QUEUE, WORKFLOW = "ziggurat-jobs", "ziggurat-job"
_VERSION = "1"  # of what is queued; a release of Ziggurat that reads it the same way keeps it
_MOST_SLOTS = 256
_POLL_SECONDS = 0.5


class PlainJson(_Kept):
    """Keeps what is queued as JSON."""

    def serialize(self, data: Any) -> str:
        """Write a value."""
        return json.dumps(data)

    def deserialize(cls, serialized_data: str) -> Any:  # noqa: N805 - as the library has it
        """Read a value."""
        return json.loads(serialized_data)

    def name(self) -> str:
        """What it is called among others."""
        return "ziggurat-json"


class JobQueue:
    """The queue, as one process works at it; there is one in a process.

    Parameters
    ----------
    settings
        How the service was started.
    slot
        The fixed name under which this process works.
    do
        What does a job, by its name and turn.
    """

    def __init__(self, settings: ServiceSettings, slot: str, do: Callable[[str, int], bool]) -> None:
        _quieten()
        if not settings.database.get_secret_value():
            keep_to_owner(settings.queue_file)
        DBOS(config={
            "name": "ziggurat", "system_database_url": settings.queue_url, "executor_id": slot,
            "application_version": _VERSION, "serializer": PlainJson(), "log_level": "CRITICAL", "enable_otlp": False,
        })  # fmt: skip

        @DBOS.workflow(name=WORKFLOW)
        def work(identity: str, turn: int) -> bool:
            """One turn of a job; if this process dies, the step is not done, and another turn is begun."""
            return DBOS.run_step({"name": "do"}, _safely, do, identity, turn)

        self._work = work
        DBOS.launch()
        _quieten()
        DBOS.register_queue(QUEUE, worker_concurrency=1, polling_interval_sec=_POLL_SECONDS)

    def put(self, identity: str, turn: int) -> None:
        """Queue a turn of a job; one that is queued or was done stays as it is."""
        with SetWorkflowID(f"{identity}-{turn}"):
            DBOS.enqueue_workflow(QUEUE, self._work, identity, turn)

    def close(self) -> None:
        """Stop working; what is queued stays."""
        DBOS.destroy(destroy_registry=True, workflow_completion_timeout_sec=20)


def take_slot(store: ServiceStore, worker: str) -> str:
    """Take the first name for workers that nobody living has."""
    for number in range(1, _MOST_SLOTS + 1):
        name = f"jobs-{number}"
        with store.write() as connection:
            try:
                with connection.begin_nested():
                    connection.execute(job_slots.insert().values(name=name, worker=worker))
                return name
            except IntegrityError:
                held = connection.execute(select(job_slots.c.worker).where(job_slots.c.name == name)).scalar_one()
            if not _lives(connection, held):
                mine = (job_slots.c.name == name) & (job_slots.c.worker == held)
                if connection.execute(update(job_slots).where(mine).values(worker=worker)).rowcount:
                    return name
    raise UnavailableError(f"More than {_MOST_SLOTS} processes do long work; start fewer.")


def _lives(connection: Any, worker: str) -> bool:
    from datetime import UTC, datetime, timedelta

    ago = (datetime.now(UTC) - timedelta(seconds=SILENT_SECONDS)).isoformat(timespec="microseconds")
    beat = connection.execute(select(workers.c.beat).where(workers.c.name == worker)).scalar()
    return beat is not None and str(beat) >= ago.replace("+00:00", "Z")


def _safely(do: Callable[[str, int], bool], identity: str, turn: int) -> bool:
    """Do a turn; what goes wrong is told by its kind and place, and the job stays for another turn."""
    try:
        return do(identity, turn)
    except ZigguratError as error:
        structlog.get_logger().error("job", job=identity, error=type(error).__name__)
    except Exception as error:  # noqa: BLE001  (foreign errors may quote what they were given)
        structlog.get_logger().error("job", job=identity, error=type(error).__name__)
    return False


def _quieten() -> None:
    """Let the queue say nothing: it would advertise a console, and quote what it was given."""
    logger = logging.getLogger("dbos")
    logger.handlers = [logging.NullHandler()]
    logger.setLevel(logging.CRITICAL)
    logger.propagate = False

"""Our own record of every run: SQLite while it goes on, Parquet when it has finished."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Literal, Self

from ziggurat.cards import Shown
from ziggurat.errors import DataError, ExperimentError
from ziggurat.experiments._as_json import (
    RECORD_COLUMNS,
    experiment_from_dict,
    experiment_to_dict,
    record_from_row,
    record_to_row,
)
from ziggurat.experiments._results import Results
from ziggurat.experiments._types import Experiment, NodeRecord
from ziggurat.experiments._values import well_formed
from ziggurat.experiments.storing._history_file import HistoryFile, hold, is_held
from ziggurat.files import replacing, write_text
from ziggurat.wording import nearest

RunStatus = Literal["running", "interrupted", "done", "failed", "stopped"]

_BATCH, _PATIENCE = 200, 1.0
_START = "INSERT INTO runs VALUES (?, ?, ?, ?, NULL, 'running', ?, ?, ?, ?)"
_FINISH = "UPDATE runs SET status = ?, finished = ? WHERE id = ?"
_INSERT = (
    f"INSERT OR REPLACE INTO records (run, {', '.join(RECORD_COLUMNS)}) "  # noqa: S608 - our own column names
    f"VALUES ({', '.join('?' * (len(RECORD_COLUMNS) + 1))})"
)
_RECORDS = f"SELECT {', '.join(RECORD_COLUMNS)} FROM records WHERE run = ? ORDER BY rowid"  # noqa: S608
_EXPERIMENT = "SELECT experiment, digest FROM runs WHERE id = ?"
_RUNS = (
    "SELECT r.id, r.name, r.digest, r.started, r.finished, r.status, r.executor, r.quick, r.versions, count(n.node), "
    "total(n.status = 'done'), total(n.status = 'failed'), total(n.status = 'skipped'), total(n.cached) "
    "FROM runs r LEFT JOIN records n ON n.run = r.id "
    "WHERE substr(r.id, 1, length(?1)) = ?1 GROUP BY r.id ORDER BY r.started DESC, r.rowid DESC"
)


@dataclass(frozen=True)
class Run(Shown):
    """One run of one experiment.

    Attributes
    ----------
    status
        'running'; 'interrupted' if its process is gone; else what it was finished with.
    versions
        Of ziggurat, Python, NumPy and the platform, when it started.
    counts
        How many nodes there are in all, how many ended done, failed or skipped, and how many came from the cache.
    """

    id: str
    name: str
    digest: str
    started: str
    finished: str | None
    status: RunStatus
    executor: str
    quick: bool
    versions: Mapping[str, str]
    counts: Mapping[str, int]


class History:
    """All runs of a store.

    What is recorded is committed at once, or, when records come faster than one a second, within a second or 200
    records; from then on neither a crash nor a power cut undoes it. Several processes may write at a time.

    Parameters
    ----------
    folder
        The store; `history.db` and `runs/` lie in it.
    create
        Whether to begin a history where there is none.
    """

    def __init__(self, folder: str | Path, *, create: bool = True) -> None:
        self._folder = Path(folder).absolute()
        if not create and not (self._folder / "history.db").exists():
            raise ExperimentError(f"There is no history in {str(self._folder)!r}; run an experiment first.")
        _make_folder(self._folder / "runs")
        self._file = HistoryFile(self._folder / "history.db")
        self._lock = threading.RLock()
        self._waiting: list[tuple[Any, ...]] = []
        self._committed = -_PATIENCE
        self._timer: threading.Timer | None = None
        self._unfinished: dict[str, IO[str] | None] = {}

    def start(self, experiment: Experiment, executor: str = "inline", quick: bool = False) -> str:
        """Begin a run and give its identifier, which sorts by time.

        Parameters
        ----------
        experiment
            What is run; it is also written to `runs/<run>/experiment.json`.
        executor
            Where it runs.
        quick
            Whether the small variant is run.
        """
        now = datetime.now(UTC)
        run_id = f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"
        content = experiment_to_dict(experiment)
        _make_folder(self.folder(run_id))
        with _translate(self.folder(run_id)):
            write_text(self.folder(run_id) / "experiment.json", json.dumps(content, indent=2) + "\n")
            self._unfinished[run_id] = hold(self._mark(run_id))
        told = (executor, int(quick), json.dumps(_versions()), json.dumps(content))
        with self._file.writing() as connection:
            connection.execute(_START, (run_id, well_formed(experiment.name), experiment.digest, _stamp(now), *told))
        return run_id

    def record(self, run_id: str, record: NodeRecord) -> None:
        """Write down what became of a node.

        Parameters
        ----------
        run_id
            From `start`.
        record
            A later record of the same node replaces an earlier one.
        """
        with self._lock:
            self._waiting.append((run_id, *record_to_row(record)))
            if len(self._waiting) >= _BATCH or time.monotonic() - self._committed >= _PATIENCE:
                self.flush()
            elif self._timer is None:
                # Not a daemon: an interpreter that ends in good order waits for the last records.
                self._timer = threading.Timer(_PATIENCE, self._flush_late)
                self._timer.start()

    def flush(self) -> None:
        """Commit whatever is still waiting; what cannot be written goes on waiting, and ExperimentError is raised."""
        with self._lock:
            self._stop_timer()
            if self._waiting:
                with self._file.writing() as connection:
                    connection.executemany(_INSERT, self._waiting)
                self._waiting.clear()
                self._committed = time.monotonic()

    def finish(self, run_id: str, status: RunStatus) -> None:
        """End a run and write its tidy table to `runs/<run>/results.parquet`, whole or not at all.

        Parameters
        ----------
        run_id
            From `start`.
        status
            'done', 'failed' (some trials did) or 'stopped'.
        """
        self.flush()
        with self._file.writing() as connection:
            connection.execute(_FINISH, (status, _stamp(datetime.now(UTC)), run_id))
        self._release(run_id)
        results = self.results(run_id)
        with _translate(self.folder(run_id)):
            _write_parquet(results, self.folder(run_id) / "results.parquet")

    def runs(self) -> list[Run]:
        """All runs, newest first."""
        return self._find("")

    def run(self, run_id: str) -> Run:
        """Give the run with this identifier, or the only one whose identifier begins so.

        Parameters
        ----------
        run_id
            An identifier or its beginning.
        """
        found = self._find(run_id)
        meant = [run for run in found if run.id == run_id] or found
        if len(meant) == 1:
            return meant[0]
        if meant:
            raise ExperimentError(f"{len(meant)} runs begin with {run_id!r}; write more of the one you mean.")
        raise self._unknown(run_id)

    def records(self, run_id: str) -> list[NodeRecord]:
        """Everything recorded of a run, in the order in which it was recorded.

        Parameters
        ----------
        run_id
            From `start`.
        """
        self.flush()
        with self._file.reading(_RECORDS, (run_id,)) as rows:
            return [record_from_row(row) for row in rows]

    def experiment(self, run_id: str) -> Experiment:
        """Give what was run, as it was then; no step is imported.

        Parameters
        ----------
        run_id
            From `start`.
        """
        with self._file.reading(_EXPERIMENT, (run_id,)) as rows:
            for content, digest in rows:
                return experiment_from_dict(json.loads(content), digest)
        raise self._unknown(run_id)

    def results(self, run_id: str) -> Results:
        """Give the results of a run, finished or not.

        Parameters
        ----------
        run_id
            From `start`.
        """
        return Results(self.experiment(run_id), self.records(run_id))

    def folder(self, run_id: str) -> Path:
        """Say where the files of a run lie.

        Parameters
        ----------
        run_id
            From `start`.
        """
        return self._folder / "runs" / run_id

    def close(self) -> None:
        """Commit what is waiting, end runs that nobody finished as 'stopped', and let the file go."""
        try:
            for run_id in tuple(self._unfinished):
                self.finish(run_id, "stopped")
            self.flush()
        finally:
            self._stop_timer()
            for run_id in tuple(self._unfinished):
                self._release(run_id)
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        try:
            self.close()
        except ExperimentError:
            # What went wrong inside the block is what its reader must hear of, not that closing failed as well.
            if error is None:
                raise

    def _find(self, beginning: str) -> list[Run]:
        self.flush()
        with self._file.reading(_RUNS, (beginning,)) as rows:
            return [self._run(row) for row in rows]

    def _run(self, row: tuple[Any, ...]) -> Run:
        names = ("all", "done", "failed", "skipped", "cached")
        counts = dict(zip(names, (int(count) for count in row[9:]), strict=True))
        status = row[5]
        if status == "running" and not is_held(self._mark(row[0])):
            status = "interrupted"
        run_id, name, digest, started, finished = row[:5]
        return Run(run_id, name, digest, started, finished, status, row[6], bool(row[7]), json.loads(row[8]), counts)

    def _unknown(self, run_id: str) -> ExperimentError:
        return ExperimentError(f"There is no run {run_id!r}; {nearest(run_id, [run.id for run in self.runs()])}")

    def _flush_late(self) -> None:
        with self._lock, suppress(ExperimentError):  # they go on waiting: the next record, or the end, raises it
            self._timer = None
            self.flush()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _mark(self, run_id: str) -> Path:
        return self.folder(run_id) / "running"

    def _release(self, run_id: str) -> None:
        held = self._unfinished.pop(run_id, None)
        if held is not None:
            held.close()
        self._mark(run_id).unlink(missing_ok=True)


def _stamp(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds")


def _versions() -> dict[str, str]:
    versions = {name: importlib.metadata.version(name) for name in ("ziggurat", "numpy")}
    return versions | {"python": platform.python_version(), "platform": platform.platform()}


def _make_folder(folder: Path) -> None:
    with _translate(folder):
        folder.mkdir(parents=True, exist_ok=True)


@contextmanager
def _translate(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "unknown reason"
        raise ExperimentError(
            f"{str(folder)!r} could not be written ({reason}); make room or name another store."
        ) from None
    except DataError as error:
        raise ExperimentError(str(error)) from None


def _write_parquet(results: Results, target: Path) -> None:
    from pyarrow import parquet

    with replacing(target, mode=0o644) as draft:
        parquet.write_table(results.table(), draft)

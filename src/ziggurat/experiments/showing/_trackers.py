"""Runs shown in MLflow and Weights & Biases as well; a tracker never disturbs the run that it watches."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Literal

from ziggurat.errors import ExperimentError, MissingExtraError, ZigguratError
from ziggurat.experiments._results import lineages
from ziggurat.experiments._types import Experiment, NodeRecord
from ziggurat.experiments._values import in_words
from ziggurat.experiments.storing import History

_LOG = logging.getLogger("ziggurat.experiments")
_ENDS = {"done": "FINISHED", "failed": "FAILED"}
_LONGEST_ERROR = 500


class Tracker(ABC):
    """Something that is told of a run as it goes on: `start`, then every `record`, then `finish`."""

    name = "The tracker"

    @abstractmethod
    def start(self, experiment: Experiment, run_id: str) -> None:
        """Begin a run; if the same run was begun before, what was sent then is replaced."""

    @abstractmethod
    def record(self, record: NodeRecord) -> None:
        """Take what became of one node; its parent has been taken before it."""

    @abstractmethod
    def finish(self, status: str) -> None:
        """End the run: 'done', 'failed' or 'stopped'."""


class Guarded(Tracker):
    """A tracker that works in a thread of its own, so that neither its errors nor its slowness reach the run.

    When it raises, falls too far behind or stops answering, that is noted once, in one sentence, and it is left
    alone from then on. Nothing is lost: the history holds every record, and `resend` sends them again.

    Parameters
    ----------
    tracker
        Which tracker to guard.
    note
        What takes the sentence; the log does unless told otherwise. It may be called from another thread.
    timeout
        How many seconds `finish` waits for a tracker that makes no progress.
    capacity
        How many records may wait for it.
    """

    def __init__(
        self,
        tracker: Tracker,
        *,
        note: Callable[[str], None] = _LOG.warning,
        timeout: float = 30.0,
        capacity: int = 10_000,
    ) -> None:
        self.name = tracker.name
        self._tracker, self._note, self._timeout, self._capacity = tracker, note, timeout, capacity
        self._events: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._ended, self._lock = threading.Event(), threading.Lock()
        self._given_up, self._delivered = False, 0

    @property
    def complete(self) -> bool:
        """Whether the tracker has taken everything, up to the end of the run."""
        return self._ended.is_set() and not self._given_up

    def start(self, experiment: Experiment, run_id: str) -> None:
        """Begin in the background."""
        self._events.put(partial(self._tracker.start, experiment, run_id))
        threading.Thread(target=self._work, name=f"tracker {self.name}", daemon=True).start()

    def record(self, record: NodeRecord) -> None:
        """Hand a record on, at once and without fail."""
        if self._given_up:
            return
        if self._events.qsize() >= self._capacity:
            self._give_up("did not keep up")
        else:
            self._events.put(partial(self._tracker.record, record))

    def finish(self, status: str) -> None:
        """Wait until everything is delivered, or until the tracker makes no more progress."""
        self._events.put(partial(self._tracker.finish, status))
        self._events.put(None)
        seen = self._delivered
        while not self._given_up and not self._ended.wait(self._timeout):
            if self._delivered == seen:
                self._give_up(f"did not answer for {self._timeout:g} seconds")
            seen = self._delivered

    def _work(self) -> None:
        while (event := self._events.get()) is not None and not self._given_up:
            try:
                event()
            except BaseException as error:  # noqa: BLE001 - whatever foreign code raises stays in its thread
                self._give_up(f"failed ({type(error).__name__})")
                break
            self._delivered += 1
        self._ended.set()

    def _give_up(self, what: str) -> None:
        with self._lock:
            first, self._given_up = not self._given_up, True
        if first:
            self._note(f"{self.name} {what}; the run goes on without it, and the history keeps all to send it again.")


def resend(history: History, run_id: str, tracker: Tracker) -> None:
    """Send a recorded run to a tracker, from the beginning.

    Parameters
    ----------
    history
        Where the run is recorded.
    run_id
        Its identifier or the beginning of it.
    tracker
        What to send it to; it replaces what it got of this run before.

    Raises
    ------
    ExperimentError
        If the tracker fails; the history stays as it is, so it can be tried again.
    """
    run = history.run(run_id)
    try:
        tracker.start(history.experiment(run.id), run.id)
        for record in history.records(run.id):
            tracker.record(record)
        tracker.finish(run.status)
    except ZigguratError:
        raise
    except Exception as error:  # noqa: BLE001 - foreign code may raise anything
        raise ExperimentError(
            f"{tracker.name} failed ({type(error).__name__}); the history is whole, so send the run again later."
        ) from None


class MlflowTracker(Tracker):
    """MLflow: one run for the experiment, in it one per module, in those one per node.

    Parameters
    ----------
    folder
        Where the local store (`mlflow.db`) lies if no address is given.
    uri
        The tracking address; else that of MLFLOW_TRACKING_URI, else the local store.
    """

    name = "MLflow"

    def __init__(self, folder: str | Path, uri: str | None = None) -> None:
        _require("mlflow")
        self._folder = Path(folder).absolute()
        self._uri = uri or os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{self._folder / 'mlflow.db'}"
        self._client: Any = None
        self._experiment = self._run_id = self._root = ""
        self._modules: dict[str, str] = {}
        self._failed: set[str] = set()

    def start(self, experiment: Experiment, run_id: str) -> None:
        """Make the runs of the experiment and its modules."""
        os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")  # it reports usage to its makers otherwise
        os.environ.setdefault("MLFLOW_LOGGING_LEVEL", "WARNING")
        self._client = import_module("mlflow.tracking").MlflowClient(tracking_uri=self._uri)
        self._experiment, self._run_id = self._experiment_named(experiment.name), run_id
        self._discard_earlier()
        about = "\n\n".join(text for text in (experiment.title, experiment.description) if text)
        self._root = self._make(run_id, None, {"mlflow.note.content": about, "digest": experiment.digest})
        self._log(self._root, {"name": experiment.name, "seed": experiment.seed}, {})
        self._failed, self._modules = set(), {}
        for name, lineage in lineages(experiment).items():
            parent = self._modules[lineage[-2].id] if len(lineage) > 1 else self._root
            self._modules[name] = self._make(name, parent, {"module": name})

    def record(self, record: NodeRecord) -> None:
        """Make the run of a node inside that of its module."""
        tags = {"module": record.module, "node": record.node, "status": record.status, "cached": _word(record.cached)}
        tags |= {"parent": record.parent} if record.parent else {}
        tags |= {"error": _first_line(record.error)} if record.error else {}
        began = _milliseconds(record.started)
        run = self._make(record.node, self._modules.get(record.module, self._root), tags, began)
        self._log(run, _settings(record), record.metrics, began)
        ended = began + round(1000 * record.seconds)
        self._client.set_terminated(run, _ENDS.get(record.status, "KILLED"), ended)
        if record.status != "done":
            self._failed.add(record.module)

    def finish(self, status: str) -> None:
        """End the runs of the modules and of the experiment."""
        whole = "FINISHED" if status in _ENDS else "KILLED"
        for name, run in self._modules.items():
            self._client.set_terminated(run, "FAILED" if name in self._failed else whole)
        self._client.set_tag(self._root, "status", status)
        self._client.set_terminated(self._root, _ENDS.get(status, "KILLED"))

    def _experiment_named(self, name: str) -> str:
        known = self._client.get_experiment_by_name(name)
        if known is not None:
            return str(known.experiment_id)
        local = self._uri.startswith(("sqlite:", "file:", "/"))
        place = (self._folder / "mlflow-artifacts").as_uri() if local else None
        return str(self._client.create_experiment(name, artifact_location=place))

    def _discard_earlier(self) -> None:
        mine = f"tags.`ziggurat.run` = '{self._run_id}'"
        while found := self._client.search_runs([self._experiment], mine, max_results=1000):
            for run in found:
                self._client.delete_run(run.info.run_id)

    def _make(self, name: str, parent: str | None, tags: Mapping[str, str], began: int | None = None) -> str:
        whole = {**tags, "ziggurat.run": self._run_id} | ({"mlflow.parentRunId": parent} if parent else {})
        made = self._client.create_run(self._experiment, start_time=began, tags=whole, run_name=name)
        return str(made.info.run_id)

    def _log(self, run: str, params: Mapping[str, Any], metrics: Mapping[str, float], time: int = 0) -> None:
        entities = import_module("mlflow.entities")
        self._client.log_batch(
            run,
            metrics=[entities.Metric(_key(name), float(value), time, 0) for name, value in metrics.items()],
            params=[entities.Param(_key(name), in_words(value)[:6000]) for name, value in params.items()],
        )


class WandbTracker(Tracker):
    """Weights & Biases: one W&B run per node, grouped by the run of the experiment, its module as the job type.

    That is how W&B shows trials side by side, since it has no runs inside runs; one further run, of job type
    'experiment', stands for the whole. Nothing leaves the machine unless WANDB_MODE says so: `wandb sync` sends the
    folder later. W&B writes its files from a process of its own, so they may be whole only a moment after `finish`.

    Parameters
    ----------
    folder
        Where offline runs lie, unless WANDB_DIR is set.
    project
        The project; else that of WANDB_PROJECT, else the experiment's name.
    """

    name = "Weights & Biases"

    def __init__(self, folder: str | Path, project: str | None = None) -> None:
        _require("wandb")
        self._folder = Path(os.environ.get("WANDB_DIR") or folder).absolute()
        self._project = project or os.environ.get("WANDB_PROJECT") or ""
        self._mode = os.environ.get("WANDB_MODE") or "offline"
        self._run_id, self._root = "", None

    _root: Any

    def start(self, experiment: Experiment, run_id: str) -> None:
        """Open the run that stands for the whole experiment."""
        os.environ.setdefault("WANDB_ERROR_REPORTING", "false")  # it reports crashes to its makers otherwise
        self._folder.mkdir(parents=True, exist_ok=True)
        self._project = self._project or re.sub(r"[/\\#?%:]", "-", experiment.name)[:128]
        self._run_id = run_id
        about = {"name": experiment.name, "title": experiment.title, "seed": experiment.seed}
        self._root = self._open("", run_id, "experiment", about | {"digest": experiment.digest})

    def record(self, record: NodeRecord) -> None:
        """Make the run of a node and close it."""
        run = self._open(record.node, record.node, record.module, _settings(record))
        if record.metrics:
            run.log(dict(record.metrics))
        run.summary.update({"status": record.status, "cached": record.cached, "seconds": record.seconds})
        if record.error:
            run.summary["error"] = _first_line(record.error)
        run.finish(exit_code=int(record.status != "done"))

    def finish(self, status: str) -> None:
        """Close the run that stands for the whole."""
        self._root.summary["status"] = status
        self._root.finish(exit_code=int(status != "done"))

    def _open(self, node: str, name: str, job: str, config: Mapping[str, Any]) -> Any:
        wandb = import_module("wandb")
        quiet = {"silent": True, "console": "off", "disable_git": True, "save_code": False}
        private = {"x_disable_stats": True, "x_disable_meta": True, "x_save_requirements": False}
        return wandb.init(
            project=self._project,
            dir=str(self._folder),
            mode=self._mode,
            id=_identifier(self._run_id, node),
            name=name[:128],
            group=self._run_id,
            job_type=job,
            config=dict(config),
            reinit="create_new",
            settings=wandb.Settings(**quiet, **private),
        )


def _require(package: Literal["mlflow", "wandb"]) -> None:
    if find_spec(package) is None:
        raise MissingExtraError(f"Tracking needs {package}; add it with: pip install 'ziggurat[tracking]'.")


def _settings(record: NodeRecord) -> dict[str, Any]:
    return {**record.varied, **{f"{module}.repeat": number for module, number in record.repeats.items()}}


def _first_line(error: str | None) -> str:
    """Keep the sentence and leave the traceback at home."""
    return (error or "").strip().partition("\n")[0][:_LONGEST_ERROR]


def _key(name: str) -> str:
    return re.sub(r"[^\w\-. /]", "_", name)[:250]


def _word(flag: bool) -> str:
    return "true" if flag else "false"


def _identifier(run_id: str, node: str) -> str:
    return hashlib.sha256(f"{run_id}\n{node}".encode()).hexdigest()[:16]


def _milliseconds(started: str) -> int:
    try:
        moment = datetime.fromisoformat(started)
    except ValueError:
        moment = datetime.now(UTC)
    return round(1000 * moment.timestamp())

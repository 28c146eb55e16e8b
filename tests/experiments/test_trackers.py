"""MLflow and W&B show a run as it is; a tracker that fails or hangs never disturbs it."""

import json
import sys
import threading

import pytest

from ziggurat.errors import ExperimentError, MissingExtraError
from ziggurat.experiments import (
    Experiment,
    Guarded,
    History,
    MlflowTracker,
    Module,
    NodeRecord,
    Tracker,
    WandbTracker,
    resend,
)

AGAIN = Module("again", "classify", metrics=("accuracy",))
PRIVATE = Module("private", "privatize", trials=({"epsilon": 0.5},), modules=(AGAIN,))
EXPERIMENT = Experiment("example", (PRIVATE,), seed=7, title="An example", digest="d" * 64)


def record(node, status="done", metrics=None, error=None):
    module = node.rpartition("/")[2].partition("[")[0].partition("#")[0]
    parent = node.rpartition("/")[0] or None
    varied, repeats = {"private.epsilon": 0.5}, {"private": 0}
    time = "2026-11-15T12:00:00+00:00"
    return NodeRecord(node, module, varied, repeats, parent, status, True, time, 1.5, error, metrics or {}, {}, "k")


RECORDS = [
    record("private[epsilon=0.5]#0"),
    record("private[epsilon=0.5]#0/again#0", metrics={"accuracy": 0.93}),
    record("private[epsilon=0.5]#0/again#1", "failed", error="ValueError: no\nTraceback: rows of data"),
]


@pytest.fixture
def history(tmp_path):
    with History(tmp_path / "store") as opened:
        yield opened


@pytest.fixture
def run(history):
    made = history.start(EXPERIMENT)
    for each in RECORDS:
        history.record(made, each)
    history.finish(made, "failed")
    return made


@pytest.fixture
def quiet_settings(monkeypatch):
    for name in ("MLFLOW_TRACKING_URI", "WANDB_MODE", "WANDB_DIR", "WANDB_PROJECT"):
        monkeypatch.delenv(name, raising=False)


def send(tracker):
    tracker.start(EXPERIMENT, "run-1")
    for each in RECORDS:
        tracker.record(each)
    tracker.finish("failed")


class Remembering(Tracker):
    """A tracker that keeps what it is told."""

    def __init__(self):
        self.told = []

    def start(self, experiment, run_id):
        self.told.append(experiment.name)

    def record(self, record):
        self.told.append(record.node)

    def finish(self, status):
        self.told.append(status)


class Raising(Remembering):
    """A tracker that is down from its second record on."""

    name = "Broken"

    def record(self, record):
        if len(self.told) == 2:
            raise ConnectionError("secret-token@host")
        super().record(record)


class Hanging(Remembering):
    """A tracker that never answers."""

    name = "Hung"

    def __init__(self):
        super().__init__()
        self.never = threading.Event()

    def record(self, record):
        self.never.wait()


def test_a_tracker_in_the_background_gets_everything_in_order():
    tracker, notes = Remembering(), []
    guarded = Guarded(tracker, note=notes.append)
    send(guarded)
    assert tracker.told == ["example", *(each.node for each in RECORDS), "failed"]
    assert (guarded.complete, notes) == (True, [])


def test_a_tracker_that_raises_is_noted_once_without_its_own_words():
    notes = []
    guarded = Guarded(Raising(), note=notes.append)
    send(guarded)
    assert notes == [
        "Broken failed (ConnectionError); the run goes on without it, and the history keeps all to send it again."
    ]
    assert not guarded.complete


def test_a_tracker_that_hangs_is_left_behind():
    notes, tracker = [], Hanging()
    guarded = Guarded(tracker, note=notes.append, timeout=0.2)
    send(guarded)
    assert [note.partition(";")[0] for note in notes] == ["Hung did not answer for 0.2 seconds"]
    tracker.never.set()


def test_a_tracker_that_falls_too_far_behind_is_left_alone():
    notes, tracker = [], Hanging()
    guarded = Guarded(tracker, note=notes.append, timeout=60, capacity=5)
    guarded.start(EXPERIMENT, "run-1")
    for _ in range(100):
        guarded.record(RECORDS[0])
    guarded.finish("done")
    assert [note.partition(";")[0] for note in notes] == ["Hung did not keep up"]
    tracker.never.set()


def test_what_a_tracker_missed_is_sent_again_from_the_history(history, run):
    tracker = Remembering()
    resend(history, run, tracker)
    assert tracker.told == ["example", *(each.node for each in RECORDS), "failed"]


def test_a_tracker_still_down_is_one_sentence(history, run):
    with pytest.raises(ExperimentError, match=r"^Broken failed \(ConnectionError\); the history is whole"):
        resend(history, run, Raising())
    assert len(history.records(run)) == 3


@pytest.mark.parametrize(("package", "made"), [("mlflow", MlflowTracker), ("wandb", WandbTracker)])
def test_a_missing_extra_is_named_before_anything_runs(tmp_path, monkeypatch, package, made):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=r"ziggurat\[tracking\]"):
        made(tmp_path)


def mlflow_runs(folder):
    client = pytest.importorskip("mlflow.tracking").MlflowClient(f"sqlite:///{folder / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("example")
    return {found.info.run_name: found for found in client.search_runs([experiment.experiment_id])}


def test_mlflow_shows_nested_runs_that_mirror_the_modules(tmp_path, quiet_settings, history, run):
    pytest.importorskip("mlflow")
    for _ in range(2):  # sending again replaces what was sent before
        resend(history, run, MlflowTracker(tmp_path))
    found = mlflow_runs(tmp_path)
    assert len(found) == 1 + 2 + 3
    parents = {name: each.data.tags.get("mlflow.parentRunId") for name, each in found.items()}
    assert parents[run] is None
    assert parents["private"] == found[run].info.run_id
    assert parents["again"] == found["private"].info.run_id
    node = found["private[epsilon=0.5]#0/again#0"]
    assert node.data.tags["mlflow.parentRunId"] == found["again"].info.run_id
    assert node.data.metrics == {"accuracy": 0.93}
    assert node.data.params == {"private.epsilon": "0.5", "private.repeat": "0"}
    assert (node.data.tags["status"], node.data.tags["cached"], node.info.status) == ("done", "true", "FINISHED")
    failed = found["private[epsilon=0.5]#0/again#1"]
    assert (failed.info.status, failed.data.tags["error"]) == ("FAILED", "ValueError: no")
    assert [found[name].info.status for name in (run, "private", "again")] == ["FAILED", "FINISHED", "FAILED"]


def test_an_mlflow_server_that_is_down_does_not_disturb(tmp_path, monkeypatch):
    pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    notes = []
    send(Guarded(MlflowTracker(tmp_path), note=notes.append))
    assert [note.partition(" (")[0] for note in notes] == ["MLflow failed"]


def wandb_runs(folder):
    datastore = pytest.importorskip("wandb.sdk.internal.datastore")
    proto = pytest.importorskip("wandb.proto.wandb_internal_pb2")
    found = {}
    for path in folder.glob("wandb/offline-run-*/*.wandb"):
        store, told = datastore.DataStore(), {}
        store.open_for_scan(str(path))
        while (data := store.scan_data()) is not None:
            entry = proto.Record()
            entry.ParseFromString(data)
            if entry.HasField("run"):
                told["run"] = entry.run
            for item in entry.summary.update:
                told[item.key or "/".join(item.nested_key)] = json.loads(item.value_json)
            for item in entry.history.item:
                told[item.key or "/".join(item.nested_key)] = json.loads(item.value_json)
        found[told["run"].display_name] = told
    return found


def test_wandb_stays_offline_and_groups_nodes_by_run_and_module(tmp_path, quiet_settings):
    wandb = pytest.importorskip("wandb")
    guarded = Guarded(WandbTracker(tmp_path), timeout=120)
    send(guarded)
    assert guarded.complete
    wandb.teardown()  # its own process may still be writing when a run has finished
    found = wandb_runs(tmp_path)
    assert {name: (told["run"].run_group, told["run"].job_type) for name, told in found.items()} == {
        "run-1": ("run-1", "experiment"),
        "private[epsilon=0.5]#0": ("run-1", "private"),
        "private[epsilon=0.5]#0/again#0": ("run-1", "again"),
        "private[epsilon=0.5]#0/again#1": ("run-1", "again"),
    }
    assert found["private[epsilon=0.5]#0/again#0"]["accuracy"] == 0.93
    failed = found["private[epsilon=0.5]#0/again#1"]
    assert (failed["status"], failed["error"]) == ("failed", "ValueError: no")
    config = {item.key: item.value_json for item in failed["run"].config.update}
    assert config["private.epsilon"] == "0.5"

"""Jobs survive the death of the process that does them, and of the worker that watches it: paid once, done once."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from ziggurat.errors import ParameterError
from ziggurat.release.bundle import verify_bundle
from ziggurat.service import ServiceSettings
from ziggurat.service.work import _doing
from ziggurat.service.work._watched import WatchedChild
from ziggurat.service.work.tasks import TASKS

COUNT = {"kind": "question", "sql": "SELECT COUNT(*) AS n FROM clinic", "epsilon": "0.5", "rows_per_unit": 1}
_PATIENCE = 120.0


class PlantedKill(BaseException):
    """Ends a run as a kill does: nothing is tidied up that catches errors."""


def require_paid_once(workshop: Any, identity: str) -> None:
    told = workshop.house.jobs.get(identity)
    assert told.state == "done", told
    kinds = [each.kind for each in workshop.house.ledger.history("clinic", "chief")]
    assert (kinds.count("reserve"), kinds.count("commit"), kinds.count("abandon")) == (1, 1, 0)
    assert workshop.house.ledger.verify(whole=True).ok
    folder = workshop.house.jobs.folder_of(identity)
    assert verify_bundle(folder.bundle).sound
    assert verify_bundle(folder.public).sound
    assert len(workshop("chief", "GET", "/v1/releases").json()["releases"]) == 1


def _begin(workshop: Any) -> str:
    return str(workshop.release("chief", COUNT).json()["id"])


def _steps(workshop: Any, monkeypatch: pytest.MonkeyPatch, identity: str, last: int) -> list[str]:
    """Run a job in this process up to a step, and die there."""
    job, folder = workshop.house.jobs.get(identity), workshop.house.jobs.folder_of(identity)
    monkeypatch.setenv("ZIGGURAT_LEDGER", workshop.house.settings.ledger_place)
    monkeypatch.setenv("ZIGGURAT_KEY", str(workshop.house.settings.release_key))
    told: list[str] = []

    def tell(step: str) -> None:
        told.append(step)
        if len(told) > last:
            raise PlantedKill

    task = {"kind": "release", "round": job.round, "go_on": "", "request": job.request}
    with suppress(PlantedKill):
        TASKS["release"](folder, task, tell, lambda: False)
    return told


def test_a_run_that_dies_at_any_step_goes_on_and_pays_once(workshop, monkeypatch):
    identity = _begin(workshop)
    seen: list[str] = []
    for last in range(12):
        told = _steps(workshop, monkeypatch, identity, last)
        seen.append(told[-1] if told else "")
        if len(told) <= last:
            break
    assert len(set(seen)) > 4, seen
    assert workshop.do() == 1
    require_paid_once(workshop, identity)


@pytest.mark.slow
@pytest.mark.parametrize("file", ["reserved.json", "made/held.json", "committed.json"])
def test_a_process_that_is_killed_is_followed_by_another(workshop, monkeypatch, file: str):
    children: list[WatchedChild] = []

    def watch(*given: Any) -> WatchedChild:
        children.append(WatchedChild(*given))
        return children[-1]

    monkeypatch.setattr(_doing, "WatchedChild", watch)
    identity = _begin(workshop)
    doing = threading.Thread(target=workshop.do)
    doing.start()
    _wait_for(workshop.house.jobs.folder_of(identity).journal / file, doing)
    children[0].kill()
    doing.join(_PATIENCE)
    while workshop.do():
        pass
    require_paid_once(workshop, identity)


def test_a_job_that_dies_three_times_is_failed_and_says_what_stays_spent(workshop, monkeypatch):
    class DeadAtOnce(WatchedChild):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            self.kill()

    monkeypatch.setattr(_doing, "WatchedChild", DeadAtOnce)
    identity = _begin(workshop)
    turns = 0
    while workshop.do():
        turns += 1
    told = workshop.job("chief", identity)
    assert (turns, told["state"]) == (3, "failed")
    assert "stays spent" in told["error"]["message"]


def test_a_job_that_takes_too_long_is_ended_once(workshop):
    workshop.hand._settings = workshop.house.settings.model_copy(update={"job_hours": 1e-9})
    identity = _begin(workshop)
    assert workshop.do() == 1
    told = workshop.job("chief", identity)
    assert (told["state"], "longer than jobs may" in told["error"]["message"]) == ("failed", True)


def test_a_job_that_needs_too_much_memory_says_so_once(workshop):
    with pytest.raises(ParameterError, match="2GB or more"):
        ServiceSettings.read({"job_memory": "150MB"}, {})
    workshop.hand._settings = workshop.house.settings.model_copy(update={"job_memory": "150MB"})
    identity = _begin(workshop)
    assert workshop.do() == 1
    told = workshop.job("chief", identity)
    assert told["state"] == "failed", told
    assert "more memory" in told["error"]["message"]


def test_one_of_many_takes_a_job(workshop):
    identity = _begin(workshop)
    taken: list[Any] = []
    book = workshop.house.jobs

    def take(worker: int) -> None:
        taken.append(book.claim(identity, 0, f"w{worker}"))

    trying = [threading.Thread(target=take, args=(worker,)) for worker in range(8)]
    for each in trying:
        each.start()
    for each in trying:
        each.join()
    assert sum(each is not None for each in taken) == 1


def test_a_worker_that_was_silent_has_lost_its_job(workshop):
    identity = _begin(workshop)
    book = workshop.house.jobs
    mine = book.claim(identity, 0, "gone")
    assert mine is not None
    assert book.take_over() == [identity]
    assert book.note(mine, "still here") is None
    assert book.end(mine, "done", None, {"kind": "question", "what": "", "bundle": ""}) is False
    assert not book.hand_back(mine, died=True)
    assert book.get(identity).state == "waiting"
    living = book.claim(identity, 1, workshop.house.worker)
    assert living is not None
    assert book.take_over() == []


@pytest.mark.slow
def test_two_processes_do_not_work_in_one_folder_at_once(workshop):
    import fcntl

    identity = _begin(workshop)
    job, folder = workshop.house.jobs.get(identity), workshop.house.jobs.folder_of(identity)
    folder.set_task({"kind": "release", "round": 0, "go_on": "", "request": job.request})
    with (folder.path / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        child = WatchedChild(folder, workshop.house.settings)
        try:
            assert not child.ended(4)
            assert not folder.journal.exists()
        finally:
            child.close()
    assert workshop.do() == 1
    require_paid_once(workshop, identity)


def _wait_for(file: Path, doing: threading.Thread | None = None) -> None:
    until = time.monotonic() + _PATIENCE
    while not file.exists() and time.monotonic() < until and (doing is None or doing.is_alive()):
        time.sleep(0.001)

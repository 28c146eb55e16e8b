"""Processes that do jobs: started, killed, started again and stopped; the queue loses nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from ziggurat.release.bundle import verify_bundle
from ziggurat.service.store import forget_workers, workers
from ziggurat.service.work import FINAL

COUNT = {"kind": "question", "sql": "SELECT COUNT(*) AS n FROM clinic", "epsilon": "0.5", "rows_per_unit": 1}
_PATIENCE = 240.0
_WORKER = "from ziggurat.service.web._running import work_from_environment; work_from_environment()"
_SERVICE = "from ziggurat.service import *; run_service(ServiceSettings.read())"


def _start(workshop: Any, command: str, errors: Any = None, **said: Any) -> subprocess.Popen[bytes]:
    settings = workshop.house.settings
    given = {name: value for name, value in os.environ.items() if not name.startswith("ZIGGURAT_")}
    given |= {"ZIGGURAT_SERVICE_FOLDER": str(settings.folder), "ZIGGURAT_SERVICE_JOB_SLOT": "0.05"}
    given |= {f"ZIGGURAT_SERVICE_{name.upper()}": str(value) for name, value in said.items()}
    return subprocess.Popen(
        [sys.executable, "-c", command], env=given, stdin=subprocess.PIPE, stderr=errors, stdout=errors
    )


def _wait(found: Callable[[], Any]) -> Any:
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        seen = found()
        if seen:
            return seen
        time.sleep(0.02)
    raise AssertionError("It did not happen.")


def _living(workshop: Any, kind: str) -> list[str]:
    with workshop.house.store.read() as connection:
        found = connection.execute(select(workers.c.name).where(workers.c.kind == kind)).scalars()
        return [each for each in found if each != workshop.house.worker]


def _is_over(workshop: Any, identity: str) -> bool:
    return workshop.house.jobs.get(identity).state in FINAL


def _require_done(workshop: Any, identity: str) -> None:
    job = workshop.house.jobs.get(identity)
    assert job.state == "done", job
    assert verify_bundle(workshop.house.jobs.folder_of(identity).bundle).sound
    assert workshop.house.ledger.verify(whole=True).ok


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.kill()
    process.wait()
    assert process.stdin is not None
    process.stdin.close()


@pytest.mark.slow
def test_a_worker_that_is_killed_is_followed_by_another_which_pays_nothing(workshop):
    identity = workshop.release("chief", COUNT).json()["id"]
    first = _start(workshop, _WORKER)
    second = None
    try:
        reserved = workshop.house.jobs.folder_of(identity).journal / "reserved.json"
        _wait(lambda: reserved.exists() or first.poll() is not None)
        first.kill()
        first.wait()
        forget_workers(workshop.house.store, _living(workshop, "jobs")[0])  # as who has started it does
        second = _start(workshop, _WORKER)
        _wait(lambda: _is_over(workshop, identity))
        _require_done(workshop, identity)
        kinds = [each.kind for each in workshop.house.ledger.history("clinic", "chief")]
        assert (kinds.count("reserve"), kinds.count("commit")) == (1, 1)
        second.send_signal(signal.SIGTERM)
        assert second.wait(_PATIENCE) == 0
    finally:
        for each in (first, second):
            if each is not None:
                _end(each)


@pytest.mark.slow
def test_two_workers_share_the_jobs_and_each_is_done_once(workshop):
    jobs = [workshop.release("chief", {**COUNT, "epsilon": f"0.{n}"}).json()["id"] for n in (1, 2, 3)]
    started = [_start(workshop, _WORKER) for _ in range(2)]
    try:
        for identity in jobs:
            _wait(lambda identity=identity: _is_over(workshop, identity))
            _require_done(workshop, identity)
        kinds = [each.kind for each in workshop.house.ledger.history("clinic", "chief")]
        assert (kinds.count("reserve"), kinds.count("commit")) == (3, 3)
        assert {workshop.house.jobs.get(each).turn for each in jobs} == {0}
    finally:
        for each in started:
            _end(each)


@pytest.mark.slow
def test_a_service_starts_its_workers_again_and_stops_with_all_of_them(workshop):
    service = _start(workshop, _SERVICE, port=0, job_workers=1)
    try:
        first = _wait(lambda: _living(workshop, "jobs"))[0]
        pid = int(first.rsplit("-", 2)[1])
        os.kill(pid, signal.SIGKILL)
        _wait(lambda: [each for each in _living(workshop, "jobs") if each != first])
        identity = workshop.release("chief", COUNT).json()["id"]
        _wait(lambda: _is_over(workshop, identity))
        _require_done(workshop, identity)
        last = int(next(each for each in _living(workshop, "jobs") if each != first).rsplit("-", 2)[1])
        service.send_signal(signal.SIGTERM)
        assert service.wait(_PATIENCE) == 0
        assert not Path(f"/proc/{last}").exists()
    finally:
        _end(service)


def test_a_worker_says_nothing_about_hosted_consoles(workshop, tmp_path: Path):
    said = tmp_path / "said"
    with said.open("wb") as errors:
        worker = _start(workshop, _WORKER, errors)
        try:
            identity = workshop.release("chief", {**COUNT, "epsilon": "900"}).json()["id"]
            _wait(lambda: _is_over(workshop, identity))
            found = list(workshop.house.settings.folder.glob("*.db*"))
            assert {each.name.partition(".")[0] for each in found} == {"jobs", "ledger", "service"}
            assert not [each.name for each in found if each.stat().st_mode & 0o77]
            worker.send_signal(signal.SIGTERM)
            assert worker.wait(_PATIENCE) == 0
        finally:
            _end(worker)
    assert "dbos" not in said.read_text().lower()


@pytest.mark.slow
@pytest.mark.postgres
def test_jobs_are_queued_and_paid_in_postgresql(open_workshop, database: str):
    workshop = open_workshop(database=database)
    workshop.clinic()
    identity = workshop.release("chief", COUNT).json()["id"]
    worker = _start(workshop, _WORKER, database=database)
    try:
        _wait(lambda: _is_over(workshop, identity))
        _require_done(workshop, identity)
        assert not list(workshop.house.settings.folder.glob("*.db"))
        assert "postgresql" not in workshop.house.jobs.folder_of(identity).description.read_text()
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(_PATIENCE) == 0
    finally:
        _end(worker)

"""Jobs end when somebody says so, and what was reserved stays spent."""

from __future__ import annotations

from typing import Any

from ziggurat.service.work.tasks import TASKS

COUNT = {"kind": "question", "sql": "SELECT COUNT(*) AS n FROM clinic", "epsilon": "0.5", "rows_per_unit": 1}


def test_a_job_that_waits_ends_at_once_and_costs_nothing(workshop):
    identity = workshop.release("ana", COUNT).json()["id"]
    assert workshop("ben", "POST", f"/v1/jobs/{identity}/cancel").status_code == 404
    assert workshop("ana", "POST", f"/v1/jobs/{identity}/cancel").json()["state"] == "cancelled"
    assert workshop.do() == 0
    assert workshop("ana", "POST", f"/v1/jobs/{identity}/cancel").json()["state"] == "cancelled"
    assert workshop.house.ledger.history("clinic", "ana")[-1].kind == "grant"


def _run(workshop: Any, monkeypatch: Any, before: str) -> tuple[Any, dict[str, Any]]:
    """Run a release in this process, and ask it to stop before a step."""
    identity = workshop.release("chief", COUNT).json()["id"]
    job, folder = workshop.house.jobs.get(identity), workshop.house.jobs.folder_of(identity)
    monkeypatch.setenv("ZIGGURAT_LEDGER", workshop.house.settings.ledger_place)
    monkeypatch.setenv("ZIGGURAT_KEY", str(workshop.house.settings.release_key))
    told: list[str] = []
    task = {"kind": "release", "round": 0, "go_on": "", "request": job.request}
    return folder, TASKS["release"](folder, task, told.append, lambda: before in told)


def test_a_job_that_is_cancelled_before_it_reserves_costs_nothing(workshop, monkeypatch):
    _, outcome = _run(workshop, monkeypatch, "planning")
    assert outcome == {"state": "cancelled", "result": {"spent": "Nothing was spent."}}
    assert [each.kind for each in workshop.house.ledger.history("clinic", "chief")].count("reserve") == 0


def test_a_job_that_is_cancelled_after_it_reserved_says_what_stays_spent(workshop, monkeypatch):
    folder, outcome = _run(workshop, monkeypatch, "making it")
    assert outcome["state"] == "cancelled"
    assert "stays spent" in outcome["result"]["spent"]
    assert not folder.bundle.exists()
    assert workshop.house.ledger.verify(whole=True).ok


def test_the_process_of_a_job_that_is_cancelled_ends(workshop):
    identity = workshop.release("chief", COUNT).json()["id"]
    book = workshop.house.jobs
    claim = book.claim

    def take_and_cancel(*given: Any) -> Any:
        job = claim(*given)
        book.cancel(identity)
        return job

    book.claim = take_and_cancel
    assert workshop.do() == 1
    told = workshop.job("chief", identity)
    assert told["state"] in ("cancelled", "done")
    assert workshop.house.ledger.verify(whole=True).ok

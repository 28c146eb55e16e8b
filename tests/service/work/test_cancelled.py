"""Jobs end when somebody says so, and what was reserved stays spent."""

from __future__ import annotations

from typing import Any

from ziggurat.service.work import _book
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


def _place(open_workshop: Any) -> tuple[Any, str]:
    """Let ana ask for a job whose slot does not end while the test runs, and let it be begun."""
    workshop = open_workshop(job_slot=80_000)
    workshop.clinic()
    identity = workshop.release("ana", COUNT).json()["id"]
    assert workshop.house.jobs.claim(identity, 0, workshop.house.worker)
    return workshop, identity


def test_whether_a_job_could_still_be_ended_tells_nobody_how_long_it_takes(open_workshop):
    workshop, identity = _place(open_workshop)
    early = workshop("ana", "POST", f"/v1/jobs/{identity}/cancel")
    workshop.house.jobs.end(workshop.house.jobs.get(identity), "done")
    late = workshop("ana", "POST", f"/v1/jobs/{identity}/cancel")
    assert (early.status_code, early.text) == (late.status_code, late.text)
    assert early.json()["error"]["kind"] == "ConflictError"
    assert not workshop.house.jobs.get(identity).cancelled


def test_a_steward_ends_the_job_of_an_analyst(open_workshop):
    workshop, identity = _place(open_workshop)
    assert workshop("chief", "POST", f"/v1/jobs/{identity}/cancel").json()["cancelled"]


def test_a_job_whose_end_is_not_told_counts_among_those_that_are_not_done(open_workshop, monkeypatch):
    workshop, identity = _place(open_workshop)
    monkeypatch.setattr(_book, "MOST_OPEN", 1)
    early = workshop.release("ana", {**COUNT, "epsilon": "0.1"})
    workshop.house.jobs.end(workshop.house.jobs.get(identity), "done")
    late = workshop.release("ana", {**COUNT, "epsilon": "0.1"})
    assert (early.status_code, late.status_code) == (429, 429)
    workshop.tell_now(identity)
    assert workshop.release("ana", {**COUNT, "epsilon": "0.1"}).status_code == 202


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

"""Jobs of stewards and auditors, what a gate stopped, and which epsilon to choose."""

from __future__ import annotations

from typing import Any

import pytest

from ziggurat.release._gate import DEFAULTS

COUNT = {"kind": "question", "sql": "SELECT COUNT(*) AS n FROM clinic", "epsilon": "0.5", "rows_per_unit": 1}
_AS_IT_IS = {"technique": "keep", "because": "a test"}
STOPPED = {
    "kind": "masked table", "out": "clinic.csv",
    "techniques": {"patient": "drop", "age": _AS_IT_IS, "sex": _AS_IT_IS, "smoker": _AS_IT_IS, "diagnosis": _AS_IT_IS},
}  # fmt: skip


def _begin(workshop: Any, who: str, job: dict[str, Any]) -> Any:
    return workshop(who, "POST", "/v1/jobs", {"job": job})


def test_risk_is_for_the_stewards_of_a_table(workshop):
    wanted = {"kind": "risk", "table": "clinic", "quasi_identifiers": ["age", "sex"]}
    assert _begin(workshop, "ana", wanted).status_code == 403
    identity = _begin(workshop, "chief", wanted).json()["id"]
    workshop.do()
    told = workshop.job("chief", identity)
    assert told["state"] == "done", told
    assert told["result"]["risk"]
    assert "inferences" in told["result"]
    assert workshop("ana", "GET", f"/v1/jobs/{identity}").status_code == 404


def test_auditors_verify_the_whole_ledger(workshop):
    assert _begin(workshop, "ana", {"kind": "verify"}).status_code == 403
    identity = _begin(workshop, "audrey", {"kind": "verify"}).json()["id"]
    workshop.do()
    told = workshop.job("audrey", identity)
    assert (told["state"], told["result"]["ok"]) == ("done", True)


def test_a_schema_is_proposed_for_ones_own_upload(workshop):
    identity = _begin(workshop, "chief", {"kind": "proposal", "upload": workshop.upload}).json()["id"]
    workshop.do()
    told = workshop.job("chief", identity)
    assert "age" in told["result"]["schema"]
    workshop.add("sten", "steward")
    assert _begin(workshop, "sten", {"kind": "proposal", "upload": workshop.upload}).status_code == 404
    assert workshop("sten", "GET", f"/v1/jobs/{identity}").status_code == 404


def test_what_the_gate_stops_waits_for_a_reason(workshop):
    told = workshop.finish("chief", STOPPED, gate={"thresholds": dict.fromkeys(DEFAULTS, 0.0)})
    assert told["state"] == "stopped", told["error"]
    assert told["result"]["verdict"]["stopped"]
    assert told["result"]["evidence"]
    identity = told["id"]
    assert workshop("ana", "POST", f"/v1/jobs/{identity}/go-on", {"reason": "why"}).status_code == 403
    assert workshop("chief", "GET", "/v1/releases").json()["releases"] == []
    assert workshop("chief", "POST", f"/v1/jobs/{identity}/go-on", {"reason": "\x07"}).status_code == 422
    gone_on = workshop("chief", "POST", f"/v1/jobs/{identity}/go-on", {"reason": "Nobody in it is anybody."})
    assert (gone_on.status_code, gone_on.json()["state"]) == (202, "waiting")
    workshop.do()
    told = workshop.job("chief", identity)
    assert told["state"] == "done", told
    assert "Nobody in it is anybody." in str(told["result"]["certificate"]["decision"])
    assert workshop("chief", "POST", f"/v1/jobs/{identity}/go-on", {"reason": "again"}).status_code == 409
    assert workshop.house.ledger.verify(whole=True).ok


def test_nobody_sees_jobs_without_a_key(workshop):
    for method, path in (("GET", "/v1/jobs"), ("GET", "/v1/jobs/0000000000000000"), ("GET", "/v1/releases")):
        assert workshop.client.request(method, path).status_code == 401
    for name in ("0000000000000000", "x", "..", "ffff"):
        assert workshop("chief", "GET", f"/v1/jobs/{name}").status_code in (404, 422)


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ({"query": "count", "epsilon": ["0.5"], "groups": [{"people": 100, "compensation": "5500 USD"}]}, 200),
        ({"query": "mean", "rows": 2000, "bounds": ["0", "100"], "error": "0.5"}, 200),
        ({"mechanism": "gaussian", "within": "1", "at_risk": "0.999"}, 200),
        ({"query": "mean", "rows": 2000}, 422),
        ({"query": "count", "sensitivity": "2"}, 422),
        ({"mechanism": "laplace", "delta": "1e-6"}, 422),
        ({"budget": "many EUR"}, 422),
        ({"at_risk": "0.9"}, 422),
        ({"epsilon": ["-1"]}, 422),
    ],
)
def test_decisions_are_told_or_refused_in_words(workshop, said: dict[str, Any], status: int):
    told = workshop("ana", "POST", "/v1/decide", said)
    assert told.status_code == status, told.text
    if status == 200:
        assert told.json()["candidates"]


def test_a_job_that_is_taken_while_others_are_looked_for_is_not_given_back(workshop, monkeypatch):
    """Whoever looks for lost jobs of its own does so beside the thread that takes new ones."""
    identity = workshop.release("chief", {**COUNT}).json()["id"]
    book, doing = workshop.house.jobs, set()
    usual = book._store.read

    def take_meanwhile():
        monkeypatch.setattr(book._store, "read", usual)
        doing.add(identity)
        assert book.claim(identity, 0, workshop.house.worker)
        return usual()

    monkeypatch.setattr(book._store, "read", take_meanwhile)
    assert book.take_over(workshop.house.worker, doing) == []
    assert (book.get(identity).state, book.get(identity).deaths) == ("running", 0)
    doing.clear()
    assert book.take_over(workshop.house.worker, doing) == [identity]  # the control: it has lost sight of it

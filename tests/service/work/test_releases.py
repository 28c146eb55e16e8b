"""Releases as jobs: from a description to a bundle that verifies, for whom it is meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ziggurat.release.bundle import verify_bundle
from ziggurat.service.store import parse_time
from ziggurat.service.work import FINAL, _book

COUNT = {"kind": "question", "sql": "SELECT COUNT(*) AS n FROM clinic", "epsilon": "0.5", "rows_per_unit": 1}
ANONYMIZED = {
    "kind": "anonymized table", "k": 2, "out": "clinic.csv", "quasi_identifiers": ["sex"], "drop": ["patient", "age"],
    "keep": {"smoker": "a test says so", "diagnosis": "a test says so"},
}  # fmt: skip
MODEL = {
    "kind": "model", "label": "smoker", "epsilon": "2", "delta": "0", "model": "naive-bayes", "columns": ["age"],
    "expected_rows": 300,
}  # fmt: skip


def test_a_question_of_an_analyst_becomes_a_bundle_that_verifies(workshop, tmp_path: Path):
    told = workshop.finish("ana", COUNT)
    assert told["state"] == "done", told
    assert told["result"]["certificate"]["analyst"] == "ana" or told["result"]["sentence"]
    listed = workshop("ana", "GET", "/v1/releases").json()["releases"]
    assert [each["id"] for each in listed] == [told["id"]]
    public = workshop("ana", "GET", f"/v1/releases/{told['id']}/public")
    (tmp_path / "public.zip").write_bytes(public.content)
    key = tmp_path / "service.pub"
    key.write_text(workshop("audrey", "GET", "/v1/releases/key").json()["text"])
    verified = verify_bundle(tmp_path / "public.zip", key)
    assert (verified.sound, verified.signer_checked, verified.parts) == (True, True, ("public",))
    assert workshop.house.ledger.verify(whole=True).ok


def test_what_an_analyst_was_told_is_for_them_until_a_steward_opens_it(workshop):
    identity = workshop.finish("ana", COUNT)["id"]
    workshop("chief", "PUT", "/v1/tables/clinic/rights/ben", {"may": "ask"})
    assert workshop("ben", "GET", f"/v1/releases/{identity}").status_code == 404
    assert workshop("ben", "GET", f"/v1/jobs/{identity}").status_code == 404
    assert workshop("ana", "GET", f"/v1/releases/{identity}/bundle").status_code == 403
    assert workshop("ana", "PATCH", f"/v1/releases/{identity}", {"open": True}).status_code == 403
    assert workshop("chief", "PATCH", f"/v1/releases/{identity}", {"open": True}).json()["open"] is True
    assert workshop("ben", "GET", f"/v1/releases/{identity}/public").status_code == 200
    workshop("chief", "DELETE", "/v1/tables/clinic/rights/ana")
    assert workshop("ana", "GET", f"/v1/releases/{identity}").status_code == 404
    assert workshop("ana", "GET", f"/v1/jobs/{identity}").status_code == 404


def test_a_steward_releases_an_anonymised_table_and_has_the_evidence(workshop, tmp_path: Path):
    told = workshop.finish("chief", ANONYMIZED)
    assert told["state"] == "done", told
    whole = workshop("chief", "GET", f"/v1/releases/{told['id']}/bundle")
    (tmp_path / "bundle.zip").write_bytes(whole.content)
    assert verify_bundle(tmp_path / "bundle.zip").sound
    sent = workshop("ana", "POST", "/v1/releases/verify", content=whole.content).json()
    assert (sent["sound"], sent["ours"], sent["parts"]) == (True, True, ["public", "steward"])
    assert workshop("ana", "GET", f"/v1/releases/{told['id']}/public").status_code == 200
    assert workshop("audrey", "GET", f"/v1/releases/{told['id']}/public").status_code == 404


def test_a_model_is_released_registered_and_predicts_the_same_everywhere(workshop, open_workshop):
    told = workshop.finish("chief", MODEL)
    assert told["state"] == "done", told
    body = {"model": {"kind": "published", "name": "smokers", "release": told["id"]}}
    assert workshop("ana", "POST", "/v1/models", body).status_code == 403
    assert workshop("chief", "POST", "/v1/models", body).status_code == 201
    rows = {"rows": [{"age": 30}, {"age": 70}]}
    first = workshop("ana", "POST", "/v1/models/smokers/predict", rows)
    assert first.status_code == 200, first.text
    assert set(first.json()["predictions"]) <= {"true", "false"}
    again = open_workshop()
    again.keys = workshop.keys
    assert again("ana", "POST", "/v1/models/smokers/predict", rows).json() == first.json()
    assert workshop("ben", "POST", "/v1/models/smokers/predict", rows).status_code == 404
    wrong = workshop("ana", "POST", "/v1/models/smokers/predict", {"rows": [{"height": 3}]})
    assert (wrong.status_code, wrong.json()["error"]["kind"]) == (422, "DataError")


@pytest.mark.parametrize(
    ("who", "release", "status"),
    [
        ("ana", ANONYMIZED, 403),
        ("ana", MODEL, 403),
        ("ben", COUNT, 404),
        ("audrey", COUNT, 403),
        ("chief", {"kind": "question"}, 422),
        ("chief", {"kind": "nothing"}, 422),
    ],
)
def test_who_may_release_what(workshop, who: str, release: dict[str, Any], status: int):
    for path in ("/v1/releases", "/v1/releases/plan"):
        refused = workshop(who, "POST", path, {"description": {"table": "clinic", "release": release}})
        assert refused.status_code == status, refused.text
    assert workshop.house.jobs.waiting() == []


def test_a_price_is_told_without_a_row_and_without_a_place(workshop):
    body = {"description": {"table": "clinic", "release": COUNT}}
    told = workshop("ana", "POST", "/v1/releases/plan", body)
    assert told.status_code == 200, told.text
    assert told.json()["fits"] is True
    assert str(workshop.house.settings.folder) not in told.text
    free = workshop("chief", "POST", "/v1/releases/plan", {"description": {"table": "clinic", "release": ANONYMIZED}})
    assert "has no price" in free.json()["error"]["message"]


def test_trying_is_for_stewards_and_writes_nothing_down(workshop):
    before = workshop.house.ledger.head()
    body = {"description": {"table": "clinic", "release": ANONYMIZED}}
    assert workshop("ana", "POST", "/v1/releases/try", body).status_code == 403
    identity = workshop("chief", "POST", "/v1/releases/try", body).json()["id"]
    workshop.do()
    told = workshop.job("chief", identity)
    assert (told["state"], workshop.house.ledger.head()) == ("done", before), told
    assert told["result"]["evidence"]
    assert str(workshop.house.settings.folder) not in str(told)
    assert workshop("ana", "GET", f"/v1/jobs/{identity}").status_code == 404
    paid = workshop("chief", "POST", "/v1/releases/try", {"description": {"table": "clinic", "release": COUNT}})
    assert paid.status_code == 422


def test_a_request_sent_again_is_the_same_job(workshop):
    key = {"Idempotency-Key": "release-0001"}
    first = workshop.release("ana", COUNT, headers=key)
    second = workshop.release("ana", COUNT, headers=key)
    assert (first.json()["id"], second.headers["Idempotency-Replayed"]) == (second.json()["id"], "true")
    assert workshop.release("ana", {**COUNT, "epsilon": "1"}, headers=key).status_code == 409
    assert len(workshop.house.jobs.waiting()) == 1
    assert len(list((workshop.house.settings.folder / "jobs").iterdir())) == 1


def test_what_costs_more_than_is_left_fails_and_costs_nothing(workshop):
    told = workshop.finish("ana", {**COUNT, "epsilon": "50"})
    assert (told["state"], told["error"]["kind"]) == ("failed", "BudgetExceededError")
    assert workshop("ana", "GET", "/v1/grants").json()["grants"][0]["left"] == "5"
    assert workshop("ana", "GET", "/v1/releases").json()["releases"] == []


def test_the_end_of_an_analysts_job_is_told_when_its_slot_ends(workshop):
    asked = workshop.release("ana", COUNT)
    identity = asked.json()["id"]
    workshop.do()
    job = workshop.house.jobs.get(identity)
    assert job.state == "done"
    slots = [job.slot * 2**power for power in range(40)]
    assert job.told is not None
    assert any(
        abs((parse_time(job.told) - parse_time(job.begun)).total_seconds() - each) < 1e-3 for each in slots
    )  # fmt: skip
    assert job.told > job.ended
    told = workshop.job("ana", identity)
    assert told["state"] in ("running", *FINAL)


def test_events_tell_a_job_to_its_end(workshop):
    identity = workshop.release("chief", COUNT).json()["id"]
    workshop("chief", "POST", f"/v1/jobs/{identity}/cancel")
    told = workshop("chief", "GET", f"/v1/jobs/{identity}/events")
    assert told.headers["content-type"].startswith("text/event-stream")
    assert '"state": "cancelled"' in told.text
    assert workshop("ben", "GET", f"/v1/jobs/{identity}/events").status_code == 404


def test_a_bundle_that_was_altered_or_is_none_does_not_verify(workshop):
    for content in (b"", b"PK\x05\x06" + bytes(18), b"nothing"):
        told = workshop("ana", "POST", "/v1/releases/verify", content=content)
        assert told.status_code == 200, told.text
        assert told.json()["sound"] is False
    nobody = workshop.client.post("/v1/releases/verify", content=b"")
    assert nobody.status_code == 401


def test_a_zip_bomb_is_never_unpacked(workshop):
    import io
    import zipfile

    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("public/table.csv", bytes(50_000_000))
    told = workshop("ana", "POST", "/v1/releases/verify", content=bomb.getvalue()).json()
    assert told["sound"] is False
    assert "compressed" in str(told["problems"])


def test_what_left_a_table_is_not_handed_to_the_next_one_of_its_name(workshop):
    identity = workshop.finish("chief", COUNT)["id"]
    assert workshop("chief", "DELETE", "/v1/tables/clinic").status_code == 200
    workshop.add("sten", "steward")
    sent = workshop("sten", "POST", "/v1/uploads?filename=a.csv", content=b"age\n30\n").json()["upload"]
    schema = "unit: row\ncolumns:\n  age: {kind: integer, bounds: [0, 120]}\n"
    table = {"name": "clinic", "schema": schema, "address": f"upload:{sent}"}
    made = workshop("sten", "POST", "/v1/tables", table)
    if made.status_code == 201:
        for path in (f"/v1/releases/{identity}", f"/v1/releases/{identity}/bundle", f"/v1/jobs/{identity}"):
            assert workshop("sten", "GET", path).status_code == 404
        assert workshop("sten", "GET", "/v1/releases").json()["releases"] == []
        assert workshop("sten", "GET", "/v1/jobs").json()["jobs"] == []
    assert workshop("ana", "GET", f"/v1/releases/{identity}").status_code == 404


def test_nobody_asks_for_jobs_without_end(workshop, monkeypatch):
    monkeypatch.setattr(_book, "MOST_OPEN", 1)
    assert workshop.release("ana", COUNT).status_code == 202
    assert workshop.release("ana", COUNT).status_code == 429
    assert workshop.release("chief", COUNT).status_code == 202

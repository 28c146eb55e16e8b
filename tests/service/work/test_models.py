"""Models that stay on the server, and teachers: the same answer for ever, paid for once, for whom it is meant."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ziggurat.cli import app

ROWS = {"rows": [{"age": 30}, {"age": 61}]}


def _bring(workshop: Any, tmp_path: Path, *command: str) -> None:
    """Do on the machine of the service what its operator does, with the table as a file."""
    place = workshop.house.uploads.find(workshop.house.people.named("chief"), workshop.upload)
    (tmp_path / "clinic.csv").write_bytes(place.read_bytes())
    (tmp_path / "clinic.yaml").write_text(workshop.house.shelf.facts("clinic").schema_text)
    (workshop.house.settings.folder / "models").mkdir(exist_ok=True)
    made = CliRunner().invoke(app, [*command[:2], str(tmp_path / "clinic.csv"), *command[2:]])
    assert made.exit_code == 0, made.output


@pytest.fixture
def ages(workshop, tmp_path: Path) -> Any:
    folder = workshop.house.settings.folder / "models" / "ages"
    _bring(
        workshop, tmp_path, "model", "serve", "--kind", "kernel-density", "--column", "age", "--epsilon", "1",
        "--budget", "clinic", "--analyst", "chief", "--ledger", workshop.house.settings.ledger_place,
        "--out", str(folder),
    )  # fmt: skip
    body = {"model": {"kind": "served", "name": "ages", "table": "clinic", "folder": "ages"}}
    assert workshop("ana", "POST", "/v1/models", body).status_code == 403
    registered = workshop("chief", "POST", "/v1/models", body)
    assert registered.status_code == 201, registered.text
    return workshop


def test_a_served_model_answers_the_same_after_a_restart_and_on_another_worker(
    ages, open_workshop: Callable[..., Any]
) -> None:
    first = ages("ana", "POST", "/v1/models/ages/answer", ROWS)
    assert first.status_code == 200, first.text
    told = first.json()
    assert len(told["answers"]) == 2
    assert told["promise"]
    for _ in range(2):
        other = open_workshop()
        other.keys = ages.keys
        assert other("ana", "POST", "/v1/models/ages/answer", ROWS).json()["answers"] == told["answers"]
    assert ages.house.ledger.verify().ok


def test_a_model_of_a_table_that_somebody_may_not_see_does_not_exist(ages) -> None:
    for method, path in (("GET", ""), ("POST", "/answer"), ("POST", "/predict")):
        refused = ages("ben", method, f"/v1/models/ages{path}", ROWS if method == "POST" else None)
        unknown = ages("ben", method, f"/v1/models/nothing{path}", ROWS if method == "POST" else None)
        assert refused.status_code == unknown.status_code == 404
        message, other = (each.json()["error"]["message"] for each in (refused, unknown))
        assert message.replace("ages", "nothing") == other
    assert ages("ben", "GET", "/v1/models").json()["models"] == []
    assert [each["name"] for each in ages("ana", "GET", "/v1/models").json()["models"]] == ["ages"]
    assert ages("ana", "GET", "/v1/models/ages").json()["facts"]["columns"] == ["age"]
    assert ages("ana", "POST", "/v1/models/ages/predict", ROWS).status_code == 422
    assert ages("ana", "DELETE", "/v1/models/ages").status_code == 403


@pytest.mark.parametrize("rows", [[{"age": 1000}], [{"age": "old"}], [{}], [{"age": None}], [{"patient": "p1"}]])
def test_questions_that_do_not_fit_are_refused_and_quoted_nowhere(ages, rows: list[dict[str, Any]]) -> None:
    refused = ages("ana", "POST", "/v1/models/ages/answer", {"rows": rows})
    assert refused.status_code == 422, refused.text
    assert "1000" not in refused.text.replace("10,000", "")
    assert "'old'" not in refused.text


def test_folders_are_brought_by_their_bare_names(workshop) -> None:
    for folder in ("../keys", "/etc", "keys/release", "", "a" * 100):
        body = {"model": {"kind": "served", "name": "m", "table": "clinic", "folder": folder}}
        assert workshop("chief", "POST", "/v1/models", body).status_code == 422
    body = {"model": {"kind": "served", "name": "m", "table": "clinic", "folder": "missing"}}
    assert workshop("chief", "POST", "/v1/models", body).status_code == 422
    assert workshop("chief", "GET", "/v1/models").json()["models"] == []


@pytest.fixture
def taught(workshop, tmp_path: Path) -> Any:
    folder = workshop.house.settings.folder / "models" / "wards"
    _bring(
        workshop, tmp_path, "pate", "teach", "--label", "smoker", "--teachers", "20", "--column", "age", "--out",
        str(folder),
    )  # fmt: skip
    body = {"model": {"kind": "teachers", "name": "wards", "table": "clinic", "folder": "wards"}}
    registered = workshop("chief", "POST", "/v1/models", body)
    assert registered.status_code == 201, registered.text
    workshop.add("stu", "student")
    workshop("chief", "PUT", "/v1/tables/clinic/rights/stu", {"may": "ask"})
    grant = {"budget": "clinic", "analyst": "stu", "epsilon": "5", "delta": "1e-4"}
    assert workshop("chief", "POST", "/v1/grants", grant).status_code == 201
    return workshop


def test_a_student_pays_for_labels_once(taught) -> None:
    known = taught("stu", "GET", "/v1/models/wards").json()["facts"]
    assert (known["columns"], known["classes"], known["teachers"]) == (["age"], ["false", "true"], 20)
    body = {"teachers": "wards", **ROWS, "aggregator": "gumbel:0.5"}
    priced = taught("stu", "POST", "/v1/labels/quote", body)
    assert (priced.status_code, priced.json()["fits"]) == (200, True), priced.text
    key = {"Idempotency-Key": "labels-0001"}
    first = taught("stu", "POST", "/v1/labels", body, headers=key)
    assert first.status_code == 200, first.text
    assert (len(first.json()["labels"]), first.json()["replayed"]) == (2, False)
    again = taught("stu", "POST", "/v1/labels", body, headers=key)
    assert again.headers["Idempotency-Replayed"] == "true"
    free = taught("stu", "POST", "/v1/labels", body)
    assert (free.json()["labels"], free.json()["replayed"]) == (first.json()["labels"], True)
    kinds = [each.kind for each in taught.house.ledger.history("clinic", "stu")]
    assert (kinds.count("reserve"), kinds.count("commit")) == (1, 1)
    assert taught("ben", "POST", "/v1/labels", body).status_code == 404
    assert taught("audrey", "POST", "/v1/labels", body).status_code == 403
    dear = taught("stu", "POST", "/v1/labels", {**body, "aggregator": "gumbel:3.9"})
    assert (dear.status_code, dear.json()["error"]["kind"]) == (402, "BudgetExceededError"), dear.text


def test_queries_of_a_student_stand_in_no_log(taught, capfd) -> None:
    body = {"teachers": "wards", "rows": [{"age": 43.21}], "aggregator": "gumbel:0.5"}
    taught("stu", "POST", "/v1/labels", body)
    taught("stu", "POST", "/v1/labels", {**body, "rows": [{"age": "43.21"}]})
    said = capfd.readouterr()
    assert "43.21" not in said.out + said.err

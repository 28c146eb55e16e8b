"""A service whose settings name a witness: it gets a receipt of everything before anything is spent."""

import shutil

import pytest

pytest.importorskip("fastapi", reason="the extra 'service' is not installed")

from starlette.testclient import TestClient

from ziggurat.data.generators import clinic_patients_schema
from ziggurat.ledger import Ledger
from ziggurat.service import ServiceSettings, make_app, welcome

ASKED = {"kind": "question", "sql": "SELECT COUNT(*) AS n FROM clinic", "epsilon": "0.1", "rows_per_unit": 1}


def ask(settings, before=lambda: None):
    """Sign in where nobody has yet, register the clinic, and ask; gives the status of the answer."""
    secret = welcome(settings)
    with TestClient(make_app(settings), raise_server_exceptions=False) as client:
        csrf = client.post("/v1/sign-in/link", json={"secret": secret}).json()["csrf"]
        send = {"headers": {"X-Ziggurat-Csrf": csrf}}
        table = {"name": "clinic", "schema": clinic_patients_schema().to_yaml(), "address": "invented:clinic"}
        client.post("/v1/tables", json=table, **send)
        client.post("/v1/budgets", json={"table": "clinic", "epsilon": "1"}, **send)
        client.post("/v1/grants", json={"budget": "clinic", "analyst": "steward", "epsilon": "1"}, **send)
        before()
        return client.post("/v1/ask", json={"tables": ["clinic"], "question": ASKED}, **send).status_code


@pytest.fixture(autouse=True)
def own_keys(tmp_path, monkeypatch):
    """The key that signs receipts is made in the settings folder of the user; here in one of the test."""
    monkeypatch.setenv("ZIGGURAT_SETTINGS", str(tmp_path / "settings"))


def make_settings(tmp_path, **said):
    return ServiceSettings.read({"folder": tmp_path / "service", "slot": 0.05, "rehearse": "tests", **said}, {})


def test_receipts_of_everything_go_to_the_witness(tmp_path):
    (tmp_path / "witness").mkdir()
    settings = make_settings(tmp_path, witness=str(tmp_path / "witness"))
    assert ask(settings) == 200
    with Ledger.open(settings.ledger_place) as ledger:
        found = ledger.witness()
        assert found.seen == found.entries > 5
        assert ledger.verify().ok


def test_without_its_witness_nothing_is_spent(tmp_path):
    (tmp_path / "witness").mkdir()
    settings = make_settings(tmp_path, witness=str(tmp_path / "witness"))

    def lose():
        shutil.rmtree(tmp_path / "witness")
        (tmp_path / "witness").touch()  # nothing can be written there any more

    assert ask(settings, before=lose) == 503


def test_without_the_setting_nobody_watches(tmp_path):
    """The control."""
    settings = make_settings(tmp_path)
    assert ask(settings) == 200
    with Ledger.open(settings.ledger_place) as ledger:
        assert not ledger.witness().where

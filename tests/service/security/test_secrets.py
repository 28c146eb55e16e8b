"""Planted secrets and cells are looked for in every log and every answer of a long session of all kinds of requests."""

from __future__ import annotations

import logging
import random

import pytest
import structlog

from ziggurat.data.engines import DuckDBEngine
from ziggurat.service.access import COOKIE, CSRF_HEADER
from ziggurat.service.web._logs import write_logs

CELL, OTHER_CELL = "planted-cell-81c3", "another-cell-55e0"
PASSWORD, ADDRESS_SECRET = "planted-password-93ab", "planted-address-17fd"
SCHEMA = """name: people
unit: row
columns:
  who:
    kind: text
    role: identifier
  ward:
    kind: category
    categories: [north, south]
  age:
    kind: integer
    bounds: [0, 120]
"""
ROWS = f"who,ward,age\n{CELL},north,30\n{OTHER_CELL},south,40\n"
QUESTION = {"kind": "question", "sql": "SELECT COUNT(*) AS n FROM people", "epsilon": "0.01", "rows_per_unit": 1}


class Recorded:
    """All that is logged, by whichever library, and all that is answered."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.answers: list[str] = []

    @property
    def logs(self) -> str:
        return "\n".join(self.lines)


@pytest.fixture
def recorded(capfd):
    """Everything down to debugging, as it would be written, tracebacks included."""
    made = Recorded()

    class Handler(logging.Handler):
        def emit(self, record):
            made.lines.append(self.format(record))

    handler, root = Handler(level=0), logging.getLogger()
    handler.setFormatter(logging.Formatter("%(name)s %(message)s"))
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    kept = structlog.get_config()

    def keep(_logger, _name, event):
        made.lines.append(repr(event))
        raise structlog.DropEvent

    structlog.configure(processors=[keep], cache_logger_on_first_use=False)
    yield made
    root.removeHandler(handler)
    root.setLevel(level)
    structlog.configure(**kept)


def test_a_long_session_of_all_kinds_leaves_no_secret_and_no_cell_anywhere(served, recorded, capfd):
    luck = random.Random(81)
    served.house.people.set_password(served.house.people.named("chief"), PASSWORD)

    def call(who, verb, path, body=None, **rest):
        told = served(who, verb, path, body, **rest)
        recorded.answers.append(told.text + str(told.headers))
        return told

    sent = call("chief", "POST", "/v1/uploads?filename=a.csv", content=ROWS.encode()).json()["upload"]
    table = {"name": "people", "schema": SCHEMA, "address": f"upload:{sent}"}
    assert call("chief", "POST", "/v1/tables", table).status_code == 201
    call("chief", "POST", "/v1/budgets", {"table": "people", "epsilon": "5", "delta": "1e-5"})
    call("chief", "POST", "/v1/grants", {"budget": "people", "analyst": "ana", "epsilon": "1"})
    call("chief", "PUT", "/v1/tables/people/rights/ana", {"may": "ask"})
    wrong = SCHEMA.replace("[north, south]", "[north, east]").replace("[0, 120]", "[0, 35]")
    steps = [
        lambda: call("ana", "POST", "/v1/ask", {"tables": ["people"], "question": QUESTION}),
        lambda: call("ana", "POST", "/v1/ask", {"tables": ["people"], "question": {**QUESTION, "epsilon": "9"}}),
        lambda: call("ana", "POST", "/v1/ask", {"tables": ["people"], "question": {**QUESTION, "sql": "SELECT who"}}),
        lambda: call("ana", "POST", "/v1/quote", {"tables": ["people"], "question": QUESTION}),
        lambda: call("ana", "GET", "/v1/history?table=people"),
        lambda: call("ana", "GET", "/v1/tables/people"),
        lambda: call("chief", "GET", "/v1/tables/people/preview"),
        lambda: served("chief", "POST", f"/v1/uploads/{sent}/proposal"),  # which shows their own file to who sent it
        lambda: call("chief", "POST", "/v1/tables", {**table, "name": "wrong", "schema": wrong}),
        lambda: call("audrey", "GET", "/v1/ledger/entries"),
        lambda: call("audrey", "POST", "/v1/ledger/verification"),
        lambda: call("audrey", "GET", "/metrics"),
        lambda: call("ana", "GET", "/v1/people"),
        lambda: call("ana", "GET", "/v1/nothing"),
        lambda: call("ana", "POST", "/v1/ask", content=b"{"),
        lambda: served.client.post("/v1/sign-in", json={"name": "chief", "password": PASSWORD + "x"}),
        lambda: served.client.get("/v1/me", headers={"Authorization": f"Bearer {served.keys['ana']}x"}),
        lambda: call(
            "chief", "POST", "/v1/tables",
            {**table, "name": "far", "address": f"postgresql://u:{ADDRESS_SECRET}@127.0.0.1:1/x", "inside": "x"},
        ),
    ]  # fmt: skip
    for _ in range(3):
        for step in luck.sample(steps, len(steps)):
            step()
    secrets = [CELL, OTHER_CELL, PASSWORD, ADDRESS_SECRET, *(key.split("_", 2)[2] for key in served.keys.values())]
    secrets += browse(served, recorded)
    written = "".join(capfd.readouterr())
    assert len(recorded.lines) > 50
    for secret in secrets:
        assert secret not in recorded.logs + written
        assert secret not in "\n".join(recorded.answers)


def browse(served, recorded):
    """Sign in and out by a browser and a link; gives the secrets that were told once."""
    link = served("chief", "POST", "/v1/people/ana/link").json()["secret"]
    served.client.post("/v1/sign-in/link", json={"secret": link})
    told = served.client.post("/v1/sign-in", json={"name": "chief", "password": PASSWORD})
    cookie, csrf = told.cookies[COOKIE], told.json()["csrf"]
    recorded.answers.append(served.client.get("/v1/me").text)
    made = served.client.post("/v1/people/chief/keys", json={"label": "new"}, headers={CSRF_HEADER: csrf}).json()["key"]
    recorded.answers.append(served.client.get("/v1/people/chief/keys").text)
    recorded.answers.append(served.client.post("/v1/sign-out", headers={CSRF_HEADER: csrf}).text)
    return [link, cookie, csrf, made.split("_", 2)[2]]


def break_engine(monkeypatch):
    def fail(*_given, **_more):
        raise RuntimeError(f"a foreign error that quotes {CELL}")

    monkeypatch.setattr(DuckDBEngine, "query", fail)


def test_the_words_of_a_foreign_exception_reach_nobody(clinic, recorded, capfd, monkeypatch):
    """On a route, while an answer is paid for, and on another; the control shows that the log would have them."""
    with monkeypatch.context() as patched:
        break_engine(patched)
        asked = clinic.ask("ana", clinic.count)
        previewed = clinic("chief", "GET", "/v1/tables/clinic/preview")
    with monkeypatch.context() as patched:
        patched.setattr(clinic.house.people, "all", lambda: (_ for _ in ()).throw(KeyError(CELL)))
        listed = clinic("chief", "GET", "/v1/people")
    assert asked.status_code == 503
    for told in (listed, previewed):
        assert (told.status_code, told.json()["error"]["kind"]) == (500, "ServiceError")
        assert told.headers["X-Request-Number"] in told.json()["error"]["message"]
        assert told.headers["X-Content-Type-Options"] == "nosniff"
    everything = asked.text + previewed.text + listed.text + recorded.logs + "".join(capfd.readouterr())
    assert CELL not in everything
    assert "KeyError" in recorded.logs  # the kind and the place are there for whoever looks after the service
    assert listed.headers["X-Request-Number"] in recorded.logs
    logging.getLogger("control").exception("control", exc_info=RuntimeError(CELL))
    assert CELL in recorded.logs


def test_libraries_write_no_exception_into_the_log_of_a_service(capfd):
    """What libraries log is told by name, level and place: their words, and those of exceptions, may quote anything."""
    root = logging.getLogger()
    kept, handlers = structlog.get_config(), list(root.handlers)
    try:
        write_logs()
        logging.getLogger("asyncio").error("Task exception was never retrieved: %r", RuntimeError(CELL))
        logging.getLogger("uvicorn.error").error("Exception in ASGI application", exc_info=RuntimeError(CELL))
        structlog.get_logger().info("answered", route="/v1/me")
        written = "".join(capfd.readouterr())
    finally:
        structlog.configure(**kept)
        root.handlers[:] = handlers
    assert CELL not in written
    assert '"asyncio"' in written
    assert "RuntimeError" in written
    assert '"event": "answered"' in written

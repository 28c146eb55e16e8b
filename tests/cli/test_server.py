"""The command line against a server: the same words, files and exit codes as against this machine."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra 'service' is not installed")

import structlog

sys.path.insert(0, str(Path(__file__).parent))

from serving import ServedHouse

from ziggurat.data.generators import clinic_patients, clinic_patients_schema
from ziggurat.data.writing import write_table
from ziggurat.errors import EngineError
from ziggurat.service import ServiceSettings

COUNT = ("ask", "clinic", "SELECT COUNT(*) AS n FROM clinic", "--rows-per-unit", "1")


@pytest.fixture
def served(tmp_path, monkeypatch):
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory(), cache_logger_on_first_use=False)
    monkeypatch.setenv("ZIGGURAT_SETTINGS", str(tmp_path / "settings"))
    for name in ("ZIGGURAT_SERVER", "ZIGGURAT_APIKEY"):
        monkeypatch.delenv(name, raising=False)
    made = ServedHouse(tmp_path / "service", rehearse="tests")
    yield made
    made.close()
    structlog.reset_defaults()


@pytest.fixture
def steward(served, command, monkeypatch):
    """The first steward, who came in by the link, as whom every command asks."""
    done = command("login", f"{served.url}/#link={served.secret}")
    assert done.code == 0, done.err
    assert "You are steward (steward)" in done.out
    monkeypatch.setenv("ZIGGURAT_SERVER", served.url)
    return command


@pytest.fixture
def clinic(steward, tmp_path):
    """The clinic, set up from a terminal alone; gives the command, and how ana asks."""
    write_table(clinic_patients(300), str(tmp_path / "patients.parquet"))
    (tmp_path / "patients.yaml").write_text(clinic_patients_schema().to_yaml())
    for line in (
        ("server", "register", "clinic", "patients.parquet", "--schema", "patients.yaml"),
        ("ledger", "budget", "clinic", "--epsilon", "3", "--delta", "1e-5"),
        ("server", "add-person", "ana", "analyst"),
        ("server", "give", "clinic", "ana"),
        ("ledger", "grant", "clinic", "ana", "--epsilon", "1", "--delta", "1e-6", "--rule", "sum"),
        ("server", "make-key", "ana", "her notebook", "--out", "ana.key"),
    ):
        done = steward(*line)
        assert done.code == 0, (line, done)
    return steward


@pytest.fixture
def ana(clinic, monkeypatch):
    """Runs commands as ana."""

    def call(*arguments):
        with monkeypatch.context() as hers:
            hers.setenv("ZIGGURAT_APIKEY", Path("ana.key").read_text().strip())
            return clinic(*arguments)

    return call


def test_an_analyst_asks_prices_and_looks_from_a_terminal(ana):
    priced = ana("quote", *COUNT[1:], "--epsilon", "0.5")
    assert (priced.code, "leaving epsilon 0.5" in priced.out) == (0, True)
    asked = ana(*COUNT, "--epsilon", "0.5", "--out", "answer.csv", "--picture", "answer.svg")
    assert asked.code == 0, asked.err
    assert "It cost epsilon 0.5; epsilon 0.5 is left." in asked.out
    assert "This is a rehearsal" in asked.out
    assert Path("answer.csv").read_text().startswith('"n","n_low","n_high"')
    assert Path("answer.svg").stat().st_size > 1_000
    again = json.loads(ana(*COUNT, "--epsilon", "0.5", "--json").out)
    assert (again["replayed"], again["left"]) == (True, "epsilon 0.5")
    assert "epsilon 0.5 is left" in ana("server", "grants").out


def test_the_words_are_those_of_this_machine(ana, tmp_path, monkeypatch):
    there = ana(*COUNT, "--epsilon", "0.5")
    monkeypatch.delenv("ZIGGURAT_SERVER")
    local = ("--ledger", "local.db")
    assert ana("ledger", "budget", "clinic", "--epsilon", "3", "--person", "patient_id", *local).code == 0
    assert ana("ledger", "grant", "clinic", "ana", "--epsilon", "1", *local).code == 0
    mine = ("ask", "patients.parquet", *COUNT[2:], "--name", "clinic", "--analyst", "ana", "--rehearse", "tests")
    here = ana(*mine, "--epsilon", "0.5", *local)
    assert there.out == here.out


REFUSED = {
    "too dear": ((*COUNT, "--epsilon", "2"), 3),
    "no such table": (("ask", "nothing", "SELECT COUNT(*) AS n FROM nothing", "--epsilon", "0.1"), 2),
    "cannot be said": ((*COUNT, "--epsilon", "0.1", "--schema", "patients.yaml"), 2),
    "a sweep": ((*COUNT, "--sweep", "0.1,0.2"), 2),
    "not hers": (("ledger", "show"), 8),
    "nor this": (("server", "add-person", "eve", "steward"), 8),
    "priced too dear": (("quote", *COUNT[1:], "--epsilon", "2"), 3),
}


@pytest.mark.parametrize("why", REFUSED)
def test_refusals_have_the_exit_codes_of_their_kind(ana, why):
    line, code = REFUSED[why]
    done = ana(*line)
    assert done.code == code, done
    assert (done.err or done.out).strip()


def test_what_a_server_cannot_be_told_is_named(ana):
    done = ana(*COUNT, "--epsilon", "0.1", "--schema", "patients.yaml")
    assert "--schema is for tables and ledgers of this machine; leave it out with --server." in done.err


def test_a_wrong_key_and_a_server_that_is_away(ana, served, clinic, monkeypatch):
    monkeypatch.setenv("ZIGGURAT_APIKEY", "zig_wrong_wrong_wrong")
    assert clinic("server", "me").code == 8
    monkeypatch.setenv("ZIGGURAT_SERVER", "https://privacy.example.org@x")
    assert clinic("server", "me").code == 2


def test_a_steward_reads_and_verifies_the_ledger(clinic, ana, served):
    assert ana(*COUNT, "--epsilon", "0.5").code == 0
    shown = clinic("ledger", "show")
    assert "has used 50% of it on 1 question" in shown.out
    assert "No witness watches the ledger of the server." in shown.out
    told = json.loads(clinic("ledger", "show", "clinic", "--json").out)
    assert told["populations"][0]["budgets"][0]["grants"][0]["questions"] == 1
    assert clinic("ledger", "show", "nothing").code == 2
    history = clinic("ledger", "history", "--analyst", "ana", "--last", "2").out.splitlines()
    assert [line.split()[2] for line in history] == ["reserve", "commit"]
    assert all(line.split()[3:5] == ["clinic", "ana"] for line in history)
    verified = clinic("ledger", "verify", "--whole")
    assert (verified.code, "every hash and every rule holds" in verified.out) == (0, True)
    closed = clinic("ledger", "close", "clinic", "ana")
    assert (closed.code, "is closed" in closed.out) == (0, True)
    assert ana(*COUNT, "--epsilon", "0.1").code == 2


def test_people_keys_tables_and_rights_are_listed(clinic):
    assert "ana: analyst" in clinic("server", "people").out
    (key,) = json.loads(clinic("server", "keys", "ana", "--json").out)
    assert (key["label"], "secret" in key) == ("her notebook", False)
    assert Path("ana.key").stat().st_mode & 0o777 == 0o600
    assert Path("ana.key").read_text().strip() not in clinic("server", "keys", "ana").out
    assert clinic("server", "revoke-key", "ana", key["id"]).code == 0
    assert "clinic" in clinic("server", "tables").out
    assert "patient_id" in clinic("server", "show", "clinic").out
    assert "300 rows" in clinic("server", "preview", "clinic").out
    assert json.loads(clinic("server", "rights", "clinic", "--json").out)["rights"]["ana"] == "ask"
    assert clinic("server", "take", "clinic", "ana").code == 0
    assert "ana" not in clinic("server", "rights", "clinic").out
    assert "kept out" in clinic("server", "keep-out", "ana").out
    assert "#link=" in clinic("server", "link", "ana").out
    assert "manage" in clinic("server", "me").out
    assert clinic("server", "forget", "clinic").code == 0
    assert clinic("server", "tables").err == "There is none.\n"


def test_a_table_about_people_who_have_an_account_is_paid_by_it(clinic):
    """Nobody is sent to make a second account, and what contradicts the schema is told."""
    Path("wide.yaml").write_text(clinic_patients_schema().to_yaml().replace("depression, ", ""))
    done = clinic(
        "server", "register", "again", "patients.parquet", "--schema", "wide.yaml", "--population", "clinic"
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "unit: one person (column patient_id), paid by the budgets of clinic" in done.out
    assert "Next:" not in done.out
    assert "Column 'diagnosis'" in done.err


def test_steps_of_a_job_are_told_while_it_is_waited_for():
    from ziggurat.cli.server.jobs import _wait
    from ziggurat.client import ServedJob

    states = [("waiting", ""), ("running", "attacking"), ("running", ""), ("done", "")]
    jobs = [ServedJob("1", "release", state, "clinic", step=step) for state, step in states]
    left, told = iter(jobs[1:]), []

    class _Waits:
        def wait(self, job, seconds):
            return next(left)

    assert _wait(_Waits(), jobs[0], told.append) is jobs[-1]
    assert told == ["waiting on the server", "attacking on the server", "running on the server"]


def test_a_schema_is_proposed_by_the_server(clinic, tmp_path):
    (tmp_path / "t.csv").write_text("age,sex\n20,f\n30,m\n")
    done = clinic("schema", "suggest", "t.csv")
    assert done.code == 0
    assert "kind: integer" in done.out
    assert "age:" in done.err


def test_a_link_works_once_and_a_key_is_stored_for_its_owner(served, steward, tmp_path):
    kept = tmp_path / "settings" / "servers.json"
    assert kept.stat().st_mode & 0o777 == 0o600
    again = steward("login", f"{served.url}/#link={served.secret}")
    assert (again.code, "used" in again.err) == (8, True)
    key = json.loads(kept.read_text())[served.url]["key"]
    (tmp_path / "key").write_text(key)
    assert steward("logout", served.url).code == 0
    assert steward("server", "me").code == 8
    done = steward("login", served.url, "--key-file", "key")
    assert done.code == 0
    assert key not in done.out + done.err


def serve(folder, *more, **environment):
    """Start `ziggurat serve` on a free port, and read what it says until it serves."""
    started = subprocess.Popen(
        [sys.executable, "-m", "ziggurat", "serve", "--folder", str(folder), "--port", "0", *more],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ, **environment},
    )  # fmt: skip
    lines = []
    while not lines or not lines[-1].startswith("Stop it"):
        line = started.stdout.readline()
        if not line:
            break
        lines.append(line)
    return started, "".join(lines)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_serving_begins_with_a_link_and_ends_well(tmp_path, number, monkeypatch):
    from ziggurat.client import connect, follow_link

    started, said = serve(tmp_path / "s", "--rehearse", "tests")
    try:
        found = re.search(r"(http://127\.0\.0\.1:\d+)/#link=([\w-]+)", said)
        place = follow_link(found[1], found[2])
        with connect(found[1], place.key) as server:
            assert server.me().chief
    finally:
        started.send_signal(number)
        assert started.wait() == 0
    again, said = serve(tmp_path / "s")
    again.send_signal(signal.SIGTERM)
    again.wait()
    assert "#link=" not in said, "whoever has a key needs no link"


def test_a_port_that_is_taken_is_refused_before_anything_is_said_of_it(command):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = command("serve", "--folder", "new", "--port", str(taken.getsockname()[1]))
    assert (done.code, done.out) == (2, "")
    assert "say another --port, or 0 for any that is free." in done.err
    assert not Path("new").exists()


def test_a_server_that_could_not_start_ends_with_a_code_of_ours(monkeypatch):
    from ziggurat.service.web import _running

    class _Fails:
        @staticmethod
        def run(*_, **__):
            sys.exit(3)

    with pytest.raises(EngineError, match="could not start"):
        _running._listen(ServiceSettings.read({}, {}), _Fails)


def test_unsafe_listening_is_refused_in_a_sentence(command):
    done = command("serve", "--host", "0.0.0.0")
    assert done.code == 2
    assert "--allow-plain" in done.err
    assert command("serve", "--tls-cert", "a.pem").code == 2
    assert command("serve", "--workers", "0").code == 2


def test_every_setting_of_the_service_is_an_option():
    from dataclasses import fields

    from ziggurat.cli.server._serve import ServeOptions

    assert {each.name for each in fields(ServeOptions)} == set(ServiceSettings.model_fields)

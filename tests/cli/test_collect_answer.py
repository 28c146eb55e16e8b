"""`ziggurat collect answer`: the report is drawn here; of the answer nothing leaves, whatever the service says."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest
from typer.testing import CliRunner

from ziggurat.cli import app
from ziggurat.cli.collect._answering import _unsay
from ziggurat.local import CountNoise, LocalHashing, RecordLaplace, Response, UnaryEncoding, WholeRecord

SECRET = "a-rare-answer-of-one-person"
RECORD = WholeRecord({"habit": UnaryEncoding("1", [SECRET, *(f"other {i}" for i in range(40))])})


class Service(BaseHTTPRequestHandler):
    """A collector that keeps every byte it is sent."""

    told: ClassVar[dict[str, Any]] = {}
    seen: ClassVar[list[bytes]] = []
    statuses: ClassVar[list[int]] = []

    def do_GET(self) -> None:
        self.seen.append(self.path.encode())
        self.tell(200, self.told)

    def do_POST(self) -> None:
        self.seen.append(self.path.encode() + b" " + self.rfile.read(int(self.headers["Content-Length"])))
        status = self.statuses.pop(0) if self.statuses else 201
        words = {"error": {"kind": "ConflictError", "message": "Used before.", "status": status}}
        self.tell(status, {"taken": True} if status == 201 else words)

    def tell(self, status: int, told: Any) -> None:
        self.send_response(status)
        if status == 307:
            self.send_header("Location", "http://127.0.0.1:9/elsewhere")
        self.end_headers()
        self.wfile.write(json.dumps(told).encode())

    def log_message(self, *_given: Any) -> None:
        pass


def describe(record: WholeRecord, **more: Any) -> dict[str, Any]:
    said = {"format": "ziggurat/survey/1", "name": "habits", "population": "club", "state": "open", "questions": {}}
    return {**said, "epsilon": str(record.epsilon), **record.to_dict(), **more}


@pytest.fixture
def service() -> Iterator[ThreadingHTTPServer]:
    Service.told, Service.seen, Service.statuses = describe(RECORD), [], []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    running = threading.Thread(target=server.serve_forever, daemon=True)
    running.start()
    yield server
    server.shutdown()
    server.server_close()


def answer(server: ThreadingHTTPServer, *words: str, given: str = "") -> Any:
    link = f"http://127.0.0.1:{server.server_address[1]}/survey/habits#an-invitation"
    return CliRunner().invoke(app, ["collect", "answer", link, *words], input=given)


def sent() -> list[Any]:
    return [json.loads(each.partition(b" ")[2]) for each in Service.seen if b" " in each]


def test_a_report_that_the_survey_can_read_is_sent_once(service):
    done = answer(service, "--value", f"habit={SECRET}", "--json")
    assert done.exit_code == 0, done.output
    (body,) = sent()
    assert body["invitation"] == "an-invitation"
    assert json.loads(done.output)["report"] == body["report"]
    part = RECORD.parts["habit"]
    import pyarrow as pa

    assert part.from_arrow(pa.array([body["report"]["habit"]]), "secure").people == 1


def test_nothing_of_the_answer_is_in_any_byte_that_is_sent(service):
    assert answer(service, given=f"{SECRET}\n").exit_code == 0
    everything = b"".join(Service.seen)
    assert b"an-invitation" in everything, "the control: what is sent would be seen"
    assert SECRET.encode() not in everything


def test_the_invitation_is_told_to_nobody_before_the_report(service):
    answer(service, "--value", f"habit={SECRET}")
    assert Service.seen[0] == b"/v1/surveys/habits"


def test_a_report_that_was_lost_is_sent_again_and_never_drawn_anew(service):
    Service.statuses = [503, 502]
    assert answer(service, "--value", f"habit={SECRET}").exit_code == 0
    bodies = sent()
    assert len(bodies) == 3
    assert bodies[0] == bodies[1] == bodies[2]


def test_a_refusal_of_the_service_is_told(service):
    Service.statuses = [409]
    done = answer(service, "--value", f"habit={SECRET}")
    assert done.exit_code != 0
    assert "Used before." in str(done.exception)


def test_a_service_that_leads_elsewhere_is_not_followed(service):
    Service.statuses = [307]
    assert answer(service, "--value", f"habit={SECRET}").exit_code != 0
    assert len(sent()) == 1


@pytest.mark.parametrize(
    "lie",
    [{"epsilon": "1/2"}, {"epsilon": "much"}, {"format": "another"}, {"state": "closed"}, {"columns": {"habit": {}}}],
)
def test_a_survey_that_promises_something_else_gets_nothing(service, lie):
    Service.told = {**Service.told, **lie}
    assert answer(service, "--value", f"habit={SECRET}").exit_code != 0
    assert sent() == []


@pytest.mark.parametrize("wrong", ["habit=never heard of", "other=x", "habit"])
def test_an_answer_that_does_not_fit_is_not_sent(service, wrong):
    done = answer(service, "--value", wrong, "--json")
    assert done.exit_code != 0
    assert "never heard of" not in str(done.exception)
    assert sent() == []


@pytest.mark.parametrize(
    ("part", "given"),
    [
        (Response("1", [1, 2, 3]), "2"),
        (Response("1", ["a", "b"], missing=True), ""),
        (LocalHashing("1", ["a", "b", "c"]), "b"),
        (CountNoise("1", 0, 120), "44"),
        (RecordLaplace("1", 0, 10), "2.5"),
    ],
)
def test_every_kind_of_answer_is_drawn_and_can_be_read(service, part, given):
    record = WholeRecord({"habit": part})
    Service.told = describe(record)
    done = answer(service, "--value", f"habit={given}", "--json")
    assert done.exit_code == 0, done.exception
    pytest.importorskip("fastapi", reason="the extra 'service' is not installed")
    from ziggurat.service.surveys import check_report

    (body,) = sent()
    assert check_report(record, body["report"])


@pytest.mark.parametrize(
    "link",
    [
        "http://example.org/survey/a#b",
        "https://example.org/survey/a",
        "https://example.org/a#b",
        "ftp://a/survey/b#c",
        "",
    ],
)
def test_a_link_that_is_not_safe_or_not_whole_is_refused_before_anything_is_asked(link):
    assert CliRunner().invoke(app, ["collect", "answer", link]).exit_code != 0


def test_a_truth_value_is_answered_in_the_words_that_are_shown(service):
    Service.told = describe(WholeRecord({"smokes": Response("20", [0, 1])}), words={"smokes": ["no", "yes"]})
    link = f"http://127.0.0.1:{service.server_address[1]}/survey/habits#word"
    done = CliRunner().invoke(app, ["collect", "answer", link], input="yes\n")
    assert done.exit_code == 0, done.output
    assert "smokes (no, yes)" in done.output
    assert [_unsay(each, Service.told, "smokes") for each in ("no", "yes", "1", "")] == ["0", "1", "1", ""]
    assert json.loads(Service.seen[-1].split(b" ", 1)[1])["report"] in ({"smokes": 1}, {"smokes": 0})


@pytest.mark.parametrize("record", [RECORD, WholeRecord({"a": Response("1", [0, 1]), "b": LocalHashing("1", 99)})])
def test_every_kind_of_report_is_known_to_a_process_that_made_none(record):
    """The command is such a process; the door of `local` imports a kind when it is named."""
    program = (
        "import json, sys; from ziggurat.local import WholeRecord; "
        "print(json.dumps(WholeRecord.from_dict(json.loads(sys.argv[1])).to_dict()))"
    )
    told = subprocess.run(
        [sys.executable, "-c", program, json.dumps(record.to_dict())], capture_output=True, check=True
    )
    assert json.loads(told.stdout) == json.loads(json.dumps(record.to_dict()))

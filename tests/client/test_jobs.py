"""Jobs, releases and models from afar, against a scripted server: what is sent, and what comes of it."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest

from ziggurat.client import AsyncServer, Server, ServerPlace
from ziggurat.client._senders import AwaitingWire, BlockingWire
from ziggurat.errors import BudgetExceededError, DataError, GateError, ParameterError, PendingError, ServiceError

JOB = {
    "id": "j1", "kind": "release", "table": "clinic", "person": "ana", "request": {}, "state": "waiting", "step": "",
    "cancelled": False, "error": None, "made": "2026-01-01", "begun": None, "ended": None, "result": None,
}  # fmt: skip
DESCRIBED = {"format": "ziggurat/release/1", "table": "clinic", "release": {"kind": "question", "epsilon": 0.5}}


class Told:
    """Says what is scripted for each address, one thing after another, and keeps what it was sent."""

    def __init__(self, **said):
        self.said, self.requests = {name: list(each) for name, each in said.items()}, []

    def __call__(self, request):
        self.requests.append(request)
        several = self.said[request.url.path.removeprefix("/v1/").replace("/", "_").replace("-", "_")]
        reply = several.pop(0) if len(several) > 1 else several[0]
        if isinstance(reply, Exception):
            raise reply
        return reply if isinstance(reply, httpx.Response) else httpx.Response(200, json=reply)

    def body(self, place=-1):
        return json.loads(self.requests[place].content)


@pytest.fixture
def talk(side):
    loop, pauses = asyncio.new_event_loop(), []

    async def note(seconds):
        pauses.append(seconds)

    def connect(told):
        place, through = ServerPlace("http://127.0.0.1:1", "zig_12345678"), httpx.MockTransport(told)
        if side == "waiting":
            return Server(BlockingWire(place, transport=through, sleep=pauses.append))
        inner = AsyncServer(AwaitingWire(place, transport=through, sleep=note))
        return type("Run", (), {
            "__getattr__": lambda self, name: lambda *a, **k: loop.run_until_complete(getattr(inner, name)(*a, **k))
        })()  # fmt: skip

    yield connect
    loop.close()


def test_a_release_is_asked_for_once_however_often_it_is_sent(talk):
    told = Told(releases=[httpx.ReadError("cut"), JOB])
    job = talk(told).run_release(DESCRIBED)
    assert (job.id, job.state, job.over) == ("j1", "waiting", False)
    keys = [each.headers["Idempotency-Key"] for each in told.requests]
    assert len(keys) == 2
    assert keys[0] == keys[1]
    assert told.body() == {"description": DESCRIBED, "open": None}


def test_a_file_says_the_same(talk, tmp_path):
    said = "format: ziggurat/release/1\ntable: clinic\nrelease: {kind: question, day: 2024-01-31}\n"
    (tmp_path / "r.yaml").write_text(said)
    told = Told(releases_plan=[{"sentences": ["It fits."], "fits": True}])
    found = talk(told).plan_release(tmp_path / "r.yaml", 50)
    assert (found.sentences, found.fits) == (("It fits.",), True)
    assert told.body()["description"]["release"]["day"] == "2024-01-31"
    (tmp_path / "list.yaml").write_text("- 1\n")
    with pytest.raises(DataError, match="mapping"):
        talk(told).plan_release(tmp_path / "list.yaml")
    with pytest.raises(DataError, match="cannot be read"):
        talk(told).run_release(tmp_path / "none.yaml")


def test_a_job_is_waited_for(talk):
    told = Told(jobs_j1=[JOB, {**JOB, "state": "running", "step": "counting"}, {**JOB, "state": "done"}])
    done = talk(told).wait("j1")
    assert done.over
    done.require_done()
    assert len(told.requests) == 3
    asleep = Told(jobs_j1=[{**JOB, "state": "running"}])
    late = talk(asleep).wait("j1", seconds=1)
    assert not late.over
    with pytest.raises(PendingError):
        late.require_done()


@pytest.mark.parametrize(
    ("ending", "kind"),
    [
        ({"state": "failed", "error": {"kind": "BudgetExceededError", "message": "too dear"}}, BudgetExceededError),
        ({"state": "stopped"}, GateError),
        ({"state": "cancelled"}, ServiceError),
    ],
)
def test_how_a_job_ended_is_raised_as_it_was_there(talk, ending, kind):
    with pytest.raises(kind):
        talk(Told(jobs_j1=[{**JOB, **ending}])).wait("j1").require_done()


def test_jobs_are_listed_cancelled_and_let_go_on(talk):
    told = Told(jobs=[{"jobs": [JOB]}], jobs_j1_cancel=[{**JOB, "state": "cancelled"}], jobs_j1_go_on=[JOB])
    server = talk(told)
    assert [each.id for each in server.jobs()] == ["j1"]
    assert server.cancel("j1").state == "cancelled"
    assert server.go_on("j1", "the board decided").id == "j1"
    assert told.body() == {"reason": "the board decided"}


def test_a_bundle_is_fetched_whole_or_not_at_all(talk, tmp_path):
    refused = httpx.Response(404, json={"error": {"kind": "UnknownNameError", "message": "no"}})
    whole = httpx.Response(200, content=b"zip" * 1000)
    told = Told(releases_j1_public=[httpx.ReadError("cut"), whole], releases_j1_bundle=[refused])
    server = talk(told)
    assert server.download("j1", tmp_path / "b.zip").read_bytes() == b"zip" * 1000
    with pytest.raises(ServiceError):
        server.download("j1", tmp_path / "c.zip", "bundle")
    assert [each.name for each in tmp_path.iterdir()] == ["b.zip"]
    with pytest.raises(DataError):
        server.download("j1", tmp_path / "b.zip")
    with pytest.raises(ParameterError):
        server.download("j1", tmp_path / "d.zip", "secret")


def test_releases_and_models_are_listed_and_asked(talk):
    release = {"id": "j1", "table": "clinic", "kind": "model", "what": "a model", "open": True, "made": "2026-01-01"}
    model = {"name": "cost", "kind": "published", "table": "clinic", "made": "2026-01-01", "more": 1}
    predicted, answered = {"predictions": [1.5, 2.5]}, {"answers": [0.1], "slot": None}
    listed = {"releases": [{"releases": [release]}], "models": [{"models": [model]}]}
    told = Told(**listed, models_cost_predict=[predicted], models_ages_answer=[answered])
    server = talk(told)
    assert server.releases("clinic")[0].what == "a model"
    assert told.requests[-1].url.params["table"] == "clinic"
    assert server.models()[0].kind == "published"
    import pyarrow as pa

    assert server.predict("cost", pa.table({"age": [30, 40]})) == [1.5, 2.5]
    assert told.body() == {"rows": [{"age": 30}, {"age": 40}]}
    assert server.answer("ages", [{"age": 30}]) == [0.1]
    with pytest.raises(ParameterError):
        server.predict("cost", 3)

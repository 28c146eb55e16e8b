"""What happens on the way: connections that are cut, servers that are busy, errors of every kind, and a key to hide."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import traceback
from itertools import pairwise
from pathlib import Path

import httpx
import pytest
from cut_lines import Cut, cut_for

import ziggurat
from ziggurat import errors
from ziggurat.client import AsyncServer, Server, ServerPlace, find_place, stored_addresses
from ziggurat.client._exchange import PATIENCE
from ziggurat.client._senders import AwaitingWire, BlockingWire
from ziggurat.errors import (
    MissingExtraError,
    ParameterError,
    PendingError,
    ServiceError,
    SignInError,
    UnavailableError,
    ZigguratError,
)
from ziggurat.service.web._errors import tell_error

URL = "http://127.0.0.1:1"
KEY = "zig_0123456789abcdef_planted-secret-of-a-key"
COUNT = ("SELECT COUNT(*) AS n FROM clinic", "0.1")
ONE = {"rows_per_unit": 1}
KINDS = [
    each for each in vars(errors).values() if inspect.isclass(each) and issubclass(each, ZigguratError)
]  # fmt: skip


def count_paid(clinic):
    return sum(each.kind == "reserve" for each in clinic.house.ledger.history())


def test_an_answer_that_was_lost_on_its_way_is_told_again_and_paid_once(clinic, side):
    line = cut_for(clinic, side, 2)
    answer = clinic.connect("ana", side, line).session("clinic").ask(*COUNT, **ONE)
    assert len(line.seen) == 3
    assert len(set(line.seen)) == 1, "one key for all attempts of a call"
    assert not answer.replayed, "it was told what the first one was told"
    assert count_paid(clinic) == 1


def test_without_the_same_key_it_is_asked_anew(clinic, side):
    """The control: the server then does it a second time, which only the ledger keeps from being paid."""
    line = cut_for(clinic, side, 1, new_key=True)
    assert clinic.connect("ana", side, line).session("clinic").ask(*COUNT, **ONE).replayed


def test_two_calls_have_two_keys(clinic, side):
    line = cut_for(clinic, side, 0)
    session = clinic.connect("ana", side, line).session("clinic")
    assert session.ask(*COUNT, **ONE).value == session.ask(*COUNT, **ONE).value
    assert len(set(line.seen)) == 2


def test_what_never_reached_the_server_is_sent_again(clinic, side):
    line = cut_for(clinic, side, 1, before=True)
    clinic.connect("ana", side, line).session("clinic").ask(*COUNT, **ONE)
    assert len(line.seen) == 2
    assert count_paid(clinic) == 1


class Scripted:
    """A server that says what it is told to, one thing after another; the last one for ever."""

    def __init__(self, *replies):
        self.replies, self.requests, self.done = list(replies), [], set()

    def __call__(self, request):
        self.requests.append(request)
        self.done.add(request.headers.get("Idempotency-Key") or len(self.requests))
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, Exception):
            raise reply
        return reply() if callable(reply) else reply


def say(status, kind="", message="so", **headers):
    body = {"error": {"kind": kind, "message": message, "status": status}} if kind else {}
    return lambda: httpx.Response(status, json=body, headers=headers)


@pytest.fixture
def talk(side):
    """Connects to a scripted server with pauses that are noted, not made; gives the server's client and the pauses."""
    made, pauses = [], []

    def connect(script, patience=PATIENCE):
        place, through = ServerPlace(URL, KEY), httpx.MockTransport(script)
        if side == "waiting":
            return Server(BlockingWire(place, transport=through, sleep=pauses.append), patience), pauses

        async def note(seconds):
            pauses.append(seconds)

        server = AsyncServer(AwaitingWire(place, transport=through, sleep=note), patience)
        made.append(asyncio.new_event_loop())
        return _Run(server, made[-1]), pauses

    yield connect
    for loop in made:
        loop.close()


class _Run:
    def __init__(self, server, loop):
        self.server, self.loop = server, loop

    def __getattr__(self, name):
        return lambda *a, **k: self.loop.run_until_complete(getattr(self.server, name)(*a, **k))


def test_a_busy_server_is_asked_again_when_it_says(talk):
    script = Scripted(say(429, "LimitError", **{"Retry-After": "5"}), say(404, "UnknownNameError"))
    server, pauses = talk(script)
    with pytest.raises(errors.UnknownNameError):
        server.head()
    assert len(script.requests) == 2
    assert len(pauses) == 1
    assert pauses[0] >= 5


def test_pauses_grow_and_patience_ends(talk):
    script = Scripted(say(503, "UnavailableError", "away"))
    server, pauses = talk(script, 20)
    with pytest.raises(UnavailableError, match="away"):
        server.people()
    assert len(script.requests) == len(pauses) + 1 > 4
    assert all(b > a for a, b in pairwise(pauses))
    assert sum(pauses) <= 20


def test_what_may_be_done_twice_is_not_sent_twice(talk):
    """A new person may have been added although nobody heard of it: that is for whoever asked to look at."""
    for reply in (httpx.ReadError("reset"), say(503, "UnavailableError"), httpx.ReadTimeout("late")):
        script = Scripted(reply, say(201))
        server, pauses = talk(script)
        with pytest.raises(UnavailableError):
            server.add_person("eve", "analyst")
        assert len(script.requests) == 1
        assert pauses == []


def test_what_was_counted_but_not_done_is_sent_again(talk):
    script = Scripted(say(429, "LimitError"), httpx.ConnectError("refused"), say(403, "AccessError"))
    with pytest.raises(errors.AccessError):
        talk(script)[0].add_person("eve", "analyst")
    assert len(script.requests) == 3


def test_a_refusal_is_never_asked_again(talk):
    for kind in ("BudgetExceededError", "QuestionError", "EngineError", "LedgerCorruptError", "GateError"):
        script = Scripted(say(503 if kind in ("EngineError", "LedgerCorruptError") else 402, kind))
        with pytest.raises(getattr(errors, kind)):
            talk(script)[0].people()
        assert len(script.requests) == 1


def test_a_question_that_is_being_answered_is_waited_for_and_then_told_of(clinic, side):
    seen = []

    class Busy(Cut):
        def _prepare(self, request):
            if request.url.path == "/v1/ask":
                seen.append(request.headers["Idempotency-Key"])
            return False

        def handle_request(self, request):
            self._prepare(request)
            return say(409, "PendingError")() if len(seen) == 1 else self.inner.handle_request(request)

        async def handle_async_request(self, request):
            self._prepare(request)
            return say(409, "PendingError")() if len(seen) == 1 else await self.inner.handle_async_request(request)

    inner = clinic.through if side == "waiting" else httpx.ASGITransport(clinic.app)
    clinic.connect("ana", side, Busy(inner, 0)).session("clinic").ask(*COUNT, **ONE)
    assert len(seen) == 2
    assert seen[0] == seen[1]


@pytest.mark.parametrize("kind", KINDS, ids=lambda each: each.__name__)
def test_every_kind_of_error_comes_back_as_itself(talk, kind):
    status, body = tell_error(kind("a sentence that says what to change"))
    script = Scripted(lambda: httpx.Response(status, json=body))
    with pytest.raises(ZigguratError) as caught:
        talk(script, 0)[0].people()
    if kind is PendingError:
        assert len(script.requests) == 1
    assert type(caught.value) is kind
    assert str(caught.value) == "a sentence that says what to change"
    assert caught.value.exit_code == kind.exit_code


def test_a_kind_that_is_not_known_here_keeps_its_sentence_and_status(talk):
    for kind in ("QuantumError", "Any", "__builtins__", "annotations"):
        with pytest.raises(ServiceError, match="what is new") as caught:
            talk(Scripted(say(418, kind, "what is new")))[0].people()
        assert caught.value.status == 418


def test_what_answers_instead_of_the_server_is_told_of(talk):
    page = Scripted(lambda: httpx.Response(200, text="<html>please sign in</html>"))
    with pytest.raises(ServiceError, match="check the address"):
        talk(page)[0].people()
    wall = Scripted(lambda: httpx.Response(403, text="<html>secret words</html>"))
    with pytest.raises(ServiceError) as caught:
        talk(wall)[0].people()
    assert "secret words" not in str(caught.value)
    assert caught.value.status == 403


def test_the_key_does_not_follow_to_another_address(talk):
    script = Scripted(lambda: httpx.Response(307, headers={"Location": "https://elsewhere.example/v1/people"}))
    with pytest.raises(ServiceError, match="sends elsewhere"):
        talk(script)[0].people()
    assert [each.url.host for each in script.requests] == ["127.0.0.1"]


def test_the_key_is_told_by_nothing(talk, caplog, side):
    caplog.set_level(logging.DEBUG)
    script = Scripted(httpx.ReadError(f"reset {KEY}"), say(500, "ServiceError", "failed"))
    server, _ = talk(script)
    told = []
    for call in (lambda: server.add_person("eve", "analyst"), server.people):
        try:
            call()
        except ZigguratError as error:
            told += [str(error), repr(error), "".join(traceback.format_exception(error)), json.dumps(error.to_dict())]
    inner = server if side == "waiting" else server.server
    place = ServerPlace(URL, KEY)
    told += [repr(each) + str(each) for each in (inner, inner._wire, inner._wire._client, place)]
    told += [inner._repr_html_(), place._repr_html_(), caplog.text]
    assert [each for each in told if KEY in each or "planted" in each] == []
    assert all(each.headers["Authorization"] == f"Bearer {KEY}" for each in script.requests), "the search would find it"


def test_a_key_that_was_made_is_told_once_and_shown_never(clinic, side):
    made = clinic.connect("ana", side).make_key("ana", "for a notebook", ("read",), 7)
    assert made.secret.startswith("zig_")
    assert made.secret not in repr(made) + str(made) + made._repr_html_()
    assert ziggurat.connect(URL, made.secret, transport=clinic.through).me().scopes == ("read",)


BAD = {
    "no scheme": "privacy.example.org",
    "another scheme": "ftp://privacy.example.org",
    "no host": "https://",
    "a key in it": f"https://me:{KEY}@privacy.example.org",
    "a question mark": f"https://privacy.example.org/?key={KEY}",
    "in the clear": "http://privacy.example.org",
    "looks like loopback": "http://127.0.0.1.example.org",
    "bad port": "http://127.0.0.1:port",
}


@pytest.mark.parametrize("why", BAD)
def test_an_address_is_refused_before_anything_is_sent(why):
    with pytest.raises(ParameterError) as caught:
        ziggurat.connect(BAD[why], KEY)
    assert KEY not in str(caught.value)


def test_plain_text_goes_to_this_machine_or_where_it_was_allowed():
    for url in ("http://127.0.0.1:8470", "http://localhost:8470", "http://[::1]:8470"):
        assert ziggurat.connect(url, KEY).address == url
    assert ziggurat.connect("http://inside.example.org/", KEY, allow_plain=True).address == "http://inside.example.org"


def test_a_key_is_one_line(monkeypatch):
    for bad in ("two\nlines-of-it", "short", "with blanks in it", "ümlaut-key-12345"):
        with pytest.raises(ParameterError) as caught:
            ziggurat.connect(URL, bad)
        assert bad not in str(caught.value)


def test_certificates_are_checked_and_no_word_turns_that_off():
    wire = ziggurat.connect("https://privacy.example.org", KEY)._wire
    pool = wire._client._transport._pool
    assert pool._ssl_context.verify_mode.name == "CERT_REQUIRED"
    assert pool._ssl_context.check_hostname
    assert not [each for each in inspect.signature(ziggurat.connect).parameters if "verify" in each]
    with pytest.raises(errors.DataError, match="PEM"):
        ziggurat.connect("https://privacy.example.org", KEY, ca_file="/nothing/there.pem")


def test_servers_and_keys_are_stored_for_their_owner_alone(tmp_path, monkeypatch):
    from ziggurat.client import forget_place, read_key_file, store_place

    monkeypatch.setenv("ZIGGURAT_SETTINGS", str(tmp_path / "settings"))
    for name in ("ZIGGURAT_SERVER", "ZIGGURAT_APIKEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ParameterError, match="Say which server"):
        find_place()
    with pytest.raises(SignInError, match="No key is known"):
        find_place("https://privacy.example.org")
    file = store_place(ServerPlace("https://privacy.example.org", KEY))
    assert Path(file).stat().st_mode & 0o777 == 0o600
    assert find_place().key == KEY
    assert find_place("https://privacy.example.org/").key == KEY
    monkeypatch.setenv("ZIGGURAT_APIKEY", "zig_from_the_environment")
    assert find_place().key == "zig_from_the_environment"
    forget_place("https://privacy.example.org")
    assert stored_addresses() == []
    (tmp_path / "key").write_text(f"{KEY}\n")
    assert read_key_file(tmp_path / "key") == KEY
    with pytest.raises(errors.DataError):
        read_key_file(tmp_path / "none")


def test_a_missing_extra_says_which_command_adds_it():
    import subprocess
    import sys

    code = (
        "import sys; sys.modules['httpx'] = None\nimport ziggurat\n"
        "try: ziggurat.connect('http://127.0.0.1:1', 'zig_12345678')\n"
        "except ziggurat.ZigguratError as error: print(type(error).__name__, error)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.startswith(MissingExtraError.__name__)
    assert "pip install 'ziggurat[service]'" in told

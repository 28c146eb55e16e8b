"""Signing in by a provider of OpenID Connect: only who was sent there by this browser, is named by the provider's own
token, and is known here."""

import base64
import hmac
import json
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import httpx
import pytest
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey
from starlette.testclient import TestClient

from ziggurat.errors import ParameterError
from ziggurat.service import make_app
from ziggurat.service._house import ServiceHouse
from ziggurat.service.access import START_COOKIE, OpenIdProvider
from ziggurat.service.store import oidc_starts

from .conftest import make_settings

ISSUER = "https://sign-in.example"
CLIENT = "ziggurat-tests"
SECRET = "a secret / with: signs"
BACK = "http://127.0.0.1:8470/v1/sign-in/oidc/callback"
KEY = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})
OTHER = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})


@dataclass
class FakeProvider:
    """A provider of its own key, that answers one code with the token that a test wants."""

    key: Any = field(default_factory=lambda: KEY)
    published: list[Any] = field(default_factory=lambda: [KEY])
    changed: dict[str, Any] = field(default_factory=dict)
    header: dict[str, Any] = field(default_factory=lambda: {"alg": "RS256", "kid": "one"})
    asked: list[httpx.Request] = field(default_factory=list)
    challenge: str = ""
    nonce: str = ""
    forge: bool = False
    facts: dict[str, Any] = field(default_factory=dict)

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        match request.url.path:
            case "/.well-known/openid-configuration":
                named = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys"}
                told = {"issuer": ISSUER, **{name: f"{ISSUER}/{path}" for name, path in named.items()}}
                return httpx.Response(200, json={**told, **self.facts})
            case "/keys":
                keys = [{"kty": "strange"}, *(each.as_dict(private=False) for each in self.published)]
                return httpx.Response(200, json={"keys": keys})
            case "/token":
                return self.exchange({name: value[0] for name, value in parse_qs(request.content.decode()).items()})
        return httpx.Response(404, json={})

    def exchange(self, form: dict[str, str]) -> httpx.Response:
        right = form["code"] == "the-code" and form["redirect_uri"] == BACK
        if not right or create_s256_code_challenge(form["code_verifier"]) != self.challenge:
            return httpx.Response(400, json={"error": "invalid_grant"})
        now = int(time.time())
        usual = {"iss": ISSUER, "aud": CLIENT, "sub": "somebody-77", "iat": now, "exp": now + 300, "nonce": self.nonce}
        claims = {name: value for name, value in {**usual, **self.changed}.items() if value is not None}
        if self.forge:
            return httpx.Response(200, json={"id_token": forge(self.header, claims)})
        algorithms = [self.header["alg"]]
        return httpx.Response(200, json={"id_token": jwt.encode(self.header, claims, self.key, algorithms=algorithms)})


def forge(header: dict[str, Any], claims: dict[str, Any]) -> str:
    """Sign with what everybody knows, the public key as the secret of HMAC, or not at all."""
    said = b".".join(encode(json.dumps(each).encode()) for each in (header, claims))
    made = hmac.digest(KEY.as_pem(private=False), said, "sha256") if header["alg"] == "HS256" else b""
    return (said + b"." + encode(made)).decode()


def encode(text: bytes) -> bytes:
    return base64.urlsafe_b64encode(text).rstrip(b"=")


@dataclass
class Visited:
    """A service with a provider, and a browser."""

    client: TestClient
    house: ServiceHouse
    provider: FakeProvider

    def go(self) -> dict[str, str]:
        """Let the browser be sent to the provider; gives what the address said."""
        sent = self.client.get("/v1/sign-in/oidc", follow_redirects=False)
        assert sent.status_code == 303, sent.text
        address = urlsplit(sent.headers["Location"])
        assert f"{address.scheme}://{address.netloc}{address.path}" == f"{ISSUER}/authorize"
        said = {name: value[0] for name, value in parse_qs(address.query).items()}
        self.provider.challenge, self.provider.nonce = said["code_challenge"], said["nonce"]
        return said

    def come_back(self, state: str, code: str = "the-code", **more: str) -> httpx.Response:
        return self.client.get("/v1/sign-in/oidc/callback", params={"state": state, "code": code, **more})


@pytest.fixture
def visited(tmp_path):
    said = {"oidc_issuer": ISSUER, "oidc_client": CLIENT, "oidc_secret": SECRET}
    house, fake = ServiceHouse(make_settings(tmp_path, **said)), FakeProvider()
    house.provider = OpenIdProvider(
        house.store, ISSUER, CLIENT, SECRET, BACK, transport=httpx.MockTransport(lambda each: fake.answer(each))
    )
    house.people.add("pat", "analyst", subject="somebody-77")
    with TestClient(make_app(house=house), raise_server_exceptions=False) as client:
        yield Visited(client, house, fake)
    house.close()


def refused(answer: httpx.Response, status: int) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert set(answer.json()) == {"error"}
    assert "ziggurat_session" not in answer.headers.get("Set-Cookie", "")
    return answer.json()["error"]


def test_who_is_known_is_signed_in(visited):
    said = visited.go()
    assert (said["client_id"], said["response_type"], said["scope"]) == (CLIENT, "code", "openid")
    assert said["code_challenge_method"] == "S256"
    answered = visited.come_back(said["state"])
    assert answered.status_code == 200, answered.text
    assert answered.json()["person"]["name"] == "pat"
    assert visited.client.get("/v1/me").json()["name"] == "pat"
    forms = visited.client.post("/v1/people/pat/keys", json={"label": "mine"})
    assert forms.status_code == 403, "a cookie alone changes nothing"
    csrf = {"X-Ziggurat-Csrf": answered.json()["csrf"]}
    assert visited.client.post("/v1/people/pat/keys", json={"label": "mine"}, headers=csrf).status_code == 201


def test_the_client_says_its_secret_to_the_provider_and_to_nobody_else(visited):
    visited.come_back(visited.go()["state"])
    exchanged = [each for each in visited.provider.asked if each.url.path == "/token"]
    given = base64.b64decode(exchanged[0].headers["Authorization"].removeprefix("Basic ")).decode().split(":")
    assert [unquote(each) for each in given] == [CLIENT, SECRET]
    assert not any("Authorization" in each.headers for each in visited.provider.asked if each.url.path != "/token")


@pytest.mark.parametrize(
    ("what", "changed"),
    [
        ("issuer", {"iss": "https://elsewhere.example"}),
        ("audience", {"aud": "another-service"}),
        ("audience of several without naming us", {"aud": [CLIENT, "another-service"], "azp": "another-service"}),
        ("audience of several that names nobody", {"aud": [CLIENT, "another-service"]}),
        ("no audience", {"aud": None}),
        ("nonce", {"nonce": "of another attempt"}),
        ("no nonce", {"nonce": None}),
        ("expired", {"exp": int(time.time()) - 3600}),
        ("no expiry", {"exp": None}),
        ("made in the future", {"iat": 32_503_680_000}),
        ("no subject", {"sub": None}),
        ("a subject that is no text", {"sub": 77}),
    ],
)
def test_a_token_with_a_wrong_claim_signs_nobody_in(visited, what, changed):
    visited.provider.changed = changed
    assert refused(visited.come_back(visited.go()["state"]), 401)["kind"] == "SignInError", what


def test_a_token_of_another_key_signs_nobody_in(visited):
    visited.provider.key = OTHER
    refused(visited.come_back(visited.go()["state"]), 401)


@pytest.mark.parametrize("alg", ["HS256", "none"])
def test_a_token_that_is_signed_by_what_everybody_knows_signs_nobody_in(visited, alg):
    visited.provider.header, visited.provider.forge = {"alg": alg, "kid": "one"}, True
    refused(visited.come_back(visited.go()["state"]), 401)


def test_keys_that_the_provider_has_changed_are_asked_for_again(visited):
    assert visited.come_back(visited.go()["state"]).status_code == 200
    new = ECKey.generate_key("P-256", {"kid": "two", "use": "sig"})
    visited.provider.key, visited.provider.published = new, [new]
    visited.provider.header = {"alg": "ES256", "kid": "two"}
    assert visited.come_back(visited.go()["state"]).status_code == 200


def test_a_state_works_once(visited):
    said, secret = visited.go(), visited.client.cookies[START_COOKIE]
    assert visited.come_back(said["state"]).status_code == 200
    visited.client.cookies.clear()
    visited.client.cookies.set(START_COOKIE, secret)
    asked = len(visited.provider.asked)
    refused(visited.come_back(said["state"]), 401)
    assert len(visited.provider.asked) == asked, "the provider is not even asked"


def test_a_state_works_in_the_browser_that_got_it_and_in_no_other(visited):
    said = visited.go()
    visited.client.cookies.clear()
    refused(visited.come_back(said["state"]), 401)
    visited.go()  # another browser, with a cookie of its own
    refused(visited.come_back(said["state"]), 401)


@pytest.mark.parametrize("state", ["", "x", "ä" * 10, "a" * 43])
def test_an_invented_state_is_refused(visited, state):
    visited.go()
    refused(visited.come_back(state), 401)


def test_a_cookie_that_was_never_given_is_refused_and_the_provider_is_not_asked(visited):
    from ziggurat.service.access._oidc import _derive

    visited.client.cookies.set(START_COOKIE, "made-up")
    refused(visited.come_back(_derive("made-up", "state")), 401)
    assert visited.provider.asked == []


def test_who_comes_back_too_late_is_refused(visited):
    said = visited.go()
    with visited.house.store.write() as connection:
        connection.execute(oidc_starts.update().values(expires="2020-01-01T00:00:00.000000Z"))
    refused(visited.come_back(said["state"]), 401)


def test_a_code_that_the_provider_does_not_know_is_refused(visited):
    refused(visited.come_back(visited.go()["state"], code="another"), 401)


def test_a_refusal_of_the_provider_is_one_of_ours(visited):
    said = visited.go()
    told = refused(visited.come_back(said["state"], error="access_denied <script>"), 401)
    assert "script" not in json.dumps(told)


def test_nobody_is_added(visited):
    visited.provider.changed = {"sub": "a-stranger"}
    before = visited.house.people.all()
    assert "ask a steward" in refused(visited.come_back(visited.go()["state"]), 403)["message"]
    assert visited.house.people.all() == before


def test_who_is_kept_out_stays_out(visited):
    visited.house.people.set_active(visited.house.people.named("pat"), active=False)
    refused(visited.come_back(visited.go()["state"]), 403)


def test_a_provider_that_says_it_is_another_is_not_believed(visited):
    visited.provider.facts = {"issuer": "https://elsewhere.example"}
    refused(visited.client.get("/v1/sign-in/oidc", follow_redirects=False), 503)


def test_a_provider_that_leads_to_where_others_read_along_is_not_followed(visited):
    visited.provider.facts = {"token_endpoint": "http://sign-in.example/token"}
    refused(visited.client.get("/v1/sign-in/oidc", follow_redirects=False), 503)


def test_a_provider_that_fails_costs_nothing_but_the_attempt(visited):
    visited.provider.answer = lambda _request: httpx.Response(502, text="<html>")
    refused(visited.client.get("/v1/sign-in/oidc", follow_redirects=False), 503)


def test_the_cookie_is_short_lived_and_out_of_reach_of_scripts(visited):
    sent = visited.client.get("/v1/sign-in/oidc", follow_redirects=False)
    held = sent.headers["Set-Cookie"]
    for each in ("HttpOnly", "Max-Age=600", "SameSite=lax", "Path=/v1/sign-in/oidc/callback"):
        assert each.lower() in held.lower()
    secret = visited.client.cookies[START_COOKIE]
    assert secret not in sent.headers["Location"]
    with visited.house.store.read() as connection:
        assert secret not in str(connection.execute(oidc_starts.select()).all())


def test_without_the_setting_nobody_is_asked(served, monkeypatch):
    def refuse(*_given, **_said):
        raise AssertionError("a request leaves")

    monkeypatch.setattr("ziggurat.service.access._oidc.httpx.Client", refuse)
    monkeypatch.setattr("socket.getaddrinfo", refuse)
    assert served.house.provider is None
    for path in ("/v1/sign-in/oidc", "/v1/sign-in/oidc/callback?state=a&code=b"):
        refused(served.client.get(path), 404)


@pytest.mark.parametrize(
    "said", [{"oidc_issuer": "http://sign-in.example", "oidc_client": "a"}, {"oidc_issuer": ISSUER, "oidc_client": ""}]
)
def test_a_setting_that_is_not_safe_or_not_whole_is_refused_at_the_start(tmp_path, said):
    with pytest.raises(ParameterError):
        ServiceHouse(make_settings(tmp_path, **said))

"""Signing in by the provider of an institution: OpenID Connect, authorization code with PKCE.

Promise: somebody is signed in only if this very browser was sent to the provider within the last ten minutes, came back
once, and the provider's token says so: signed by one of its keys, made by it, for this service, for this attempt, and
not expired. Nobody is added: who is not known here by what the provider calls them stays outside.

The browser holds one secret; state, nonce and code verifier follow from it by HMAC, so that the database needs to keep
a hash only. Nothing is asked of anybody until somebody signs in this way.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from threading import Lock
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
from authlib.oauth2.rfc6749.parameters import prepare_grant_uri
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import Key, KeySet, import_key
from sqlalchemy import delete

from ziggurat.errors import AccessError, ParameterError, SignInError, UnavailableError, UnknownNameError
from ziggurat.service.access._people import PeopleBook, Person
from ziggurat.service.access._secrets import digest_secret, make_secret, same
from ziggurat.service.store import ServiceStore, oidc_starts, utc_in, utc_now

START_COOKIE = "ziggurat_oidc"
"""What holds the secret of a browser that was sent to the provider."""

START_SECONDS = 600
"""How long it may take to come back."""

_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
_LEEWAY = 60  # seconds that clocks may differ
_LONGEST = 1 << 20
_PATIENCE = 10.0
_FRESH_SECONDS = 3600.0
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_REFUSED = "The provider's answer does not fit this browser, or came too late; sign in again."
_SILENT = "The provider of OpenID Connect cannot be reached or answers strangely; try again later."


@dataclass(frozen=True)
class StartedSignIn:
    """A browser on its way to the provider: where it goes, and the secret that its cookie holds."""

    address: str
    secret: str


class OpenIdProvider:
    """The provider of an institution, asked only while somebody signs in.

    Parameters
    ----------
    store
        Where people are known, and who was sent to the provider.
    issuer
        Its address, https; what its tokens must say.
    client, secret
        What this service is called there, and its secret; none for a public client.
    back
        Where browsers come back to: the address of this service's callback.
    transport
        How it is reached; a test gives its own.
    """

    def __init__(
        self,
        store: ServiceStore,
        issuer: str,
        client: str,
        secret: str,
        back: str,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        if not client:
            raise ParameterError("OpenID Connect needs what this service is called there: say oidc_client.")
        _require_safe(issuer)
        self._store, self._people = store, PeopleBook(store)
        self._issuer, self._client, self._secret, self._back = issuer, client, secret, back
        self._transport, self._lock = transport, Lock()
        self._facts: tuple[float, dict[str, Any]] | None = None
        self._keys: KeySet | None = None

    def begin(self) -> StartedSignIn:
        """Send a browser to the provider."""
        address = str(self._discover()["authorization_endpoint"])
        secret = make_secret()
        with self._store.write() as connection:
            connection.execute(delete(oidc_starts).where(oidc_starts.c.expires <= utc_now()))
            row = {"digest": digest_secret(secret), "expires": utc_in(seconds=START_SECONDS)}
            connection.execute(oidc_starts.insert().values(**row))
        asked = {
            "redirect_uri": self._back, "scope": "openid", "state": _derive(secret, "state"),
            "nonce": _derive(secret, "nonce"), "code_challenge_method": "S256",
            "code_challenge": create_s256_code_challenge(_derive(secret, "verifier")),
        }  # fmt: skip
        return StartedSignIn(prepare_grant_uri(address, self._client, "code", **asked), secret)

    def finish(self, secret: str, state: str, code: str) -> Person:
        """Say who came back, by what the browser's cookie holds and what the provider gave it; this works once.

        Raises
        ------
        SignInError
            Something does not fit, is over or was used.
        AccessError
            The provider knows the person, and this service does not let them in.
        """
        if not secret or not same(digest_secret(_derive(secret, "state")), digest_secret(state)):
            raise SignInError(_REFUSED)
        with self._store.write() as connection:
            mine = (oidc_starts.c.digest == digest_secret(secret)) & (oidc_starts.c.expires > utc_now())
            started = connection.execute(delete(oidc_starts).where(mine)).rowcount
        if not started or not code:
            raise SignInError(_REFUSED)
        subject = self._check(self._redeem(code, _derive(secret, "verifier")), _derive(secret, "nonce"))
        return self._let_in(subject)

    def _let_in(self, subject: str) -> Person:
        try:
            found = self._people.with_subject(subject)
        except UnknownNameError as error:
            reason = str(error)
        else:
            if found.active:
                return found
            reason = "You may not sign in here any more; ask a steward."
        raise AccessError(reason)

    def _redeem(self, code: str, verifier: str) -> str:
        """Exchange the code for a token."""
        facts = self._discover()
        form = {
            "grant_type": "authorization_code", "code": code, "redirect_uri": self._back, "code_verifier": verifier,
            "client_id": self._client,
        }  # fmt: skip
        methods = facts.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        named = None
        if self._secret and "client_secret_basic" in methods:
            named = (quote(self._client, safe=""), quote(self._secret, safe=""))
        elif self._secret:
            form["client_secret"] = self._secret
        status, told = self._ask("POST", str(facts["token_endpoint"]), form, named)
        if status >= 500:
            raise UnavailableError(_SILENT)
        token = told.get("id_token")
        if status != 200 or not isinstance(token, str):
            raise SignInError(_REFUSED)
        return token

    def _check(self, token: str, nonce: str) -> str:
        """Check signature and claims; gives whom the token is about."""
        claims = self._open(token, self._key_set())
        if claims is None:  # the provider may have changed its keys
            claims = self._open(token, self._key_set(anew=True))
        if claims is None:
            raise SignInError(_REFUSED)
        rules = jwt.JWTClaimsRegistry(
            leeway=_LEEWAY,
            iss={"essential": True, "value": self._issuer},
            aud={"essential": True, "value": self._client},
            exp={"essential": True},
            iat={"essential": True},
            sub={"essential": True},
            nonce={"essential": True, "value": nonce},
        )
        fits = True
        try:
            rules.validate(claims)
        except JoseError:
            fits = False
        others = isinstance(claims.get("aud"), list) and len(claims["aud"]) > 1
        if not fits or ((others or "azp" in claims) and claims.get("azp") != self._client):
            raise SignInError(_REFUSED)
        return str(claims["sub"])

    def _open(self, token: str, known: KeySet) -> dict[str, Any] | None:
        try:
            return dict(jwt.decode(token, known, algorithms=_ALGORITHMS).claims)
        except (JoseError, ValueError, TypeError, KeyError):
            return None

    def _key_set(self, *, anew: bool = False) -> KeySet:
        with self._lock:
            if self._keys is not None and not anew:
                return self._keys
        _, told = self._ask("GET", str(self._discover()["jwks_uri"]))
        found = KeySet([key for key in map(_import_key, told.get("keys") or ()) if key is not None])
        if not found.keys:
            raise UnavailableError(_SILENT)
        with self._lock:
            self._keys = found
        return found

    def _discover(self) -> dict[str, Any]:
        """What the provider says of itself, kept for an hour; it must be the one that was set."""
        with self._lock:
            if self._facts is not None and time.monotonic() - self._facts[0] < _FRESH_SECONDS:
                return self._facts[1]
        status, told = self._ask("GET", self._issuer.rstrip("/") + "/.well-known/openid-configuration")
        named = ("authorization_endpoint", "token_endpoint", "jwks_uri")
        fits = status == 200 and told.get("issuer") == self._issuer
        if not fits or not all(_is_safe(str(told.get(each, ""))) for each in named):
            raise UnavailableError(_SILENT)
        with self._lock:
            self._facts = (time.monotonic(), told)
        return told

    def _ask(
        self, method: str, address: str, form: dict[str, str] | None = None, named: tuple[str, str] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Ask the provider; more than a megabyte, another address or no JSON is no answer."""
        told: Any = None
        try:
            with (
                httpx.Client(transport=self._transport, timeout=_PATIENCE, follow_redirects=False) as client,
                client.stream(method, address, data=form, auth=named, headers={"Accept": "application/json"}) as answer,
            ):
                body = b""
                for part in answer.iter_bytes():
                    body += part
                    if len(body) > _LONGEST:
                        raise ValueError
                status, told = answer.status_code, json.loads(body)
        except (httpx.HTTPError, ValueError, RecursionError):
            told = None
        if not isinstance(told, dict):
            raise UnavailableError(_SILENT)
        return status, told


def _derive(secret: str, purpose: str) -> str:
    """What follows from the browser's secret for one purpose; none of them leads back to it or to another."""
    made = hmac.digest(secret.encode("utf-8", "surrogatepass"), b"ziggurat/oidc/" + purpose.encode(), hashlib.sha256)
    return urlsafe_b64encode(made).rstrip(b"=").decode()


def _import_key(told: Any) -> Key | None:
    """A key that signs; a secret one, one for other uses, and one that cannot be read are passed over."""
    if not isinstance(told, dict) or told.get("kty") == "oct" or told.get("use", "sig") != "sig":
        return None
    try:
        return import_key(told)
    except (JoseError, ValueError, TypeError, KeyError):
        return None


def _is_safe(address: str) -> bool:
    parts = urlsplit(address)
    return bool(parts.hostname) and (parts.scheme == "https" or parts.hostname in _LOOPBACK)


def _require_safe(issuer: str) -> None:
    if not _is_safe(issuer):
        raise ParameterError("The provider of OpenID Connect is reached by https: give its address as oidc_issuer.")

"""Who asks, and what they may: people, keys, passwords, browsers, links that work once, and rights to tables."""

from ziggurat.service.access._browsers import COOKIE, CSRF_HEADER, Browsers, SignedIn
from ziggurat.service.access._keys import SCOPES, ApiKey, KeyRing
from ziggurat.service.access._links import OneTimeLinks
from ziggurat.service.access._oidc import START_COOKIE, START_SECONDS, OpenIdProvider, StartedSignIn
from ziggurat.service.access._people import ROLES, PeopleBook, Person
from ziggurat.service.access._rights import MAY, Caller, Rights, require_held
from ziggurat.service.access._secrets import digest_secret, make_name, make_secret

__all__ = [
    "COOKIE",
    "CSRF_HEADER",
    "MAY",
    "ROLES",
    "SCOPES",
    "START_COOKIE",
    "START_SECONDS",
    "ApiKey",
    "Browsers",
    "Caller",
    "KeyRing",
    "OneTimeLinks",
    "OpenIdProvider",
    "PeopleBook",
    "Person",
    "Rights",
    "SignedIn",
    "StartedSignIn",
    "digest_secret",
    "make_name",
    "make_secret",
    "require_held",
]

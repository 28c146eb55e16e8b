"""Who makes a request: by the key in its header, or by the cookie of a browser."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyCookie, HTTPBearer
from starlette.concurrency import run_in_threadpool

from ziggurat.errors import SignInError
from ziggurat.service._house import ServiceHouse
from ziggurat.service.access import COOKIE, CSRF_HEADER, SCOPES, Caller

_SAFE = ("GET", "HEAD", "OPTIONS")


def house_of(request: Request) -> ServiceHouse:
    """Find what the process works with."""
    found: ServiceHouse = request.app.state.house
    return found


_KEY = Security(HTTPBearer(scheme_name="key", description="The key of a program.", auto_error=False))
_COOKIE = Security(APIKeyCookie(name=COOKIE, scheme_name="browser", auto_error=False))


async def find_caller(request: Request, _key: object = _KEY, _cookie: object = _COOKIE) -> Caller:
    """Say who makes a request, and count it; nobody, or one too many, is refused."""
    house, header = house_of(request), request.headers.get("Authorization", "")
    scheme, _, given = header.partition(" ")
    if scheme.lower() == "bearer" and given:
        request.app.state.rate.count(given[:24])
        person, key = await run_in_threadpool(house.keys.open, given)
        caller = Caller(person, key.scopes, key.expires)
    else:
        secret = request.cookies.get(COOKIE, "")
        if header or not secret:
            raise SignInError("Say who asks: send 'Authorization: Bearer KEY', or sign in.")
        csrf = None if request.method in _SAFE else request.headers.get(CSRF_HEADER, "")
        person = await run_in_threadpool(house.browsers.open, secret, csrf)
        request.app.state.rate.count(person.id)
        caller = Caller(person, SCOPES)
    request.state.person = caller.person.id
    return caller


Calling = Annotated[Caller, Depends(find_caller)]
House = Annotated[ServiceHouse, Depends(house_of)]

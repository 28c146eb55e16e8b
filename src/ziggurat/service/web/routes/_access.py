"""Signing in and out by a browser: with a password, or a link that works once."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import Field

from ziggurat.errors import SignInError, UnknownNameError
from ziggurat.service._house import CALLBACK, ServiceHouse
from ziggurat.service.access import COOKIE, START_COOKIE, START_SECONDS, OpenIdProvider, Person
from ziggurat.service.web._calling import Calling, House
from ziggurat.service.web.routes._bodies import Body

router = APIRouter(prefix="/v1", tags=["signing in"])


Sent = Annotated[str, Query(max_length=4096)]


class PasswordBody(Body):
    """Name and password."""

    name: str = Field(max_length=64)
    password: str = Field(max_length=1024)


class LinkBody(Body):
    """The secret of a link."""

    secret: str = Field(max_length=200)


@router.post("/sign-in")
def sign_in(body: PasswordBody, request: Request, response: Response, house: House) -> dict[str, Any]:
    """Sign a browser in with a password; gives the secret that its forms send along."""
    request.app.state.rate.count(f"sign-in {body.name}")
    return _begin(house.people.sign_in(body.name, body.password), response, house)


@router.post("/sign-in/link")
def follow_link(body: LinkBody, response: Response, house: House) -> dict[str, Any]:
    """Sign a browser in with a link that works once."""
    return _begin(house.links.use(body.secret), response, house)


@router.get("/sign-in/oidc", response_class=RedirectResponse, status_code=303)
def begin_oidc(request: Request, house: House) -> RedirectResponse:
    """Send a browser to the institution's provider of OpenID Connect, to sign in there and come back."""
    request.app.state.rate.count(_from_where(request))
    started = _provider(house).begin()
    answer = RedirectResponse(started.address, 303)
    answer.set_cookie(
        START_COOKIE, started.secret, httponly=True, samesite="lax", max_age=START_SECONDS, path=CALLBACK,
        secure=house.settings.address.startswith("https"),
    )  # fmt: skip
    return answer


@router.get("/sign-in/oidc/callback")
def finish_oidc(
    request: Request, response: Response, house: House, state: Sent = "", code: Sent = "", error: Sent = ""
) -> dict[str, Any]:
    """Sign a browser in that comes back from the provider; only the one that was sent there, once, within minutes."""
    request.app.state.rate.count(_from_where(request))
    if error:
        raise SignInError("The provider did not sign you in; try again, or ask a steward.")
    found = _provider(house).finish(request.cookies.get(START_COOKIE, ""), state, code)
    response.delete_cookie(START_COOKIE, path=CALLBACK)
    return _begin(found, response, house)


@router.post("/sign-out")
def sign_out(request: Request, response: Response, house: House, caller: Calling) -> dict[str, str]:
    """Sign the browser out."""
    house.browsers.end(request.cookies.get(COOKIE, ""))
    response.delete_cookie(COOKIE)
    return {"signed_out": caller.person.name}


def _provider(house: ServiceHouse) -> OpenIdProvider:
    if house.provider is None:
        raise UnknownNameError("This service has no provider of OpenID Connect; sign in with a password or a link.")
    return house.provider


def _from_where(request: Request) -> str:
    return f"from {request.client.host if request.client else ''}"


def _begin(person: Person, response: Response, house: ServiceHouse) -> dict[str, Any]:
    made = house.browsers.begin(person)
    response.set_cookie(
        COOKIE, made.secret, httponly=True, samesite="strict", secure=house.settings.address.startswith("https"),
        max_age=int(house.settings.session_hours * 3600), path="/",
    )  # fmt: skip
    return {"person": person.to_dict(), "csrf": made.csrf, "expires": made.expires}

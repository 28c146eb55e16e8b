"""Signing in and out by a browser: with a password, or a link that works once."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import Field

from ziggurat.service._house import ServiceHouse
from ziggurat.service.access import COOKIE, Person
from ziggurat.service.web._calling import Calling, House
from ziggurat.service.web.routes._bodies import Body
from ziggurat.service.web.routes._calls import from_where

router = APIRouter(prefix="/v1", tags=["signing in"])


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
    request.app.state.rate.count(from_where(request))
    request.app.state.sign_ins.count(body.name)
    return _begin(house.people.sign_in(body.name, body.password), response, house)


@router.post("/sign-in/link")
def follow_link(body: LinkBody, request: Request, response: Response, house: House) -> dict[str, Any]:
    """Sign a browser in with a link that works once."""
    request.app.state.rate.count(from_where(request))
    return _begin(house.links.use(body.secret), response, house)


@router.post("/sign-out")
def sign_out(request: Request, response: Response, house: House, caller: Calling) -> dict[str, str]:
    """Sign the browser out."""
    house.browsers.end(request.cookies.get(COOKIE, ""))
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict", secure=_is_secure(house))
    return {"signed_out": caller.person.name}


def _begin(person: Person, response: Response, house: ServiceHouse) -> dict[str, Any]:
    made = house.browsers.begin(person)
    response.set_cookie(
        COOKIE, made.secret, httponly=True, samesite="strict", secure=_is_secure(house),
        max_age=int(house.settings.session_hours * 3600), path="/",
    )  # fmt: skip
    return {"person": person.to_dict(), "csrf": made.csrf, "expires": made.expires}


def _is_secure(house: ServiceHouse) -> bool:
    return house.settings.address.startswith("https")

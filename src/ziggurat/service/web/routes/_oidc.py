"""Signing in by the provider of an institution, where the settings name one."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse

from ziggurat.errors import SignInError, UnknownNameError
from ziggurat.service._house import CALLBACK, ServiceHouse
from ziggurat.service.access import START_COOKIE, START_SECONDS, OpenIdProvider
from ziggurat.service.web._calling import House
from ziggurat.service.web.routes._access import _begin
from ziggurat.service.web.routes._calls import from_where

router = APIRouter(prefix="/v1/sign-in/oidc", tags=["signing in"])

Given = Annotated[str, Query(max_length=4096)]


@router.get("", response_class=RedirectResponse, status_code=303)
def begin_oidc(request: Request, house: House) -> RedirectResponse:
    """Send a browser to the institution's provider of OpenID Connect, to sign in there and come back."""
    request.app.state.rate.count(from_where(request))
    started = _provider(house).begin()
    answer = RedirectResponse(started.address, 303)
    answer.set_cookie(
        START_COOKIE, started.secret, httponly=True, samesite="lax", max_age=START_SECONDS, path=CALLBACK,
        secure=house.settings.address.startswith("https"),
    )  # fmt: skip
    return answer


@router.get("/callback")
def finish_oidc(
    request: Request, response: Response, house: House, state: Given = "", code: Given = "", error: Given = ""
) -> dict[str, Any]:
    """Sign a browser in that comes back from the provider; only the one that was sent there, once, within minutes."""
    request.app.state.rate.count(from_where(request))
    provider = _provider(house)
    if error:
        raise SignInError("The provider did not sign you in; try again, or ask a steward.")
    found = provider.finish(request.cookies.get(START_COOKIE, ""), state, code)
    response.delete_cookie(START_COOKIE, path=CALLBACK)
    return _begin(found, response, house)


def _provider(house: ServiceHouse) -> OpenIdProvider:
    if house.provider is None:
        raise UnknownNameError("This service has no provider of OpenID Connect; sign in with a password or a link.")
    return house.provider

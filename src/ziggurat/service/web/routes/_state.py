"""Whether the service lives, whether it can work, and how much it does."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from ziggurat import __version__
from ziggurat.errors import UnavailableError, ZigguratError
from ziggurat.service.web._calling import Calling, House

router = APIRouter(tags=["state"])


@router.get("/health")
def health() -> dict[str, str]:
    """Say that the process answers; nothing is looked at."""
    return {"status": "ok", "version": __version__}


@router.get("/ready")
def ready(house: House) -> dict[str, str]:
    """Say whether database and ledger can be reached; 503 if not."""
    try:
        house.people.all()
        house.ledger.head()
    except ZigguratError:
        raise UnavailableError("The database or the ledger cannot be reached; try again later.") from None
    return {"status": "ready"}


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
def metrics(request: Request, caller: Calling) -> Response:
    """Give the numbers of the service as Prometheus reads them; for stewards and auditors."""
    caller.require("read", ("steward", "auditor"))
    return Response(request.app.state.metrics.text(), media_type="text/plain; version=0.0.4")


@router.get("/v1/me")
def me(house: House, caller: Calling) -> dict[str, Any]:
    """Say who asks, what the key is for, and which tables they may ask about."""
    rights = house.rights.of(caller.person)
    return {**caller.person.to_dict(), "scopes": list(caller.scopes), "tables": rights}

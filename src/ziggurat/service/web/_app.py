"""The application: routes under one version, errors in one shape, logs and metrics that hold no data."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from secrets import token_hex
from typing import Any

import structlog
from fastapi import FastAPI, Request, Response
from fastapi_offline import FastAPIOffline
from starlette.concurrency import run_in_threadpool

from ziggurat import __version__
from ziggurat.errors import UnavailableError
from ziggurat.service._house import ServiceHouse
from ziggurat.service._settings import ServiceSettings
from ziggurat.service.web._errors import ERROR_SHAPE, ERRORS, handle_errors
from ziggurat.service.web._limits import BodyLimit, RateLimit
from ziggurat.service.web._metrics import ServiceMetrics
from ziggurat.service.web.routes import ROUTERS

_BEAT_SECONDS = 3.0
_SAFETY = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


def make_app(settings: ServiceSettings | None = None, house: ServiceHouse | None = None) -> FastAPI:
    """Make the application of one process.

    Parameters
    ----------
    settings
        By default what the environment says.
    house
        What it works with, where that is open already; it is then left open.
    """
    said = settings or (house.settings if house is not None else ServiceSettings.read())

    @asynccontextmanager
    async def live(app: FastAPI) -> AsyncIterator[None]:
        opened: ServiceHouse = await run_in_threadpool(ServiceHouse, said) if house is None else house
        app.state.house = opened
        beating = asyncio.create_task(_beat(opened))
        try:
            yield
        finally:
            beating.cancel()
            with suppress(asyncio.CancelledError):
                await beating
            if house is None:
                await run_in_threadpool(opened.close)

    app = FastAPIOffline(
        title="Ziggurat",
        version=__version__,
        description="Privacy as a service: what leaves is priced, paid for, judged and signed.",
        lifespan=live,
        responses=ERRORS,
    )
    app.state.rate, app.state.metrics = RateLimit(said.requests_per_minute), ServiceMetrics()
    handle_errors(app)
    app.middleware("http")(_watch)
    app.add_middleware(BodyLimit, longest=said.longest_body)
    for router in ROUTERS:
        app.include_router(router)
    _describe_errors(app)
    return app


async def _beat(house: ServiceHouse) -> None:
    while True:
        with suppress(UnavailableError):
            await run_in_threadpool(house.beat)
        await asyncio.sleep(_BEAT_SECONDS)


async def _watch(request: Request, answer: Callable[[Request], Awaitable[Response]]) -> Response:
    """Number a request, and note what it was for, how it ended and how long it took; nothing of what it said."""
    request.state.number = token_hex(6)
    begun = time.monotonic()
    response = await answer(request)
    seconds = time.monotonic() - begun
    route = getattr(request.scope.get("route"), "path", "none")
    request.app.state.metrics.note(request.method, route, response.status_code, seconds)
    structlog.get_logger().info(
        "answered", number=request.state.number, method=request.method, route=route, status=response.status_code,
        seconds=round(seconds, 3), person=getattr(request.state, "person", ""),
    )  # fmt: skip
    response.headers.update({**_SAFETY, "X-Request-Number": request.state.number})
    return response


def _describe_errors(app: FastAPI) -> None:
    """Put the shape of errors into the description of the routes."""
    usual = app.openapi

    def described() -> dict[str, Any]:
        found = usual()
        found.setdefault("components", {}).setdefault("schemas", {})["ErrorShape"] = ERROR_SHAPE
        return found

    app.openapi = described  # type: ignore[method-assign]

"""The application: routes under one version, errors in one shape, logs and metrics that hold no data."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from fastapi import FastAPI
from fastapi_offline import FastAPIOffline
from starlette.concurrency import run_in_threadpool

from ziggurat import __version__
from ziggurat.errors import UnavailableError
from ziggurat.service._house import ServiceHouse
from ziggurat.service._settings import ServiceSettings
from ziggurat.service.web._describing import describe_errors
from ziggurat.service.web._errors import handle_errors
from ziggurat.service.web._limits import BodyLimit, RateLimit
from ziggurat.service.web._metrics import ServiceMetrics
from ziggurat.service.web._watching import RequestWatch
from ziggurat.service.web.routes import ROUTERS

_BEAT_SECONDS = 3.0
_BEATS_A_CLEARING = 1200  # about an hour
_SIGN_INS_PER_MINUTE = 20  # of one name: nobody types faster, and who guesses does
_MORE = 100  # requests at once beside those that wait for answers


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
        redirect_slashes=False,  # an address that is led elsewhere would be led by what the request says of its host
    )
    app.state.rate, app.state.metrics = RateLimit(said.requests_per_minute), ServiceMetrics()
    app.state.sign_ins = RateLimit(_SIGN_INS_PER_MINUTE)
    handle_errors(app)
    app.add_middleware(BodyLimit, longest=said.longest_body, longest_upload=said.longest_upload)
    app.add_middleware(RequestWatch, metrics=app.state.metrics, most=2 * said.waiting + _MORE)
    for router in ROUTERS:
        app.include_router(router)
    describe_errors(app)
    return app


async def _beat(house: ServiceHouse) -> None:
    beats = 0
    while True:
        with suppress(UnavailableError):
            await asyncio.to_thread(house.beat)  # threads of their own: others may all be busy
            if beats % _BEATS_A_CLEARING == 0:
                await asyncio.to_thread(house.repeats.clear)
        beats += 1
        await asyncio.sleep(_BEAT_SECONDS)

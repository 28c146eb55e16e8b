"""The routes of a served witness. Errors are `{"error": {"kind": …, "message": …}}`, in our words and no others.

| route | what it does |
|---|---|
| `GET /health` | says that it serves, and whether its folder can be reached; the only one that needs no token |
| `GET /v1/ledgers` | names the ledgers that it knows |
| `GET /v1/receipts` | all receipts of all ledgers, one a line |
| `GET /v1/ledgers/{ledger}/newest` | the newest receipt |
| `GET /v1/ledgers/{ledger}/receipts` | all receipts, one a line, or those from number `first` to `last` |
| `POST /v1/ledgers/{ledger}` | begin a list with one receipt |
| `POST /v1/ledgers/{ledger}/receipts` | add receipts, one a line; `durable=1` brings them to the disk first |
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import StreamingResponse

from ziggurat.errors import ZigguratError
from ziggurat.ledger.witness import list_watched
from ziggurat.service.witness._keeping import (
    RefusedReceipt,
    newest_receipt,
    open_everything,
    open_list,
    take_receipts,
)
from ziggurat.service.witness._token import opens

LARGEST_BODY = 16 << 20  # bytes; an entry is far smaller
_LINES = "application/x-ndjson"
_DIGITS = 18

Handler = Callable[[Request], Awaitable[Response]]


def make_witness_app(folder: str, hashes: tuple[str, ...]) -> FastAPI:
    """Make the application that keeps receipts in a folder, for whoever shows a token of which it has the hash."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    desk = _WitnessDesk(folder)
    app.add_route("/health", _answer(desk.tell_health), methods=["GET"])
    for path, handler, method in (
        ("/v1/ledgers", desk.name_ledgers, "GET"),
        ("/v1/receipts", desk.give_everything, "GET"),
        ("/v1/ledgers/{ledger}/newest", desk.give_newest, "GET"),
        ("/v1/ledgers/{ledger}/receipts", desk.give_list, "GET"),
        ("/v1/ledgers/{ledger}", desk.begin, "POST"),
        ("/v1/ledgers/{ledger}/receipts", desk.extend, "POST"),
    ):
        app.add_route(path, _answer(handler, hashes), methods=[method])
    app.add_exception_handler(404, _say_no_route)
    app.add_exception_handler(405, _say_no_method)
    return app


class _WitnessDesk:
    """Where requests are taken and answered; what touches the disk runs in threads."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    async def tell_health(self, _request: Request) -> Response:
        await asyncio.to_thread(list_watched, self._folder)
        return _json({"serves": "ziggurat/witness/1"})

    async def name_ledgers(self, _request: Request) -> Response:
        return _json({"ledgers": await asyncio.to_thread(list_watched, self._folder)})

    async def give_newest(self, request: Request) -> Response:
        line = await asyncio.to_thread(newest_receipt, self._folder, request.path_params["ledger"])
        return Response(line, media_type="application/json")

    async def give_list(self, request: Request) -> Response:
        ledger, first, last = request.path_params["ledger"], _number(request, "first"), _number(request, "last")
        blocks = await asyncio.to_thread(open_list, self._folder, ledger, first, last)
        return StreamingResponse(blocks, media_type=_LINES)

    async def give_everything(self, _request: Request) -> Response:
        return StreamingResponse(await asyncio.to_thread(open_everything, self._folder), media_type=_LINES)

    async def begin(self, request: Request) -> Response:
        return await self._take(request, begin=True)

    async def extend(self, request: Request) -> Response:
        return await self._take(request, begin=False)

    async def _take(self, request: Request, begin: bool) -> Response:
        lines = (await _read_body(request)).splitlines()
        durable, repeated = bool(_number(request, "durable")), bool(_number(request, "repeated"))
        take = partial(take_receipts, begin=begin, durable=durable, repeated=repeated)
        await asyncio.to_thread(take, self._folder, request.path_params["ledger"], lines)
        return _json({"taken": len(lines)}, 201)


def _answer(handler: Handler, hashes: tuple[str, ...] | None = None) -> Handler:
    """Ask for the token, unless nobody needs one, and turn whatever goes wrong into our own words."""

    async def answer(request: Request) -> Response:
        try:
            if hashes is not None:
                _require_token(request, hashes)
            return await handler(request)
        except RefusedReceipt as refused:
            return _error(refused.status, refused.kind, str(refused))
        except ZigguratError:
            return _error(503, "OutOfReach", "The witness's folder is out of reach, or in use by others; try again.")
        except Exception as error:  # noqa: BLE001 - texts of others are neither sent nor logged
            logging.getLogger("uvicorn.error").error("A request failed unexpectedly (%s)", type(error).__name__)
            return _error(500, "Unexpected", "Something unexpected happened; nothing was acknowledged.")

    return answer


def _require_token(request: Request, hashes: tuple[str, ...]) -> None:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not opens(token.strip(), hashes):
        raise RefusedReceipt(401, "NoToken", "Show the token of this witness, as 'Authorization: Bearer …'.")


async def _read_body(request: Request) -> bytes:
    """Read no more than may come, whatever was announced."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _LINES:
        raise RefusedReceipt(415, "NotLines", f"Send receipts as {_LINES}, one on each line.")
    announced = request.headers.get("content-length", "0")
    if not announced.isdecimal() or len(announced) > _DIGITS or int(announced) > LARGEST_BODY:
        raise _too_large()
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_BODY:
            raise _too_large()
    return bytes(body)


def _too_large() -> RefusedReceipt:
    return RefusedReceipt(413, "TooLarge", f"A request may have {LARGEST_BODY:,} bytes at most.")


def _number(request: Request, name: str) -> int:
    text = request.query_params.get(name, "0")
    if not (text.isascii() and text.isdecimal()) or len(text) > _DIGITS:
        raise RefusedReceipt(422, "BadNumber", f"The parameter '{name}' must be a number, 0 or more.")
    return int(text)


def _json(content: dict[str, Any], status: int = 200) -> Response:
    return Response(json.dumps(content), status, media_type="application/json")


def _error(status: int, kind: str, message: str) -> Response:
    response = _json({"error": {"kind": kind, "message": message}}, status)
    if status == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


async def _say_no_route(_request: Request, _error_found: Exception) -> Response:
    return _error(404, "NoSuchRoute", "There is nothing at this address.")


async def _say_no_method(_request: Request, found: Exception) -> Response:
    response = _error(405, "NoSuchMethod", "Nothing can be done in this way at this address.")
    if isinstance(found, HTTPException) and found.headers:
        response.headers.update(found.headers)
    return response

"""Every request: numbered, counted, answered whatever happens, noted without anything that it said."""

from __future__ import annotations

import time
from secrets import token_hex
from typing import Any

import structlog

from ziggurat.service.web._errors import answer_error, place_of
from ziggurat.service.web._metrics import ServiceMetrics

_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_SAFETY = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)
_ALWAYS = ("/health", "/ready")  # which are asked by what decides whether the service lives


class RequestWatch:
    """Stands before everything else, so that refusals of every kind carry its headers and stand in its log.

    Promise: what a foreign exception says reaches neither the caller nor a log, because it may quote cells; its type
    and the place where it was raised stand in the log, under the number that the caller was told.

    Parameters
    ----------
    app
        What answers.
    metrics
        What counts.
    most
        How many requests are answered at once; one more is sent away before anything of it is read.
    """

    def __init__(self, app: Any, metrics: ServiceMetrics, most: int) -> None:
        self._app, self._metrics, self._most = app, metrics, most
        self._inside = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        number, begun, status = token_hex(6), time.monotonic(), 0
        scope.setdefault("state", {})["number"] = number

        async def noted(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                told = [each for each in message.get("headers", ()) if each[0].lower() not in dict(_SAFETY)]
                message = {**message, "headers": [*told, *_SAFETY, (b"x-request-number", number.encode())]}
            await send(message)

        self._inside += 1
        broken = False
        try:
            if self._inside > self._most and scope["path"] not in _ALWAYS:
                await answer_error("LimitError", "Too much is asked at once; come back later.", 429)(
                    scope, receive, noted
                )
            else:
                await self._app(scope, receive, noted)
        except Exception as error:  # noqa: BLE001 - whatever it is, its words may quote cells
            structlog.get_logger().error("failed", number=number, error=type(error).__name__, at=place_of(error))
            broken = True
        finally:
            self._inside -= 1
            self._note(scope, status or 500, time.monotonic() - begun)
        if broken and status:  # outside the handler, so that not even __context__ leads to what it said
            raise ConnectionAbortedError("An answer broke off; the log says where.")
        if broken:
            words = f"The service failed; its log says where, by the number {number}."
            await answer_error("ServiceError", words, 500)(scope, receive, noted)

    def _note(self, scope: Any, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "none")
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._metrics.note(method, route, status, seconds)
        structlog.get_logger().info(
            "answered", number=scope["state"]["number"], method=method, route=route, status=status,
            seconds=round(seconds, 3), person=scope["state"].get("person", ""),
        )  # fmt: skip

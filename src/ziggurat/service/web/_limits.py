"""How much one may ask of a process: bytes of a body, requests in a minute, and how many wait at once."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any

from ziggurat.errors import LimitError, TooLargeError
from ziggurat.service.web._errors import answer_error

_MOST_KNOWN = 10_000
UPLOADS = ("/v1/uploads", "/v1/releases/verify")
"""Where bodies are files, and are counted where they are written."""


class BodyLimit:
    """Ends a request whose body is longer than is taken, whatever its header says, before it is in memory.

    Parameters
    ----------
    app
        What answers.
    longest
        How many bytes a body has.
    longest_upload
        How many an uploaded file has, which is counted where it is written.
    """

    def __init__(self, app: Any, longest: int, longest_upload: int) -> None:
        self._app, self._longest, self._longest_upload = app, longest, longest_upload

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a request on, counting what comes in."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        uploads = scope["path"] in UPLOADS and scope["method"] == "POST"
        if _said_length(scope) > (self._longest_upload if uploads else self._longest):
            await self._refuse(scope, receive, send)
        elif uploads:
            await self._app(scope, receive, send)
        else:
            await self._count(scope, receive, send)

    async def _count(self, scope: Any, receive: Any, send: Any) -> None:
        seen, over, begun = 0, False, False

        async def counted() -> Any:
            nonlocal seen, over
            message = await receive()
            seen += len(message.get("body", b""))
            over = over or seen > self._longest
            if over:
                raise TooLargeError(self._words)
            return message

        async def watched(message: Any) -> None:
            nonlocal begun
            if over and not begun:
                return  # what reads bodies has its own words for a body that ended; ours are below
            begun = True
            await send(message)

        try:
            await self._app(scope, counted, watched)
        except TooLargeError:
            if begun:
                raise
        if over and not begun:
            await self._refuse(scope, receive, send)

    @property
    def _words(self) -> str:
        return f"The request is longer than the {self._longest:,} bytes that are taken; send tables as uploads."

    async def _refuse(self, scope: Any, receive: Any, send: Any) -> None:
        await answer_error("TooLargeError", self._words, 413)(scope, receive, send)


def _said_length(scope: Any) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0


class RateLimit:
    """Lets each caller make so many requests a minute, all at once or one after another.

    Parameters
    ----------
    per_minute
        How many.
    clock
        What tells the time; a test gives its own.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute, self._clock = per_minute, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = Lock()  # routes count in several threads; between taking and putting back, a caller is unknown

    def count(self, caller: str) -> None:
        """Count a request; `LimitError` if it is one too many."""
        with self._lock:
            left = self._take(caller, self._clock())
        if left < 1:
            raise LimitError(f"More than {self._per_minute} requests in a minute; come back in a few seconds.")

    def _take(self, caller: str, now: float) -> float:
        """Take one of what a caller may make, and give how many there were."""
        left, seen = self._left.pop(caller, (float(self._per_minute), now))
        left = min(float(self._per_minute), left + (now - seen) * self._per_minute / 60)
        self._left[caller] = (max(left - 1, 0.0) if left >= 1 else left, now)
        if len(self._left) > _MOST_KNOWN:
            self._left.popitem(last=False)
        return left

"""The two that send: one waits, one is awaited; each does a request or a pause, and nothing else.

Certificates are always checked. The key goes to the one address that was given: redirects are not followed.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from ziggurat.client._addresses import ServerPlace
from ziggurat.client._effects import Effect, Lost, Pause, Reply, Steps, WireRequest
from ziggurat.errors import DataError, MissingExtraError

try:
    import httpx
except ImportError:
    raise MissingExtraError("Asking a server needs httpx; add it with: pip install 'ziggurat[service]'.") from None

Given = TypeVar("Given")

TIMEOUT = 600.0
"""How many seconds an answer may take; slots are padded, so that it is seldom quick."""

_CONNECT_SECONDS, _CHUNK = 10.0, 1 << 20
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


class BlockingWire:
    """Sends, and waits for what comes back.

    Parameters
    ----------
    place
        Which server, by which key.
    timeout
        How many seconds an answer may take.
    transport
        Another way than the network, for tests.
    sleep
        What waits.
    """

    def __init__(
        self,
        place: ServerPlace,
        timeout: float = TIMEOUT,
        transport: Any = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.place, self._sleep = place, sleep
        self._client = httpx.Client(transport=transport, **_options(place, timeout))

    def run(self, steps: Steps[Given]) -> Given:
        """Do what a call asks for, until it gives what it is for."""
        got: Any = None
        while True:
            try:
                wanted = steps.send(got)
            except StopIteration as end:
                given: Given = end.value
                return given
            got = self._do(wanted)

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()

    def _do(self, wanted: Effect) -> Reply | Lost | None:
        if isinstance(wanted, Pause):
            self._sleep(wanted.seconds)
            return None
        try:
            with self._client.stream(wanted.method, wanted.path, **_said(wanted, _parts)) as response:
                if wanted.into is None or response.status_code != 200:
                    return _reply(response, response.read())
                with wanted.into.open("wb") as opened:
                    for part in response.iter_bytes(_CHUNK):
                        opened.write(part)
                return _reply(response, b"")
        except httpx.HTTPError as error:
            return _lose(error)


class AwaitingWire:
    """Sends, and is awaited.

    Parameters
    ----------
    place
        Which server, by which key.
    timeout
        How many seconds an answer may take.
    transport
        Another way than the network, for tests.
    sleep
        What waits.
    """

    def __init__(
        self,
        place: ServerPlace,
        timeout: float = TIMEOUT,
        transport: Any = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.place, self._sleep = place, sleep
        self._client = httpx.AsyncClient(transport=transport, **_options(place, timeout))

    async def run(self, steps: Steps[Given]) -> Given:
        """Do what a call asks for, until it gives what it is for."""
        got: Any = None
        while True:
            try:
                wanted = steps.send(got)
            except StopIteration as end:
                given: Given = end.value
                return given
            got = await self._do(wanted)

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.aclose()

    async def _do(self, wanted: Effect) -> Reply | Lost | None:
        if isinstance(wanted, Pause):
            await self._sleep(wanted.seconds)
            return None
        try:
            async with self._client.stream(wanted.method, wanted.path, **_said(wanted, _later_parts)) as response:
                if wanted.into is None or response.status_code != 200:
                    return _reply(response, await response.aread())
                with wanted.into.open("wb") as opened:
                    async for part in response.aiter_bytes(_CHUNK):
                        opened.write(part)
                return _reply(response, b"")
        except httpx.HTTPError as error:
            return _lose(error)


def _options(place: ServerPlace, timeout: float) -> dict[str, Any]:
    # A proxy named by the environment would see what goes to this machine in the clear.
    return {
        "base_url": place.address,
        "headers": {"Accept": "application/json", **({"Authorization": f"Bearer {place.key}"} if place.key else {})},
        "timeout": httpx.Timeout(timeout, connect=_CONNECT_SECONDS),
        "follow_redirects": False,
        "trust_env": place.address.startswith("https://"),
        "verify": _trust(place.ca_file) if place.address.startswith("https://") else True,
    }


def _trust(ca_file: str) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file or None)
    except (OSError, ssl.SSLError):
        raise DataError(f"The certificates in {ca_file!r} cannot be read; give a PEM file.") from None


def _said(wanted: WireRequest, parts: Callable[[Path], Any]) -> dict[str, Any]:
    said: dict[str, Any] = {"headers": dict(wanted.headers)}
    if wanted.params:
        said["params"] = dict(wanted.params)
    if wanted.file is not None:
        said["content"] = parts(wanted.file)
        said["headers"]["Content-Type"] = "application/octet-stream"
    elif wanted.body is not None:
        said["json"] = wanted.body
    return said


def _parts(file: Path) -> Any:
    with file.open("rb") as opened:
        while part := opened.read(_CHUNK):
            yield part


async def _later_parts(file: Path) -> AsyncIterator[bytes]:
    with file.open("rb") as opened:
        while part := opened.read(_CHUNK):
            yield part


def _reply(response: httpx.Response, content: bytes) -> Reply:
    return Reply(response.status_code, {name.lower(): value for name, value in response.headers.items()}, content)


def _lose(error: httpx.HTTPError) -> Lost:
    """Say what was lost, in words of ours: those of the library may quote what was sent."""
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return Lost(False, "its certificate is not one that this machine trusts; give --ca-file")
    if isinstance(error, httpx.ConnectError):
        return Lost(False, "the connection was refused")
    if isinstance(error, _NEVER_SENT):
        return Lost(False, "nobody answered")
    late = "it took too long" if isinstance(error, httpx.TimeoutException) else "the line was cut"
    return Lost(True, late)

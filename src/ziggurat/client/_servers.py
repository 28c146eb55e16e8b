"""A server: its tables, people, keys, budgets, grants and ledger, as far as whoever asks may see and change them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from ziggurat.client._addresses import ServerPlace, check_address, find_place
from ziggurat.client._exchange import PATIENCE
from ziggurat.client._jobs import JobSteps
from ziggurat.client._models import ModelSteps
from ziggurat.client._operation import AwaitingSide, BlockingSide
from ziggurat.client._senders import TIMEOUT, AwaitingWire, BlockingWire
from ziggurat.client._sessions import AsyncRemoteSession, RemoteSession, open_session
from ziggurat.client._shelves import TableSteps
from ziggurat.client._stewarding import BookSteps, PeopleSteps, make_first_key
from ziggurat.client._surveys import PopulationSteps, SurveySteps

if TYPE_CHECKING:
    from types import TracebackType


class ServerSteps(TableSteps, PeopleSteps, BookSteps, JobSteps, ModelSteps, SurveySteps, PopulationSteps):
    """All that a server can be asked for, for both sides."""


class Server(ServerSteps, BlockingSide):
    """A server of Ziggurat; every call waits for its answer. Made by `ziggurat.connect`.

    Promise: the key is in no repr, message or log of ours, goes to this one address, and over http:// only to this
    machine unless it was allowed. A call is sent again only if that cannot do it twice. Errors are those that the
    server raised, as the classes of `ziggurat.errors`.

    Parameters
    ----------
    wire
        What sends.
    patience
        For how many seconds in all a call waits between its attempts, when the server is away or busy.
    """

    def __init__(self, wire: BlockingWire, patience: float = PATIENCE) -> None:
        super().__init__(wire)
        self.address, self._patience = wire.place.address, patience

    @property
    def place(self) -> ServerPlace:
        """Which server it is, and by which key."""
        return self._wire.place

    def session(self, *tables: str) -> RemoteSession:
        """Open a session over private tables of one population, with the public ones that may be joined."""
        return RemoteSession(self._wire, self._wire.run(open_session(tables, self._patience)), self._patience)

    def close(self) -> None:
        """Let go of the connections."""
        self._wire.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of the connections."""
        self.close()


class AsyncServer(ServerSteps, AwaitingSide):
    """As `Server`; every call is awaited. Made by `ziggurat.client.connect_async`.

    Parameters
    ----------
    wire
        What sends.
    patience
        For how many seconds in all a call waits between its attempts, when the server is away or busy.
    """

    def __init__(self, wire: AwaitingWire, patience: float = PATIENCE) -> None:
        super().__init__(wire)
        self.address, self._patience = wire.place.address, patience

    @property
    def place(self) -> ServerPlace:
        """Which server it is, and by which key."""
        return self._wire.place

    async def session(self, *tables: str) -> AsyncRemoteSession:
        """Open a session over private tables of one population, with the public ones that may be joined."""
        opened = await self._wire.run(open_session(tables, self._patience))
        return AsyncRemoteSession(self._wire, opened, self._patience)

    async def close(self) -> None:
        """Let go of the connections."""
        await self._wire.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of the connections."""
        await self.close()


def connect(
    url: str = "",
    key: str = "",
    *,
    ca_file: str = "",
    allow_plain: bool = False,
    timeout: float = TIMEOUT,
    patience: float = PATIENCE,
    transport: Any = None,
) -> Server:
    """Connect to a server; nothing is sent yet.

    Parameters
    ----------
    url
        Its address, such as https://privacy.example.org; by default that of ZIGGURAT_SERVER, or of the only server
        that 'ziggurat login' stored.
    key
        What says who asks; by default that of ZIGGURAT_APIKEY, or the one that was stored.
    ca_file
        The certificates of whoever vouches for the server, as PEM; by default those of this machine.
    allow_plain
        That http:// is well although the server is on another machine, because something else keeps the way secret.
    timeout
        How many seconds an answer may take.
    patience
        For how many seconds in all a call waits between its attempts, when the server is away or busy.
    transport
        Another way than the network: a transport of httpx, for tests.
    """
    place = find_place(url, key, ca_file, allow_plain=allow_plain)
    return Server(BlockingWire(place, timeout, transport), patience)


def connect_async(
    url: str = "",
    key: str = "",
    *,
    ca_file: str = "",
    allow_plain: bool = False,
    timeout: float = TIMEOUT,
    patience: float = PATIENCE,
    transport: Any = None,
) -> AsyncServer:
    """Connect to a server whose calls are awaited; as `connect`, and nothing is sent yet.

    Parameters
    ----------
    url, key, ca_file, allow_plain, timeout, patience, transport
        As for `connect`.
    """
    place = find_place(url, key, ca_file, allow_plain=allow_plain)
    return AsyncServer(AwaitingWire(place, timeout, transport), patience)


def follow_link(
    url: str, secret: str, *, ca_file: str = "", allow_plain: bool = False, transport: Any = None
) -> ServerPlace:
    """Come in by a link that works once, and make a key for this machine; gives the server with the key.

    Parameters
    ----------
    url
        The address of the server.
    secret
        What stands behind `#link=` in the link.
    ca_file, allow_plain, transport
        As for `connect`.
    """
    place = ServerPlace(check_address(url, allow_plain=allow_plain), "", ca_file)
    wire = BlockingWire(place, transport=transport)
    try:
        return replace(place, key=wire.run(make_first_key(secret)))
    finally:
        wire.close()

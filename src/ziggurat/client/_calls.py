"""What every group of operations of a server stands on: requests to its addresses, sent until they are answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from ziggurat.cards import Card, Shown
from ziggurat.client._effects import Steps, WireRequest
from ziggurat.client._exchange import PATIENCE, exchange


class ServerCalls(Shown):
    """What sends requests of a server, for both sides.

    Attributes
    ----------
    address
        Where the server is.
    """

    address: str = ""
    _patience: float = PATIENCE

    def _get(self, path: str, **params: Any) -> Steps[Any]:
        given = {name: each for name, each in params.items() if each is not None}
        return (yield from exchange(WireRequest("GET", path, given), self._patience))

    def _send(self, method: str, path: str, body: Any = None, params: Mapping[str, Any] | None = None) -> Steps[Any]:
        return (yield from exchange(WireRequest(method, path, params or {}, body), self._patience))

    def _card(self) -> Card:
        return Card(type(self).__name__, self.address)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {self.address}>"


def in_path(name: str) -> str:
    """Write a name as a part of an address."""
    return quote(str(name), safe="")

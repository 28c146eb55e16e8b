"""Messages between a desk and a clerk: a text, with its length before it."""

from __future__ import annotations

import socket
import struct

_LENGTH = struct.Struct("!I")
_PIECE = 65536

LONGEST = 65536
"""Orders of more characters than this are not sent; whoever has one writes it without help."""
NO, DONE = "", "done"


def frame(text: str) -> bytes:
    """Write a message."""
    data = text.encode("utf-8", "surrogateescape")
    return _LENGTH.pack(len(data)) + data


class Inbox:
    """The messages that come through a connection, cut out of its bytes."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection, self._bytes = connection, bytearray()

    def fill(self) -> bool:
        """Take in what has come; False if the other side has gone."""
        data = self._connection.recv(_PIECE)
        self._bytes += data
        return bool(data)

    def next(self) -> str | None:
        """Take out a message; None if none is whole yet."""
        if len(self._bytes) < _LENGTH.size:
            return None
        end = _LENGTH.size + _LENGTH.unpack_from(self._bytes)[0]
        if len(self._bytes) < end:
            return None
        text = self._bytes[_LENGTH.size : end].decode("utf-8", "surrogateescape")
        del self._bytes[:end]
        return text

    def wait(self) -> str | None:
        """Wait for a message; None if the other side goes before."""
        while (text := self.next()) is None:
            if not self.fill():
                return None
        return text

"""Messages between a desk and a clerk.

A desk sends an order: a text, with its length before it. The clerk answers twice: with the number and the hash of the
entry that it is about to write, on a connection of its own, which nobody is woken by; and, when that is on disk, with
the entry as text, or with an empty one if it will not write it.
"""

from __future__ import annotations

import socket
import struct

from ziggurat.ledger._chain import Entry, Head, decode, encode

LENGTH = struct.Struct("!I")
HEAD = struct.Struct("!Q32s")
NOTHING = bytes(LENGTH.size)
HELLO = b"+"
"""Comes with the handle on which to announce."""
LONGEST = 65536
"""Orders of more characters than this are not sent; whoever has one writes it without help."""
_PIECE = 65536


def frame(text: str) -> bytes:
    """Write a text with its length."""
    data = text.encode("utf-8", "surrogateescape")
    return LENGTH.pack(len(data)) + data


def frame_head(entry: Entry) -> bytes:
    """Write which entry is meant."""
    return HEAD.pack(entry.seq, bytes.fromhex(entry.hash))


def frame_entry(entry: Entry) -> bytes:
    """Write an entry."""
    return frame(encode(entry) or "")


def read_head(data: bytes) -> Head | None:
    """Read which entry is meant, the newest if there are several; None if it was not said."""
    if len(data) < HEAD.size:
        return None
    seq, digest = HEAD.unpack_from(data, len(data) // HEAD.size * HEAD.size - HEAD.size)
    return Head(seq, digest.hex())


def read_entry(data: bytes) -> Entry:
    """Read an entry."""
    return Entry._make(decode(data.decode("utf-8", "surrogateescape")))


class Inbox:
    """The texts that come through a connection, cut out of its bytes."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection, self._bytes = connection, bytearray()

    def fill(self) -> bool:
        """Take in what has come; False if the other side has gone, or sends more than anybody may."""
        data = self._connection.recv(_PIECE)
        self._bytes += data
        return bool(data) and len(self._bytes) <= 8 * LONGEST

    def next(self) -> str | None:
        """Take out a text; None if none is whole yet."""
        if len(self._bytes) < LENGTH.size:
            return None
        end = LENGTH.size + LENGTH.unpack_from(self._bytes)[0]
        if len(self._bytes) < end:
            return None
        text = self._bytes[LENGTH.size : end].decode("utf-8", "surrogateescape")
        del self._bytes[:end]
        return text

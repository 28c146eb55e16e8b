"""What a conversation with a server consists of, as plain values: a request, what came back, a pause.

A call is a generator that yields these and is sent what came of them; it knows no socket and no clock. Two thin
senders do what it asks for, one that waits and one that awaits, so that everything that matters is written once.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

Given = TypeVar("Given")

REPEAT_KEY = "Idempotency-Key"
"""The header by which a request that is sent again is done once."""

_HARMLESS = ("GET", "HEAD", "PUT", "DELETE")  # which may be done twice: the second time changes nothing


@dataclass(frozen=True)
class WireRequest:
    """A request, without the key and the address of the server.

    Attributes
    ----------
    method, path, params
        What is asked for.
    body
        What is sent as JSON; None for nothing.
    file
        A file that is sent instead, as it is.
    into
        Where what comes back is written, instead of being kept in memory.
    headers
        What goes along; an Idempotency-Key makes it safe to send again.
    harmless
        Whether it changes nothing, although it is a POST.
    """

    method: str
    path: str
    params: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    file: Path | None = None
    into: Path | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    harmless: bool = False

    @property
    def repeatable(self) -> bool:
        """Whether it may be sent again when nobody knows if it was done."""
        return self.harmless or self.method in _HARMLESS or REPEAT_KEY in self.headers


@dataclass(frozen=True)
class Reply:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    content: bytes


@dataclass(frozen=True)
class Lost:
    """Nothing came back.

    Attributes
    ----------
    sent
        Whether the request may have reached the server.
    why
        In a few words of ours.
    """

    sent: bool
    why: str


@dataclass(frozen=True)
class Pause:
    """Wait for so many seconds."""

    seconds: float


Effect: TypeAlias = WireRequest | Pause
Steps: TypeAlias = Generator[Effect, Any, Given]
"""A call: yields what is to be done, is sent a `Reply` or a `Lost` for each request, and returns what it is for."""

"""The hash chain: canonical text, the digest of an entry, and the link from each entry to the one before it.

The chain shows every change inside the history to whoever recomputes it. It cannot show that the newest entries
were cut off, or that everything was rewritten from some entry on: that is what a witness is for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, NamedTuple

from ziggurat.errors import ParameterError

FORMAT = 1
NO_LINK = "0" * 64

_DEEPEST = 100
_DOMAIN = b"ziggurat-ledger-entry-1"
# What goes round in a circle is also nested too deep, and found by that.
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False, check_circular=False)
_DECODER = json.JSONDecoder()
_SHAPE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z")


class Entry(NamedTuple):
    """One line of the ledger, exactly as stored.

    Attributes
    ----------
    seq
        Its place, counted from 1.
    time
        When it was written, by the writer's clock, in UTC.
    kind
        What it records: genesis, budget, grant, close, reserve, commit, abandon, unbounded,
        decision, register, witness or checkpoint.
    body
        What it says, as canonical JSON.
    previous, hash
        The hash of the entry before it, and its own.
    """

    seq: int
    time: str
    kind: str
    body: str
    previous: str
    hash: str

    @property
    def data(self) -> Any:
        """The body as a JSON value."""
        return decode(self.body)


class AnsweredEntry(Entry):
    """An entry whose answer is kept beside the chain, with that answer; `body` is what was hashed."""

    answer: str = "null"

    @property
    def data(self) -> Any:
        """The body as a JSON value, with the answer in its place."""
        return {**decode(self.body), "answer": decode(self.answer)}


class Head(NamedTuple):
    """The newest entry: whoever knows it can tell later whether history before it was changed."""

    seq: int = 0
    hash: str = NO_LINK


def canonical(value: object, what: str) -> str:
    """Write a JSON value in its one canonical form: sorted keys, no spaces, ASCII, finite numbers.

    Keys must be text: JSON would write 1 and "1" alike, so that two different values had one form. `what` names the
    value in the error; the value itself is never quoted.
    """
    text = encode(value) if _is_plain(value, _DEEPEST) else None
    if text is None:
        raise ParameterError(
            f"{what} must be a JSON value, nested at most {_DEEPEST} deep: text, finite numbers, true, false, null, "
            "lists, and objects with text keys."
        )
    return text


def encode(value: object) -> str | None:
    """Write a value whose keys are known to be text in its canonical form; None if it has none."""
    try:
        return _ENCODER.encode(value)
    except (TypeError, ValueError, RecursionError):
        return None


def decode(text: str) -> Any:
    """Read JSON; raises `ValueError` or `RecursionError` if it cannot be read."""
    return _DECODER.decode(text)


def _is_plain(value: object, depth: int) -> bool:
    """Tell whether all keys are text, and nothing is nested so deep that reading it back might exhaust the stack."""
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            return False
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return True
    if depth == 0:
        return False
    nested = [item for item in value if isinstance(item, (dict, list, tuple))]
    return all(_is_plain(item, depth - 1) for item in nested) if nested else True


def digest(seq: int, time: str, kind: str, body: str, previous: str) -> str:
    """Hash an entry."""
    return sha256(_DOMAIN + frame_texts((str(seq), time, kind, body, previous))).hexdigest()


def frame_texts(texts: Iterable[str]) -> bytes:
    """Join texts so that no two sequences give the same bytes: each is preceded by its length."""
    parts: list[bytes] = []
    for text in texts:
        data = text.encode("utf-8", "surrogateescape")
        parts += (len(data).to_bytes(8, "big"), data)
    return b"".join(parts)


def follow(head: Head, time: str, kind: str, body: str) -> Entry:
    """Make the entry that comes after `head`."""
    seq = head.seq + 1
    return Entry(seq, time, kind, body, head.hash, digest(seq, time, kind, body, head.hash))


def is_text(entry: Entry) -> bool:
    """Tell whether every field has the type it must have; a database that was tampered with may hold anything."""
    fields = (entry.time, entry.kind, entry.body, entry.previous, entry.hash)
    return type(entry.seq) is int and all(isinstance(item, str) for item in fields)


def intact(entry: Entry) -> bool:
    """Tell whether an entry's hash is that of its contents."""
    return is_text(entry) and entry.hash == digest(entry.seq, entry.time, entry.kind, entry.body, entry.previous)


def now() -> datetime:
    """Read the clock, in UTC."""
    return datetime.now(UTC)


def timestamp(moment: datetime) -> str:
    """Write a moment of `now` with a fixed width, so that texts compare as the moments do."""
    return moment.isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def is_timestamp(text: object) -> bool:
    """Tell whether a text has the form that `timestamp` writes."""
    return isinstance(text, str) and _SHAPE.fullmatch(text) is not None

"""What a witness is: an append-only, numbered list of signed receipts for one ledger, kept apart from it.

The list moves forward only. A receipt is taken if it follows the newest (the next number, and the hash of the newest
as its `previous`) and refused otherwise, over all processes and machines. So two copies of a ledger can never both go
on, and what was once taken can never be unsaid by writing to the ledger.
"""

from __future__ import annotations

import json
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ziggurat.cards import Shown
from ziggurat.errors import LedgerUseError, ParameterError
from ziggurat.ledger._chain import Entry, Head, canonical, intact, now, timestamp
from ziggurat.ledger._keys import PrivateKey
from ziggurat.ledger._signing import Receipt, sign

_NAME = re.compile(r"[0-9a-f]{1,64}")
_OVER_HTTP = ("https", "http")


@dataclass(frozen=True)
class Seen(Shown):
    """One receipt as a witness keeps it.

    Attributes
    ----------
    receipt
        The ledger's name, the entry's number and hash, and when it was seen, signed.
    previous
        The hash of the entry before it.
    entry
        The whole entry if it was announced before it was written, so that it can be put back; None for answers and
        abandonments, which spend nothing and are not kept here.
    """

    receipt: Receipt
    previous: str
    entry: Entry | None

    @property
    def seq(self) -> int:
        """The number of the entry."""
        return self.receipt.seq

    def head(self) -> Head:
        """The entry's number and hash."""
        return self.receipt.head()

    def follows(self, head: Head) -> bool:
        """Tell whether this is the next entry after `head`."""
        return self.seq == head.seq + 1 and self.previous == head.hash

    def problem(self, ledger: str, public_key: str | None) -> str | None:
        """Say what is wrong with it; None if it is well formed, about `ledger` and signed with `public_key`."""
        if self.receipt.ledger != ledger:
            return "is about another ledger"
        if public_key is not None and self.receipt.public_key != public_key:
            return "is signed with another key than the witness's own"
        if self.receipt.problem() is not None:
            return "does not carry a valid signature"
        if self.entry is not None and not (intact(self.entry) and self.entry.hash == self.receipt.hash):
            return "does not belong to the entry beside it"
        return None

    def to_json(self) -> str:
        """Give the JSON text, on one line."""
        kept = None if self.entry is None else [self.entry.time, self.entry.kind, self.entry.body]
        return canonical({**asdict(self.receipt), "previous": self.previous, "entry": kept}, "A receipt")

    @classmethod
    def from_json(cls, text: str | bytes) -> Seen | None:
        """Read the JSON text; None if it is none. Signatures are not checked here."""
        try:
            fields = json.loads(text)
            previous, kept = fields.pop("previous"), fields.pop("entry")
            receipt = Receipt.from_json(json.dumps(fields))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError, LedgerUseError):
            return None
        return cls._make(receipt, previous, kept)

    @classmethod
    def _make(cls, receipt: Receipt, previous: Any, kept: Any) -> Seen | None:
        if not isinstance(previous, str):
            return None
        if kept is None:
            return cls(receipt, previous, None)
        if not isinstance(kept, list) or len(kept) != 3 or not all(isinstance(text, str) for text in kept):
            return None
        return cls(receipt, previous, Entry(receipt.seq, kept[0], kept[1], kept[2], previous, receipt.hash))


def see(ledger: str, entry: Entry, key: PrivateKey, whole: bool) -> Seen:
    """Sign a receipt for an entry."""
    receipt = sign(ledger, Head(entry.seq, entry.hash), timestamp(now()), key)
    return Seen(receipt, entry.previous, entry if whole else None)


class Witness(ABC):
    """The receipts of one ledger, somewhere else.

    Every implementation promises: `extend` takes all of its receipts or none, and only if the first follows the newest,
    whoever else is writing; when it returns True under `durable`, they have reached the disk; nothing that was taken
    is ever changed or removed by this class, except what a crash left half-written and was therefore never taken.
    Failures are raised as `WitnessError`, without a full stop, and quote neither entries nor passwords. An instance may
    be used after `fork`, by one thread at a time.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """Where the receipts are, without secrets."""

    @abstractmethod
    def begin(self, first: Seen) -> bool:
        """Start the list with its first receipt; False if this witness knows the ledger already."""

    @abstractmethod
    def last(self) -> Seen | None:
        """Give the newest receipt; None if this witness knows no such ledger."""

    @abstractmethod
    def extend(self, seen: Sequence[Seen], durable: bool) -> bool:
        """Take receipts, each following the one before it; False if the first does not follow the newest."""

    @abstractmethod
    def all(self) -> Iterator[Seen | None]:
        """Give every receipt in order, and None for what is not a receipt."""

    @abstractmethod
    def close(self) -> None:
        """Let go of it."""


def follows(head: Head, seen: Sequence[Seen]) -> bool:
    """Tell whether receipts follow `head` and one another."""
    heads = [head, *(one.head() for one in seen)]
    return all(one.follows(before) for before, one in zip(heads, seen, strict=False))


def is_file_name(ledger: str) -> bool:
    """Tell whether a ledger's name is one that ledgers give themselves, so that files may be named after it."""
    return _NAME.fullmatch(ledger) is not None


_KINDS = "A witness is named by a folder, 'postgresql://server/database' or 'https://server:port'."


def witness_address(where: object) -> str:
    """Read where a witness is to be, and spell it out: it is written into the ledger for ever."""
    named = os.fspath(where) if isinstance(where, (str, os.PathLike)) else ""
    if not isinstance(named, str) or not named.strip() or not named.isprintable():
        raise ParameterError(_KINDS)
    scheme = _scheme(named)
    if scheme in _OVER_HTTP:
        from ziggurat.ledger.witness._access import spell_out_url

        return spell_out_url(named)
    if scheme is not None:
        return _without_password(named)
    folder = Path(named).expanduser()
    if not folder.is_dir():
        raise LedgerUseError(f"There is no folder {named!r} for a witness; create it, best on another disk.")
    return str(folder.resolve())


def open_witness(where: str, ledger: str, timeout: float = 30.0) -> Witness:
    """Open the receipts of a ledger at an address; another kind of witness is added here."""
    scheme = _scheme(where)
    if scheme in _OVER_HTTP:
        from ziggurat.ledger.witness._http import HttpWitness

        return HttpWitness(where, ledger, timeout)
    if scheme is not None:
        from ziggurat.ledger.witness._postgres import PostgresWitness

        return PostgresWitness(where, ledger, timeout)
    from ziggurat.ledger.witness._folder import FolderWitness

    return FolderWitness(where, ledger, timeout)


def is_over_http(where: str) -> bool:
    """Tell whether an address is that of a server which keeps receipts."""
    return _scheme(where) in _OVER_HTTP


def _scheme(where: str) -> str | None:
    if "://" not in where:
        return None
    scheme = where.partition("://")[0].lower()
    if scheme not in ("postgresql", "postgres", *_OVER_HTTP):
        raise LedgerUseError(_KINDS)
    return scheme


def _without_password(uri: str) -> str:
    from ziggurat.ledger.storage import has_password

    if has_password(uri):
        raise LedgerUseError(
            "The address of a witness is written into the ledger for ever, so leave the password out of it; keep it in "
            "a .pgpass file or in PGPASSWORD."
        )
    return uri

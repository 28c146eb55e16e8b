"""What a ledger needs of a database: an append-only list of entries and one writer at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from urllib.parse import unquote

from ziggurat.errors import LedgerCorruptError, LedgerUseError
from ziggurat.ledger._chain import Entry

BATCH = 1000
"""How many entries are read from the database at a time."""

FOREIGN = "has a trigger or table that is not its own"
UNPROTECTED = "has lost or changed what protects its entries, or their table"

MakeFirst = Callable[[], Entry]
Pointer = tuple[str, int]
"""A row of the index: a key, and the number of the entry that it leads to."""


class Writer(ABC):
    """The one writer of a store, while it is that."""

    @abstractmethod
    def append(self, entry: Entry) -> None:
        """Add an entry; it is read back at `settle` or at the end."""

    @abstractmethod
    def settle(self) -> None:
        """Wait until the database has what was appended, and has shown that it keeps it; nothing is committed yet."""

    @abstractmethod
    def index(self, pointers: Sequence[Pointer]) -> None:
        """Add rows to the index; a ledger that was made without one gets it."""

    @abstractmethod
    def keep(self, sha256: str, text: str) -> None:
        """Keep a text beside the entries, by its hash, and read it back."""


class Store(ABC):
    """Entries in a database.

    Every implementation promises: `writing` admits one writer at a time, over all processes; inside it `entries`
    sees everything committed before; when it ends without an exception, what was appended has reached the disk, and
    was read back before, so that no trigger can swallow it; when it ends with one, nothing was appended, or (if the
    connection broke at the very end) all of it was. Failures of the database are raised as `LedgerError` and quote
    neither entries nor passwords.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """Where the entries are, without secrets."""

    @property
    @abstractmethod
    def place(self) -> str:
        """Where the entries are, spelled the same by everybody on this machine, without secrets."""

    @property
    @abstractmethod
    def patience(self) -> float:
        """How many seconds to wait for other writers."""

    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """Tell this ledger, and the way it was opened for writing, from all others on this machine; empty if none
        can write for another.
        """

    @abstractmethod
    def entries(self, start: int, limit: int = BATCH) -> list[Entry]:
        """Give at most `limit` entries whose number is at least `start`, in order."""

    @abstractmethod
    def numbered(self, numbers: Sequence[int]) -> Iterator[Entry]:
        """Give the entries of these numbers, in order; what is not there is left out."""

    @abstractmethod
    def newest(self, kind: str) -> Entry | None:
        """Give the newest entry of a kind; the search goes backwards from the end."""

    @abstractmethod
    def pointed(self, key: str) -> list[int]:
        """Give the numbers that the index has for a key, in order; none where there is no index."""

    def pointed_all(self, keys: Sequence[str]) -> dict[str, list[int]]:
        """Give the numbers that the index has for each of several keys."""
        return {key: self.pointed(key) for key in keys}

    @abstractmethod
    def unpointed(self, pointers: Sequence[Pointer]) -> list[Pointer]:
        """Give those of some rows that the index lacks."""

    @abstractmethod
    def keeps(self) -> bool:
        """Tell whether texts can be kept beside the entries."""

    @abstractmethod
    def kept(self, sha256: str) -> str | None:
        """Give the text that is kept under a hash; whoever asks compares it with the hash."""

    def version(self) -> int | None:
        """Give a number that differs whenever another connection has committed in between; None if there is none."""
        return None

    @abstractmethod
    def writing(self, start: int = 1) -> AbstractContextManager[Writer]:
        """Become the one writer; yields what appends entries. Reading will begin at `start`, to fetch that early."""

    @abstractmethod
    def rest(self) -> None:
        """Wait until whoever is writing now has finished, without writing."""

    @abstractmethod
    def oddities(self) -> list[str]:
        """Say what the database has that a ledger does not, or lacks; none if it is as it was created."""

    @abstractmethod
    def another(self) -> Store:
        """Open the same entries once more, so that a long reading keeps nobody waiting."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the database."""

    def after(self, seq: int) -> Iterator[Entry]:
        """Give all entries after `seq`, in order, a batch at a time."""
        while batch := self.entries(seq + 1):
            if batch[-1].seq <= seq:  # of a damaged file what was read before may come again, without end
                raise LedgerCorruptError(f"{self.name} does not give its entries in order.")
            yield from batch
            seq = batch[-1].seq


def open_store(where: str, create: bool, timeout: float, first: MakeFirst, read_only: bool = False) -> Store:
    """Open the store that an address names; `first` makes the first entry of a new one."""
    scheme = where.partition("://")[0] if "://" in where else ""
    if scheme in ("postgresql", "postgres"):
        from ziggurat.ledger.storage._postgres import PostgresStore

        return PostgresStore(where, create, timeout, first, read_only)
    from ziggurat.ledger.storage._sqlite import SqliteStore

    if scheme not in ("", "sqlite"):
        raise LedgerUseError("A ledger is named by a file, 'sqlite:///file' or 'postgresql://server/database'.")
    if scheme == "sqlite" and not where.startswith("sqlite:///"):
        raise LedgerUseError(
            "Three slashes come before the file: sqlite:///ledger.db, or sqlite:////absolute/ledger.db."
        )
    path = unquote(where.removeprefix("sqlite:///")) if scheme else where
    if path == ":memory:":
        raise LedgerUseError("A ledger must last, so it cannot be kept in memory; name a file.")
    return SqliteStore(path, create, timeout, first, read_only)

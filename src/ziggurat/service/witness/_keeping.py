"""What a served witness takes and gives: the rules beside those of the folder that it keeps its lists in.

Every request opens the folder anew and holds nothing afterwards, so that any number of workers and servers may share a
folder: the lock on a list, and the comparison with its newest receipt under that lock, are all that decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ziggurat.ledger.witness import FolderWitness, Seen, is_file_name, list_watched

_PATIENCE = 5.0  # seconds for another writer of the same list
_BLOCK = 1 << 16


class RefusedReceipt(Exception):  # noqa: N818 - an answer to whoever asked, not a failure of ours
    """Why a request is not fulfilled: a status of HTTP, a word for programs and a sentence for people."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status, self.kind = status, kind


def take_receipts(
    folder: str, ledger: str, lines: Sequence[bytes], *, begin: bool, durable: bool, repeated: bool
) -> None:
    """Take receipts at the end of a ledger's list, or begin one; they are on the disk, if `durable`, when this returns.

    Nothing is taken that is not signed by the key of the list, or does not follow its newest receipt. What is
    `repeated`, because the first answer was lost, is as good as taken if the list has it byte by byte.
    """
    seen = [_read_receipt(ledger, line) for line in lines]
    if not seen or (begin and len(seen) != 1):
        raise RefusedReceipt(422, "BadReceipt", "A list begins with one receipt, and goes on with one or more.")
    place = _open(folder, ledger)
    _require_key(place, seen, begin)
    taken = place.begin(seen[0]) if begin else place.extend(seen, durable)
    if taken or (repeated and place.holds(seen)):
        return
    if begin:
        raise RefusedReceipt(409, "KnownLedger", "This witness knows the ledger already.")
    raise RefusedReceipt(409, "DoesNotFollow", "The first receipt does not follow the newest one of this ledger.")


def newest_receipt(folder: str, ledger: str) -> bytes:
    """Give the newest receipt of a ledger."""
    last = _read_newest(_open(folder, ledger))
    if last is None:
        raise _unknown()
    return last.to_json().encode() + b"\n"


def open_list(folder: str, ledger: str, first: int, last: int) -> Iterator[bytes]:
    """Give the receipts of a ledger whose numbers are from `first` to `last`, as lines, many at a time.

    Without bounds (0) everything is given that is in the list, as it is, also what is no receipt any more.
    """
    place = _open(folder, ledger)
    if place.last_line() is None:
        raise _unknown()
    return _join(_bounded(place.lines(), first, last))


def open_everything(folder: str) -> Iterator[bytes]:
    """Give the receipts of all ledgers, list after list, as lines."""
    return _join(line for name in list_watched(folder) for line in FolderWitness(folder, name).lines())


def _open(folder: str, ledger: str) -> FolderWitness:
    if not is_file_name(ledger):
        raise _unknown()
    return FolderWitness(folder, ledger, _PATIENCE)


def _unknown() -> RefusedReceipt:
    return RefusedReceipt(404, "UnknownLedger", "This witness knows no such ledger.")


def _read_receipt(ledger: str, line: bytes) -> Seen:
    seen = Seen.from_json(line)
    if seen is None or seen.seq < 1 or seen.problem(ledger, None) is not None:
        raise RefusedReceipt(422, "BadReceipt", "A line is not a validly signed receipt of this ledger.")
    return seen


def _read_newest(place: FolderWitness) -> Seen | None:
    """Read the newest receipt; a list that ends with something else was changed, and takes nothing more."""
    line = place.last_line()
    last = None if line is None else Seen.from_json(line)
    if line is not None and last is None:
        raise RefusedReceipt(500, "Damaged", "The list of this ledger was changed: its end is not a receipt.")
    return last


def _require_key(place: FolderWitness, seen: Sequence[Seen], begin: bool) -> None:
    """Whoever began a list goes on with it: its key is that of every receipt in it."""
    last = _read_newest(place)
    if last is None and not begin:
        raise _unknown()
    key = seen[0].receipt.public_key if last is None else last.receipt.public_key
    if any(one.receipt.public_key != key for one in seen):
        raise RefusedReceipt(403, "AnotherKey", "The receipts of this ledger are signed with another key.")


def _bounded(lines: Iterator[bytes], first: int, last: int) -> Iterator[bytes]:
    if not first and not last:
        yield from lines
        return
    for line in lines:
        one = Seen.from_json(line)
        if one is not None and last and one.seq > last:
            return
        if one is not None and one.seq >= first:
            yield line


def _join(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Hand out many lines at a time."""
    block: list[bytes] = []
    size = 0
    for line in lines:
        block.append(line)
        size += len(line)
        if size >= _BLOCK:
            yield b"".join(block)
            block, size = [], 0
    if block:
        yield b"".join(block)

"""What this user's machine has verified of a ledger, so that it need not read all of it every time.

The note lies in the user's settings folder, beside what is known of witnesses: whoever can write the ledger cannot
write it. It holds the number and the hash of the newest checkpoint up to which every hash and every rule held. The same
hash at that number later means the same history before it (SHA-256), so that verification may go on from there; another
one means that the ledger was rewritten. A note that cannot be read is no note: then all is read again. Whoever rewrites
the first entry, too, gives the ledger another name; then the verdict tells that another one was verified at this place.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from ziggurat.errors import ZigguratError
from ziggurat.ledger._chain import Head, is_timestamp, now, timestamp
from ziggurat.ledger._keys import settings


@dataclass(frozen=True)
class VerifiedNote:
    """A checkpoint up to which a ledger was verified, and when."""

    ledger: str
    place: str
    seq: int
    hash: str
    time: str

    def head(self) -> Head:
        """The checkpoint."""
        return Head(self.seq, self.hash)


def recall_verified(ledger: str, place: str) -> VerifiedNote | None:
    """Find up to where the ledger of that name at that place was verified on this machine."""
    note = _read(_file(ledger, place))
    return note if note is not None and (note.ledger, note.place) == (ledger, place) else None


def recall_replaced(ledger: str, place: str) -> VerifiedNote | None:
    """Find what was verified last on this machine of a ledger of another name at the same place."""
    try:
        notes = [_read(file) for file in _folder().glob("*.json")]
    except OSError:
        return None
    others = [note for note in notes if note is not None and note.place == place and note.ledger != ledger]
    return max(others, key=lambda note: note.time, default=None)


def remember_verified(ledger: str, place: str, mark: Head) -> None:
    """Note up to where a ledger was verified; where that cannot be written, the next time takes longer."""
    from ziggurat.files import write_text

    file, note = _file(ledger, place), VerifiedNote(ledger, place, mark.seq, mark.hash, timestamp(now()))
    with suppress(OSError, ZigguratError):
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_text(file, json.dumps(asdict(note), indent=1) + "\n")


def _read(file: Path) -> VerifiedNote | None:
    try:
        note = VerifiedNote(**json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    sound = type(note.seq) is int and isinstance(note.hash, str) and is_timestamp(note.time)
    return note if sound else None


def _file(ledger: str, place: str) -> Path:
    named = sha256(json.dumps([ledger, place]).encode()).hexdigest()[:32]
    return _folder() / f"{named}.json"


def _folder() -> Path:
    return settings() / "verified"

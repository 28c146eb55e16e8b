"""The journal of one release: a private folder by which another process takes it up again.

    begun.json       the digest of the description, and the mark that the entries of the ledger will bear
    reserving.json   from here on something may be reserved
    reserved.json    the number of the reservation
    made/            what was made, judged, with its verdict, and what the ledger is to be told (a `HeldBundle`)
    committed.json   where the ledger says so
    bundled.json     the bundle has its name
    given-up.json    it failed after it was paid for, and was given up

Each is there whole or not at all, and on the disk before the next step. `begun.json` and `made` are made once by
however many processes: whoever comes second goes on with those of the first. That is all that races need, so that there
is no lock, which a dead process on another machine could hold.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, NoReturn

from ziggurat.cards import Card, Shown
from ziggurat.errors import DataError
from ziggurat.files import claim, move_within, sync_path, write_text
from ziggurat.ledger import LedgerMark
from ziggurat.release._cited import Cited
from ziggurat.release.bundle import HELD, HeldBundle

if TYPE_CHECKING:
    from ziggurat.ledger import Ledger
    from ziggurat.release._certificate import Certificate
    from ziggurat.release._pending import Pending
    from ziggurat.release._release import Release

FORMAT = "ziggurat/journal/1"
_OWNER_ONLY = 0o600
_OWNERS_FOLDER = 0o700
_BEGUN, _RESERVING, _RESERVED, _MADE = "begun.json", "reserving.json", "reserved.json", "made"
_COMMITTED, _BUNDLED, _GIVEN_UP = "committed.json", "bundled.json", "given-up.json"


class ReleaseJournal(Shown):
    """What a release has done so far, durable on the disk, so that it can be killed and run again.

    Promise: whoever runs it again with the same journal, in whichever process and on whichever machine, pays nothing
    twice, loses nothing that was paid for, and lets go of one output. It holds private things before they have left:
    the folder is for its owner alone, and stays until `clear`.

    Parameters
    ----------
    folder
        Where; it is made when the release begins.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def _card(self) -> Card:
        return Card("Journal of a release", self.sentence)

    @property
    def begun(self) -> bool:
        """Whether a release has begun here."""
        return self._has(_BEGUN)

    @property
    def idle(self) -> bool:
        """Whether nothing can have been paid for or kept yet."""
        return not (self._has(_RESERVING) or self.has_made)

    @property
    def has_made(self) -> bool:
        """Whether what leaves was made and lies here."""
        return (self.folder / _MADE / HELD).is_file()

    @property
    def given_up(self) -> bool:
        """Whether it failed after it was paid for, so that it cannot be taken up."""
        return self._has(_GIVEN_UP)

    @property
    def sentence(self) -> str:
        """How far it has come."""
        if self._has(_BUNDLED):
            return "It is done: the bundle was written."
        paid = f"Reservation {self.reservation} has paid for it; it" if self.reservation else "It"
        if self.has_made:
            return f"{paid} was made, and is neither made nor paid for again."
        if self.reservation:
            return f"{paid} is made now, and not paid for again."
        return f"{paid} was begun, and nothing was made yet." if self.begun else "Nothing was begun."

    @property
    def description(self) -> str:
        """The digest of what describes the release."""
        return str(self._begun_facts["description"])

    @property
    def mark(self) -> LedgerMark | None:
        """The mark of its entries in the ledger; None where no ledger remembers it."""
        said = self._begun_facts["mark"]
        return None if said is None else LedgerMark.from_dict(said)

    @property
    def reservation(self) -> int:
        """The reservation that paid for it; 0 if none is noted."""
        return int(self._read(_RESERVED)["reservation"]) if self._has(_RESERVED) else 0

    @property
    def made(self) -> HeldBundle:
        """What was made, with what the ledger is still to be told of it."""
        return HeldBundle.open(self.folder / _MADE)

    def begin(self, description: str, ledger: Ledger | None) -> bool:
        """Begin a release, or go on with the one that was begun here by the same words; tells whether it is new."""
        if self.begun and self.idle and self.description != description:
            self.clear()  # nothing was paid or kept, so that nothing hangs on the words of before
        self._make_folder()
        mark = None if ledger is None else ledger.make_mark().to_dict()
        facts = {"format": FORMAT, "description": description, "mark": mark}
        new = claim(self.folder / _BEGUN, json.dumps(facts).encode())
        if self.description != description:
            raise DataError(
                f"What {str(self.folder)!r} has begun was described by other words than the file has now; put those "
                "back, or delete that folder (what was spent stays spent)."
            )
        if (self.mark is None) is not (ledger is None):
            raise DataError(f"What {str(self.folder)!r} has begun was begun with another ledger; give that one.")
        return new

    def note_reserving(self) -> None:
        """Note that from here on something may be reserved under the mark."""
        self._write(_RESERVING, {})

    def note_reserved(self, reservation: int) -> None:
        """Note which reservation pays."""
        self._write(_RESERVED, {"reservation": reservation})

    def note_given_up(self) -> None:
        """Note that what was paid for failed, so that nobody takes it up."""
        self._write(_GIVEN_UP, {"reservation": self.reservation})

    def note_committed(self, entry: Cited | None) -> None:
        """Note that the ledger says so."""
        self._write(_COMMITTED, {"recorded": None if entry is None else entry.to_dict()})

    def note_bundled(self, bundle: Path) -> None:
        """Note that the bundle has its name."""
        self._write(_BUNDLED, {"bundle": bundle.name})

    def keep(self, made: Release[Any], pend: Callable[[Certificate], Pending] | None) -> bool:
        """Keep what was made on the disk, whole; tells whether it is this one that will leave.

        If another process has kept one meanwhile, that one leaves, and this one never does.
        """
        if not self.has_made:
            try:
                HeldBundle.keep(made, self.folder / _MADE, config=self.description, pend=pend)
            except DataError:
                if not self.has_made:
                    raise
            else:
                return True
        return False

    def adopt(self, held: HeldBundle) -> None:
        """Go on with what a release before this one made, and the gate stopped."""
        held.copy_to(self.folder / _MADE)

    def clear(self) -> None:
        """Forget the release, with all that lies here; what was spent stays spent."""
        place = self.folder.absolute()
        if place.is_dir() and not self.begun:
            self._require_own()
        gone = place.with_name(f".{place.name}.{token_hex(6)}.gone")
        try:
            move_within(place, gone)
        except FileNotFoundError:
            return
        except OSError:
            raise DataError(f"The journal {str(self.folder)!r} cannot be removed; delete that folder.") from None
        sync_path(gone.parent)
        shutil.rmtree(gone, ignore_errors=True)

    @property
    def _begun_facts(self) -> dict[str, Any]:
        facts = self._read(_BEGUN)
        if facts.get("format") != FORMAT or not {"description", "mark"} <= facts.keys():
            self._refuse()
        return facts

    def _make_folder(self) -> None:
        """Make the folder, for its owner alone; one with other things in it is no journal."""
        try:
            self.folder.mkdir(mode=_OWNERS_FOLDER, exist_ok=True)
            self._require_own()
            self.folder.chmod(_OWNERS_FOLDER)
            sync_path(self.folder.absolute().parent)
        except OSError:
            raise DataError(
                f"The journal {str(self.folder)!r} cannot be written; check the folder that it lies in."
            ) from None

    def _require_own(self) -> None:
        if not self.begun and any(not each.name.startswith(".") for each in self.folder.iterdir()):
            raise DataError(f"The folder {str(self.folder)!r} holds other things than a journal; name another one.")

    def _has(self, name: str) -> bool:
        return (self.folder / name).is_file()

    def _write(self, name: str, facts: Mapping[str, Any]) -> None:
        write_text(self.folder / name, json.dumps(facts), mode=_OWNER_ONLY)

    def _read(self, name: str) -> dict[str, Any]:
        try:
            facts = json.loads((self.folder / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            facts = None
        if not isinstance(facts, dict):
            self._refuse()
        return facts

    def _refuse(self) -> NoReturn:
        raise DataError(
            f"The journal {str(self.folder)!r} is damaged, so that nothing is taken up from it; restore a copy, or "
            "delete that folder (what was spent stays spent)."
        )

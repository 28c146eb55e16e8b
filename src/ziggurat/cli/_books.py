"""The ledgers that commands open, and who pays for privatised reports (`collect`, `pate privatize`).

Everybody sends a report, so that how many there are is public, and with it whether somebody sent one: reports promise
replace-one. Under add-or-remove-one they promise nothing: one report more is an output that cannot occur without it, at
any epsilon. A budget about adding or removing therefore cannot pay, and is refused by name.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ziggurat.errors import LedgerUseError, MixedNeighboursError, ParameterError

if TYPE_CHECKING:
    from ziggurat.client import ServedVerification
    from ziggurat.ledger import Ledger, Quote, Verification
    from ziggurat.privacy import Event, Neighbours


def default_ledger() -> Path:
    """The ledger of this user, used when none is named."""
    from platformdirs import user_data_path

    return user_data_path("ziggurat", appauthor=False) / "ledger.db"


def open_ledger(where: str, create: bool = False) -> Ledger:
    """The ledger named, or that of this user."""
    from ziggurat.ledger import Ledger

    if not where and create:
        default_ledger().parent.mkdir(parents=True, exist_ok=True)
    return Ledger.open(where or default_ledger(), create=create)


def open_to_read(where: str) -> Ledger:
    """The same, for reading only."""
    from ziggurat.ledger import Ledger

    return Ledger.open(where or default_ledger(), read_only=True)


def read_text(file: str) -> str:
    """What a file holds, as text."""
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise LedgerUseError(f"The file {file!r} cannot be read; check its name.") from None


def sum_up(result: Verification | ServedVerification) -> str:
    """What a ledger that verifies was checked for, and what the verdict rests on."""
    return f"{result.entries} entries: every hash and every rule holds. {result.notes[-1]}"


@dataclass(frozen=True)
class Payer:
    """Who pays for reports out of which budget; nobody where a rehearsal on open data needs none.

    Parameters
    ----------
    analyst, budget, ledger
        Who pays, out of what, and where that is kept.
    whom
        Whom the reports protect.
    free
        Whether this is a rehearsal on invented or public data.
    """

    analyst: str
    budget: str
    ledger: str
    whom: Neighbours
    free: bool = False

    @contextmanager
    def book(self) -> Iterator[Ledger | None]:
        """Open the ledger that pays, or say how to start; None if nobody has to pay."""
        if not self.analyst:
            if not self.free:
                raise ParameterError(
                    "Reports tell of these people for ever, so they are paid for: say who pays with --analyst. "
                    f"{self._how_to_start('ana')} Only rehearsals (--rehearse) on invented or public data need nobody."
                )
            yield None
            return
        try:
            book = open_ledger(self.ledger)
        except LedgerUseError:
            raise LedgerUseError(self._missing()) from None
        with book:
            self._require_budget(book)
            yield book

    def quote(self, book: Ledger | None, event: Event) -> Quote:
        """Price what reports promise; nothing is read."""
        from ziggurat.release import Purse

        if book is None:
            raise ParameterError(
                "Nobody pays for a rehearsal on open data, so that there is no price; leave --quote out."
            )
        return Purse(book, self.budget, self.analyst).price(event)

    def require_room(self, book: Ledger | None, event: Event) -> None:
        """Refuse what costs more than is left before anything is read."""
        if book is not None:
            from ziggurat.release import Purse

            Purse(book, self.budget, self.analyst).require_room(event)

    def tell(self, entry: int | None) -> str:
        """Say what was written, for whom, and that it stays."""
        if entry is None:
            return "No ledger was asked: a rehearsal on open data, of which nothing may be published as real."
        return (
            f"Entry {entry} of the ledger {self.ledger or str(default_ledger())!r} says that {self.analyst!r} paid for "
            f"it out of the budget {self.budget!r}, which protects {self.whom}; it stays there for ever."
        )

    def to_dict(self, entry: int | None) -> dict[str, Any] | None:
        """Give the same as JSON."""
        return None if entry is None else {"entry": entry, "budget": self.budget, "analyst": self.analyst}

    def _require_budget(self, book: Ledger) -> None:
        try:
            protected = book.budget(self.budget).neighbours
            account = book.paying(self.budget, self.whom, self.analyst).table
            book.left(account, self.analyst)
        except LedgerUseError:
            raise LedgerUseError(self._missing()) from None
        except MixedNeighboursError:
            raise MixedNeighboursError(
                f"The budget {self.budget!r} protects {protected}, but reports protect {self.whom}: how many there are "
                "is public, so that one report more or less shows, and nothing is promised under another relation or "
                f"to another unit. Pay from a budget of the same people, made with "
                f"'{self._budget_command(self.budget + '-reports')} --population {self.budget}'; both promises then "
                "stand side by side."
            ) from None

    def _missing(self) -> str:
        return f"{self.analyst!r} has no grant on {self.budget!r}. {self._how_to_start(self.analyst)}"

    def _how_to_start(self, analyst: str) -> str:
        where = f" --ledger {self.ledger}" if self.ledger else ""
        return (
            f"The steward gives a grant with '{self._budget_command(self.budget)}{where}' (once) and 'ziggurat ledger "
            f"grant {self.budget} {analyst} --epsilon 1{where}'."
        )

    def _budget_command(self, name: str) -> str:
        unit = self.whom.unit
        stated = f" --person {unit.column}" if unit.name == "person" else f" --unit {unit.name}={unit.column}"
        of = "" if unit.column is None else stated
        return f"ziggurat ledger budget {name} --epsilon 1{of} --relation {self.whom.relation}"

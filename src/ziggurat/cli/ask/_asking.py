"""Who asks about which tables, and the ledger that pays."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ziggurat.cli._books import open_ledger, open_to_read
from ziggurat.cli._tables import Located, open_public
from ziggurat.cli.terminal import show_steps
from ziggurat.errors import LedgerUseError, ParameterError

if TYPE_CHECKING:
    from ziggurat.ledger import Ledger
    from ziggurat.queries import Answer
    from ziggurat.release import Release, Session, Sweep, TermOptions

_NOBODY = "rehearsal"
_PLENTY = "1000000"


@dataclass(frozen=True)
class Asker:
    """Who asks about which tables, and who pays; nothing is open yet.

    Without an analyst a rehearsal on open data is paid for by a ledger that is thrown away.
    """

    tables: tuple[Located, ...]
    public: tuple[str, ...]
    analyst: str
    ledger: str
    named_budget: str
    rehearse: str

    def require_payer(self) -> None:
        """Refuse tables of the same name, and a question that nobody pays for."""
        names = [each.name.lower() for each in self.tables]
        if len(set(names)) < len(names):
            raise ParameterError("Two tables have the same name; give one another with --name or --private name=….")
        if not self.analyst and not (self.rehearse and self.open_data):
            raise ParameterError("Say who asks with --analyst; only rehearsals on invented or public data need nobody.")

    @property
    def open_data(self) -> bool:
        """Whether no table is about people who must be protected."""
        return not any(each.secret for each in self.tables)

    @property
    def budget(self) -> str:
        """The budget that pays."""
        if not self.named_budget and len(self.tables) > 1:
            raise ParameterError("With several private tables, say with --budget which budget pays for all of them.")
        return self.named_budget or self.tables[0].name

    @contextmanager
    def book(self, *, write: bool) -> Iterator[Ledger]:
        """Open the ledger, in which the analyst must have a grant."""
        if not self.analyst:
            with self._throwaway() as ledger:
                yield ledger
            return
        with self._open(write) as ledger:
            yield ledger

    def session(self, ledger: Ledger) -> Session:
        """A session over the tables, none of which is opened before a question about it is paid for."""
        from ziggurat.data.engines import DuckDBEngine
        from ziggurat.randomness import seeded
        from ziggurat.release import Session

        engine = DuckDBEngine()
        tables = {each.name: each.later(engine) for each in self.tables}
        source = seeded(self.rehearse) if self.rehearse else None
        public = open_public(self.public, engine)
        return Session(ledger, self.analyst or _NOBODY, tables, public=public, budget=self.budget, source=source)

    def answer(
        self, ledger: Ledger, sql: str, epsilon: str, delta: str, terms: TermOptions, *, drawn: bool = False
    ) -> tuple[Release[Answer], str]:
        """Answer a question (if it is `drawn`, one with numbers); gives the release, and what is left in words."""
        session = self.session(ledger)
        if drawn and not session.plan(sql, epsilon, delta, **terms).drawable:
            raise ParameterError("The answer will have no number that could be drawn; leave --picture out.")
        with show_steps() as tell:
            made = session.release(sql, epsilon, delta, progress=tell, **terms)
        return made, self._left(session)

    def sweep(
        self, ledger: Ledger, sql: str, epsilons: Sequence[str], delta: str, terms: TermOptions, truth: bool
    ) -> tuple[Sweep, str]:
        """Ask at several epsilons, if all fit; gives the answers, and what is left of the grant in words."""
        from ziggurat.release import sweep

        if truth and not (self.rehearse and self.open_data):
            raise ParameterError("--truth is for rehearsals (--rehearse) on invented or public data only.")
        session = self.session(ledger)
        with show_steps() as tell:
            made = sweep(session, sql, epsilons, delta, truth=truth, progress=tell, **terms)
        return made, self._left(session)

    def _left(self, session: Session) -> str:
        return session.remainder() if self.analyst else ""

    @contextmanager
    def _throwaway(self) -> Iterator[Ledger]:
        from ziggurat.ledger import Ledger
        from ziggurat.privacy import Neighbours

        with (
            tempfile.TemporaryDirectory(prefix="ziggurat-rehearsal-") as folder,
            Ledger.open(Path(folder) / "ledger.db") as ledger,
        ):
            ledger.create_budget(self.budget, _PLENTY, "0.5", Neighbours(self.tables[0].schema.unit))
            ledger.grant(self.budget, _NOBODY, _PLENTY, "0.5", "sum")
            yield ledger

    @contextmanager
    def _open(self, write: bool) -> Iterator[Ledger]:
        try:
            ledger = open_ledger(self.ledger) if write else open_to_read(self.ledger)
        except LedgerUseError:
            raise LedgerUseError(self._how_to_start()) from None
        with ledger:
            if not self._has_grant(ledger):
                raise LedgerUseError(self._how_to_start())
            yield ledger

    def _has_grant(self, ledger: Ledger) -> bool:
        try:
            ledger.left(self.budget, self.analyst)
        except LedgerUseError:
            return False
        return True

    def _how_to_start(self) -> str:
        unit, where = self.tables[0].schema.unit, f" --ledger {self.ledger}" if self.ledger else ""
        stated = f"person {unit.column}" if unit.name == "person" else f"unit {unit.name}={unit.column}"
        person = "" if unit.column is None else f" --{stated}"
        return (
            f"{self.analyst!r} has no grant on {self.budget!r}; the steward gives one with 'ziggurat ledger budget "
            f"{self.budget} --epsilon 1{person}{where}' (once) and 'ziggurat ledger grant {self.budget} {self.analyst} "
            f"--epsilon 1{where}'."
        )

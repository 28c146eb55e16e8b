"""Questions of people of the service: a session each time, over tables that they may ask about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ziggurat.errors import AccessError, ParameterError
from ziggurat.randomness import Source, seeded
from ziggurat.release import Session
from ziggurat.service.access import Person, Rights, require_held
from ziggurat.service.catalogue import TableShelf

if TYPE_CHECKING:
    from ziggurat.ledger import Ledger, LedgerMark
    from ziggurat.release import Quotation, Release
    from ziggurat.release.config import QuestionSaid, WorkloadSaid
    from ziggurat.release.questions import AnswerPlan


class AskDesk:
    """Plans, prices and answers questions; the analyst of the ledger is the person of the service.

    Promise: a table is asked only by whom its stewards let, and paid for by the budget of its population; everything
    else is that of `Session`.

    Parameters
    ----------
    ledger
        Where budgets are kept.
    shelf, rights
        The tables, and who may ask about them.
    rehearse
        A seed for rehearsals; else noise is drawn from secure randomness.
    """

    def __init__(self, ledger: Ledger, shelf: TableShelf, rights: Rights, rehearse: str = "") -> None:
        self._ledger, self._shelf, self._rights, self._rehearse = ledger, shelf, rights, rehearse

    def session(self, person: Person, tables: Sequence[str]) -> Session:
        """Open a session over private tables of one population, and all public ones that the person may see."""
        held = self._rights.of(person)
        for name in tables:
            require_held(held, name)
        facts = {each.name: each for each in self._shelf.all(held)}
        for name in tables:
            require_held(facts, name)  # it may have been removed in between
        private = {name: self._shelf.open(name, facts[name]) for name in tables if not facts[name].public}
        if not private:
            raise ParameterError("Name at least one private table; a public one needs no service to be read.")
        whose = {facts[name].population for name in private}
        if len(whose) > 1:
            raise AccessError("The tables are about different people, and no one account pays for both.")
        public = {name: self._shelf.open(name, each) for name, each in facts.items() if each.public}
        return Session(
            self._ledger, person.name, private, public=public, budget=whose.pop(), source=self._source()
        )  # fmt: skip

    def plan(self, session: Session, said: QuestionSaid | WorkloadSaid) -> AnswerPlan[Any]:
        """Make the plan of a question or a workload, in the words that release files use."""
        from ziggurat.release.config import QuestionSaid, plan_said_question, plan_said_workload

        if isinstance(said, QuestionSaid):
            return plan_said_question(session, said)
        return plan_said_workload(session, self._shelf.open(session.tables[0]).schema, said)

    def quote(
        self, person: Person, tables: Sequence[str], said: Sequence[QuestionSaid | WorkloadSaid], group_size: int
    ) -> Quotation:
        """Price questions that are to be asked one after the other; nothing is read or spent."""
        session = self.session(person, tables)
        return session.quote([self.plan(session, each) for each in said], group_size=group_size)

    def mark(self) -> LedgerMark:
        """Make what tells the payment of one request from all others."""
        return self._ledger.make_mark()

    def ask(self, session: Session, plan: AnswerPlan[Any], mark: LedgerMark | None = None) -> Release[Any]:
        """Pay for a plan and answer it; what was paid under the mark by a process that died is taken up."""
        return session.release(plan, mark=mark)

    def _source(self) -> Source | None:
        return seeded(self._rehearse) if self._rehearse else None

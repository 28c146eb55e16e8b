"""Make what a plan describes, and keep it on the disk before the ledger is told, so that a kill loses nothing.

Of a release with a guarantee: reserve under the mark of the journal, run, judge, keep. Judging comes before the ledger
holds the answer, because what attacks need is in memory only while what was made is; the cost is on disk since the
reservation, and nothing leaves before the commit (`Purse.settle`). What fails on the way is given up: its cost stays
spent. Whoever is killed leaves the reservation as it is, for the next process to take up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic

from ziggurat.errors import GateError, LedgerError, ParameterError, ReleaseStoppedError
from ziggurat.ledger import Replay, Reservation
from ziggurat.release._certificate import Artefact, Certificate, StewardDecision
from ziggurat.release._cited import Cited, cite, pack, unpack
from ziggurat.release._pending import Pending, PendingAnswer, PendingNote
from ziggurat.release._plan import Output
from ziggurat.release._purse import SPENT, describe_unbounded, run_paid

if TYPE_CHECKING:
    from ziggurat.ledger import Budget, Ledger
    from ziggurat.privacy import Event
    from ziggurat.release._gate import Gate
    from ziggurat.release._plan import Plan
    from ziggurat.release._purse import Purse
    from ziggurat.release._release import Release
    from ziggurat.release.durable._journal import ReleaseJournal
    from ziggurat.release.durable._steps import ReleaseSteps

_UNTOLD = Cited("", "", "", 0, "")
"""Stands for the entry that will be written, where a certificate asks whether there is one."""


def make_durably(
    purse: Purse,
    plan: Plan[Output],
    journal: ReleaseJournal,
    steps: ReleaseSteps,
    gate: Gate | None,
    go_on: str = "",
    *,
    looked: bool = False,
) -> Release[Output] | None:
    """Make, judge and keep what a plan describes; None if another process was quicker, whose output leaves instead.

    The ledger is told afterwards of what was kept (`Purse.settle`), and only then it may leave. Of a kind with a
    guarantee what the gate stops is kept, too; of one without, only what leaves. `looked` says that settings were
    chosen by looking at the private table.
    """
    if plan.follows:
        raise ParameterError("What follows from what was paid for costs nothing; release it without a journal.")
    work, event = _Work(purse, plan, journal, steps, gate, looked), purse.event(plan)
    if event is None:
        return work.make_freely(go_on)
    return work.make_unpaid(event) if purse.ledger is None else work.make_paid(purse.ledger, event)


@dataclass(frozen=True)
class _Work(Generic[Output]):
    """Who makes what, and where it is noted."""

    purse: Purse
    plan: Plan[Output]
    journal: ReleaseJournal
    steps: ReleaseSteps
    gate: Gate | None
    looked: bool

    def make_freely(self, go_on: str) -> Release[Output] | None:
        """Make and judge what nothing bounds; nobody pays, and what the gate stops is made anew another time."""
        self.steps.take("making it")
        made = self.purse._freely(self.plan, self.gate, self.steps.progress)
        if made.verdict.stopped and not go_on.strip():
            error = GateError(made.verdict.sentence)
            error.held = made
            raise error
        if made.verdict.stopped:
            said = made.verdict.went_on(go_on)
            made = replace(made, decision=StewardDecision(tuple(said["stopped"]), said["reason"], said["refuted"]))
        if self.purse.ledger is None:
            return self._keep(made)
        note = PendingNote(describe_unbounded(made))
        return self._keep(replace(made, entry=_UNTOLD), lambda _: note)

    def make_unpaid(self, event: Event) -> Release[Output] | None:
        """Make a rehearsal on invented data, of which no ledger is told."""
        self.plan.ready()
        self.steps.take("making it")
        return self._keep(self._run(event, True, None, "nothing was spent"))

    def make_paid(self, ledger: Ledger, event: Event) -> Release[Output] | None:
        """Reserve, or take up what was reserved; run, judge and keep, or give again what was answered before."""
        purse, plan, mark = self.purse, self.plan, self.journal.mark
        assert mark is not None  # as the journal has seen to
        self.steps.take("reserving what it costs")
        outcome = purse.hold(plan, event, mark, self.journal.note_reserving)
        budget = ledger.paying(purse.population, event.neighbours, purse.analyst)
        counted = ledger.as_counted(purse.population, event, purse.analyst)
        if isinstance(outcome, Replay):
            entry, output = cite(ledger, outcome.entry), plan.again(unpack(outcome.answer))
            given = purse._wrap(plan, output, counted, outcome.rehearsal, entry)
            return self._keep(self._judge(replace(given, replayed=True, budget=budget)))
        self.journal.note_reserved(outcome.seq)
        self.steps.note_spent(outcome.seq)
        with _giving_up(outcome, self.journal):
            self.steps.take("making it")
            made = self._run(counted, outcome.rehearsal, budget)

        def pend(certificate: Certificate) -> PendingAnswer:
            asked = event, plan.identity(), outcome.rehearsal
            return PendingAnswer(outcome.seq, *asked, pack(_answer(made, certificate)))

        return self._keep(made, pend)

    def _run(self, event: Event, seeded: bool, budget: Budget | None, then: str = SPENT) -> Release[Output]:
        """Run once and judge."""
        output = run_paid(lambda: self.plan.run(self.purse.source, self.steps.progress), then)
        entry = None if budget is None else _UNTOLD
        return self._judge(replace(self.purse._wrap(self.plan, output, event, seeded, entry), budget=budget))

    def _judge(self, made: Release[Output]) -> Release[Output]:
        return self.purse._judge(made, self.gate, self.steps.progress)

    def _keep(
        self, made: Release[Output], pend: Callable[[Certificate], Pending] | None = None
    ) -> Release[Output] | None:
        self.steps.take("keeping what was made")
        made = replace(made, looked=self.looked)
        return made if self.journal.keep(made, pend) else None


@contextmanager
def _giving_up(reservation: Reservation, journal: ReleaseJournal) -> Iterator[None]:
    """Give up what fails, as everywhere; who is killed, interrupted or stopped leaves it to be taken up."""
    try:
        yield
    except ReleaseStoppedError:
        raise
    except Exception:
        if not journal.has_made:  # by another process, which has not failed
            with suppress(LedgerError):
                reservation.abandon()
                journal.note_given_up()
        raise


def _answer(made: Release[Any], certificate: Certificate) -> dict[str, Any]:
    """What the ledger will hold: the whole output, or what tells it from every other one of the same payment."""
    stored = made.plan.to_ledger(made.output)
    if made.plan.identity() is not None:
        return stored
    return {**stored, "artefacts": Artefact.of_parts("", certificate.artefacts).sha256}

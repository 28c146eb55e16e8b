"""The one way out: whatever leaves is priced, paid for, made, written down, judged and let go here, in this order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from ziggurat.data import Table
from ziggurat.errors import (
    BudgetExceededError,
    EngineError,
    GateError,
    LedgerUseError,
    MixedNeighboursError,
    ParameterError,
    PrivacyError,
    ZigguratError,
)
from ziggurat.ledger import Replay, Reservation, canonical
from ziggurat.privacy import ApproximateDP, ApproximateEvent, Event, Neighbours, compose_events, profile
from ziggurat.queries.answering import GROUP_SIZE
from ziggurat.randomness import Source, secure
from ziggurat.release._certificate import StewardDecision
from ziggurat.release._cited import Cited, cite, look_up, pack, unpack
from ziggurat.release._evidence import Evidence
from ziggurat.release._gate import Gate, Verdict
from ziggurat.release._pending import Pending, PendingAnswer
from ziggurat.release._plan import Output, Plan, Progress
from ziggurat.release._quotation import Quotation, make_quotation, open_grant
from ziggurat.release._release import Release

if TYPE_CHECKING:
    from ziggurat.ledger import GrantStatement, Ledger, LedgerMark, Quote

_A_WEEK = 7 * 24 * 3600.0
"""How long, at least, a reservation waits for a release that may be taken up again."""
_LONGEST_REASON = 500
_LONGEST = 2000


class Purse:
    """What one analyst may spend on one population, and the only code that spends it.

    Promise: of a release with a guarantee, the cost is on disk before a row is read, `run` is called once, and nothing
    leaves before the ledger holds it; whatever goes wrong in between leaves the cost spent and nothing outside. What
    was paid for before is given again: nothing is read or spent; and what follows from it by post-processing alone
    costs nothing more. A release that nothing bounds leaves only after the ledger says so for ever. What a gate stops
    does not leave, unless the steward goes on with a reason, which the certificate and the ledger keep.

    Parameters
    ----------
    ledger
        Where budgets are kept. Without one nothing is paid or remembered, and certificates say so: for rehearsals on
        invented data.
    population
        The name of the population, or of a table or budget of it.
    analyst
        Who pays; a release that nothing bounds needs nobody.
    source
        Where randomness comes from: secure unless a rehearsal passes a seeded one.
    """

    def __init__(self, ledger: Ledger | None, population: str, analyst: str = "", source: Source | None = None) -> None:
        self.ledger, self.population, self.analyst = ledger, population, analyst
        self.source = secure() if source is None else source

    @property
    def rehearsal(self) -> bool:
        """Whether randomness is seeded, so that nothing that leaves may be published."""
        return not self.source.secure

    def protects(self, whom: Neighbours) -> Neighbours:
        """Whom the budget protects that pays for what is promised to `whom`; if none does, the one of this name.

        A method that can promise under several relations then chooses the one of that budget, and refuses in its own
        words what it cannot promise.
        """
        book = self._book
        try:
            return book.paying(self.population, whom, self.analyst).neighbours
        except MixedNeighboursError:
            return book.budget(self.population).neighbours

    def grant(self, whom: Neighbours) -> GrantStatement:
        """What the analyst may spend on what is promised to `whom`."""
        return open_grant(self._book, self._book.paying(self.population, whom, self.analyst).table, self.analyst)

    def event(self, plan: Plan[Any]) -> Event | None:
        """What a plan costs: what it does to the data, or under the sum rule, which adds up epsilons and deltas and
        nothing finer, what that promises.
        """
        done = plan.event
        if done is None or self.ledger is None or not plan.paid_by_promise or profile(done).epsilon is not None:
            return done
        promised = plan.guarantee() if self.grant(done.neighbours).grant.rule == "sum" else None
        if not isinstance(promised, ApproximateDP):
            return done
        return ApproximateEvent(done.neighbours, promised.epsilon, promised.delta)

    def quote(self, *plans: Plan[Any], group_size: int = GROUP_SIZE) -> Quotation:
        """Price plans in the order in which they would be released; nothing is read or spent.

        Where the error depends on how many values a group has, it is told for groups of `group_size`.
        """
        if not plans:
            raise ParameterError("Give at least one plan to price.")
        events = [self.event(plan) for plan in plans]
        return make_quotation(plans, events, self._book, self.population, self.analyst, self.rehearsal, group_size)

    def price(self, event: Event, *, rehearsal: bool = False) -> Quote:
        """Price an event by itself, which is never given again; nothing is read or spent."""
        return self._book.quote(self.population, self.analyst, event, rehearsal=rehearsal or self.rehearsal)

    def require_room(self, event: Event) -> None:
        """Refuse what costs more than is left, before a table is opened and checked whole."""
        quoted = self.price(event)
        if not quoted.fits:
            raise BudgetExceededError(quoted.sentence)

    def release(
        self,
        plan: Plan[Output],
        *,
        gate: Gate | None = None,
        go_on: str = "",
        progress: Progress | None = None,
    ) -> Release[Output]:
        """Pay for a plan, run it, write it down, judge it, and give what came of it.

        Parameters
        ----------
        gate
            What stops it; the default thresholds unless given.
        go_on
            Why it shall leave although the gate stops it; kept for ever.
        progress
            Called with a few words before every step that may take long.

        Raises
        ------
        BudgetExceededError
            It costs more than is left; nothing was read or spent.
        GateError
            The gate stopped it; nothing has left. `held` is the release, which `go_on` lets go, paid for once.
        """
        reason = _reason(go_on)
        event = self.event(plan)
        if event is None:
            made = self._freely(plan, gate, progress)
        elif plan.follows:
            made = self._judge(self._follow(plan, event, progress), gate, progress)
        else:
            made = self._judge(self._spend(plan, event, progress), gate, progress)
        if made.verdict.stopped and not reason:
            error = GateError(made.verdict.sentence)
            error.held = made
            raise error
        return self.go_on(made, reason) if made.verdict.stopped else self._note(made)

    def go_on(self, held: Release[Output], reason: str) -> Release[Output]:
        """Let go what the gate stopped, for a reason that certificate and ledger keep; a refuted promise is dropped."""
        said = held.verdict.went_on(_reason(reason))
        made = replace(held, decision=StewardDecision(tuple(said["stopped"]), said["reason"], said["refuted"]))
        if made.event is None:
            return self._note(made)
        entry = self.note_decision(made.plan.describe(made.output), made.verdict, reason)
        return replace(made, event=None, entry=entry) if made.verdict.refuted else made

    def note_decision(self, what: str, verdict: Verdict, reason: str, mark: LedgerMark | None = None) -> Cited | None:
        """Write down, for ever, that something with a guarantee leaves although the gate stopped it.

        What was promised and refuted is written down as unbounded: the ledger then counts no promise about it. With a
        `mark` it is written once, however often.
        """
        said = f"{what[:400]}: {verdict.although(_reason(reason))}"[:_LONGEST]
        if self.ledger is None:
            return None
        return (
            self.remember(said, mark)
            if verdict.refuted
            else cite(self.ledger, self.ledger.record_decision(self.population, said, mark))
        )

    def remember(self, what: str, mark: LedgerMark | None = None) -> Cited:
        """Write down, for ever, that something about these people leaves and nothing bounds what it tells.

        With a `mark` it is written once, however often.
        """
        return cite(self._book, self._book.record_unbounded(self.population, what[:_LONGEST], mark))

    def hold(
        self, plan: Plan[Any], event: Event, mark: LedgerMark, about_to: Callable[[], None]
    ) -> Reservation | Replay:
        """Reserve what a plan costs under a mark, or take up what was reserved under it; paid once in either case.

        `about_to` is called before anything is reserved, after all that can be refused for nothing was.
        """
        book, seeded = self._book, self.rehearsal or plan.rehearsal
        whose = (self.population, self.analyst, event, plan.identity())
        found = book.find_marked(mark)
        if found:
            outcome = book.take_up(found, *whose, seeded, mark)
            if not outcome.replayed:
                plan.ready()
            return outcome
        if not book.is_answered(*whose, seeded):
            self.require_room(event)
            plan.ready()
        about_to()
        return book.reserve(*whose, max(plan.lifetime, _A_WEEK), seeded, mark)

    def settle(self, pending: Pending, mark: LedgerMark) -> Cited:
        """Write down what lies on the disk already, made and judged, once for all processes; only then it may leave.

        What was paid for leaves if it is what the ledger holds: if another output of the same payment was committed,
        this one never does.
        """
        if not isinstance(pending, PendingAnswer):
            return self.remember(pending.what, mark)
        whose = (self.population, self.analyst, pending.event, pending.question, pending.seeded, mark)
        outcome = self._book.take_up(pending.reservation, *whose)
        if isinstance(outcome, Reservation):
            with suppress(LedgerUseError):  # somebody was quicker, or it was given up: the ledger says which
                outcome.commit(pending.answer)
            outcome = self._book.take_up(pending.reservation, *whose)
        if not isinstance(outcome, Replay) or canonical(outcome.answer, "An answer") != pending.text:
            raise LedgerUseError(
                f"The ledger holds another answer to reservation {pending.reservation} than this one, which does not "
                "leave."
            )
        return cite(self._book, outcome.entry)

    def measure(
        self, plan: Plan[Output], *, gate: Gate | None = None, progress: Progress | None = None
    ) -> Release[Output]:
        """Make and judge what nothing bounds, for the steward: nothing leaves, and nothing is written down.

        A plan with a guarantee is refused: trying it on the private table is a release like any other, and is paid for.
        """
        if plan.event is not None:
            raise ParameterError("A release with a guarantee is not tried for nothing; quote it, or pay for it.")
        return self._freely(plan, gate, progress)

    def _spend(self, plan: Plan[Output], event: Event, progress: Progress | None) -> Release[Output]:
        """Reserve on disk, run once, commit; or give again what was paid for before."""
        seeded = self.rehearsal or plan.rehearsal
        if self.ledger is None:
            plan.ready()
            output = run_paid(lambda: plan.run(self.source, progress), "nothing was spent")
            return self._wrap(plan, output, event, seeded)
        question = plan.identity()
        if not self.ledger.is_answered(self.population, self.analyst, event, question, seeded):
            self.require_room(event)
            plan.ready()
        whose = (self.population, self.analyst, event, question, plan.lifetime, seeded)
        with self.ledger.spend(*whose) as spend:
            if not spend.replayed:
                output = run_paid(lambda: plan.run(self.source, progress))
                run_paid(lambda: spend.commit(pack(plan.to_ledger(output))))
        entry = cite(self.ledger, spend.entry)
        if spend.replayed:
            output = plan.again(unpack(spend.answer))
        made = self._wrap(plan, output, self.ledger.as_counted(self.population, event, self.analyst), seeded, entry)
        budget = self.ledger.paying(self.population, event.neighbours, self.analyst)
        return replace(made, replayed=spend.replayed, budget=budget)

    def _follow(self, plan: Plan[Output], event: Event, progress: Progress | None) -> Release[Output]:
        """Make what follows from something that was paid for: the ledger must say that it was, and nothing is paid."""
        if self.ledger is not None:
            paid = compose_events([look_up(self.ledger, each).event for each in plan.follows])
            if paid != event:
                raise PrivacyError("This follows from something else than the ledger says was paid for.")
        plan.ready()
        output = run_paid(lambda: plan.run(self.source, progress), "nothing was spent")
        return self._wrap(plan, output, event, self.rehearsal or plan.rehearsal, plan.follows[-1])

    def _freely(self, plan: Plan[Output], gate: Gate | None, progress: Progress | None) -> Release[Output]:
        """Run and judge what nothing bounds; nobody pays, and nothing is written down yet."""
        plan.ready()
        made = self._wrap(plan, plan.run(self.source, progress), None, self.rehearsal or plan.rehearsal)
        return self._judge(made, gate, progress)

    def _judge(self, made: Release[Output], gate: Gate | None, progress: Progress | None) -> Release[Output]:
        then = SPENT if made.event is not None else "nothing has left"
        evidence = run_paid(lambda: made.plan.judge(made.output, progress), then)
        verdict = (gate or Gate()).judge(evidence, guaranteed=made.event is not None)
        return replace(made, evidence=evidence, verdict=verdict)

    def _note(self, made: Release[Output]) -> Release[Output]:
        """Write down, for ever, what nothing bounds; only then it may leave."""
        if made.event is not None or self.ledger is None:
            return made
        return replace(made, entry=self.remember(describe_unbounded(made)))

    def _wrap(
        self, plan: Plan[Output], output: Output, event: Event | None, seeded: bool, entry: Cited | None = None
    ) -> Release[Output]:
        whose = self.population if self.ledger is None else self.ledger.population(self.population)
        return Release(
            plan, output, event, entry, replayed=False, seeded=seeded, evidence=Evidence(), verdict=Verdict(),
            population=whose, analyst=self.analyst,
        )  # fmt: skip

    @property
    def _book(self) -> Ledger:
        if self.ledger is None:
            raise LedgerUseError("No ledger is open, so that nothing can be priced; give the one that pays.")
        return self.ledger


def describe_unbounded(made: Release[Any]) -> str:
    """Say what the ledger will remember for ever of a release that nothing bounds."""
    why = "" if made.decision is None else f" Went on although {made.verdict.although(made.decision.reason)}"
    seeded = "Rehearsal. " if made.seeded else ""
    return f"{seeded}{made.plan.describe(made.output)}{why}"[:_LONGEST]


def _reason(given: str) -> str:
    text = given.strip()
    if not text.isprintable() or len(text) > _LONGEST_REASON:
        raise ParameterError(
            f"Say why it shall leave all the same, in printable text of at most {_LONGEST_REASON} characters."
        )
    return text


Result = TypeVar("Result")

SPENT = "something may have been read, so the cost stays spent"


def require_ready(tables: Iterable[Table]) -> None:
    """Refuse to pay for tables whose engines are gone; those that can be reached again are."""
    for table in tables:
        try:
            table.ready()
        except ZigguratError as error:
            raise type(error)(f"{str(error).rstrip('.')}; nothing was spent.") from None


def run_paid(step: Callable[[], Result], then: str = SPENT) -> Result:
    """Do what was paid for; whatever goes wrong leaves as an error of ours that quotes nothing.

    A spend is never given back: whoever can make reading fail would have a question answered by the failure alone, as
    often as they like. So engines are asked *before* anything is reserved whether they live (`require_ready`); what
    fails afterwards stays paid for, also if the connection is cut while the engine reads.
    """
    kind: type[ZigguratError] = EngineError
    try:
        return step()
    except ZigguratError as error:
        kind, reason = type(error), str(error)
    except Exception as error:  # noqa: BLE001  (foreign errors may quote cells)
        reason = f"Answering failed ({type(error).__name__}); its own message is withheld because it may quote cells."
    # Raised outside the handlers, so that not even __context__ leads to the error's own message.
    raise kind(f"{reason.rstrip('.')}; {then}.")

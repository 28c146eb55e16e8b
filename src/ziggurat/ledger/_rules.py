"""The rules of the ledger: which record may follow which state.

The same rules decide before an entry is written and are replayed by `verify`, so an entry that was smuggled in with
correct hashes is found as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from ziggurat.errors import BudgetExceededError, LedgerError, LedgerUseError, ParameterError, PendingError, PrivacyError
from ziggurat.ledger._entries import (
    Abandonment,
    Budget,
    Checkpoint,
    Closing,
    Commit,
    Genesis,
    Grant,
    Hold,
    Membership,
    Record,
    Unbounded,
    WentOn,
    WitnessNamed,
)
from ziggurat.ledger._left import delta_left, in_the_rules_words, other_left
from ziggurat.ledger._populations import same_promise
from ziggurat.ledger._state import GrantState, State
from ziggurat.ledger.checkpoints import make_checkpoint
from ziggurat.privacy import Event, Filter, Spent, in_words, make_filter, profile


def check(state: State, record: Record, time: str) -> None:
    """Raise unless `record` may be written at `time`; the sentence says what stands in its way."""
    if bool(state.ledger) == isinstance(record, Genesis):
        raise LedgerError("A ledger begins with one genesis entry and has no other.")
    _RULES[type(record)](state, record, time)


def fits(grant: GrantState, event: Event) -> bool:
    """Tell whether the grant's filter admits one more event.

    Only a first event may be admitted by itself, which can take a second to prove; that verdict is remembered. What
    leaves the range of numbers is not proven, so it does not fit.
    """
    try:
        if grant.filter.allows(grant.after(event)):
            return True
        return grant.spent.count == 0 and _admits_first(grant.filter, event)
    except ArithmeticError:
        return False


@lru_cache(maxsize=256)
def _admits_first(rule: Filter, event: Event) -> bool:
    return rule.admits(event, Spent())


def _genesis(_state: State, _record: Genesis, _time: str) -> None:
    """Nothing beyond what `check` asks."""


def _budget(state: State, record: Budget, _time: str) -> None:
    require_new(state, record, state.population(record.table))


def require_new(state: State, budget: Budget, population: str) -> None:
    """Raise if a budget exists, or another of the same population under the same promise."""
    table = state.tables.get(budget.table)
    if table is not None and table.budget is not None:
        raise LedgerUseError(f"The table {budget.table!r} has a budget already; a budget cannot be changed.")
    for other in state.budgets(population):
        if same_promise(other.neighbours, budget.neighbours):
            raise LedgerUseError(
                f"The population {population!r} has a budget under this promise already, {other.table!r}; all its "
                "tables share that one, so grant out of it."
            )


def _register(state: State, record: Membership, _time: str) -> None:
    known = state.members.get(record.table)
    if known is not None:
        raise LedgerUseError(f"The table {record.table!r} belongs to the population {known.population!r} already.")
    if record.table == record.population:
        raise LedgerUseError("A table is in the population of its own name anyway; register it under another.")
    if record.population in state.members:
        whole = state.population(record.population)
        raise LedgerUseError(f"{record.population!r} is itself part of the population {whole!r}; register it there.")
    if any(member.population == record.table for member in state.members.values()):
        raise LedgerUseError(f"{record.table!r} is a population with tables of its own; register these instead.")


def _grant(state: State, record: Grant, _time: str) -> None:
    budget, table = state.budget(record.table), state.table(record.table)
    if record.analyst in table.current:
        raise LedgerUseError(f"{record.analyst!r} has an open grant on the table {record.table!r}; close it first.")
    _require_countable(record)
    epsilon, delta = table.charged()
    if epsilon + record.epsilon > budget.epsilon or delta + record.delta > budget.delta:
        raise BudgetExceededError(
            f"The grant does not fit the budget of the table {record.table!r}: epsilon "
            f"{in_words(budget.epsilon - epsilon)} and delta {in_words(budget.delta - delta)} are left to grant."
        )


def _require_countable(record: Grant) -> None:
    """Amounts that the rule cannot convert would be granted and could then never be counted."""
    rule = make_filter(record.epsilon, record.delta, record.rule)
    try:
        other_left(rule, Spent())
    except (ArithmeticError, PrivacyError):
        raise ParameterError(
            f"The {record.rule} rule cannot count so extreme amounts; use the sum rule, or other amounts."
        ) from None


def _close(state: State, record: Closing, _time: str) -> None:
    state.grant(record.table, record.analyst)


def _reserve(state: State, record: Hold, time: str) -> None:
    grant = state.grant(record.table, record.analyst)
    state.budget(record.table).neighbours.require(record.event.neighbours)
    key = record.key
    earlier = None if key is None else state.questions.get(key)
    if earlier is not None and earlier.live(time):
        raise PendingError(
            f"The same question is pending as reservation {earlier.seq} until {earlier.expires}; if nobody works on it "
            f"any more, give it up with 'ziggurat ledger abandon {earlier.seq}' (its cost stays spent) and ask again."
        )
    if time >= record.expires:
        raise LedgerError("A reservation must expire later than it is made.")
    if not fits(grant, record.event):
        raise BudgetExceededError(refusal(grant, record.event))


def refusal(grant: GrantState, event: Event) -> str:
    """Say why an event does not fit a grant."""
    rule, spent = grant.filter, grant.spent
    left, room, needed = in_the_rules_words(rule, spent), delta_left(rule, spent), profile(event).delta
    detail = f" and delta {in_words(room)}" if needed > room else left.detail
    under = f"under the {grant.grant.rule} rule" + (f"; its own delta is {in_words(needed)}" if needed > room else "")
    return (
        f"The question costs more than is left of the grant of {grant.grant.analyst!r} on the table "
        f"{grant.grant.table!r} ({left.amount}{detail} {under}); nothing was read or spent."
    )


def _commit(state: State, record: Commit, time: str) -> None:
    hold = state.hold(record.reservation)
    if hold.committed:
        raise LedgerUseError(f"Reservation {hold.seq} has been committed already.")
    if not hold.live(time):
        raise LedgerUseError(
            f"Reservation {hold.seq} has expired or was given up, so no answer can be committed; its cost stays spent."
        )
    if hold.rehearsal is not record.rehearsal:
        raise LedgerUseError(f"Reservation {hold.seq} and its answer disagree on whether this is a rehearsal.")


def _abandon(state: State, record: Abandonment, _time: str) -> None:
    if not state.hold(record.reservation).open:
        raise LedgerUseError(f"Reservation {record.reservation} has been committed or given up already.")


def _unbounded(_state: State, _record: Unbounded, _time: str) -> None:
    """A release without a guarantee is a fact; no filter can refuse it."""


def _decision(_state: State, _record: WentOn, _time: str) -> None:
    """What a steward decided is a fact too."""


def _witness(state: State, record: WitnessNamed, _time: str) -> None:
    if record.lost and state.witness is None:
        raise LedgerUseError("No witness has been named, so none can be given up as lost.")


def _checkpoint(state: State, record: Checkpoint, time: str) -> None:
    """A checkpoint says what the entries before it add up to, and nothing else.

    In which order it numbers the open reservations says nothing: version 0.9 wrote them grant by grant.
    """
    if replace(record, open=sorted(record.open)) != make_checkpoint(state, time):
        raise LedgerError("This checkpoint does not say what the entries before it add up to.")


_RULES: dict[type[Record], Callable[..., None]] = {
    Genesis: _genesis,
    Budget: _budget,
    Membership: _register,
    Grant: _grant,
    Closing: _close,
    Hold: _reserve,
    Commit: _commit,
    Abandonment: _abandon,
    Unbounded: _unbounded,
    WentOn: _decision,
    WitnessNamed: _witness,
    Checkpoint: _checkpoint,
}

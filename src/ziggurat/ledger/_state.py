"""The state of a ledger: a fold over its entries and nothing else.

`State.apply` takes one record after another; it decides nothing and reads no clock. Whether a record may be written
is decided in `_rules`. What grows with the history (reservations that ended, texts that are kept for ever) is let go at
every checkpoint; `checkpoints` finds it again through the index of the database.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from hashlib import sha256

from ziggurat.errors import LedgerUseError
from ziggurat.ledger._chain import Head, frame_texts
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
from ziggurat.privacy import Event, Filter, Spent, make_filter


@dataclass
class GrantState:
    """A grant and what was spent under it.

    Formal guarantee: whatever the analyst asks, and however each question follows from earlier answers, all events
    reserved under an open grant are together (epsilon, delta)-DP, because `filter` admitted each one.
    """

    grant: Grant
    since: int = 0
    spent: Spent = field(default_factory=Spent)
    closed: bool = False
    open_holds: dict[int, HoldState] = field(default_factory=dict)
    lost: int = 0
    rehearsals: int = 0
    _foreseen: tuple[Event, Spent, Spent] | None = None

    @cached_property
    def filter(self) -> Filter:
        """The rule that admits or refuses spends under this grant."""
        return make_filter(self.grant.epsilon, self.grant.delta, self.grant.rule)

    def after(self, event: Event) -> Spent:
        """Foresee the totals after one more event; the rules ask first and the fold asks again."""
        known = self._foreseen
        if known is None or known[0] is not event or known[1] is not self.spent:
            known = self._foreseen = (event, self.spent, self.spent.plus(event))
        return known[2]

    def charge(self) -> tuple[Fraction, Fraction]:
        """What the grant takes of its table's budget: all of it, or what was spent once a `sum` grant is closed.

        Under the sum rule the events' own epsilons and deltas bound the interaction, so the rest is untouched; the
        other rules convert totals that cannot be divided afterwards, so nothing returns.
        """
        spent, whole = self.spent, (self.grant.epsilon, self.grant.delta)
        divisible = self.closed and self.grant.rule == "sum" and self.filter.allows(spent)
        return (spent.epsilon, spent.delta) if divisible and spent.epsilon is not None else whole

    def pending(self, time: str) -> int:
        """Count the reservations that may still be committed at `time`."""
        return sum(hold.live(time) for hold in self.open_holds.values())

    def expired(self, time: str) -> int:
        """Count the reservations that were never committed and can no longer be."""
        return len(self.open_holds) - self.pending(time) + self.lost


@dataclass(slots=True)
class HoldState:
    """A reservation and what became of it."""

    seq: int
    owner: GrantState
    key: bytes | None
    expires: str
    rehearsal: bool
    committed: int = 0
    given_up: bool = False

    @property
    def open(self) -> bool:
        """Whether it was neither committed nor given up."""
        return not self.committed and not self.given_up

    def live(self, time: str) -> bool:
        """Tell whether it may still be committed at `time`."""
        return self.open and time < self.expires


@dataclass
class NoteList:
    """Texts that a table keeps for ever: how many, a digest over all of them, and those since the newest checkpoint."""

    count: int = 0
    digest: str = ""
    recent: list[tuple[int, str]] = field(default_factory=list)

    def add(self, seq: int, what: str) -> None:
        """Take in the text of the entry `seq`."""
        self.count, self.digest = self.count + 1, sha256(frame_texts((self.digest, str(seq), what))).hexdigest()
        self.recent.append((seq, what))


@dataclass
class TableState:
    """A table's budget, its grants in order, the open one of each analyst, its releases without a guarantee, and what
    its steward let go although it was stopped.
    """

    budget: Budget | None = None
    grants: list[GrantState] = field(default_factory=list)
    current: dict[str, GrantState] = field(default_factory=dict)
    unbounded: NoteList = field(default_factory=NoteList)
    decisions: NoteList = field(default_factory=NoteList)

    def has_known(self, analyst: str) -> bool:
        """Tell whether an analyst has or had a grant."""
        return any(grant.grant.analyst == analyst for grant in self.grants)

    def charged(self) -> tuple[Fraction, Fraction]:
        """What all grants take of the budget: their epsilons and deltas add.

        Formal guarantee: the grants are interactive mechanisms that run side by side on the same data, and each is
        (epsilon_a, delta_a)-DP; concurrent composition of interactive mechanisms is no worse than sequential
        (Vadhan & Zhang 2023; Lyu 2022), so together they are (sum epsilon_a, sum delta_a)-DP. Grants that a steward
        opens or closes in the light of answers are covered by the concurrent filters of Haney et al. 2023.
        """
        charges = [grant.charge() for grant in self.grants]
        return sum((eps for eps, _ in charges), Fraction(0)), sum((delta for _, delta in charges), Fraction(0))


@dataclass
class State:
    """Everything the entries up to `head` add up to; `base` is the newest checkpoint, 0 if there is none.

    `holds` are the reservations that are open and those that ended since `base`; `questions` are the newest of each.
    """

    ledger: str = ""
    head: Head = field(default_factory=Head)
    tables: dict[str, TableState] = field(default_factory=dict)
    members: dict[str, Membership] = field(default_factory=dict)
    holds: dict[int, HoldState] = field(default_factory=dict)
    questions: dict[bytes, HoldState] = field(default_factory=dict)
    witness: WitnessNamed | None = None
    witness_since: int = 0
    base: int = 0

    def apply(self, record: Record, head: Head) -> None:
        """Take in the record of the entry `head`; a record about something unknown raises `LedgerError`."""
        _EFFECTS[type(record)](self, record, head.seq)
        self.head = head

    def table(self, name: str) -> TableState:
        """Find a table that has entries."""
        found = self.tables.get(name)
        if found is None:
            raise LedgerUseError(f"There is no budget for a table named {name!r}; create one first.")
        return found

    def budget(self, name: str) -> Budget:
        """Find the budget of a table: its own, or the first of its population."""
        found = self.budgets(name)
        if not found:
            raise LedgerUseError(f"There is no budget for a table named {name!r}; create one first.")
        return found[0]

    def account(self, name: str) -> str:
        """The name under which a table's spends are written: that of its budget, or its own if it has none."""
        found = self.budgets(name)
        return found[0].table if found else name

    def grant(self, budget: str, analyst: str) -> GrantState:
        """Find the open grant of an analyst on a budget."""
        found = self.table(budget).current.get(analyst)
        if found is None:
            raise LedgerUseError(
                f"{analyst!r} has no open grant on the table {budget!r}; the steward must give one first."
            )
        return found

    def population(self, name: str) -> str:
        """The population that a table or a budget is about; one that was never registered is its own."""
        member = self.members.get(name)
        return name if member is None else member.population

    def family(self, name: str) -> list[str]:
        """Every name that is about the same people, the population's own first."""
        whose = self.population(name)
        return [whose, *(member.table for member in self.members.values() if member.population == whose)]

    def budgets(self, name: str) -> list[Budget]:
        """All budgets about the people of a table: its own first, then the population's in the order of names."""
        order = dict.fromkeys([name, *self.family(name)])
        found = [self.tables.get(each, _NO_TABLE).budget for each in order]
        return [budget for budget in found if budget is not None]

    def require_known(self, budget: str | None, analyst: str | None) -> None:
        """Refuse the name of a budget without entries, or of an analyst who never had a grant (on that budget)."""
        tables = list(self.tables.values()) if budget is None else [self.table(budget)]
        if analyst is not None and not any(one.has_known(analyst) for one in tables):
            where = "" if budget is None else f" on the table {budget!r}"
            raise LedgerUseError(f"{analyst!r} never had a grant{where}; check the name.")

    def hold(self, seq: int) -> HoldState:
        """Find a reservation by the number of its entry."""
        found = self.holds.get(seq)
        if found is None and 0 < seq < self.base:
            raise LedgerUseError(f"There is no reservation {seq} that is still open; its cost, if any, stays spent.")
        if found is None:
            raise LedgerUseError(f"There is no reservation {seq}.")
        return found


_NO_TABLE = TableState()


def _genesis(state: State, record: Genesis, _seq: int) -> None:
    state.ledger = record.ledger


def _budget(state: State, record: Budget, _seq: int) -> None:
    state.tables.setdefault(record.table, TableState()).budget = record


def _register(state: State, record: Membership, _seq: int) -> None:
    state.members[record.table] = record


def _grant(state: State, record: Grant, seq: int) -> None:
    table, grant = state.table(record.table), GrantState(record, seq)
    table.grants.append(grant)
    table.current[record.analyst] = grant


def _close(state: State, record: Closing, _seq: int) -> None:
    state.grant(record.table, record.analyst).closed = True
    del state.table(record.table).current[record.analyst]


def _reserve(state: State, record: Hold, seq: int) -> None:
    owner = state.grant(record.table, record.analyst)
    hold = HoldState(seq, owner, record.key, record.expires, record.rehearsal)
    owner.spent = owner.after(record.event)
    owner.open_holds[seq] = hold
    owner.rehearsals += record.rehearsal
    state.holds[seq] = hold
    if hold.key is not None:
        earlier = state.questions.get(hold.key)
        # Whoever reserved the same question before has lost it, even if a clock is set back later.
        if earlier is not None and earlier.open:
            _give_up(earlier)
        state.questions[hold.key] = hold


def _commit(state: State, record: Commit, seq: int) -> None:
    hold = state.hold(record.reservation)
    hold.committed = seq
    hold.owner.open_holds.pop(hold.seq, None)


def _abandon(state: State, record: Abandonment, _seq: int) -> None:
    hold = state.hold(record.reservation)
    if hold.open:
        _give_up(hold)


def _give_up(hold: HoldState) -> None:
    hold.given_up = True
    hold.owner.lost += 1
    hold.owner.open_holds.pop(hold.seq, None)


def _unbounded(state: State, record: Unbounded, seq: int) -> None:
    state.tables.setdefault(record.table, TableState()).unbounded.add(seq, record.what)


def _decision(state: State, record: WentOn, seq: int) -> None:
    state.tables.setdefault(record.table, TableState()).decisions.add(seq, record.what)


def _witness(state: State, record: WitnessNamed, seq: int) -> None:
    state.witness, state.witness_since = record, seq


def _checkpoint(state: State, record: Checkpoint, seq: int) -> None:
    """Let go of what ended; the amounts stay those that were counted here, whatever the record says of them."""
    listed = set(record.open)
    for hold in [hold for hold in state.holds.values() if hold.open and hold.seq not in listed]:
        _give_up(hold)
    state.holds = {hold.seq: hold for hold in state.holds.values() if hold.open}
    state.questions = {hold.key: hold for hold in state.holds.values() if hold.key is not None}
    for table in state.tables.values():
        table.unbounded.recent, table.decisions.recent = [], []
    state.base = seq


_EFFECTS: dict[type[Record], Callable[..., None]] = {
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

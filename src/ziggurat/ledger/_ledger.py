"""The ledger: reserve before the data are touched, commit after, and never forget."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, Self, cast

from ziggurat.cards import Card, Shown
from ziggurat.errors import LedgerCorruptError, LedgerError, LedgerUseError, ParameterError, ZigguratError
from ziggurat.ledger._arguments import address, first_entry, lifetime, patience
from ziggurat.ledger._chain import Entry, Head, encode, intact, now, timestamp
from ziggurat.ledger._entries import (
    LARGE_ANSWER,
    Abandonment,
    Budget,
    Closing,
    Commit,
    Genesis,
    Grant,
    Hold,
    Membership,
    Record,
    Unbounded,
    WentOn,
    as_stored,
    check_answer,
    check_question,
    record_from,
)
from ziggurat.ledger._journal import Journal
from ziggurat.ledger._keys import PrivateKey, PublicKey
from ziggurat.ledger._left import share_left
from ziggurat.ledger._populations import count_for, paying
from ziggurat.ledger._rules import fits, require_new
from ziggurat.ledger._signing import Receipt, sign
from ziggurat.ledger._spend import Replay, Reservation, Spend
from ziggurat.ledger._state import State
from ziggurat.ledger._statement import (
    GrantStatement,
    PopulationStatement,
    Quote,
    Statement,
    Tell,
    make_population_statement,
    make_quote,
    make_statement,
    state_grant,
    tell_ledger,
)
from ziggurat.ledger._verify import Auditor, Progress, Verification, verify_entries
from ziggurat.ledger.checkpoints import Archive, VerifiedNote, recall_verified
from ziggurat.ledger.marks import LedgerMark, find_answer, find_hold, find_marked, require_same
from ziggurat.ledger.sharing import ORDERED, Decide, ReserveCall, decide_as, make_hold, order_entry, read_order
from ziggurat.ledger.storage import BATCH, Store, open_store
from ziggurat.ledger.witness import Naming, WitnessStatement, hear, state_witness
from ziggurat.privacy import Amount, Event, Neighbours, exact_delta, exact_epsilon, make_filter, whole_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NOTHING: Mapping[int, tuple[str, str]] = {}
_NEVER = timestamp(datetime.max.replace(tzinfo=UTC))


class Ledger(Shown):
    """A durable, append-only account of what was promised and spent on each population.

    A table's name is a population of its own unless it is registered under another (`register`).

    Formal guarantees
    -----------------
    - What analysts learn of a population through spends under a budget's grants, from whichever of its tables, is
      together (epsilon, delta)-DP with respect to the budget's neighbours. Each grant's filter makes its analyst's
      interaction (epsilon_a, delta_a)-DP, the grants add up to at most the budget, and concurrent composition of
      interactive mechanisms adds (Vadhan & Zhang 2023; Lyu 2022). Budgets of one population under different promises
      are about what was paid from each. Releases recorded as unbounded are outside of all promises, and every
      statement says so.
    - A reservation is on disk before `reserve` returns and is never taken back: after a crash at any moment the
      ledger has counted at least everything that was read.
    - Where a witness is named (`name_witness`), it knows of every reservation before `reserve` returns, and without it
      nothing is spent: a history that was rewritten, cut off or put back from an older copy is refused and found by
      `verify`.
    - Several processes and threads may share a ledger, also across `fork`; each decision sees all earlier ones.
    """

    def __init__(self, store: Store, throwaway: bool = False) -> None:
        self._throwaway, self._archive = throwaway, Archive(store)
        self._journal = Journal(store, throwaway, self._understand)

    @property
    def name(self) -> str:
        """The random name that tells this ledger from all others."""
        with self._journal.current() as state:
            return state.ledger

    @classmethod
    def open(
        cls,
        where: str | os.PathLike[str],
        *,
        create: bool = True,
        read_only: bool = False,
        timeout: float = 30.0,
        throwaway: bool = False,
    ) -> Self:
        """Open a ledger: a file, `sqlite:///file` or `postgresql://server/database`.

        A missing one is created unless `create` is False or `read_only` is True; `read_only` also opens a file on a
        medium that cannot be written. `timeout` is how many seconds to wait for other writers. A ledger that is
        broken, has lost the triggers that protect its entries, or has triggers that are not its own, is refused. Of a
        `throwaway` one, on which nobody will rely, no witness is expected even where one is configured.
        """
        store = open_store(address(where), create and not read_only, patience(timeout), first_entry, read_only)
        try:
            ledger = cls(store, throwaway)
            if not read_only:
                ledger._journal.settle()
        except BaseException:
            store.close()
            raise
        return ledger

    def _card(self) -> Card:
        held = [statement for name in self.populations() for statement in self.account(name).budgets]
        return tell_ledger(held, self.head().seq)

    def plot(self, budget: str = "", by: Literal["analyst", "time"] = "analyst", ax: Axes | None = None) -> Axes:
        """Draw what was spent of every grant, and give the Axes of matplotlib.

        Parameters
        ----------
        budget
            Of this budget, or of that of this table; by default of all.
        by
            "analyst": a bar for each grant, what is used of it filled. "time": how much of each was used since when.
        ax
            Where to draw; by default a new figure.
        """
        from ziggurat.ledger._plotting import plot_grants, plot_history

        names = [self.statement(budget).table] if budget else self.tables()
        if by == "time":
            return plot_history([entry for name in names for entry in self.history(name)], self.about, ax)
        if by != "analyst":
            raise ParameterError("A ledger is drawn by='analyst' or by='time'.")
        return plot_grants([self.statement(name) for name in names], ax)

    def close(self) -> None:
        """Let go of the database, and of the witness."""
        self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def create_budget(
        self,
        budget: str,
        epsilon: Amount,
        delta: Amount = 0,
        neighbours: Neighbours = Neighbours(),  # noqa: B008 - frozen
        schema_fingerprint: str | None = None,
        population: str | None = None,
    ) -> Budget:
        """Set what may be spent on the table of that name, or on all of a population; it cannot be changed later.

        There is one budget under each promise. A second one of the same `population`, under another name, is for what
        cannot be proven under the first; the two promises are shown side by side and never added up.
        """
        made = Budget(budget, exact_epsilon(epsilon), exact_delta(delta), neighbours, schema_fingerprint)
        if population is not None and population != budget:
            self._journal.append(lambda state, _moment: _joining(state, made, population))
        self._append(made)
        return made

    def register(self, table: str, population: str, column: str | None = None) -> None:
        """Declare that a table, or a budget, is about the people of a population; it cannot be changed later.

        From then on the population's budgets pay for it, and no other does. `column` is the one that tells people apart
        in this table, where it has another name there than in the budgets.
        """
        self._append(Membership(table, population, column))

    def grant(self, budget: str, analyst: str, epsilon: Amount, delta: Amount = 0, rule: str | None = None) -> Grant:
        """Give an analyst a piece of a budget, to be spent under `rule` (see `make_filter`).

        A table without a budget of its own means the first one of its population. A grant that does not fit what is
        left of the budget raises `BudgetExceededError`.
        """
        rule_made, given = make_filter(epsilon, delta, rule), []

        def decide(state: State, _moment: datetime) -> Grant:
            paid_from = state.budget(budget).table
            given.append(Grant(paid_from, analyst, rule_made.epsilon, rule_made.delta, rule_made.name))
            return given[-1]

        self._journal.append(decide)
        return given[-1]

    def close_grant(self, budget: str, analyst: str) -> None:
        """End a grant; under the sum rule what was not spent returns to the budget, under others nothing does."""
        self._append(Closing(budget, analyst))

    def record_unbounded(self, budget: str, what: str, mark: LedgerMark | None = None) -> Entry:
        """Write down a release that carries no differential-privacy promise; statements will mention it for ever.

        With a `mark` it is written once, however often: what bears the mark already is given again.
        """
        return self._append_once(Unbounded(budget, what, "" if mark is None else mark.token), mark)

    def record_decision(self, budget: str, what: str, mark: LedgerMark | None = None) -> Entry:
        """Write down that the steward let a release go although `what`; statements will say so for ever.

        With a `mark` it is written once, however often: what bears the mark already is given again.
        """
        return self._append_once(WentOn(budget, what, "" if mark is None else mark.token), mark)

    def make_mark(self) -> LedgerMark:
        """Make a mark that no entry bears; note it durably before it is used."""
        with self._journal.current() as state:
            return LedgerMark.fresh(state)

    def find_marked(self, mark: LedgerMark, kind: str = "reserve") -> int:
        """Give the number of the entry of a kind (reserve, unbounded, decision) that bears a mark; 0 if none does."""
        with self._journal.current() as state:
            found = find_marked(self._journal.store, state, mark, kind)
            return 0 if found is None else found.seq

    def quote(self, budget: str, analyst: str, event: Event, question: Any = None, rehearsal: bool = False) -> Quote:
        """Say what a question would cost, without reading data and without spending."""
        asked, wanted = check_question(question), as_stored(event)
        with self._journal.current() as state:
            hold = make_hold(state, budget, analyst, wanted, asked, _NEVER, rehearsal)
            answered = bool(self._archive.find_answer(state, hold.key))
            return make_quote(state.grant(hold.table, analyst), hold.event, answered)

    def is_answered(
        self, budget: str, analyst: str, event: Event, question: Any = None, rehearsal: bool = False
    ) -> bool:
        """Tell whether a question was answered before, so that `reserve` would give that answer again."""
        asked, wanted = check_question(question), as_stored(event)
        with self._journal.current() as state:
            hold = make_hold(state, budget, analyst, wanted, asked, _NEVER, rehearsal)
            return bool(self._archive.find_answer(state, hold.key))

    def reserve(
        self,
        budget: str,
        analyst: str,
        event: Event,
        question: Any = None,
        ttl: float = 3600.0,
        rehearsal: bool = False,
        mark: LedgerMark | None = None,
    ) -> Reservation | Replay:
        """Write down, durably, what is about to be done; only then may the data be touched.

        Parameters
        ----------
        event
            What will be done to the data. It counts as spent from now on, whatever happens.
        question
            A JSON description that tells identical questions: if this analyst had the same one (with the same
            event) answered, that answer is replayed at no cost. None is never replayed.
        ttl
            Seconds until the reservation can no longer be committed.
        rehearsal
            Whether the noise comes from a seeded source; the answer is then marked for ever.
        mark
            By which whoever is killed finds the reservation again. What bears it already is taken up (`take_up`), and
            nothing is paid again.

        Raises
        ------
        BudgetExceededError
            The grant's filter does not admit the event; nothing was spent.
        PendingError
            The same question is reserved and not yet answered.
        """
        wanted, asked, life = as_stored(event), check_question(question), lifetime(ttl)
        call = ReserveCall(budget, analyst, wanted, asked, life, rehearsal, self._archive)
        marked = None if mark is None else _MarkedCall(call, self._journal.store, mark)
        if marked is not None or not self._journal.helped:
            self._prove_first(budget, analyst, wanted)
        if marked is None:
            entry = self._journal.append(call.decide, order=call.to_order)
        else:
            entry = self._journal.append(marked.decide)
            if marked.found:
                return self.take_up(marked.found, budget, analyst, event, question, rehearsal, mark)
        if entry is None:
            return Replay(self.entry(call.answered))
        return Reservation(entry.seq, call.hold_of(entry), self._commit, self._abandon)

    def take_up(
        self,
        reservation: int,
        budget: str,
        analyst: str,
        event: Event,
        question: Any = None,
        rehearsal: bool = False,
        mark: LedgerMark | None = None,
    ) -> Reservation | Replay:
        """Take up one's own reservation after the process that made it has died; nothing is paid again.

        Gives leave to answer it, or the answer that it has been given meanwhile. Parameters are those of `reserve`, and
        must be those by which it was made: another budget, analyst, event, question or mark is refused, and so is a
        reservation that was given up or has expired.

        Formal guarantee: what leaves is as private as one run of what was reserved. At most one output leaves,
        because a reservation is committed once: the rule is asked while no other writer can come between, whoever
        commits second is refused, and what was not committed never leaves. Let M_1, M_2, … be the runs of the
        processes that took it up; each draws fresh randomness, and none sees another's output. Which of them commits,
        if any, depends on when processes were killed and how fast they were, and not on the outputs. So what leaves
        is distributed as one M_i, or nothing leaves; that others died unseen inside the house changes nothing. When
        processes die, and whether they do, is not protected: a crash may depend on the data (see docs/known-
        limits.md).
        """
        wanted, asked = as_stored(event), check_question(question)
        seq, token = whole_number(reservation, "reservation"), "" if mark is None else mark.token
        with self._journal.current() as state:
            found = find_hold(self._journal.store, state, seq)
            require_same(state, seq, found, (budget, analyst, wanted, asked, rehearsal), token)
            answered = find_answer(self._journal.store, state, seq)
            held = state.holds.get(seq)
            live = held is not None and held.live(timestamp(now()))
        if answered:
            return Replay(self.entry(answered))
        if not live:
            raise LedgerUseError(
                f"Reservation {seq} was given up or has expired, so that it cannot be taken up; its cost stays spent."
            )
        return Reservation(seq, found, self._commit, self._abandon)

    @contextmanager
    def spend(
        self,
        budget: str,
        analyst: str,
        event: Event,
        question: Any = None,
        ttl: float = 3600.0,
        rehearsal: bool = False,
        mark: LedgerMark | None = None,
    ) -> Iterator[Spend]:
        """Reserve, and give the block a `Spend` to commit its answer with, or the answer that was given before.

        A block that ends without an answer has spent its cost all the same; its reservation is given up, so that the
        question can be asked (and paid for) again at once. With a `mark`, what bears it is taken up (`take_up`).
        """
        outcome = self.reserve(budget, analyst, event, question, ttl, rehearsal, mark)
        spend = Spend(outcome)
        try:
            yield spend
        finally:
            if isinstance(outcome, Reservation) and not spend.answered:
                with suppress(LedgerError):
                    outcome.abandon()

    def abandon(self, reservation: int) -> None:
        """Give up a reservation whose answer will not come, because whoever made it was killed.

        Its cost stays spent. The same question can then be asked, and paid for, again at once. One that is answered,
        given up or unknown raises `LedgerUseError`.
        """
        self._abandon(whole_number(reservation, "reservation"))

    def left(self, budget: str, analyst: str) -> Fraction:
        """Give the exact epsilon that an analyst certainly has left by plain addition.

        Questions that are epsilon-DP and add up to at most this fit, under every rule. Under the zcdp and gaussian
        rules more may fit, because these also count rhos or squares of mu, and 0 need not mean that nothing is left;
        `share_left` takes that into account.
        """
        with self._journal.current() as state:
            grant = state.grant(state.budget(budget).table, analyst)
            return grant.filter.left(grant.spent)

    def share_left(self, budget: str, analyst: str) -> Fraction:
        """Give how much of a grant is left, from 0 to 1, by the measure of its rule of which most is left.

        0 means that no further question fits.
        """
        with self._journal.current() as state:
            grant = state.grant(state.budget(budget).table, analyst)
            return share_left(grant.filter, grant.spent)

    def tables(self) -> list[str]:
        """Name the tables that the ledger knows of."""
        with self._journal.current() as state:
            return sorted(state.tables)

    def populations(self) -> list[str]:
        """Name the populations that the ledger knows of."""
        with self._journal.current() as state:
            return sorted({state.population(name) for name in (*state.tables, *state.members)})

    def population(self, name: str) -> str:
        """Name the population that a table or a budget is about: itself, unless it was registered under another."""
        with self._journal.current() as state:
            return state.population(name)

    def budget(self, budget: str) -> Budget:
        """Give the budget of that name; that of a table means its own, or the first one of its population."""
        with self._journal.current() as state:
            return state.budget(budget)

    def paying(self, budget: str, neighbours: Neighbours, analyst: str | None = None) -> Budget:
        """Give the budget that would pay for what is promised to `neighbours` out of a budget or about a table.

        If there is none among those of its population, `MixedNeighboursError` says which one it needs.
        """
        with self._journal.current() as state:
            return paying(state, budget, neighbours, analyst)

    def as_counted(self, budget: str, event: Event, analyst: str | None = None) -> Event:
        """State an event as the budget that would pay for it counts it (see `paying`)."""
        return count_for(event, self.paying(budget, event.neighbours, analyst).neighbours)

    def statement(self, budget: str) -> Statement:
        """State what was granted, spent and left of a budget, or of that of a table, as of now."""
        with self._journal.current() as state:
            name = state.account(budget)
            return make_statement(name, state.table(name), timestamp(now()), self._teller(state))

    def grants_of(self, budget: str, analyst: str) -> tuple[GrantStatement, ...]:
        """State the grants of one analyst on a budget, or on that of a table, as of now; no other is looked at."""
        with self._journal.current() as state:
            held, time = state.table(state.account(budget)).grants, timestamp(now())
            return tuple(state_grant(each, time) for each in held if each.grant.analyst == analyst)

    def account(self, name: str) -> PopulationStatement:
        """State everything about the people of a table or population: each promise by itself, and what has none."""
        with self._journal.current() as state:
            return make_population_statement(state, name, timestamp(now()), self._teller(state))

    def history(
        self,
        budget: str | None = None,
        analyst: str | None = None,
        *,
        limit: int | None = None,
        before: int | None = None,
    ) -> list[Entry]:
        """Give the entries, all or those about a budget, an analyst or both; they include the stored answers.

        `limit` gives only that many of the newest, or of the newest before the entry `before`, still in order, and
        reads no further back than it must. A name that the ledger does not know raises `LedgerUseError`.
        """
        most = None if limit is None else whole_number(limit, "limit")
        with self._journal.current() as state:
            state.require_known(budget, analyst)
            end = state.head.seq + 1 if before is None else min(whole_number(before, "before"), state.head.seq + 1)
            pages: list[list[Entry]] = []
            while end > 1 and (most is None or sum(map(len, pages)) < most):
                start = max(1, end - BATCH)
                pages.append(self._page(state, start, end, budget, analyst))
                end = start
        found = [entry for page in reversed(pages) for entry in page]
        return found if most is None else found[max(0, len(found) - most) :]

    def entry(self, seq: int) -> Entry:
        """Give one entry by its number, and read no other; one that is not there raises `LedgerUseError`."""
        with self._journal.current() as state:
            if not 1 <= whole_number(seq, "entry") <= state.head.seq:
                raise LedgerUseError(f"There is no entry {seq}; the newest one is {state.head.seq}.")
            found = self._journal.store.entries(seq, 1)
            if not found or found[0].seq != seq or not intact(found[0]):
                raise LedgerCorruptError(f"{self._journal.store.name} has lost or changed entry {seq}; verify it.")
            return self._archive.with_answer(found[0])

    def grant_of(self, reservation: int) -> Grant:
        """Give the grant that paid for a reservation, named by the number of its entry."""
        with self._journal.current() as state:
            return self._archive.owner(state, whole_number(reservation, "reservation")).grant

    def about(self, entry: Entry) -> tuple[str, str]:
        """Name the table and the analyst that an entry is about; empty where it is about none."""
        with self._journal.current() as state:
            return self._subject(state, entry)

    def head(self) -> Head:
        """Give the number and hash of the newest entry."""
        with self._journal.current() as state:
            return state.head

    def sign_head(self, private_key: PrivateKey) -> Receipt:
        """Sign the newest entry; a receipt kept elsewhere shows later whether the end was cut off or rewritten."""
        with self._journal.current() as state:
            return sign(state.ledger, state.head, timestamp(now()), private_key)

    def name_witness(self, where: str | os.PathLike[str], *, lost: bool = False) -> WitnessStatement:
        """Name who watches this ledger from now on: a folder on another disk, `postgresql://…`, or `https://…`.

        The last is a server of `ziggurat witness serve`, whose token is in `ZIGGURAT_WITNESS_TOKEN` or was kept before.
        It keeps a signed receipt of every entry, before anything is spent, and without it nothing is spent. The key
        that signs is made in the user's settings folder. A witness that was named before hands over to the new one;
        one that is gone for good is given up by `lost`, which the ledger remembers.
        """
        naming = Naming(where, lost, self._journal.store.place)
        self._journal.append(naming.decide)
        naming.remember()
        return state_witness(self._journal)

    def witness(self) -> WitnessStatement:
        """State who watches this ledger, and how much of it the witness has seen."""
        return state_witness(self._journal)

    def verify(
        self,
        public_key: PublicKey | None = None,
        receipt: Receipt | None = None,
        *,
        whole: bool = False,
        progress: Progress | None = None,
    ) -> Verification:
        """Recompute every hash and replay every rule, and ask the witness; say what is wrong.

        What this machine has verified before, up to a checkpoint that is still the same, is not read again unless
        `whole` is asked for; `progress` is told now and then how many entries are done.

        Without a witness or a `receipt` it cannot be seen whether the newest entries were cut off, an older copy was
        put back, or everything was rewritten. `public_key` says whose signature the receipt must carry, or those of the
        witness if none is given.
        """
        store = self._journal.store.another()
        try:
            return _verify_store(store, public_key, receipt, self._throwaway, whole, progress)
        finally:
            store.close()

    def _append_once(self, record: Unbounded | WentOn, mark: LedgerMark | None) -> Entry:
        """Append a record, unless an entry bears its mark already; one that says something else is refused."""
        if mark is None:
            return self._append(record)
        there: list[Entry] = []

        def decide(state: State, _moment: datetime) -> Record | None:
            found = find_marked(self._journal.store, state, mark, record.kind)
            there[:] = [] if found is None else [found]
            return record if found is None else None

        entry = self._journal.append(decide)
        if entry is not None:
            return entry
        if record_from(there[0].kind, there[0].body) != record:
            raise LedgerUseError(f"Entry {there[0].seq} says this already in other words; say it in the same ones.")
        return there[0]

    def _append(self, record: Record) -> Entry:
        order = partial(order_entry, record) if isinstance(record, ORDERED) else None
        return cast(Entry, self._journal.append(lambda _state, _moment: record, order=order))

    def _understand(self, orders: Sequence[str]) -> list[Decide | None]:
        """Read what other processes want to have written, and look up at once what they ask may have been answered."""
        wanted = [self._read(order) for order in orders]
        calls = [each for each in wanted if isinstance(each, ReserveCall)]
        for call in calls:
            self._prove_first(call.budget, call.analyst, call.event)
        keys = [key for call in calls if (key := call.foresee(self._journal.seen)) is not None]
        with suppress(LedgerError):
            self._archive.look_ahead(self._journal.seen, keys)
        return [decide_as(each) for each in wanted]

    def _read(self, order: str) -> ReserveCall | Record | None:
        try:
            return read_order(order, self._archive)
        except (ValueError, RecursionError, TypeError, KeyError, AttributeError, ArithmeticError, ZigguratError):
            return None

    def _prove_first(self, budget: str, analyst: str, event: Event) -> None:
        """Proving that a first event fits by itself may take a second: do it before others have to wait."""
        with suppress(ZigguratError):
            seen = self._journal.seen
            payer = paying(seen, budget, event.neighbours, analyst)
            grant = seen.grant(payer.table, analyst)
            if grant.spent.count == 0:
                fits(grant, count_for(event, payer.neighbours))

    def _teller(self, state: State) -> Tell:
        return lambda kind, table: self._archive.tell(state, kind, table)

    def _page(self, state: State, start: int, end: int, budget: str | None, analyst: str | None) -> list[Entry]:
        """Give the entries from one number up to another that are about a budget and an analyst."""
        read = self._journal.store.entries(start, end - start)
        entries = [self._archive.with_answer(entry) for entry in read if entry.seq < end]
        if budget is None and analyst is None:
            return entries
        known: dict[int, tuple[str, str]] = {}
        for entry in entries:
            known[entry.seq] = self._subject(state, entry, known)
        return [
            each for each in entries if budget in (None, known[each.seq][0]) and analyst in (None, known[each.seq][1])
        ]

    def _subject(self, state: State, entry: Entry, known: Mapping[int, tuple[str, str]] = _NOTHING) -> tuple[str, str]:
        """An answer is about what its reservation is about; what is `known` is not looked up again."""
        data = entry.data
        if entry.kind in (Commit.kind, Abandonment.kind):
            paid = known.get(data["reservation"])
            if paid is not None:
                return paid
            grant = self._archive.owner(state, data["reservation"]).grant
            return grant.table, grant.analyst
        return data.get("table", ""), data.get("analyst", "")

    def _commit(self, reservation: int, answer: Any, rehearsal: bool) -> Entry:
        checked = check_answer(answer)
        text = encode(checked) or ""
        if len(text) <= LARGE_ANSWER or not self._keeps_answers():
            return self._append(Commit(reservation, checked, rehearsal))
        made = Commit(reservation, None, rehearsal, sha256(text.encode()).hexdigest(), len(text))
        entry = cast(Entry, self._journal.append(lambda _state, _moment: made, text))
        with self._journal.current():
            return self._archive.with_answer(entry)

    def _keeps_answers(self) -> bool:
        with self._journal.current():
            return self._journal.store.keeps()

    def _abandon(self, reservation: int) -> None:
        self._append(Abandonment(reservation))


@dataclass
class _MarkedCall:
    """A call of `reserve` under a mark: what bears it already is not written again. Each process asks for itself."""

    call: ReserveCall
    store: Store
    mark: LedgerMark
    found: int = 0

    def decide(self, state: State, moment: datetime) -> Record | None:
        """Make the reservation, unless it was made under this mark before, or the question has been answered."""
        there = find_marked(self.store, state, self.mark, Hold.kind)
        self.found = 0 if there is None else there.seq
        made = None if self.found else self.call.decide(state, moment)
        return replace(made, mark=self.mark.token) if isinstance(made, Hold) else None


def verify_ledger(
    where: str | os.PathLike[str],
    public_key: PublicKey | None = None,
    receipt: Receipt | None = None,
    *,
    whole: bool = False,
    progress: Progress | None = None,
) -> Verification:
    """Verify a ledger without opening it for use: a broken one refuses to open, and this says where it is broken.

    Nothing is written to it, so the ledger may lie on a read-only medium. See `Ledger.verify`.
    """
    store = open_store(address(where), False, 30.0, first_entry, read_only=True)
    try:
        return _verify_store(store, public_key, receipt, whole=whole, progress=progress)
    finally:
        store.close()


def _verify_store(
    store: Store,
    public_key: PublicKey | None,
    receipt: Receipt | None,
    throwaway: bool = False,
    whole: bool = False,
    progress: Progress | None = None,
) -> Verification:
    def ask(auditor: Auditor) -> None:
        # Beside a receipt the key is that of whoever signed it; the witness's own is noted where it was named.
        signer = public_key if receipt is None else None
        heard = not throwaway and hear(auditor, store, signer)
        if public_key is not None and receipt is None and not heard:
            raise ParameterError(
                "A public key is compared with a receipt; give the receipt as well, or name a witness."
            )

    return verify_entries(store, public_key, receipt, ask, _recall(store), whole, progress)


def _recall(store: Store) -> VerifiedNote | None:
    """Find up to where this machine has verified a ledger before, by the name in its first entry."""
    try:
        first = store.entries(1, 1)
        begun = record_from(first[0].kind, first[0].body) if first and intact(first[0]) else None
    except ZigguratError:
        return None
    return recall_verified(begun.ledger, store.place) if isinstance(begun, Genesis) else None


def _joining(state: State, budget: Budget, population: str) -> Membership | None:
    """Put a new budget under its population, unless it is there, or could not be made there."""
    require_new(state, budget, population)
    known = state.members.get(budget.table)
    return None if known is not None and known.population == population else Membership(budget.table, population)

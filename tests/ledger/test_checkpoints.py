"""Checkpoints: opening reads only what follows the newest, and nothing that is forged in one goes unseen."""

import json
import os
import random
import signal
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from ziggurat.errors import BudgetExceededError, LedgerCorruptError, LedgerUseError, PendingError
from ziggurat.ledger import Ledger, canonical, generate_key, verify_ledger
from ziggurat.ledger import _journal as journal
from ziggurat.ledger._chain import Entry, Head, digest
from ziggurat.ledger._entries import record_from
from ziggurat.ledger._state import State
from ziggurat.ledger.checkpoints import make_checkpoint, open_checkpoint
from ziggurat.privacy import GaussianEvent, Neighbours, PureEvent, exact

Open = Callable[[], Ledger]


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkpoint after every ten entries."""
    monkeypatch.setattr(journal, "EVERY", 10)


def pure(epsilon: object) -> PureEvent:
    return PureEvent(Neighbours(), epsilon)


def fill(ledger: Ledger, spends: int = 20) -> Ledger:
    """Two analysts, two tables, answers, a reservation that stays open, texts that are kept for ever."""
    ledger.create_budget("clinic", "40", "1e-5")
    ledger.create_budget("visits", "3", population=None)
    ledger.grant("clinic", "ana", "20")
    ledger.grant("clinic", "bob", "2", "1e-6")
    ledger.reserve("clinic", "bob", GaussianEvent(Neighbours(), "1", "50"), "open")
    for number in range(spends):
        with ledger.spend("clinic", "ana", pure("0.1"), ["q", number]) as spend:
            spend.commit({"value": number})
        if number % 4 == 0:
            ledger.record_unbounded("visits", f"map {number}")
    ledger.record_decision("clinic", "it was late")
    return ledger


def marks(ledger: Ledger) -> list[int]:
    return [entry.seq for entry in ledger.history() if entry.kind == "checkpoint"]


@contextmanager
def raw(file: Path) -> Iterator[sqlite3.Connection]:
    """The file as an intruder sees it: without triggers, which come back when the intruder leaves."""
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        yield connection
        for _, statement in triggers:
            connection.execute(statement)


def forge(file: Path, seq: int, change: Callable[[dict[str, Any]], None]) -> None:
    """Change what an entry says, and rehash all that follows, as a forger would."""
    with raw(file) as connection:
        rows = connection.execute("SELECT * FROM entries WHERE seq >= ? ORDER BY seq", (seq,)).fetchall()
        link = rows[0][4]
        for row in rows:
            body = row[3]
            if row[0] == seq:
                said = json.loads(body)
                change(said)
                body = canonical(said, "body")
            own = digest(row[0], row[1], row[2], body, link)
            connection.execute(
                "UPDATE entries SET body = ?, previous = ?, hash = ? WHERE seq = ?", (body, link, own, row[0])
            )
            link = own


def spend_less(said: dict[str, Any]) -> None:
    for table in said["state"]["tables"]:
        for grant in table["grants"]:
            grant["spent"]["epsilon"] = "0"


def test_a_ledger_opened_from_a_checkpoint_says_what_one_read_whole_says(opened: Open) -> None:
    ledger = fill(opened())
    assert len(marks(ledger)) >= 4
    again = opened()
    assert again._journal.seen.base == marks(ledger)[-1]
    whole = State()
    for entry in ledger.history():
        whole.apply(record_from(entry.kind, entry.body), Head(entry.seq, entry.hash))
    assert make_checkpoint(again._journal.seen, "") == make_checkpoint(whole, "")
    assert again.account("clinic") == ledger.account("clinic")
    assert again.account("visits").unbounded == tuple(f"map {number}" for number in range(0, 20, 4))
    assert again.account("clinic").decisions == (("clinic", "it was late"),)
    assert again.left("clinic", "ana") == 18
    assert again.verify().ok


def tell_all(state: State) -> tuple[object, ...]:
    """Everything that decides over what follows, in an order that says nothing."""
    grants = [grant for table in state.tables.values() for grant in table.grants]
    counted = [(one.grant, one.since, one.spent, one.closed, sorted(one.open_holds), one.rehearsals) for one in grants]
    open_holds = {seq: (hold.key, hold.expires, hold.rehearsal) for seq, hold in state.holds.items() if hold.open}
    pending = {key: hold.seq for key, hold in state.questions.items() if hold.open}
    current = {name: sorted(table.current) for name, table in state.tables.items()}
    return state.head, counted, open_holds, pending, current, state.members, make_checkpoint(state, "")


def fold_whole(entries: list[Entry]) -> State:
    """The plain reference: every entry in turn, and of a checkpoint what it lets go of, never what it says."""
    whole = State()
    for entry in entries:
        whole.apply(record_from(entry.kind, entry.body), Head(entry.seq, entry.hash))
    return whole


@pytest.mark.parametrize("seed", range(6))
def test_random_histories_add_up_the_same_opened_from_any_checkpoint_and_read_whole(file: Path, seed: int) -> None:
    """Writers come and go, so that a checkpoint is written by one that folded all and by one that began at another."""
    chance, names = random.Random(seed), ("ana", "bob", "cem")
    first = Ledger.open(file)
    first.create_budget("clinic", "100", "1e-3")
    first.create_budget("visits", "100")
    for name in names:
        first.grant("clinic", name, "20", "1e-6")
        first.grant("visits", name, "20")
    for number in range(120):
        with Ledger.open(file) as opened:
            step_randomly(chance.choice([first, opened]), chance, names, number)
            assert tell_all(opened._journal.seen if number % 2 else first._journal.seen)
    entries = first.history()
    first.close()
    assert sum(entry.kind == "checkpoint" for entry in entries) > 10
    with Ledger.open(file) as again:
        assert again._journal.seen.base > 0
        assert tell_all(again._journal.seen) == tell_all(fold_whole(entries))
    assert verify_ledger(file, whole=True).ok


def step_randomly(ledger: Ledger, chance: random.Random, names: tuple[str, ...], number: int) -> None:
    """One of the things that happen to a ledger; reservations stay open over checkpoints, in several grants."""
    table, name, what = chance.choice(["clinic", "visits"]), chance.choice(names), chance.randrange(8)
    if what == 0:
        ledger.record_unbounded(table, f"map {number}")
    elif what == 1 and (pending := sorted(seq for seq, one in ledger._journal.seen.holds.items() if one.open)):
        ledger.abandon(chance.choice(pending))
    elif what == 2:
        ledger.close_grant(table, name)
        ledger.grant(table, name, "1/1000")
    elif what == 3:
        ledger.register(f"table {number}", table)
    else:
        made = ledger.reserve(table, name, pure("1/10000"), number if what < 7 else None, rehearsal=what == 5)
        if what == 4:
            made.commit(number)


def test_a_checkpoint_of_version_0_9_that_numbers_reservations_by_grants_is_read(file: Path) -> None:
    with Ledger.open(file) as ledger:
        ledger.create_budget("clinic", "4")
        ledger.grant("clinic", "ana", "2")
        ledger.grant("clinic", "bob", "2")
        for name in ("bob", "ana", "bob", "ana", "ana", "bob"):
            ledger.reserve("clinic", name, pure("0.1"))
        seq, other = marks(ledger)[0], Ledger.open(file)
        fill_more(ledger)
    forge(file, seq, lambda said: said.update(open=[6, 8, 9, 5, 7, 10]))
    assert verify_ledger(file).ok
    with Ledger.open(file) as again:
        again.abandon(8)
    other.close()
    forge(file, seq, lambda said: said.update(open=[6, 8, 9, 5, 7]))
    assert verify_ledger(file, whole=True).problems[0].seq == seq


def test_what_a_checkpoint_says_is_what_its_state_folds_to(ledger: Ledger) -> None:
    state = ledger._journal.seen
    with ledger.spend("clinic", "ana", pure("0.1"), "q") as spend:
        spend.commit(1)
    ledger.reserve("clinic", "ana", pure("0.1"), "r")
    time = ledger.history()[-1].time
    record, head = make_checkpoint(state, time), Head(7, "x" * 64)
    again = open_checkpoint(record, head)
    state.apply(record, head)
    assert make_checkpoint(again, time) == make_checkpoint(state, time) == record
    assert (again.head, again.base, list(again.holds)) == (state.head, state.base, list(state.holds)) == (head, 7, [6])
    assert again.questions.keys() == state.questions.keys()
    assert again.tables["clinic"].current["ana"].spent == state.tables["clinic"].current["ana"].spent


def test_a_question_answered_before_a_checkpoint_is_replayed(opened: Open) -> None:
    fill(opened())
    again = opened()
    before = again.head()
    for number in range(20):
        assert again.quote("clinic", "ana", pure("0.1"), ["q", number]).replayed
        assert again.reserve("clinic", "ana", pure("0.1"), ["q", number]).answer == {"value": number}
    assert again.head() == before


def test_an_open_reservation_survives_checkpoints_and_an_ended_one_stays_ended(opened: Open) -> None:
    ledger = fill(opened())
    again = opened()
    with pytest.raises(PendingError, match="reservation 6"):
        again.reserve("clinic", "bob", GaussianEvent(Neighbours(), "1", "50"), "open")
    again.abandon(6)
    assert ledger.grant_of(7).analyst == "ana"
    assert again.about(again.entry(8)) == ("clinic", "ana")
    with pytest.raises(LedgerUseError, match="no reservation 7 that is still open"):
        again.abandon(7)
    with pytest.raises(LedgerUseError, match="There is no reservation 1"):
        again.grant_of(1)


def test_an_expired_reservation_is_lost_at_a_checkpoint_and_stays_spent(opened: Open) -> None:
    ledger = opened()
    ledger.create_budget("clinic", "40")
    ledger.grant("clinic", "ana", "20")
    lost = ledger.reserve("clinic", "ana", pure(1), ttl=1e-6)
    for _ in range(10):
        ledger.reserve("clinic", "ana", pure("0.1")).commit(0)
    assert lost.seq not in ledger._journal.seen.holds
    grant = opened().statement("clinic").grants[0]
    assert (grant.expired, grant.spent.epsilon) == (1, 2)
    with pytest.raises(LedgerUseError):
        lost.commit(1)


def test_a_ledger_made_without_an_index_gets_one_at_the_next_write(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "EVERY", 10**9)
    fill(Ledger.open(file)).close()
    monkeypatch.setattr(journal, "EVERY", 10)
    with closing(sqlite3.connect(file)) as connection:
        for table in ("pointers", "answers"):
            connection.execute(f"DROP TABLE {table}")
    old = verify_ledger(file)
    assert old.ok
    with Ledger.open(file, read_only=True) as read:
        assert read.quote("clinic", "ana", pure("0.1"), ["q", 3]).replayed
        entries = read.history()
    with Ledger.open(file) as ledger:
        ledger.record_unbounded("clinic", "a map")
        assert marks(ledger) == [len(entries) + 2]
        assert ledger.history()[: len(entries)] == entries
    with Ledger.open(file) as ledger:
        assert ledger.reserve("clinic", "ana", pure("0.1"), ["q", 3]).answer == {"value": 3}
        assert ledger.verify().ok


def test_a_checkpoint_forged_to_have_spent_less_is_found(file: Path, tmp_path: Path) -> None:
    public = generate_key(tmp_path / "steward")
    with Ledger.open(file) as ledger:
        fill(ledger)
        seq, receipt = marks(ledger)[-1], ledger.sign_head(tmp_path / "steward")
    assert verify_ledger(file, public, receipt).ok
    forge(file, seq, spend_less)
    # Opening believes it, as it believes any history with fresh hashes; these three do not.
    problem = verify_ledger(file).problems[0]
    assert (problem.seq, problem.what) == (
        seq,
        "breaks a rule: this checkpoint does not say what the entries before it add up to",
    )
    assert "rewritten" in verify_ledger(file, public, receipt).problems[-1].what


def test_a_checkpoint_forged_behind_a_witness_is_found_and_nothing_more_is_spent(
    file: Path, witness_folder: Path
) -> None:
    with Ledger.open(file) as ledger:
        ledger.name_witness(witness_folder)
        fill(ledger)
        seq = marks(ledger)[-1]
    assert verify_ledger(file).ok
    forge(file, seq, spend_less)
    assert any("rewritten from here on" in problem.what for problem in verify_ledger(file).problems)
    with Ledger.open(file) as ledger, pytest.raises(LedgerCorruptError, match="rewritten"):
        ledger.reserve("clinic", "ana", pure("0.1"))


def test_a_forged_checkpoint_at_the_end_is_not_taken_for_an_answer_by_the_witness(
    file: Path, witness_folder: Path
) -> None:
    with Ledger.open(file) as ledger:
        ledger.name_witness(witness_folder)
        fill(ledger)
        head, mark = ledger.head(), ledger.entry(marks(ledger)[-1])
    said = mark.data
    spend_less(said)
    body = canonical(said, "body")
    own = digest(head.seq + 1, mark.time, "checkpoint", body, head.hash)
    with closing(sqlite3.connect(file)) as connection, connection:
        row = (head.seq + 1, mark.time, "checkpoint", body, head.hash, own)
        connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)", row)
    assert not verify_ledger(file).ok
    with Ledger.open(file) as ledger, pytest.raises(LedgerCorruptError, match="lost receipts"):
        ledger.reserve("clinic", "ana", pure("0.1"))


def test_a_forged_checkpoint_is_refused_by_a_ledger_that_was_open(file: Path) -> None:
    ledger, other = Ledger.open(file), Ledger.open(file)
    fill(ledger, 4)
    assert other.head() == ledger.head()
    fill_more(ledger)
    ledger.close()
    with closing(sqlite3.connect(file)) as connection:
        (seq,) = connection.execute("SELECT max(seq) FROM entries WHERE kind = 'checkpoint'").fetchone()
    assert seq > other._journal.seen.head.seq
    forge(file, seq, spend_less)
    with pytest.raises(LedgerCorruptError, match=f"entry {seq}"):
        other.left("clinic", "ana")


def fill_more(ledger: Ledger) -> None:
    for _ in range(10):
        ledger.reserve("clinic", "ana", pure("0.1")).commit(0)


@pytest.mark.parametrize("body", ["{}", '{"open":[],"state":{}}', '{"open":[1],"state":{"ledger":3}}', "[]"])
def test_a_checkpoint_of_nonsense_is_refused_and_reported(file: Path, body: str) -> None:
    with Ledger.open(file) as ledger:
        seq = marks(fill(ledger))[-1]
    with raw(file) as connection:
        time, link = connection.execute("SELECT time, previous FROM entries WHERE seq = ?", (seq,)).fetchone()
        connection.execute("DELETE FROM entries WHERE seq > ?", (seq,))
        own = digest(seq, time, "checkpoint", body, link)
        connection.execute("UPDATE entries SET body = ?, hash = ? WHERE seq = ?", (body, own, seq))
    with pytest.raises(LedgerCorruptError, match=f"entry {seq}"):
        Ledger.open(file)
    assert verify_ledger(file).problems[0].seq == seq


def test_an_index_that_lies_leads_nowhere(file: Path) -> None:
    """Every question is pointed at another's answer, or at nothing: each costs again, and none is given a wrong one."""
    with Ledger.open(file) as ledger:
        fill(ledger)
    with raw(file) as connection:
        rows = connection.execute("SELECT key, seq FROM pointers ORDER BY key").fetchall()
        connection.execute("DELETE FROM pointers")
        for (key, _), (_, seq) in zip(rows, rows[1:] + rows[:1], strict=True):
            connection.execute("INSERT INTO pointers VALUES (?, ?)", (key, seq))
        connection.execute("INSERT INTO pointers VALUES (?, ?)", (rows[0][0], 10**6))
    with Ledger.open(file) as ledger:
        before = ledger.left("clinic", "ana")
        assert not ledger.reserve("clinic", "ana", pure("0.1"), ["q", 3]).replayed
        assert ledger.left("clinic", "ana") == before - exact("0.1")
        with pytest.raises(LedgerCorruptError, match="must tell of 'visits'"):
            ledger.account("visits")
    assert any("not in the index" in problem.what for problem in verify_ledger(file).problems)


def test_a_budget_is_enforced_over_checkpoints(opened: Open) -> None:
    ledger = opened()
    ledger.create_budget("clinic", "3")
    ledger.grant("clinic", "ana", "3")
    for number in range(30):
        opened() if number % 7 == 0 else None
        ledger.reserve("clinic", "ana", pure("0.1")).commit(number)
    with pytest.raises(BudgetExceededError):
        opened().reserve("clinic", "ana", pure("1e-9"))
    assert ledger.verify().ok


def test_threads_that_share_a_transaction_are_granted_exactly_what_fits(opened: Open) -> None:
    ledger, outcomes, gate = opened(), [], threading.Barrier(8)
    ledger.create_budget("clinic", "3")
    ledger.grant("clinic", "ana", "3")

    def work() -> None:
        gate.wait()
        while True:
            try:
                ledger.reserve("clinic", "ana", pure("0.1")).commit(threading.get_ident())
                outcomes.append(1)
            except BudgetExceededError:
                return

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 30
    assert ledger.left("clinic", "ana") == 0
    assert ledger.verify().ok


def test_requests_in_one_transaction_each_hear_their_own_reason(ledger: Ledger) -> None:
    """What one is refused takes nothing from the others, and each sees those before it."""
    book = ledger._journal
    asked = [book_request(ledger, epsilon) for epsilon in ("0.6", "0.5", "0.4")]
    book._waiting.extend(asked)
    with book._alone():
        book._serve()
    assert asked[0].outcome().seq == 4
    with pytest.raises(BudgetExceededError):
        asked[1].outcome()
    assert asked[2].outcome().seq == 5
    assert ledger.left("clinic", "ana") == 0
    assert ledger.verify().ok


@pytest.mark.parametrize("after", [False, True])
def test_an_interruption_of_whoever_wrote_for_others_has_their_entries_written_once(
    opened: Open, after: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the commit nothing was written, and the next one writes it; after the commit it is found."""
    ledger = opened()
    ledger.create_budget("clinic", "1")
    ledger.grant("clinic", "ana", "1")
    book, folds, fold = ledger._journal, iter([not after, True]), journal.Journal._fold

    def interrupt(self: Any, *what: Any) -> None:
        if next(folds):
            raise KeyboardInterrupt
        fold(self, *what)

    mine, other = asked = [book_request(ledger, epsilon) for epsilon in ("0.6", "0.4")]
    book._waiting.extend(asked)
    with monkeypatch.context() as patched, book._alone():
        patched.setattr(journal.Journal, "_fold", interrupt)
        with pytest.raises(KeyboardInterrupt):
            book._serve()
    book._waiting.remove(mine)
    with book._alone():
        book._serve()
    assert other.outcome() == ledger.entry(5 if after else 4)
    assert ledger.left("clinic", "ana") == exact(0 if after else "0.6")
    assert ledger.verify().ok


def test_answers_are_read_while_nobody_else_uses_the_connection(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = fill(opened())
    book, store = ledger._journal, type(ledger._journal.store)
    kept, seen = store.kept, []

    def try_lock() -> None:
        seen.append(book._lock.acquire(blocking=False))
        if seen[-1]:
            book._lock.release()

    def look(self: Any, name: str) -> str | None:
        thread = threading.Thread(target=try_lock)
        thread.start()
        thread.join()
        return kept(self, name)

    monkeypatch.setattr(store, "kept", look)
    ledger.entry(spend_large(ledger))
    assert seen == [False, False]


def test_a_transaction_of_several_that_fails_records_nothing_and_counts_nothing(ledger: Ledger, file: Path) -> None:
    book = ledger._journal
    file.rename(file.with_name("elsewhere.db"))
    asked = [book_request(ledger, "0.1") for _ in range(3)]
    book._waiting.extend(asked)
    with book._alone():
        book._serve()
    for one in asked:
        with pytest.raises(Exception, match="moved or replaced"):
            one.outcome()
    file.with_name("elsewhere.db").rename(file)
    assert (ledger.left("clinic", "ana"), ledger.head().seq) == (1, 3)


def book_request(ledger: Ledger, epsilon: str) -> Any:
    from ziggurat.ledger._entries import Hold

    hold = Hold("clinic", "ana", pure(epsilon), None, "2999-01-01T00:00:00.000000Z")
    return journal._Request(lambda _state, _moment: hold)


def test_a_kill_at_any_moment_around_checkpoints_leaves_no_touch_uncounted(address: str, tmp_path: Path) -> None:
    """As in the suite of stores, but every third entry is a checkpoint, so that many kills meet one."""
    log, moments = tmp_path / "touches", random.Random(11)
    log.touch()
    journal.EVERY = 2  # the fixture puts it back
    with Ledger.open(address) as ledger:
        ledger.create_budget("clinic", 10**9)
        ledger.grant("clinic", "ana", 10**9)
    for _ in range(25 if "://" not in address else 8):
        child = os.fork()
        if not child:
            _restless(address, log)
        _await_touch(log, moments)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        _require_counted(address, log)


def _restless(address: str, log: Path) -> None:
    try:
        ledger, handle = Ledger.open(address, create=False), os.open(log, os.O_APPEND | os.O_WRONLY)
        while True:
            reservation = ledger.reserve("clinic", "ana", pure(1), os.urandom(8).hex())
            os.write(handle, b"%d\n" % reservation.seq)
            os.fsync(handle)
            reservation.commit(reservation.seq)
    finally:
        os._exit(1)


def _await_touch(log: Path, moments: random.Random) -> None:
    import time

    size, patience = log.stat().st_size, time.monotonic() + 10
    while log.stat().st_size == size and time.monotonic() < patience:
        time.sleep(0.0005)
    time.sleep(moments.random() * 0.005)


def _require_counted(address: str, log: Path) -> None:
    touched = {int(line) for line in log.read_text().split()}
    with Ledger.open(address, create=False) as ledger:
        reserved = {entry.seq for entry in ledger.history() if entry.kind == "reserve"}
        assert ledger.verify().ok
        spent = ledger.statement("clinic").grants[0].spent.epsilon
    assert touched <= reserved
    assert spent == len(reserved)


def test_the_newest_entries_are_read_without_the_others(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = fill(opened())
    whole, ana = ledger.history(), ledger.history("clinic", "ana")
    monkeypatch.setattr("ziggurat.ledger._ledger.BATCH", 7)
    assert ledger.history() == whole
    assert ledger.history("clinic", "ana") == ana
    for limit in (1, 5, 12, 1000):
        assert ledger.history(limit=limit) == whole[len(whole) - min(limit, len(whole)) :]
        assert ledger.history("clinic", "ana", limit=limit) == ana[len(ana) - min(limit, len(ana)) :]
    assert ledger.history(limit=3, before=10) == whole[6:9]
    assert next(entry.seq for entry in ana if entry.kind == "commit") == 8


def test_verification_goes_on_from_what_was_verified_before(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = fill(opened())
    first = ledger.verify()
    fill_more(ledger)
    read: list[int] = []
    monkeypatch.setattr("ziggurat.ledger._verify.BATCH", 1)
    again = ledger.verify(progress=read.append)
    assert read[0] == marks(ledger)[4] + 1
    assert again.ok
    assert "were verified on this machine" in again.notes[-1]
    assert "were verified" not in first.notes[-1]
    assert again.entries == ledger.head().seq
    read.clear()
    assert ledger.verify(whole=True, progress=read.append).ok
    assert read[0] == 1


def test_a_ledger_rewritten_before_what_was_verified_is_found_without_a_witness(file: Path) -> None:
    with Ledger.open(file) as ledger:
        fill(ledger)
        seq = marks(ledger)[1]
    assert verify_ledger(file).ok
    forge(file, seq, spend_less)
    for whole in (False, True):
        found = [problem.what for problem in verify_ledger(file, whole=whole).problems]
        assert any("up to which this machine has verified the ledger" in what for what in found)
        assert any("add up to" in what for what in found)


def test_a_ledger_that_was_replaced_by_another_name_is_told_by_whoever_verified_the_one_before(file: Path) -> None:
    with Ledger.open(file) as ledger:
        fill(ledger)
        seq = marks(ledger)[-1]
    assert len(verify_ledger(file).notes) == 3
    file.rename(file.with_name("put away.db"))
    with Ledger.open(file) as ledger:
        ledger.create_budget("clinic", "40")
    *_, replaced, _rests_on = verify_ledger(file).notes
    assert "verified another ledger" in replaced
    assert f"up to its entry {seq}:" in replaced
    assert len(verify_ledger(file.with_name("put away.db")).notes) == 3, "elsewhere nobody has verified anything"


def test_what_changes_in_entries_verified_before_is_found_by_reading_them_again(file: Path) -> None:
    with Ledger.open(file) as ledger:
        fill(ledger)
    assert verify_ledger(file).ok
    with raw(file) as connection:
        connection.execute("UPDATE entries SET body = replace(body, 'clinic', 'klinik') WHERE seq = 7")
    assert verify_ledger(file).ok, "what is before the checkpoint is not read again, and the note says so"
    assert verify_ledger(file, whole=True).problems[0].seq == 7


def test_a_receipt_for_an_entry_before_what_was_verified_has_all_read(file: Path, tmp_path: Path) -> None:
    public = generate_key(tmp_path / "steward")
    with Ledger.open(file) as ledger:
        ledger.create_budget("first", 1)
        receipt = ledger.sign_head(tmp_path / "steward")
        fill(ledger)
        assert ledger.verify().ok
        assert ledger.verify(public, receipt).ok
        assert ledger.verify(public, ledger.sign_head(tmp_path / "steward")).ok


def test_verification_from_a_checkpoint_hears_the_witness(file: Path, witness_place: str) -> None:
    with Ledger.open(file) as ledger:
        ledger.name_witness(witness_place)
        fill(ledger)
        assert ledger.verify().ok
        fill_more(ledger)
        again = ledger.verify()
        seq = ledger.head().seq
    assert again.ok
    assert f"has seen all {seq} entries" in again.notes[-1]
    assert "were verified on this machine" in again.notes[-1]
    with raw(file) as connection:
        connection.execute("DELETE FROM entries WHERE seq > ?", (seq - 4,))
    assert any("missing although the witness saw them" in each.what for each in verify_ledger(file).problems)


LARGE = {"text": "x" * 70_000, "number": 1.5}


def spend_large(ledger: Ledger) -> int:
    with ledger.spend("clinic", "ana", pure("0.1"), "large") as spend:
        entry = spend.commit(LARGE)
    assert entry.data["answer"] == LARGE
    return entry.seq


def test_a_large_answer_is_kept_beside_the_chain_and_replayed(opened: Open) -> None:
    ledger = fill(opened())
    seq = spend_large(ledger)
    assert len(ledger.entry(seq).body) < 300
    again = opened()
    assert again.entry(seq).data["answer"] == LARGE
    assert again.history(limit=3) == ledger.history(limit=3)
    assert [entry.data["answer"] for entry in again.history(limit=5) if entry.seq == seq] == [LARGE]
    replay = again.reserve("clinic", "ana", pure("0.1"), "large")
    assert (replay.replayed, replay.answer, replay.rehearsal) == (True, LARGE, False)
    assert again.verify().ok


@pytest.mark.parametrize("change", ["UPDATE answers SET body = replace(body, '1.5', '2.5')", "DELETE FROM answers"])
def test_a_large_answer_that_was_changed_or_lost_is_found_and_not_given(file: Path, change: str) -> None:
    with Ledger.open(file) as ledger:
        seq = spend_large(fill(ledger))
    with raw(file) as connection:
        connection.execute(change)
    problem = verify_ledger(file).problems[0]
    assert (problem.seq, "has lost its answer" in problem.what) == (seq, True)
    with Ledger.open(file) as ledger, pytest.raises(LedgerCorruptError, match=f"the answer of entry {seq}"):
        ledger.reserve("clinic", "ana", pure("0.1"), "large")


def test_a_large_answer_that_was_not_kept_is_not_committed(file: Path) -> None:
    """Both are in one transaction: without the text there is no entry, and the cost stays spent."""
    with Ledger.open(file) as ledger:
        fill(ledger)
        before, reservation = ledger.head().seq, ledger.reserve("clinic", "ana", pure("0.1"), "large")
        connection = ledger._journal.store._live()
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(Exception, match="disk is full"):
            reservation.commit(LARGE)
        assert ledger.head().seq == before + 1
        connection.execute(f"PRAGMA max_page_count = {pages + 1000}")
        assert reservation.commit(LARGE).data["answer"] == LARGE
        assert ledger.verify().ok


@pytest.mark.parametrize("said", [{"sha256": "", "size": 0}, {"sha256": "0" * 64, "size": 0}, {"size": 3}])
def test_an_answer_beside_the_chain_has_both_a_hash_and_a_size(said: dict[str, Any]) -> None:
    body = {"reservation": 4, "answer": None, "rehearsal": False, **said}
    with pytest.raises(Exception, match="commit"):
        record_from("commit", canonical(body, "body"))

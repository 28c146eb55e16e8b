"""What every store promises: one suite over SQLite and PostgreSQL, without a witness and with one of each kind."""

import os
import random
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ziggurat.errors import BudgetExceededError, LedgerError, LedgerUseError, ParameterError
from ziggurat.ledger import Ledger, Replay
from ziggurat.privacy import Neighbours, PureEvent, exact

Open = Callable[[], Ledger]

KINDS = ["sqlite", "postgres", "sqlite by folder", "sqlite by postgres", "postgres by folder", "postgres by postgres"]


@pytest.fixture(
    params=[pytest.param(kind, marks=[pytest.mark.postgres] if "postgres" in kind else []) for kind in KINDS]
)
def address(request: pytest.FixtureRequest) -> str:
    """The address of a ledger: one that does not exist yet, or one that only names its witness."""
    store, _, witness = request.param.partition(" by ")
    place = str(request.getfixturevalue("file" if store == "sqlite" else "postgres"))
    if witness:
        with Ledger.open(place) as ledger:
            ledger.name_witness(
                request.getfixturevalue("witness_folder" if witness == "folder" else "witness_database")
            )
    return place


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def fresh(request: pytest.FixtureRequest) -> str:
    """The address of a ledger that does not exist yet."""
    return str(request.getfixturevalue("file" if request.param == "sqlite" else "postgres"))


def pure(epsilon: object) -> PureEvent:
    return PureEvent(Neighbours(), epsilon)


def granted(ledger: Ledger, epsilon: object = 1) -> Ledger:
    ledger.create_budget("clinic", epsilon)
    ledger.grant("clinic", "ana", epsilon)
    return ledger


def in_child(work: Callable[[], int]) -> int:
    """Run `work` in a forked child that ends without any clean-up; give its process id."""
    child = os.fork()
    if child:
        return child
    try:
        os._exit(work())
    except BaseException:  # noqa: BLE001 - a child must never return into pytest
        os._exit(255)


def exit_code(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_what_was_written_is_there_after_reopening(opened: Open) -> None:
    first = granted(opened())
    with first.spend("clinic", "ana", pure("0.1"), "q") as spend:
        entry = spend.commit({"value": [1, 2.5, None, "é\n\0"]})
    head = first.head()
    first.close()
    again = opened()
    assert again.head() == head
    replay = again.reserve("clinic", "ana", pure("0.1"), "q")
    assert replay == Replay(entry)
    assert (replay.seq, replay.answer, replay.rehearsal) == (head.seq, {"value": [1, 2.5, None, "é\n\0"]}, False)


def test_a_missing_ledger_is_not_made_unless_asked(fresh: str) -> None:
    with pytest.raises(LedgerError, match="create it with 'ziggurat ledger budget'"):
        Ledger.open(fresh, create=False)
    Ledger.open(fresh).close()
    Ledger.open(fresh, create=False).close()


def test_a_closed_ledger_says_so(opened: Open) -> None:
    ledger = granted(opened())
    ledger.close()
    with pytest.raises(LedgerError, match="open it again"):
        ledger.reserve("clinic", "ana", pure(1))
    with pytest.raises(LedgerError, match="open it again"):
        ledger.statement("clinic")


def test_two_handles_see_each_other(opened: Open) -> None:
    one, two = granted(opened()), opened()
    one.reserve("clinic", "ana", pure("0.6"))
    with pytest.raises(BudgetExceededError):
        two.reserve("clinic", "ana", pure("0.5"))
    two.reserve("clinic", "ana", pure("0.4"))
    assert one.left("clinic", "ana") == two.left("clinic", "ana") == 0
    assert one.head() == two.head()


def test_a_refusal_writes_nothing_and_lets_others_write(opened: Open) -> None:
    one, two = granted(opened()), opened()
    before = one.head().seq
    with pytest.raises(BudgetExceededError):
        one.reserve("clinic", "ana", pure(2))
    two.reserve("clinic", "ana", pure(1))
    assert two.head().seq == before + 1


def test_entries_are_chained_and_verify(opened: Open) -> None:
    ledger = granted(opened())
    entries = ledger.history()
    assert [entry.seq for entry in entries] == list(range(1, ledger.head().seq + 1))
    assert [entry.previous for entry in entries[1:]] == [entry.hash for entry in entries[:-1]]
    assert ledger.verify().require().entries == len(entries)


def test_what_is_written_gives_its_entry_which_is_read_by_its_number(opened: Open) -> None:
    ledger = granted(opened())
    noted = ledger.record_unbounded("clinic", "a map")
    reservation = ledger.reserve("clinic", "ana", pure("0.1"), "q")
    answered = reservation.commit((1, 2))
    assert [noted.kind, answered.kind] == ["unbounded", "commit"]
    assert answered.data == {"reservation": reservation.seq, "answer": [1, 2], "rehearsal": False}
    assert [ledger.entry(each.seq) for each in ledger.history()] == ledger.history()
    assert ledger.history()[-3:] == [noted, ledger.entry(reservation.seq), answered]
    assert ledger.name == ledger.entry(1).data["ledger"]


def test_an_entry_that_is_not_there_is_refused(opened: Open) -> None:
    ledger = granted(opened())
    newest = ledger.head().seq
    with pytest.raises(LedgerUseError, match=f"There is no entry {newest + 1}; the newest one is {newest}"):
        ledger.entry(newest + 1)
    for wrong in (0, -1, 1.5, True, "3"):
        with pytest.raises(ParameterError):
            ledger.entry(wrong)  # type: ignore[arg-type]


def test_a_reservation_names_the_grant_that_paid_also_after_another_one(opened: Open) -> None:
    ledger = granted(opened())
    first = ledger.reserve("clinic", "ana", pure("0.1"))
    ledger.close_grant("clinic", "ana")
    again = ledger.grant("clinic", "ana", "1/2")
    second = ledger.reserve("clinic", "ana", pure("0.1"))
    assert ledger.grant_of(first.seq).epsilon == 1
    assert ledger.grant_of(second.seq) == again
    with pytest.raises(LedgerUseError, match="There is no reservation 1"):
        ledger.grant_of(1)


def test_an_answer_of_32_mebibytes_is_kept_and_a_larger_one_refused(opened: Open) -> None:
    ledger, text = granted(opened()), "x" * (2**25 - 2)
    with ledger.spend("clinic", "ana", pure("0.1"), "q") as spend:
        assert spend.commit(text).data["answer"] == spend.answer == text
    reservation = ledger.reserve("clinic", "ana", pure("0.1"))
    with pytest.raises(ValueError, match="at most 33554432 bytes"):
        reservation.commit(text + "x")


def test_threads_share_a_ledger(opened: Open) -> None:
    ledger, outcomes = granted(opened(), 10), []

    def work() -> None:
        for _ in range(5):
            try:
                ledger.reserve("clinic", "ana", pure(1)).commit(1)
                outcomes.append("granted")
            except BudgetExceededError:
                outcomes.append("refused")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (outcomes.count("granted"), outcomes.count("refused")) == (10, 10)
    assert ledger.verify().ok


def test_a_ledger_may_be_used_by_parent_and_child_after_fork(opened: Open) -> None:
    ledger = granted(opened())

    def work() -> int:
        ledger.reserve("clinic", "ana", pure("0.3")).commit(1)
        return 0

    child = in_child(work)
    ledger.reserve("clinic", "ana", pure("0.2"))
    assert exit_code(child) == 0
    ledger.reserve("clinic", "ana", pure("0.1"))
    assert ledger.left("clinic", "ana") == exact("0.4")
    assert ledger.verify().ok


def test_racing_creators_make_one_ledger(fresh: str) -> None:
    children = [in_child(lambda: Ledger.open(fresh).head().seq - 1) for _ in range(6)]
    assert [exit_code(child) for child in children] == [0] * 6
    with Ledger.open(fresh, create=False) as ledger:
        assert ledger.head().seq == 1


def test_eight_racing_processes_are_granted_exactly_what_fits(address: str) -> None:
    with Ledger.open(address) as ledger:
        before = granted(ledger, "4.1").head().seq
    children = [in_child(lambda: _greedy(address)) for _ in range(8)]
    assert sum(exit_code(child) for child in children) == 41
    with Ledger.open(address, create=False) as ledger:
        assert ledger.left("clinic", "ana") == 0
        assert ledger.verify().require().entries == before + 2 * 41


def _greedy(address: str) -> int:
    """Spend tenths until refused; give how many were granted."""
    ledger, count = Ledger.open(address), 0
    while True:
        try:
            ledger.reserve("clinic", "ana", pure("0.1")).commit(os.getpid())
        except BudgetExceededError:
            return count
        count += 1


def test_a_kill_at_any_moment_leaves_no_touch_uncounted(address: str, tmp_path: Path) -> None:
    """A child reserves, touches (a synced log stands for the data) and commits; it is killed again and again."""
    log, moments = tmp_path / "touches", random.Random(7)
    log.touch()
    with Ledger.open(address) as ledger:
        granted(ledger, 10**9)
    for _ in range(50 if "://" not in address else 20):
        child = in_child(lambda: _restless(address, log))
        _await_start(log, moments)
        os.kill(child, signal.SIGKILL)
        assert exit_code(child) == -signal.SIGKILL
        _require_counted(address, log)


def _restless(address: str, log: Path) -> int:
    ledger, handle = Ledger.open(address, create=False), os.open(log, os.O_APPEND | os.O_WRONLY)
    while True:
        reservation = ledger.reserve("clinic", "ana", pure(1))
        os.write(handle, b"%d\n" % reservation.seq)
        os.fsync(handle)
        reservation.commit(reservation.seq)


def _await_start(log: Path, moments: random.Random) -> None:
    """Most kills come a random moment after the first touch of this child, some before it."""
    size, patience = log.stat().st_size, time.monotonic() + (0.02 if moments.random() < 0.2 else 10)
    while log.stat().st_size == size and time.monotonic() < patience:
        time.sleep(0.0005)
    time.sleep(moments.random() * 0.003)


def _require_counted(address: str, log: Path) -> None:
    touched = [int(line) for line in log.read_text().split()]
    with Ledger.open(address, create=False) as ledger:
        reserved = {entry.seq for entry in ledger.history() if entry.kind == "reserve"}
        assert ledger.verify().ok
        spent = ledger.statement("clinic").grants[0].spent.epsilon
    assert set(touched) <= reserved
    assert spent == len(reserved) >= len(touched)

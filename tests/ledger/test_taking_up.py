"""A reservation is taken up again by whoever made it: nothing is paid twice, and one answer is committed."""

import os
import signal
from collections.abc import Callable
from dataclasses import replace

import pytest

from ziggurat.errors import LedgerUseError, ParameterError
from ziggurat.ledger import Ledger, LedgerMark, Replay, Reservation
from ziggurat.ledger.checkpoints import EVERY
from ziggurat.privacy import Neighbours, PureEvent

EVENT, OTHER = PureEvent(Neighbours(), "0.25"), PureEvent(Neighbours(), "0.5")
ASKED = ("clinic", "ana", EVENT, {"how": "many"})

Open = Callable[[], Ledger]


@pytest.fixture
def book(opened: Open) -> Ledger:
    """A ledger on each store, whose table 'clinic' pays for ana and bob."""
    made = opened()
    made.create_budget("clinic", "4")
    made.grant("clinic", "ana", "2")
    made.grant("clinic", "bob", "2")
    return made


def kinds(book: Ledger) -> list[str]:
    return [entry.kind for entry in book.history()][4:]


def held(book: Ledger, **given: object) -> Reservation:
    made = book.reserve(*ASKED, **given)
    assert isinstance(made, Reservation)
    return made


def test_what_was_reserved_is_taken_up_and_answered_once(book: Ledger, opened: Open) -> None:
    first = held(book)
    taken = opened().take_up(first.seq, *ASKED)
    assert isinstance(taken, Reservation)
    assert (taken.seq, taken.table, taken.analyst, taken.event) == (first.seq, "clinic", "ana", EVENT)
    taken.commit({"n": 7})
    with pytest.raises(LedgerUseError, match="committed already"):
        first.commit({"n": 8})
    again = book.take_up(first.seq, *ASKED)
    assert isinstance(again, Replay)
    assert again.answer == {"n": 7}
    assert kinds(book) == ["reserve", "commit"]
    assert book.verify().problems == []


@pytest.mark.parametrize(
    "asked",
    [
        ("clinic", "bob", EVENT, {"how": "many"}, False),
        ("clinic", "ana", OTHER, {"how": "many"}, False),
        ("clinic", "ana", EVENT, {"how": "few"}, False),
        ("clinic", "ana", EVENT, None, False),
        ("clinic", "ana", EVENT, {"how": "many"}, True),
        ("school", "ana", EVENT, {"how": "many"}, False),
    ],
    ids=["analyst", "event", "question", "no question", "rehearsal", "budget"],
)
def test_what_was_reserved_for_something_else_is_refused(book: Ledger, asked: tuple) -> None:
    book.create_budget("school", "4")
    book.grant("school", "ana", "2")
    first = held(book)
    with pytest.raises(LedgerUseError, match="something else"):
        book.take_up(first.seq, *asked)
    first.commit(1)
    with pytest.raises(LedgerUseError, match="something else"):
        book.take_up(first.seq, *asked)


@pytest.mark.parametrize("seq", [0, 1, 2, 99])
def test_what_is_no_reservation_is_refused(book: Ledger, seq: int) -> None:
    with pytest.raises((LedgerUseError, ParameterError), match=r"no reservation|at least"):
        book.take_up(seq, *ASKED)


def test_what_was_given_up_or_has_expired_stays_spent(book: Ledger) -> None:
    first, second = held(book), book.reserve("clinic", "ana", EVENT, "brief", ttl=1e-6)
    first.abandon()
    with pytest.raises(LedgerUseError, match=r"given up or has expired.*stays spent"):
        book.take_up(first.seq, *ASKED)
    with pytest.raises(LedgerUseError, match=r"given up or has expired.*stays spent"):
        book.take_up(second.seq, "clinic", "ana", EVENT, "brief")


def test_a_closed_grant_and_further_budgets_do_not_matter(book: Ledger) -> None:
    first = held(book)
    book.close_grant("clinic", "ana")
    book.create_budget("replaced", "4", neighbours=Neighbours(relation="replace-one"), population="clinic")
    book.grant("replaced", "ana", "2")
    taken = book.take_up(first.seq, *ASKED)
    assert isinstance(taken, Reservation)
    taken.commit(1)


def test_checkpoints_do_not_matter(book: Ledger, opened: Open) -> None:
    mark = book.make_mark()
    pending, answered = held(book, mark=mark), book.reserve("clinic", "ana", EVENT, None)
    answered.commit("whole")
    while book.head().seq < EVERY + 9:
        book.record_unbounded("clinic", "filler")
    other = opened()
    assert other.find_marked(mark) == pending.seq
    assert isinstance(other.take_up(pending.seq, *ASKED, mark=mark), Reservation)
    assert other.take_up(answered.seq, "clinic", "ana", EVENT).answer == "whole"


def test_a_mark_reserves_once(book: Ledger, opened: Open) -> None:
    mark = book.make_mark()
    assert book.find_marked(mark) == 0
    first = held(book, mark=mark)
    other = opened()
    assert other.find_marked(mark) == first.seq
    second = other.reserve(*ASKED, mark=mark)
    assert (type(second), second.seq) == (Reservation, first.seq)
    second.commit(3)
    assert first.seq == book.find_marked(mark)
    assert book.reserve(*ASKED, mark=mark).answer == 3
    assert kinds(book) == ["reserve", "commit"]


def test_without_a_mark_what_has_no_question_is_paid_for_twice(book: Ledger) -> None:
    """The negative control: nothing tells the two apart."""
    book.reserve("clinic", "ana", EVENT)
    book.reserve("clinic", "ana", EVENT)
    assert kinds(book) == ["reserve", "reserve"]


def test_a_mark_never_finds_what_somebody_else_reserved(book: Ledger) -> None:
    mine, theirs = book.make_mark(), book.make_mark()
    other = book.reserve("clinic", "ana", EVENT, None, mark=theirs)
    assert book.find_marked(mine) == 0
    with pytest.raises(LedgerUseError, match="something else"):
        book.take_up(other.seq, "clinic", "ana", EVENT, mark=mine)
    assert book.reserve("clinic", "ana", EVENT, None, mark=mine).seq != other.seq


def test_a_mark_in_a_question_is_no_mark(book: Ledger) -> None:
    mark = book.make_mark()
    book.reserve("clinic", "bob", EVENT, {"mark": mark.token})
    book.record_unbounded("clinic", f'"mark":"{mark.token}"')
    assert book.find_marked(mark) == book.find_marked(mark, "unbounded") == 0


def test_a_marked_question_is_replayed_to_those_without(book: Ledger) -> None:
    held(book, mark=book.make_mark()).commit(5)
    assert book.reserve(*ASKED).answer == 5
    assert book.reserve(*ASKED, mark=book.make_mark()).answer == 5


@pytest.mark.parametrize("kind", ["unbounded", "decision"])
def test_what_bears_a_mark_is_written_down_once(book: Ledger, opened: Open, kind: str) -> None:
    mark = book.make_mark()
    write = {"unbounded": Ledger.record_unbounded, "decision": Ledger.record_decision}[kind]
    first = write(book, "clinic", "a table", mark)
    assert write(opened(), "clinic", "a table", mark) == first
    assert kinds(book) == [kind]
    with pytest.raises(LedgerUseError, match="other words"):
        write(book, "clinic", "another table", mark)
    write(book, "clinic", "a table")
    assert kinds(book) == [kind, kind]
    assert book.verify().problems == []


def test_a_mark_of_another_ledger_or_of_a_newer_copy_is_refused(book: Ledger) -> None:
    mark = book.make_mark()
    with pytest.raises(LedgerUseError, match="another ledger"):
        book.reserve(*ASKED, mark=replace(mark, ledger="f" * 32))
    with pytest.raises(LedgerUseError, match="older copy"):
        book.find_marked(replace(mark, since=mark.since + 5))
    assert kinds(book) == []


@pytest.mark.parametrize("token", ["", "x" * 32, "A" * 32, "0" * 31, 7])
def test_what_is_no_mark_cannot_be_read(token: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        LedgerMark.from_dict({"ledger": "x", "token": token, "since": 4})


def test_marks_keep_their_form() -> None:
    mark = LedgerMark("book", "0" * 32, 7)
    assert LedgerMark.from_dict(mark.to_dict()) == mark


def test_entries_without_a_mark_keep_their_bytes(book: Ledger) -> None:
    book.reserve(*ASKED)
    book.record_unbounded("clinic", "a table")
    book.record_decision("clinic", "a table")
    assert not any("mark" in entry.body for entry in book.history())


def test_many_processes_with_one_mark_pay_once_and_one_answer_counts(book: Ledger, address: str) -> None:
    """They race freely: whoever comes first, one reservation and one answer are there in the end."""
    mark = book.make_mark()
    children = [_in_child(lambda number=number: _reserve_and_answer(address, mark, number)) for number in range(4)]
    ends = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert set(ends) <= {0, 3}
    assert ends.count(0) == 1
    assert kinds(book) == ["reserve", "commit"]
    assert book.verify().problems == []


def _reserve_and_answer(address: str, mark: LedgerMark, number: int) -> int:
    with Ledger.open(address) as own:
        found = own.reserve("clinic", "ana", EVENT, None, mark=mark)
        if isinstance(found, Replay):
            return 3
        try:
            found.commit(number)
        except LedgerUseError:
            return 3
    return 0


def test_whoever_is_killed_after_reserving_is_found_again(book: Ledger, address: str) -> None:
    mark = book.make_mark()

    def work() -> int:
        Ledger.open(address).reserve("clinic", "ana", EVENT, None, mark=mark)
        os.kill(os.getpid(), signal.SIGKILL)
        return 0

    assert os.waitstatus_to_exitcode(os.waitpid(_in_child(work), 0)[1]) == -signal.SIGKILL
    seq = book.find_marked(mark)
    taken = book.take_up(seq, "clinic", "ana", EVENT, mark=mark)
    taken.commit("late")
    assert kinds(book) == ["reserve", "commit"]


def _in_child(work: Callable[[], int]) -> int:
    child = os.fork()
    if child:
        return child
    try:
        os._exit(work())
    except BaseException:  # noqa: BLE001 - a child must never return into pytest
        os._exit(9)

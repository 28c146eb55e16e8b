"""Whoever is stopped between a desk and its clerk: an entry is written once or not at all, and nobody waits."""

import os
import random
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from clerks import ClerkElsewhere, alone, begin, ended, granted, in_child, keen

from ziggurat.ledger import Ledger, sharing
from ziggurat.ledger import _journal as journal
from ziggurat.ledger._entries import Unbounded
from ziggurat.ledger.sharing import _clerk, _desk
from ziggurat.privacy import Neighbours, PureEvent

TENTH = PureEvent(Neighbours(), "0.1")


@pytest.fixture(autouse=True)
def _keen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes look for a clerk from the start, and never stop; nothing here depends on how fast the machine is."""
    monkeypatch.setattr(_desk, "KEEN", 1e6)
    monkeypatch.setattr(_clerk, "IDLE", 1e6)
    monkeypatch.setattr(_desk, "SILENCE", 60.0)


def die(*_: object, **__: object) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def then_die(work: Callable[..., Any]) -> Callable[..., Any]:
    def wrapped(*arguments: Any, **named: Any) -> Any:
        work(*arguments, **named)
        die()

    return wrapped


STEPS: dict[str, tuple[object, str, Callable[[Any], Any]]] = {
    "heard, not yet decided": (journal.Journal, "_serve", lambda _: die),
    "decided, not yet announced": (_clerk.Commission, "announce", lambda _: die),
    "announced, not yet added": (_clerk.Commission, "announce", then_die),
    "added, not yet committed": (journal.Journal, "_write", then_die),
    "committed, not yet counted": (journal.Journal, "_fold", lambda _: die),
    "counted, not yet told": (_clerk.Commission, "finish", lambda _: die),
    "told": (_clerk.Commission, "finish", then_die),
}


def kill_clerk(address: str, step: str, monkeypatch: pytest.MonkeyPatch, of: str = "a reservation") -> list[str]:
    """Have a reservation or its answer written by a clerk that is killed at a step; give the kinds of what is there."""
    where, name, made = STEPS[step]
    with keen(address) as ledger:
        # Written by ourselves: the clerk of the answer is begun afterwards.
        earlier = None if of == "a reservation" else alone(ledger, lambda: ledger.reserve("clinic", "ana", TENTH, "q"))
        elsewhere = ClerkElsewhere(address, lambda: monkeypatch.setattr(where, name, made(getattr(where, name))))
        if earlier is None:
            reserved = ledger.reserve("clinic", "ana", TENTH, None)
            entry = ledger.entry(reserved.seq)
        else:
            entry = earlier.commit(41)
        assert ended(elsewhere.child) == -signal.SIGKILL
        os.close(elsewhere.leave)
        assert entry in ledger.history()
    with Ledger.open(address) as again:
        assert again.verify(whole=True).ok
        kinds = [each.kind for each in again.history()]
        assert again.left("clinic", "ana") == 1 - kinds.count("reserve") * TENTH.epsilon
    return kinds


@pytest.mark.parametrize("of", ["a reservation", "an answer"])
@pytest.mark.parametrize("step", STEPS)
def test_an_entry_is_written_once_whenever_the_clerk_is_killed(
    address: str, step: str, of: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    granted(address)
    kinds = kill_clerk(address, step, monkeypatch, of)
    assert kinds.count("reserve") == 1
    assert kinds.count("commit") == (of == "an answer")


def test_a_clerk_that_announces_nothing_has_an_entry_written_twice(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: without the announcement nobody could tell what a killed clerk has written."""
    granted(str(file))
    monkeypatch.setattr(_clerk.Commission, "announce", lambda _self, _entry: True)
    assert kill_clerk(str(file), "counted, not yet told", monkeypatch).count("reserve") == 2


def test_a_clerk_that_tells_before_the_commit_is_caught(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: a clerk that says "done" when it announces, and is killed, has told of what is not on disk."""
    granted(str(file))

    def hasty(self: Any, entry: Any) -> bool:
        told = self.visitor.announce(_clerk.frame_head(entry))
        self.finish(entry)
        die()
        return bool(told)

    monkeypatch.setitem(STEPS, "hasty", (_clerk.Commission, "announce", lambda _: hasty))
    with pytest.raises(Exception, match="There is no entry 4"):
        kill_clerk(str(file), "hasty", monkeypatch)


def test_an_entry_is_left_out_whose_desk_was_killed(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    granted(address)
    with keen(address) as ledger:

        def ask() -> None:
            with keen(address) as other:
                monkeypatch.setattr(_desk._Line, "_receive", die)
                other.reserve("clinic", "ana", TENTH)

        serve, children = ledger._journal._serve, list[int]()

        def serve_the_dead(others: Any = ()) -> None:
            if children:
                assert ended(children.pop()) == -signal.SIGKILL
            serve(others)

        monkeypatch.setattr(ledger._journal, "_serve", serve_the_dead)
        # The child is known before the clerk hears anybody.
        with ledger._journal._alone():
            begin(ledger)
            children.append(in_child(ask))
        while children:
            time.sleep(0.001)
        ledger.reserve("clinic", "ana", TENTH).commit(1)
        assert [each.kind for each in ledger.history()].count("reserve") == 1
        assert ledger.verify(whole=True).ok


def test_what_a_stopped_clerk_has_not_announced_it_never_writes(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that was suspended goes on an hour later with what it was asked for: nobody waits for that any more."""
    granted(address)
    monkeypatch.setattr(_desk, "SILENCE", 0.05)
    go, tell_to_go = os.pipe()
    over, tell = os.pipe()

    def rig() -> None:
        serve = journal.Journal._serve

        def serve_late(self: Any, others: Any = ()) -> None:
            os.read(go, 1)
            serve(self, others)
            os.write(tell, b"!")

        monkeypatch.setattr(journal.Journal, "_serve", serve_late)

    elsewhere = ClerkElsewhere(address, rig)
    with keen(address) as ledger:
        ledger.reserve("clinic", "ana", TENTH).commit(1)
        assert not ledger._journal.helped
        os.write(tell_to_go, b"!")
        assert os.read(over, 1) == b"!"
        assert [each.kind for each in ledger.history()] == ["genesis", "budget", "grant", "reserve", "commit"]
        assert ledger.verify(whole=True).ok
    assert elsewhere.end() == 0


def test_what_a_slow_clerk_has_announced_is_waited_for(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The desk loses patience after the announcement, and the clerk writes after that, however fast either is."""
    granted(address)
    announced, impatient = threading.Event(), threading.Event()
    write, receive, call_off = journal.Journal._write, _desk._Line._receive, _desk._Line._call_off

    def write_late(self: Any, *arguments: Any, **named: Any) -> Any:
        announced.set()
        impatient.wait()
        return write(self, *arguments, **named)

    def lose_patience(self: Any, size: int) -> bytes:
        if impatient.is_set():
            return receive(self, size)
        announced.wait()
        self._silent = True
        return b""

    def call_off_then(self: Any) -> Any:
        head = call_off(self)
        impatient.set()
        return head

    with keen(address) as ledger:
        begin(ledger)
        monkeypatch.setattr(journal.Journal, "_write", write_late)
        monkeypatch.setattr(_desk._Line, "_receive", lose_patience)
        monkeypatch.setattr(_desk._Line, "_call_off", call_off_then)
        order = sharing.order_entry(Unbounded("clinic", "a map"))
        entry = ledger._journal._desk.ask(order, ledger._journal._write_for_others)
        assert entry == ledger.history()[-1]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "touches"
    path.touch()
    return path


def _spend_on(address: str, log: Path, index: int) -> None:
    """Reserve, touch and answer until killed: a synced log stands for the data."""
    ledger, handle = keen(address), os.open(log, os.O_APPEND | os.O_WRONLY)
    while True:
        reservation = ledger.reserve("clinic", "ana", TENTH)
        os.write(handle, b"%d %d\n" % (reservation.seq, index))
        os.fsync(handle)
        reservation.commit(index)


def test_kills_at_any_moment_leave_every_touch_counted_once(address: str, log: Path) -> None:
    """Five processes, of which one after the other is killed, the clerk as likely as the rest, and replaced."""
    granted(address, 10**9)
    moments, children = (
        random.Random(11),
        {index: in_child(lambda i=index: _spend_on(address, log, i)) for index in range(5)},
    )
    for index in range(5, 25):
        size, until = log.stat().st_size, time.monotonic() + 60
        while log.stat().st_size < size + 40:
            assert time.monotonic() < until, "Nobody goes on."
            time.sleep(0.001)
        killed = moments.choice(sorted(children))
        os.kill(children[killed], signal.SIGKILL)
        assert ended(children.pop(killed)) == -signal.SIGKILL
        children[index] = in_child(lambda i=index: _spend_on(address, log, i))
    for child in children.values():
        os.kill(child, signal.SIGKILL)
        assert ended(child) == -signal.SIGKILL
    touched = [line.split() for line in log.read_text().splitlines()]
    with Ledger.open(address) as ledger:
        assert ledger.verify(whole=True).ok
        entries = ledger.history()
        reserved = {each.seq for each in entries if each.kind == "reserve"}
        answers = {each.data["reservation"]: each.data["answer"] for each in entries if each.kind == "commit"}
        assert ledger.left("clinic", "ana") == 10**9 - len(reserved) * TENTH.epsilon
    seqs = [int(seq) for seq, _ in touched]
    assert len(seqs) == len(set(seqs)), "Two processes were given the same reservation."
    assert set(seqs) <= reserved
    whose = {int(seq): int(index) for seq, index in touched}
    assert all(whose[seq] == answer for seq, answer in answers.items())

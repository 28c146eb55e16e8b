"""What a clerk writes for others is what they would have written themselves."""

import os
import socket
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from clerks import ClerkElsewhere, begin, ended, granted, in_child, keen

from ziggurat.errors import BudgetExceededError, LedgerError, PendingError
from ziggurat.ledger import Ledger, Replay
from ziggurat.ledger import _journal as journal
from ziggurat.ledger.sharing import _clerk, _desk, _messages, _place
from ziggurat.privacy import Neighbours, PureEvent, exact


def pure(epsilon: object) -> PureEvent:
    return PureEvent(Neighbours(), epsilon)


@pytest.fixture(autouse=True)
def _keen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_desk, "KEEN", 1e6)
    monkeypatch.setattr(journal, "KEEN", 1e6)
    monkeypatch.setattr(_clerk, "IDLE", 1e6)
    monkeypatch.setattr(_desk, "SILENCE", 60.0)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What came of the orders of this process."""
    answers: list[object] = []
    ask = journal.Journal._ask

    def listen(self: Any, order: Any) -> Any:
        answers.append(ask(self, order))
        return answers[-1]

    monkeypatch.setattr(journal.Journal, "_ask", listen)
    return answers


def test_spends_through_a_clerk_are_like_any_others(address: str, asked: list[object]) -> None:
    granted(address)
    elsewhere = ClerkElsewhere(address, lambda: None)
    with keen(address) as ledger:
        with ledger.spend("clinic", "ana", pure("0.4"), {"how": "many"}) as spend:
            entry = spend.commit({"value": [1, 2.5, None, "é\n\0"]})
        assert [each.kind for each in asked] == ["reserve", "commit"]
        assert entry == ledger.history()[-1] == asked[-1]
        replay = ledger.reserve("clinic", "ana", pure("0.4"), {"how": "many"})
        assert replay == Replay(entry)
        open_one = ledger.reserve("clinic", "ana", pure("0.1"), "again", ttl=60, rehearsal=True)
        assert (open_one.table, open_one.event, open_one.rehearsal) == ("clinic", pure("0.1"), True)
        with pytest.raises(PendingError, match=f"reservation {open_one.seq}"):
            ledger.reserve("clinic", "ana", pure("0.1"), "again", rehearsal=True)
        open_one.abandon()
        with pytest.raises(LedgerError, match="given up already"):
            open_one.abandon()
        with pytest.raises(BudgetExceededError, match="nothing was read"):
            ledger.reserve("clinic", "ana", pure("0.6"))
        assert ledger.left("clinic", "ana") == exact("0.5")
        assert ledger.verify(whole=True).ok
    assert elsewhere.end() == 0


def test_a_large_answer_and_one_with_odd_text_are_written_without_a_clerk_or_with_one(address: str) -> None:
    granted(address)
    elsewhere = ClerkElsewhere(address, lambda: None)
    with keen(address) as ledger:
        for number, answer in enumerate(["x" * 70_000, "x" * 65_500, "\ud800", {"a": ["'", '"', "\\", "%s", "$1"]}]):
            reservation = ledger.reserve("clinic", "ana", pure("0.1"), number)
            reservation.commit(answer)
            assert ledger.reserve("clinic", "ana", pure("0.1"), number).answer == answer
        assert ledger.verify(whole=True).ok
    assert elsewhere.end() == 0


def test_eight_racing_processes_with_clerks_are_granted_exactly_what_fits(address: str) -> None:
    granted(address, "4.1")

    def greedy() -> None:
        ledger, count = keen(address), 0
        while True:
            try:
                ledger.reserve("clinic", "ana", pure("0.1")).commit(os.getpid())
            except BudgetExceededError:
                os._exit(count)
            count += 1

    children = [in_child(greedy) for _ in range(8)]
    assert sum(ended(child) for child in children) == 41
    with Ledger.open(address) as ledger:
        assert ledger.left("clinic", "ana") == 0
        assert ledger.verify(whole=True).require().entries == 3 + 2 * 41


def test_threads_of_one_process_ask_side_by_side(address: str, asked: list[object]) -> None:
    granted(address, 10)
    with keen(address) as ledger:

        def work() -> None:
            for _ in range(5):
                ledger.reserve("clinic", "ana", pure("0.1")).commit(1)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert None not in asked
        assert len({each.seq for each in asked}) == len(asked) == 40
        assert ledger.verify(whole=True).ok


def test_a_question_from_before_a_checkpoint_is_still_answered(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "EVERY", 6)
    granted(address)
    with keen(address) as ledger:
        for number in range(5):
            ledger.reserve("clinic", "ana", pure("0.1"), number).commit(number)
        assert ledger._journal.seen.base
        assert [ledger.reserve("clinic", "ana", pure("0.1"), n).answer for n in range(5)] == list(range(5))
        assert ledger.left("clinic", "ana") == exact("0.5")
        assert ledger.verify(whole=True).ok


def test_a_ledger_with_a_witness_is_written_by_each_for_himself(
    file: Path, witness_folder: Path, asked: list[object]
) -> None:
    granted(str(file))
    elsewhere = ClerkElsewhere(str(file), lambda: None)
    with Ledger.open(file) as ledger:
        ledger.name_witness(witness_folder)
    with keen(str(file)) as ledger:
        ledger.reserve("clinic", "ana", pure("0.1")).commit(1)
        assert asked == [None, None]
        assert "has seen all" in ledger.verify().notes[-1]
    assert elsewhere.end() == 0


def test_nobody_asks_who_has_seen_nobody_else(file: Path) -> None:
    granted(str(file))
    with Ledger.open(file) as ledger, Ledger.open(file) as other:
        ledger.reserve("clinic", "ana", pure("0.1")).commit(1)
        assert not ledger._journal.helped
        other.reserve("clinic", "ana", pure("0.1")).commit(1)
        ledger.reserve("clinic", "ana", pure("0.1")).commit(1)
        assert ledger._journal.helped


def test_whoever_may_only_read_asks_nobody(file: Path) -> None:
    granted(str(file))
    with Ledger.open(file, read_only=True) as ledger:
        ledger._journal._desk.notice()
        assert not ledger._journal.helped


def test_nonsense_is_answered_no_and_hurts_nobody(file: Path) -> None:
    granted(str(file))
    with keen(str(file)) as ledger:
        begin(ledger)
        for order in (
            "",
            "{}",
            "[",
            '{"entry":["genesis",{}]}',
            '{"reserve":[]}',
            '{"entry":["budget",3]}',
            "9" * 5000,
        ):
            line = _desk._Line(_place.reach(ledger._journal._desk._place, 60))
            assert line.ask(order, 60) is None
            line.close()
        raw = _place.reach(ledger._journal._desk._place, 60)
        raw.sendall(b"no handle comes with this")
        with suppress(ConnectionResetError):  # what was sent was not read
            assert raw.recv(1) == b""
        raw.close()
        ledger.reserve("clinic", "ana", pure("0.1")).commit(1)
        assert len(ledger.history()) == 5


def test_a_clerk_closes_when_nobody_else_asks(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    granted(str(file))
    monkeypatch.setattr(_clerk, "IDLE", 0.01)
    with keen(str(file)) as ledger:
        clerk = begin(ledger)
        clerk._thread.join()
        assert not clerk.running
        assert begin(ledger) is not clerk


def test_there_is_one_clerk_at_a_place(file: Path) -> None:
    granted(str(file))
    with keen(str(file)) as ledger, keen(str(file)) as other:
        begin(ledger)
        place = other._journal._desk._find_place()
        assert place == ledger._journal._desk._find_place()
        assert not other._journal._desk._begin(place, other._journal._write_for_others)
        other.reserve("clinic", "ana", pure("0.1")).commit(1)
        ledger.close()
        other.reserve("clinic", "ana", pure("0.1")).commit(1)
        assert other._journal._desk._clerk.running
        assert other.verify(whole=True).ok


def test_a_child_keeps_nothing_of_its_parents_clerk(file: Path) -> None:
    granted(str(file))
    with keen(str(file)) as ledger:
        clerk = begin(ledger)
        handle = clerk._handle

        def work() -> None:
            with pytest.raises(OSError, match="Bad file descriptor"):
                os.fstat(handle)
            assert clerk._listening.fileno() == -1
            ledger.reserve("clinic", "ana", pure("0.1")).commit(1)

        assert ended(in_child(work)) == 0
        ledger.reserve("clinic", "ana", pure("0.1")).commit(1)
        assert clerk.running
        assert ledger.left("clinic", "ana") == exact("0.8")


def test_a_folder_that_others_may_use_is_no_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_place, "_LONGEST", 4096)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert _place.find_place(("a",)) is not None
    assert _place.find_place(("a",)) != _place.find_place(("b",))
    assert _place.find_place(()) is None
    (folder,) = tmp_path.iterdir()
    folder.chmod(0o777)
    assert _place.find_place(("a",)) is None
    folder.rmdir()
    folder.symlink_to(tmp_path)
    assert _place.find_place(("a",)) is None


def test_only_those_meet_whose_notes_on_witnesses_lie_in_one_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever knows of a witness refuses what somebody would write who does not: so the folder counts, not its name."""
    monkeypatch.setattr(_place, "_LONGEST", 4096)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    places = []
    for settings, home, here in (("", "a", "."), ("", "b", "."), ("notes", "a", "a"), ("notes", "a", "b")):
        (tmp_path / home).mkdir(exist_ok=True)
        (tmp_path / here).mkdir(exist_ok=True)
        monkeypatch.setenv("ZIGGURAT_SETTINGS", settings)
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / home))
        monkeypatch.chdir(tmp_path / here)
        places.append(_place.find_place(("a",)))
    assert None not in places
    assert len(set(places)) == 4


def test_without_a_place_everybody_writes_for_himself(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    granted(str(file))
    monkeypatch.setattr(_place, "_find_folder", lambda: None)
    with keen(str(file)) as ledger:
        ledger.reserve("clinic", "ana", pure("0.1")).commit(1)
        assert not ledger._journal.helped
        assert ledger.verify(whole=True).ok


def test_a_text_arrives_whole_however_it_is_cut() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        inbox, sent = _messages.Inbox(theirs), ["", "é", "x" * 1000]
        data = b"".join(map(_messages.frame, sent))
        read: list[str] = []
        for place in range(0, len(data), 7):
            ours.sendall(data[place : place + 7])
            assert inbox.fill()
            while (text := inbox.next()) is not None:
                read.append(text)
        assert read == sent

"""Whoever is stopped between the ledger and its witness, at any step, has spent at least what was read."""

import errno
import os
import resource
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ziggurat.errors import LedgerError, LedgerUseError, WitnessError
from ziggurat.ledger import Ledger, verify_ledger
from ziggurat.ledger import _journal as journal
from ziggurat.ledger.witness import _folder as folder
from ziggurat.ledger.witness import _guard as guard
from ziggurat.privacy import Neighbours, PureEvent

TENTH = PureEvent(Neighbours(), "0.1")


def die(*_: object) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def then_die(work: Callable[..., Any]) -> Callable[..., Any]:
    def wrapped(*arguments: Any, **named: Any) -> Any:
        work(*arguments, **named)
        die()

    return wrapped


def killed(work: Callable[[], object]) -> None:
    """Run `work` in a child and see that it killed itself."""
    child = os.fork()
    if not child:
        try:
            work()
        except BaseException:  # noqa: BLE001 - a child must never return into pytest
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def watched(address: str, place: str) -> None:
    with Ledger.open(address) as ledger:
        ledger.create_budget("clinic", 1)
        ledger.grant("clinic", "ana", 1)
        ledger.name_witness(place)


def require_sound(address: str, spent: int) -> None:
    """What was announced counts, once; the ledger verifies and goes on."""
    with Ledger.open(address) as ledger:
        assert ledger.left("clinic", "ana") == 1 - spent * TENTH.epsilon
        assert ledger.verify().ok
        ledger.reserve("clinic", "ana", TENTH).commit(1)
        assert ledger.left("clinic", "ana") == 1 - (spent + 1) * TENTH.epsilon
        found = ledger.verify()
        assert found.ok
        assert "has seen all" in found.notes[-1]


# The place at which a spend is stopped, and whether its reservation was announced by then.
STEPS: dict[str, tuple[object, str, Callable[[Any], Any], int]] = {
    "inserted, not yet announced": (guard.Guard, "announce", lambda _: die, 0),
    "announced, not yet committed": (guard.Guard, "announce", then_die, 1),
    "committed, not yet counted": (journal.Journal, "_fold", lambda _: die, 1),
    "reserved, not yet confirmed": (guard.Guard, "confirm", lambda _: die, 1),
    "reserved and gone on": (guard.Guard, "confirm", then_die, 1),
}


@pytest.mark.parametrize("step", STEPS)
def test_a_kill_at_any_step_of_a_reservation(
    address: str, witness_place: str, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    where, name, made, spent = STEPS[step]
    watched(address, witness_place)

    def work() -> None:
        with Ledger.open(address) as ledger:
            monkeypatch.setattr(where, name, made(getattr(where, name)))
            ledger.reserve("clinic", "ana", TENTH)

    killed(work)
    require_sound(address, spent)


@pytest.mark.parametrize("step", STEPS)
def test_a_kill_at_any_step_of_an_answer(
    address: str, witness_place: str, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    where, name, made, _ = STEPS[step]
    watched(address, witness_place)

    def work() -> None:
        with Ledger.open(address) as ledger:
            reservation = ledger.reserve("clinic", "ana", TENTH)
            monkeypatch.setattr(where, name, made(getattr(where, name)))
            reservation.commit(41)

    killed(work)
    require_sound(address, 1)


def torn(monkeypatch: pytest.MonkeyPatch, share: float) -> None:
    """Die after a share of the line was written."""
    write = os.pwrite

    def part(handle: int, data: bytes, offset: int) -> int:
        write(handle, data[: int(len(data) * share)], offset)
        return int(die())

    monkeypatch.setattr(os, "pwrite", part)


@pytest.mark.parametrize(("share", "spent"), [(0, 0), (0.1, 0), (0.999, 0), (1, 1)])
@pytest.mark.parametrize("of", ["a reservation", "an answer"])
def test_a_kill_in_the_middle_of_a_line(
    file: Path, witness_folder: Path, of: str, share: float, spent: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched(str(file), str(witness_folder))

    def work() -> None:
        with Ledger.open(file) as ledger:
            reservation = ledger.reserve("clinic", "ana", TENTH) if of == "an answer" else None
            torn(monkeypatch, share)
            if reservation is None:
                ledger.reserve("clinic", "ana", TENTH)
            else:
                reservation.commit(1)

    killed(work)
    require_sound(str(file), 1 if of == "an answer" else spent)


@pytest.mark.parametrize("tail", [b"\0" * 900, b"\0" * 400 + b'"}\n', b'{"ledger":"x', b"\0\n\0\n"])
def test_what_a_power_cut_leaves_of_an_answers_receipt_is_removed(
    file: Path, witness_folder: Path, tail: bytes
) -> None:
    """An answer's receipt is not synced: zeros, or half of it, may stand in its place afterwards."""
    watched(str(file), str(witness_folder))
    (log,) = witness_folder.glob("*/receipts.jsonl")
    with Ledger.open(file) as ledger:
        reservation = ledger.reserve("clinic", "ana", TENTH)
        before = log.read_bytes()
        reservation.commit(1)
    log.write_bytes(before + tail)
    require_sound(str(file), 1)
    assert b"\0" not in log.read_bytes()


def test_a_full_disk_at_the_witness_spends_nothing(
    file: Path, witness_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched(str(file), str(witness_folder))
    (log,) = witness_folder.glob("*/receipts.jsonl")
    before, write = log.read_bytes(), os.pwrite

    def full(handle: int, data: bytes, offset: int) -> int:
        write(handle, data[:100], offset)
        raise OSError(errno.ENOSPC, "full")

    with Ledger.open(file) as ledger:
        with monkeypatch.context() as patch:
            patch.setattr(os, "pwrite", full)
            with pytest.raises(WitnessError, match=r"No space left on device.*nothing was read") as caught:
                ledger.reserve("clinic", "ana", TENTH)
        assert str(witness_folder) in str(caught.value)
        assert log.read_bytes() == before
        assert ledger.left("clinic", "ana") == 1
    require_sound(str(file), 0)


def test_a_full_disk_at_the_ledger_after_the_announcement_counts_as_spent(file: Path, witness_folder: Path) -> None:
    """A limit on the size of files stands for the disk: the long log of the ledger meets it, not the short receipt."""
    watched(str(file), str(witness_folder))
    child = os.fork()
    if not child:
        try:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            ledger = Ledger.open(file)
            for _ in range(5):
                ledger.reserve("clinic", "ana", TENTH)
            room = file.with_name(file.name + "-wal").stat().st_size
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
            with pytest.raises(LedgerError, match="the witness was told of it, so it will count as spent"):
                ledger.reserve("clinic", "ana", TENTH)
            os._exit(0)
        except BaseException:  # noqa: BLE001 - a child must never return into pytest
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    require_sound(str(file), 6)


def test_an_unfinished_spend_is_reported_until_the_ledger_is_used(
    file: Path, witness_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched(str(file), str(witness_folder))

    def work() -> None:
        with Ledger.open(file) as ledger:
            monkeypatch.setattr(guard.Guard, "announce", then_die(guard.Guard.announce))
            ledger.reserve("clinic", "ana", TENTH)

    killed(work)
    (problem,) = verify_ledger(file).problems
    assert str(problem).startswith("Entry 5 was announced to the witness and is missing")
    assert "its writer was stopped half-way" in str(problem)
    with Ledger.open(file, read_only=True) as read:
        assert read.head().seq == 4
    with Ledger.open(file) as ledger:
        assert ledger.head().seq == 5
    assert verify_ledger(file).ok


def test_an_unfinished_spend_of_another_process_is_put_back_before_ones_own(
    address: str, witness_place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched(address, witness_place)

    def work() -> None:
        with Ledger.open(address) as other:
            monkeypatch.setattr(guard.Guard, "announce", then_die(guard.Guard.announce))
            other.reserve("clinic", "ana", TENTH)

    with Ledger.open(address) as ledger:
        for turn in range(3):
            killed(work)
            reserved = ledger.reserve("clinic", "ana", TENTH)
            assert reserved.seq == 6 + 2 * turn
        assert ledger.left("clinic", "ana") == 1 - 6 * TENTH.epsilon
        assert ledger.verify().ok


def test_a_spend_on_its_way_is_not_taken_for_one_that_was_cut_off(address: str, witness_place: str) -> None:
    """Others verify again and again while a process spends; between announcement and commit they wait for it."""
    watched(address, witness_place)
    child = os.fork()
    if not child:
        with Ledger.open(address) as ledger:
            for _ in range(10):
                ledger.reserve("clinic", "ana", TENTH).commit(1)
        os._exit(0)
    try:
        while os.waitpid(child, os.WNOHANG) == (0, 0):
            assert verify_ledger(address).problems == []
    except BaseException:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise
    assert verify_ledger(address).entries == 24


def test_naming_that_was_stopped_is_taken_up(address: str, witness_place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Ledger.open(address) as ledger:
        ledger.create_budget("clinic", 1)
        ledger.grant("clinic", "ana", 1)

    def work() -> None:
        with Ledger.open(address) as other:
            monkeypatch.setattr(guard.Guard, "announce", then_die(guard.Guard.announce))
            other.name_witness(witness_place)

    killed(work)
    with Ledger.open(address) as ledger:
        assert ledger.head().seq == 3
        assert ledger.name_witness(witness_place).seen == 4
        assert ledger.head().seq == 4
    require_sound(address, 0)


def test_naming_that_was_stopped_is_not_taken_up_over_other_entries(
    file: Path, witness_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ledger that went on without its witness may as well have been rewritten; nobody can tell."""
    Ledger.open(file).close()

    def work() -> None:
        with Ledger.open(file) as other:
            monkeypatch.setattr(guard.Guard, "announce", then_die(guard.Guard.announce))
            other.name_witness(witness_folder)

    killed(work)
    with Ledger.open(file) as ledger:
        ledger.create_budget("clinic", 1)
        with pytest.raises(LedgerUseError, match="another history"):
            ledger.name_witness(witness_folder)


@pytest.mark.parametrize("step", ["the old one was told", "the new one has begun"])
def test_a_handing_over_that_was_stopped_is_taken_up(
    file: Path, witness_folder: Path, tmp_path: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched(str(file), str(witness_folder))
    (tmp_path / "new").mkdir()

    def work() -> None:
        with Ledger.open(file) as other:
            begin = guard.Guard.begin
            monkeypatch.setattr(guard.Guard, "begin", die if step == "the old one was told" else then_die(begin))
            other.name_witness(tmp_path / "new")

    killed(work)
    with Ledger.open(file) as ledger:
        assert ledger.witness().where == str(tmp_path / "new")
        assert ledger.name_witness(tmp_path / "new").seen == 5
    require_sound(str(file), 0)


def test_a_stopped_writer_does_not_hold_up_the_witness(
    file: Path, witness_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy of the ledger whose process dies while it holds the file leaves it free for others."""
    watched(str(file), str(witness_folder))
    shutil.copy(file, tmp_path / "copy.db")

    def work() -> None:
        with Ledger.open(tmp_path / "copy.db") as other:
            torn(monkeypatch, 0.5)
            other.reserve("clinic", "ana", TENTH)

    killed(work)
    require_sound(str(file), 0)


def test_a_witness_held_by_somebody_is_waited_for_no_longer_than_asked(witness_folder: Path, file: Path) -> None:
    import fcntl

    watched(str(file), str(witness_folder))
    (log,) = witness_folder.glob("*/receipts.jsonl")
    witness = folder.FolderWitness(str(witness_folder), log.parent.name, timeout=0.01)
    last = witness.last()
    assert last is not None
    with log.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(WitnessError, match="in use by another writer"):
            witness.extend([last], durable=True)

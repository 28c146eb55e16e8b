"""The file of a ledger: recognised, private, durable, and never quietly replaced."""

import os
import resource
import signal
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ziggurat.errors import LedgerCorruptError, LedgerError
from ziggurat.ledger import Ledger, verify_ledger
from ziggurat.privacy import Neighbours, PureEvent, exact

EVENT = PureEvent(Neighbours(), "0.1")


def in_child(work: Callable[[], None]) -> int:
    """Run `work` in a forked child; 0 if it raised nothing."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        work()
        os._exit(0)
    except BaseException:  # noqa: BLE001 - a child must never return into pytest
        os._exit(1)


def test_the_file_is_private_durable_and_recognisable(ledger: Ledger, file: Path) -> None:
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    connection = ledger._journal.store._live()
    settings = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]
    assert settings == ["wal", 2]
    assert connection.execute("PRAGMA application_id").fetchone()[0] == 0x5A696767


def test_nothing_else_is_left_beside_a_closed_ledger(ledger: Ledger, file: Path) -> None:
    ledger.close()
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize("form", ["sqlite:///{}", "{}"])
def test_an_address_may_be_a_file_or_a_url(tmp_path: Path, form: str) -> None:
    file = tmp_path / "a b%c#d?e.db"
    text = str(file).replace("%", "%25") if form.startswith("sqlite") else str(file)
    Ledger.open(form.format(text)).close()
    assert file.exists()


def test_an_emptied_file_is_never_filled_anew(file: Path) -> None:
    file.touch()
    with pytest.raises(LedgerCorruptError, match="empty"):
        Ledger.open(file)
    assert file.stat().st_size == 0


@given(content=st.binary(min_size=1, max_size=300))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_of_garbage_is_refused_in_one_sentence(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    with pytest.raises(LedgerError) as caught:
        Ledger.open(file)
    assert str(caught.value).endswith(".")
    assert file.read_bytes() == content


@pytest.mark.parametrize("kept", [10, 100, 1000, 4096, 8192, 12000])
def test_a_truncated_file_is_refused(ledger: Ledger, file: Path, kept: int) -> None:
    for _ in range(10):
        ledger.reserve("clinic", "ana", EVENT)
    ledger.close()
    file.write_bytes(file.read_bytes()[:kept])
    with pytest.raises(LedgerError):
        Ledger.open(file)


def test_another_database_is_refused(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE entries (seq)")
    with pytest.raises(LedgerError, match="not a ledger"):
        Ledger.open(file)


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="not a file"):
        Ledger.open(tmp_path)
    with pytest.raises(LedgerError, match="does not exist"):
        Ledger.open(tmp_path / "no" / "ledger.db")


@pytest.mark.parametrize("name", ["x" * 300, "ledger.db/inside"])
def test_an_impossible_name_is_refused(ledger: Ledger, file: Path, name: str) -> None:
    with pytest.raises(LedgerError):
        Ledger.open(file.parent / name)
    with pytest.raises(LedgerError):
        Ledger.open(file.parent / name, create=False)


def test_a_ledger_of_a_later_format_is_refused(ledger: Ledger, file: Path) -> None:
    ledger.close()
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA user_version = 2")
    with pytest.raises(LedgerError, match="format 1, not 2"):
        Ledger.open(file)


@pytest.mark.parametrize("ending", ["-wal", "-journal"])
def test_remains_of_another_ledger_are_not_mixed_into_a_new_one(file: Path, ending: str) -> None:
    file.with_name(file.name + ending).write_bytes(b"x")
    with pytest.raises(LedgerError, match="Remains"):
        Ledger.open(file)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody without permission")
def test_a_folder_without_permission_is_refused(ledger: Ledger, file: Path) -> None:
    ledger.close()
    file.parent.chmod(0o700)

    def work() -> None:
        os.setuid(65534)
        with pytest.raises(LedgerError, match="permission"):
            Ledger.open(file)

    assert in_child(work) == 0


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody without permission")
@pytest.mark.parametrize("mode", [0o000, 0o444])
def test_a_file_without_permission_is_refused(ledger: Ledger, file: Path, mode: int) -> None:
    ledger.close()
    file.chmod(mode)
    for folder in list(file.parents)[:-1]:
        folder.chmod(folder.stat().st_mode | 0o755)

    def work() -> None:
        os.setuid(65534)
        with pytest.raises(LedgerError, match=r"permission|may not be written|cannot be opened"):
            Ledger.open(file, create=False).create_budget("harbour", 1)

    assert in_child(work) == 0


def test_a_ledger_that_was_moved_away_takes_no_reservation(ledger: Ledger, file: Path) -> None:
    file.rename(file.with_name("elsewhere.db"))
    with pytest.raises(LedgerError, match="moved or replaced"):
        ledger.reserve("clinic", "ana", EVENT)


def test_a_ledger_in_use_by_another_writer_is_refused_in_time(ledger: Ledger, file: Path) -> None:
    with Ledger.open(file, timeout=0.05) as impatient, closing(sqlite3.connect(file)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match="another writer"):
            impatient.reserve("clinic", "ana", EVENT)
    assert ledger.left("clinic", "ana") == 1


def test_a_full_disk_at_reserve_records_nothing(ledger: Ledger, file: Path) -> None:
    connection = ledger._journal.store._live()
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(LedgerError, match="disk is full"):
        ledger.reserve("clinic", "ana", EVENT, "long " * 5000)
    assert ledger.left("clinic", "ana") == 1
    connection.execute(f"PRAGMA max_page_count = {pages + 1000}")
    ledger.reserve("clinic", "ana", EVENT, "long " * 5000)
    assert ledger.verify().ok


def test_a_full_disk_at_commit_keeps_the_reservation_spent(ledger: Ledger) -> None:
    connection = ledger._journal.store._live()
    reservation = ledger.reserve("clinic", "ana", EVENT)
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(LedgerError, match="disk is full"):
        reservation.commit("answer " * 5000)
    assert ledger.left("clinic", "ana") == exact("0.9")
    assert ledger.statement("clinic").grants[0].pending == 1


def test_a_disk_that_fails_under_the_file_leaves_it_whole(ledger: Ledger, file: Path) -> None:
    """A limit on the size of files stands for the disk: writes fail in the middle, as far down as can be."""
    ledger.close()

    def work() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
        with Ledger.open(file) as small, pytest.raises(LedgerError, match="disk"):
            _reserve_for_ever(small)

    assert in_child(work) == 0
    assert verify_ledger(file).ok
    with Ledger.open(file) as again:
        again.reserve("clinic", "ana", EVENT).commit(1)
        assert again.verify().ok


def _reserve_for_ever(ledger: Ledger) -> None:
    for number in count():
        ledger.reserve("clinic", "ana", PureEvent(Neighbours(), "1e-6"), ["long " * 200, number])

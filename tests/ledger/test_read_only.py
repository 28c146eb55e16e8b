"""A ledger can be read where it cannot be written."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ziggurat.errors import LedgerError, LedgerUseError
from ziggurat.ledger import Ledger, verify_ledger
from ziggurat.ledger.storage._sqlite_file import raise_ours
from ziggurat.privacy import Neighbours, PureEvent

EVENT = PureEvent(Neighbours(), "0.1")

as_somebody_else = pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody without permission")


def as_nobody(work: object) -> int:
    """Run `work` in a child that owns nothing; 0 if it raised nothing."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        os.setuid(65534)
        work()  # type: ignore[operator]
        os._exit(0)
    except BaseException:  # noqa: BLE001 - a child must never return into pytest
        os._exit(1)


def seal(file: Path) -> None:
    """Let everybody read the file and its folder, and nobody but their owner write."""
    for folder in list(file.parents)[:-1]:
        folder.chmod(folder.stat().st_mode | 0o055)
    for item in file.parent.glob(f"{file.name}*"):
        item.chmod(0o444)
    file.parent.chmod(0o555)


@as_somebody_else
def test_a_ledger_in_a_sealed_folder_is_verified_shown_and_quoted(ledger: Ledger, file: Path) -> None:
    ledger.close()
    seal(file)

    def work() -> None:
        assert verify_ledger(file).ok
        with Ledger.open(file, read_only=True) as read:
            assert read.left("clinic", "ana") == 1
            assert read.quote("clinic", "ana", EVENT).fits
            assert len(read.history("clinic")) == 2
            assert read.verify().ok
            with pytest.raises(LedgerUseError, match="reading only"):
                read.reserve("clinic", "ana", EVENT)

    assert as_nobody(work) == 0
    assert list(file.parent.iterdir()) == [file]


@as_somebody_else
def test_newest_entries_that_are_only_in_the_log_are_read(ledger: Ledger, file: Path, tmp_path: Path) -> None:
    """What was not yet moved from the log into the file must never be missing from what is shown."""
    link = tmp_path / "elsewhere" / "link.db"
    link.parent.mkdir()
    link.symlink_to(file)
    ledger.reserve("clinic", "ana", EVENT)
    seal(file)

    def work() -> None:
        for path in (file, link):
            with Ledger.open(path, read_only=True) as read:
                assert read.head().seq == 4

    assert as_nobody(work) == 0


@as_somebody_else
def test_a_log_that_cannot_be_read_where_it_lies_is_never_left_out(ledger: Ledger, file: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy" / "ledger.db"
    copy.parent.mkdir()
    for ending in ("", "-wal"):
        copy.with_name(copy.name + ending).write_bytes(file.with_name(file.name + ending).read_bytes())
    seal(copy)

    def work() -> None:
        with pytest.raises(LedgerError, match="'-wal' file beside it") as caught:
            verify_ledger(copy)
        assert "recorded" not in str(caught.value)

    assert as_nobody(work) == 0


def test_reading_changes_nothing_and_leaves_nothing_behind(ledger: Ledger, file: Path) -> None:
    ledger.close()
    before = file.read_bytes()
    with Ledger.open(file, read_only=True) as read:
        assert read.statement("clinic").sentences()
        with pytest.raises(LedgerUseError, match="reading only"):
            read.create_budget("harbour", 1)
    assert verify_ledger(file).ok
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]


def test_reading_sees_what_others_write(ledger: Ledger, file: Path) -> None:
    with Ledger.open(file, read_only=True) as read:
        ledger.reserve("clinic", "ana", EVENT)
        assert read.left("clinic", "ana") == ledger.left("clinic", "ana")


def test_reading_does_not_create(file: Path) -> None:
    with pytest.raises(LedgerUseError, match="There is no ledger"):
        Ledger.open(file, read_only=True)
    assert not file.exists()


@pytest.mark.postgres
def test_a_ledger_in_postgres_opened_for_reading_refuses_to_write(postgres: str) -> None:
    with Ledger.open(postgres) as ledger:
        ledger.create_budget("clinic", 1)
    with Ledger.open(postgres, read_only=True) as read:
        assert read.verify().ok
        with pytest.raises(LedgerUseError, match="reading only"):
            read.grant("clinic", "ana", 1)


@pytest.mark.parametrize("code", [sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_ERROR])
def test_a_failure_to_read_does_not_speak_of_recording(code: int) -> None:
    error = sqlite3.OperationalError("secret")
    error.sqlite_errorcode = code
    with pytest.raises(LedgerError) as caught:
        raise_ours("The ledger", error, writing=False)
    assert "recorded" not in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_missing_table_is_reported_and_does_not_speak_of_recording(ledger: Ledger, file: Path) -> None:
    ledger.close()
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("DROP TABLE entries")
    problems = [str(problem) for problem in verify_ledger(file).problems]
    assert "cannot be read" in problems[0]
    assert not any("recorded" in problem for problem in problems)

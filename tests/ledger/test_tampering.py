"""Whatever is changed in the file, verification finds it, at the right entry."""

import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ziggurat.errors import LedgerCorruptError
from ziggurat.ledger import Ledger, canonical, generate_key, verify_ledger
from ziggurat.ledger._chain import NO_LINK, digest
from ziggurat.privacy import Neighbours, PureEvent

COLUMNS = ("time", "kind", "body", "previous", "hash")


def fill(file: Path) -> None:
    """Nine entries, of every kind but one."""
    with Ledger.open(file) as ledger:
        ledger.create_budget("clinic", "2")
        ledger.grant("clinic", "ana", "1")
        with ledger.spend("clinic", "ana", PureEvent(Neighbours(), "0.5"), "q") as spend:
            spend.commit({"value": 41})
        ledger.reserve("clinic", "ana", PureEvent(Neighbours(), "0.5"), "r")
        ledger.record_unbounded("clinic", "a map")
        ledger.close_grant("clinic", "ana")
        ledger.grant("clinic", "bob", "1")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a small ledger."""
    file = tmp_path_factory.mktemp("whole") / "ledger.db"
    fill(file)
    return file.read_bytes()


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


def rewrite(file: Path, change: Callable[[list[dict[str, Any]]], None], start: int = 1) -> None:
    """Change the bodies and rehash everything from `start` on, as a forger would."""
    with raw(file) as connection:
        rows = connection.execute("SELECT seq, time, kind, body FROM entries ORDER BY seq").fetchall()
        entries = [{"time": row[1], "kind": row[2], "body": json.loads(row[3])} for row in rows]
        change(entries)
        connection.execute("DELETE FROM entries")
        link = NO_LINK
        for seq, entry in enumerate(entries, 1):
            body = entry["body"] if isinstance(entry["body"], str) else canonical(entry["body"], "body")
            own = digest(seq, entry["time"], entry["kind"], body, link)
            row = (seq, entry["time"], entry["kind"], body, link, own)
            connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)", row)
            link = own


def first_problem(file: Path) -> tuple[int, str]:
    problem = verify_ledger(file).problems[0]
    return problem.seq, problem.what


def test_an_untouched_ledger_verifies(file: Path, whole: bytes) -> None:
    file.write_bytes(whole)
    verification = verify_ledger(file)
    assert (verification.ok, verification.entries) == (True, 9)
    assert verification.notes[0] == "The table clinic had 1 release without a guarantee, which no budget covers."


def test_triggers_refuse_accidents(file: Path) -> None:
    fill(file)
    with closing(sqlite3.connect(file)) as connection:
        for statement in ("UPDATE entries SET time = ''", "DELETE FROM entries"):
            with pytest.raises(sqlite3.DatabaseError, match="never"):
                connection.execute(statement)


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("seq", range(1, 10))
def test_a_changed_field_is_found_at_its_entry(file: Path, whole: bytes, seq: int, column: str) -> None:
    for position in (0, 1, -1):
        file.write_bytes(whole)
        with raw(file) as connection:
            (text,) = connection.execute(f"SELECT {column} FROM entries WHERE seq = ?", (seq,)).fetchone()
            changed = bytearray(text.encode())
            changed[position] ^= 1
            update = f"UPDATE entries SET {column} = CAST(? AS TEXT) WHERE seq = ?"
            connection.execute(update, (bytes(changed), seq))
        assert first_problem(file)[0] == seq
        with pytest.raises(LedgerCorruptError, match=f"entry {seq}"):
            Ledger.open(file)


@given(
    seq=st.integers(1, 9),
    column=st.sampled_from(COLUMNS),
    place=st.floats(0, 1, exclude_max=True),
    flip=st.integers(1, 255),
)
@settings(max_examples=80, deadline=None)
def test_any_flipped_byte_is_found(
    tmp_path_factory: pytest.TempPathFactory, whole: bytes, seq: int, column: str, place: float, flip: int
) -> None:
    file = tmp_path_factory.mktemp("flip") / "ledger.db"
    file.write_bytes(whole)
    with raw(file) as connection:
        (text,) = connection.execute(f"SELECT CAST({column} AS BLOB) FROM entries WHERE seq = ?", (seq,)).fetchone()
        changed = bytearray(text)
        changed[int(place * len(changed))] ^= flip
        connection.execute(f"UPDATE entries SET {column} = CAST(? AS TEXT) WHERE seq = ?", (bytes(changed), seq))
    assert first_problem(file)[0] == seq


@pytest.mark.parametrize("value", [None, 3, b"\xff\xfe", 2.5])
def test_a_field_of_another_type_is_found(file: Path, whole: bytes, value: object) -> None:
    file.write_bytes(whole)
    with raw(file) as connection:
        connection.execute("CREATE TABLE loose AS SELECT * FROM entries")
        connection.execute("DROP TABLE entries")
        connection.execute("ALTER TABLE loose RENAME TO entries")
        connection.execute("UPDATE entries SET body = ? WHERE seq = 4", (value,))
    assert first_problem(file)[0] == 4
    with pytest.raises(LedgerCorruptError, match="entry 4"):
        Ledger.open(file)


@pytest.mark.parametrize("seq", range(1, 9))
def test_a_removed_entry_is_found(file: Path, whole: bytes, seq: int) -> None:
    file.write_bytes(whole)
    with raw(file) as connection:
        connection.execute("DELETE FROM entries WHERE seq = ?", (seq,))
    assert first_problem(file) == (seq, "is missing")


@pytest.mark.parametrize("seq", range(1, 9))
def test_a_removed_entry_is_found_when_the_others_close_ranks(file: Path, whole: bytes, seq: int) -> None:
    file.write_bytes(whole)
    with raw(file) as connection:
        connection.execute("DELETE FROM entries WHERE seq = ?", (seq,))
        for later in range(seq + 1, 10):
            connection.execute("UPDATE entries SET seq = ? WHERE seq = ?", (later - 1, later))
    assert first_problem(file)[0] == seq


@pytest.mark.parametrize("seq", range(1, 9))
def test_swapped_entries_are_found(file: Path, whole: bytes, seq: int) -> None:
    file.write_bytes(whole)
    with raw(file) as connection:
        for before, after in ((seq, 100), (seq + 1, seq), (100, seq + 1)):
            connection.execute("UPDATE entries SET seq = ? WHERE seq = ?", (after, before))
    assert first_problem(file)[0] == seq


@pytest.mark.parametrize("seq", range(2, 11))
def test_an_inserted_entry_is_found(file: Path, whole: bytes, seq: int) -> None:
    file.write_bytes(whole)
    with raw(file) as connection:
        for later in range(9, seq - 1, -1):
            connection.execute("UPDATE entries SET seq = ? WHERE seq = ?", (later + 1, later))
        connection.execute(
            "INSERT INTO entries SELECT ?, time, kind, body, previous, hash FROM entries WHERE seq = 1", (seq,)
        )
    assert first_problem(file)[0] == seq


@pytest.mark.parametrize("seq", [0, -1, -(2**63)])
def test_an_entry_before_the_first_is_found(file: Path, whole: bytes, seq: int) -> None:
    file.write_bytes(whole)
    with raw(file) as connection:
        connection.execute(
            "INSERT INTO entries SELECT ?, time, kind, body, previous, hash FROM entries LIMIT 1", (seq,)
        )
    assert first_problem(file) == (1, "has something before it that no ledger writes")
    assert len(verify_ledger(file).problems) == 1


def reservation(epsilon: str, expires: str = "2999-01-01T00:00:00.000000Z") -> dict[str, Any]:
    event = PureEvent(Neighbours(), epsilon).to_dict()
    base = {"table": "clinic", "analyst": "ana", "event": event, "question": None, "rehearsal": False}
    return {"time": "2026-01-01T00:00:00.000000Z", "kind": "reserve", "body": {**base, "expires": expires}}


def made(kind: str, **body: object) -> dict[str, Any]:
    return {"time": "2026-01-01T00:00:00.000000Z", "kind": kind, "body": body}


FORGERIES: dict[str, tuple[Callable[[list[dict[str, Any]]], None], int, str]] = {
    "overspend": (lambda e: e[5]["body"]["event"].update(epsilon="501/1000"), 6, "costs more than is left"),
    "one more spend": (lambda e: e.insert(6, reservation("1/1000")), 7, "costs more than is left"),
    "grants beyond the budget": (lambda e: e[8]["body"].update(epsilon="1001/1000"), 9, "does not fit the budget"),
    "a smaller budget": (lambda e: e[1]["body"].update(epsilon="1/2"), 3, "does not fit the budget"),
    "a second budget": (lambda e: e.insert(2, dict(e[1])), 3, "has a budget already"),
    "a second genesis": (lambda e: e.insert(3, dict(e[0])), 4, "one genesis"),
    "no genesis": (lambda e: e.pop(0), 1, "one genesis"),
    "a commit without reservation": (lambda e: e[4]["body"].update(reservation=3), 5, "no reservation 3"),
    "a double commit": (lambda e: e.insert(5, dict(e[4])), 6, "committed already"),
    "a late commit": (lambda e: e[4].update(time="2998-01-01T00:00:00.000000Z"), 5, "has expired"),
    "a spend after closing": (lambda e: e.append(reservation("1/1000")), 10, "no open grant"),
    "an unmarked rehearsal": (lambda e: e[4]["body"].update(rehearsal=True), 5, "rehearsal"),
    "an unknown kind": (lambda e: e.append(made("refund", table="clinic")), 10, "kind"),
    "an unknown event": (lambda e: e[3]["body"]["event"].update(kind="magic"), 4, "does not say"),
    "an extra field": (lambda e: e[3]["body"].update(discount="1"), 4, "fields"),
    "unreadable JSON": (lambda e: e[6].update(body="{"), 7, "does not say"),
    "other JSON": (lambda e: e[6].update(body="[]"), 7, "fields"),
    "JSON in another form": (lambda e: e[6].update(body='{"what": "a map", "table": "clinic"}'), 7, "canonical"),
    "a key twice": (lambda e: e[6].update(body='{"table":"x","table":"clinic","what":"m"}'), 7, "canonical"),
    "a negative epsilon": (lambda e: e[3]["body"]["event"].update(epsilon="-1"), 4, "does not say"),
    "a bad time": (lambda e: e[6].update(time="yesterday"), 7, "when"),
    "another format": (lambda e: e[0]["body"].update(format=2), 1, "format"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forger_who_rehashed_everything_is_found_by_the_rules(file: Path, whole: bytes, name: str) -> None:
    change, seq, what = FORGERIES[name]
    file.write_bytes(whole)
    rewrite(file, change)
    found = first_problem(file)
    assert found[0] == seq
    assert what in found[1]


def test_rehashing_without_a_change_verifies(file: Path, whole: bytes) -> None:
    """The control of the forgeries: what they find is the change, not the rehashing."""
    file.write_bytes(whole)
    rewrite(file, lambda entries: None)
    assert verify_ledger(file).ok


def test_a_truncated_tail_needs_a_receipt(file: Path, tmp_path: Path) -> None:
    fill(file)
    public = generate_key(tmp_path / "key")
    with Ledger.open(file) as ledger:
        receipt = ledger.sign_head(tmp_path / "key")
        assert ledger.verify(public, receipt).ok
    with raw(file) as connection:
        connection.execute("DELETE FROM entries WHERE seq >= 8")
    assert verify_ledger(file).ok
    assert "cannot be seen" in verify_ledger(file).notes[-1]
    (problem,) = verify_ledger(file, public, receipt).problems
    assert (problem.seq, "cut off" in problem.what) == (9, True)


def test_a_rewritten_history_needs_a_receipt(file: Path, tmp_path: Path) -> None:
    fill(file)
    public = generate_key(tmp_path / "key")
    with Ledger.open(file) as ledger:
        receipt = ledger.sign_head(tmp_path / "key")
    rewrite(file, lambda entries: entries[4]["body"].update(answer={"value": 0}))
    assert verify_ledger(file).ok
    (problem,) = verify_ledger(file, public, receipt).problems
    assert (problem.seq, "rewritten" in problem.what) == (9, True)


def test_verification_goes_on_after_a_problem_and_caps_its_list(file: Path) -> None:
    fill(file)
    with Ledger.open(file) as ledger:
        for index in range(150):
            ledger.record_unbounded("clinic", f"map {index}")
    with raw(file) as connection:
        connection.execute("UPDATE entries SET body = replace(body, 'map', 'mop') WHERE seq > 9")
    verification = verify_ledger(file)
    assert (len(verification.problems), verification.omitted, verification.entries) == (100, 50, 159)
    with pytest.raises(LedgerCorruptError, match="Entry 10"):
        verification.require()


def test_a_roll_back_under_an_open_ledger_is_noticed(file: Path) -> None:
    fill(file)
    with Ledger.open(file) as ledger:
        with raw(file) as connection:
            connection.execute("DELETE FROM entries WHERE seq >= 9")
        with pytest.raises(LedgerCorruptError, match="entry 9"):
            ledger.create_budget("harbour", 1)


def test_a_clock_that_is_set_back_does_not_revive_a_lost_reservation(file: Path) -> None:
    """The second reservation of a question ends the first, whatever the clock says afterwards."""
    with Ledger.open(file) as ledger:
        ledger.create_budget("clinic", "2")
        ledger.grant("clinic", "ana", "1")
        event = PureEvent(Neighbours(), "0.1")
        lost = ledger.reserve("clinic", "ana", event, "q", ttl=0.01)
        time.sleep(0.02)
        ledger.reserve("clinic", "ana", event, "q")
        ledger._journal.seen.holds[lost.seq].expires = "2999-01-01T00:00:00.000000Z"
        with pytest.raises(Exception, match="given up"):
            lost.commit(1)


def test_a_file_that_gives_the_same_entries_again_and_again_is_not_read_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a damaged tree of SQLite may; before, `verify` went on for ever."""
    from ziggurat.ledger.storage._sqlite import SqliteStore

    with Ledger.open(tmp_path / "ledger.db") as ledger:
        ledger.create_budget("clinic", "1")
    read = SqliteStore.entries
    monkeypatch.setattr(SqliteStore, "entries", lambda self, start, limit=9: read(self, min(start, 2), limit))
    found = verify_ledger(tmp_path / "ledger.db", whole=True)
    assert not found.ok
    assert "in order" in str(found.problems[0])

"""With a witness, whatever is done to the ledger or to it is said by its name; without one, what cannot be seen."""

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ziggurat.errors import BudgetExceededError, LedgerCorruptError, LedgerError, LedgerUseError, WitnessError
from ziggurat.ledger import Ledger, canonical, verify_ledger
from ziggurat.ledger._chain import NO_LINK, digest
from ziggurat.ledger.witness import Seen, see
from ziggurat.privacy import Neighbours, PureEvent

TENTH = PureEvent(Neighbours(), "0.1")


@pytest.fixture
def book(file: Path, witness_place: str) -> Path:
    """A closed ledger of nine entries with a witness named at the second; it ends with an answer."""
    with Ledger.open(file) as ledger:
        ledger.name_witness(witness_place)
        ledger.create_budget("clinic", "2")
        ledger.grant("clinic", "ana", "1")
        for value in (41, 42):
            ledger.reserve("clinic", "ana", TENTH).commit(value)
        ledger.record_unbounded("clinic", "a map")
    return file


def problems(file: Path) -> list[str]:
    return [str(problem) for problem in verify_ledger(file).problems]


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


Rows = list[dict[str, Any]]


def rewrite(file: Path, change: Callable[[Rows], object]) -> None:
    """Change whatever the forger likes, with correct hashes throughout."""
    with raw(file) as connection:
        rows = connection.execute("SELECT time, kind, body FROM entries ORDER BY seq").fetchall()
        entries: Rows = [{"time": row[0], "kind": row[1], "body": json.loads(row[2])} for row in rows]
        change(entries)
        connection.execute("DELETE FROM entries")
        link = NO_LINK
        for seq, entry in enumerate(entries, 1):
            body = canonical(entry["body"], "body")
            own = digest(seq, entry["time"], entry["kind"], body, link)
            row = (seq, entry["time"], entry["kind"], body, link, own)
            connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)", row)
            link = own


def cheaper(entries: Rows) -> None:
    entries[4]["body"]["event"]["epsilon"] = "1/1000"


def renamed(entries: Rows) -> None:
    entries[0]["body"]["ledger"] = "cd" * 16


def unwatched(entries: Rows) -> None:
    entries.pop(1)
    for entry in entries:
        if "reservation" in entry["body"]:
            entry["body"]["reservation"] -= 1


def by_another(entries: Rows) -> None:
    entries[1]["body"]["public_key"] = "ab" * 32


REWRITTEN: dict[str, tuple[Callable[[Rows], object], str]] = {
    "a spend made cheaper": (cheaper, "Entry 5 is not the one that the witness saw: the ledger was rewritten"),
    "an answer changed": (lambda e: e[5]["body"].update(answer=0), "Entry 6 is not the one that the witness saw"),
    "a larger budget": (lambda e: e[2]["body"].update(epsilon="9"), "Entry 3 is not the one that the witness saw"),
    "a release forgotten": (lambda e: e[8].update(body={"table": "clinic", "what": "x"}), "Entry 9 is not the one"),
    "the witness forgotten": (unwatched, "The ledger names no witness, although one is known for it: it was rewritten"),
    "another key": (by_another, "Entry 2 is not the one that the witness saw: the ledger was rewritten"),
    "everything, under a new name": (renamed, "The ledger is not the one that lay here when the witness"),
}


def test_a_ledger_that_nobody_touched_is_seen_whole(book: Path) -> None:
    found = verify_ledger(book)
    assert (found.problems, found.entries) == ([], 9)
    assert found.notes[-1].startswith("The witness ")
    assert found.notes[-1].endswith("has seen all 9 entries.")


def test_rehashing_without_a_change_verifies(book: Path) -> None:
    """The control of the forgeries: what they find is the change, not the rehashing."""
    rewrite(book, lambda entries: None)
    assert problems(book) == []


@pytest.mark.parametrize("name", REWRITTEN)
def test_a_ledger_rewritten_whole_is_found(book: Path, name: str) -> None:
    change, what = REWRITTEN[name]
    rewrite(book, change)
    assert any(problem.startswith(what) for problem in problems(book))
    with pytest.raises(LedgerError, match="nothing was"), Ledger.open(book) as ledger:
        ledger.reserve("clinic", "ana", TENTH)


def test_without_a_witness_the_verdict_says_what_it_cannot_see(file: Path) -> None:
    with Ledger.open(file) as ledger:
        ledger.create_budget("clinic", "2")
        ledger.grant("clinic", "ana", "1")
        ledger.reserve("clinic", "ana", TENTH)
    rewrite(file, lambda entries: entries[1]["body"].update(epsilon="9"))
    found = verify_ledger(file)
    assert found.ok
    assert found.notes[-1] == (
        "No witness is named or known here, so it cannot be seen whether the newest entries were cut off, an older "
        "copy was put back, or the whole ledger was rewritten with fresh hashes."
    )


@pytest.mark.parametrize("last", [2, 4, 5, 6, 7])
def test_entries_that_were_cut_off_are_found_and_stop_the_next_spend(book: Path, last: int) -> None:
    with raw(book) as connection:
        connection.execute("DELETE FROM entries WHERE seq > ?", (last,))
    (problem,) = problems(book)
    assert problem.startswith(f"Entry {last + 1} and the {8 - last} after it are missing although the witness saw them")
    assert "cut off, or an older copy was put back" in problem
    with Ledger.open(book) as ledger, pytest.raises(LedgerCorruptError, match=f"saw {9 - last} entries more"):
        ledger.create_budget("harbour", 1)
    assert len(problems(book)) == 1


def test_the_newest_decision_alone_is_put_back_where_it_was_cut_off(book: Path) -> None:
    with raw(book) as connection:
        (kept,) = connection.execute("SELECT body || hash FROM entries WHERE seq = 9").fetchone()
        connection.execute("DELETE FROM entries WHERE seq = 9")
    (problem,) = problems(book)
    assert problem.startswith("Entry 9 was announced to the witness and is missing: it was cut off")
    with Ledger.open(book) as ledger:
        assert ledger.history()[8].body + ledger.history()[8].hash == kept
        assert ledger.statement("clinic").unbounded == ("a map",)
    assert problems(book) == []


def test_the_newest_answer_alone_is_missed(book: Path) -> None:
    with Ledger.open(book) as ledger:
        ledger.reserve("clinic", "ana", TENTH).commit(43)
    with raw(book) as connection:
        connection.execute("DELETE FROM entries WHERE seq = 11")
    (problem,) = problems(book)
    assert problem.startswith("Entry 11 is missing although the witness saw them: the ledger was cut off")


def test_an_older_copy_that_is_put_back_cannot_spend_again(book: Path, tmp_path: Path) -> None:
    copy = tmp_path / "backup.db"
    shutil.copy(book, copy)
    with Ledger.open(book) as ledger:
        ledger.reserve("clinic", "ana", TENTH).commit(43)
    shutil.copy(copy, book)
    (problem,) = problems(book)
    assert "an older copy was put back" in problem
    with Ledger.open(book) as ledger:
        with pytest.raises(LedgerCorruptError, match="an older copy was put back"):
            ledger.reserve("clinic", "ana", TENTH)
        assert ledger.head().seq == 9


def test_two_copies_never_spend_the_same_budget_twice(book: Path, tmp_path: Path) -> None:
    """A copy that is behind by reservations takes them over first; together they spend what one could, 0.8 here."""
    copy, spent = tmp_path / "copy.db", 0
    shutil.copy(book, copy)
    with Ledger.open(book) as one, Ledger.open(copy) as two:
        for turn in range(20):
            try:
                (one, two)[turn % 2].reserve("clinic", "ana", TENTH)
                spent += 1
            except BudgetExceededError:
                continue
        assert spent == 8
        assert one.left("clinic", "ana") == two.left("clinic", "ana") == 0
        assert one.head() == two.head()


def test_a_copy_that_is_behind_by_an_answer_does_not_go_on(book: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    shutil.copy(book, copy)
    with Ledger.open(book) as one, Ledger.open(copy) as two:
        one.reserve("clinic", "ana", TENTH).commit(43)
        with pytest.raises(LedgerCorruptError, match="saw 2 entries more"):
            two.reserve("clinic", "ana", TENTH)
        assert two.head().seq == 9
        one.reserve("clinic", "ana", TENTH)


def test_a_ledger_that_was_replaced_by_another_is_found(book: Path, tmp_path: Path) -> None:
    book.unlink()
    with Ledger.open(book) as other:
        other.create_budget("clinic", 9)
        other.grant("clinic", "ana", 9)
        with pytest.raises(WitnessError, match="not the ledger that lay here"):
            other.reserve("clinic", "ana", TENTH)
    (problem,) = problems(book)
    assert problem.endswith("was named: it was replaced.")


def test_a_verifier_who_is_only_told_of_the_witness_finds_a_ledger_that_forgot_it(
    book: Path, witness_place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZIGGURAT_SETTINGS", str(tmp_path / "elsewhere"))
    assert problems(book) == []
    monkeypatch.setenv("ZIGGURAT_WITNESS", witness_place)
    assert problems(book) == []
    rewrite(book, unwatched)
    assert "names no witness" in problems(book)[0]
    assert "rewritten from here on" in problems(book)[1]
    rewrite(book, renamed)
    assert "knows no such ledger: that was rewritten under a new name" in problems(book)[1]
    monkeypatch.delenv("ZIGGURAT_WITNESS")
    assert problems(book) == []
    assert "whole ledger was rewritten" in verify_ledger(book).notes[-1]


def test_a_forger_who_names_a_witness_of_his_own_is_found_by_whoever_knows_the_true_one(
    book: Path, witness_place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rewrite(book, by_another)
    monkeypatch.setenv("ZIGGURAT_SETTINGS", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("ZIGGURAT_WITNESS", witness_place)
    assert "signs with another key than the ledger names" in problems(book)[0]
    assert "rewritten from here on" in problems(book)[1]


def test_where_a_witness_is_configured_a_ledger_without_one_spends_nothing(
    ledger: Ledger, witness_folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ZIGGURAT_WITNESS", str(witness_folder))
    with pytest.raises(WitnessError, match="the ledger names none, so nothing was spent"):
        ledger.reserve("clinic", "ana", TENTH)
    assert ledger.head().seq == 3
    with Ledger.open(tmp_path / "tour.db", throwaway=True) as tour:
        tour.create_budget("clinic", 1)
        tour.grant("clinic", "ana", 1)
        tour.reserve("clinic", "ana", TENTH)
        assert tour.verify().ok


class Lines:
    """The receipts of a folder's witness, as an intruder there sees them."""

    def __init__(self, folder: Path) -> None:
        (self.file,) = folder.glob("*/receipts.jsonl")

    def change(self, change: Callable[[list[str]], object]) -> None:
        lines = self.file.read_text().splitlines()
        change(lines)
        self.file.write_text("".join(line + "\n" for line in lines))


@pytest.fixture
def watched(file: Path, witness_folder: Path) -> tuple[Path, Lines]:
    with Ledger.open(file) as ledger:
        ledger.create_budget("clinic", "2")
        ledger.grant("clinic", "ana", "1")
        ledger.name_witness(witness_folder)
        for value in (41, 42):
            ledger.reserve("clinic", "ana", TENTH).commit(value)
    return file, Lines(witness_folder)


def resigned(line: str, **changes: Any) -> str:
    """A receipt for something else, signed with another key."""
    seen = Seen.from_json(line)
    assert seen is not None
    assert seen.entry is not None
    return see(seen.receipt.ledger, seen.entry._replace(**changes), Ed25519PrivateKey.generate(), True).to_json()


CHANGED: dict[str, tuple[Callable[[list[str]], object], str]] = {
    "a hash": (lambda x: x.__setitem__(1, x[1].replace('"hash":"', '"hash":"0', 1)), "its receipt 2"),
    "a signature": (
        lambda x: x.__setitem__(3, x[3].replace('"signature":"', '"signature":"00', 1)),
        "its receipt 4 does not carry a valid signature",
    ),
    "a text": (lambda x: x.__setitem__(1, x[1].replace("clinic", "clonic")), "its receipt 2 does not belong"),
    "a forged signature": (
        lambda x: x.__setitem__(1, resigned(x[1], hash="0" * 64)),
        "its receipt 2 is signed with another key",
    ),
    "a line that is none": (lambda x: x.__setitem__(1, "{}"), "its receipt 2 is not one"),
    "a line removed": (lambda x: x.pop(2), "receipts between those for entries 5 and 7 are gone"),
    "lines swapped": (lambda x: x.__setitem__(slice(1, 3), [x[2], x[1]]), "receipts between"),
    "the first removed": (lambda x: x.pop(0), "has lost its receipts before entry 5"),
    "the last spend removed": (lambda x: x.__delitem__(slice(3, 5)), "has lost its receipts from entry 7 on"),
}


@pytest.mark.parametrize("name", CHANGED)
def test_what_is_changed_at_the_witness_is_found_and_said_to_be_there(watched: tuple[Path, Lines], name: str) -> None:
    file, lines = watched
    change, what = CHANGED[name]
    assert problems(file) == []
    lines.change(change)
    found = problems(file)
    assert any(what in problem and problem.startswith("The witness") for problem in found)
    assert not any("ledger was rewritten" in problem for problem in found)


def test_receipts_for_a_rewritten_ledger_cannot_be_signed_by_whoever_writes_both(
    watched: tuple[Path, Lines],
) -> None:
    """The forger rewrites the ledger and the witness alike, but has no key."""
    file, lines = watched
    rewrite(file, lambda entries: entries[4]["body"]["event"].update(epsilon="1/1000"))
    with closing(sqlite3.connect(file)) as connection:
        rows = connection.execute("SELECT hash, previous FROM entries ORDER BY seq").fetchall()

    def forge(texts: list[str]) -> None:
        for index, text in enumerate(texts):
            fields = json.loads(text)
            fields["hash"], fields["previous"] = rows[fields["seq"] - 1]
            fields["entry"] = None
            texts[index] = canonical(fields, "x")

    lines.change(forge)
    assert any("does not carry a valid signature" in problem for problem in problems(file))


def test_an_older_copy_of_the_witness_stops_the_next_spend(watched: tuple[Path, Lines]) -> None:
    file, lines = watched
    lines.change(lambda x: x.__delitem__(slice(3, 5)))
    with Ledger.open(file) as ledger, pytest.raises(LedgerCorruptError, match="has lost receipts from entry 7 on"):
        ledger.reserve("clinic", "ana", TENTH)


@pytest.mark.parametrize("gone", ["the folder", "its file"])
def test_a_witness_that_is_gone_is_said_so_and_nothing_is_spent(
    watched: tuple[Path, Lines], witness_folder: Path, gone: str
) -> None:
    file, lines = watched
    aside = witness_folder.with_name("aside")
    away = witness_folder if gone == "the folder" else lines.file
    away.rename(aside)
    (problem,) = problems(file)
    assert ("cannot be reached" if gone == "the folder" else "knows no such ledger") in problem
    with Ledger.open(file) as ledger:
        with pytest.raises(LedgerError, match="nothing was") as caught:
            ledger.reserve("clinic", "ana", TENTH)
        assert str(witness_folder) in str(caught.value)
        assert ledger.left("clinic", "ana") == ledger.statement("clinic").grants[0].left == 1 - 2 * TENTH.epsilon
        aside.rename(away)
        ledger.reserve("clinic", "ana", TENTH).commit(1)
    assert problems(file) == []


def test_an_answer_is_kept_even_if_the_witness_goes_away_meanwhile(
    watched: tuple[Path, Lines], witness_folder: Path
) -> None:
    file, _ = watched
    with Ledger.open(file) as ledger:
        reservation = ledger.reserve("clinic", "ana", TENTH)
        witness_folder.rename(witness_folder.with_name("aside"))
        assert reservation.commit(43).data["answer"] == 43
        witness_folder.with_name("aside").rename(witness_folder)
        found = ledger.verify()
        assert found.ok
        assert "has seen all but the newest 1 of 10 entries" in found.notes[-1]
        ledger.reserve("clinic", "ana", TENTH)
        assert ledger.verify().notes[-1].endswith("has seen all 11 entries.")


def test_a_free_replay_needs_no_witness(file: Path, witness_folder: Path) -> None:
    with Ledger.open(file) as ledger:
        ledger.create_budget("clinic", 1)
        ledger.grant("clinic", "ana", 1)
        ledger.name_witness(witness_folder)
        ledger.reserve("clinic", "ana", TENTH, "q").commit(41)
        witness_folder.rename(witness_folder.with_name("aside"))
        assert ledger.reserve("clinic", "ana", TENTH, "q").answer == 41


def test_whoever_has_no_key_spends_nothing(book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZIGGURAT_SETTINGS", str(tmp_path / "elsewhere"))
    with Ledger.open(book) as ledger, pytest.raises(WitnessError, match="copy it from the account that named"):
        ledger.reserve("clinic", "ana", TENTH)
    assert problems(book) == []


def test_a_ledger_can_be_verified_where_it_names_its_witness_by_another_path(
    watched: tuple[Path, Lines], witness_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, _ = watched
    moved = witness_folder.rename(witness_folder.with_name("moved"))
    monkeypatch.setenv("ZIGGURAT_WITNESS", str(moved))
    assert problems(file) == []
    with Ledger.open(file) as ledger:
        ledger.reserve("clinic", "ana", TENTH).commit(1)


def test_naming_the_same_witness_again_changes_nothing(book: Path, witness_place: str) -> None:
    with Ledger.open(book) as ledger:
        assert ledger.name_witness(witness_place).seen == 9
        assert ledger.head().seq == 9


def test_a_witness_hands_over_to_another(book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever still knows the old one is led to the new one by its last receipt."""
    (tmp_path / "new").mkdir()
    shutil.copytree(tmp_path / "settings", tmp_path / "elsewhere")
    with Ledger.open(book) as ledger:
        assert ledger.name_witness(tmp_path / "new").seen == 10
        ledger.reserve("clinic", "ana", TENTH).commit(43)
    assert verify_ledger(book).notes[-1].endswith("has seen all 12 entries.")
    monkeypatch.setenv("ZIGGURAT_SETTINGS", str(tmp_path / "elsewhere"))
    found = verify_ledger(book)
    assert found.ok
    assert found.notes[-1].endswith("has seen all 12 entries.")
    with raw(book) as connection:
        connection.execute("DELETE FROM entries WHERE seq > 10")
    assert "Entry 11 and the 1 after it are missing" in problems(book)[0]


def test_a_witness_that_is_gone_for_good_can_be_given_up(
    watched: tuple[Path, Lines], witness_folder: Path, tmp_path: Path
) -> None:
    file, _ = watched
    shutil.rmtree(witness_folder)
    (tmp_path / "new").mkdir()
    with Ledger.open(file) as ledger:
        with pytest.raises(WitnessError, match="spends nothing without its witness"):
            ledger.name_witness(tmp_path / "new")
        assert ledger.name_witness(tmp_path / "new", lost=True).seen == 9
        ledger.reserve("clinic", "ana", TENTH).commit(1)
        assert ledger.history()[8].data["lost"] is True
    assert problems(file) == []


@pytest.mark.parametrize("done", ["cut", "rewritten"])
def test_a_witness_that_knows_better_is_not_lost(book: Path, tmp_path: Path, done: str) -> None:
    """Otherwise whoever cuts a ledger could have its witness forgotten."""
    (tmp_path / "new").mkdir()
    if done == "cut":
        with raw(book) as connection:
            connection.execute("DELETE FROM entries WHERE seq > 6")
    else:
        rewrite(book, cheaper)
    with Ledger.open(book) as ledger, pytest.raises(LedgerCorruptError, match=r"more than this ledger|another entry"):
        ledger.name_witness(tmp_path / "new", lost=True)
    assert list((tmp_path / "new").iterdir()) == []


def test_no_witness_can_be_given_up_where_none_is(ledger: Ledger, witness_folder: Path) -> None:
    with pytest.raises(LedgerUseError, match="none can be given up"):
        ledger.name_witness(witness_folder, lost=True)
    assert list(witness_folder.iterdir()) == []


def test_a_witness_that_knows_another_history_of_the_ledger_is_not_named(
    ledger: Ledger, witness_folder: Path, tmp_path: Path, file: Path
) -> None:
    copy = tmp_path / "copy.db"
    ledger.close()
    shutil.copy(file, copy)
    with Ledger.open(copy) as other:
        other.name_witness(witness_folder)
        other.create_budget("harbour", 1)
    with Ledger.open(file) as mine, pytest.raises(LedgerUseError, match="they tell another history"):
        mine.name_witness(witness_folder)


def test_a_public_key_is_compared_with_the_witness_too(book: Path, tmp_path: Path) -> None:
    from ziggurat.ledger import generate_key

    (public,) = (tmp_path / "settings" / "witnesses").glob("*.pub")
    assert verify_ledger(book, public).ok
    other = generate_key(tmp_path / "other")
    with Ledger.open(book) as ledger:
        receipt = ledger.sign_head(tmp_path / "other")
    assert verify_ledger(book, other, receipt).ok
    assert "signs with another key than the one given" in str(verify_ledger(book, other).problems[0])


def test_keys_and_receipts_are_for_their_owner_only(watched: tuple[Path, Lines], tmp_path: Path) -> None:
    (key,) = (tmp_path / "settings" / "witnesses").glob("*.pem")
    assert key.stat().st_mode & 0o077 == 0
    assert watched[1].file.stat().st_mode & 0o077 == 0
    assert watched[1].file.parent.stat().st_mode & 0o077 == 0
    assert '"answer"' not in watched[1].file.read_text()


@pytest.mark.postgres
def test_a_ledger_in_postgres_that_was_rewritten_whole_is_found(postgres: str, witness_place: str) -> None:
    psycopg = pytest.importorskip("psycopg")
    with Ledger.open(postgres) as ledger:
        ledger.create_budget("clinic", 1)
        ledger.grant("clinic", "ana", 1)
        ledger.name_witness(witness_place)
        ledger.reserve("clinic", "ana", TENTH).commit(1)
        entries = ledger.history()
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("ALTER TABLE ziggurat.entries DISABLE TRIGGER USER")
        link = entries[1].hash
        for entry in entries[2:]:
            body = entry.body.replace("1/10", "1/100")
            own = digest(entry.seq, entry.time, entry.kind, body, link)
            connection.execute(
                "UPDATE ziggurat.entries SET body = %s, previous = %s, hash = %s WHERE seq = %s",
                (body, link, own, entry.seq),
            )
            link = own
        connection.execute("ALTER TABLE ziggurat.entries ENABLE TRIGGER USER")
    (problem,) = verify_ledger(postgres).problems
    assert str(problem).startswith("Entry 5 is not the one that the witness saw: the ledger was rewritten")
    with pytest.raises(LedgerCorruptError, match="rewritten"), Ledger.open(postgres) as ledger:
        ledger.reserve("clinic", "ana", TENTH)

"""What every witness promises: one suite over folders, servers and PostgreSQL."""

import os
from collections.abc import Callable

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ziggurat.errors import LedgerUseError, WitnessError
from ziggurat.ledger import Entry, Head, public_hex
from ziggurat.ledger._chain import follow
from ziggurat.ledger.witness import Seen, Witness, open_witness, see

LEDGER = "ab" * 16
KEY = Ed25519PrivateKey.generate()
TIME = "2026-01-01T00:00:00.000000Z"


def entries(count: int, body: str = "{}") -> list[Entry]:
    made, head = [], Head()
    for _ in range(count):
        made.append(follow(head, TIME, "unbounded", body))
        head = Head(made[-1].seq, made[-1].hash)
    return made


def seen(entry: Entry, whole: bool = True) -> Seen:
    return see(LEDGER, entry, KEY, whole)


@pytest.fixture
def opened(witness_place: str) -> Callable[[], Witness]:
    return lambda: open_witness(witness_place, LEDGER)


Open = Callable[[], Witness]


def test_a_witness_knows_no_ledger_before_it_begins(opened: Open) -> None:
    witness = opened()
    assert witness.last() is None
    assert not witness.extend([seen(entries(1)[0])], durable=True)
    assert list(witness.all()) == []


def test_what_was_taken_is_there_for_everybody(opened: Open) -> None:
    one, two, three = (seen(entry) for entry in entries(3))
    assert opened().begin(one)
    witness = opened()
    assert witness.extend([two], durable=True)
    assert witness.extend([three], durable=False)
    assert list(opened().all()) == [one, two, three]
    assert opened().last() == three


def test_a_witness_begins_once(opened: Open) -> None:
    one, two = (seen(entry) for entry in entries(2))
    assert opened().begin(one)
    assert not opened().begin(two)
    assert opened().last() == one


@pytest.mark.parametrize("wrong", ["the same number", "a number left out", "another history", "an older number"])
def test_only_what_follows_the_newest_is_taken(opened: Open, wrong: str) -> None:
    first, other = entries(5), entries(5, '{"x":1}')
    witness = opened()
    assert witness.begin(seen(first[0]))
    assert witness.extend([seen(first[1]), seen(first[2])], durable=True)
    offered = {
        "the same number": [first[2]],
        "a number left out": [first[4]],
        "another history": [other[3]],
        "an older number": [other[1]],
    }[wrong]
    for asked in (witness, opened()):
        assert not asked.extend([seen(entry) for entry in offered], durable=True)
        assert asked.last() == seen_as(first[2], asked)
    assert witness.extend([seen(first[3])], durable=True)


def seen_as(entry: Entry, witness: Witness) -> Seen:
    last = witness.last()
    assert last is not None
    assert last.head() == Head(entry.seq, entry.hash)
    return last


def test_receipts_are_taken_all_or_none(opened: Open) -> None:
    first, other = entries(4), entries(4, '{"x":1}')
    witness = opened()
    assert witness.begin(seen(first[0]))
    assert not witness.extend([seen(first[1]), seen(other[2])], durable=True)
    assert len(list(witness.all())) == 1


def test_two_writers_of_one_number_meet(opened: Open) -> None:
    """Two copies of a ledger go on from the same entry; each has seen the newest receipt, and one is refused."""
    base, mine = opened(), opened()
    first, other = entries(2), follow(Head(1, entries(1)[0].hash), TIME, "unbounded", '{"x":1}')
    assert base.begin(seen(first[0]))
    assert mine.last() is not None
    assert base.extend([seen(first[1])], durable=True)
    assert not mine.extend([seen(other)], durable=True)
    assert [one.head() for one in opened().all() if one] == [Head(1, first[0].hash), Head(2, first[1].hash)]


def test_a_child_process_may_go_on(opened: Open) -> None:
    witness, made = opened(), entries(3)
    assert witness.begin(seen(made[0]))
    child = os.fork()
    if not child:
        os._exit(0 if witness.extend([seen(made[1])], durable=True) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert witness.extend([seen(made[2])], durable=True)


def test_eight_processes_take_turns_and_nothing_is_lost(opened: Open) -> None:
    made = entries(81)
    assert opened().begin(seen(made[0]))
    children = []
    for _ in range(8):
        child = os.fork()
        if not child:
            witness, won = opened(), 0
            for entry in made[1:]:
                won += witness.extend([seen(entry)], durable=False)
            os._exit(won)
        children.append(child)
    won = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert sum(won) == 80
    assert [one.seq for one in opened().all() if one] == list(range(1, 82))


def test_an_announced_entry_comes_back_exactly(opened: Open) -> None:
    entry = follow(Head(), TIME, "reserve", '{"question":"\\u00e9\\n"}')
    assert opened().begin(seen(entry))
    last = opened().last()
    assert last is not None
    assert last.entry == entry
    assert last.problem(LEDGER, public_hex(KEY.public_key())) is None


def test_an_entry_that_is_not_kept_whole_leaves_no_text(opened: Open) -> None:
    first, secret = entries(1)[0], follow(Head(1, entries(1)[0].hash), TIME, "commit", '{"answer":"s3cret"}')
    witness = opened()
    assert witness.begin(seen(first))
    assert witness.extend([seen(secret, whole=False)], durable=True)
    last = witness.last()
    assert last is not None
    assert last.entry is None
    assert "s3cret" not in last.to_json()


def test_an_entry_longer_than_a_block_is_found_again(opened: Open) -> None:
    long = entries(2, '{"question":"' + "x" * 300_000 + '"}')
    witness = opened()
    assert witness.begin(seen(long[0]))
    assert witness.extend([seen(long[1])], durable=True)
    assert opened().last() == witness.last()


def test_what_is_changed_in_a_receipt_is_found() -> None:
    made, key = seen(entries(1)[0]), public_hex(KEY.public_key())
    text = made.to_json()
    assert made.problem(LEDGER, key) is None
    for old, new in (('"seq":1', '"seq":2'), (LEDGER, "cd" * 16), (made.receipt.hash, "0" * 64), (TIME, TIME[::-1])):
        changed = Seen.from_json(text.replace(old, new))
        assert changed is None or changed.problem(LEDGER, key) is not None
    assert made.problem(LEDGER, "0" * 64) is not None
    for broken in ("", "{", "[]", "{}", "null", text.replace('"previous"', '"earlier"'), text[:-1]):
        assert Seen.from_json(broken) is None


@pytest.mark.parametrize("where", ["", "absent", "http://somewhere/x", "ftp://x", 3, None, "a\nb"])
def test_a_witness_must_be_somewhere(where: object) -> None:
    from ziggurat.ledger.witness._place import witness_address

    with pytest.raises((LedgerUseError, ValueError), match="witness"):
        witness_address(where)


def test_a_password_is_not_written_into_the_ledger() -> None:
    pytest.importorskip("psycopg")
    from ziggurat.ledger.witness._place import witness_address

    for uri in ("postgresql://ana:hunter2@server/db", "postgresql://server/db?password=hunter2"):
        with pytest.raises(LedgerUseError, match="leave the password out") as caught:
            witness_address(uri)
        assert "hunter2" not in str(caught.value)


@pytest.mark.postgres
def test_a_table_that_is_out_of_reach_is_an_error_without_a_password() -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(WitnessError, match="cannot be reached") as caught:
        open_witness("postgresql://ana:hunter2@127.0.0.1:1/none?connect_timeout=2", LEDGER).last()
    assert "hunter2" not in str(caught.value)


@pytest.mark.postgres
def test_the_server_refuses_to_change_receipts(witness_database: str) -> None:
    psycopg = pytest.importorskip("psycopg")
    assert open_witness(witness_database, LEDGER).begin(seen(entries(1)[0]))
    with psycopg.connect(witness_database, autocommit=True) as connection:
        for statement in ("UPDATE {} SET hash = ''", "DELETE FROM {}", "TRUNCATE {}"):
            with pytest.raises(psycopg.errors.RaiseException, match="never"):
                connection.execute(statement.format("ziggurat_witness.receipts"))
        connection.execute("ALTER TABLE ziggurat_witness.receipts DISABLE TRIGGER USER")
    with pytest.raises(WitnessError, match="what protects its receipts"):
        open_witness(witness_database, LEDGER).last()


@pytest.mark.postgres
def test_a_role_that_may_only_select_and_insert_can_testify(witness_database: str) -> None:
    psycopg = pytest.importorskip("psycopg")
    made = entries(2)
    assert open_witness(witness_database, LEDGER).begin(seen(made[0]))
    with psycopg.connect(witness_database, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS testifier")
        connection.execute("CREATE ROLE testifier LOGIN")
        connection.execute("GRANT USAGE ON SCHEMA ziggurat_witness TO testifier")
        connection.execute("GRANT SELECT, INSERT ON ziggurat_witness.receipts TO testifier")
    witness = open_witness(witness_database.replace("postgres:@", "testifier:@", 1), LEDGER)
    assert witness.extend([seen(made[1])], durable=True)

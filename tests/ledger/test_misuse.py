"""Misuse is told apart from a ledger that is broken: exit code 2, and 4."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ziggurat.errors import LedgerCorruptError, LedgerError, LedgerUseError, ParameterError
from ziggurat.ledger import Ledger, Receipt, generate_key
from ziggurat.privacy import ComposedEvent, Neighbours, PureEvent

EVENT = PureEvent(Neighbours(), "0.1")


def committed_twice(ledger: Ledger, _: Path) -> None:
    reservation = ledger.reserve("clinic", "ana", EVENT)
    reservation.commit(1)
    reservation.commit(1)


def given_up_twice(ledger: Ledger, _: Path) -> None:
    reservation = ledger.reserve("clinic", "ana", EVENT)
    reservation.abandon()
    reservation.abandon()


def answered_before(ledger: Ledger, _: Path) -> None:
    with ledger.spend("clinic", "ana", EVENT) as spend:
        _unused = spend.answer


def used_when_closed(ledger: Ledger, _: Path) -> None:
    ledger.close()
    ledger.tables()


def key_twice(_: Ledger, folder: Path) -> None:
    generate_key(folder / "key")
    generate_key(folder / "key")


MISUSE: dict[str, Callable[[Ledger, Path], Any]] = {
    "a second budget": lambda ledger, _: ledger.create_budget("clinic", 1),
    "a second grant": lambda ledger, _: ledger.grant("clinic", "ana", "0.1"),
    "an unknown table": lambda ledger, _: ledger.statement("harbour"),
    "an unknown analyst": lambda ledger, _: ledger.left("clinic", "bob"),
    "an unknown reservation": lambda ledger, _: ledger._commit(99, 1, False),
    "a second commit": committed_twice,
    "a second giving up": given_up_twice,
    "an answer too early": answered_before,
    "a closed ledger": used_when_closed,
    "history of an unknown table": lambda ledger, _: ledger.history("harbour"),
    "history of an unknown analyst": lambda ledger, _: ledger.history(analyst="bob"),
    "history of an analyst elsewhere": lambda ledger, _: ledger.history("clinic", "bob"),
    "a missing key": lambda ledger, folder: ledger.sign_head(folder / "absent"),
    "a receipt that is none": lambda ledger, folder: Receipt.from_json("{}"),
    "a key that exists": key_twice,
    "a key in no folder": lambda ledger, folder: generate_key(folder / "no" / "key"),
    "no ledger there": lambda ledger, folder: Ledger.open(folder / "absent.db", create=False),
    "no folder there": lambda ledger, folder: Ledger.open(folder / "no" / "ledger.db"),
    "a folder": lambda ledger, folder: Ledger.open(folder),
    "a foreign scheme": lambda ledger, folder: Ledger.open("mysql://host/db"),
    "a ledger in memory": lambda ledger, folder: Ledger.open(":memory:"),
    "a ledger in memory by address": lambda ledger, folder: Ledger.open("sqlite:///:memory:"),
}


@pytest.mark.parametrize("name", MISUSE)
def test_misuse_is_an_error_of_use(ledger: Ledger, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LedgerUseError) as caught:
        MISUSE[name](ledger, tmp_path)
    assert caught.value.exit_code == 2
    assert not (tmp_path / ":memory:").exists()


def test_other_exit_codes_keep_their_meaning() -> None:
    assert (LedgerError.exit_code, LedgerCorruptError.exit_code) == (4, 4)


@pytest.mark.parametrize(
    "value", [{1: 2}, {None: 2}, {True: 2}, {1.5: 2}, [{"a": {1: 2}}], ({2: 1},)], ids=lambda value: str(value)
)
def test_keys_that_are_not_text_are_refused(ledger: Ledger, value: Any) -> None:
    with pytest.raises(ParameterError, match="A question must be a JSON value"):
        ledger.reserve("clinic", "ana", EVENT, value)
    reservation = ledger.reserve("clinic", "ana", EVENT)
    with pytest.raises(ParameterError, match="text keys"):
        reservation.commit(value)
    assert ledger.head().seq == 4


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def test_nesting_is_limited_so_that_a_deeper_call_can_still_read_it(ledger: Ledger, file: Path) -> None:
    with ledger.spend("clinic", "ana", EVENT, nested(100)) as spend:
        spend.commit(nested(100))
    with pytest.raises(ParameterError, match="at most 100 deep"):
        ledger.reserve("clinic", "ana", EVENT, nested(101))
    ledger.close()

    def deeper(levels: int) -> bool:
        return deeper(levels - 1) if levels else Ledger.open(file).verify().ok

    assert deeper(400)


@pytest.mark.parametrize("levels", [60, 400, 5000])
def test_an_event_nested_without_end_is_refused(ledger: Ledger, levels: int) -> None:
    event: Any = EVENT
    for _ in range(levels):
        event = ComposedEvent(Neighbours(), (event,))
    with pytest.raises(ParameterError):
        ledger.reserve("clinic", "ana", event)
    assert ledger.head().seq == 3


def test_a_question_is_kept_as_it_will_be_read(ledger: Ledger) -> None:
    """A tuple is a list in JSON, and two halves of a letter are one letter."""
    with ledger.spend("clinic", "ana", EVENT, {"of": (1, "\ud83d\ude00")}) as spend:
        spend.commit(1)
    assert ledger.reserve("clinic", "ana", EVENT, {"of": [1, "\U0001f600"]}).replayed
    assert ledger.verify().ok


def test_about_names_table_and_analyst(ledger: Ledger) -> None:
    with ledger.spend("clinic", "ana", EVENT) as spend:
        spend.commit(1)
    named = [ledger.about(entry) for entry in ledger.history()]
    assert named == [("", ""), ("clinic", ""), ("clinic", "ana"), ("clinic", "ana"), ("clinic", "ana")]

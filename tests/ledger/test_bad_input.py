"""Bad input is refused in a sentence of ours, and no answer is ever quoted."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ziggurat.errors import LedgerError, ParameterError, PrivacyError, ZigguratError
from ziggurat.ledger import Ledger
from ziggurat.privacy import Event, Neighbours, PureEvent

EVENT = PureEvent(Neighbours(), "0.001")
SECRET = "Smith-1962"

quick = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def deep(levels: int) -> object:
    value: object = SECRET
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "answer",
    [
        math.nan,
        math.inf,
        {SECRET, "b"},
        {(1, SECRET): 2},
        {1: SECRET, "1": SECRET},
        object(),
        b"Smith-1962",
        deep(100_000),
        SECRET * 4_000_000,
    ],
    ids=["nan", "inf", "set", "tuple key", "mixed keys", "object", "bytes", "deep", "large"],
)
def test_an_answer_that_is_not_json_is_refused_and_not_quoted(ledger: Ledger, answer: object) -> None:
    reservation = ledger.reserve("clinic", "ana", EVENT)
    with pytest.raises(ParameterError) as caught:
        reservation.commit(answer)
    error: BaseException | None = caught.value
    assert SECRET not in str(error)
    assert error is not None
    assert error.__suppress_context__ or error.__context__ is None
    assert reservation.commit("fine").data["answer"] == "fine"


@pytest.mark.parametrize("name", ["", " ", None, 3, "a\nb", "x" * 201, b"clinic", "\ud800"])
def test_a_name_must_be_printable_text(ledger: Ledger, name: Any) -> None:
    for act in (
        lambda: ledger.create_budget(name, 1),
        lambda: ledger.grant("clinic", name, "0.1"),
        lambda: ledger.record_unbounded(name, "a map"),
        lambda: ledger.record_unbounded("clinic", name if name != "x" * 201 else "x" * 2001),
    ):
        with pytest.raises(ParameterError):
            act()
    assert ledger.head().seq == 3


@pytest.mark.parametrize("epsilon", [0, -1, "nan", "inf", "", "one", None, True, "1e999", float("nan")])
def test_an_epsilon_must_be_a_positive_number(ledger: Ledger, epsilon: Any) -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        ledger.create_budget("harbour", epsilon)
    with pytest.raises(ParameterError, match="epsilon"):
        ledger.grant("clinic", "bob", epsilon)


@pytest.mark.parametrize("ttl", [0, -1, math.nan, math.inf, 1e9, None, "60", True])
def test_a_lifetime_must_be_sensible(ledger: Ledger, ttl: Any) -> None:
    with pytest.raises(ParameterError, match="ttl"):
        ledger.reserve("clinic", "ana", EVENT, ttl=ttl)


@pytest.mark.parametrize("event", [None, 0.1, "pure", EVENT.to_dict()])
def test_a_cost_must_be_an_event(ledger: Ledger, event: Any) -> None:
    with pytest.raises(ParameterError, match="Event"):
        ledger.reserve("clinic", "ana", event)


def test_an_event_that_cannot_be_read_back_is_refused(ledger: Ledger) -> None:
    @dataclass(frozen=True)
    class Strange(Event):
        kind: ClassVar[str] = ""
        things: object = object()

    with pytest.raises((ParameterError, PrivacyError)):
        ledger.reserve("clinic", "ana", Strange(Neighbours()))
    assert ledger.head().seq == 3


@pytest.mark.parametrize("question", [math.nan, {1, 2}, object(), "q" * 70_000, deep(100_000)])
def test_a_question_must_be_json_of_bounded_size(ledger: Ledger, question: Any) -> None:
    with pytest.raises(ParameterError, match="question"):
        ledger.reserve("clinic", "ana", EVENT, question)
    assert ledger.head().seq == 3


def test_unknown_tables_and_analysts_are_named(ledger: Ledger) -> None:
    with pytest.raises(LedgerError, match="no budget for a table named 'harbour'"):
        ledger.grant("harbour", "ana", 1)
    with pytest.raises(LedgerError, match="'bob' has no open grant"):
        ledger.reserve("clinic", "bob", EVENT)
    with pytest.raises(LedgerError, match="harbour"):
        ledger.statement("harbour")
    with pytest.raises(LedgerError, match="close it first"):
        ledger.grant("clinic", "ana", "0.1")
    with pytest.raises(LedgerError, match="cannot be changed"):
        ledger.create_budget("clinic", 5)


@pytest.mark.parametrize("where", [None, "", 3, "mysql://host/db", "sqlite://ledger.db", "a\0b", b"ledger.db"])
def test_a_ledger_must_be_named_by_a_file_or_an_address(where: Any) -> None:
    with pytest.raises(ZigguratError):
        Ledger.open(where)


@pytest.mark.parametrize("timeout", [0, -1, math.nan, math.inf, None, "1", True])
def test_a_timeout_must_be_sensible(file: Path, timeout: Any) -> None:
    with pytest.raises(ParameterError, match="timeout"):
        Ledger.open(file, timeout=timeout)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(answer=json_values, question=json_values.filter(lambda value: value is not None))
@quick
def test_any_json_answer_is_replayed_as_it_was_given(file: Path, answer: Any, question: Any) -> None:
    with Ledger.open(file) as ledger:
        if not ledger.tables():
            ledger.create_budget("clinic", 1000)
            ledger.grant("clinic", "ana", 1000)
        with ledger.spend("clinic", "ana", EVENT, question) as spend:
            if not spend.replayed:
                assert spend.commit(answer).data["answer"] == answer
        first = spend.answer
        again = ledger.reserve("clinic", "ana", EVENT, question)
        assert again.replayed
        assert again.answer == first

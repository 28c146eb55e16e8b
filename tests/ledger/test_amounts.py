"""Whatever a ledger accepts, it can open, verify and tell again."""

from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ziggurat.errors import ParameterError, ZigguratError
from ziggurat.ledger import Budget, Ledger
from ziggurat.ledger._entries import Unbounded, body_of
from ziggurat.privacy import ApproximateEvent, Event, GaussianEvent, Neighbours, PureEvent, ZeroConcentratedEvent

ROW = Neighbours()

huge = st.builds(Fraction, st.integers(1, 2**4200), st.integers(1, 2**4200))
written = st.builds("{}e{}".format, st.integers(1, 10**6), st.integers(-420, 420))
plain = st.floats(min_value=0, allow_nan=False) | st.decimals(min_value=0, allow_nan=False, allow_infinity=False)
amounts = st.one_of(huge, written, plain, st.integers(1, 2**4200), st.sampled_from(["1e400", "1e200", "5e-324"]))
small = st.one_of(st.just("0"), st.builds("{}e{}".format, st.integers(1, 9), st.integers(-420, -1)), huge)


def attempt(act: Any, *arguments: Any) -> None:
    """Whatever is refused is refused by an error of ours."""
    with suppress(ZigguratError):
        act(*arguments)


def events(amount: Any) -> list[Event]:
    """Events of several kinds with this amount, as far as there are such."""
    made: list[Event] = []
    for kind in (PureEvent, ZeroConcentratedEvent):
        attempt(lambda kind=kind: made.append(kind(ROW, amount)))
    attempt(lambda: made.append(GaussianEvent(ROW, 1, amount)))
    attempt(lambda: made.append(ApproximateEvent(ROW, amount, "1e-9")))
    return made


@given(
    budget=amounts,
    delta=small,
    granted=amounts,
    rule=st.sampled_from([None, "sum", "zcdp", "gaussian"]),
    asked=amounts,
)
@example(budget="1e400", delta="0", granted="1", rule=None, asked="1")
@example(budget="1e200", delta="1e-5", granted="1e200", rule="zcdp", asked="1e199")
@example(budget="1e-200", delta="1e-200", granted="1e-200", rule="gaussian", asked="5e-324")
@example(budget=2**4000, delta="1e-5", granted=Fraction(2**4000, 3), rule="gaussian", asked=Decimal("1e-300"))
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_amount_that_is_accepted_can_be_read_again(
    tmp_path_factory: pytest.TempPathFactory, budget: Any, delta: Any, granted: Any, rule: str | None, asked: Any
) -> None:
    file = tmp_path_factory.mktemp("amounts") / "ledger.db"
    with Ledger.open(file) as ledger:
        attempt(ledger.create_budget, "clinic", budget, delta)
        attempt(ledger.create_budget, "wide", "1e300", "0.9")
        for table in ("clinic", "wide"):
            attempt(ledger.grant, table, "ana", granted, delta, rule)
            for event in events(asked):
                attempt(ledger.quote, table, "ana", event)
                attempt(ledger.reserve, table, "ana", event)
    with Ledger.open(file, create=False) as again:
        assert again.verify().ok
        for table in again.tables():
            assert all(sentence.endswith(".") for sentence in again.statement(table).sentences())


def test_what_is_left_after_many_odd_spends_can_be_granted_or_is_refused(ledger: Ledger, file: Path) -> None:
    for number in range(60):
        ledger.reserve("clinic", "ana", PureEvent(ROW, Fraction(1, 10**9 + 2 * number + 1)))
    left = ledger.left("clinic", "ana")
    assert left.denominator > 10**400
    attempt(ledger.grant, "clinic", "bob", left)
    ledger.close()
    with Ledger.open(file, create=False) as again:
        assert again.verify().ok
        assert again.left("clinic", "ana") == left


def test_an_entry_that_would_not_read_back_is_never_written(ledger: Ledger) -> None:
    record = Unbounded("clinic", "a map")
    assert body_of(record) == '{"table":"clinic","what":"a map"}'
    budget = Budget("harbour", Fraction(1), Fraction(0), ROW)
    object.__setattr__(budget, "epsilon", Fraction(1, 10**5000 + 1))
    object.__setattr__(record, "what", object())
    for unreadable in (record, budget):
        with pytest.raises(ParameterError, match="would not read back"):
            ledger._append(unreadable)
    assert ledger.head().seq == 3
    assert ledger.verify().ok


def test_a_table_whose_name_json_would_change_is_refused_or_kept(ledger: Ledger) -> None:
    attempt(ledger.create_budget, "two halves \ud83d\ude00", 1)
    assert ledger.verify().ok

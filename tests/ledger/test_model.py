"""A tiny model in memory and the ledger agree, whatever is done in whatever order."""

import tempfile
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from ziggurat.errors import BudgetExceededError, LedgerError
from ziggurat.ledger import Ledger
from ziggurat.privacy import Neighbours, PureEvent

ANALYSTS = st.sampled_from(["ana", "bob", "eve"])
AMOUNTS = st.fractions(min_value=Fraction(1, 12), max_value=1, max_denominator=12)
TOTAL = Fraction(2)


class LedgerMachine(RuleBasedStateMachine):
    """Grants, spends, closings and reopenings under the sum rule."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.ledger = Ledger.open(Path(self.folder.name) / "ledger.db")
        self.ledger.create_budget("clinic", TOTAL)
        self.grants: dict[str, Fraction] = {}
        self.spent: dict[str, Fraction] = {}
        self.closed = Fraction(0)
        self.answered: set[tuple[str, Fraction, int]] = set()

    def teardown(self) -> None:
        assert self.ledger.verify().ok
        self.ledger.close()
        self.folder.cleanup()

    @rule(analyst=ANALYSTS, amount=AMOUNTS)
    def grant(self, analyst: str, amount: Fraction) -> None:
        if analyst in self.grants or sum(self.grants.values()) + self.closed + amount > TOTAL:
            with pytest.raises(LedgerError):
                self.ledger.grant("clinic", analyst, amount)
            return
        self.ledger.grant("clinic", analyst, amount)
        self.grants[analyst], self.spent[analyst] = amount, Fraction(0)

    @precondition(lambda self: self.grants)
    @rule(analyst=ANALYSTS, amount=AMOUNTS, question=st.integers(0, 3), fails=st.booleans())
    def spend(self, analyst: str, amount: Fraction, question: int, fails: bool) -> None:
        event, key = PureEvent(Neighbours(), amount), (analyst, amount, question)
        if key in self.answered:
            assert self.ledger.reserve("clinic", analyst, event, question).replayed
        elif analyst not in self.grants:
            with pytest.raises(LedgerError):
                self.ledger.reserve("clinic", analyst, event, question)
        elif self.spent[analyst] + amount > self.grants[analyst]:
            with pytest.raises(BudgetExceededError):
                self.ledger.reserve("clinic", analyst, event, question)
        else:
            with self.ledger.spend("clinic", analyst, event, question) as spend:
                if not fails:
                    spend.commit(question)
                    self.answered.add(key)
            self.spent[analyst] += amount

    @precondition(lambda self: self.grants)
    @rule(analyst=ANALYSTS)
    def close(self, analyst: str) -> None:
        if analyst not in self.grants:
            with pytest.raises(LedgerError):
                self.ledger.close_grant("clinic", analyst)
            return
        self.ledger.close_grant("clinic", analyst)
        del self.grants[analyst]
        self.closed += self.spent.pop(analyst)

    @rule()
    def reopen(self) -> None:
        self.ledger.close()
        self.ledger = Ledger.open(Path(self.folder.name) / "ledger.db", create=False)

    @invariant()
    def totals_agree_exactly(self) -> None:
        statement = self.ledger.statement("clinic")
        granted = sum(self.grants.values()) + self.closed
        assert statement.ungranted_epsilon == TOTAL - granted >= 0
        open_grants = {item.grant.analyst: item for item in statement.grants if not item.closed}
        assert {name: item.spent.epsilon for name, item in open_grants.items()} == self.spent
        assert all(item.left == self.grants[name] - self.spent[name] for name, item in open_grants.items())


TestLedgerAgainstModel = LedgerMachine.TestCase
TestLedgerAgainstModel.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)

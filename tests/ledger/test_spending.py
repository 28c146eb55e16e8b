"""What a ledger promises about budgets, grants and spends."""

import time
from fractions import Fraction

import pytest

from ziggurat.errors import (
    BudgetExceededError,
    LedgerError,
    LedgerUseError,
    MixedNeighboursError,
    PendingError,
)
from ziggurat.ledger import Ledger, Replay, Reservation
from ziggurat.privacy import (
    ComposedEvent,
    Event,
    GaussianEvent,
    LaplaceEvent,
    Neighbours,
    PureEvent,
    Relation,
    UnboundedEvent,
    compose,
    exact,
    gaussian_mu,
)

ROW = Neighbours()


def pure(epsilon: object) -> Event:
    return PureEvent(ROW, epsilon)


def ask(ledger: Ledger, event: Event, question: object = None, answer: object = 1) -> object:
    with ledger.spend("clinic", "ana", event, question) as spend:
        if not spend.replayed:
            assert spend.commit(answer) == spend.entry
        return spend.answer


def spent(ledger: Ledger) -> Fraction:
    total = ledger.statement("clinic").grants[0].spent.epsilon
    assert total is not None
    return total


def test_ten_tenths_make_exactly_one(ledger: Ledger) -> None:
    for index in range(10):
        ask(ledger, pure(0.1), index)
    assert ledger.left("clinic", "ana") == 0
    with pytest.raises(BudgetExceededError, match="nothing was read"):
        ledger.reserve("clinic", "ana", pure("1e-30"))
    assert spent(ledger) == 1


def test_a_refused_question_leaves_no_entry(ledger: Ledger) -> None:
    before = ledger.head()
    with pytest.raises(BudgetExceededError):
        ledger.reserve("clinic", "ana", pure("1.0000000000000000000001"))
    assert ledger.head() == before


def test_a_reservation_counts_before_it_is_committed(ledger: Ledger) -> None:
    ledger.reserve("clinic", "ana", pure("0.7"))
    assert ledger.left("clinic", "ana") == exact("0.3")


def test_an_identical_question_is_replayed_at_no_cost(ledger: Ledger) -> None:
    question = {"count": "patients", "where": [1, 2]}
    first = ask(ledger, pure("0.6"), question, {"value": 41.5, "cells": (1, 2)})
    again = ledger.reserve("clinic", "ana", pure("0.6"), {"where": [1, 2], "count": "patients"})
    assert isinstance(again, Replay)
    assert again.answer == first == {"value": 41.5, "cells": [1, 2]}
    assert spent(ledger) == exact("0.6")


@pytest.mark.parametrize("change", ["question", "event", "analyst", "rehearsal", "unnamed"])
def test_another_question_is_not_replayed(ledger: Ledger, change: str) -> None:
    ledger.grant("clinic", "bob", "1")
    ask(ledger, pure("0.1"), None if change == "unnamed" else "how many?")
    outcome = ledger.reserve(
        "clinic",
        "bob" if change == "analyst" else "ana",
        pure("0.2" if change == "event" else "0.1"),
        {"question": "how many now?", "unnamed": None}.get(change, "how many?"),
        rehearsal=change == "rehearsal",
    )
    assert isinstance(outcome, Reservation)


def test_a_question_that_is_being_answered_is_pending(ledger: Ledger) -> None:
    reservation = ledger.reserve("clinic", "ana", pure("0.1"), "how many?")
    with pytest.raises(PendingError, match=f"reservation {reservation.seq}"):
        ledger.reserve("clinic", "ana", pure("0.1"), "how many?")
    assert spent(ledger) == exact("0.1")


def test_a_question_whose_asker_was_killed_is_given_up_and_paid_again(ledger: Ledger) -> None:
    lost = ledger.reserve("clinic", "ana", pure("0.1"), "how many?")
    ledger.abandon(lost.seq)
    assert isinstance(ledger.reserve("clinic", "ana", pure("0.1"), "how many?"), Reservation)
    assert spent(ledger) == exact("0.2")
    with pytest.raises(LedgerUseError, match="given up already"):
        ledger.abandon(lost.seq)
    with pytest.raises(LedgerUseError):
        ledger.abandon(9999)


def test_an_expired_reservation_stays_spent_and_cannot_be_committed(ledger: Ledger) -> None:
    reservation = ledger.reserve("clinic", "ana", pure("0.4"), "how many?", ttl=0.01)
    time.sleep(0.02)
    with pytest.raises(LedgerError, match="its cost stays spent"):
        reservation.commit(3)
    grant = ledger.statement("clinic").grants[0]
    assert (grant.pending, grant.expired, grant.left) == (0, 1, exact("0.6"))


def test_an_expired_question_may_be_asked_again_and_costs_again(ledger: Ledger) -> None:
    ledger.reserve("clinic", "ana", pure("0.4"), "how many?", ttl=0.01)
    time.sleep(0.02)
    assert ask(ledger, pure("0.4"), "how many?", 7) == 7
    assert spent(ledger) == exact("0.8")
    assert ledger.verify().ok


def test_a_reservation_is_committed_once(ledger: Ledger) -> None:
    reservation = ledger.reserve("clinic", "ana", pure("0.1"))
    reservation.commit(1)
    with pytest.raises(LedgerError, match="committed already"):
        reservation.commit(2)


def test_a_block_that_fails_has_spent_and_frees_its_question(ledger: Ledger) -> None:
    with pytest.raises(ZeroDivisionError), ledger.spend("clinic", "ana", pure("0.1"), "how many?"):
        raise ZeroDivisionError
    grant = ledger.statement("clinic").grants[0]
    assert (grant.spent.epsilon, grant.pending, grant.expired) == (exact("0.1"), 0, 1)
    assert ask(ledger, pure("0.1"), "how many?", 5) == 5
    assert spent(ledger) == exact("0.2")


def test_an_answer_to_a_replay_is_refused(ledger: Ledger) -> None:
    ask(ledger, pure("0.1"), "how many?")
    with ledger.spend("clinic", "ana", pure("0.1"), "how many?") as spend, pytest.raises(LedgerError):
        spend.commit(2)


def test_grants_add_up_to_at_most_the_budget(ledger: Ledger) -> None:
    ledger.grant("clinic", "bob", "2/3", "1e-5", "sum")
    with pytest.raises(BudgetExceededError, match="left to grant"):
        ledger.grant("clinic", "eve", "0.3333333333333333333333334")
    with pytest.raises(BudgetExceededError):
        ledger.grant("clinic", "eve", "1/3", "1e-30")
    ledger.grant("clinic", "eve", "1/3")
    assert ledger.statement("clinic").ungranted_epsilon == 0


def test_a_closed_sum_grant_returns_what_was_not_spent(ledger: Ledger) -> None:
    ask(ledger, pure("0.25"))
    ledger.close_grant("clinic", "ana")
    statement = ledger.statement("clinic")
    assert statement.ungranted_epsilon == exact("1.75")
    with pytest.raises(LedgerError, match="no open grant"):
        ledger.reserve("clinic", "ana", pure("0.1"))
    ledger.grant("clinic", "ana", "1.75")
    assert ledger.verify().ok


@pytest.mark.parametrize("rule", ["zcdp", "gaussian"])
def test_a_closed_grant_of_another_rule_returns_nothing(ledger: Ledger, rule: str) -> None:
    ledger.grant("clinic", "bob", "1", "1e-5", rule)
    ledger.close_grant("clinic", "bob")
    statement = ledger.statement("clinic")
    assert (statement.ungranted_epsilon, statement.ungranted_delta) == (0, 0)


def test_a_closed_grant_whose_first_question_needed_all_of_it_returns_nothing(ledger: Ledger) -> None:
    ledger.grant("clinic", "bob", "1", "1e-5", "sum")
    ledger.reserve("clinic", "bob", GaussianEvent(ROW, "1", "4"))
    ledger.close_grant("clinic", "bob")
    statement = ledger.statement("clinic")
    assert (statement.ungranted_epsilon, statement.ungranted_delta) == (0, 0)


def test_a_pending_reservation_may_be_committed_after_its_grant_is_closed(ledger: Ledger) -> None:
    reservation = ledger.reserve("clinic", "ana", pure("0.25"), "how many?")
    ledger.close_grant("clinic", "ana")
    assert reservation.commit(3).data["answer"] == 3
    assert ledger.reserve("clinic", "ana", pure("0.25"), "how many?").replayed


@pytest.mark.parametrize("rule", ["sum", "zcdp", "gaussian"])
def test_the_first_question_may_use_the_whole_grant_and_nothing_follows(ledger: Ledger, rule: str) -> None:
    sigma = Fraction(1 / gaussian_mu(1.0, 1e-5)) * (1 + Fraction(1, 10**8))
    event = GaussianEvent(ROW, 1, sigma)
    assert compose(event).approximate("1e-5").epsilon > exact("0.999999")
    ledger.grant("clinic", "bob", "1", "1e-5", rule)
    ledger.reserve("clinic", "bob", event)
    for more in (pure("1e-9"), GaussianEvent(ROW, 1, 10**9)):
        with pytest.raises(BudgetExceededError):
            ledger.reserve("clinic", "bob", more)
    assert ledger.verify().ok


def test_a_gaussian_question_two_percent_too_costly_does_not_fit(ledger: Ledger) -> None:
    sigma = Fraction(1 / gaussian_mu(1.0, 1e-5)) * Fraction(98, 100)
    ledger.grant("clinic", "bob", "1", "1e-5")
    with pytest.raises(BudgetExceededError):
        ledger.reserve("clinic", "bob", GaussianEvent(ROW, 1, sigma))


def test_a_promise_about_other_neighbours_is_not_mixed_in(ledger: Ledger) -> None:
    other = PureEvent(Neighbours(relation=Relation.REPLACE_ONE), "0.1")
    with pytest.raises(MixedNeighboursError):
        ledger.reserve("clinic", "ana", other)
    with pytest.raises(MixedNeighboursError):
        ledger.quote("clinic", "ana", other)


@pytest.mark.parametrize("inside", [False, True])
def test_an_event_without_a_promise_is_refused(ledger: Ledger, inside: bool) -> None:
    event = UnboundedEvent(ROW, "rows")
    with pytest.raises(BudgetExceededError):
        ledger.reserve("clinic", "ana", ComposedEvent(ROW, (pure("0.1"), event)) if inside else event)


def test_a_release_without_a_guarantee_is_never_forgotten(ledger: Ledger) -> None:
    ledger.record_unbounded("clinic", "a 5-anonymous table")
    ledger.record_unbounded("harbour", "a map")
    warning = "The table clinic had 1 release without a guarantee, which no budget covers."
    budget, warned, granted = ledger.statement("clinic").sentences()
    assert budget.startswith("The table clinic has a budget")
    assert warned == warning
    assert granted.startswith("ana was granted")
    assert ledger.statement("harbour").unbounded == ("a map",)
    assert warning in ledger.verify().notes


def test_a_quote_spends_nothing_and_is_exact(ledger: Ledger) -> None:
    head = ledger.head()
    quote = ledger.quote("clinic", "ana", LaplaceEvent(ROW, 1, 4))
    assert (quote.fits, quote.epsilon, quote.left_after) == (True, Fraction(1, 4), Fraction(3, 4))
    assert (quote.share_before, quote.share_after) == (0, Fraction(1, 4))
    assert ledger.head() == head
    assert not ledger.quote("clinic", "ana", pure("1.1")).fits


def test_a_quote_knows_answered_questions(ledger: Ledger) -> None:
    ask(ledger, pure(1), "how many?")
    assert not ledger.quote("clinic", "ana", pure(1), "how old?").fits
    again = ledger.quote("clinic", "ana", pure(1), "how many?")
    assert (again.fits, again.replayed, again.left_after) == (True, True, 0)


def test_a_statement_says_it_in_words(ledger: Ledger) -> None:
    ask(ledger, pure("0.25"))
    ledger.reserve("clinic", "ana", pure("0.25"))
    assert ledger.statement("clinic").sentences() == [
        "The table clinic has a budget of epsilon 2 and delta 0.00001 (one row, add-or-remove-one), "
        "of which epsilon 1 and delta 0.00001 are not granted.",
        "ana was granted epsilon 1 and delta 0 (sum rule) and has used 50% of it on 2 questions, "
        "of which 1 pending; epsilon 0.5 is left.",
    ]


def test_the_answer_of_a_rehearsal_is_marked(ledger: Ledger) -> None:
    with ledger.spend("clinic", "ana", pure("0.1"), "q", rehearsal=True) as spend:
        spend.commit(3)
    assert ledger.history("clinic")[-1].data["rehearsal"] is True
    again = ledger.reserve("clinic", "ana", pure("0.1"), "q", rehearsal=True)
    assert again == Replay(spend.entry)
    assert (again.seq, again.answer, again.rehearsal) == (5, 3, True)


def test_the_ledger_stores_the_event_and_no_epsilon_computed_from_it(ledger: Ledger) -> None:
    event = LaplaceEvent(ROW, 1, 10)
    ledger.reserve("clinic", "ana", event)
    body = ledger.history()[-1].data
    assert body["event"] == event.to_dict()
    assert "epsilon" not in str(body)


def test_history_is_about_whom_it_is_asked_for(ledger: Ledger) -> None:
    ledger.grant("clinic", "bob", "1")
    ledger.create_budget("harbour", "1")
    ask(ledger, pure("0.1"))
    assert [entry.kind for entry in ledger.history("clinic", "ana")] == ["grant", "reserve", "commit"]
    assert [entry.kind for entry in ledger.history(analyst="bob")] == ["grant"]
    assert len(ledger.history()) == 7

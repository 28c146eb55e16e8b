"""Nobody is told that nothing is left while a further question fits, and nobody the other way round."""

from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ziggurat.errors import BudgetExceededError
from ziggurat.ledger import Ledger
from ziggurat.privacy import (
    ApproximateEvent,
    Event,
    GaussianEvent,
    Neighbours,
    PureEvent,
    RepeatedEvent,
    ZeroConcentratedEvent,
)

ROW = Neighbours()


def spoken(ledger: Ledger) -> str:
    return ledger.statement("clinic").sentences()[-1]


@pytest.fixture
def bob(ledger: Ledger) -> Ledger:
    """Also grants (1, 1e-5) to bob, under the zcdp rule."""
    ledger.grant("clinic", "bob", "1", "1e-5")
    return ledger


def test_a_zcdp_grant_is_stated_in_both_measures(bob: Ledger) -> None:
    assert "100% is left, that is epsilon 1 by addition or rho ≈0.0" in spoken(bob)
    bob.reserve("clinic", "bob", ZeroConcentratedEvent(ROW, "0.01"))
    share, left = bob.share_left("clinic", "bob"), bob.left("clinic", "bob")
    assert (left, Fraction(1, 2) < share < 1) == (0, True)
    assert f"{float(100 * share):.3g}"[:2] in spoken(bob)
    assert "that is rho ≈0.0" in spoken(bob)
    assert "epsilon 0 " not in spoken(bob)


def test_a_quote_and_a_refusal_say_what_is_left_in_the_measure_that_counts(bob: Ledger) -> None:
    event = GaussianEvent(ROW, 1, 8)
    quote = bob.quote("clinic", "bob", event)
    assert quote.fits
    assert "leaving ≈" in quote.sentence
    assert "rho" in quote.sentence
    bob.reserve("clinic", "bob", event)
    with pytest.raises(BudgetExceededError, match=r"\(≈[0-9.]+%, that is rho ≈[0-9.]+ under the zcdp rule\)"):
        bob.reserve("clinic", "bob", GaussianEvent(ROW, 1, 2))


def test_a_sum_of_epsilons_that_is_used_up_is_not_the_end_of_a_zcdp_grant(bob: Ledger) -> None:
    bob.reserve("clinic", "bob", RepeatedEvent(ROW, PureEvent(ROW, "0.01"), 100))
    assert bob.left("clinic", "bob") == 0
    assert bob.share_left("clinic", "bob") > 0
    assert bob.statement("clinic").grants[1].share < 1
    assert "that is rho" in spoken(bob)
    bob.reserve("clinic", "bob", PureEvent(ROW, "0.01"))


def test_a_first_question_that_needs_all_leaves_nothing(bob: Ledger) -> None:
    bob.reserve("clinic", "bob", GaussianEvent(ROW, 1, 4))
    assert bob.share_left("clinic", "bob") == 0
    assert spoken(bob).endswith("used 100% of it on 1 question, of which 1 pending; nothing is left.")
    with pytest.raises(BudgetExceededError, match=r"\(nothing under the zcdp rule\)"):
        bob.reserve("clinic", "bob", PureEvent(ROW, "1e-9"))


def test_a_refusal_for_want_of_delta_says_so(ledger: Ledger) -> None:
    ledger.grant("clinic", "bob", "1", "1e-6", "sum")
    ledger.reserve("clinic", "bob", ApproximateEvent(ROW, "0.1", "1e-6"))
    assert spoken(ledger).endswith("epsilon 0.9 is left, with delta 0 for questions that have one.")
    with pytest.raises(
        BudgetExceededError, match=r"epsilon 0\.9 and delta 0 under the sum rule; its own delta is 1e-9\)"
    ):
        ledger.reserve("clinic", "bob", ApproximateEvent(ROW, "0.1", "1e-9"))


def test_a_closed_grant_has_nothing_left(bob: Ledger) -> None:
    bob.close_grant("clinic", "bob")
    assert spoken(bob).endswith("; the grant is closed.")
    assert bob.statement("clinic").grants[1].share_left == 0


costs: st.SearchStrategy[Event] = st.one_of(
    st.sampled_from(["0.01", "0.1", "0.3"]).map(lambda epsilon: PureEvent(ROW, epsilon)),
    st.sampled_from(["0.001", "0.01"]).map(lambda rho: ZeroConcentratedEvent(ROW, rho)),
    st.sampled_from(["5", "10", "20"]).map(lambda sigma: GaussianEvent(ROW, 1, sigma)),
)


@given(rule=st.sampled_from(["sum", "zcdp", "gaussian"]), asked=st.lists(costs, min_size=1, max_size=25))
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_words_and_shares_agree_with_what_fits(
    tmp_path_factory: pytest.TempPathFactory, rule: str, asked: list[Event]
) -> None:
    with Ledger.open(tmp_path_factory.mktemp("left") / "ledger.db") as ledger:
        ledger.create_budget("clinic", 1, "1e-5")
        ledger.grant("clinic", "ana", 1, "1e-5", rule)
        for event in asked:
            none_left = ledger.share_left("clinic", "ana") == 0
            said_none = "nothing is left" in spoken(ledger) or "; epsilon 0 is left" in spoken(ledger)
            assert said_none == none_left
            fits = ledger.quote("clinic", "ana", event).fits
            assert not (fits and none_left)
            if fits:
                ledger.reserve("clinic", "ana", event)


def test_rehearsals_show_in_the_statement(ledger: Ledger) -> None:
    event = PureEvent(ROW, "0.1")
    ledger.reserve("clinic", "ana", event)
    ledger.reserve("clinic", "ana", event, rehearsal=True)
    assert spoken(ledger) == "1 of these questions was a rehearsal; its answer may never be published."
    ledger.reserve("clinic", "ana", event, rehearsal=True)
    assert spoken(ledger) == "2 of these questions were rehearsals; their answers may never be published."
    assert ledger.statement("clinic").grants[0].rehearsals == 2

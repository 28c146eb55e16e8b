"""What a grant has left is told with the reason where a single question took all of it."""

import pytest

from ziggurat.ledger import Ledger
from ziggurat.privacy import ApproximateEvent, GaussianEvent, Neighbours, PureEvent, RenyiEvent

ROW = Neighbours()
# About (1, 1e-6)-DP, of a grant of (6, 1e-6): what one linear model, or one logistic regression, costs.
GAUSSIAN = GaussianEvent(ROW, 1, "4.2246")


@pytest.fixture
def book(tmp_path):
    with Ledger.open(tmp_path / "ledger.db") as opened:
        opened.create_budget("clinic", 6, "1e-6", ROW)
        yield opened


@pytest.mark.parametrize(
    ("rule", "event", "said"),
    [
        ("sum", GAUSSIAN, "epsilon 0, because the first question has no epsilon that the sum rule could add up"),
        ("zcdp", ApproximateEvent(ROW, 1, "1e-6"), "nothing, because the first question has a delta of 0.000001"),
        ("gaussian", RenyiEvent(ROW, ("20",), ("0.1",)), "nothing, because the first question has no epsilon or"),
    ],
)
def test_a_quote_and_a_statement_say_why_a_question_takes_the_whole_grant(book, rule, event, said):
    book.grant("clinic", "ana", 6, "1e-6", rule)
    quote = book.quote("clinic", "ana", event)
    assert quote.fits
    assert f"leaving {said}" in quote.sentence
    book.reserve("clinic", "ana", event)
    assert said.replace(", because", " is left, because") in book.statement("clinic").sentences()[-1]
    assert not book.quote("clinic", "ana", PureEvent(ROW, "0.001")).fits


def test_nothing_is_explained_where_the_sum_of_epsilons_is_simply_reached(book):
    book.grant("clinic", "ana", 6, "1e-6", "sum")
    quote = book.quote("clinic", "ana", PureEvent(ROW, 6))
    assert quote.sentence.endswith("leaving epsilon 0.")
    assert "epsilon 5, with delta 0 for" in book.quote("clinic", "ana", ApproximateEvent(ROW, 1, "1e-6")).sentence

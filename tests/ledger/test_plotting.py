"""Pictures of a ledger: every grant with what is used of it, and how it came about."""

import matplotlib as mpl
import pytest
from matplotlib import pyplot

from ziggurat.errors import LedgerUseError, ParameterError
from ziggurat.ledger import Ledger
from ziggurat.privacy import Neighbours, PureEvent

mpl.use("Agg")


@pytest.fixture
def ledger(tmp_path):
    with Ledger.open(tmp_path / "ledger.db") as made:
        made.create_budget("clinic", 4)
        made.grant("clinic", "ada", 2)
        made.grant("clinic", "bo", 1)
        for part in ("0.5", "0.25"):
            made.reserve("clinic", "ada", PureEvent(Neighbours(), part))
        yield made
    pyplot.close("all")


def test_a_bar_is_as_long_as_the_grant_and_filled_as_far_as_it_is_used(ledger):
    axes = ledger.plot("clinic")
    assert [bar.get_width() for bar in axes.patches] == [2, 0.75, 1, 0]
    assert [each.get_text() for each in axes.get_yticklabels()] == ["ada", "bo"]
    assert [each.get_text() for each in axes.get_legend().get_texts()] == ["budget 4"]


def test_over_time_every_reservation_is_a_step(ledger):
    lines = {line.get_label(): list(line.get_ydata()) for line in ledger.plot(by="time").get_lines()}
    assert lines["clinic · ada"] == [0, 0.25, 0.375]
    assert lines["clinic · bo"] == [0]


def test_it_draws_where_it_is_told(ledger):
    _, axes = pyplot.subplots()
    assert ledger.plot(ax=axes) is axes


def test_nothing_granted_and_another_axis_are_refused(tmp_path):
    with Ledger.open(tmp_path / "empty.db") as empty:
        with pytest.raises(LedgerUseError, match="nothing to draw"):
            empty.plot()
        with pytest.raises(ParameterError, match="by='analyst'"):
            empty.plot(by="day")

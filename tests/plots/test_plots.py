"""Pictures of answers: intervals drawn, axes labelled, rehearsals marked, and never too much in one."""

from datetime import date, timedelta

import matplotlib as mpl
import pytest
from matplotlib import pyplot

from ziggurat.errors import ParameterError
from ziggurat.plots import MOST_BARS, REHEARSED, PlottedColumn, is_in_time, plot_columns

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


def column(keys, groups, values, reach=2):
    return PlottedColumn("n", keys, groups, values, [v - reach for v in values], [v + reach for v in values])


def draw(*columns, rehearsal=False, ax=None):
    return plot_columns(columns, "SELECT n", 0.95, rehearsal, ax)


def texts(axes):
    return [each.get_text() for each in axes.figure.findobj(mpl.text.Text)]


def test_a_number_is_a_point_with_its_interval():
    axes = draw(column((), [()], [500]))
    assert axes.get_xlabel() == "n (noisy value, 95% interval)"
    assert "500  [498, 502]" in texts(axes)


def test_groups_are_bars_with_intervals():
    axes = draw(column(("sex",), [("f",), ("m",)], [10, 20]))
    assert [bar.get_height() for bar in axes.patches] == [10, 20]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("sex", "n (noisy value, 95% interval)")
    ends = [tuple(segment[:, 1]) for segment in axes.collections[0].get_segments()]
    assert ends == [(8, 12), (18, 22)]


def test_many_groups_lie_and_those_left_out_are_counted():
    axes = draw(column(("town",), [(f"town {i}",) for i in range(100)], list(range(100))))
    assert len(axes.patches) == MOST_BARS
    assert "60 more groups are not drawn" in axes.get_xlabel()
    assert axes.get_ylabel() == "town"


def test_long_names_lie():
    axes = draw(column(("what",), [("a very long diagnosis indeed",), ("b",)], [1, 2]))
    assert [bar.get_width() for bar in axes.patches] == [1, 2]


def test_days_are_a_line_with_a_band():
    days = [(date(2024, 1, 1) + timedelta(days=i),) for i in range(10)]
    axes = draw(column(("day",), days[::-1], list(range(10))))
    (line,) = axes.get_lines()
    assert list(line.get_ydata()) == list(range(9, -1, -1)), "in the order of time"
    assert len(axes.collections) == 1


def test_two_keys_are_bars_of_several_colours_with_a_legend():
    groups = [(a, b) for a in ("x", "y", "z") for b in ("f", "m")]
    axes = draw(column(("kind", "sex"), groups, [1, 2, 3, 4, 5, 6]))
    assert len({bar.get_facecolor() for bar in axes.patches}) == 2
    assert [each.get_text() for each in axes.get_legend().get_texts()] == ["f", "m"]


def test_a_rehearsal_is_marked_on_every_panel_and_nothing_else_is():
    panels = draw(column((), [()], [1]), column((), [()], [2]), rehearsal=True)
    assert texts(panels[0]).count(REHEARSED) == 2
    assert REHEARSED not in texts(draw(column((), [()], [1])))


def test_it_draws_where_it_is_told_and_gives_that_back():
    _, axes = pyplot.subplots()
    assert draw(column((), [()], [1]), ax=axes) is axes
    with pytest.raises(ParameterError, match="name one of them"):
        draw(column((), [()], [1]), column((), [()], [2]), ax=axes)


def test_what_is_no_number_is_refused_and_what_is_missing_left_out():
    words = PlottedColumn("m", (), [()], ["asthma"], [None], [None])
    with pytest.raises(ParameterError, match="no number"):
        draw(words)
    gap = PlottedColumn("x", ("k",), [("a",), ("b",)], [None, 2.0], [None, 1.0], [None, 3.0])
    assert [bar.get_height() for bar in draw(gap).patches] == [2.0]


def test_dollars_are_no_formulas():
    axes = draw(column(("$x$",), [("$a_b$",), ("c",)], [1, 2]))
    axes.figure.canvas.draw()
    assert "$a_b$" in texts(axes)


@pytest.mark.parametrize(
    ("name", "values", "timed"),
    [
        ("born", [date(2024, 1, 1), date(2024, 1, 2), date(2024, 1, 3)], True),
        ("when", ["2024-01", "2024-02", "2024-03"], True),
        ("admission_year", [2019, 2020, 2021], True),
        ("age", [19, 20, 21], False),
        ("postcode", ["80331", "80332", "80333"], False),
        ("birthday party", ["a", "b", "c"], False),
    ],
)
def test_moments_are_known_by_their_values_or_their_name(name, values, timed):
    assert is_in_time(name, values) is timed

"""Pictures of values with intervals, in the house style, drawn by matplotlib into a notebook or a file."""

from ziggurat.plots._column import PlottedColumn, cross_groups, is_in_time
from ziggurat.plots._plot import REHEARSED, WIDTH, make_axes, mark_rehearsal, name_panel, plot_columns
from ziggurat.plots._shapes import MOST_BARS

__all__ = [
    "MOST_BARS",
    "REHEARSED",
    "WIDTH",
    "PlottedColumn",
    "cross_groups",
    "is_in_time",
    "make_axes",
    "mark_rehearsal",
    "name_panel",
    "plot_columns",
]

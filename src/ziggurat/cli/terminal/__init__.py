"""How things look in the terminal and in picture files."""

from ziggurat.cli.terminal._picture_file import draw_into
from ziggurat.cli.terminal._pictures import bar, budget_bars, error_bar
from ziggurat.cli.terminal._printed import Printed
from ziggurat.cli.terminal._show import schema_table

__all__ = [
    "Printed",
    "bar",
    "budget_bars",
    "draw_into",
    "error_bar",
    "schema_table",
]

"""How things look in the terminal and in picture files."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.cli.terminal._picture_file import draw_into, save_plot
    from ziggurat.cli.terminal._pictures import bar, budget_bars, error_bar
    from ziggurat.cli.terminal._printed import Printed
    from ziggurat.cli.terminal._progress import show_bar, show_status, show_steps
    from ziggurat.cli.terminal._show import schema_table
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_picture_file": "draw_into save_plot",
            "_pictures": "bar budget_bars error_bar",
            "_printed": "Printed",
            "_progress": "show_bar show_status show_steps",
            "_show": "schema_table",
        },
    )

__all__ = [
    "Printed",
    "bar",
    "budget_bars",
    "draw_into",
    "error_bar",
    "save_plot",
    "schema_table",
    "show_bar",
    "show_status",
    "show_steps",
]

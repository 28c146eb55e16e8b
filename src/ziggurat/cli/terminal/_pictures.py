"""Small pictures for the terminal."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from ziggurat.ledger import Statement

_WIDTH = 32


def bar(share: float, width: int = _WIDTH, colour: str = "cyan") -> Text:
    """A horizontal bar of which `share` is filled."""
    filled = round(max(0.0, min(share, 1.0)) * width)
    return Text("█" * filled, style=colour) + Text("░" * (width - filled), style="dim")


def budget_bars(statement: Statement) -> Table:
    """One bar per grant: how much of it is used."""
    table = Table(box=None, padding=(0, 1), show_header=True, header_style="dim")
    for heading in ("analyst", "used", "", "left"):
        table.add_column(heading)
    for item in statement.grants:
        share = min(item.share, Fraction(1))
        colour = "red" if share > Fraction(9, 10) else "yellow" if share > Fraction(1, 2) else "green"
        left = "closed" if item.closed else item.remainder.amount
        table.add_row(Text(item.grant.analyst), bar(float(share), colour=colour), f"{float(share):.0%}", left)
    return table


def error_bar(value: float, half_width: float, largest: float, width: int = 44) -> Text:
    """A bar up to the noisy value, with the interval that holds the true one drawn over its end."""
    low, middle, high = (round(max(0.0, x) / largest * width) for x in (value - half_width, value, value + half_width))
    drawn = ["█" if i < middle else " " for i in range(max(high, middle) + 1)]
    for i in range(low, high + 1):
        drawn[i] = "─"
    drawn[low], drawn[high] = "├", "┤"
    text = Text("".join(drawn[:low]), style="cyan")
    return text + Text("".join(drawn[low:]), style="bold yellow")

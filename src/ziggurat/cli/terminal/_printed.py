"""Text for tables in the terminal, of which no cell can leave its line or speak to the terminal."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from ziggurat.wording import printable


class Printed(Text):
    """Text as `rich` shows it, without markup, and with control characters as escapes.

    Parameters
    ----------
    text
        By whomever.
    style
        As `rich` writes styles.
    **options
        As `Text` takes them.
    """

    def __init__(self, text: str = "", style: str = "", **options: Any) -> None:
        super().__init__(printable(text), style, **options)

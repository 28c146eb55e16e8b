"""A picture of every generalisation: what it loses, and how exposed people are in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ziggurat.cli.terminal import draw_into

if TYPE_CHECKING:
    from ziggurat.anonymize import Anonymized


def save_frontier(made: Anonymized, file: str) -> None:
    """Draw loss against average risk for every generalisation, the chosen one marked, whole or not at all."""
    with draw_into(file, 8.4, 4.4) as sheet:
        made.plot(sheet.subplots())

"""What is done before a reservation, and between it and its answer: whatever goes wrong leaves as an error of ours.

A spend is never given back: whoever can make reading fail would have a question answered by the failure alone, as often
as they like. So an engine is asked *before* anything is reserved whether it lives, by a question that reads no row and
says nothing about one. What fails afterwards stays paid for, also if the connection is cut while the engine reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from ziggurat.data import Table
from ziggurat.errors import EngineError, ZigguratError

Result = TypeVar("Result")

SPENT = "something may have been read, so the cost stays spent"


def require_ready(tables: Iterable[Table]) -> None:
    """Refuse to pay for tables whose engines are gone; those that can be reached again are."""
    for table in tables:
        try:
            table.ready()
        except ZigguratError as error:
            raise type(error)(f"{str(error).rstrip('.')}; nothing was spent.") from None


def paid(step: Callable[[], Result], then: str = SPENT) -> Result:
    """Do what was paid for; whatever goes wrong leaves as an error of ours that quotes nothing."""
    kind: type[ZigguratError] = EngineError
    try:
        return step()
    except ZigguratError as error:
        kind, reason = type(error), str(error)
    except Exception as error:  # noqa: BLE001  (foreign errors may quote cells)
        reason = f"Answering failed ({type(error).__name__}); its own message is withheld because it may quote cells."
    # Raised outside the handlers, so that not even __context__ leads to the error's own message.
    raise kind(f"{reason.rstrip('.')}; {then}.")

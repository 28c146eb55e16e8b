"""What is done between a reservation and its answer: whatever goes wrong leaves as an error of ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ziggurat.errors import EngineError, ZigguratError

Result = TypeVar("Result")

SPENT = "something may have been read, so the cost stays spent"


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

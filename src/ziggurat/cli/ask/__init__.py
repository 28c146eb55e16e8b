"""`ziggurat ask` and `ziggurat quote`: questions that are paid for before anything is read."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.cli.ask._command import ask, quote
else:
    __getattr__, __dir__ = lazy(__name__, {"_command": "ask quote"})

__all__ = ["ask", "quote"]

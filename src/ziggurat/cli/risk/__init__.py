"""`ziggurat risk`: the command, and its page."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.cli.risk._command import risk
else:
    __getattr__, __dir__ = lazy(__name__, {"_command": "risk"})

__all__ = ["risk"]

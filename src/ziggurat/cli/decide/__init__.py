"""`ziggurat decide`: the command, and its table and picture."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.cli.decide._command import decide
else:
    __getattr__, __dir__ = lazy(__name__, {"_command": "decide"})

__all__ = ["decide"]

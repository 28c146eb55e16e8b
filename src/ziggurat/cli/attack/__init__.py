"""`ziggurat attack`: the command, how models and people are read, and its page."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.cli.attack._command import attack
else:
    __getattr__, __dir__ = lazy(__name__, {"_command": "attack"})

__all__ = ["attack"]

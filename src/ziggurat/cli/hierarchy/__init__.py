"""`ziggurat hierarchy`: the commands, and trees in the terminal."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.cli.hierarchy._command import app
else:
    __getattr__, __dir__ = lazy(__name__, {"_command": "app"})

__all__ = ["app"]

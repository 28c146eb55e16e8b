"""`ziggurat write`: headlines in the terminal."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.cli.write._command import write
else:
    __getattr__, __dir__ = lazy(__name__, {"_command": "write"})

__all__ = ["write"]

"""`ziggurat mask`: options, what is done to which column, and how that is shown."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.cli.mask._command import mask
else:
    __getattr__, __dir__ = lazy(__name__, {"_command": "mask"})

__all__ = ["mask"]

"""`ziggurat collect`: reports of every row of a file, and of oneself to a survey."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.cli.collect._command import collect
else:
    __getattr__, __dir__ = lazy(__name__, {"_command": "collect"})

__all__ = ["collect"]

"""`ziggurat audit`: promises, tried from outside on invented data."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.cli.audit._command import audit
else:
    __getattr__, __dir__ = lazy(__name__, {"_command": "audit"})

__all__ = ["audit"]

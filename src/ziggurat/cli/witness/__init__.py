"""`ziggurat witness`: keep receipts of ledgers that others write."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.cli.witness._command import app
else:
    __getattr__, __dir__ = lazy(__name__, {"_command": "app"})

__all__ = ["app"]

"""`ziggurat anonymize`: options, the search, and how its outcome is shown and drawn."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.cli.anonymize._command import anonymize
else:
    __getattr__, __dir__ = lazy(__name__, {"_command": "anonymize"})

__all__ = ["anonymize"]

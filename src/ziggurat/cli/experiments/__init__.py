"""`ziggurat reproduce` and `ziggurat experiment`."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.cli.experiments._command import app, reproduce
    from ziggurat.cli.experiments._tables import catalogue_table
else:
    __getattr__, __dir__ = lazy(__name__, {"_command": "app reproduce", "_tables": "catalogue_table"})

__all__ = ["app", "catalogue_table", "reproduce"]

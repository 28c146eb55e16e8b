"""`ziggurat table`: from several rows of a person to one, and from two tables about the same people to one."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.cli.table._command import app
else:
    __getattr__, __dir__ = lazy(__name__, {"_command": "app"})

__all__ = ["app"]

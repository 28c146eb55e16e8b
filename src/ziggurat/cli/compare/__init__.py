"""`ziggurat compare`: what it is given, and its tables, pictures and page."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.cli.compare._command import compare
    from ziggurat.cli.compare._show import attack_table
else:
    __getattr__, __dir__ = lazy(__name__, {"_command": "compare", "_show": "attack_table"})

__all__ = ["attack_table", "compare"]

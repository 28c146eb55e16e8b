"""`ziggurat synthesize`: options, and the release of copies; `ziggurat mobility` tells its releases alike."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.cli.synthesize._command import say_release, show_progress, synthesize
    from ziggurat.cli.synthesize._options import read_share_or_table
else:
    __getattr__, __dir__ = lazy(
        __name__, {"_command": "say_release show_progress synthesize", "_options": "read_share_or_table"}
    )

__all__ = ["read_share_or_table", "say_release", "show_progress", "synthesize"]

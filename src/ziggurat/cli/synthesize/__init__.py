"""`ziggurat synthesize`: options, and the release of copies."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.cli.synthesize._command import synthesize
else:
    __getattr__, __dir__ = lazy(__name__, {"_command": "synthesize"})

__all__ = ["synthesize"]

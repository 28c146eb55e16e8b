"""The command line: a thin door that plans, runs and inspects."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy
from ziggurat.cli._endings import EXIT_CODES, main

if TYPE_CHECKING:
    from ziggurat.cli._app import app
else:
    __getattr__, __dir__ = lazy(__name__, {"_app": "app"})

__all__ = ["EXIT_CODES", "app", "main"]

"""`ziggurat model`: fit, predict, evaluate, serve, answer and show."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.cli.model._command import app
    from ziggurat.cli.model._folders import load_model, read_promise
    from ziggurat.cli.model._options import PROMISE
else:
    __getattr__, __dir__ = lazy(
        __name__, {"_command": "app", "_folders": "load_model read_promise", "_options": "PROMISE"}
    )

__all__ = ["PROMISE", "app", "load_model", "read_promise"]

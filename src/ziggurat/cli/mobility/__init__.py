"""`ziggurat mobility`: visits of people, how risky they are, and trajectories that can leave."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.cli.mobility._command import app
else:
    __getattr__, __dir__ = lazy(__name__, {"_command": "app"})

__all__ = ["app"]

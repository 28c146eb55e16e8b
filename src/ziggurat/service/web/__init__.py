"""The service over HTTP: one error shape, every route authorised, nothing raw in a log."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.service.web._app import make_app
    from ziggurat.service.web._running import run_service
else:
    __getattr__, __dir__ = lazy(__name__, {"_app": "make_app", "_running": "run_service"})

__all__ = ["make_app", "run_service"]

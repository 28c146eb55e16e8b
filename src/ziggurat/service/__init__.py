"""Privacy as a service: people, tables, questions, jobs and releases over HTTP; a route is a plan given to a purse."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.service._house import welcome
    from ziggurat.service._settings import ServiceSettings
    from ziggurat.service.web import make_app, run_service
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {"_house": "welcome", "_settings": "ServiceSettings", "web": "make_app run_service"},
    )

__all__ = ["ServiceSettings", "make_app", "run_service", "welcome"]

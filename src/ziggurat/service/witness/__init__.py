"""A witness as a server: it keeps signed receipts of ledgers on other machines, in a folder of this one."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.service.witness._routes import make_witness_app
    from ziggurat.service.witness._serving import ServedWitness
    from ziggurat.service.witness._token import TokenFile
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {"_routes": "make_witness_app", "_serving": "ServedWitness", "_token": "TokenFile"},
    )

__all__ = ["ServedWitness", "TokenFile", "make_witness_app"]

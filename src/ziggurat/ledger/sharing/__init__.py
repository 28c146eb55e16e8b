"""One process writes for the others of this machine while several spend at once: a clerk, and the desks that ask it."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.ledger.sharing._clerk import Clerk, Commission
    from ziggurat.ledger.sharing._desk import KEEN, Desk, Doubt
    from ziggurat.ledger.sharing._orders import (
        ORDERED,
        Decide,
        ReserveCall,
        decide_as,
        make_hold,
        order_entry,
        read_order,
    )
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_clerk": "Clerk Commission",
            "_desk": "KEEN Desk Doubt",
            "_orders": "ORDERED Decide ReserveCall decide_as make_hold order_entry read_order",
        },
    )

__all__ = [
    "KEEN",
    "ORDERED",
    "Clerk",
    "Commission",
    "Decide",
    "Desk",
    "Doubt",
    "ReserveCall",
    "decide_as",
    "make_hold",
    "order_entry",
    "read_order",
]

"""Checkpoints: what the entries before one add up to, and what it lets go of, found again through an index."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.ledger.checkpoints._archive import Archive
    from ziggurat.ledger.checkpoints._checkpoint import EVERY, make_checkpoint, name_notes, open_checkpoint, point
    from ziggurat.ledger.checkpoints._verified import (
        VerifiedNote,
        recall_replaced,
        recall_verified,
        remember_verified,
    )
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_archive": "Archive",
            "_checkpoint": "EVERY make_checkpoint name_notes open_checkpoint point",
            "_verified": "VerifiedNote recall_replaced recall_verified remember_verified",
        },
    )

__all__ = [
    "EVERY",
    "Archive",
    "VerifiedNote",
    "make_checkpoint",
    "name_notes",
    "open_checkpoint",
    "point",
    "recall_replaced",
    "recall_verified",
    "remember_verified",
]

"""Witnesses: signed receipts of a ledger's entries, kept where whoever writes the ledger cannot rewrite them."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.ledger.witness._guard import Guard, Unfinished
    from ziggurat.ledger.witness._naming import Naming, WitnessStatement, state_witness
    from ziggurat.ledger.witness._place import Seen, Witness, open_witness, see
    from ziggurat.ledger.witness._verdict import hear
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_guard": "Guard Unfinished",
            "_naming": "Naming WitnessStatement state_witness",
            "_place": "Seen Witness open_witness see",
            "_verdict": "hear",
        },
    )

__all__ = [
    "Guard",
    "Naming",
    "Seen",
    "Unfinished",
    "Witness",
    "WitnessStatement",
    "hear",
    "open_witness",
    "see",
    "state_witness",
]

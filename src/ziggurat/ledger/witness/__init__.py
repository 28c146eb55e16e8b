"""Witnesses: signed receipts of a ledger's entries, kept where whoever writes the ledger cannot rewrite them."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.ledger.witness._access import is_loopback, keep_access, read_certificate
    from ziggurat.ledger.witness._folder import FolderWitness, list_watched
    from ziggurat.ledger.witness._guard import Guard, Unfinished
    from ziggurat.ledger.witness._naming import Naming, WitnessStatement, state_witness
    from ziggurat.ledger.witness._place import Seen, Witness, is_file_name, open_witness, see
    from ziggurat.ledger.witness._verdict import hear
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_access": "is_loopback keep_access read_certificate",
            "_folder": "FolderWitness list_watched",
            "_guard": "Guard Unfinished",
            "_naming": "Naming WitnessStatement state_witness",
            "_place": "Seen Witness is_file_name open_witness see",
            "_verdict": "hear",
        },
    )

__all__ = [
    "FolderWitness",
    "Guard",
    "Naming",
    "Seen",
    "Unfinished",
    "Witness",
    "WitnessStatement",
    "hear",
    "is_file_name",
    "is_loopback",
    "keep_access",
    "list_watched",
    "open_witness",
    "read_certificate",
    "see",
    "state_witness",
]

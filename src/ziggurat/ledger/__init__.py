"""Durable budgets: grants, reservations, spends and a hash chain, in SQLite or PostgreSQL."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.ledger._chain import Entry, Head, canonical
    from ziggurat.ledger._entries import Budget, Grant
    from ziggurat.ledger._keys import (
        PrivateKey,
        PublicKey,
        fingerprint,
        generate_key,
        load_private_key,
        load_public_key,
        public_hex,
        public_text,
        settings,
        signature_holds,
    )
    from ziggurat.ledger._ledger import Ledger, verify_ledger
    from ziggurat.ledger._signing import Receipt
    from ziggurat.ledger._spend import Replay, Reservation, Spend
    from ziggurat.ledger._statement import GrantStatement, PopulationStatement, Quote, Statement, Total
    from ziggurat.ledger._verify import LedgerProblem, Verification
    from ziggurat.ledger.marks import LedgerMark
    from ziggurat.ledger.witness import WitnessStatement
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_chain": "Entry Head canonical",
            "_entries": "Budget Grant",
            "_keys": """
                PrivateKey PublicKey fingerprint generate_key load_private_key load_public_key public_hex public_text
                settings signature_holds
            """,
            "_ledger": "Ledger verify_ledger",
            "marks": "LedgerMark",
            "_signing": "Receipt",
            "_spend": "Replay Reservation Spend",
            "_statement": "GrantStatement PopulationStatement Quote Statement Total",
            "_verify": "LedgerProblem Verification",
            "witness": "WitnessStatement",
        },
    )

__all__ = [
    "Budget",
    "Entry",
    "Grant",
    "GrantStatement",
    "Head",
    "Ledger",
    "LedgerMark",
    "LedgerProblem",
    "PopulationStatement",
    "PrivateKey",
    "PublicKey",
    "Quote",
    "Receipt",
    "Replay",
    "Reservation",
    "Spend",
    "Statement",
    "Total",
    "Verification",
    "WitnessStatement",
    "canonical",
    "fingerprint",
    "generate_key",
    "load_private_key",
    "load_public_key",
    "public_hex",
    "public_text",
    "settings",
    "signature_holds",
    "verify_ledger",
]

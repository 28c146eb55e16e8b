"""Whom the budget protects that would pay for something."""

from __future__ import annotations

from ziggurat.errors import MixedNeighboursError
from ziggurat.ledger import Ledger
from ziggurat.privacy import Neighbours


def protected(ledger: Ledger, budget: str, whom: Neighbours, analyst: str) -> Neighbours:
    """Whom the budget protects that pays for what is promised to `whom`; if none does, the one of this name.

    A method that can promise under several relations then chooses the one of that budget, and refuses in its own words
    what it cannot promise.
    """
    try:
        return ledger.paying(budget, whom, analyst).neighbours
    except MixedNeighboursError:
        return ledger.budget(budget).neighbours

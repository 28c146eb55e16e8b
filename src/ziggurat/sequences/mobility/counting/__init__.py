"""Counts of visits of which one unit adds at most a bound: in memory, or as aggregates of the engine that holds them.

A `CountingRule` says which cell of a table an event (a trajectory, a visit, a step) falls into. `HeldVisits` count in
memory, `AskedVisits` in DuckDB, Spark or PostgreSQL; both give the same whole numbers.
"""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.sequences.mobility.counting._asked import AskedVisits
    from ziggurat.sequences.mobility.counting._counted import CountedVisits, HeldVisits, NormedCounts
    from ziggurat.sequences.mobility.counting._rules import LEFT_OUT, CellLookup, CountingRule, Fact, Happening
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_asked": "AskedVisits",
            "_counted": "CountedVisits HeldVisits NormedCounts",
            "_rules": "LEFT_OUT CellLookup CountingRule Fact Happening",
        },
    )

__all__ = [
    "LEFT_OUT",
    "AskedVisits",
    "CellLookup",
    "CountedVisits",
    "CountingRule",
    "Fact",
    "Happening",
    "HeldVisits",
    "NormedCounts",
]

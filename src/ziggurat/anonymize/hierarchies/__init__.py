"""Hierarchies: how values become more general, proposed for a steward to correct."""

from ziggurat.anonymize.hierarchies._propose import (
    AllOrNothing,
    Builder,
    CalendarParts,
    FrequentFirst,
    GivenTree,
    HierarchyProposal,
    Intervals,
    MaskedEnds,
    NeighbouringGroups,
    QuantileIntervals,
    propose,
    read_hierarchies,
    read_hierarchy,
    reads_values,
    write_hierarchy,
)

__all__ = [
    "AllOrNothing",
    "Builder",
    "CalendarParts",
    "FrequentFirst",
    "GivenTree",
    "HierarchyProposal",
    "Intervals",
    "MaskedEnds",
    "NeighbouringGroups",
    "QuantileIntervals",
    "propose",
    "read_hierarchies",
    "read_hierarchy",
    "reads_values",
    "write_hierarchy",
]

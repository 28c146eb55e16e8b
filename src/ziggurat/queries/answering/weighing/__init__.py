"""Weighing units in this process, where the engine is in it too: one scan, no sort, memory that is bounded."""

from ziggurat.queries.answering.weighing._asked import AskedUnits
from ziggurat.queries.answering.weighing._held import WeighedUnits

__all__ = ["AskedUnits", "WeighedUnits"]

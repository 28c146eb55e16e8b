"""What is watched beside noise: rows left out, cells moved to their bounds, groups that are not shown."""

from ziggurat.queries.answering.watching._clipping import (
    Clipped,
    count_outside,
    is_any_outside,
    read_outside,
    watches_of,
)
from ziggurat.queries.answering.watching._effects import BUCKET, COUNT, LeftOut, Reach, Watch

__all__ = [
    "BUCKET",
    "COUNT",
    "Clipped",
    "LeftOut",
    "Reach",
    "Watch",
    "count_outside",
    "is_any_outside",
    "read_outside",
    "watches_of",
]

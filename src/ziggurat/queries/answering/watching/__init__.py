"""What is watched beside noise: rows left out, cells moved to their bounds, groups that are not shown."""

from ziggurat.queries.answering.watching._clipping import (
    Clipped,
    count_outside,
    read_outside,
    watches_of,
)
from ziggurat.queries.answering.watching._effects import BUCKET, COUNT, LeftOut, Reach, Watch
from ziggurat.queries.answering.watching._inside import InsideTest, choose_test

__all__ = [
    "BUCKET",
    "COUNT",
    "Clipped",
    "InsideTest",
    "LeftOut",
    "Reach",
    "Watch",
    "choose_test",
    "count_outside",
    "read_outside",
    "watches_of",
]

"""Rows drawn at random without replacement: by place where rows are read here, by lot where an engine draws."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa

from ziggurat.errors import DataError
from ziggurat.randomness import Source, sample_without_replacement

Draw = Callable[[int, float], pa.Table]
"""Gives the rows whose lots lie below a share, in an order that the seed decides; the seed has 63 bits."""

_ATTEMPTS = 8
_LOST = "The table lost rows while it was being read; nothing was learned."


def draw_by_place(pieces: Iterator[pa.RecordBatch], count: int, limit: int, source: Source) -> pa.Table:
    """Return the rows at `limit` places out of `count`; all rows pass by.

    Every set of places is equally likely, whatever the order of the rows, and so is every set of rows.
    """
    places = np.sort(np.asarray(sample_without_replacement(count, limit, source=source), np.int64))
    return pa.Table.from_batches(_choose_rows(pieces, places))


def draw_by_lot(draw: Draw, count: int, limit: int, source: Source) -> pa.Table:
    """Return `limit` rows out of about `count`; the engine hands over those that draw a small lot, hardly more.

    Every set of `limit` rows is equally likely if lots are independent and alike: given how many rows, M, have lots
    below the share, each set of M rows is as likely as any other, whatever the share is; of these M our own source
    keeps `limit`, each set again as likely as any other. That fewer than `limit` rows were drawn says nothing about
    which, so drawing all anew then changes nothing.

    It seldom happens: M has the mean m = n + 6 sqrt(n) + 18 for n = `limit`, so that by Chernoff's bound M < n has a
    probability below exp(-(m - n)^2 / 2m), which is below 2^-16 for every n, and below 2^-25 from n = 1,000 on. A
    table for which it happens eight times in a row has lost rows since it was counted.
    """
    share = min(1.0, (limit + 6 * math.sqrt(limit) + 18) / count)
    for _ in range(_ATTEMPTS):
        drawn = draw(int(source.words(1)[0]) >> 1, share)
        if drawn.num_rows >= limit:
            kept = sample_without_replacement(drawn.num_rows, limit, source=source)
            return drawn.take(pa.array(np.sort(np.asarray(kept, np.int64))))
    raise DataError(_LOST)


def _choose_rows(pieces: Iterator[pa.RecordBatch], places: np.ndarray) -> Iterator[pa.RecordBatch]:
    start = 0
    for piece in pieces:
        first, last = np.searchsorted(places, [start, start + piece.num_rows])
        yield piece.take(pa.array(places[first:last] - start))
        start += piece.num_rows
    if start < (int(places[-1]) + 1 if places.size else 0):
        raise DataError(_LOST)

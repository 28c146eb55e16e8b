"""The nearest rows by Gower's distance."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from ziggurat.compiling import compiled

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]

_BATCH = 128


def nearest(base: Floats, queries: Floats, neighbours: int, order: Places) -> tuple[Places, Floats]:
    """Return for each query the places of its nearest rows of `base`, nearest first, and their distances.

    The distance is the mean over the columns of min(1, |a - b|). Of rows equally near that comes first which does in
    `order`: draw it at random, so that the order of a table says nothing. Where the base has fewer rows than neighbours
    are asked for, the rest are at place -1 and infinitely far.
    """
    columns = _telling(base[order])
    turned = np.ascontiguousarray(base[order][:, columns].T)
    asked = np.ascontiguousarray(queries[:, columns])
    places = np.full((len(queries), neighbours), -1, dtype=np.int64)
    distances = np.full((len(queries), neighbours), np.inf)

    def work(start: int) -> None:
        part = slice(start, start + _BATCH)
        _search(turned, asked[part], places[part], distances[part])

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(work, range(0, len(queries), _BATCH)))
    found = np.append(order, -1)[places]
    return found, distances / max(1, base.shape[1])


def _telling(base: Floats) -> Places:
    """The columns, those that tell most rows apart first: then most blocks are given up early."""
    apart = np.minimum(1, np.abs(base - np.roll(base, 1, axis=0))).sum(axis=0)
    return np.argsort(-apart, kind="stable")


@compiled
def _search(base: Floats, queries: Floats, places: Places, distances: Floats) -> None:
    """Search block by block of rows, whose distances grow together column by column, in vector registers."""
    block, group, last = 64, 4, places.shape[1] - 1
    columns, rows = base.shape
    room = np.empty(block)
    for query in range(queries.shape[0]):
        for start in range(0, rows, block):
            worst = distances[query, last]
            if worst == 0.0:
                break
            totals = room[: min(block, rows - start)]
            totals[:] = 0.0
            nearer = 0
            for done in range(0, columns, group):
                for column in range(done, min(columns, done + group)):
                    cell, line = queries[query, column], base[column, start : start + totals.size]
                    for k in range(totals.size):
                        gap = abs(cell - line[k])
                        totals[k] += gap if gap < 1.0 else 1.0
                nearer = 0
                for k in range(totals.size):
                    nearer += totals[k] < worst
                if nearer == 0:
                    break
            if nearer > 0:
                _insert(totals, start, places[query], distances[query])


@compiled
def _insert(totals: Floats, start: int, places: Places, distances: Floats) -> None:
    last = places.size - 1
    for k in range(totals.size):
        if totals[k] < distances[last]:
            slot = last
            while slot > 0 and distances[slot - 1] > totals[k]:
                distances[slot] = distances[slot - 1]
                places[slot] = places[slot - 1]
                slot -= 1
            distances[slot] = totals[k]
            places[slot] = start + k

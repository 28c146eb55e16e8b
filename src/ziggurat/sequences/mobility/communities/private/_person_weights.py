"""What people add to the tables of a private topic model, in whole numbers, and never more than a bound; compiled.

A person's counts x are whole numbers, and what the person adds is v = floor(x * bound / norm): with the sum of x as the
norm the v sum to at most the bound, and with the root of the sum of squares so does the root of the sum of their
squares. No float is in it: the root is taken of 2^16 times the sum of squares, rounded up, and x is multiplied by 2^8.
What a person adds depends on nobody else. Sums of whole numbers are exact, so that tables of neighbours differ by
exactly what one person adds.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ziggurat.compiling import compiled, part
from ziggurat.sequences.mobility.communities._bags import Codes, Offsets

Table = npt.NDArray[np.int64]

PARTS = 2**16
"""Weights are kept in so many parts of one: what one person adds to a table is at most this, in l1 or in l2."""

MOST_VISITS = 2**10
"""Nobody may have more visits: then sums of squares of counts of pairs, times 2^16, are carried in 64 bits."""

_PLACE, _HOUR = 2, 1  # a pair of places counts four times as much as a pair of hours, which are few


def weigh_places(codes: Codes, offsets: Offsets, size: int, square: bool) -> Table:
    """How much people go to each of `size` places; the bound is on the root of the sum of squares if `square`."""
    return _weigh_places(codes, offsets, size, square)


def weigh_pairs(places: Codes, hours: Codes, offsets: Offsets, sizes: tuple[int, int], square: bool) -> Table:
    """How much the same people do both of two things, in two different visits.

    Things are places, coded from 0 (negative: somewhere else), and hours after them; either may be left out (size 0).
    A pair of different visits v, w counts for the place and the hour of v with the place and the hour of w: the counts
    of a person are c c' - (sum of the visits' own f f'), where f has a 2 at the place of a visit and a 1 at its hour,
    and c is the sum of all f. Returns the upper triangle of the table, row by row, its diagonal included.
    """
    return _weigh_pairs(places, hours, offsets, sizes[0], sizes[1], square)


def to_matrix(triangle: npt.NDArray[np.float64], size: int) -> npt.NDArray[np.float64]:
    """The symmetric matrix of an upper triangle."""
    matrix = np.zeros((size, size))
    matrix[np.triu_indices(size)] = triangle
    return matrix + np.triu(matrix, 1).T


@compiled
def _weigh_places(codes: Codes, offsets: Offsets, size: int, square: bool) -> Table:
    table, counts = np.zeros(size, np.int64), np.zeros(size, np.int64)
    for person in range(offsets.size - 1):
        mine = codes[offsets[person] : offsets[person + 1]]
        norm = 0
        for code in mine:
            counts[code] += 1
        for code in mine:
            norm += counts[code] if square else 1  # each of n visits to a place adds n: together its square
        for code in mine:
            if counts[code]:
                table[code] += _bound(counts[code], norm, square)
                counts[code] = 0
    return table


@compiled
def _weigh_pairs(places: Codes, hours: Codes, offsets: Offsets, wide: int, high: int, square: bool) -> Table:
    size = wide + high
    table = np.zeros(size * (size + 1) // 2, np.int64)
    counts, own, held = np.zeros(size, np.int64), np.zeros((size, size), np.int64), np.empty(size, np.int64)
    for person in range(offsets.size - 1):
        many = 0
        for visit in range(offsets[person], offsets[person + 1]):
            place = places[visit] if wide else -1
            hour = wide + hours[visit] if high else -1
            if place >= 0:
                many = _note(place, _PLACE, counts, own, held, many)
            if hour >= 0:
                many = _note(hour, _HOUR, counts, own, held, many)
            if place >= 0 and hour >= 0:
                own[place, hour] += _PLACE * _HOUR
        things = np.sort(held[:many])
        norm = 0
        for i in range(many):
            for j in range(i, many):
                both = counts[things[i]] * counts[things[j]] - own[things[i], things[j]]
                norm += both * both if square else both
        for i in range(many):
            row = things[i]
            before = row * size - row * (row - 1) // 2 - row
            for j in range(i, many):
                column = things[j]
                if norm:
                    both = counts[row] * counts[column] - own[row, column]
                    table[before + column] += _bound(both, norm, square)
                own[row, column] = 0
        counts[things] = 0
    return table


@part
def _note(thing: int, weight: int, counts: Table, own: Table, held: Table, many: int) -> int:
    """Count a thing of a visit; return how many different ones there are now."""
    if counts[thing] == 0:
        held[many] = thing
        many += 1
    counts[thing] += weight
    own[thing, thing] += weight * weight
    return many


@part
def _bound(count: int, norm: int, square: bool) -> int:
    return (count * PARTS << 8) // _root_above(norm << 16) if square else count * PARTS // norm


@part
def _root_above(square: int) -> int:
    """The least whole number whose square is not smaller; the float may be off by one."""
    root = int(np.sqrt(square))
    while root * root < square:
        root += 1
    while (root - 1) * (root - 1) >= square:
        root -= 1
    return root

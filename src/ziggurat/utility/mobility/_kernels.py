"""Loops over trajectories: which circles they cross, which cells they pass, how far they reach."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ziggurat.compiling import compiled, part

Reals = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@part
def _crosses(points: Reals, first: int, last: int, x: float, y: float, reach: float) -> bool:
    """Whether one of the lines from visit to visit comes near enough."""
    for at in range(first, max(last, first + 1)):
        to = min(at + 1, last)  # a visit alone is a line without length
        east, north = points[to, 0] - points[at, 0], points[to, 1] - points[at, 1]
        square, along = east * east + north * north, 0.0
        if square > 0:
            along = ((x - points[at, 0]) * east + (y - points[at, 1]) * north) / square
            along = min(max(along, 0.0), 1.0)
        away, up = points[at, 0] + along * east - x, points[at, 1] + along * north - y
        if away * away + up * up <= reach:
            return True
    return False


@compiled
def count_crossings(points: Reals, offsets: Integers, centres: Reals, radius: float) -> Integers:
    """For each circle the trajectories that cross it: straight lines between visits, none of them empty."""
    counts = np.zeros(len(centres), np.int64)
    reach = radius * radius
    for one in range(len(offsets) - 1):
        first, last = offsets[one], offsets[one + 1] - 1
        west, south, east, north = np.inf, np.inf, -np.inf, -np.inf
        for at in range(first, last + 1):
            west, east = min(west, points[at, 0]), max(east, points[at, 0])
            south, north = min(south, points[at, 1]), max(north, points[at, 1])
        for place in range(len(centres)):
            x, y = centres[place, 0], centres[place, 1]
            away, up = max(west - x, x - east, 0.0), max(south - y, y - north, 0.0)
            # Most circles are far from the rectangle around it; the allowance is more than rounding can be.
            if away * away + up * up <= reach * (1 + 1e-9) and _crosses(points, first, last, x, y, reach):
                counts[place] += 1
    return counts


@compiled
def fill_ways(east: Integers, north: Integers, offsets: Integers, side: int, starts: Integers, way: Integers) -> None:
    """The cells that each trajectory passes, one after the other from `starts`: from cell to neighbouring cell.

    A trajectory that stays in one cell has it twice.
    """
    for one in range(len(offsets) - 1):
        at, x, y = starts[one], east[offsets[one]], north[offsets[one]]
        way[at] = x * side + y
        for visit in range(offsets[one] + 1, offsets[one + 1]):
            while x != east[visit] or y != north[visit]:
                x += np.sign(east[visit] - x)
                y += np.sign(north[visit] - y)
                at += 1
                way[at] = x * side + y
        if at == starts[one]:
            way[at + 1] = way[at]


@compiled
def count_passing(way: Integers, starts: Integers, cells: int) -> Integers:
    """How many trajectories pass each cell."""
    counts, last = np.zeros(cells, np.int64), np.full(cells, -1, np.int64)
    for one in range(len(starts) - 1):
        for at in range(starts[one], starts[one + 1]):
            if last[way[at]] != one:
                last[way[at]] = one
                counts[way[at]] += 1
    return counts


@compiled
def measure_reach(points: Reals, offsets: Integers) -> tuple[Reals, Reals]:
    """The length of each trajectory, and the largest distance between two of its visits."""
    length, diameter = np.zeros(len(offsets) - 1), np.zeros(len(offsets) - 1)
    for one in range(len(offsets) - 1):
        most = 0.0
        for at in range(offsets[one], offsets[one + 1]):
            for to in range(at + 1, offsets[one + 1]):
                east, north = points[to, 0] - points[at, 0], points[to, 1] - points[at, 1]
                square = east * east + north * north
                most = max(most, square)
                if to == at + 1:
                    length[one] += np.sqrt(square)
        diameter[one] = np.sqrt(most)
    return length, diameter

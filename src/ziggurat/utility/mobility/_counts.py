"""What is counted of one set of trajectories before it is compared with another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ziggurat.sequences.mobility import HOURS, Trajectories
from ziggurat.utility.mobility import _kernels as kernels
from ziggurat.utility.mobility._terms import Frame, Integers, MobilityTerms, Reals


class Ways(NamedTuple):
    """Cells or places that trajectories pass: one after the other, and where each trajectory begins."""

    codes: Integers
    starts: Integers


@dataclass(frozen=True, eq=False)
class CountedPlane:
    """What is counted on the plane, in kilometres.

    Attributes
    ----------
    crossings
        For each radius, how many trajectories cross each circle.
    density
        How many visits each cell of the hotspot grid has: column * side + row.
    passing
        How many trajectories pass each cell of the visit grid.
    ways
        The cells of the pattern grid that trajectories pass.
    trips
        For each trip grid, how many trajectories go from each cell (rows) to each cell (columns).
    length, diameter
        Of each trajectory.
    steps
        Between each visit and the next of a trajectory.
    """

    crossings: tuple[Integers, ...]
    density: Integers
    passing: Integers
    ways: Ways
    trips: tuple[Integers, ...]
    length: Reals
    diameter: Reals
    steps: Reals


def count_plane(points: Reals, offsets: Integers, frame: Frame, terms: MobilityTerms) -> CountedPlane:
    """Count what needs coordinates; no trajectory is empty."""
    centres = frame.draw_centres(terms.queries, terms.seed)
    crossings = [kernels.count_crossings(points, offsets, centres, frame.side * each) for each in terms.radii]
    length, diameter = kernels.measure_reach(points, offsets)
    passed = find_ways(points, offsets, frame, terms.visit_grid)
    return CountedPlane(
        tuple(crossings),
        count_cells(points, frame, terms.hotspot_grid),
        kernels.count_passing(passed.codes, passed.starts, terms.visit_grid**2),
        find_ways(points, offsets, frame, terms.pattern_grid),
        tuple(count_trips(points, offsets, frame, side) for side in terms.trip_grids),
        length,
        diameter,
        np.sqrt((np.diff(points, axis=0)[inside(offsets)] ** 2).sum(axis=1)),
    )


def count_cells(points: Reals, frame: Frame, side: int) -> Integers:
    """How many points lie in each cell."""
    east, north = frame.divide(points, side)
    return np.bincount(east * side + north, minlength=side**2)


def count_trips(points: Reals, offsets: Integers, frame: Frame, side: int) -> Integers:
    """How many trajectories begin in each cell and end in each."""
    east, north = frame.divide(points, side)
    cells, size = east * side + north, side**2
    keys = cells[offsets[:-1]] * size + cells[offsets[1:] - 1]
    return np.bincount(keys, minlength=size**2).reshape(size, size)


def find_ways(points: Reals, offsets: Integers, frame: Frame, side: int) -> Ways:
    """The cells that trajectories pass on the way from visit to visit."""
    east, north = frame.divide(points, side)
    moves = np.maximum(np.abs(np.diff(east)), np.abs(np.diff(north))) * inside(offsets)
    before = np.concatenate([[0], np.cumsum(moves)])
    counts = np.maximum(before[offsets[1:] - 1] - before[offsets[:-1]], 1) + 1
    starts = np.concatenate([[0], np.cumsum(counts)])
    way = np.empty(starts[-1], np.int64)
    kernels.fill_ways(east, north, offsets, side, starts, way)
    return Ways(way, starts)


def collapse(codes: Integers, offsets: Integers) -> Ways:
    """Places without their repetitions; one that a trajectory never leaves stands twice."""
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    kept = np.concatenate([[True], (np.diff(codes) != 0) | ~inside(offsets)])
    counts = np.bincount(owner[kept], minlength=len(offsets) - 1)
    alone = counts == 1
    return Ways(
        np.repeat(codes[kept], 1 + alone[owner[kept]]).astype(np.int64),
        np.concatenate([[0], np.cumsum(counts + alone)]),
    )


def inside(offsets: Integers) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether a visit and the next belong to the same trajectory; none is empty."""
    within = np.ones(offsets[-1] - 1, dtype=np.bool_)
    within[offsets[1:-1] - 1] = False
    return within


def count_hours(trajectories: Trajectories) -> Integers | None:
    """How many visits each hour of the day has; None if there are no times."""
    if trajectories.minutes is None:
        return None
    return np.bincount(trajectories.hours("day"), minlength=HOURS["day"])

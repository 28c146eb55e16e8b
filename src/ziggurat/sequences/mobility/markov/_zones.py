"""Places laid out so that counts of few of them can be trusted: blocks, zones, regions, and how far apart they are."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ziggurat.errors import ParameterError
from ziggurat.sequences.mobility._ground import Ground, Reals
from ziggurat.sequences.mobility.markov._shrinking import shrink_towards
from ziggurat.sequences.mobility.markov._tables import NoisyTable, Whole, tally

MOST_ZONES = 320
# Places without coordinates are not cut to zones: so many are worked on as they are.
MOST_STATIONS = 512
_MOST_REGIONS = 64
_QUARTERS = 120
# Distances between zones, as shares of the diagonal of the box, falling by half every other step.
_DISTANCES = 2.0 ** -np.arange(7, 0.4, -0.5)
# Coarser classes of distance, among those.
_CLASSES = 2.0 ** -np.array([5.5, 4, 3, 2])


def order_places(ground: Ground) -> Whole:
    """The rank of each place in an order in which neighbours stand together; public."""
    if ground.points is None:
        ranks = _levels(ground)
        order = np.lexsort((np.arange(ground.size), *ranks)) if ranks else np.arange(ground.size)
        return np.argsort(order)
    points, rank = ground.points, np.argsort(np.argsort(ground.points[:, 0], kind="stable"), kind="stable")
    for depth in range(depth_of(ground.size)):
        block = rank * 2**depth // ground.size
        order = np.argsort(rank)
        starts = np.flatnonzero(np.diff(block[order], prepend=-1))
        wide = np.maximum.reduceat(points[order], starts) - np.minimum.reduceat(points[order], starts)
        axis = np.argmax(wide, axis=1)[np.repeat(np.arange(len(starts)), np.diff(starts, append=ground.size))]
        along = points[order, axis]
        rank = np.empty_like(rank)
        rank[order[np.lexsort((along, block[order]))]] = np.arange(ground.size)
    return rank


def depth_of(size: int) -> int:
    """How often places are halved until each stands alone."""
    return max(int(np.ceil(np.log2(size))), 0)


def blocks_at(rank: Whole, depth: int) -> Whole:
    """The block of each place when all have been halved so many times."""
    return np.asarray(rank * 2**depth // len(rank))


def spread_visits(size: int, levels: Iterable[tuple[Whole, NoisyTable]]) -> Reals:
    """How often each place is visited, by noisy counts of ever smaller blocks; within those alike."""
    visits = np.ones(size)
    for block, noisy in levels:
        wide = len(noisy.counts)
        expected = tally(block, visits, wide)
        found = shrink_towards(expected, noisy)
        visits = visits * (found / np.maximum(expected, 1e-300))[block]
    return np.asarray(visits + 1e-6 * visits.sum() / size)


@dataclass(frozen=True, eq=False)
class Zones:
    """Zones of places, each in a quarter and in a region, with the distance class between any two.

    Parameters
    ----------
    of_place
        The zone of each place.
    quarter, region
        Which larger one each zone lies in.
    apart
        By pair of zones: 0 within one zone, otherwise how far in steps of distance.
    far
        By step of distance: its coarser class.
    """

    of_place: Whole
    quarter: Whole
    region: Whole
    apart: Whole
    far: Whole

    @property
    def size(self) -> int:
        """How many zones there are."""
        return len(self.region)

    @classmethod
    def laid(cls, ground: Ground, visits: Reals, side: int) -> Zones:
        """Lay zones over places so that each has its share of the (noisy) visits and of the ground.

        Regions are the cells of a grid with so many columns and rows. A region is halved where it is longest, so that
        both parts have the same visits, and always that part next that has most visits times extent.
        """
        if ground.points is None:
            return _lay_stations(ground)
        cells = np.unique(ground.cells(side), return_inverse=True)[1]
        parts = [np.flatnonzero(cells == each) for each in range(int(cells.max()) + 1)]
        halved = _halve(ground.points, visits, parts)
        zone, quarter = halved
        region, inner = (np.zeros(int(zone.max()) + 1, dtype=np.int64) for _ in range(2))
        region[zone], inner[zone] = cells, quarter
        middles = _middles(ground.points, zone, visits)
        assert ground.box is not None  # as it has points
        away = np.linalg.norm(middles[:, None] - middles[None], axis=2) / np.hypot(ground.box.width, ground.box.height)
        apart = 1 + np.searchsorted(_DISTANCES, away)
        np.fill_diagonal(apart, 0)
        middle = np.concatenate([[0.0], _DISTANCES, [1.0]])
        far = np.concatenate([[0], 1 + np.searchsorted(_CLASSES, (middle[:-1] + middle[1:]) / 2)])
        return cls(zone, inner, region, apart, far)


def _middles(points: Reals, zone: Whole, visits: Reals) -> Reals:
    total = tally(zone, visits)
    return np.stack([tally(zone, visits * points[:, axis]) / total for axis in (0, 1)], axis=1)


def _halve(points: Reals, visits: Reals, parts: list[Whole]) -> tuple[Whole, Whole]:
    """The zone of each place, and the quarter: where halving stood earlier."""
    count = len(parts)
    done: list[Whole] = []
    heap = [(-_worth(points, visits, part), at, part) for at, part in enumerate(parts)]
    heapq.heapify(heap)
    quarters = None
    while heap and len(heap) + len(done) < MOST_ZONES:
        if quarters is None and len(heap) + len(done) >= _QUARTERS:
            quarters = [*done, *(part for _, _, part in heap)]
        part = heapq.heappop(heap)[2]
        halves = _cut(points, visits, part)
        if halves is None:
            done.append(part)
            continue
        for half in halves:
            heapq.heappush(heap, (-_worth(points, visits, half), count, half))
            count += 1
    zones = [*done, *(part for _, _, part in heap)]
    return _number(zones, len(points)), _number(quarters or zones, len(points))


def _worth(points: Reals, visits: Reals, part: Whole) -> float:
    return float(visits[part].sum() * np.hypot(*np.ptp(points[part], axis=0)))


def _cut(points: Reals, visits: Reals, part: Whole) -> tuple[Whole, Whole] | None:
    """Both halves of some places by visits, along their longer side; None if all lie at one point."""
    axis = int(np.argmax(np.ptp(points[part], axis=0)))
    order = part[np.argsort(points[part, axis], kind="stable")]
    gaps = np.flatnonzero(np.diff(points[order, axis]) > 0)
    if not len(gaps):
        return None
    before = np.cumsum(visits[order])
    at = gaps[np.argmin(np.abs(before[gaps] - before[-1] / 2))] + 1
    return order[:at], order[at:]


def _number(parts: list[Whole], size: int) -> Whole:
    numbers = np.zeros(size, dtype=np.int64)
    for at, part in enumerate(parts):
        numbers[part] = at
    return numbers


def check_ground(ground: Ground) -> None:
    """Refuse places that have no coordinates and are too many to be worked on one by one."""
    if ground.points is None:
        _stations(ground)


def _levels(ground: Ground) -> list[Whole]:
    """The region of each place at every level of the hierarchy, as numbers."""
    held = (ground.regions or {}).values()
    return [np.unique(np.array([str(each) for each in level]), return_inverse=True)[1] for level in held]


def _stations(ground: Ground) -> list[Whole]:
    """The zones of places without coordinates, and ever larger regions."""
    levels = [np.arange(ground.size), *_levels(ground)]
    fitting = [held for held in levels if held.max() < MOST_STATIONS]
    if not fitting:
        raise ParameterError(
            f"{ground.size:,} places without coordinates are too many; give them coordinates, or regions of which "
            f"there are at most {MOST_STATIONS}."
        )
    return fitting


def _lay_stations(ground: Ground) -> Zones:
    levels = _stations(ground)
    zone = levels[0]
    larger = [np.zeros(int(zone.max()) + 1, dtype=np.int64) for _ in levels]
    for each, held in zip(larger, levels, strict=True):
        each[zone] = held
    meet = [each[:, None] == each[None] for each in larger]
    apart = len(levels) - np.sum(meet, axis=0)
    regions = next((each for each in larger if each.max() < _MOST_REGIONS), larger[-1])
    return Zones(zone, larger[0], regions, apart, np.arange(len(levels) + 1))

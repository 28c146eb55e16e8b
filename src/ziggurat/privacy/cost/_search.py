"""The largest product of a growing and a falling function, with a proof."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import pairwise

from ziggurat.errors import PrivacyError

# Absolute in units of the currency (half a cent), and relative to the best saving.
_TOLERANCE, _RELATIVE = 0.005, 1e-7
_PIECES, _MOST = 64, 200_000


@dataclass(frozen=True)
class LargestSaving:
    """Where the saving is largest, and how much larger it could be anywhere."""

    epsilon: float
    error: float


def largest_saving(left: Callable[[float], float], confidence: Callable[[float], float], level: float) -> LargestSaving:
    """Maximise confidence(e) left(e) over 0 < e <= level: `confidence` grows, `left` falls to 0 at the level.

    Branch and bound: on [a, b] the product is at most confidence(b) left(a).
    """
    edges = [level * 1e-9, *(level * i / _PIECES for i in range(1, _PIECES + 1))]
    points = [(x, confidence(x), left(x)) for x in edges]
    place, best = max(((x, share * rest) for x, share, rest in points), key=lambda pair: pair[1])
    # The first entry is the bound, negated for the heap; the points at both ends follow.
    live = [(-high[1] * low[2], low, high) for low, high in pairwise(points)]
    heapify(live)
    for _ in range(_MOST):
        bound, low, high = heappop(live)
        if -bound - best <= max(_TOLERANCE / 2, _RELATIVE * best):
            return LargestSaving(_polish(left, confidence, place, level), max(-bound - best, 0.0) + _TOLERANCE / 2)
        x = (low[0] + high[0]) / 2
        middle = (x, confidence(x), left(x))
        if middle[1] * middle[2] > best:
            place, best = x, middle[1] * middle[2]
        heappush(live, (-middle[1] * low[2], low, middle))
        heappush(live, (-high[1] * middle[2], middle, high))
    raise PrivacyError("The confidence jumps too much for the cheapest epsilon to be found.")


def _polish(left: Callable[[float], float], confidence: Callable[[float], float], place: float, level: float) -> float:
    """Move to the stationary point nearby, where the logarithm of the product changes direction, if it is better."""

    def slope(x: float) -> float:
        h = 1e-5 * x
        up, down = (confidence(y) * left(y) for y in (x + h, x - h))
        return math.log(up / down) if up > 0 and down > 0 else 0.0

    low, high = place * 0.99, min(place * 1.01, level * (1 - 1e-4))
    if not (low < high and slope(low) > 0 > slope(high)):
        return place
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    found = (low + high) / 2
    return found if confidence(found) * left(found) >= confidence(place) * left(place) * (1 - 1e-12) else place

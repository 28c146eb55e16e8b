"""Draw ways through zones: from a start to an end in a given number of steps."""

from __future__ import annotations

import numpy as np

from ziggurat.compiling import compiled
from ziggurat.sequences.mobility._ground import Reals
from ziggurat.sequences.mobility.markov._tables import Whole

_MOST_POWERS = 12


def chances_to_arrive(steps: Reals, longest: int) -> Reals:
    """By steps left, end and zone: the chance to be at the end after so many steps; after many it hardly changes."""
    powers = [np.eye(len(steps))]
    for _ in range(min(max(longest, 1), _MOST_POWERS)):
        powers.append(powers[-1] @ steps)
    return np.stack([np.ascontiguousarray(power.T) for power in powers])


@compiled
def draw_between(
    zones: Whole, offsets: Whole, steps: Reals, arrive: Reals, region: Whole, context: Whole, lift: Reals, coins: Reals
) -> None:
    """Fill in the zones between the first and the last of each way, which stand there already.

    Zone j follows i, where k steps are left to the end e, with a chance that is proportional to steps[i, j] *
    arrive[k, e, j]: a Markov chain given where it ends. Where the two regions before have a `context`, what follows
    them is lifted by `lift` of that context and of the region of j; so is the end, when j is the last before it.
    """
    size = len(steps)
    chances = np.empty(size)
    for way in range(len(offsets) - 1):
        last = offsets[way + 1] - 1
        for at in range(offsets[way] + 1, last):
            here = zones[at - 1]
            left = min(last - at, len(arrive) - 1)
            known = -1
            if at - 2 >= offsets[way]:
                known = context[region[zones[at - 2]], region[here]]
            total = 0.0
            for zone in range(size):
                chance = steps[here, zone] * arrive[left, zones[last], zone]
                if known >= 0:
                    chance *= lift[known, region[zone]]
                if left == 1:
                    ending = context[region[here], region[zone]]
                    if ending >= 0:
                        chance *= lift[ending, region[zones[last]]]
                total += chance
                chances[zone] = total
            zones[at] = min(np.searchsorted(chances, coins[at] * total, side="right"), size - 1)

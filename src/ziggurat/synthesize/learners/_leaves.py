"""How trees are followed to their leaves and drawn from, compiled."""

from __future__ import annotations

import numpy as np

from ziggurat.compiling import compiled
from ziggurat.synthesize.learners._tree_shapes import Bytes, Integers, Reals, TreeNodes


@compiled
def follow(bins: Bytes, nodes: Integers, tree: TreeNodes) -> None:
    """Follow each row from the root that `nodes` names to a leaf, and write it there; `bins` has a row per column.

    Some rows walk together, because each step of one row waits for memory.
    """
    for start in range(0, nodes.size, 16):
        stop = min(start + 16, nodes.size)
        walking = True
        while walking:
            walking = False
            for i in range(start, stop):
                node = nodes[i]
                column = tree.column[node]
                if column >= 0:
                    b = bins[column, i]
                    nodes[i] = tree.below[node] + 1 - ((tree.left[node, b >> 3] >> (b & 7)) & 1)
                    walking = True


@compiled
def pick(nodes: Integers, tree: TreeNodes, weights: Reals, chance: Reals) -> Integers:
    """Return for each leaf one of its entries, by `chance` in [0, 1): all alike, or by the sums of their weights."""
    picked = np.empty(nodes.size, np.int64)
    for i in range(nodes.size):
        low, high = np.int64(tree.first[nodes[i]]), np.int64(tree.last[nodes[i]]) - 1
        if weights.size == 0:
            picked[i] = min(low + np.int64(chance[i] * (high + 1 - low)), high)
            continue
        start = weights[low - 1] if low > 0 else 0.0
        sought = start + chance[i] * (weights[high] - start)
        while low < high:
            middle = (low + high) // 2
            if weights[middle] > sought:
                high = middle
            else:
                low = middle + 1
        picked[i] = low
    return picked

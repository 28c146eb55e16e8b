"""Complete binary trees of splits, and the classes in their leaves.

Nodes are numbered level by level from the root, 0; what node i splits goes on to 2i + 1 (not above the threshold) or to
2i + 2. Leaves are numbered from the left.
"""

from __future__ import annotations

import numpy as np

from ziggurat.errors import ParameterError
from ziggurat.learn._clipping import Floats, Integers, Scale
from ziggurat.privacy import whole_number

_DEEPEST = 16


def exact_depth(depth: int) -> int:
    """Read how many splits lie above a leaf."""
    levels = whole_number(depth, "depth")
    if levels > _DEEPEST:
        raise ParameterError(f"depth must be at most {_DEEPEST}: a tree has two to that power leaves.")
    return levels


def leaves_of(table: Floats, feature: Integers, threshold: Floats) -> Integers:
    """Name the leaf that every row falls into."""
    rows = np.arange(len(table))
    node = np.zeros(len(table), dtype=np.int64)
    for _ in range(feature.size.bit_length()):
        node = 2 * node + 1 + (table[rows, feature[node]] > threshold[node])
    return np.asarray(node - feature.size)


def leaf_counts(leaves: Integers, codes: Integers, shape: tuple[int, int]) -> Integers:
    """Count the classes in every leaf, a row of the table each; a row that was counted changes one count."""
    return np.bincount(leaves * shape[1] + codes, minlength=shape[0] * shape[1]).reshape(shape)


ONE_ROW = 1.0
"""The least that a leaf leans: else one that holds a few rows of one class would call the others impossible."""


def leaf_probabilities(noisy: Floats, weight: float) -> Floats:
    """Probabilities of classes in every leaf; each node leans on the one above with the weight of so many rows."""
    levels = [np.asarray(noisy, dtype=np.float64)]
    while len(levels[0]) > 1:
        levels.insert(0, levels[0].reshape(len(levels[0]) // 2, 2, -1).sum(axis=1))
    chance = np.full(levels[0].shape, 1 / levels[0].shape[1])
    for counts in levels:
        above = chance if len(counts) == 1 else np.repeat(chance, 2, axis=0)
        leaning = np.maximum(counts, 0.0) + weight * above
        chance = leaning / leaning.sum(axis=1, keepdims=True)
    return np.asarray(chance)


def random_splits(scale: Scale, depth: int, draw: np.random.Generator) -> tuple[Integers, Floats]:
    """Draw splits that see no data: any column, anywhere between the bounds that are left of it at the node."""
    lower, upper = scale.lower[None], scale.upper[None]
    found: list[tuple[Integers, Floats]] = []
    for level in range(depth):
        node = np.arange(2**level)
        feature, part = draw.integers(lower.shape[1], size=node.size), draw.random(node.size)
        threshold = lower[node, feature] * (1 - part) + upper[node, feature] * part
        lower, upper = np.repeat(lower, 2, axis=0), np.repeat(upper, 2, axis=0)
        upper[2 * node, feature] = lower[2 * node + 1, feature] = threshold
        found.append((feature, threshold))
    features, thresholds = zip(*found, strict=True)
    return np.concatenate(features), np.concatenate(thresholds)

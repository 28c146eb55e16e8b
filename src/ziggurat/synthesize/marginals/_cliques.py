"""A distribution over many columns as a tree of small tables, and what follows from it without the data.

The tables of the cliques of a junction tree, each calibrated to its neighbours, are the whole model: P(x) is the
product of P(clique) over the product of P(separator) (Koller & Friedman 2009, chapter 10). Everything here is
post-processing of noisy counts.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Clique = tuple[str, ...]
Named = tuple[Floats, Clique]


@dataclass(frozen=True, eq=False)
class CliqueNode:
    """A clique of the tree: its columns, the place of its parent (None for a root), and its expected counts."""

    columns: Clique
    parent: int | None
    table: Floats


@dataclass(frozen=True, eq=False)
class CliqueTree:
    """Calibrated tables of cliques, each after its parent; parts of a forest are independent of each other.

    Attributes
    ----------
    nodes
        The cliques.
    total
        How many rows every table stands for.
    """

    nodes: tuple[CliqueNode, ...]
    total: float

    def marginal(self, columns: Clique) -> Floats:
        """Return the expected counts by these columns, in their order."""
        holding = [node for node in self.nodes if set(columns) <= set(node.columns)]
        if holding:
            smallest = min(holding, key=lambda node: node.table.size)
            return sum_out(smallest.table, smallest.columns, columns)
        return self._contract(columns) * self.total

    def chain(self) -> list[tuple[Clique, Clique, Floats]]:
        """Return in which order columns can be drawn: those given, those drawn, and the counts of both together."""
        steps = []
        for place, node in enumerate(self.nodes):
            given = tuple(name for name in node.columns if name in self._shared[place])
            drawn = tuple(name for name in node.columns if name not in self._shared[place])
            steps.append((given, drawn, sum_out(node.table, node.columns, (*given, *drawn))))
        return steps

    def _contract(self, columns: Clique) -> Floats:
        """Sum all other columns out, from the leaves to the roots; a branch that holds none of them sums to 1."""
        found: Named = (np.ones(()), ())
        waiting: dict[int, list[Named]] = {}
        for place in reversed(range(len(self.nodes))):
            wanted, shared = self._below[place].intersection(columns), self._shared[place]
            if wanted <= shared:
                continue
            message = self._message(place, wanted | shared, waiting.pop(place, []))
            parent = self.nodes[place].parent
            if parent is None:
                found = product(found, message, frozenset(columns))
            else:
                waiting.setdefault(parent, []).append(message)
        return sum_out(*found, columns)

    def _message(self, place: int, kept: frozenset[str], below: Sequence[Named]) -> Named:
        """The chance of the kept columns of a branch, given those that it shares with its parent."""
        node, shared = self.nodes[place], self._shared[place]
        needed = kept.union(*(names for _, names in below))
        names = tuple(name for name in node.columns if name in needed)
        table = sum_out(node.table, node.columns, names)
        table = conditional(table, [place for place, name in enumerate(names) if name in shared])
        result: Named = (table, names)
        for done, message in enumerate(below, 1):
            later = kept.union(*(names for _, names in below[done:]))
            result = product(result, message, later)
        return result

    @cached_property
    def _shared(self) -> list[frozenset[str]]:
        """The columns that every clique shares with its parent."""
        parents = (frozenset[str]() if node.parent is None else self.nodes[node.parent].columns for node in self.nodes)
        return [frozenset(node.columns).intersection(above) for node, above in zip(self.nodes, parents, strict=True)]

    @cached_property
    def _below(self) -> list[frozenset[str]]:
        """The columns of every clique and of all cliques below it."""
        below = [frozenset(node.columns) for node in self.nodes]
        for place in reversed(range(len(self.nodes))):
            parent = self.nodes[place].parent
            if parent is not None:
                below[parent] |= below[place]
        return below


def sum_out(table: Floats, names: Clique, kept: Clique) -> Floats:
    """Sum a table over all columns but these, and put them in this order."""
    left = [name for name in names if name in kept]
    smaller = table.sum(axis=tuple(place for place, name in enumerate(names) if name not in kept))
    return np.asarray(np.transpose(smaller, [left.index(name) for name in kept]))


def conditional(table: Floats, given: Sequence[int]) -> Floats:
    """Divide a table by its sums over all axes but these; where such a sum is 0, so is the result."""
    rest = tuple(axis for axis in range(table.ndim) if axis not in given)
    sums = table.sum(axis=rest, keepdims=True)
    return np.asarray(np.divide(table, sums, out=np.zeros_like(table), where=sums > 0))


def product(one: Named, other: Named, kept: frozenset[str]) -> Named:
    """Multiply two tables and sum over the columns that need not be kept."""
    names = tuple(dict.fromkeys((*one[1], *other[1])))
    letters = dict(zip(names, string.ascii_letters, strict=False))
    left = tuple(name for name in names if name in kept)
    written = ["".join(letters[name] for name in part) for part in (one[1], other[1], left)]
    return np.einsum(f"{written[0]},{written[1]}->{written[2]}", one[0], other[0], optimize=True), left


def draw_given(table: Floats, group: Integers, draw: np.random.Generator) -> Integers:
    """Draw a column of a two-way table for every row, given which row of the table it is in.

    Of n rows in a group, the i-th in random order draws from the i-th of n equal parts of the distribution, so that
    counts come out as expected but for less than 1 (systematic sampling).
    """
    order = np.lexsort((draw.random(group.size), group))
    present, start, count = np.unique(group[order], return_index=True, return_counts=True)
    part = np.repeat(np.arange(present.size), count)
    uniform = (np.arange(group.size) - start[part] + draw.random(group.size)) / count[part]
    weights = np.maximum(table[present], 0.0)
    weights[weights.sum(axis=1) <= 0] = 1.0
    ends = np.cumsum(weights, axis=1)
    ends /= ends[:, -1:]
    # The distribution of the i-th group is moved to lie between i and i + 1, so that one search serves all groups.
    place = np.searchsorted((ends + np.arange(present.size)[:, None]).ravel(), part + uniform, side="right")
    found = np.empty(group.size, dtype=np.int64)
    found[order] = np.minimum(place - part * table.shape[1], table.shape[1] - 1)
    return found


def rows_from(
    steps: Sequence[tuple[Clique, Clique, Floats]], sizes: Mapping[str, int], rows: int, draw: np.random.Generator
) -> dict[str, Integers]:
    """Draw rows along a chain: for every column the numbers of its cells."""
    found: dict[str, Integers] = {}
    for given, new, table in steps:
        shape = [sizes[name] for name in new]
        group = np.zeros(rows, dtype=np.int64)
        for name in given:
            group = group * sizes[name] + found[name]
        cells = draw_given(table.reshape(-1, int(np.prod(shape))), group, draw)
        found.update(zip(new, np.unravel_index(cells, shape), strict=True))
    return found

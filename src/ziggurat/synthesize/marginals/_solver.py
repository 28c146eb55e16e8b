"""The distribution that fits noisy counts best and is as even as it can be, over a junction tree.

The model is that of Private-PGM (McKenna, Sheldon & Miklau 2019), the one that `mbi` fits: distributions that factor
into the sets of columns that were measured. `mbi` compiles a program for every new set of columns, which takes it
longer than the arithmetic; here nothing is compiled. It descends on the squared error and stops before it fits the
noise; here the same is had by a penalty, which makes the problem strictly convex. With counts y of deviations s,
typically S, with N rows and k = 1/8:

    minimise over p:  S/k sum (N p - y)^2 / (2 s^2) + N KL(p, even)
    its dual, over potentials t:  N log Z(t) - t'y + k/(2S) sum (s t)^2, with gradient N p(t) - y + k/S s^2 t,

so that a count which misses what was measured by one deviation costs a factor of about e^8 in p. Nothing here sees the
data.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ziggurat.synthesize.marginals._cliques import Clique, CliqueNode, CliqueTree, Floats
from ziggurat.synthesize.marginals._counts import NoisyCounts

# Chances below e^-300 of the largest are not told apart from it, so that products stay within floats.
_LEAST_LOG = -300.0
_LEAST = 1e-250
_EVENNESS = 0.125


def triangulate(sizes: Mapping[str, int], sets: Iterable[Clique]) -> list[Clique]:
    """Return the largest cliques of a chordal graph in which the columns of every set are neighbours.

    Columns are eliminated one by one, each time the one whose neighbourhood has the fewest cells.
    """
    near: dict[str, set[str]] = {name: {name} for name in sizes}
    for each in sets:
        for name in each:
            near[name].update(each)
    found: list[set[str]] = []
    while near:
        name = min(near, key=lambda each: cells(sizes, near[each]))
        clique = near.pop(name)
        if not any(clique <= other for other in found):
            found.append(clique)
        for other in clique - {name}:
            near[other] = (near[other] | clique) - {name}
    return [tuple(name for name in sizes if name in clique) for clique in found]


def cells(sizes: Mapping[str, int], columns: Iterable[str]) -> int:
    """How many cells a table of these columns has."""
    product = 1
    for name in columns:
        product *= sizes[name]
    return product


def model_cells(sizes: Mapping[str, int], sets: Iterable[Clique]) -> int:
    """How many cells the tables of a model have in which these sets of columns were measured."""
    return sum(cells(sizes, clique) for clique in triangulate(sizes, sets))


def join_cliques(cliques: Sequence[Clique]) -> tuple[list[Clique], list[int | None]]:
    """Order the cliques of a chordal graph as a tree: each after its parent, and the place of that.

    Neighbours share as many columns as they can (a maximum spanning tree), which makes it a junction tree.
    """
    order = [0]
    shared = [len(set(cliques[0]).intersection(clique)) for clique in cliques]
    nearest = [0] * len(cliques)
    parents: list[int | None] = [None]
    left = set(range(1, len(cliques)))
    while left:
        chosen = max(left, key=lambda place: shared[place])
        left.discard(chosen)
        parents.append(nearest[chosen] if shared[chosen] else None)
        order.append(chosen)
        for other in left:
            common = len(set(cliques[chosen]).intersection(cliques[other]))
            if common > shared[other]:
                shared[other], nearest[other] = common, len(order) - 1
    return [cliques[place] for place in order], parents


@dataclass(frozen=True, eq=False)
class PooledCounts:
    """All that was measured of one set of columns: the best counts, and the inverse of their variances."""

    columns: Clique
    counts: Floats
    weights: Floats


def targets(measured: Sequence[NoisyCounts]) -> list[PooledCounts]:
    """Take measurements of the same columns together, each by its exactness."""
    sums: dict[Clique, list[Floats]] = {}
    for each in measured:
        variance = float(each.sigma) ** 2 * (np.ones(each.counts.shape) if each.cells is None else each.cells)
        held = sums.setdefault(each.columns, [np.zeros(each.counts.shape), np.zeros(each.counts.shape)])
        held[0] += each.counts / variance
        held[1] += 1 / variance
    return [PooledCounts(columns, total / weight, weight) for columns, (total, weight) in sums.items()]


class Junction:
    """A junction tree for sets of columns: from potentials of the sets to tables of the cliques that agree."""

    def __init__(self, sizes: Mapping[str, int], sets: Sequence[Clique], total: float) -> None:
        self.cliques, self.parents = join_cliques(triangulate(sizes, sets))
        self.total = total
        self._shapes = [tuple(sizes[name] for name in clique) for clique in self.cliques]
        self.homes = [self._home(each, sizes) for each in sets]
        self._spread = [_axes(each, self.cliques[home]) for each, home in zip(sets, self.homes, strict=True)]
        self._summed = [_others(each, self.cliques[home]) for each, home in zip(sets, self.homes, strict=True)]
        self._shared = [
            None if parent is None else _Shared(clique, self.cliques[parent])
            for clique, parent in zip(self.cliques, self.parents, strict=True)
        ]

    def _home(self, columns: Clique, sizes: Mapping[str, int]) -> int:
        holding = [place for place, clique in enumerate(self.cliques) if set(columns) <= set(clique)]
        return min(holding, key=lambda place: cells(sizes, self.cliques[place]))

    def tables(self, potentials: Sequence[Floats]) -> tuple[list[Floats], float]:
        """Calibrate: each clique gets its table, and neighbours agree on what they share; with it comes log Z."""
        found = [np.zeros(shape) for shape in self._shapes]
        for potential, home, axes in zip(potentials, self.homes, self._spread, strict=True):
            found[home] += potential[axes]
        log_sum = 0.0
        for table in found:
            highest = float(table.max())
            table -= highest
            np.exp(np.maximum(table, _LEAST_LOG, out=table), out=table)
            log_sum += highest
        log_sum += self._agree(found)
        return [table * (self.total / table.sum()) for table in found], log_sum

    def _agree(self, tables: list[Floats]) -> float:
        """Pass messages up and down the tree; give the log of the sum over all cells."""
        sent: dict[int, Floats] = {}
        log_sum = 0.0
        for place in reversed(range(len(tables))):
            shared, parent = self._shared[place], self.parents[place]
            up = tables[place].sum(axis=None if shared is None else shared.rest)
            highest = float(up.max())
            log_sum += math.log(highest)
            if shared is not None and parent is not None:
                sent[place] = np.maximum(up / highest, _LEAST)
                tables[parent] *= sent[place][shared.above]
        for place, shared in enumerate(self._shared):
            parent = self.parents[place]
            if shared is not None and parent is not None:
                down = tables[parent].sum(axis=shared.rest_above) / sent[place]
                tables[place] *= (down / down.max())[shared.own]
        return log_sum

    def sums(self, tables: Sequence[Floats]) -> list[Floats]:
        """The counts of every set."""
        return [tables[home].sum(axis=rest) for home, rest in zip(self.homes, self._summed, strict=True)]

    def tree(self, potentials: Sequence[Floats]) -> CliqueTree:
        """The calibrated model."""
        return CliqueTree(tuple(map(CliqueNode, self.cliques, self.parents, self.tables(potentials)[0])), self.total)


class _Shared:
    """Which axes a clique shares with its parent, seen from both."""

    def __init__(self, clique: Clique, parent: Clique) -> None:
        common = tuple(name for name in clique if name in parent)
        self.rest, self.rest_above = _others(common, clique), _others(common, parent)
        self.own, self.above = _axes(common, clique), _axes(common, parent)


def _axes(columns: Clique, onto: Clique) -> tuple[slice | None, ...]:
    """How to lay a table of these columns along the axes of a clique; both are in the order of the table."""
    return tuple(slice(None) if name in columns else None for name in onto)


def _others(columns: Clique, clique: Clique) -> tuple[int, ...]:
    return tuple(place for place, name in enumerate(clique) if name not in columns)


@dataclass(frozen=True, eq=False)
class Distribution:
    """A fitted distribution, and where the next fit may start."""

    tree: CliqueTree
    potentials: Mapping[Clique, Floats]


def fit_distribution(
    sizes: Mapping[str, int],
    measured: Sequence[NoisyCounts],
    total: float,
    start: Distribution | None = None,
    steps: int = 100,
) -> Distribution:
    """Fit the distribution to all measurements, from where the last fit ended."""
    from scipy.optimize import minimize

    wanted = targets(measured)
    known = {} if start is None else start.potentials
    junction = Junction(sizes, [each.columns for each in wanted], total)
    objective = DualObjective(junction, wanted)
    begin = [known.get(each.columns, np.zeros(each.counts.shape)) for each in wanted]
    limits = {"maxiter": steps, "maxfun": 2 * steps, "maxcor": 20, "ftol": 1e-10}
    found = minimize(objective, objective.scale(begin), jac=True, method="L-BFGS-B", options=limits)
    potentials = objective.potentials(found.x)
    named = {each.columns: potential for each, potential in zip(wanted, potentials, strict=True)}
    return Distribution(junction.tree(potentials), named)


class DualObjective:
    """The dual of the penalised problem (see the module), in variables that are about equally steep."""

    def __init__(self, junction: Junction, wanted: Sequence[PooledCounts]) -> None:
        self.junction = junction
        self.counts = np.concatenate([each.counts.ravel() for each in wanted])
        deviations = np.concatenate([1 / np.sqrt(each.weights.ravel()) for each in wanted])
        self.pull = _EVENNESS * deviations**2 / np.median(deviations)
        self.slope = np.sqrt(np.maximum(self.counts, deviations) + self.pull)
        self._shapes = [each.counts.shape for each in wanted]
        self._cuts = np.cumsum([each.counts.size for each in wanted])[:-1]

    def scale(self, potentials: Sequence[Floats]) -> Floats:
        """The variables that stand for these potentials."""
        return np.asarray(np.concatenate([each.ravel() for each in potentials]) * self.slope)

    def potentials(self, variables: Floats) -> list[Floats]:
        """The potentials that these variables stand for."""
        parts = np.split(variables / self.slope, self._cuts)
        return [part.reshape(shape) for part, shape in zip(parts, self._shapes, strict=True)]

    def __call__(self, variables: Floats) -> tuple[float, Floats]:
        """Return the value and the gradient: expected counts less those measured, and the pull to evenness."""
        plain = variables / self.slope
        tables, log_sum = self.junction.tables(self.potentials(variables))
        expected = np.concatenate([each.ravel() for each in self.junction.sums(tables)])
        value = self.junction.total * log_sum - plain @ self.counts + plain @ (self.pull * plain) / 2
        return float(value), np.asarray((expected - self.counts + self.pull * plain) / self.slope)

"""Finding a strategy: which chains, which histograms, and how the budget is shared among them.

Nothing here sees data. Whatever is found is private, as every strategy is; the search only decides how accurate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from ziggurat.errors import ParameterError
from ziggurat.queries.workloads._cells import MOST_CELLS
from ziggurat.queries.workloads._strategy import Chain, Floats, Levels, Space, Strategy, contributions, total_energies
from ziggurat.queries.workloads._workload import Group, Ranges

# All combinations of levels are considered up to this number; beyond it those that the queries themselves need.
_MOST_TRIED = 512
_MOST_HISTOGRAMS = 2048
# A chain is judged by about so many of its column's ranges.
_ENOUGH_RANGES = 20_000
# A histogram with less than this share of the largest one is not worth a query.
_NEGLIGIBLE = 1e-3


def search(groups: Sequence[Group], sizes: Mapping[str, int], power: int) -> Strategy:
    """Find the strategy with the least weighted total squared error.

    Parameters
    ----------
    groups
        The queries, over cells that the queries tell apart.
    sizes
        The number of cells of every column, the last one, of everything else, included.
    power
        Noise of share s has variance proportional to s ** -power: 2 for Laplace, 1 for Gaussian noise.
    """
    names = tuple(sizes)
    space = Space(names, tuple(_best_chain(name, sizes, groups, power) for name in names))
    components = space.components(groups)
    if len(components) > _MOST_HISTOGRAMS:
        raise ParameterError(
            f"The workload needs {len(components):,} kinds of histograms, more than {_MOST_HISTOGRAMS:,}; "
            "ask for fewer columns or ranges at a time."
        )
    tried = _candidates(space, components)
    starts = [*_starts(space, groups, tried), np.ones(len(tried))]
    energies = total_energies(space, groups, components, _cells_asked_for(sizes))
    return _optimal(space, energies, components, tried, starts, power)[0]


def _cells_asked_for(sizes: Mapping[str, int]) -> dict[str, int]:
    return {name: size - 1 for name, size in sizes.items()}


def _candidates(space: Space, components: Sequence[Levels]) -> list[Levels]:
    """Histograms to choose from: those the queries need, and where they are few all others that fit in memory."""
    if math.prod(chain.depth + 1 for chain in space.chains) > _MOST_TRIED:
        return list(components)
    every = product(*(range(chain.depth + 1) for chain in space.chains))
    return [levels for levels in every if space.cells(levels) <= MOST_CELLS]


def _starts(space: Space, groups: Sequence[Group], tried: Sequence[Levels]) -> list[Floats]:
    """Where the search begins: the histograms asked for, and the joint histogram of all columns if it fits."""
    asked = {space.finest(group.columns) for group in groups}
    joint = space.finest(space.columns)
    starts = [np.array([1.0 if levels in asked else 1e-4 for levels in tried])]
    if joint in tried:
        starts.append(np.array([1.0 if levels == joint else 1e-4 for levels in tried]))
    return starts


def _best_chain(name: str, sizes: Mapping[str, int], groups: Sequence[Group], power: int) -> Chain:
    """The chain that serves best what is asked of this column alone; two levels if no ranges are asked."""
    asked = [
        replace(group, factors={name: _thin(group.factors[name])}, weight=group.weight * _groups_of(group, name, sizes))
        for group in groups
        if name in group.factors
    ]
    if all(group.factors[name] is None for group in asked):
        return Chain((1, sizes[name]))
    return min(_chains(sizes[name]), key=lambda chain: _error_of(chain, name, sizes[name], asked, power))


def _thin(ranges: Ranges | None) -> Ranges | None:
    if ranges is None or len(ranges) <= _ENOUGH_RANGES:
        return ranges
    step = len(ranges) // _ENOUGH_RANGES + 1
    return Ranges(ranges.lows[::step], ranges.highs[::step])


def _groups_of(group: Group, name: str, sizes: Mapping[str, int]) -> int:
    """In how many groups, by other columns, the same is asked of this column."""
    return math.prod(sizes[column] - 1 for column in group.columns if column != name)


def _error_of(chain: Chain, name: str, size: int, asked: Sequence[Group], power: int) -> float:
    space = Space((name,), (chain,))
    components = space.components(asked)
    energies = total_energies(space, asked, components, _cells_asked_for({name: size}))
    return _optimal(space, energies, components, components, [np.ones(len(components))], power)[1]


def _chains(size: int) -> list[Chain]:
    """For every depth the most even chain with the fewest cells added."""
    return [Chain(blocks) for blocks in dict.fromkeys(_even(size, depth) for depth in range(1, size.bit_length() + 1))]


def _even(size: int, depth: int) -> tuple[int, ...]:
    """Split into about equal factors, the larger ones at the top."""
    factors: list[int] = []
    left = size
    for remaining in range(depth, 0, -1):
        factor = max(2, math.ceil(left ** (1 / remaining) - 1e-9))
        factors.append(factor)
        left = math.ceil(left / factor)
        if left == 1:
            break
    return (1, *(math.prod(factors[: place + 1]) for place in range(len(factors))))


def _optimal(
    space: Space,
    energies: Floats,
    components: Sequence[Levels],
    tried: Sequence[Levels],
    starts: Sequence[Floats],
    power: int,
) -> tuple[Strategy, float]:
    """Share the budget as well as possible; then leave out what is negligible and share again."""
    adds = contributions(space, components, tried)
    shares, error = min((_minimize(energies, adds, start, power) for start in starts), key=lambda found: found[1])
    kept = _worthwhile(shares, adds)
    if len(kept) < len(shares):
        shares, error = _minimize(energies, adds[:, kept], shares[kept], power)
    chosen = tuple(tried[place] for place in kept)
    return Strategy(space, chosen, tuple(map(float, shares))), error


def _worthwhile(shares: Floats, adds: Floats) -> list[int]:
    """The histograms to keep: all with a real share, and whatever else every component needs to be known at all."""
    order = np.argsort(-shares)
    real = int(np.sum(shares > _NEGLIGIBLE * shares.max()))
    known = np.zeros(len(adds), dtype=bool)
    kept = []
    for rank, place in enumerate(order):
        new = (adds[:, place] > 0) & ~known
        if rank < real or new.any():
            kept.append(int(place))
            known |= new
    return sorted(kept)


def _minimize(energies: Floats, adds: Floats, start: Floats, power: int) -> tuple[Floats, float]:
    """Minimise sum of energy / eigenvalue over shares that add up to 1.

    In the shares of Gaussian noise the error is convex (a sum of reciprocals of linear functions); for Laplace noise
    it need not be, hence several starts.
    """
    from scipy.optimize import minimize

    def cost(logs: Floats) -> tuple[float, Floats]:
        shares = np.exp(logs - logs.max())
        shares /= shares.sum()
        values = adds @ shares**power + 1e-100
        error = float(np.sum(energies / values))
        slope = -power * shares**power * (adds.T @ (energies / values**2)) / error
        return math.log(error), slope - shares * slope.sum()

    if len(start) == 1:
        return np.ones(1), math.exp(cost(np.zeros(1))[0])
    found = minimize(cost, np.log(start), jac=True, method="L-BFGS-B", options={"maxiter": 500, "maxfun": 1000})
    shares = np.exp(found.x - found.x.max())
    return shares / shares.sum(), math.exp(float(found.fun))

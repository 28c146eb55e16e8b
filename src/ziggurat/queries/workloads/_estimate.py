"""From noisy histograms to answers: weighted least squares, one component at a time.

With the projections of `_strategy` the least-squares estimate of component a is the weighted mean of what every
histogram m >= a says about it, with weights w(m) V(m). All answers come from one estimate, so they agree with each
other: the cells of a marginal add up to the total, and neighbouring ranges to the range of both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ziggurat.queries.workloads._strategy import Floats, Levels, Space, Strategy
from ziggurat.queries.workloads._workload import Group


def coarser(space: Space, table: Any, fine: Levels, coarse: Levels) -> Any:
    """Add up a histogram of levels `fine` to one of levels `coarse`; axes are the columns above level 0."""
    for axis, place in reversed(list(enumerate(space.support(fine)))):
        blocks, level = space.chains[place].blocks, coarse[place]
        if level == 0:
            table = table.sum(axis=axis)
        elif level < fine[place]:
            shape = (*table.shape[:axis], blocks[level], -1, *table.shape[axis + 1 :])
            table = table.reshape(shape).sum(axis=axis + 1)
    return table


def estimate_components(
    strategy: Strategy, tables: Sequence[Any], weights: Floats, eigenvalues: Mapping[Levels, float]
) -> dict[Levels, Floats]:
    """Estimate every component from all noisy histograms that know of it, in counts per block."""
    space, found = strategy.space, {}
    scaled = [
        (levels, table, weight / space.cells(levels))
        for levels, table, weight in zip(strategy.measured, tables, weights, strict=True)
    ]
    for wanted, value in eigenvalues.items():
        shape = [space.chains[place].blocks[wanted[place]] for place in space.support(wanted)]
        mean = np.zeros(shape)
        for levels, table, weight in scaled:
            if all(fine >= coarse for fine, coarse in zip(levels, wanted, strict=True)):
                mean += weight / value * coarser(space, table, levels, wanted)
        found[wanted] = _residual(space, mean, wanted)
    return found


def _residual(space: Space, table: Floats, levels: Levels) -> Floats:
    """Take from every block the mean of the blocks that share its parent, column by column."""
    for axis, place in enumerate(space.support(levels)):
        parents = space.chains[place].blocks[levels[place] - 1]
        split = table.reshape((*table.shape[:axis], parents, -1, *table.shape[axis + 1 :]))
        table = (split - split.mean(axis=axis + 1, keepdims=True)).reshape(table.shape)
    return table


def answers(space: Space, group: Group, parts: Mapping[Levels, Floats], sizes: Mapping[str, int]) -> Floats:
    """Answer every query of a group from the estimated components."""
    top = space.finest(group.columns)
    table = np.zeros([space.chains[place].size for place in space.support(top)])
    for levels in space.below(top):
        table += _spread(space, parts[levels], levels, top)
    order = [name for name in space.columns if name in group.factors]
    for axis, name in enumerate(order):
        table = _answer_group(np.moveaxis(table, axis, 0), group, name, sizes[name])
        table = np.moveaxis(table, 0, axis)
    return np.asarray(table.transpose([order.index(name) for name in group.columns]))


def _spread(space: Space, part: Floats, levels: Levels, top: Levels) -> Floats:
    """Share the counts of a component evenly among the finer blocks of `top`."""
    for axis, place in enumerate(space.support(top)):
        blocks = space.chains[place].blocks
        if levels[place] == 0:
            part = np.expand_dims(part, axis)
        else:
            part = np.repeat(part, blocks[top[place]] // blocks[levels[place]], axis=axis)
    return part * (space.cells(levels) / space.cells(top))


def _answer_group(table: Floats, group: Group, name: str, size: int) -> Floats:
    ranges = group.factors[name]
    if ranges is None:
        return table[:size]
    sums = np.concatenate([np.zeros((1, *table.shape[1:])), np.cumsum(table, axis=0)])
    return np.asarray(sums[ranges.highs] - sums[ranges.lows])

"""Classification and regression trees, and forests of them, that draw real values from their leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, cast

import numpy as np
import numpy.typing as npt

from ziggurat.data.coded import CodedColumn, Reals
from ziggurat.errors import DataError, ParameterError
from ziggurat.synthesize._method import Arrays, Codes
from ziggurat.synthesize.learners._binning import Binner, Bins, bin_columns, pack, unpack
from ziggurat.synthesize.learners._leaves import follow, pick
from ziggurat.synthesize.learners._tree_kernels import grow
from ziggurat.synthesize.learners._tree_shapes import Limits, Rows, TreeNodes, TreeSample

_DEEP = 2**31 - 1


@dataclass(frozen=True)
class Grown:
    """Trees over the same rows, from whose leaves cells are drawn.

    Parameters
    ----------
    binners
        How the columns that are given become bins, one for each.
    tree
        The nodes of all trees.
    roots
        The node at which each tree starts.
    donors
        The rows in the leaves; those of a leaf stand together.
    cells
        The target in every row: codes, or numbers.
    weights
        Of one copy: the sums of the weights of the donors up to each; none as long as all weigh the same.
    shares
        Of one copy: the sums of the weights of the trees up to each.
    """

    binners: tuple[Binner, ...]
    tree: TreeNodes
    roots: npt.NDArray[np.int64]
    donors: Rows
    cells: Codes | Reals
    weights: Reals
    shares: Reals

    def posterior(self, draw: np.random.Generator) -> Grown:
        """Weigh the rows anew, by the Bayesian bootstrap, and the trees too.

        A row has the same weight in every tree. Weights drawn for each tree apart would cancel in the mixture, and
        copies would differ too little.
        """
        rows, trees = draw.standard_exponential(len(self.cells)), draw.standard_exponential(len(self.roots))
        weights, shares = np.cumsum(rows[self.donors]), np.cumsum(trees)
        return Grown(self.binners, self.tree, self.roots, self.donors, self.cells, weights, shares / shares[-1])

    def sample(
        self, given: Sequence[CodedColumn], rows: int, draw: np.random.Generator, *, bins: Bins | None = None
    ) -> Codes | Reals:
        """Follow a tree, drawn for each row, to a leaf and draw one of the values there.

        `bins`, if there are any, are the given columns cut by these `binners`, and take their place.
        """
        bins = bin_columns(given, self.binners) if bins is None else bins
        _check_rows(bins, rows)
        nodes = self.roots[self._trees(rows, draw)]
        follow(bins.cells, nodes, self.tree)
        picked = pick(nodes, self.tree, self.weights, draw.random(rows))
        return self.cells[self.donors[picked]]

    def state(self) -> dict[str, npt.NDArray[np.generic]]:
        """Return all that was learned as arrays; `cells` are those of the table."""
        return {
            "roots": self.roots,
            "donors": self.donors,
            "cells": self.cells,
            "weights": self.weights,
            "shares": self.shares,
            **self.tree._asdict(),
            **pack(self.binners),
        }

    def _trees(self, rows: int, draw: np.random.Generator) -> npt.NDArray[np.intp]:
        if len(self.roots) == 1:
            return np.zeros(rows, np.intp)
        return np.minimum(np.searchsorted(self.shares, draw.random(rows), side="right"), len(self.roots) - 1)


@dataclass(frozen=True)
class Cart:
    """A classification or regression tree, from whose leaves values are drawn (Reiter 2005, J. Official Stat. 21).

    The tree is grown by the Gini impurity of categories or the variance of numbers, on columns cut into at most 255
    bins. Copies differ by the Bayesian bootstrap of the rows in each leaf; the tree itself stays the same.

    Parameters
    ----------
    smallest_leaf
        The fewest rows in a leaf.
    depth
        How many cuts may follow each other; None for as many as there are.
    gain
        The least share of the spread of the whole column that a cut must take away.
    caution
        How many times what luck explains a cut must explain where numbers are drawn. With 0 trees grow until leaves are
        small; then ages and sizes, which few people share, are drawn given everything else, and tell of it. Categories
        are shared by many, and the trees that draw them are grown without caution.
    """

    smallest_leaf: int = 5
    depth: int | None = None
    gain: float = 1e-8
    caution: float = 2.0

    proper: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check(self.smallest_leaf, self.caution, self.depth, self.gain)

    def fit(
        self, target: CodedColumn, given: Sequence[CodedColumn], draw: np.random.Generator, *, bins: Bins | None = None
    ) -> Grown:
        """Grow the tree; `bins`, if there are any, are the given columns as `bin_columns` cuts them."""
        bins = bin_columns(given) if bins is None else bins
        stops = self.smallest_leaf, _deepest(self.depth), float(self.gain)
        limits = Limits(*stops, len(bins.binners), float(self.caution if target.numeric else 0))
        order = np.arange(target.rows, dtype=np.uint32)
        return _gather(target, bins, [(grow(_sample(target, bins), order, limits, draw), order)])

    def restored(self, state: Arrays) -> Grown:
        """Return what `Grown.state` described."""
        return _restore(state)


@dataclass(frozen=True)
class Forest:
    """Trees on bootstrap samples, each cut chosen among a few columns at random; each cell is drawn from one of them.

    The distribution of a cell is the mixture over the trees, which is that of a weighted sample of the rows
    (Meinshausen 2006, J. Mach. Learn. Res. 7). Copies differ by the Bayesian bootstrap of these rows, as those of
    `Cart` do, and by the weights of the trees; so the combining rules rest on the same ground: the posterior given the
    structure of the trees.

    Parameters
    ----------
    trees
        How many.
    smallest_leaf
        The fewest rows of the bootstrap sample in a leaf.
    features
        How many columns each cut may choose among: a third of them, the square root of their number, or this many.
    caution
        As for `Cart`.
    """

    trees: int = 30
    smallest_leaf: int = 5
    features: Literal["third", "sqrt"] | int = "third"
    caution: float = 2.0

    proper: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check(self.smallest_leaf, self.caution)
        if self.trees < 1:
            raise ParameterError("A forest needs at least one tree.")
        if self.features not in ("third", "sqrt") and not (isinstance(self.features, int) and self.features >= 1):
            raise ParameterError('Set features to "third", "sqrt" or a whole number from 1.')

    def fit(
        self, target: CodedColumn, given: Sequence[CodedColumn], draw: np.random.Generator, *, bins: Bins | None = None
    ) -> Grown:
        """Grow the trees; `bins`, if there are any, are the given columns as `bin_columns` cuts them."""
        bins = bin_columns(given) if bins is None else bins
        tried, caution = self._tried(len(bins.binners)), self.caution if target.numeric else 0.0
        limits = Limits(self.smallest_leaf, _deepest(None), 1e-8, tried, float(caution))
        sample, grown = _sample(target, bins), []
        for _ in range(self.trees):
            order = _resample(target.rows, draw)
            grown.append((grow(sample, order, limits, draw), order))
        return _gather(target, bins, grown)

    def restored(self, state: Arrays) -> Grown:
        """Return what `Grown.state` described."""
        return _restore(state)

    def _tried(self, columns: int) -> int:
        if isinstance(self.features, int):
            return min(self.features, columns)
        return -(-columns // 3) if self.features == "third" else int(np.ceil(np.sqrt(columns)))


def _check(smallest_leaf: int, caution: float, depth: int | None = None, gain: float = 0.0) -> None:
    if smallest_leaf < 1:
        raise ParameterError("The smallest leaf must hold at least one row.")
    if depth is not None and depth < 0:
        raise ParameterError("The depth of a tree must not be negative; None leaves it open.")
    if not 0 <= gain < 1:
        raise ParameterError("The gain of a cut is a share of the spread: set it from 0 to below 1.")
    if not 0 <= caution < np.inf:
        raise ParameterError("Caution must be a number that is not negative.")


def _check_rows(bins: Bins, rows: int) -> None:
    if len(bins.binners) and bins.cells.shape[1] != rows:
        raise DataError("The given columns must have as many rows as the column that is learned or drawn.")


def _deepest(depth: int | None) -> int:
    return _DEEP if depth is None else min(depth, _DEEP)


def _sample(target: CodedColumn, bins: Bins) -> TreeSample:
    if target.rows == 0:
        raise DataError("A tree needs at least one row to learn from.")
    _check_rows(bins, target.rows)
    at = np.cumsum([0, *(each.many for each in bins.binners)])
    ordered = np.array([each.ordered for each in bins.binners], np.int64)
    nobody = np.empty(0, np.uint32)
    if target.values is not None:
        return TreeSample(bins.cells, at, ordered, _scale(target.values), nobody, 0)
    if target.size == 2:
        return TreeSample(bins.cells, at, ordered, target.codes.astype(np.float64), nobody, 0)
    return TreeSample(bins.cells, at, ordered, np.empty(0), target.codes.astype(np.uint32), target.size)


def _scale(values: Reals) -> Reals:
    """Centre the numbers and bring them to between -1 and 1, so that sums of squares neither overflow nor cancel."""
    low, high = values.min(), values.max()
    if low == high:
        return np.zeros(len(values))
    unit: Reals = values / 2 / max(abs(low), abs(high))
    unit -= unit.mean()
    unit /= np.abs(unit).max()
    return unit


def _resample(rows: int, draw: np.random.Generator) -> Rows:
    times = np.bincount(draw.integers(0, rows, rows), minlength=rows)
    return np.repeat(np.arange(rows, dtype=np.uint32), times)


def _gather(target: CodedColumn, bins: Bins, grown: Sequence[tuple[TreeNodes, Rows]]) -> Grown:
    """Put the nodes and rows of all trees behind one another."""
    trees, orders = [tree for tree, _ in grown], [order for _, order in grown]
    starts = np.cumsum([0, *(len(tree.column) for tree in trees)])[:-1]
    moved = [
        tree._replace(below=tree.below + start, first=tree.first + place, last=tree.last + place)
        for tree, start, place in zip(trees, starts, range(0, len(trees) * target.rows, target.rows), strict=True)
    ]
    nodes = TreeNodes(*(np.concatenate(parts) for parts in zip(*moved, strict=True)))
    cells = target.codes if target.values is None else target.values
    shares = np.arange(1, len(trees) + 1) / len(trees)
    return Grown(bins.binners, nodes, starts, np.concatenate(orders), cells.copy(), np.empty(0), shares)


def _restore(state: Arrays) -> Grown:
    held = cast(Mapping[str, npt.NDArray[Any]], state)
    tree = TreeNodes(*(held[name] for name in TreeNodes._fields))
    rest = (held[name] for name in ("roots", "donors", "cells", "weights", "shares"))
    return Grown(unpack(state), tree, *rest)

"""What trees are grown on and what they are, as compiled code sees it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Integers = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Small = npt.NDArray[np.int32]
Rows = npt.NDArray[np.uint32]


class TreeSample(NamedTuple):
    """What a tree is grown on.

    `bins` holds a row per column; column j has `at[j + 1] - at[j]` of them, of which the first `ordered[j]` have an
    order. `numbers` lie between -1 and 1; where there are classes (`many` of them, 0 for none) they are not read.
    """

    bins: Bytes
    at: Integers
    ordered: Integers
    numbers: Reals
    classes: Rows
    many: int


class Limits(NamedTuple):
    """When to stop, and how many columns a cut may choose among.

    To stop: the fewest rows in a leaf, the depth, the least share of the spread at the root, and how many times what
    luck explains a cut must explain.
    """

    leaf: int
    depth: int
    gain: float
    tried: int
    caution: float


class TreeNodes(NamedTuple):
    """Nodes of trees.

    Of each the column of the cut (-1 in a leaf), the left child (the right one follows it), a bit for every bin that
    goes left, and from where to where in the order of rows its own stand.
    """

    column: Small
    below: Small
    left: Bytes
    first: Small
    last: Small

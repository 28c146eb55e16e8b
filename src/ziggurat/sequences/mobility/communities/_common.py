"""How many visits two people have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.sequences.mobility._trajectories import Trajectories


def count_common_visits(one: Trajectories, other: Trajectories) -> Any:
    """How many visits every trajectory of one set has in common with every one of another, whatever the time.

    Visits in common are those of the two multisets of places: sum over places l of min(n_l, m_l). With the j-th visit
    at a place as a thing of its own, (l, j), this is the number of things that both have, hence one sparse product.

    Returns
    -------
    scipy.sparse.csr_array
        One x other.

    Examples
    --------
    >>> from ziggurat.sequences.mobility import Ground, TrajectoryDomain
    >>> domain = TrajectoryDomain.on(Ground(("a", "b")), longest=3, timed=False)
    >>> found = Trajectories(domain, np.array([0, 0, 1, 0, 0, 0]), np.array([0, 3, 6]))
    >>> count_common_visits(found, found).toarray().tolist()
    [[3, 2], [2, 3]]
    """
    from scipy.sparse import csr_array

    size = max(one.domain.size, other.domain.size)
    things = [_count_returns(each) * size + each.codes for each in (one, other)]
    numbers = np.unique(np.concatenate(things), return_inverse=True)[1]
    width = int(numbers.max(initial=-1)) + 1
    parts = numbers[: len(one.codes)], numbers[len(one.codes) :]
    held = [
        csr_array((np.ones(len(part), dtype=np.int32), part, each.offsets), shape=(len(each), width))
        for part, each in zip(parts, (one, other), strict=True)
    ]
    return held[0] @ held[1].T


def _count_returns(trajectories: Trajectories) -> npt.NDArray[np.int64]:
    """How often the same trajectory had been at the place of each visit before."""
    who = np.repeat(np.arange(len(trajectories)), trajectories.lengths)
    order = np.lexsort((trajectories.codes, who))
    place, owner = trajectories.codes[order], who[order]
    first = np.flatnonzero((np.diff(place, prepend=-1) != 0) | (np.diff(owner, prepend=-1) != 0))
    before = np.empty(len(order), dtype=np.int64)
    before[order] = np.arange(len(order)) - np.repeat(first, np.diff(first, append=len(order)))
    return before

"""Communities by Louvain's algorithm on the graph of commuters: what the thesis compares its models with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.errors import MissingExtraError
from ziggurat.randomness import choose_source
from ziggurat.sequences.mobility._trajectories import Trajectories
from ziggurat.sequences.mobility.communities._common import count_common_visits


@dataclass(frozen=True, eq=False)
class CommuterGraph:
    """Who shares visits with whom: raw, without any promise.

    Parameters
    ----------
    shared
        People x people, sparse (CSR of SciPy), above the diagonal: how many visits two people have in common.
    """

    shared: Any

    @classmethod
    def of(cls, trajectories: Trajectories) -> CommuterGraph:
        """Join people, in the order of `by_owner()`, who were at the same place, whatever the time.

        An edge weighs as much as they have visits in common; see `count_common_visits`.
        """
        from scipy.sparse import csr_array, triu

        people = trajectories.by_owner()
        return cls(csr_array(triu(count_common_visits(people, people), k=1)))

    @property
    def edges(self) -> int:
        """How many pairs of people share a visit."""
        return int(self.shared.nnz)

    @property
    def density(self) -> float:
        """The share of all pairs of people that share a visit."""
        people: int = self.shared.shape[0]
        return self.edges / max(people * (people - 1) / 2, 1)


def find_by_louvain(
    trajectories: Trajectories | CommuterGraph, *, resolution: float = 1.0, random_state: int | None = None
) -> npt.NDArray[np.int64]:
    """Communities of people by Louvain's greedy search for modularity (Blondel et al. 2008), by igraph.

    Every person's community, in the order of `by_owner()`; the largest community is 0. Raw, like the visits.

    Parameters
    ----------
    trajectories
        The people's, or their graph if it has been made.
    resolution
        Larger ones give more and smaller communities.
    random_state
        In which order people are moved: anew each time or, with a whole number, the same again.
    """
    try:
        import igraph
    except ImportError:
        raise MissingExtraError("Louvain needs igraph; add it with: pip install 'ziggurat[mobility]'.") from None
    graph = trajectories if isinstance(trajectories, CommuterGraph) else CommuterGraph.of(trajectories)
    people = graph.shared.shape[0]
    # igraph draws from Python's generator; people in another order do the same without touching what others draw from.
    order = choose_source(random_state).simulation().permutation(people)
    first, second = graph.shared.nonzero()
    pairs = np.stack([order[first], order[second]], axis=1)
    made = igraph.Graph(n=people, edges=np.ascontiguousarray(pairs))
    found = made.community_multilevel(weights=graph.shared.data, resolution=resolution)
    return _by_size(np.array(found.membership, dtype=np.int64)[order])


def _by_size(labels: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    rank = np.argsort(np.argsort(-np.bincount(labels), kind="stable"))
    return np.asarray(rank[labels], dtype=np.int64)

"""Which community a trajectory is typical of."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from ziggurat.errors import ParameterError
from ziggurat.sequences.mobility._trajectories import Trajectories

ClassificationRule = Literal["likelihood", "inner-product"]
"""How a trajectory is classified: by how likely its visits are together, or by the sum of how likely each is."""


def classify_trajectories(
    trajectories: Trajectories, components: npt.ArrayLike, rule: ClassificationRule = "likelihood"
) -> npt.NDArray[np.int64]:
    """Give the community under which the places of each trajectory are most likely; of equal ones the first.

    Section 5.3.2 of Dandekar's thesis takes argmax_k phi_k . t, with t_l visits at place l, for the probability of the
    trajectory. It is not: visits are independent given the community, so that their probability is the product
    prod_l phi_kl^{t_l}, and the community the argmax of sum_l t_l log phi_kl. The two disagree: in the inner
    product one visit at a community's own place outweighs any number of places that the community never visits.

    Parameters
    ----------
    trajectories
        Which; an empty one is of community 0.
    components
        phi: communities x places.
    rule
        'likelihood', or 'inner-product' as the thesis prints it.

    Examples
    --------
    >>> from ziggurat.sequences.mobility import Ground, TrajectoryDomain
    >>> domain = TrajectoryDomain.on(Ground(("a", "b")), longest=3, timed=False)
    >>> found = Trajectories(domain, np.array([0, 0, 1]), np.array([0, 3]))
    >>> phi = [[0.98, 0.02], [0.6, 0.4]]
    >>> [classify_trajectories(found, phi, rule).tolist() for rule in ("likelihood", "inner-product")]
    [[1], [0]]
    """
    phi = np.asarray(components, dtype=np.float64)
    if phi.ndim != 2 or phi.shape[1] != trajectories.domain.size:
        raise ParameterError("The components are a matrix, one row per community and one column per place.")
    if rule not in get_args(ClassificationRule):
        raise ParameterError("Trajectories are classified by 'likelihood' or by 'inner-product'.")
    if rule == "likelihood":
        with np.errstate(divide="ignore"):
            phi = np.log(phi)
    scores: Any = count_visits(trajectories) @ phi.T
    return np.asarray(scores.argmax(axis=1), dtype=np.int64)


def count_visits(trajectories: Trajectories) -> Any:
    """How often each trajectory visits each place: trajectories x places, sparse (CSR of SciPy)."""
    from scipy.sparse import csr_array

    shape = len(trajectories), trajectories.domain.size
    ones = np.ones(len(trajectories.codes))
    found = csr_array((ones, trajectories.codes, trajectories.offsets), shape=shape, copy=True)  # summed in place
    found.sum_duplicates()
    return found

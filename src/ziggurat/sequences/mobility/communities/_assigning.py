"""Who belongs to which community: by the largest share of a person's visits, or by every share that is large enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from ziggurat.errors import ParameterError

AssignmentRule = Literal["argmax", "threshold"]
"""How people are assigned: to one community each, or to every community from a threshold on."""


@dataclass(frozen=True, eq=False)
class Communities:
    """Which people belong to which communities; as raw as the memberships it was made from.

    Section 5.2.4 of Dandekar's thesis says C_k = {c : theta_ck >= tau} and calls it a partition, section 5.3.1 assigns
    everybody to the community of the largest share. The two differ. With tau above 1/2 nobody is in two communities
    and some may be in none; with tau at most 1/K everybody is in one or more; with tau = 0.4 and K = 10 some are in
    none and some in two. `argmax` alone partitions the people.

    Parameters
    ----------
    held
        People x communities: whether one belongs to the other.

    Examples
    --------
    >>> theta = [[0.9, 0.1, 0.0], [0.45, 0.45, 0.1], [0.3, 0.3, 0.4], [0.36, 0.34, 0.3]]
    >>> Communities.assign(theta, "threshold", threshold=0.4).describe()
    '1 of 4 people are in no community, 1 in several'
    >>> Communities.assign(theta).sizes.tolist()
    [3, 0, 1]
    """

    held: npt.NDArray[np.bool_]

    def __post_init__(self) -> None:
        object.__setattr__(self, "held", np.asarray(self.held, dtype=bool))
        if self.held.ndim != 2:
            raise ParameterError("Communities are held as a matrix, one row per person and one column per community.")

    @classmethod
    def assign(
        cls, memberships: npt.ArrayLike, rule: AssignmentRule = "argmax", *, threshold: float = 0.4
    ) -> Communities:
        """Assign people by their shares theta.

        Parameters
        ----------
        memberships
            People x communities, each row the shares of one person.
        rule
            'argmax': the community with the largest share, of equal ones the first. 'threshold': every community
            with a share of at least `threshold`.
        threshold
            tau, from 0 to 1; for the rule 'threshold' alone.
        """
        shares = np.asarray(memberships, dtype=np.float64)
        if shares.ndim != 2 or not shares.shape[1]:
            raise ParameterError("Give the memberships as a matrix, one row per person and one column per community.")
        if rule not in get_args(AssignmentRule):
            raise ParameterError("People are assigned by 'argmax' or by 'threshold'.")
        if not 0 <= threshold <= 1:
            raise ParameterError("The threshold is a share, from 0 to 1.")
        if rule == "threshold":
            return cls(shares >= threshold)
        return cls(shares.argmax(axis=1)[:, None] == np.arange(shares.shape[1]))

    @property
    def count(self) -> int:
        """How many communities there are, empty ones among them."""
        return int(self.held.shape[1])

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """How many people each has."""
        return np.asarray(self.held.sum(axis=0), dtype=np.int64)

    @property
    def in_none(self) -> int:
        """How many people are in no community: such a rule does not cover them."""
        return int((self.held.sum(axis=1) == 0).sum())

    @property
    def in_several(self) -> int:
        """How many people are in two or more communities."""
        return int((self.held.sum(axis=1) > 1).sum())

    @property
    def are_partition(self) -> bool:
        """Whether everybody is in exactly one community."""
        return not self.in_none and not self.in_several

    def members(self, community: int) -> npt.NDArray[np.int64]:
        """The people of one community, by their places among all."""
        if not 0 <= community < self.count:
            raise ParameterError(f"There are {self.count} communities; the first is 0.")
        return np.flatnonzero(self.held[:, community])

    def describe(self) -> str:
        """Say whether everybody is in exactly one."""
        people = len(self.held)
        return f"{self.in_none:,} of {people:,} people are in no community, {self.in_several:,} in several"

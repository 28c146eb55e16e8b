"""Visits as a topic model sees them: by person, one code for the place and one for the hour, or one of the two."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]
Weights = npt.NDArray[np.float32]
Reals = npt.NDArray[np.float64]


class Bags(NamedTuple):
    """The visits of person i are those from `offsets[i]` to `offsets[i + 1]`, in any order.

    `first` is what all models of a kind see (a place, or an hour), one of `sizes[0]`; `second` is the hour beside the
    place, one of `sizes[1]`, and empty in models that see one thing only.
    """

    offsets: Offsets
    first: Codes
    second: Codes
    sizes: tuple[int, int]

    @property
    def people(self) -> int:
        """How many people there are."""
        return len(self.offsets) - 1

    @property
    def people_of_visits(self) -> Offsets:
        """Whose each visit is."""
        return np.repeat(np.arange(self.people), np.diff(self.offsets))

    def take(self, people: npt.NDArray[np.int64]) -> Bags:
        """The bags of some people, in that order."""
        lengths = np.diff(self.offsets)[people]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        at = np.arange(offsets[-1]) + np.repeat(self.offsets[people] - offsets[:-1], lengths)
        return Bags(offsets, self.first[at], self.second[at] if len(self.second) else self.second, self.sizes)

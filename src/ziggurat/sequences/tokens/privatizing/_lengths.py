"""What becomes of the length of a sequence that is protected on its own: a length that is kept is released."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ziggurat.errors import ParameterError
from ziggurat.privacy import whole_number

Length = Literal["kept", "protected"] | Sequence[int]
"""'kept', 'protected', or public sizes of buckets."""


@dataclass(frozen=True)
class LengthRule:
    """How many steps a mechanism takes for a sequence, which is all that is public of its length.

    - 'kept': as many as the sequence has symbols. Whoever sees the output knows the length: the promise compares
      sequences of one length only.
    - sizes of buckets: as many as the smallest bucket that holds it. The promise compares sequences of one bucket.
    - 'protected': always the longest. The promise compares any two sequences.

    Unless the length is kept, there is one symbol more, the end, that the mechanism protects like any other; what
    stands behind it is cut off, which is post-processing.
    """

    stated: Literal["kept", "protected", "bucketed"]
    sizes: tuple[int, ...]

    @classmethod
    def read(cls, length: Length, longest: int) -> LengthRule:
        """Read what a user states; the sizes of buckets rise, and the last holds every sequence of the domain."""
        if length == "kept" or length == "protected":
            return cls(length, (longest,))
        if not isinstance(length, list | tuple) or not length:
            raise ParameterError("length must be 'kept', 'protected', or a list of public sizes of buckets.")
        sizes = tuple(whole_number(each, "a size of a bucket") for each in length)
        if list(sizes) != sorted(set(sizes)) or sizes[-1] != longest:
            raise ParameterError(f"The sizes of buckets must rise, and end at the longest of the domain, {longest}.")
        return cls("bucketed", sizes)

    @property
    def has_end(self) -> bool:
        """Whether there is an end among the symbols that are drawn."""
        return self.stated != "kept"

    @property
    def most_steps(self) -> int:
        """The most steps for any sequence of the domain."""
        return self.sizes[-1]

    def steps(self, lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The public number of steps for sequences of these lengths."""
        if self.stated == "kept":
            return lengths
        return np.asarray(self.sizes, dtype=np.int64)[np.searchsorted(self.sizes, lengths)]

    @property
    def compared(self) -> str:
        """Which sequences the promise compares, in words."""
        return {
            "kept": "any other of the same length, which is public",
            "bucketed": f"any other of its bucket (up to {', '.join(map(str, self.sizes))} symbols), which is public",
            "protected": "any other, whatever its length",
        }[self.stated]

"""What every generator needs: a checked count, and Arrow columns made from codes."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ziggurat.errors import ParameterError

Integers = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


def check_count(name: str, value: int) -> int:
    """The value as an int, or `ParameterError` unless it is a whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ParameterError(f"{name} must be a whole number of at least 1.")
    return int(value)


def labels(codes: Integers, values: Sequence[str]) -> pa.Array:
    """The string column whose entry i is `values[codes[i]]`."""
    coded = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(values, pa.string()))
    return coded.cast(pa.string())


def draw_places(random: np.random.Generator, chances: Reals, size: int) -> Integers:
    """Indices drawn with probability proportional to `chances`."""
    ladder = np.cumsum(chances)
    steps = np.searchsorted(ladder, random.random(size) * ladder[-1], side="right")
    return np.asarray(np.minimum(steps, len(chances) - 1), dtype=np.int64)

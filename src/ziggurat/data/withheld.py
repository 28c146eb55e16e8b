"""Rows that scikit-learn checks for us: what it says about them leaves without a cell."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.errors import DataError

# What scikit-learn says of shapes, names and kinds is passed on; all else may quote cells.
_HARMLESS = re.compile(
    r"Found array with|X has \d+ feature|The feature names|Unknown label type"
    r"|y should be a 1d array|.* requires y to be passed"
)
_ABSENT = re.compile(r"NAType|value of NA is ambiguous")
_INSTEAD = {
    "Found input variables": "There are not as many targets as rows of features; give one for each.",
    "Complex data": "Complex data not supported; give real numbers.",
    "Expected 2D array": "Reshape your data to a table with a row for each record, also if there is only one row or "
    "column.",
    "Input y contains": "Some targets are missing (NaN) or infinite (inf); fill or drop them first.",
}


class RowsError(DataError, ValueError):
    """Rows cannot be learned from; scikit-learn's contract asks for a ValueError."""


@contextlib.contextmanager
def cells_withheld() -> Iterator[None]:
    """Turn what scikit-learn raises about rows into a sentence without a cell."""
    try:
        yield
    except (ValueError, OverflowError) as error:
        raise RowsError(_sentence(str(error))) from None
    except TypeError as error:
        if not _ABSENT.search(str(error)):
            raise  # as scikit-learn's contract asks where a cell is no value at all
        raise RowsError("Some cells are missing (NA); fill or drop them first.") from None


def finite(values: Any, name: str) -> npt.NDArray[Any]:
    """Refuse missing and infinite numbers without showing where they are."""
    if not np.isfinite(values).all():
        raise RowsError(f"Some {name} are missing (NaN), infinite (inf) or too large; fill or scale them first.")
    return np.asarray(values)


def _sentence(text: str) -> str:
    if _HARMLESS.match(text):
        return text
    for beginning, said in _INSTEAD.items():
        if text.startswith(beginning):
            return said
    return (
        "The features must be a table of real numbers, a row for each record, and targets as many; encode text first."
    )

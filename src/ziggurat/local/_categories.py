"""The public list of categories that an answer comes from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from ziggurat.data import Categories, Provenance
from ziggurat.errors import DataError, NotPublicError, ParameterError
from ziggurat.local._columns import as_column
from ziggurat.local._estimates import Label

Integers = npt.NDArray[np.int64]
Stated = Categories | Sequence[str | int] | int

_LONGEST = 10_000_000
_EXACT_FLOATS = 2**53


class PublicList:
    """The categories in order, and what becomes of values that are missing or not listed.

    Parameters
    ----------
    categories
        All text or all whole numbers; or how many there are, for the numbers from 0 on.
    missing
        Whether a missing value is an answer of its own, the last of the list. Otherwise it is refused.
    other
        The listed category that stands for every value that is not listed. Without it such values are refused.
    """

    def __init__(self, categories: Stated, missing: bool, other: str | int | None) -> None:
        if not isinstance(missing, bool):
            raise ParameterError("missing must be True or False.")
        self._size = categories if isinstance(categories, int) and not isinstance(categories, bool) else None
        self.listed = _list_categories(categories)
        self.missing, self.other = missing, other
        if len(self.listed) + missing < 2:
            raise ParameterError("An answer needs at least two public categories to choose from.")
        if other is not None and other not in self.listed:
            raise ParameterError("other must be one of the public categories.")
        self._text = isinstance(self.listed[0], str)
        self._values = pa.array(self.listed, pa.string() if self._text else pa.int64())

    @property
    def labels(self) -> tuple[Label, ...]:
        """Every answer, in order; None stands for a missing value."""
        return (*self.listed, None) if self.missing else self.listed

    @property
    def type(self) -> pa.DataType:
        """The Arrow type of the answers."""
        return self._values.type

    def __len__(self) -> int:
        return len(self.listed) + self.missing

    def parameters(self) -> dict[str, Any]:
        """Give the public parameters in JSON."""
        stated = list(self.listed) if self._size is None else self._size
        return {"categories": stated, "missing": self.missing, "other": self.other}

    def read(self, values: Any) -> Integers:
        """Give the place of every value in the list."""
        column = self._cast(as_column(values))
        codes = self._places(column)
        if not self.missing and column.null_count:
            raise DataError(
                "Some values are missing; allow for them, as an answer of its own, with missing=True, or --missing on "
                "the command line."
            )
        if self.other is not None:
            codes[codes < 0] = self.listed.index(self.other)
        elif codes.size and codes.min() < 0:
            raise DataError(
                "Some values are not among the public categories; list all that may occur, or state other=, "
                "the category that stands for the rest."
            )
        return codes

    def sent(self, answers: Any) -> Integers:
        """Give the place of every answer that was sent; what cannot have been sent is refused."""
        column = self._cast(as_column(answers))
        codes = self._places(column)
        if (column.null_count and not self.missing) or (codes.size and codes.min() < 0):
            raise DataError("The reports hold an answer that is not in the public list; they belong to another one.")
        return codes

    def answers(self, codes: Integers) -> npt.NDArray[Any]:
        """Give the answers at these places."""
        # Text stays Python's: NumPy's own would lose zero bytes at the end.
        plain = not (self._text or self.missing)
        return np.asarray(np.array(self.labels, dtype=np.int64 if plain else object)[codes])

    def places_of(self, values: Sequence[Label] | None) -> Integers:
        """Give the places of some categories, named by the collector; of all by default."""
        if values is None:
            return np.arange(len(self))
        known = {label: place for place, label in enumerate(self.labels)}
        if isinstance(values, str) or not all(value in known for value in values):
            raise ParameterError("Name the categories to estimate as a list of some of the public ones.")
        return np.array([known[value] for value in values], dtype=np.int64)

    def _cast(self, column: pa.Array) -> pa.Array:
        if kinds.is_dictionary(column.type):
            column = column.dictionary_decode()
        if kinds.is_null(column.type):
            return column.cast(self._values.type)
        if kinds.is_string(column.type) or kinds.is_large_string(column.type) or kinds.is_string_view(column.type):
            fits = self._text
        else:
            fits = not self._text and _is_whole_or_float(column.type)
        if not fits:
            kind = "text" if self._text else "whole numbers"
            raise DataError(f"The public categories are {kind}, the values are not; give both in one kind.")
        return self._as_listed(column)

    def _as_listed(self, column: pa.Array) -> pa.Array:
        if self._text:
            return column.cast(pa.string())
        if kinds.is_floating(column.type):
            return pc.if_else(pc.is_nan(column), None, column).cast(pa.float64())
        if kinds.is_uint64(column.type):  # what has more than 63 bits is not listed
            return pc.if_else(pc.greater(column, 2**63 - 1), -(2**63), column.cast(pa.int64(), safe=False))
        return column.cast(pa.int64())

    def _places(self, column: pa.Array) -> Integers:
        """The place of each value; that of missing ones is the last, that of unlisted ones -1."""
        listed = self._values
        if kinds.is_floating(column.type):
            if max(map(abs, self.listed), default=0) > _EXACT_FLOATS:  # type: ignore[arg-type]
                raise DataError("The categories are too large to be told apart as floats; give integers.")
            listed = listed.cast(pa.float64())
        found = pc.fill_null(pc.index_in(column, value_set=listed), -1)
        codes = np.array(found.to_numpy(zero_copy_only=False), dtype=np.int64)
        if column.null_count:
            codes[column.is_null().to_numpy(zero_copy_only=False)] = len(self.listed)
        return codes


def _is_whole_or_float(given: pa.DataType) -> bool:
    return bool(kinds.is_integer(given) or kinds.is_floating(given) or kinds.is_boolean(given))


def _list_categories(categories: object) -> tuple[str | int, ...]:
    if isinstance(categories, Categories):
        if categories.provenance is not Provenance.PUBLIC:
            raise NotPublicError("The categories were learned from the data; declare public ones.")
        return categories.values
    if isinstance(categories, (int, np.integer)) and not isinstance(categories, bool):
        if not 1 <= categories <= _LONGEST:
            raise ParameterError("The number of categories must lie between 1 and 10 million.")
        return tuple(range(int(categories)))
    if isinstance(categories, str) or not isinstance(categories, (Sequence, np.ndarray)):
        raise ParameterError("Give the public categories as a list, or how many there are.")
    plain = [item.item() if isinstance(item, np.generic) else item for item in categories]
    return Categories(tuple(plain)).values

"""Which rows of people an array holds: rows that are equal to theirs, to the bit, in any of several forms.

A match must tell somebody: rows that are found by chance in any model (zeros, indicators) do not count. A row has as
many bits as its cells that are not 0: 20 for a number of 6 digits or more, otherwise the logarithm of how many values
its column takes. Rows of `TELLING` bits or more are found wherever they stand, and so are single numbers of 6 digits or
more that one person alone has; others only if all rows are there together, or all labels in their order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint64]

TELLING = 20.0
"""How many bits a row must have that is found alone."""

_FEWEST = 10
_MOST_CLASSES = 32
_SMALLEST = 1e-290  # of numbers that are looked at digit by digit
_BESIDE = 2  # columns more than a row has: a constant, a label
_SPLIT = re.compile(r"[^\w@.+-]+")


@dataclass(frozen=True)
class FoundRows:
    """What an array holds: in words, how many of its rows or values, and how many people."""

    kind: str
    rows: int
    people: int


class RowView:
    """The rows in one form, as they were given or as a step in front of a model maps them."""

    def __init__(self, rows: Floats) -> None:
        self.columns = rows.shape[1]
        hashes = hash_rows(rows)
        self.all = np.sort(hashes)
        telling = count_bits(rows) >= TELLING
        self.hashes, first = np.unique(hashes[telling], return_index=True)
        self.places = np.flatnonzero(telling)[first]

    def find(self, array: Floats) -> tuple[int, set[int]]:
        """How many of its rows are rows of people, and whose."""
        count, whose = 0, set[int]()
        for window in _windows(array, self.columns):
            hashes = hash_rows(window)
            if len(hashes) == len(self.all) >= _FEWEST and self._same(np.sort(hashes)):
                return len(hashes), set(range(len(hashes)))
            hit = np.isin(hashes, self.hashes)
            count = max(count, int(hit.sum()))
            whose |= {int(each) for each in self.places[np.searchsorted(self.hashes, hashes[hit])]}
        return count, whose

    def _same(self, hashes: Words) -> bool:
        """Whether all rows are there, and they are not all alike."""
        return bool((hashes == self.all).all()) and len(np.unique(self.all)) > 2


class RowMatcher:
    """Rows of people, their labels and identifiers, to compare with.

    Parameters
    ----------
    rows
        A table of numbers, a row for each person.
    labels
        A number or code for each, or None.
    identifiers
        Texts that name people.
    values
        Whether single numbers count that one person alone has.
    """

    def __init__(
        self,
        rows: Floats | None,
        labels: npt.NDArray[Any] | None,
        identifiers: Iterable[Any],
        *,
        values: bool = True,
    ) -> None:
        self.rows, self.labels = rows, None if labels is None else np.asarray(labels, np.float64)
        self.identifiers = {_as_text(each) for each in identifiers}
        self.views: list[RowView] = []
        self.lone = np.empty(0)
        self.owners = np.empty(0, np.int64)
        if rows is not None:
            self.add_view(rows)
        if rows is not None and values:
            self._note_lone(rows if labels is None else np.column_stack([rows, np.asarray(labels, np.float64)]))

    def add_view(self, rows: Floats) -> None:
        """Look for the rows in this form, too, also as floats of half the length."""
        self.views += [RowView(rows), RowView(rows.astype(np.float32).astype(np.float64))]

    def find(self, array: Any) -> FoundRows | None:
        """What an array of numbers holds."""
        numbers = np.asarray(array, np.float64)
        for view in self.views:
            count, whose = view.find(numbers)
            if count:
                return FoundRows("rows equal to those given", count, len(whose))
        if self._are_labels(numbers):
            return FoundRows("labels equal to those given, in order", numbers.size, numbers.size)
        flat = numbers.ravel()
        hit = flat[np.isin(flat, self.lone)] if len(self.lone) else np.empty(0)
        if not len(hit):
            return None
        owners = np.unique(self.owners[np.searchsorted(self.lone, hit)])
        return FoundRows("values that one person alone has", len(hit), len(owners))

    def find_texts(self, texts: Iterable[Any]) -> FoundRows | None:
        """Identifiers among texts, or within them as words."""
        found = [each for each in map(_as_text, texts) if self.identifiers & {each, *_SPLIT.split(each)}]
        people = {word for each in found for word in (each, *_SPLIT.split(each))} & self.identifiers
        return FoundRows("identifiers of people", len(found), len(people)) if found else None

    def _are_labels(self, numbers: Floats) -> bool:
        labels = self.labels
        if labels is None or numbers.size != len(labels) or len(labels) < _FEWEST:
            return False
        codes, known = (np.unique(each, return_inverse=True)[1] for each in (numbers.ravel(), labels))
        kinds = int(known.max()) + 1
        if kinds <= _MOST_CLASSES:  # codes may be other numbers in the model: whoever shares one must do so there, too
            pairs = len(np.unique(known * (codes.max() + 1) + codes))
            return bool(pairs == kinds == codes.max() + 1) and _surprise(known) >= TELLING
        return bool((codes == known).all())

    def _note_lone(self, cells: Floats) -> None:
        values, first, counts = np.unique(cells, return_index=True, return_counts=True)
        lone = (counts == 1) & are_long(values)
        self.lone, self.owners = values[lone], first[lone] // cells.shape[1]


def hash_rows(rows: Floats) -> Words:
    """Hash every row to 64 bits: cells mixed one by one, each with its place (Steele, Lea, Flood 2014, SplitMix)."""
    words = np.ascontiguousarray(rows + 0.0).view(np.uint64)  # + 0.0: there are two zeros
    place = np.arange(1, rows.shape[1] + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = words + place
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray((mixed ^ (mixed >> np.uint64(31))).sum(axis=1, dtype=np.uint64))


def count_bits(rows: Floats) -> Floats:
    """How many bits every row has, see above; none if all its cells are alike."""
    kinds = np.array([len(np.unique(column)) for column in rows.T], np.float64)
    bits = np.where(are_long(rows), TELLING, np.log2(np.maximum(kinds, 1))[None])
    alike = (rows == rows[:, :1]).all(axis=1) & (rows.shape[1] > 1)
    return np.where(alike, 0.0, (bits * (rows != 0)).sum(axis=1))


def are_long(values: Floats) -> npt.NDArray[np.bool_]:
    """Which numbers need six digits or more to be written."""
    size = np.abs(np.where(np.isfinite(values), values, 0.0))
    size = np.where(size > _SMALLEST, size, 1.0)
    power = 10.0 ** (4 - np.floor(np.log10(size)))
    scaled = size * power
    return np.asarray(np.abs(scaled - np.round(scaled)) > 1e-7)


def _windows(array: Floats, columns: int) -> list[Floats]:
    """The rows of an array that may be rows of people: beside a constant or a label, columns as rows, or images."""
    made = (
        array[None] if array.ndim == 1 else array.reshape(-1, array.shape[-1]) if array.ndim > 1 else array[None, None]
    )
    turned = [made.T] if made.shape[0] == columns != made.shape[1] and made.ndim == 2 else []
    extra = made.shape[1] - columns
    direct = [made[:, i : i + columns] for i in range(extra + 1)] if 0 <= extra <= _BESIDE else []
    flat = [array.reshape(len(array), -1)] if array.ndim > 2 and array.size == len(array) * columns else []
    return direct + turned + flat


def _surprise(codes: npt.NDArray[Any]) -> float:
    """How many bits the order of the codes has."""
    counts = np.bincount(codes)
    shares = counts[counts > 0] / len(codes)
    return float(-(shares * np.log2(shares)).sum() * len(codes))


def _as_text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes | bytearray) else str(value)

"""Whom of a population the rows of a generalised table may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ziggurat.cards import Shown
from ziggurat.data import Hierarchy
from ziggurat.data.coded import CodedTable, Codes, sum_counts
from ziggurat.data.schema import write_value

_PAIRS = 20_000_000  # of classes and people that are compared together


@dataclass(frozen=True)
class Cover(Shown):
    """How the cells of a column were made from its values.

    Attributes
    ----------
    hierarchy
        The labels of every value.
    level
        At which level all cells stand; None if each has its own.
    ranges
        Whether cells may be ranges such as 20-35.
    """

    hierarchy: Hierarchy
    level: int | None
    ranges: bool = False

    def labels(self, values: Sequence[Any]) -> list[Any]:
        """Return what each value is shown as, where all cells stand at one level."""
        if not self.level:
            return list(values)
        return [self._path(value)[self.level] for value in values]

    def cover(self, cells: Sequence[Any], values: Sequence[Any]) -> Any:
        """Return [cell, value]: whether a cell may stand for a value, where cells stand at levels of their own."""
        paths = [{None if label is None else str(label) for label in self._path(value)} for value in values]
        texts = [None if cell is None else str(cell) for cell in cells]
        found = np.array([[text in path for path in paths] for text in texts], np.bool).reshape(len(cells), len(values))
        if self.ranges:
            for at, cell in enumerate(cells):
                found[at] |= _within(cell, values)
        return found

    def _path(self, value: Any) -> tuple[Any, ...]:
        """A value and its labels; missing cells stay missing up to the top, where they join the others."""
        levels = self.hierarchy.levels
        if value is None:
            tops = {labels[-1] for labels in levels.values()}
            return (None,) * self.hierarchy.depth + (tops.pop() if len(tops) == 1 else None,)
        return (value, *(levels.get(value) or self._by_text[write_value(value)]))

    @cached_property
    def _by_text(self) -> dict[str, tuple[str, ...]]:
        """Labels by how people write their value: a hierarchy may hold 7 as text, and a table as a number."""
        return {write_value(value): labels for value, labels in self.hierarchy.levels.items()}


def _within(cell: Any, values: Sequence[Any]) -> Any:
    """Which values lie in a range, written as two of them and a hyphen; missing cells come after all others."""
    places = {str(value): value for value in values if value is not None}
    text = "" if cell is None else str(cell)
    for at, letter in enumerate(text):
        low, high = places.get(text[:at]), text[at + 1 :]
        if letter == "-" and low is not None and (high == "missing" or high in places):
            top = None if high == "missing" else places[high]
            return np.array([top is None if v is None else low <= v and (top is None or v <= top) for v in values])
    return np.zeros(len(values), np.bool)


def people_in(people: CodedTable, shown: CodedTable, covers: Mapping[str, Cover]) -> tuple[Codes, int]:
    """Return how many people of a population each class of a table may be, and how many of them look like no class."""
    names = shown.names
    if all(covers[name].level is not None for name in names):
        return _join(people, shown, covers)
    codes, held = zip(*map(people.column, names), strict=True)
    tables = [covers[name].cover(shown.values[j].to_pylist(), held[j].to_pylist()) for j, name in enumerate(names)]
    found, seen = np.zeros(shown.counts.size, np.int64), np.zeros(people.counts.size, np.bool)
    step = max(1, _PAIRS // max(people.counts.size, 1))
    for start in range(0, found.size, step):
        like = np.ones((min(step, found.size - start), people.counts.size), np.bool)
        for j, table in enumerate(tables):
            like &= table[shown.codes[j][start : start + step]][:, codes[j]]
        found[start : start + step] = like @ people.counts
        seen |= like.any(0)
    return found, int(people.counts[~seen].sum())


def _join(people: CodedTable, shown: CodedTable, covers: Mapping[str, Cover]) -> tuple[Codes, int]:
    """The same where every value has one label: an equality join."""
    columns, keys = [], []
    for j, name in enumerate(shown.names):
        cells = {cell: code for code, cell in enumerate(shown.values[j].to_pylist())}
        codes, values = people.column(name)
        labels = covers[name].labels(values.to_pylist())
        columns.append(np.array([cells.get(label, -1) for label in labels], np.int64)[codes])
        keys.append(shown.codes[j])
    whole = np.concatenate([np.stack(keys, 1), np.stack(columns, 1)])
    _, ids = np.unique(whole, axis=0, return_inverse=True)
    mine, theirs = np.split(ids.ravel(), [shown.counts.size])
    counts = sum_counts(theirs, int(ids.max()) + 1, people.counts)
    return counts[mine], int(people.counts[~np.isin(theirs, mine)].sum())

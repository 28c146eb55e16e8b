"""Hierarchies of categories: by a tree that people drew, by order, by frequency, or all at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ziggurat.anonymize.hierarchies._values import TOP, Values, assemble, count_values, require_whole
from ziggurat.data import Hierarchy
from ziggurat.data.schema import Value, kind_of_values, write_value
from ziggurat.errors import DataError, ParameterError, SchemaError
from ziggurat.located_yaml import loaded


@dataclass(frozen=True)
class AllOrNothing:
    """Values as they are, or "*" for all; no more than the values themselves is read off the data.

    Examples
    --------
    >>> AllOrNothing().build(["female", "male"]).levels
    {'female': ('*',), 'male': ('*',)}
    """

    def build(self, values: Values) -> Hierarchy:
        """Return the hierarchy of these values, of whatever kind."""
        _, counts = count_values(values)
        return assemble(counts, [[TOP] * len(counts)])

    def describe(self) -> str:
        """Return a sentence on the levels."""
        return f"The values as they are, then {TOP}."


@dataclass(frozen=True)
class FrequentFirst:
    """The most frequent values as they are, all others merged; fewer are kept at every level, then "*".

    This reads the data: the labels show which values are frequent and, by where a value joins the others, roughly how
    frequent it is. That a value is rare is what an attacker hopes to hear of a person who has it.

    Parameters
    ----------
    kept
        How many values each level keeps, ever fewer; of equally frequent ones the first in order.
    other
        What the others are called.

    Examples
    --------
    >>> FrequentFirst(kept=(1,)).build({"flu": 90, "gout": 7, "plague": 1}).levels["gout"]
    ('other', '*')
    """

    kept: tuple[int, ...] = (10, 5)
    other: str = "other"

    def __post_init__(self) -> None:
        object.__setattr__(self, "kept", tuple(self.kept))
        for count in self.kept:
            require_whole(count, "The number of values kept", 1)
        if not self.kept or any(more <= fewer for more, fewer in zip(self.kept, self.kept[1:], strict=False)):
            raise ParameterError("Every level must keep fewer values than the one below it.")
        if kind_of_values((self.other,)) != "text" or not self.other:
            raise ParameterError("The others need a name.")

    def build(self, values: Values) -> Hierarchy:
        """Return the hierarchy of these values; pass them with their numbers of rows, or each as often as it occurs."""
        _, counts = count_values(values)
        ranks = {value: rank for rank, value in enumerate(sorted(counts, key=lambda value: -counts[value]))}
        names = [write_value(value) for value in counts]
        levels = [
            [name if ranks[value] < kept else self.other for value, name in zip(counts, names, strict=True)]
            for kept in self.kept
        ]
        return assemble(counts, [*levels, [TOP] * len(names)])

    def describe(self) -> str:
        """Return a sentence on the levels."""
        kept = ", then the ".join(str(count) for count in self.kept)
        return (
            f"The {kept} most frequent values, the rest as {self.other!r}, then {TOP}; "
            "which are frequent is read off the data."
        )


@dataclass(frozen=True)
class NeighbouringGroups:
    """Ordered categories in groups of neighbours, `factor` of which are merged from level to level, then "*".

    The order decides, not the data, of which nothing is read.

    Parameters
    ----------
    order
        Every category, from the first to the last.
    size
        How many neighbours a group of the first level has.
    factor
        How many neighbouring groups become one at the next level.

    Examples
    --------
    >>> NeighbouringGroups(("none", "mild", "bad", "worst")).build().levels["bad"]
    ('bad to worst', '*')
    """

    order: tuple[str | int, ...]
    size: int = 2
    factor: int = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", tuple(self.order))
        require_whole(self.size, "The size of groups", 2)
        require_whole(self.factor, "The factor", 2)
        if kind_of_values(self.order) not in ("text", "integer") or len(set(self.order)) != len(self.order):
            raise ParameterError("The order must name each category once, all text or all whole numbers.")

    def build(self, values: Values = ()) -> Hierarchy:
        """Return the hierarchy of all categories; values that are not among them are refused by their number."""
        _require_known(values, set(self.order), "the order")
        levels, size = [], self.size
        while size < len(self.order):
            levels.append(self._group(size))
            size *= self.factor
        return assemble(self.order, [*levels, [TOP] * len(self.order)])

    def describe(self) -> str:
        """Return a sentence on the levels."""
        return f"Groups of {self.size} neighbours in their order, {self.factor} merged at every level, then {TOP}."

    def _group(self, size: int) -> list[str]:
        groups = [self.order[start : start + size] for start in range(0, len(self.order), size)]
        names = [write_value(group[0]) if len(group) == 1 else f"{group[0]} to {group[-1]}" for group in groups]
        if len(set(names)) != len(names):  # a category may be called like a group of others
            names = [f"group {place}" for place in range(1, len(groups) + 1)]
        return [names[place // size] for place in range(len(self.order))]


@dataclass(frozen=True)
class GivenTree:
    """A tree that people drew: groups by name, in them groups or lists of values, then "*" above all.

    The tree decides, not the data, of which nothing is read. Where one branch is deeper than another, the lowest label
    of the other is repeated, so that groups of one rank stand at one level.

    Parameters
    ----------
    tree
        Nested mappings, such as {"Europe": {"North": ["NO", "SE"], "South": ["IT"]}, "Asia": ["JP"]}.

    Examples
    --------
    >>> GivenTree({"Europe": {"North": ["NO", "SE"], "South": ["IT"]}, "Asia": ["JP"]}).build().levels["NO"]
    ('North', 'Europe', '*')
    """

    tree: Mapping[str, Any] = field(hash=False)

    @classmethod
    def from_yaml(cls, path: str | Path) -> GivenTree:
        """Read a tree from a YAML file."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, ValueError):
            raise DataError(f"The tree file {str(path)!r} does not exist or cannot be read.") from None
        data, _ = loaded(text, str(path), DataError)
        if not isinstance(data, Mapping):
            raise DataError(f"{path}: a tree maps the names of groups to groups or to lists of values.")
        return cls(data)

    def build(self, values: Values = ()) -> Hierarchy:
        """Return the hierarchy of all values of the tree; values that are not in it are refused by their number."""
        paths: dict[Value, tuple[str, ...]] = {}
        for value, path in _leaves(self.tree, ()):
            if value in paths:
                raise SchemaError("A value stands in two places of the tree; name every value once.")
            paths[value] = path
        if not paths:
            raise SchemaError("The tree holds no values; list some under its groups.")
        _require_known(values, set(paths), "the tree")
        depth = max(map(len, paths.values()))
        return Hierarchy({value: (*_pad(path, depth), TOP) for value, path in paths.items()})

    def describe(self) -> str:
        """Return a sentence on the levels."""
        return f"The groups of a given tree, from the smallest to the largest, then {TOP}."


def _leaves(tree: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[tuple[Any, tuple[str, ...]]]:
    for name, below in tree.items():
        if isinstance(below, Mapping):
            yield from _leaves(below, (*path, name))
        else:
            listed = list(below) if isinstance(below, list | tuple) else [below]
            if any(isinstance(value, list | dict | set) or value is None for value in listed):
                raise SchemaError("A tree holds groups by name and, at their ends, lists of values.")
            yield from ((value, (*path, name)) for value in listed)


def _pad(path: tuple[str, ...], depth: int) -> tuple[str, ...]:
    """The labels from the smallest group to the largest, the smallest repeated where others have more."""
    return (path[-1],) * (depth - len(path)) + path[::-1]


def _require_known(values: Values, known: set[Any], where: str) -> None:
    given = list(values)
    if given:
        _, counts = count_values(values if isinstance(values, Mapping) else given)
        absent = sum(value not in known for value in counts)
        if absent:
            raise DataError(
                f"{absent} {'value is' if absent == 1 else 'values are'} not in {where}; add what is absent."
            )

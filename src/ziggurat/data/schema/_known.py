"""What can be publicly known about the values of a column: bounds, categories, a hierarchy, the symbols."""

import math
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from itertools import pairwise
from typing import TypeVar

from ziggurat.cards import Card, Shown, name_some
from ziggurat.errors import SchemaError
from ziggurat.wording import count_noun, nearest

BoundValue = int | float | date
"""An end of public bounds."""
Category = str | int
MissingCode = str | int | float
"""A value that stands for a missing one, such as -9."""
Value = str | int | float | date
"""What a hierarchy maps."""

INT64_LOWER, INT64_UPPER = -(2**63), 2**63 - 1
"""Between which whole numbers the integers of every engine lie."""
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class Kind(StrEnum):
    """What the values of a column are."""

    INTEGER = "integer"
    REAL = "real"
    CATEGORY = "category"
    BOOLEAN = "boolean"
    DATE = "date"
    TEXT = "text"


class Provenance(StrEnum):
    """Where bounds or categories come from: known to everybody, or read off the private data."""

    PUBLIC = "public"
    LEARNED = "learned"


_Choice = TypeVar("_Choice", bound=StrEnum)


def choose(choices: type[_Choice], value: object, what: str) -> _Choice:
    """Return the member of `choices` that `value` names, or raise a SchemaError with the nearest one."""
    try:
        return choices(str(value))
    except ValueError:
        raise SchemaError(f"{value!r} is not a {what}; {nearest(value, choices)}") from None


class _Known(Shown):
    """What is known of values: told where everybody knows it, and only that it was learned where it was."""

    provenance: Provenance

    def describe(self) -> str:
        """Return it in words, or that it was learned and is not shown."""
        return self._describe() if self.provenance is Provenance.PUBLIC else "learned: not shown"

    def tell_all(self) -> str:
        """Return it in words, learned or not: for the steward only."""
        return self._describe()

    def _describe(self) -> str:
        raise NotImplementedError

    def _card(self) -> Card:
        return Card(type(self).__name__, self.describe())


@dataclass(frozen=True)
class Bounds(_Known):
    """The smallest and the largest value a column may hold, both included.

    Parameters
    ----------
    lower, upper
        Two numbers or two dates; finite, with `lower` at most `upper`.
    provenance
        Public bounds may be used by any method; learned ones must be paid for.
    """

    lower: BoundValue
    upper: BoundValue
    provenance: Provenance = Provenance.PUBLIC

    def _describe(self) -> str:
        return f"{self.lower} to {self.upper}"

    def __post_init__(self) -> None:
        object.__setattr__(self, "provenance", choose(Provenance, self.provenance, "provenance"))
        if not (is_bound(self.lower) and is_bound(self.upper)):
            raise SchemaError("Bounds must be two finite numbers or two dates.")
        if isinstance(self.lower, date) != isinstance(self.upper, date):
            raise SchemaError("Bounds must be two numbers or two dates, not one of each.")
        if self.lower > self.upper:  # type: ignore[operator]
            raise SchemaError("The lower bound is above the upper bound; swap them.")


@dataclass(frozen=True)
class Categories(_Known):
    """Every value that a categorical column may take.

    Parameters
    ----------
    values
        Distinct values, all text or all whole numbers.
    provenance
        Public categories may be used by any method; learned ones must be paid for.
    ordered
        Whether the order of `values` means something (education, pain scales).
    """

    values: tuple[Category, ...]
    provenance: Provenance = Provenance.PUBLIC
    ordered: bool = False

    def _describe(self) -> str:
        return name_some([str(each) for each in self.values])

    def __post_init__(self) -> None:
        object.__setattr__(self, "provenance", choose(Provenance, self.provenance, "provenance"))
        object.__setattr__(self, "values", tuple(self.values))
        if not self.values:
            raise SchemaError("A list of categories must name at least one.")
        if not (all_text(self.values) or all_whole(self.values)):
            raise SchemaError(
                "Categories must be all text or all whole numbers; put quotes around text that is neither."
            )
        if len(set(self.values)) != len(self.values):
            raise SchemaError("A category is listed twice.")
        if not isinstance(self.ordered, bool):
            raise SchemaError("'ordered' must be true or false.")


@dataclass(frozen=True)
class Hierarchy(Shown):
    """Ever more general labels for each value of a column; the last is usually "*".

    It is a tree: values with equal labels at one level have equal labels at every level above, so a higher level
    never tells apart what a lower one does not.

    Parameters
    ----------
    levels
        For each value its labels, from the most to the least specific; all of one length. The values are all text,
        all whole numbers, all finite numbers (kept as reals unless all are whole), all dates or all truth values.
    """

    levels: Mapping[Value, tuple[str, ...]] = field(hash=False)

    def __post_init__(self) -> None:
        levels = {key: tuple(labels) for key, labels in self.levels.items()}
        sort = kind_of_values(tuple(levels))
        if sort is None:
            raise SchemaError(
                "A hierarchy must map values (all text, all numbers, all dates or all truth values) to labels."
            )
        object.__setattr__(self, "levels", as_reals(levels) if sort is Kind.REAL else levels)
        self._check_labels()

    @property
    def depth(self) -> int:
        """How many labels stand above each value."""
        return len(next(iter(self.levels.values())))

    @property
    def kind(self) -> Kind:
        """What the values are: text, integer, real, date or boolean."""
        return kind_of_values((next(iter(self.levels)),)) or Kind.TEXT

    def label(self, value: Value, level: int) -> str:
        """Return the label of `value` at `level`: 0 is the value itself, `depth` the most general."""
        if not 0 <= level <= self.depth:
            raise SchemaError(f"This hierarchy has levels 0 to {self.depth}, not {level}.")
        if value not in self.levels:
            raise SchemaError("A value is not among those of the hierarchy.")
        return write_value(value) if level == 0 else self.levels[value][level - 1]

    def _card(self) -> Card:
        return Card(
            "Hierarchy", f"{count_noun(len(self.levels), f'{self.kind} value')}, {self.depth} levels above each"
        )

    def _check_labels(self) -> None:
        if len({len(labels) for labels in self.levels.values()}) != 1 or self.depth == 0:
            raise SchemaError("A hierarchy must give every value the same number of labels, at least one.")
        by_level = list(zip(*self.levels.values(), strict=True))
        if not all(all_text(labels) for labels in by_level):
            raise SchemaError("The labels of a hierarchy must be text; put quotes around them.")
        for level, (below, above) in enumerate(pairwise(by_level), start=1):
            parents = dict(zip(below, above, strict=True))
            if tuple(map(parents.__getitem__, below)) != above:
                raise SchemaError(
                    f"The hierarchy is not a tree: at level {level} a label has more than one label above it; "
                    "give values with equal labels at one level equal labels at every level above."
                )


@dataclass(frozen=True)
class Symbols(_Known):
    """What the sequences in a column are made of: each cell is one sequence, its symbols written one after the other.

    Parameters
    ----------
    tokens
        Every symbol that counts, as text without the separator; others are left out of their sequence.
    longest
        How many symbols of a sequence count: the first ones.
    separator
        What stands between two symbols.
    provenance
        Public symbols may be used by any method; learned ones must be declared first.
    """

    tokens: tuple[str, ...]
    longest: int
    separator: str = " "
    provenance: Provenance = Provenance.PUBLIC

    def _describe(self) -> str:
        return f"up to {self.longest:,} of {name_some(self.tokens)}"

    def __post_init__(self) -> None:
        object.__setattr__(self, "provenance", choose(Provenance, self.provenance, "provenance"))
        object.__setattr__(self, "tokens", tuple(self.tokens))
        if not self.tokens or not all_text(self.tokens) or not all(self.tokens):
            raise SchemaError("The tokens of a sequence must be text, at least one; put quotes around numbers.")
        if len(set(self.tokens)) != len(self.tokens):
            raise SchemaError("A token is listed twice.")
        if not (isinstance(self.separator, str) and self.separator and all_text((self.separator,))):
            raise SchemaError("The separator between the symbols of a sequence must be text of at least one character.")
        if any(self.separator in token for token in self.tokens):
            raise SchemaError("A token holds the separator; choose another separator or rename the token.")
        if isinstance(self.longest, bool) or not isinstance(self.longest, int) or self.longest < 1:
            raise SchemaError("'longest', how many symbols of a sequence count, must be a whole number of at least 1.")


def is_bound(value: object) -> bool:
    if isinstance(value, date):
        return not isinstance(value, datetime)
    return _is_finite_number(value)


def _is_finite_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= sys.float_info.max


def is_code(value: object) -> bool:
    return _is_text(value) or _is_finite_number(value)


def _is_text(value: object) -> bool:
    return all_text((value,))


def all_text(values: tuple[object, ...]) -> bool:
    if not all(issubclass(each, str) for each in set(map(type, values))):
        return False
    # Arrow and the engines hold text as UTF-8, which has no lone surrogates.
    return _LONE_SURROGATE.search("".join(values)) is None  # type: ignore[arg-type]


def all_whole(values: tuple[object, ...]) -> bool:
    if not all(issubclass(each, int) and each is not bool for each in set(map(type, values))):
        return False
    return not values or INT64_LOWER <= min(values) <= max(values) <= INT64_UPPER  # type: ignore[type-var, operator]


def kind_of_values(values: tuple[object, ...]) -> Kind | None:
    """Return what the values of a hierarchy are; None if there are none, or if they are not of one sort."""
    if not values:
        return None
    if all_text(values):
        return Kind.TEXT
    types = set(map(type, values))
    if types == {bool}:
        return Kind.BOOLEAN
    if all_whole(values):
        return Kind.INTEGER
    if all(map(math.isfinite if types == {float} else _is_finite_number, values)):  # type: ignore[arg-type]
        return Kind.REAL
    dates = all(isinstance(value, date) and is_bound(value) for value in values)
    return Kind.DATE if dates else None


def write_value(value: Value) -> str:
    """Return a value of a hierarchy as text, as people write it in files."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def as_reals(levels: Mapping[Value, tuple[str, ...]]) -> dict[Value, tuple[str, ...]]:
    reals: dict[Value, tuple[str, ...]] = {float(value): labels for value, labels in levels.items()}  # type: ignore[arg-type]
    if len(reals) != len(levels):
        raise SchemaError("Two values of the hierarchy are the same real number; list every value once.")
    return reals

"""What a column is: its kind, its role, and what is publicly known about its values."""

import math
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from itertools import pairwise
from typing import TypeVar

from ziggurat.errors import NotPublicError, SchemaError
from ziggurat.wording import nearest

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


class Role(StrEnum):
    """What an attacker could do with a column, in the vocabulary of disclosure control."""

    IDENTIFIER = "identifier"
    QUASI_IDENTIFIER = "quasi-identifier"
    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"


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


@dataclass(frozen=True)
class Bounds:
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "provenance", choose(Provenance, self.provenance, "provenance"))
        if not (_is_bound(self.lower) and _is_bound(self.upper)):
            raise SchemaError("Bounds must be two finite numbers or two dates.")
        if isinstance(self.lower, date) != isinstance(self.upper, date):
            raise SchemaError("Bounds must be two numbers or two dates, not one of each.")
        if self.lower > self.upper:  # type: ignore[operator]
            raise SchemaError("The lower bound is above the upper bound; swap them.")


@dataclass(frozen=True)
class Categories:
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "provenance", choose(Provenance, self.provenance, "provenance"))
        object.__setattr__(self, "values", tuple(self.values))
        if not self.values:
            raise SchemaError("A list of categories must name at least one.")
        if not (_all_text(self.values) or _all_whole(self.values)):
            raise SchemaError(
                "Categories must be all text or all whole numbers; put quotes around text that is neither."
            )
        if len(set(self.values)) != len(self.values):
            raise SchemaError("A category is listed twice.")
        if not isinstance(self.ordered, bool):
            raise SchemaError("'ordered' must be true or false.")


@dataclass(frozen=True)
class Hierarchy:
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
        object.__setattr__(self, "levels", _as_reals(levels) if sort is Kind.REAL else levels)
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

    def _check_labels(self) -> None:
        if len({len(labels) for labels in self.levels.values()}) != 1 or self.depth == 0:
            raise SchemaError("A hierarchy must give every value the same number of labels, at least one.")
        by_level = list(zip(*self.levels.values(), strict=True))
        if not all(_all_text(labels) for labels in by_level):
            raise SchemaError("The labels of a hierarchy must be text; put quotes around them.")
        for level, (below, above) in enumerate(pairwise(by_level), start=1):
            parents = dict(zip(below, above, strict=True))
            if tuple(map(parents.__getitem__, below)) != above:
                raise SchemaError(
                    f"The hierarchy is not a tree: at level {level} a label has more than one label above it; "
                    "give values with equal labels at one level equal labels at every level above."
                )


@dataclass(frozen=True)
class Column:
    """One column: its name, kind and role, and what is known about its values.

    Parameters
    ----------
    name
        As in the data.
    kind
        What the values are.
    role
        What an attacker could do with them.
    bounds
        For integer, real and date columns.
    categories
        For category columns.
    hierarchy
        Generalisations of values of this kind; of a category, of text or whole numbers.
    missing
        Codes that count as missing besides NULL, NaN and the infinities, such as "?" or -8.
    description
        A sentence for people.
    """

    name: str
    kind: Kind
    role: Role = Role.INSENSITIVE
    bounds: Bounds | None = None
    categories: Categories | None = None
    hierarchy: Hierarchy | None = None
    missing: tuple[MissingCode, ...] = ()
    description: str = ""

    def __post_init__(self) -> None:
        if not _is_name(self.name):
            raise SchemaError("A column needs a name of printable characters.")
        object.__setattr__(self, "kind", self._choose(Kind, self.kind, "kind"))
        object.__setattr__(self, "role", self._choose(Role, self.role, "role"))
        object.__setattr__(self, "missing", tuple(self.missing))
        self._check_description_and_missing()
        self._check_categories()
        if self.hierarchy is not None:
            object.__setattr__(self, "hierarchy", self._fit_hierarchy(self.hierarchy))
        if self.bounds is not None:
            object.__setattr__(self, "bounds", self._fit_bounds(self.bounds))

    @property
    def storage(self) -> Kind:
        """The kind of value an engine holds: a category is stored as text or as an integer code."""
        if self.kind is not Kind.CATEGORY:
            return self.kind
        if self.categories is not None:
            return Kind.INTEGER if _all_whole(self.categories.values) else Kind.TEXT
        return self.hierarchy.kind if self.hierarchy is not None else Kind.TEXT

    def public_bounds(self) -> Bounds:
        """Return the bounds, or raise NotPublicError if they are absent or were learned from the data."""
        if self.bounds is None:
            raise NotPublicError(f"Column {self.name!r} has no bounds; declare public ones in the schema.")
        if self.bounds.provenance is not Provenance.PUBLIC:
            raise NotPublicError(self._say_learned("bounds"))
        return self.bounds

    def public_categories(self) -> Categories:
        """Return the categories, or raise NotPublicError if they are absent or learned from the data.

        A boolean column always has the public categories 0 and 1.
        """
        if self.kind is Kind.BOOLEAN:
            return Categories((0, 1))
        if self.categories is None:
            raise NotPublicError(f"Column {self.name!r} has no categories; declare public ones in the schema.")
        if self.categories.provenance is not Provenance.PUBLIC:
            raise NotPublicError(self._say_learned("categories"))
        return self.categories

    def _say_learned(self, what: str) -> str:
        return (
            f"The {what} of column {self.name!r} were learned from the data; "
            "declare them as public in the schema or pay for them."
        )

    def _choose(self, choices: type[_Choice], value: object, what: str) -> _Choice:
        try:
            return choose(choices, value, what)
        except SchemaError as error:
            raise SchemaError(f"Column {self.name!r}: {error}") from None

    def _check_description_and_missing(self) -> None:
        if not isinstance(self.description, str):
            raise SchemaError(f"The description of column {self.name!r} must be text.")
        if not all(_is_code(code) for code in self.missing):
            raise SchemaError(f"The missing codes of column {self.name!r} must be text or finite numbers.")

    def _check_categories(self) -> None:
        if self.categories is not None and self.kind is not Kind.CATEGORY:
            raise SchemaError(f"Column {self.name!r} is {self.kind}; only a category column has categories.")

    def _fit_hierarchy(self, hierarchy: Hierarchy) -> Hierarchy:
        absent = [each for each in (self.categories.values if self.categories else ()) if each not in hierarchy.levels]
        if absent:
            raise SchemaError(f"The hierarchy of column {self.name!r} misses the category {absent[0]!r}.")
        if hierarchy.kind is self.kind or (self.kind is Kind.CATEGORY and hierarchy.kind in (Kind.TEXT, Kind.INTEGER)):
            return hierarchy
        if hierarchy.kind is Kind.INTEGER and self.kind is Kind.REAL:
            return Hierarchy(_as_reals(hierarchy.levels))
        if hierarchy.kind is Kind.INTEGER and self.kind is Kind.BOOLEAN and set(hierarchy.levels) <= {0, 1}:
            return Hierarchy({bool(value): labels for value, labels in hierarchy.levels.items()})
        raise SchemaError(f"The hierarchy of column {self.name!r} must map {self.kind} values.")

    def _fit_bounds(self, bounds: Bounds) -> Bounds:
        ends = (bounds.lower, bounds.upper)
        if self.kind is Kind.INTEGER and _all_whole(ends):
            return bounds
        if self.kind is Kind.DATE and all(isinstance(end, date) for end in ends):
            return bounds
        if self.kind is Kind.REAL and not any(isinstance(end, date) for end in ends):
            return Bounds(float(bounds.lower), float(bounds.upper), bounds.provenance)  # type: ignore[arg-type]
        if self.kind in (Kind.INTEGER, Kind.DATE, Kind.REAL):
            wanted = {Kind.INTEGER: "64-bit whole numbers", Kind.DATE: "dates", Kind.REAL: "numbers"}[self.kind]
            raise SchemaError(f"The bounds of column {self.name!r} must be {wanted}.")
        raise SchemaError(f"Column {self.name!r} is {self.kind}; only integer, real and date columns have bounds.")


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and value.isprintable()


def _is_bound(value: object) -> bool:
    if isinstance(value, date):
        return not isinstance(value, datetime)
    return _is_finite_number(value)


def _is_finite_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= sys.float_info.max


def _is_code(value: object) -> bool:
    return _is_text(value) or _is_finite_number(value)


def _is_text(value: object) -> bool:
    return _all_text((value,))


def _all_text(values: tuple[object, ...]) -> bool:
    if not all(issubclass(each, str) for each in set(map(type, values))):
        return False
    # Arrow and the engines hold text as UTF-8, which has no lone surrogates.
    return _LONE_SURROGATE.search("".join(values)) is None  # type: ignore[arg-type]


def _all_whole(values: tuple[object, ...]) -> bool:
    if not all(issubclass(each, int) and each is not bool for each in set(map(type, values))):
        return False
    return not values or INT64_LOWER <= min(values) <= max(values) <= INT64_UPPER  # type: ignore[type-var, operator]


def kind_of_values(values: tuple[object, ...]) -> Kind | None:
    """Return what the values of a hierarchy are; None if there are none, or if they are not of one sort."""
    if not values:
        return None
    if _all_text(values):
        return Kind.TEXT
    types = set(map(type, values))
    if types == {bool}:
        return Kind.BOOLEAN
    if _all_whole(values):
        return Kind.INTEGER
    if all(map(math.isfinite if types == {float} else _is_finite_number, values)):  # type: ignore[arg-type]
        return Kind.REAL
    dates = all(isinstance(value, date) and _is_bound(value) for value in values)
    return Kind.DATE if dates else None


def write_value(value: Value) -> str:
    """Return a value of a hierarchy as text, as people write it in files."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _as_reals(levels: Mapping[Value, tuple[str, ...]]) -> dict[Value, tuple[str, ...]]:
    reals: dict[Value, tuple[str, ...]] = {float(value): labels for value, labels in levels.items()}  # type: ignore[arg-type]
    if len(reals) != len(levels):
        raise SchemaError("Two values of the hierarchy are the same real number; list every value once.")
    return reals

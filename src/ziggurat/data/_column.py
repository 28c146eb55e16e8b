"""What a column is: its kind, its role, and what is publicly known about its values."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import TypeVar

from ziggurat.data._nearest import nearest
from ziggurat.errors import NotPublicError, SchemaError

BoundValue = int | float | date
Category = str | int
MissingCode = str | int | float

INT64_LOWER, INT64_UPPER = -(2**63), 2**63 - 1


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
    """Ever more general labels for each category; the last is usually "*".

    Parameters
    ----------
    levels
        For each category its labels, from the most to the least specific; all of one length.
    """

    levels: Mapping[Category, tuple[str, ...]] = field(hash=False)

    def __post_init__(self) -> None:
        levels = {key: tuple(labels) for key, labels in self.levels.items()}
        object.__setattr__(self, "levels", levels)
        if not levels or not (_all_text(tuple(levels)) or _all_whole(tuple(levels))):
            raise SchemaError("A hierarchy must map categories (all text or all whole numbers) to labels.")
        if len({len(labels) for labels in levels.values()}) != 1 or self.depth == 0:
            raise SchemaError("A hierarchy must give every category the same number of labels, at least one.")
        if not all(_all_text(labels) for labels in levels.values()):
            raise SchemaError("The labels of a hierarchy must be text; put quotes around them.")

    @property
    def depth(self) -> int:
        """How many labels stand above each category."""
        return len(next(iter(self.levels.values())))

    def label(self, category: Category, level: int) -> str:
        """Return the label of `category` at `level`: 0 is the category itself, `depth` the most general."""
        if not 0 <= level <= self.depth:
            raise SchemaError(f"This hierarchy has levels 0 to {self.depth}, not {level}.")
        if category not in self.levels:
            raise SchemaError("A value is not among the categories of the hierarchy.")
        return str(category) if level == 0 else self.levels[category][level - 1]


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
        Generalisations, for category, text and integer columns.
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
        self._check_hierarchy()
        if self.bounds is not None:
            object.__setattr__(self, "bounds", self._fitted_bounds(self.bounds))

    @property
    def storage(self) -> Kind:
        """The kind of value an engine holds: a category is stored as text or as an integer code."""
        if self.kind is not Kind.CATEGORY:
            return self.kind
        coded = self.categories.values if self.categories else tuple(self.hierarchy.levels if self.hierarchy else ())
        return Kind.INTEGER if coded and _all_whole(coded) else Kind.TEXT

    def public_bounds(self) -> Bounds:
        """Return the bounds, or raise NotPublicError if they are absent or were learned from the data."""
        if self.bounds is None:
            raise NotPublicError(f"Column {self.name!r} has no bounds; declare public ones in the schema.")
        if self.bounds.provenance is not Provenance.PUBLIC:
            raise NotPublicError(self._learned("bounds"))
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
            raise NotPublicError(self._learned("categories"))
        return self.categories

    def _learned(self, what: str) -> str:
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

    def _check_hierarchy(self) -> None:
        if self.hierarchy is None:
            return
        if self.kind not in (Kind.CATEGORY, Kind.TEXT, Kind.INTEGER):
            raise SchemaError(f"Column {self.name!r} is {self.kind}; it cannot have a hierarchy.")
        absent = [
            each for each in (self.categories.values if self.categories else ()) if each not in self.hierarchy.levels
        ]
        if absent:
            raise SchemaError(f"The hierarchy of column {self.name!r} misses the category {absent[0]!r}.")
        if self.kind is not Kind.CATEGORY and _all_text(tuple(self.hierarchy.levels)) is not (self.kind is Kind.TEXT):
            raise SchemaError(f"The hierarchy of column {self.name!r} must map {self.kind} values.")

    def _fitted_bounds(self, bounds: Bounds) -> Bounds:
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
    # Arrow and the engines hold text as UTF-8, which has no lone surrogates.
    return isinstance(value, str) and not any("\ud800" <= character <= "\udfff" for character in value)


def _all_text(values: tuple[object, ...]) -> bool:
    return all(_is_text(value) for value in values)


def _all_whole(values: tuple[object, ...]) -> bool:
    return all(
        isinstance(value, int) and not isinstance(value, bool) and INT64_LOWER <= value <= INT64_UPPER
        for value in values
    )

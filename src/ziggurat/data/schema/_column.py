"""What a column is: its kind, its role, and what is publicly known about its values."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import TypeVar

from ziggurat.cards import Card, Shown
from ziggurat.data.schema._known import (
    Bounds,
    Categories,
    Hierarchy,
    Kind,
    MissingCode,
    Provenance,
    Symbols,
    all_whole,
    as_reals,
    choose,
    is_code,
)
from ziggurat.data.schema._notation import Notation
from ziggurat.errors import NotPublicError, SchemaError

_Choice = TypeVar("_Choice", bound=StrEnum)

_NUMBERS = {"decimal", "thousands", "affixes", "time"}
_NOTATED = {
    Kind.INTEGER: _NUMBERS,
    Kind.REAL: _NUMBERS,
    Kind.DATE: {"dates", "century"},
    Kind.BOOLEAN: {"true", "false"},
}


class Role(StrEnum):
    """What an attacker could do with a column, in the vocabulary of disclosure control."""

    IDENTIFIER = "identifier"
    QUASI_IDENTIFIER = "quasi-identifier"
    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"


@dataclass(frozen=True)
class Column(Shown):
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
    sequence
        For text columns whose cells are sequences: their symbols.
    written
        How cells of text are written, where that is not the plain way.
    labels
        What codes stand for, missing ones too, as pairs or as a mapping: {1: "male", 2: "female"}.
    """

    name: str
    kind: Kind
    role: Role = Role.INSENSITIVE
    bounds: Bounds | None = None
    categories: Categories | None = None
    hierarchy: Hierarchy | None = None
    missing: tuple[MissingCode, ...] = ()
    description: str = ""
    sequence: Symbols | None = None
    written: Notation | None = None
    labels: tuple[tuple[MissingCode, str], ...] = ()

    def __post_init__(self) -> None:
        if not _is_name(self.name):
            raise SchemaError("A column needs a name of printable characters.")
        object.__setattr__(self, "kind", self._choose(Kind, self.kind, "kind"))
        object.__setattr__(self, "role", self._choose(Role, self.role, "role"))
        object.__setattr__(self, "missing", tuple(self.missing))
        self._check_description_and_missing()
        self._check_categories()
        self._check_sequence()
        self._check_notation()
        object.__setattr__(self, "labels", self._fit_labels())
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
            return Kind.INTEGER if all_whole(self.categories.values) else Kind.TEXT
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

    def public_symbols(self) -> Symbols:
        """Return what sequences in this column are made of; NotPublicError if nobody said, or if it was learned."""
        if self.sequence is None:
            raise NotPublicError(
                f"Column {self.name!r} has no tokens; declare public ones in the schema, such as "
                "'sequence: {tokens: [open, close], longest: 50}'."
            )
        if self.sequence.provenance is not Provenance.PUBLIC:
            raise NotPublicError(self._say_learned("tokens"))
        return self.sequence

    def _card(self) -> Card:
        told = [self.kind.value, self.role.value, self.known_values()]
        return Card(f"Column {self.name}", ", ".join(each for each in told if each), line_facts(self))

    def known_values(self) -> str:
        """Return in words what is known of the values: public bounds, categories or tokens; never what was learned."""
        known = self.bounds or self.categories or self.sequence
        return "" if known is None else known.describe()

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
        if not all(is_code(code) for code in self.missing):
            raise SchemaError(f"The missing codes of column {self.name!r} must be text or finite numbers.")

    def _check_categories(self) -> None:
        if self.categories is not None and self.kind is not Kind.CATEGORY:
            raise SchemaError(f"Column {self.name!r} is {self.kind}; only a category column has categories.")

    def _check_sequence(self) -> None:
        if self.sequence is not None and self.kind is not Kind.TEXT:
            raise SchemaError(f"Column {self.name!r} is {self.kind}; only a text column holds sequences.")

    def _check_notation(self) -> None:
        if self.written is None or self.written.is_plain:
            object.__setattr__(self, "written", None)
            return
        told = set(self.written.to_dict())
        fitting = _NOTATED.get(self.kind, set())
        if not told <= fitting:
            raise SchemaError(
                f"Column {self.name!r} is {self.kind}; {sorted(told - fitting)[0]!r} does not say how such cells are "
                "written."
            )

    def _fit_labels(self) -> tuple[tuple[MissingCode, str], ...]:
        pairs = tuple(self.labels.items() if isinstance(self.labels, Mapping) else map(tuple, self.labels))
        if not all(len(pair) == 2 and is_code(pair[0]) and isinstance(pair[1], str) for pair in pairs):
            raise SchemaError(f"The labels of column {self.name!r} must map codes to texts, such as {{1: male}}.")
        if len({code for code, _ in pairs}) != len(pairs):
            raise SchemaError(f"The labels of column {self.name!r} list a code twice.")
        return pairs

    def _fit_hierarchy(self, hierarchy: Hierarchy) -> Hierarchy:
        absent = [each for each in (self.categories.values if self.categories else ()) if each not in hierarchy.levels]
        if absent:
            raise SchemaError(f"The hierarchy of column {self.name!r} misses the category {absent[0]!r}.")
        if hierarchy.kind is self.kind or (self.kind is Kind.CATEGORY and hierarchy.kind in (Kind.TEXT, Kind.INTEGER)):
            return hierarchy
        if hierarchy.kind is Kind.INTEGER and self.kind is Kind.REAL:
            return Hierarchy(as_reals(hierarchy.levels))
        if hierarchy.kind is Kind.INTEGER and self.kind is Kind.BOOLEAN and set(hierarchy.levels) <= {0, 1}:
            return Hierarchy({bool(value): labels for value, labels in hierarchy.levels.items()})
        raise SchemaError(f"The hierarchy of column {self.name!r} must map {self.kind} values.")

    def _fit_bounds(self, bounds: Bounds) -> Bounds:
        ends = (bounds.lower, bounds.upper)
        if self.kind is Kind.INTEGER and all_whole(ends):
            return bounds
        if self.kind is Kind.DATE and all(isinstance(end, date) for end in ends):
            return bounds
        if self.kind is Kind.REAL and not any(isinstance(end, date) for end in ends):
            return Bounds(float(bounds.lower), float(bounds.upper), bounds.provenance)  # type: ignore[arg-type]
        if self.kind in (Kind.INTEGER, Kind.DATE, Kind.REAL):
            wanted = {Kind.INTEGER: "64-bit whole numbers", Kind.DATE: "dates", Kind.REAL: "numbers"}[self.kind]
            raise SchemaError(f"The bounds of column {self.name!r} must be {wanted}.")
        raise SchemaError(f"Column {self.name!r} is {self.kind}; only integer, real and date columns have bounds.")


def line_facts(column: Column) -> list[tuple[str, str]]:
    """Return what else is told of a column: what is missing in it, how it is written, and what it is about."""
    told = {
        "missing codes": ", ".join(map(str, column.missing)),
        "written": "" if column.written is None else ", ".join(column.written.to_dict()),
        "labelled codes": str(len(column.labels) or ""),
        "about": column.description,
    }
    return [(name, words) for name, words in told.items() if words]


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and value.isprintable()

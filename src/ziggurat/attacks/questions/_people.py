"""Whom questions are about: what attackers know of the people, and conditions on it that pick out any of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ziggurat.attacks._finding import fraction
from ziggurat.attacks._guesses import whole
from ziggurat.cards import Shown
from ziggurat.data import Column, Schema, Table, read
from ziggurat.data.schema import Bounds, Kind, Unit
from ziggurat.errors import DataError
from ziggurat.randomness import Source, choose_source

Flags = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]

PEOPLE = "people"
"""What the invented table is called in questions."""

SECRET = "ill"  # noqa: S105 - a column
"""The column of the invented table that nobody may learn of anybody."""

_FIRST_YEAR = 1930
_PRIME = 1009  # of the hashes that make random conditions: products stay small, postcodes and years stay apart


@dataclass(frozen=True, eq=False)
class PeopleCondition:
    """Whom a question is about, as a set and as SQL that means it.

    Attributes
    ----------
    members
        A mask of the people: True for those in it.
    where
        The same as a condition on what attackers know.
    """

    members: Flags
    where: str

    @property
    def size(self) -> int:
        """How many people it picks out."""
        return int(self.members.sum())


@dataclass(frozen=True, eq=False)
class KnownPeople(Shown):
    """What attackers know of the people: quasi-identifiers that tell them apart, as whole numbers.

    Attributes
    ----------
    columns
        The values of each column, one for every person, in the order in which attackers count the people.
    """

    columns: Mapping[str, Integers]

    def __post_init__(self) -> None:
        """Refuse people whom conditions cannot pick out one by one."""
        held = {name: np.asarray(values) for name, values in self.columns.items()}
        sizes = {each.shape for each in held.values()}
        whole_numbers = all(each.dtype.kind in "iu" for each in held.values())
        if len(sizes) != 1 or not whole_numbers or len(next(iter(sizes))) != 1 or next(iter(sizes))[0] < 2:
            raise DataError("Known of two people or more are whole numbers, as many in every column; encode others.")
        object.__setattr__(self, "columns", {name: each.astype(np.int64) for name, each in held.items()})
        if len(set(self.rows())) < len(self):
            raise DataError("Two people are known by the same values; leave out whom attackers cannot tell apart.")

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def rows(self) -> list[tuple[int, ...]]:
        """What is known of each person."""
        return list(zip(*(each.tolist() for each in self.columns.values()), strict=True))

    def select(self, members: Flags) -> PeopleCondition:
        """Pick out exactly these people."""
        picked = np.asarray(members, np.bool_)
        *first, last = self.columns
        parts: dict[tuple[int, ...], list[int]] = {}
        for *before, value in np.array(self.rows())[picked].tolist():
            parts.setdefault(tuple(before), []).append(value)
        written = [_join([*map(_equal, first, before), _among(last, values)]) for before, values in parts.items()]
        return PeopleCondition(picked, " OR ".join(written) or "FALSE")

    def select_one(self, person: int) -> PeopleCondition:
        """Pick out one person."""
        return self.select(np.arange(len(self)) == person)

    def select_span(self, first: int, size: int) -> PeopleCondition:
        """Pick out people who follow each other, in the order in which they are known."""
        places = np.arange(len(self))
        return self.select((places >= first) & (places < first + size))

    def select_half(self, draw: np.random.Generator) -> PeopleCondition:
        """Pick out about half of the people at random, by one short condition.

        The square of a linear hash of what is known, modulo a prime: Cohen and Nissim (2020, "Linear program
        reconstruction in practice", J. Privacy and Confidentiality 10(1)) made random sets of clients by arithmetic on
        their numbers too, where a list of names would be too long or refused.
        """
        factors, shift = draw.integers(1, _PRIME, len(self.columns)), int(draw.integers(_PRIME))
        hashed = factors @ np.array(list(self.columns.values())) + shift
        # Squared, so that people in a row do not fall into the same half together.
        written = " + ".join(f"{quote_name(name)} * {f}" for name, f in zip(self.columns, factors, strict=True))
        rest = f"(({written} + {shift}) % {_PRIME})"
        members = (hashed % _PRIME) ** 2 % _PRIME < _PRIME // 2
        return PeopleCondition(members, f"({rest} * {rest}) % {_PRIME} < {_PRIME // 2}")


def invent_people(
    people: int = 64, *, share: float = 0.5, random_state: Source | int | None = None
) -> tuple[KnownPeople, Flags]:
    """Invent people whom a postcode and a year of birth single out, each with a secret by a coin of their own.

    Parameters
    ----------
    people
        How many.
    share
        The probability of the secret.
    random_state
        Seeds the coins, so that they repeat; secure randomness without.
    """
    n, chance = whole(people, "The number of people"), fraction(share, "The share of people with the secret")
    years = math.ceil(math.sqrt(n))
    places = np.arange(n)
    secrets = choose_source(random_state).simulation().random(n) < chance
    return KnownPeople({"postcode": 1 + places // years, "born": _FIRST_YEAR + places % years}), secrets


def open_people(known: KnownPeople, secrets: Flags) -> Table:
    """Open the table of these people: a row for each, the secret last; what is known of them has public bounds."""
    names = pa.array([f"person {place}" for place in range(len(known))])
    columns = {"person": names, **{name: pa.array(each) for name, each in known.columns.items()}}
    described = [
        Column(name, Kind.INTEGER, bounds=Bounds(int(each.min()), int(each.max())))
        for name, each in known.columns.items()
    ]
    schema = Schema(
        (Column("person", Kind.TEXT), *described, Column(SECRET, Kind.BOOLEAN)),
        unit=Unit("person", "person"),
        name=PEOPLE,
    )
    return read(pa.table({**columns, SECRET: pa.array(np.asarray(secrets, np.bool_))}), schema)


def quote_name(name: str) -> str:
    """Write the name of a column or table as SQL does."""
    return '"' + name.replace('"', '""') + '"'


def _equal(name: str, value: int) -> str:
    return f"{quote_name(name)} = {value}"


def _among(name: str, values: list[int]) -> str:
    """A range where values follow each other, and else a list."""
    low, high = min(values), max(values)
    if low == high:
        return _equal(name, low)
    if len(set(values)) == high - low + 1:
        return f"{quote_name(name)} BETWEEN {low} AND {high}"
    return f"{quote_name(name)} IN ({', '.join(map(str, sorted(set(values))))})"


def _join(parts: list[str]) -> str:
    return f"({' AND '.join(parts)})"

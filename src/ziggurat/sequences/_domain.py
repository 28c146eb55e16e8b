"""What is publicly known of sequences: their symbols, their classes, how much of one counts, and whose they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

from ziggurat.cards import Shown
from ziggurat.data import Unit
from ziggurat.errors import DataError, ParameterError
from ziggurat.privacy import whole_number
from ziggurat.wording import nearest

Token = str | int
"""A symbol of a sequence, or a class of sequences."""

_MOST_TOKENS = 1 << 24


@dataclass(frozen=True)
class SequenceDomain(Shown):
    """The public facts that every promise about sequences rests on; none of them is read off the sequences.

    Parameters
    ----------
    tokens
        Every symbol that counts. A symbol that is not among them is left out of its sequence: whether there was one is
        never told.
    longest
        How many symbols of a sequence count; of a longer one the first `longest` do.
    classes
        The classes that sequences are labelled with; none if they have no labels.
    unit
        Whose the sequences are: one sequence each (a row), or somebody who may own several.
    """

    tokens: tuple[Token, ...]
    longest: int
    classes: tuple[Token, ...] = ()
    unit: Unit = Unit()

    def __post_init__(self) -> None:
        for name in ("tokens", "classes"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
            values = getattr(self, name)
            if len(set(values)) != len(values) or not all(isinstance(each, str | int) for each in values):
                raise ParameterError(f"The {name} must be different texts or whole numbers.")
        if not 0 < len(self.tokens) <= _MOST_TOKENS:
            raise ParameterError("State the public tokens that sequences may hold; at least one.")
        whole_number(self.longest, "longest")

    @property
    def size(self) -> int:
        """How many symbols there are; their codes are 0, ..., size - 1."""
        return len(self.tokens)

    @property
    def groups(self) -> int:
        """How many classes there are, or one for all where there are none."""
        return max(len(self.classes), 1)

    @cached_property
    def codes(self) -> dict[Token, int]:
        """The code of every symbol."""
        return {token: place for place, token in enumerate(self.tokens)}

    def class_code(self, label: object) -> int:
        """The code of a class; DataError, which does not repeat it, if it is none."""
        try:
            return self.classes.index(label)
        except ValueError:
            raise DataError("A label is no class of the domain; add it to 'classes', or leave it out.") from None

    def to_plain(self) -> dict[str, Any]:
        """All of it for a file of JSON."""
        said = {"tokens": self.tokens, "longest": self.longest, "classes": self.classes}
        return {**said, "unit": [self.unit.name, self.unit.column]}

    @classmethod
    def from_plain(cls, said: Mapping[str, Any]) -> Self:
        """What `to_plain` said; KeyError, TypeError or ValueError if it is something else."""
        return cls(**{**said, "unit": Unit(*said["unit"])})

    def with_unit(self, unit: Unit) -> Self:
        """The same symbols and classes, of other owners."""
        return replace(self, unit=unit)

    def require_token(self, token: Token) -> int:
        """The code of a symbol that somebody names; the nearest one is suggested if it is unknown."""
        if token not in self.codes:
            raise ParameterError(f"There is no token {token!r}; {nearest(str(token), map(str, self.tokens))}")
        return self.codes[token]


def same_domain(domains: Iterable[SequenceDomain]) -> SequenceDomain:
    """The one domain that several sets of sequences have."""
    found = list(dict.fromkeys(domains))
    if len(found) != 1:
        raise ParameterError("The sequences have different tokens, classes, lengths or units; give them one domain.")
    return found[0]

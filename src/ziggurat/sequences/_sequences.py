"""Sequences as ragged arrays: all codes one after the other, and where each sequence begins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ziggurat.cards import Shown
from ziggurat.errors import DataError, ParameterError
from ziggurat.randomness import Source, uniform_below
from ziggurat.sequences._domain import SequenceDomain, Token, same_domain

Codes = npt.NDArray[np.int32]
Places = npt.NDArray[np.int64]

_CHARACTERS = 0x110000  # code points of Unicode


@dataclass(frozen=True, eq=False)
class Sequences(Shown):
    """Sequences over public symbols: raw until a mechanism has protected them.

    `codes[offsets[i]:offsets[i + 1]]` is sequence i, at most `domain.longest` codes; it may be empty.

    Parameters
    ----------
    domain
        What is publicly known of them.
    codes, offsets
        All symbols one after the other, and where each sequence begins; one more offset than sequences.
    labels
        The class of each; None if the domain has no classes.
    owners
        Whose each is, as numbers from 0; None if every sequence is its own unit.
    """

    domain: SequenceDomain
    codes: Codes
    offsets: Places
    labels: Codes | None = None
    owners: Places | None = None

    def __post_init__(self) -> None:
        given = (("codes", np.int32), ("offsets", np.int64), ("labels", np.int32), ("owners", np.int64))
        for name, kind in given:
            if getattr(self, name) is not None:
                object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype=kind))
        self._check()

    def _check(self) -> None:
        lengths, count = np.diff(self.offsets), len(self.offsets) - 1
        if count < 0 or self.offsets[0] != 0 or self.offsets[-1] != len(self.codes) or (lengths < 0).any():
            raise ParameterError("The offsets must begin at 0, never fall, and end at the number of codes.")
        if len(lengths) and lengths.max() > self.domain.longest:
            raise ParameterError("A sequence is longer than the domain says; make them with Sequences.of.")
        if not _within(self.codes, self.domain.size):
            raise ParameterError("The codes must be those of the domain's tokens.")
        if (self.labels is None) is not (not self.domain.classes):
            raise ParameterError("Sequences have labels exactly if their domain has classes.")
        if self.labels is not None and (len(self.labels) != count or not _within(self.labels, self.domain.groups)):
            raise ParameterError("There must be one label of the domain's classes for every sequence.")
        if (self.owners is None) is not self.domain.unit.is_row:
            raise ParameterError("Sequences have owners exactly if their unit is not a row.")
        if self.owners is not None and (len(self.owners) != count or (self.owners < 0).any()):
            raise ParameterError("There must be one owner, a number from 0, for every sequence.")

    @classmethod
    def of(
        cls,
        domain: SequenceDomain,
        sequences: Iterable[Sequence[Token]],
        labels: Iterable[Token] | None = None,
        owners: Iterable[object] | None = None,
    ) -> Sequences:
        """Code sequences of symbols: unknown symbols are left out, and what is longer than `longest` is cut.

        Examples
        --------
        >>> logs = Sequences.of(SequenceDomain(("open", "close"), longest=3), [["open", "?", "close"], []])
        >>> list(logs)
        [('open', 'close'), ()]
        """
        known, longest = domain.codes, domain.longest
        coded = [[known[each] for each in sequence if each in known][:longest] for sequence in sequences]
        whose: dict[object, int] = {}
        return cls(
            domain,
            np.array([code for each in coded for code in each], dtype=np.int32),
            np.cumsum([0, *map(len, coded)]),
            None if labels is None else np.array([domain.class_code(each) for each in labels], dtype=np.int32),
            None if owners is None else np.array([whose.setdefault(each, len(whose)) for each in owners], np.int64),
        )

    @classmethod
    def together(cls, parts: Sequence[Sequences]) -> Sequences:
        """Several sets of sequences of one domain as one; owners of different sets are different people."""
        domain = same_domain(part.domain for part in parts)
        lengths = np.concatenate([part.lengths for part in parts])
        labels = None if not domain.classes else np.concatenate([part.labels for part in parts])
        owners = None if domain.unit.is_row else _join_owners(parts)
        codes = np.concatenate([part.codes for part in parts])
        return cls(domain, codes, np.concatenate([[0], np.cumsum(lengths)]), labels, owners)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[tuple[Token, ...]]:
        names, codes = self.domain.tokens, self.codes.tolist()
        for start, stop in zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True):
            yield tuple(names[code] for code in codes[start:stop])

    @property
    def lengths(self) -> Places:
        """How many symbols each has."""
        return np.diff(self.offsets)

    @property
    def classes(self) -> list[Token] | None:
        """The class of each, by its name."""
        return None if self.labels is None else [self.domain.classes[code] for code in self.labels.tolist()]

    def _keeping(self, symbols: Places, offsets: Places, labels: Codes | None, owners: Places | None) -> Self:
        """Sequences of some of these symbols, by their places among all."""
        return type(self)(self.domain, self.codes[symbols], offsets, labels, owners)

    def take(self, places: npt.ArrayLike) -> Self:
        """The sequences at some places, in that order."""
        at = np.atleast_1d(np.asarray(places))
        at = np.flatnonzero(at) if at.dtype == bool else at.astype(np.int64)
        lengths = self.lengths[at]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        inside = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
        labels = None if self.labels is None else self.labels[at]
        owners = None if self.owners is None else self.owners[at]
        return self._keeping(np.repeat(self.offsets[at], lengths) + inside, offsets, labels, owners)

    def of_class(self, code: int) -> Self:
        """Those of one class; all of them where there are no classes."""
        return self if self.labels is None else self.take(self.labels == code)

    def padded(self, fill: int, width: int | None = None) -> Codes:
        """A matrix of codes, one row per sequence, filled up with `fill` and cut to `width` (by default `longest`)."""
        wide = self.domain.longest if width is None else width
        held = np.minimum(self.lengths, wide)
        matrix = np.full((len(self), wide), fill, dtype=np.int32)
        matrix[np.arange(wide) < held[:, None]] = self.take_first(wide).codes
        return matrix

    def take_first(self, most: int) -> Self:
        """The same sequences, each cut to its first `most` symbols."""
        lengths = np.minimum(self.lengths, most)
        inside = np.arange(len(self.codes)) - np.repeat(self.offsets[:-1], self.lengths)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        return self._keeping(np.flatnonzero(inside < most), offsets, self.labels, self.owners)

    def bounded(self, most: int, source: Source) -> Self:
        """At most `most` sequences of each owner, chosen at random: what one unit then contributes is bounded.

        Whose sequences are kept, and how many, depends for each owner on the owner's own sequences and on fresh coins.
        """
        if self.owners is None:
            return self
        tickets = uniform_below(1 << 62, size=len(self), source=source)
        order = np.lexsort((tickets, self.owners))
        starts = np.flatnonzero(np.diff(self.owners[order], prepend=-1))
        rank = np.arange(len(self)) - np.repeat(starts, np.diff(starts, append=len(self)))
        return self.take(np.sort(order[rank < most]))

    def to_texts(self, separator: str = " ") -> list[str]:
        """Each as one text, its symbols separated."""
        return [separator.join(map(str, each)) for each in self]

    def to_characters(self) -> list[str]:
        """Each as a text of one character per symbol: what libraries that compare texts are quickest with.

        Equal symbols of equal domains have equal characters, which mean nothing else.
        """
        if self.domain.size > _CHARACTERS:
            raise ParameterError(f"Texts tell at most {_CHARACTERS:,} symbols apart; give the domain fewer tokens.")
        joined = self.codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
        places = self.offsets.tolist()
        return [joined[start:stop] for start, stop in pairwise(places)]


def _within(codes: npt.NDArray[Any], size: int) -> bool:
    return len(codes) == 0 or (int(codes.min()) >= 0 and int(codes.max()) < size)


def _join_owners(parts: Sequence[Sequences]) -> Places:
    before, joined = 0, []
    for part in parts:
        owners = part.owners
        if owners is None:
            raise DataError("Some of the sequences have no owners.")
        joined.append(owners + before)
        before += int(owners.max(initial=-1)) + 1
    return np.concatenate(joined)

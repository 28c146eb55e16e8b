"""Identifiers: taken out, blanked, or replaced by pseudonyms that only a secret leads back to."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from ziggurat.anonymize.masking._formats import format_sizes, guessing_time, hashes_per_second
from ziggurat.anonymize.masking._technique import (
    CellTechnique,
    Tally,
    Technique,
    as_column,
    count_filled,
    distinct_of,
    identifier_text,
    look_up,
)
from ziggurat.errors import DataError, ParameterError
from ziggurat.randomness import Source, secure

_SHORTEST_SECRET = 16  # bytes: 128 bits
_SALT_BYTES = 16
_SHORTEST, _LONGEST = 8, 64  # hexadecimal digits
_ENOUGH = 2**80
"""Formats with fewer possible values are refused a plain hash: 2**80 are out of reach of all but a state."""


def new_secret() -> bytes:
    """Return a fresh secret of 256 bits for `KeyedHash`; keep it where the released table is not."""
    return secure().words(4).tobytes()


@dataclass(frozen=True)
class Drop(Technique):
    """Take columns out.

    It does not hide what other columns say about them: a dropped birth date is still there as an age.
    """

    name: ClassVar[str] = "drop"

    def mask(self, table: pa.Table, columns: tuple[str, ...], source: Source) -> tuple[pa.Table, Tally]:  # noqa: ARG002
        """Take the columns out."""
        cells = sum(count_filled(table.column(name)) for name in columns)
        return table.drop_columns(list(columns)), Tally(cells, cells)


@dataclass(frozen=True)
class Redact(CellTechnique):
    """Replace every value by the same text; the column becomes text, and missing cells stay missing.

    It hides the value and not that there was one: whose cell is missing can still be seen. `Drop` hides that too.

    Parameters
    ----------
    text
        What stands in place of every value.
    """

    name: ClassVar[str] = "redact"
    text: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise ParameterError("What a redacted cell shows must be text.")

    def parameters(self) -> dict[str, Any]:
        """Return the text shown."""
        return {"text": self.text}

    def column(self, cells: pa.ChunkedArray, name: str, source: Source) -> tuple[pa.ChunkedArray, Tally]:  # noqa: ARG002
        """Put the text in place of every value."""
        shown = pc.if_else(pc.is_valid(cells), pa.scalar(self.text), pa.scalar(None, pa.string()))
        return as_column(shown), Tally()


@dataclass(frozen=True)
class KeyedHash(CellTechnique):
    """Replace identifiers by pseudonyms: HMAC-SHA-256 (RFC 2104) of a salt and the value, under a secret.

    Equal values get equal pseudonyms, in every column and table masked with the same secret and salt. Whoever does not
    hold the secret cannot test a guess, however few possible values there are; whoever holds it can test them all, so
    keep it from those who see the output. Whole numbers, dates and truth values are hashed as their text.

    It does not hide how often a value occurs, nor which rows belong together, and the rest of a row may still tell
    whose it is. Two of n distinct values share a pseudonym with probability at most n*(n-1)/2 / 16**length.

    Parameters
    ----------
    secret
        At least 16 bytes (or characters); `new_secret` makes one. It is in no record, message or `repr`.
    salt
        Makes the pseudonyms of one release unlike those of the next; drawn afresh by default, and recorded. Give the
        salt of an earlier release only in order to let the two be linked.
    length
        How many hexadecimal digits to keep, 8 to 64.
    """

    name: ClassVar[str] = "keyed-hash"
    secret: bytes | str = field(repr=False)
    salt: bytes | None = None
    length: int = 32

    def __post_init__(self) -> None:
        if not isinstance(self.secret, bytes | str) or len(self.secret) < _SHORTEST_SECRET:
            raise ParameterError("The secret of a keyed hash needs at least 16 bytes; new_secret() makes one.")
        if self.salt is not None and (not isinstance(self.salt, bytes) or len(self.salt) > 255):
            raise ParameterError("The salt must be at most 255 bytes, or None for a fresh one.")
        check_length(self.length)
        if self.salt is None:
            object.__setattr__(self, "salt", secure().words(_SALT_BYTES // 8).tobytes())

    def parameters(self) -> dict[str, Any]:
        """Return salt and length; the secret stays here."""
        return {"salt": self._salt.hex(), "length": self.length}

    def derive_facts(self, tally: Tally) -> dict[str, Any]:
        """Return the bound on the probability that two values share a pseudonym."""
        return {"collision_probability_at_most": collision_bound(tally.counts.get("distinct_at_most", 0), self.length)}

    def column(self, cells: pa.ChunkedArray, name: str, source: Source) -> tuple[pa.ChunkedArray, Tally]:  # noqa: ARG002
        """Hash every distinct value once."""
        key = self.secret.encode() if isinstance(self.secret, str) else self.secret
        # The salt's length stands first, so that no other salt and value read the same.
        keyed = hmac.new(key, bytes([len(self._salt)]) + self._salt, "sha256")

        def digest(value: bytes) -> str:
            copy = keyed.copy()
            copy.update(value)
            return copy.hexdigest()

        return hash_column(identifier_text(cells, name), name, digest, self.length)

    @property
    def _salt(self) -> bytes:
        assert self.salt is not None
        return self.salt


@dataclass(frozen=True)
class PlainHash(CellTechnique):
    """Replace identifiers by their SHA-256, which anybody can recompute: mostly refused, and for good reason.

    Whoever can list the possible values hashes them all and reads the table as if nothing had been done. So a column in
    which any cell's format (its length, and which characters are digits or letters) leaves fewer than 2**80 values is
    refused, with the time that trying them took this machine; a graphics card is thousands of times faster. The format
    bounds the number of guesses from above only: people's names may be long and still be in a list. So even a long
    format is refused unless `accept_guessing` says that the values are random, as tokens and version 4 UUIDs are.

    Parameters
    ----------
    accept_guessing
        That you know the values to be random, so that nobody can list them.
    length
        How many hexadecimal digits to keep, 8 to 64.
    """

    name: ClassVar[str] = "plain-hash"
    accept_guessing: bool = False
    length: int = 64

    def __post_init__(self) -> None:
        check_length(self.length)

    def parameters(self) -> dict[str, Any]:
        """Return the length and that guessing was accepted."""
        return {"accept_guessing": self.accept_guessing, "length": self.length}

    def derive_facts(self, tally: Tally) -> dict[str, Any]:
        """Return the bound on the probability that two values share a hash."""
        return {"collision_probability_at_most": collision_bound(tally.counts.get("distinct_at_most", 0), self.length)}

    def column(self, cells: pa.ChunkedArray, name: str, source: Source) -> tuple[pa.ChunkedArray, Tally]:  # noqa: ARG002
        """Hash every distinct value once, unless it could be guessed."""
        text = identifier_text(cells, name)
        self._check(format_sizes(distinct_of(text)), name)
        return hash_column(text, name, lambda value: hashlib.sha256(value).hexdigest(), self.length)

    def _check(self, sizes: list[int], name: str) -> None:
        small = sum(size for size in sizes if size < _ENOUGH)
        if small:
            took = guessing_time(small, hashes_per_second())
            raise ParameterError(
                f"A plain hash would not hide column {name!r}: its formats have {_count(small)} possible values, and "
                f"this machine could try them all in {took}; use KeyedHash(new_secret())."
            )
        if not self.accept_guessing:
            raise ParameterError(
                f"A plain hash hides column {name!r} only if its values are random and in nobody's list; "
                "use KeyedHash(new_secret()), or pass accept_guessing=True."
            )


def check_length(length: object) -> None:
    """Refuse a number of hexadecimal digits that is too small to tell values apart, or larger than SHA-256 has."""
    whole = isinstance(length, int) and not isinstance(length, bool)
    if not whole or not _SHORTEST <= length <= _LONGEST:  # type: ignore[operator]
        raise ParameterError(f"The length of a hash must be from {_SHORTEST} to {_LONGEST} hexadecimal digits.")


def collision_bound(distinct: int, length: int) -> float:
    """Return the union bound on the probability that two of `distinct` values share a hash of `length` digits."""
    pairs = max(distinct, 0) * max(distinct - 1, 0)
    return min(1.0, float(Fraction(pairs, 2 * 2 ** (4 * length))))


def hash_column(
    text: pa.ChunkedArray, name: str, digest: Callable[[bytes], str], length: int
) -> tuple[pa.ChunkedArray, Tally]:
    """Return a column of text with every value replaced by its digest; DataError if two of them coincide."""
    distinct = distinct_of(text)
    shown = [digest(value)[:length] for value in distinct.cast(pa.binary()).to_pylist()]
    if len(set(shown)) < len(shown):
        raise DataError(f"Two values of column {name!r} would share a hash; keep more than {length} digits of it.")
    counts = {"distinct_at_most": len(shown)}
    return look_up(text, distinct, pa.array(shown, pa.string())), Tally(counts=counts)


def _count(number: int) -> str:
    if number < 10**15:
        return f"{number:,}"
    return re.sub(r"e\+0?", "e", f"{float(number):.0e}")

"""A look at the first cells of columns of text: what they look like, how long they are, whether they are sequences."""

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import pyarrow as pa
from sqlglot import exp

from ziggurat.data._table import Table
from ziggurat.data.schema import Provenance, Symbols

_LOOKED_AT = 1_000
_AT_ONCE = 200
_TRIED_FIRST = 8
_ENOUGH = 3
_MOST = 0.9
# Cells of text are sequences if they hold at least so many symbols on average, and each symbol occurs so often.
_LOOKED_AT_FOR_SYMBOLS = 10_000
_LEAST_SYMBOLS, _MOST_SYMBOLS, _LEAST_REPEATS = 4, 500, 20
_LOOKS = {
    "e-mail addresses": r"^[^@\s]+@[^@\s]+\.[A-Za-z]{2,}$",
    "UUIDs": "^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$",
    "IBANs": "^[A-Z]{2}[0-9]{2} ?([A-Z0-9]{4} ?){2,7}[A-Z0-9]{1,4}$",
    "card numbers": "^[0-9]{4}([ -]?[0-9]{4}){3}$",
    "national ids": "^([0-9]{3}-[0-9]{2}-[0-9]{4}|[A-Z]{6}[0-9]{2}[A-Z][0-9]{2}[A-Z][0-9]{3}[A-Z]|[A-Z][0-9]{9}"
    "|[0-9XYZ][0-9]{7}[A-Z]|[0-9]{8}[A-Z][0-9]{3}"
    "|[12] ?[0-9]{2} ?(0[1-9]|1[0-2]) ?[0-9AB]{2} ?[0-9]{3} ?[0-9]{3}( ?[0-9]{2})?)$",
    "phone numbers": r"^((\+|00)[1-9][0-9 ()/.-]{6,18}|\(?0[0-9]{2,5}\)?[ /-]+[0-9][0-9 /-]{3,12}"
    r"|\(?[2-9][0-9]{2}\)?[ .-]+[0-9]{3}[ .-][0-9]{4})$",
}
_POSTCODES = "^([0-9]{5}(-[0-9]{4})?|[A-Z]{1,2}[0-9][A-Z0-9]? ?[0-9][A-Z]{2}|[0-9]{4} ?[A-Z]{2})$"
_NO_COUNT = "^0|[A-Z]"


@dataclass(frozen=True)
class TextLook:
    """What the first cells of a column of text look like.

    Parameters
    ----------
    looked_at
        How many filled cells that were.
    alike
        What nearly all of them look like, such as "e-mail addresses"; nothing if they do not.
    postcodes
        Whether nearly all look like postcodes, and one begins with a zero or holds a letter.
    words, characters
        How many a cell has on average.
    symbols
        What the cells are sequences of, if they are.
    """

    looked_at: int
    alike: str = ""
    postcodes: bool = False
    words: float = 0
    characters: float = 0
    symbols: Symbols | None = None

    @property
    def prose(self) -> bool:
        """Whether cells are as long as sentences."""
        return self.words >= 4 or (self.characters >= 25 and self.words >= 2)


def look_at_texts(table: Table, names: Sequence[str], sequences: Container[str]) -> dict[str, TextLook]:
    """Return how the first cells of columns of text look.

    Parameters
    ----------
    table
        What holds them.
    names
        Of columns of text.
    sequences
        Names of those that may hold sequences.
    """
    looks: dict[str, TextLook] = {}
    for start in range(0, len(names), _AT_ONCE):
        cells = _first_cells(table, names[start : start + _AT_ONCE], _LOOKED_AT)
        for name, column in zip(cells.column_names, cells.columns, strict=True):
            look = _look(column)
            if look.words >= _LEAST_SYMBOLS and name in sequences:
                look = replace(look, symbols=_find_symbols(table, name, column))
            looks[name] = look
    return looks


def _first_cells(table: Table, names: Sequence[str], most: int) -> pa.Table:
    return table.query(exp.select("*").from_(table.relation(names), copy=False).limit(most, copy=False))


def _look(cells: pa.ChunkedArray) -> TextLook:
    import pyarrow.compute as pc

    filled: Any = cells.drop_null().combine_chunks()
    if not len(filled):
        return TextLook(0)
    words = pc.mean(pc.count_substring(pc.utf8_trim_whitespace(filled), " ")).as_py() + 1
    characters = pc.mean(pc.utf8_length(filled)).as_py()
    tried = filled.slice(0, _TRIED_FIRST).to_pylist()
    alike = next(
        (what for what, pattern in _LOOKS.items() if _may_match(tried, pattern) and _match(filled, pattern)), ""
    )
    postcodes = (
        not alike and _may_match(tried, _POSTCODES) and _match(filled, _POSTCODES) and _match(filled, _NO_COUNT, 0)
    )
    return TextLook(len(filled), alike, postcodes, words, characters)


def _may_match(tried: Sequence[str], pattern: str) -> bool:
    """Whether some of the very first cells match: most columns need no further look."""
    return sum(_compiled(pattern).match(cell) is not None for cell in tried) >= len(tried) / 2


def _match(cells: Any, pattern: str, least: float = _MOST) -> bool:
    """Whether so large a share of the cells match, and one at least."""
    import pyarrow.compute as pc

    share = pc.mean(pc.match_substring_regex(cells, pattern)).as_py()
    return len(cells) >= _ENOUGH and share >= least and share > 0


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _find_symbols(table: Table, name: str, first: pa.ChunkedArray) -> Symbols | None:
    """The symbols of cells that look like sequences; None if they do not, which the first cells may tell already."""
    cells = first.to_pylist()
    if len({symbol for cell in cells if cell for symbol in cell.split()}) > _MOST_SYMBOLS:
        return None
    if len(cells) == _LOOKED_AT:
        cells = _first_cells(table, [name], _LOOKED_AT_FOR_SYMBOLS).column(name).to_pylist()
    return _symbols_in([cell.split() for cell in cells if cell])


def _symbols_in(split: Sequence[Sequence[str]]) -> Symbols | None:
    found, total = {symbol for cell in split for symbol in cell}, sum(map(len, split))
    often = _MOST_SYMBOLS >= len(found) > 1 and total >= _LEAST_REPEATS * len(found)
    if not often or total < _LEAST_SYMBOLS * len(split):
        return None
    ordered = (
        sorted(found, key=lambda symbol: (len(symbol), symbol)) if all(map(str.isdecimal, found)) else sorted(found)
    )
    return Symbols(tuple(ordered), max(map(len, split)), provenance=Provenance.LEARNED)

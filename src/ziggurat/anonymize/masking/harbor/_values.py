"""What cells look like, whatever their column is called: postcodes, days, addresses of the net, numbers of people."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

POSTCODES = "postcodes"
_MOSTLY, _NEARLY_ALL = 0.5, 0.95
_ENOUGH = 20
# ZIP codes of the US, five digits of other countries, postcodes of Britain, Canada and the Netherlands.
_POSTCODE = (
    r"^\s*((?:[A-Z]{1,2}-)?[0-9]{5}(-?[0-9]{4})?|[A-Z]{1,2}[0-9][A-Z0-9]? ?[0-9][A-Z]{2}"
    r"|[A-Z][0-9][A-Z] ?[0-9][A-Z][0-9]|[0-9]{4} ?[A-Z]{2})\s*$"
)
_DAY = r"^\s*([0-9]{4}-[0-9]{2}-[0-9]{2}.*|[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{2,4}.*)\s*$"
_MAIL = r"^\s*\S+@\S+\.\S+\s*$"
_TEXTS = (("postcodes", _POSTCODE), ("dates", _DAY), ("e-mail addresses", _MAIL))


def looks_like(cells: pa.ChunkedArray) -> str:
    """Return what most cells of a column look like, in words; nothing if they look like none of it."""
    if kinds.is_string(cells.type) or kinds.is_large_string(cells.type):
        return next(_texts_like(cells), "")
    return _numbers_like(cells) if kinds.is_integer(cells.type) else ""


def _texts_like(cells: pa.ChunkedArray) -> Iterator[str]:
    for what, pattern in _TEXTS:
        share = pc.mean(pc.match_substring_regex(cells, pattern)).as_py()
        if share is not None and share > _MOSTLY:
            yield what
    if _all_differ(cells.drop_null()):
        yield "numbers or names that only one person has"


def _numbers_like(cells: pa.ChunkedArray) -> str:
    """Postcodes that lost their leading zeros, days in eight digits, and numbers that nobody else has."""
    present = cells.drop_null().cast(pa.int64())
    if len(present) == 0:
        return ""
    if _share_within(present, 19_000_101, 20_991_231) > _NEARLY_ALL:
        return "dates"
    if _share_within(present, 1_000, 99_999) > _NEARLY_ALL and _share_within(present, 10_000, 99_999) > _MOSTLY:
        return POSTCODES
    if pc.min(present).as_py() >= 100_000 and _all_differ(present):
        return "numbers that only one person has"
    return ""


def _share_within(cells: pa.ChunkedArray, lower: int, upper: int) -> float:
    inside = pc.and_(pc.greater_equal(cells, lower), pc.less_equal(cells, upper))
    return float(pc.mean(inside).as_py())


def _all_differ(cells: pa.ChunkedArray) -> bool:
    return len(cells) >= _ENOUGH and pc.count_distinct(cells).as_py() == len(cells)

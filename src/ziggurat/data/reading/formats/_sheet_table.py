"""Where on a sheet its table stands: titles above it, blank rows and columns around it, the header, the rows."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from ziggurat.data.engines import name_columns
from ziggurat.data.reading.formats._cells import column_of, write_cell
from ziggurat.data.schema import FileLayout, Kind, looks_like
from ziggurat.errors import DataError
from ziggurat.wording import count_noun

_Row = Sequence[Any]
_LOOKED_AT = 50
_FIRST_YEAR, _LAST_YEAR = 1800, 2200


def table_of(rows: list[list[Any]], layout: FileLayout, where: str, above: int = 0) -> tuple[pa.Table, tuple[str, ...]]:
    """Return the table on a sheet, and sentences that say how it was found.

    Parameters
    ----------
    rows
        The cells of the sheet from its first filled one on; None where there is none.
    layout
        What was told of header, names and rows to skip.
    where
        What to call the sheet in errors.
    above
        How many blank rows of the sheet stand above `rows`.
    """
    rows, notes = _drop_last([*([[]] * above), *rows], layout, where)
    start, said = _find_start(rows, layout)
    notes += said
    header, body = (None, rows[start:]) if layout.header is False else (rows[start], rows[start + 1 :])
    if header is not None and layout.header is None and not layout.names:
        _check_header(header, where)
    body, said = _drop_blank(body)
    notes += said
    columns = _used_columns(header, body)
    names, renamed = _names(header, columns, layout, where)
    arrays = [column_of(name, [_cell(row, place) for row in body]) for name, place in zip(names, columns, strict=True)]
    return pa.table(dict(zip(names, arrays, strict=True))), (*notes, *renamed)


def _drop_last(rows: list[list[Any]], layout: FileLayout, where: str) -> tuple[list[list[Any]], list[str]]:
    while rows and not _filled(rows[-1]):
        rows = rows[:-1]
    kept = rows[: len(rows) - layout.skip_last]
    if not any(map(_filled, kept[layout.skip or 0 :])):
        raise DataError(f"No cell is left on {where}; check the sheet and the rows to skip.")
    return kept, [
        f"The last {count_noun(layout.skip_last, 'row was', 'rows were')} left out, as told."
    ] if layout.skip_last else []


def _find_start(rows: list[list[Any]], layout: FileLayout) -> tuple[int, list[str]]:
    """The place of the header, or of the first row if there is none."""
    if layout.skip is not None:
        return _first_filled(rows, layout.skip), []
    start = _first_filled(rows, 0)
    first = start
    while (after := _end_of_titles(rows, start)) != start:
        start = after
    titles = sum(1 for row in rows[first:start] if _filled(row))
    return start, [f"{count_noun(titles, 'row')} above the header left out."] if titles else []


def _end_of_titles(rows: list[list[Any]], start: int) -> int:
    """Where the table may begin if the row at `start` is a title; `start` itself if it is none."""
    own, most = _filled(rows[start]), max(map(_filled, rows[start : start + _LOOKED_AT]))
    following = _first_filled(rows, start + 1)
    if following >= len(rows):
        return start
    apart = following > start + 1  # a blank row sets titles apart, even those of several cells
    return following if own < most and (apart or own == 1 or 2 * own < most) else start


def _first_filled(rows: list[list[Any]], start: int) -> int:
    return next((place for place in range(start, len(rows)) if _filled(rows[place])), len(rows))


def _filled(row: _Row) -> int:
    return sum(1 for cell in row if _is_filled(cell))


def _is_filled(cell: object) -> bool:
    return cell is not None and not (isinstance(cell, str) and not cell.strip())


def _drop_blank(body: list[list[Any]]) -> tuple[list[list[Any]], list[str]]:
    kept = [row for row in body if _filled(row)]
    if max(map(_filled, body), default=0) <= 1 or len(kept) == len(body):
        return body, []
    return kept, [f"{count_noun(len(body) - len(kept), 'blank row')} between the rows left out."]


def _used_columns(header: _Row | None, body: list[list[Any]]) -> list[int]:
    """The places of columns that have a name or a cell."""
    width = max(len(row) for row in (header or [], *body))
    used = {place for row in (header or [], *body) for place, cell in enumerate(row) if _is_filled(cell)}
    return [place for place in range(width) if place in used]


def _names(
    header: _Row | None, columns: list[int], layout: FileLayout, where: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if layout.names and len(layout.names) != len(columns):
        raise DataError(
            f"There are {count_noun(len(columns), 'column')} on {where}, but {count_noun(len(layout.names), 'name')}."
        )
    found = [_cell(header or [], place) for place in columns]
    given = layout.names or ["" if cell is None else write_cell(cell) for cell in found]
    names, notes = name_columns(given)
    return names, () if header is None and not layout.names else notes


def _cell(row: _Row, place: int) -> Any:
    found = row[place] if place < len(row) else None
    return found if _is_filled(found) else None


def _check_header(header: _Row, where: str) -> None:
    # The cells are not shown: they may be those of a person.
    given = [cell for cell in header if _is_filled(cell)]
    named = [cell for cell in given if isinstance(cell, str) and not _reads_as_value(cell)]
    if not named or any(cell not in named and not _is_year(cell) for cell in given):
        raise DataError(
            f"The first row of the table on {where} looks like data, not like names; pass header=False (--header "
            "none), and names= (--names) if you like, or say with skip= (--skip) how many rows stand above the header."
        )


def _reads_as_value(cell: str) -> bool:
    return looks_like(cell, Kind.REAL) or looks_like(cell, Kind.DATE)


def _is_year(cell: object) -> bool:
    """Whether a cell may name the column of a year."""
    text = write_cell(cell)
    return text.isdecimal() and _FIRST_YEAR <= int(text) <= _LAST_YEAR

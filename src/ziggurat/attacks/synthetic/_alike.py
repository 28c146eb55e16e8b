"""Several tables with the same columns, read into one encoding so that their rows can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as kinds

from ziggurat.attacks.tables import choose_columns
from ziggurat.data import Kind, Schema, Table, read
from ziggurat.data.coded import Codes, class_rows, code_alike, read_numbers
from ziggurat.data.engines import DuckDBEngine
from ziggurat.errors import DataError, ParameterError
from ziggurat.randomness import choose_source
from ziggurat.synthesize import Synthetic

Floats = npt.NDArray[np.float64]
Named = tuple[str, object]

_NUMBERS = (Kind.INTEGER, Kind.REAL, Kind.DATE)
_MISSING = 4.0  # a scaled number lies within -1 and 2, so what is missing is a whole unit away from all of them


@dataclass(frozen=True)
class Opened:
    """A table, what messages call it, and its columns."""

    title: str
    table: Table
    names: tuple[str, ...]


@dataclass(frozen=True)
class ComparedRows:
    """The rows of one of several tables.

    Attributes
    ----------
    names
        The columns.
    numeric
        For each column whether it holds numbers (dates are days) or categories.
    cells
        Numbers as they are, NaN where one is missing; categories as codes that the tables share, one of them for what
        is missing.
    """

    names: tuple[str, ...]
    numeric: tuple[bool, ...]
    cells: Floats

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.cells)

    def take(self, rows: Codes) -> ComparedRows:
        """Return the rows at these places."""
        return ComparedRows(self.names, self.numeric, self.cells[rows])

    def select(self, names: Iterable[str]) -> ComparedRows:
        """Return the rows with these columns only."""
        places = [self.names.index(name) for name in names]
        return ComparedRows(tuple(names), tuple(self.numeric[place] for place in places), self.cells[:, places])

    def column(self, name: str) -> Floats:
        """Return the cells of one column."""
        return self.cells[:, self.names.index(name)]


def make_generator(random_state: int | None) -> np.random.Generator:
    """Return the generator that chooses rows and guesses: a fresh one, or for a rehearsal one by its seed."""
    return choose_source(random_state).simulation()


def list_copies(copies: object) -> list[Any]:
    """Return one table, or each of several copies, as a list."""
    held = copies.tables if isinstance(copies, Synthetic) else copies
    found = list(held) if isinstance(held, list | tuple) else [held]
    if not found:
        raise ParameterError("Give at least one synthetic table.")
    return found


def name_copies(copies: object) -> list[Named]:
    """Return each copy with what messages call it."""
    found = list_copies(copies)
    return [("the synthetic table" if len(found) == 1 else f"copy {i}", each) for i, each in enumerate(found, 1)]


def open_alike(original: object, others: Sequence[Named]) -> list[Opened]:
    """Open the original and the other tables.

    The original's schema says what the columns are. If it is a `Table`, the others are read by its schema too.
    """
    engine = DuckDBEngine()  # one for all that is not in an engine yet
    held = _open_table(original, engine)
    found = [Opened("the original", held, tuple(held.schema.names))]
    for title, other in others:
        table = _open_table(other, engine)
        names = tuple(table.schema.names)
        shared = [name for name in held.schema.names if name in names]
        if isinstance(original, Table) and not isinstance(other, Table) and shared:
            table = _open_table(other, engine, original.schema.select(shared), lenient=original.lenient)
            names = tuple(table.schema.names)  # what the schema does not declare is out of sight
        found.append(Opened(title, table, names))
    return found


def encode_alike(tables: Sequence[Opened], columns: Iterable[str] | str | None = None) -> list[ComparedRows]:
    """Read tables, the original first, into one encoding.

    Parameters
    ----------
    tables
        The tables; all must have the columns.
    columns
        Which columns to read; by default all, and then no table may have others.
    """
    schema = tables[0].table.schema
    names = schema.names if columns is None else choose_columns(tables[0].table, columns, "columns to compare")
    for each in tables[1:]:
        _check_columns(names, each, exactly=columns is None)
    parts = [(each.title, each.table.raw.rows(names)) for each in tables]
    for title, part in parts:
        if part.num_rows == 0:
            raise DataError(f"{title.capitalize()} has no rows.")
    numeric = tuple(schema[name].kind in _NUMBERS for name in names)
    held = [_read_column(name, number, parts) for name, number in zip(names, numeric, strict=True)]
    return [ComparedRows(tuple(names), numeric, np.stack(cells, axis=1)) for cells in zip(*held, strict=True)]


def read_alike(
    original: object, others: Sequence[Named], columns: Iterable[str] | str | None = None
) -> list[ComparedRows]:
    """Open and read tables, see `open_alike` and `encode_alike`."""
    return encode_alike(open_alike(original, others), columns)


def number_alike(tables: Sequence[Floats]) -> list[Codes]:
    """Return for each row of several tables which distinct row it is; equal rows have equal numbers."""
    whole = np.concatenate(tables)
    columns = [np.unique(column, return_inverse=True) for column in whole.T]
    ids, _ = class_rows([(codes, len(values)) for values, codes in columns], len(whole))
    return np.split(ids, np.cumsum([len(table) for table in tables])[:-1])


def scale_rows(tables: Sequence[ComparedRows], ranges: Sequence[ComparedRows]) -> list[Floats]:
    """Return cells such that min(1, |a - b|) is Gower's distance in each column (Gower 1971, Biometrics 27(4)).

    Numbers are divided by their range in `ranges`, where a number beyond it may be a whole unit away; categories, and
    what is missing, are a unit away from each other.
    """
    known = np.concatenate([rows.cells for rows in ranges])
    found = [np.empty_like(rows.cells) for rows in tables]
    for place, number in enumerate(tables[0].numeric):
        low, width = _range(known[:, place]) if number else (0.0, 0.5)
        for rows, out in zip(tables, found, strict=True):
            cells = rows.cells[:, place]
            out[:, place] = _scale_numbers(cells, low, width) if number else cells / width
    return found


def _range(cells: Floats) -> tuple[float, float]:
    present = cells[~np.isnan(cells)]
    return (float(present.min()), float(np.ptp(present))) if present.size else (0.0, 0.0)


def _scale_numbers(cells: Floats, low: float, width: float) -> Floats:
    with np.errstate(over="ignore", invalid="ignore"):
        moved = cells - low
        inside = moved / width if width > 0 else np.where(moved == 0, 0.0, np.sign(moved) * 2)
    return np.where(np.isnan(cells), _MISSING, np.clip(inside, -1.0, 2.0))


def _open_table(data: object, engine: DuckDBEngine, schema: Schema | None = None, *, lenient: bool = False) -> Table:
    if isinstance(data, Table):
        return data
    holder = engine if isinstance(data, pa.Table | str | Path) else None
    return read(data, schema, engine=holder, on_bad_cell="missing" if lenient else "refuse")


def _check_columns(names: Sequence[str], other: Opened, *, exactly: bool) -> None:
    for name in names:
        if name not in other.names:
            raise DataError(f"Column {name!r} is not in {other.title}; name the columns that all tables have.")
    for name in other.names if exactly else ():
        if name not in names:
            raise DataError(
                f"Column {name!r} of {other.title} is not in the original; name those that all tables have."
            )


def _read_column(name: str, number: bool, parts: Sequence[tuple[str, pa.Table]]) -> list[Floats]:
    """The cells of a column of each table: numbers, or codes that the tables share."""
    columns = [part.column(name) for _, part in parts]
    families = [_family(column) for column in columns]
    known = next((family for family in families if family), "text")
    for (title, _), family in zip(parts, families, strict=True):
        if family not in ("", known):
            raise DataError(f"Column {name!r} holds another kind of cells in {title} than in the original.")
    if number and known in ("number", "date"):
        return [read_numbers(column) for column in columns]
    shared = pa.float64() if known == "number" else pa.string()
    codes, _ = code_alike([column.cast(shared, safe=False) for column in columns])
    return [each.astype(np.float64) for each in codes]


def _family(column: pa.ChunkedArray) -> str:
    """Cells of one family can be compared; a column without any cell is of every family."""
    if column.null_count == len(column):
        return ""
    if kinds.is_date(column.type):
        return "date"
    if kinds.is_boolean(column.type):
        return "truth"
    return "number" if kinds.is_integer(column.type) or kinds.is_floating(column.type) else "text"

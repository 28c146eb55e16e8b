"""An original and its synthetic copies as arrays: the same columns in the same codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ziggurat.data import Column, Kind, Schema, Table, Unit, open_table, read, sample_rows
from ziggurat.data.coded import CodedColumn, code_alike, read_numbers
from ziggurat.errors import DataError, ParameterError, SchemaError
from ziggurat.randomness import Source, secure
from ziggurat.synthesize import Origin, Synthetic, WrittenCopies, read_facts
from ziggurat.wording import count_noun

ROWS = 100_000
"""At most how many rows of each table are looked at, unless told otherwise."""

MISSING = "missing"

_NUMBERS = (Kind.INTEGER, Kind.REAL, Kind.DATE)
_FEW, _MOST = 20, 1000  # so many different texts are categories; free text has more, for its number of rows
_ROWS_PER_TEXT = 10


@dataclass(frozen=True)
class SheetField:
    """What a column is.

    Attributes
    ----------
    name, kind
        As the original's schema has them.
    labels
        Of categories, what each code stands for; of numbers, each way to be missing.
    absent
        Which codes stand for missing.
    """

    name: str
    kind: Kind
    labels: tuple[str, ...]
    absent: frozenset[int]

    @property
    def numeric(self) -> bool:
        """Whether cells are numbers; dates are days since 1970."""
        return self.kind in _NUMBERS


@dataclass(frozen=True, eq=False)
class Sheet:
    """The rows of one table that are looked at, of `total` that it has."""

    rows: int
    total: int
    cells: Mapping[str, CodedColumn]

    def missing(self, field: SheetField) -> npt.NDArray[np.bool_]:
        """Return where a column has no value."""
        return np.isin(self.cells[field.name].codes, list(field.absent))

    def take(self, places: npt.NDArray[np.intp] | npt.NDArray[np.bool_]) -> Sheet:
        """Return some of the rows."""
        cells = {name: each.take(places) for name, each in self.cells.items()}
        kept = int(places.sum()) if places.dtype == np.bool_ else len(places)
        return Sheet(kept, self.total, cells)


@dataclass(frozen=True, eq=False)
class Sheets:
    """An original and its copies.

    Attributes
    ----------
    fields
        The columns.
    original, copies, holdout
        The tables; rows that were held out if there are any.
    notes
        What was left out, in sentences.
    made
        What the combining rules must know of the copies, if it was handed over with them or stands in their files.
    """

    fields: tuple[SheetField, ...]
    original: Sheet
    copies: tuple[Sheet, ...]
    holdout: Sheet | None = None
    notes: tuple[str, ...] = ()
    made: Origin | None = None

    @property
    def all(self) -> tuple[Sheet, ...]:
        """The original, then the copies."""
        return (self.original, *self.copies)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(field.name for field in self.fields)

    def field(self, name: str) -> SheetField:
        """Return a column by its name."""
        return next(field for field in self.fields if field.name == name)

    def with_rows(self, rows: int, draw: np.random.Generator) -> Sheets:
        """Return at most so many rows of each table."""
        return replace(self, original=_draw_rows(self.original, rows, draw), copies=_draw_all(self.copies, rows, draw))


def list_copies(synthetic: object) -> list[object]:
    """Return the copies as a list, of one if one was given."""
    if isinstance(synthetic, Synthetic | WrittenCopies):
        copies: list[object] = list(synthetic.tables if isinstance(synthetic, Synthetic) else synthetic.paths)
    else:
        copies = list(synthetic) if isinstance(synthetic, list | tuple) else [synthetic]
    if not copies:
        raise ParameterError("Give at least one synthetic copy.")
    return copies


def open_sheets(
    original: object,
    synthetic: object,
    columns: Iterable[str] | str | None = None,
    *,
    holdout: object = None,
    rows: int = ROWS,
    source: Source | None = None,
) -> Sheets:
    """Read an original and its copies; the original's schema says what the columns are and what is missing.

    Parameters
    ----------
    original, synthetic
        What `ziggurat.data.read` takes; of copies one, a list, or what `ziggurat.synthesize` returned.
    columns
        Which columns; by default all, without those of free text.
    holdout
        Rows from where the original comes from that no synthesiser has seen.
    rows
        At most how many rows of each, drawn evenly.
    source
        Of the draw of the rows.
    """
    words = secure() if source is None else source
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 2:
        raise ParameterError("The number of rows to look at must be a whole number of at least 2.")
    table = open_table(original)
    names = _choose_columns(table, columns)
    first = _read(table, names, rows, words, "The original")
    texts, notes = ((), ()) if columns is not None else _free_text(table.schema, first[0])
    kept = [table.schema[name] for name in names if name not in texts]
    if not kept:
        raise DataError("Every column is free text, which cannot be compared; name columns that hold categories.")
    named = [(f"Synthetic copy {place}", each) for place, each in enumerate(list_copies(synthetic), start=1)]
    named += [] if holdout is None else [("The hold-out", holdout)]
    tables = [first, *(_copy(each, what, kept, rows, words) for what, each in named)]
    coded = [_code_column(column, [each.column(column.name) for each, _ in tables]) for column in kept]
    sheets = tuple(
        Sheet(each.num_rows, total, {field.name: cells[place] for field, cells in coded})
        for place, (each, total) in enumerate(tables)
    )
    end = len(sheets) if holdout is None else -1
    held = None if holdout is None else sheets[-1]
    made = _origin(synthetic)
    fields, notes = tuple(field for field, _ in coded), (*notes, *_note_samples(sheets))
    return Sheets(fields, sheets[0], sheets[1:end], held, notes, made)


def _origin(synthetic: object) -> Origin | None:
    """Return where copies come from: they say it, or their files do."""
    if isinstance(synthetic, Synthetic | WrittenCopies):
        return synthetic.origin
    first = list_copies(synthetic)[0]
    return Origin.from_dict(read_facts(first)) if isinstance(first, str | Path) and Path(first).is_file() else None


def make_generator(source: Source | None) -> np.random.Generator:
    """Return a generator for samples of rows and starts of models."""
    return (secure() if source is None else source).simulation()


def _draw_rows(sheet: Sheet, rows: int, draw: np.random.Generator) -> Sheet:
    return sheet if sheet.rows <= rows else sheet.take(np.sort(draw.choice(sheet.rows, rows, replace=False)))


def _draw_all(sheets: Sequence[Sheet], rows: int, draw: np.random.Generator) -> tuple[Sheet, ...]:
    return tuple(_draw_rows(each, rows, draw) for each in sheets)


def _choose_columns(table: Table, columns: Iterable[str] | str | None) -> tuple[str, ...]:
    if columns is None:
        return table.schema.names
    names = (columns,) if isinstance(columns, str) else tuple(dict.fromkeys(columns))
    if not names:
        raise ParameterError("Name at least one column to compare.")
    return tuple(table.schema[name].name for name in names)


def _copy(given: object, what: str, columns: Sequence[Column], rows: int, source: Source) -> tuple[pa.Table, int]:
    """Read a table as the original's columns; an error says which table it was."""
    try:
        table = given if isinstance(given, Table) else read(given, Schema(tuple(map(_open, columns)), Unit.row()))
        for column in columns:
            _check_same(column, table.schema[column.name])
    except (SchemaError, DataError) as error:
        raise type(error)(f"{what}: {error}") from None
    return _read(table, [column.name for column in columns], rows, source, what)


def _open(column: Column) -> Column:
    """The column without what a copy need not keep to: synthetic whole numbers may have decimals."""
    kind = Kind.REAL if column.kind is Kind.INTEGER else column.kind
    return replace(column, kind=kind, bounds=None, hierarchy=None)


def _check_same(wanted: Column, held: Column) -> None:
    sorts = [("dates" if each.kind is Kind.DATE else "numbers") if each.kind in _NUMBERS else "categories or text"
             for each in (wanted, held)]  # fmt: skip
    if sorts[0] != sorts[1]:
        raise SchemaError(f"Column {wanted.name!r} holds {sorts[1]}, but {sorts[0]} in the original.")


def _read(table: Table, names: Sequence[str], rows: int, source: Source, what: str) -> tuple[pa.Table, int]:
    found, total = sample_rows(table, names, rows, source)
    if total == 0:
        raise DataError(f"{what} has no rows; there is nothing to compare.")
    return found, total


def _free_text(schema: Schema, cells: pa.Table) -> tuple[tuple[str, ...], tuple[str, ...]]:
    limit = max(_FEW, min(_MOST, cells.num_rows // _ROWS_PER_TEXT))
    texts = [column.name for column in schema.columns if column.kind is Kind.TEXT]
    free = tuple(name for name in texts if len(cells.column(name).unique()) > limit)
    return free, tuple(f"Column {name!r} is left out: it is text with more than {limit} values." for name in free)


def _note_samples(sheets: Sequence[Sheet]) -> tuple[str, ...]:
    taken = [each for each in sheets if each.rows < each.total]
    most = max((each.total for each in taken), default=0)
    if not taken:
        return ()
    return (f"Looked at a sample of {count_noun(taken[0].rows, 'row')} of tables of up to {count_noun(most, 'row')}.",)


def _code_column(column: Column, cells: Sequence[pa.ChunkedArray]) -> tuple[SheetField, list[CodedColumn]]:
    return _numbers(column, cells) if column.kind in _NUMBERS else _categories(column, cells)


def _numbers(column: Column, cells: Sequence[pa.ChunkedArray]) -> tuple[SheetField, list[CodedColumn]]:
    codes = (
        [float(code) for code in column.missing if not isinstance(code, str)] if column.kind is not Kind.DATE else []
    )
    labels = (MISSING, *(f"{MISSING} ({code:g})" for code in codes))
    field = SheetField(column.name, column.kind, labels, frozenset(range(1, len(labels) + 1)))
    return field, [_code_numbers(each, codes) for each in cells]


def _code_numbers(cells: pa.ChunkedArray, codes: Sequence[float]) -> CodedColumn:
    values = read_numbers(cells)
    kinds = np.where(np.isfinite(values), 0, 1)
    for place, code in enumerate(codes, start=2):
        kinds[values == code] = place
    values[kinds > 0] = np.nan
    return CodedColumn(kinds.astype(np.int64), len(codes) + 2, values)


def _categories(column: Column, cells: Sequence[pa.ChunkedArray]) -> tuple[SheetField, list[CodedColumn]]:
    coded, values = code_alike([each.cast(pa.string()) for each in cells])
    held = values.to_pylist()
    order = sorted((label for label in held if label is not None), key=_sorting(held))
    places: dict[str | None, int] = {label: place for place, label in enumerate(order)}
    places[None] = len(order)
    codes = {code if isinstance(code, str) else f"{code:.17g}" for code in column.missing}
    absent = frozenset(place for label, place in places.items() if label is None or label in codes)
    field = SheetField(column.name, column.kind, (*order, *([MISSING] if None in held or not order else [])), absent)
    ranks = np.array([places[label] for label in held], dtype=np.int64)
    return field, [CodedColumn(ranks[each], len(field.labels)) for each in coded]


def _sorting(labels: Iterable[str | None]) -> type[int] | type[str]:
    """Whole numbers are put in order as numbers, anything else as text."""
    texts = (each.removeprefix("-") for each in labels if each is not None)
    return int if all(each.isdecimal() and each.isascii() for each in texts) else str

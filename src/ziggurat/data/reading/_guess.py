"""Guess the kinds of the columns of a text file, by looking at every cell."""

from collections.abc import Mapping

import pyarrow as pa
from sqlglot import exp

from ziggurat.data._conversion import reads_as
from ziggurat.data._tally import tally
from ziggurat.data.engines import Engine, table_named
from ziggurat.data.expressions import count_where, is_one_of, only_where, reference
from ziggurat.data.schema import TEXT_CODES, Column, Kind, Schema, cell_reads_as, looks_like
from ziggurat.errors import DataError

_TRIED = (Kind.INTEGER, Kind.REAL, Kind.DATE, Kind.BOOLEAN)
_FIRST_ROWS = 1_000


def guess_schema(engine: Engine, relation: str) -> Schema:
    """Return the narrowest kind that fits every cell of each column.

    A number with leading zeros (a postcode) is text, and only the words true and false are truth values. Marks such
    as "?" and "NA" do not turn a column of numbers into text: they become its missing codes. The first rows tell
    which kinds are possible at all; if there are more, one pass over the file then tests only those.
    """
    first = engine.query(exp.select("*").from_(table_named(relation)).limit(_FIRST_ROWS))
    if any(looks_like(name, Kind.REAL) or looks_like(name, Kind.DATE) for name in first.column_names):
        raise DataError("The first line of the file looks like data; add a header line, or pass a schema.")
    cells = {name: _distinct(column) for name, column in zip(first.column_names, first.columns, strict=True)}
    kinds = {name: _possible(values) for name, values in cells.items()}
    codes = {name: tuple(code for code in TEXT_CODES if code in values) for name, values in cells.items()}
    if first.num_rows == _FIRST_ROWS:
        kinds = _fitting(engine, relation, kinds)
        codes = _codes(engine, relation, [name for name, fitting in kinds.items() if fitting])
    found = {name: _narrowest(fitting) for name, fitting in kinds.items()}
    return Schema(
        tuple(Column(name, kind, missing=() if kind is Kind.TEXT else codes[name]) for name, kind in found.items())
    )


def _distinct(column: pa.ChunkedArray) -> set[str]:
    return {cell for cell in column.unique().to_pylist() if cell is not None and cell.strip(" ")}


def _possible(cells: set[str]) -> tuple[Kind, ...]:
    given = cells.difference(TEXT_CODES)
    return tuple(kind for kind in _TRIED if all(cell_reads_as(cell, kind) for cell in given))


def _narrowest(kinds: tuple[Kind, ...]) -> Kind:
    empty = kinds == _TRIED  # no cell is an integer and a date at once
    return kinds[0] if kinds and not empty else Kind.TEXT


def _fitting(engine: Engine, relation: str, tried: Mapping[str, tuple[Kind, ...]]) -> dict[str, tuple[Kind, ...]]:
    """For each column, those of the kinds tried that fit every filled cell; all of them if no cell is filled."""
    asked = {
        f"{kind} {name}": count_where(reads_as(Column(name, kind, missing=TEXT_CODES)))
        for name, kinds in tried.items()
        for kind in (Kind.TEXT, *kinds)  # text too, so that every cell of the file is read once
    }
    counts = tally(lambda wanted: _ask(engine, relation, wanted), asked)
    return {
        name: tuple(kind for kind in kinds if counts[f"{kind} {name}"] == counts[f"{Kind.TEXT} {name}"])
        for name, kinds in tried.items()
    }


def _codes(engine: Engine, relation: str, names: list[str]) -> dict[str, tuple[str, ...]]:
    """The marks for a missing value that each of these columns holds."""
    marks = [exp.Literal.string(code) for code in TEXT_CODES]
    cells = {name: reference(Column(name, Kind.TEXT)) for name in names}
    marked = {name: only_where(is_one_of(cell, marks), cell) for name, cell in cells.items()}
    asked = {name: exp.ArrayAgg(this=exp.Distinct(expressions=[mark])) for name, mark in marked.items()}
    found = tally(lambda wanted: _ask(engine, relation, wanted), asked)
    return {name: tuple(code for code in TEXT_CODES if code in (values or ())) for name, values in found.items()}


def _ask(engine: Engine, relation: str, wanted: list[exp.Expr]) -> pa.Table:
    return engine.query(exp.select(*wanted, copy=False).from_(table_named(relation), copy=False))

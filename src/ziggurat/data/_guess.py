"""Guess the kinds of the columns of a text file, by looking at every cell."""

from collections.abc import Mapping

from sqlglot import exp

from ziggurat.data._column import Column, Kind
from ziggurat.data._conversion import looks_like, reads_as
from ziggurat.data._expressions import count_where
from ziggurat.data._schema import Schema
from ziggurat.data.engines import Engine
from ziggurat.data.engines._base import table_named
from ziggurat.errors import DataError

_TRIED = (Kind.INTEGER, Kind.REAL, Kind.DATE, Kind.BOOLEAN)
_FIRST_ROWS = 1_000


def guessed_schema(engine: Engine, relation: str) -> Schema:
    """Return the narrowest kind that fits every cell of each column.

    A number with leading zeros (a postcode) is text, and only the words true and false are truth values. The
    first rows tell which kinds are possible at all; one pass over the file then tests only those.
    """
    names = list(engine.columns(relation))
    if any(looks_like(name, Kind.REAL) or looks_like(name, Kind.DATE) for name in names):
        raise DataError("The first line of the file looks like data; add a header line, or pass a schema.")
    rows = exp.select("*").from_(table_named(relation)).limit(_FIRST_ROWS).subquery("first_rows")
    possible = _fitting(engine, rows, dict.fromkeys(names, _TRIED))
    certain = _fitting(engine, table_named(relation), possible)
    return Schema(tuple(Column(name, _narrowest(kinds)) for name, kinds in certain.items()))


def _narrowest(kinds: tuple[Kind, ...]) -> Kind:
    empty = kinds == _TRIED  # no cell is an integer and a date at once
    return kinds[0] if kinds and not empty else Kind.TEXT


def _fitting(engine: Engine, rows: exp.Expr, tried: Mapping[str, tuple[Kind, ...]]) -> dict[str, tuple[Kind, ...]]:
    """For each column, those of the kinds tried that fit every filled cell; all of them if no cell is filled."""
    asked = {
        f"{place}_{kind}": count_where(reads_as(Column(name, kind)))
        for place, (name, kinds) in enumerate(tried.items())
        for kind in (Kind.TEXT, *kinds)
    }
    (counts,) = engine.query(exp.select(*(count.as_(key) for key, count in asked.items())).from_(rows)).to_pylist()
    return {
        name: tuple(kind for kind in kinds if counts[f"{place}_{kind}"] == counts[f"{place}_{Kind.TEXT}"])
        for place, (name, kinds) in enumerate(tried.items())
    }

"""Rows to learn from, and rows that are kept back so that attacks have people to compare with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ziggurat.data import Schema, Table, Unit, read, sample_rows
from ziggurat.data.engines import DuckDBEngine
from ziggurat.errors import DataError
from ziggurat.files import write_text
from ziggurat.randomness import Source, secure, seeded
from ziggurat.release._drafts import check_share

_SEED = "holdout.seed"
_OWNER_ONLY = 0o600
_NOBODY = "Nobody can be kept back from a table of 1 {}; set the hold-out to 0, and attacks have no control."

Truths = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class TableSplit:
    """A table in two parts.

    Attributes
    ----------
    learned
        What is learned from, with the columns that are released.
    control
        People of the same kind whom the model never sees; None if nobody was kept back.
    rows
        How many rows the whole table has.
    coins
        For how many people a coin was tossed; 0 if the parts were not made so.
    """

    learned: Table
    control: Table | None
    rows: int
    coins: int = 0


def schema_of_copies(table: Table, names: Sequence[str]) -> Schema:
    """Return what a file with these columns holds; which person a row is about is not in it."""
    return table.schema.with_unit(Unit.row()).select(names)


def parts_of(
    table: Table, names: Sequence[str], holdout: object, most: int, source: Source, engine: DuckDBEngine
) -> TableSplit:
    """Split a table at random, all rows of a person on one side.

    Parameters
    ----------
    names
        The columns that are released.
    holdout
        The share of people who are kept back, or a table of others; then all are learned from.
    most
        At most so many rows are learned from; of a longer table as many are drawn at random, and the control from the
        others, so that memory does not grow with it.
    """
    schema = schema_of_copies(table, names)
    if isinstance(holdout, Table):
        rows, count = sample_rows(table, names, most, source.child("rows"))
        return TableSplit(_hold(rows, schema, engine), _hold(holdout.raw.rows(names), schema, engine), count)
    share = check_share(holdout)
    unit = table.unit.column
    wanted = names if unit is None or unit in names else (*names, unit)
    rows, count = sample_rows(table, wanted, math.ceil(most / (1 - share)), source.child("rows"))
    if rows.num_rows == 0:
        raise DataError("The table has no rows; there is nothing to learn from.")
    back = _keep_back(rows, unit, table.unit.name, share, source.child("holdout"))
    learned, control = (rows.filter(pa.array(part)).select(names) for part in (~back, back))
    return TableSplit(
        _hold(learned.slice(0, most), schema, engine), _hold(control, schema, engine) if share else None, count
    )


def toss_parts(
    table: Table, names: Sequence[str], holdout: object, source: Source, engine: DuckDBEngine
) -> tuple[Table, TableSplit]:
    """Split a table by a coin for each person, and return what is learned from with and without who it is about.

    Whoever is added or removed is kept back or learned from by a coin of their own, and all others stay where they
    are: parts of neighbouring tables are neighbours, so that a promise about the part holds for the table.
    """
    schema = schema_of_copies(table, names)
    if isinstance(holdout, Table):
        return table, TableSplit(table, _hold(holdout.raw.rows(names), schema, engine), table.raw.count_rows())
    share = check_share(holdout)
    unit = table.unit.column
    rows = table.raw.rows(names if unit is None else (*names, unit))
    whose = np.arange(rows.num_rows) if unit is None else _number_people(rows.column(unit))
    coins = int(whose.max(initial=-1)) + 1
    back = (source.simulation().random(coins) < share)[whose]
    mine, theirs = (rows.filter(pa.array(part)) for part in (~back, back))
    control = _hold(theirs.select(names), schema, engine) if theirs.num_rows else None
    learned = _hold(mine, table.schema.select(names), engine)
    return learned, TableSplit(_hold(mine.select(names), schema, engine), control, rows.num_rows, coins)


def keep_source(folder: str | Path) -> Source:
    """Return the source that splits the table the same way for every run with this folder.

    Who is kept back is all that it decides: what was learned of other rows could not be taken up again.
    """
    path = Path(folder) / _SEED
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            write_text(path, secure().words(4).tobytes().hex(), mode=_OWNER_ONLY)
        return seeded(path.read_text(encoding="ascii"))
    except (OSError, UnicodeDecodeError):
        raise DataError(f"The folder {str(folder)!r} cannot be used for a checkpoint; name another one.") from None


def _keep_back(rows: pa.Table, unit: str | None, title: str, share: float, source: Source) -> Truths:
    if not share:
        return np.zeros(rows.num_rows, np.bool_)
    whose = np.arange(rows.num_rows) if unit is None else _number_people(rows.column(unit))
    people = int(whose.max()) + 1
    if people < 2:
        raise DataError(_NOBODY.format(title))
    chosen = np.zeros(people, np.bool_)
    chosen[source.simulation().permutation(people)[: min(people - 1, max(1, round(share * people)))]] = True
    return np.asarray(chosen[whose])


def _number_people(column: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    coded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    return np.asarray(coded.indices.to_numpy(zero_copy_only=False), np.int64)


def _hold(rows: pa.Table, schema: Schema, engine: DuckDBEngine) -> Table:
    return read(rows, schema, engine=engine, on_bad_cell="missing")

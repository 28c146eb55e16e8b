"""Columns of Parquet files and Arrow tables, past the engine that holds them, text as the codes it is stored as."""

from collections.abc import Sequence
from contextlib import ExitStack

import pyarrow as pa
import pyarrow.types as kinds

MOST_ROWS = 1 << 20
"""More rows than these an engine groups on all cores, and no longer does it matter how long a query is planned."""


def columns_of(held: pa.Table | Sequence[str], names: Sequence[str]) -> pa.Table | None:
    """Return columns of an Arrow table or of Parquet files; None where they could differ from what the engine sees."""
    if isinstance(held, pa.Table):
        return held.select(list(names)) if held.num_rows <= MOST_ROWS and _is_plain(held.schema, names) else None
    return _of_files(held, names)


def _of_files(files: Sequence[str], names: Sequence[str]) -> pa.Table | None:
    from pyarrow.parquet import ParquetFile

    with ExitStack() as stack:
        opened = [stack.enter_context(ParquetFile(file, pre_buffer=False)) for file in files]
        schema = opened[0].schema_arrow
        if sum(each.metadata.num_rows for each in opened) > MOST_ROWS or not _is_plain(schema, names):
            return None
        # A part of a nested column may have the name of another column.
        if any(each.schema_arrow != schema for each in opened) or any(map(kinds.is_nested, schema.types)):
            return None
        wanted = list(names)
        coded = [stack.enter_context(ParquetFile(file, read_dictionary=wanted, pre_buffer=False)) for file in files]
        return pa.concat_tables([each.read(wanted, use_threads=False).select(wanted) for each in coded])


def _is_plain(schema: pa.Schema, names: Sequence[str]) -> bool:
    """Whether an engine has columns of these names and types: of names that differ in case only DuckDB changes one."""
    apart = len({each.lower() for each in schema.names}) == len(schema.names)
    return apart and all(name in schema.names and _is_plain_type(schema.field(name).type) for name in names)


def _is_plain_type(given: pa.DataType) -> bool:
    value = given.value_type if kinds.is_dictionary(given) else given
    return bool(
        kinds.is_integer(value) or kinds.is_boolean(value) or kinds.is_string(value) or kinds.is_large_string(value)
    )

"""PostgreSQL: the same queries in the database where the table already lives."""

import itertools
from collections.abc import Iterator, Sequence
from decimal import Decimal
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa
from sqlglot import exp

from ziggurat.data.engines._base import Engine, finite_cell, keep_lots
from ziggurat.data.engines._canonical import WIDE_INTEGER, canonical
from ziggurat.data.engines._packing import PACKED_BY_SORTING, RowPacking
from ziggurat.errors import EngineError, MissingExtraError

if TYPE_CHECKING:
    from psycopg import Connection

    from ziggurat.randomness import Source

_NUMERIC = 1700
_HASHES_ROWS = 14_00_00  # the version from which a row is hashed without being written out
_BATCH = 50_000
_IN_QUERY = 1_000  # rows of a table of ours that are written into a query; more are lent as a table
# For one transaction: a scan begins at the first row, wherever others are, and nobody helps with it.
_IN_STORED_ORDER = ("SET LOCAL synchronize_seqscans = off", "SET LOCAL max_parallel_workers_per_gather = 0")
_numbers = itertools.count(1)
_LINES = 1 << 22  # bytes of rows that are read together
_COPIED = {pa.bool_(), pa.int64(), pa.float64(), pa.string(), pa.date32()}
# How rows are written that are read as text, whatever the connection was set to.
_PLAIN_TEXT = ("SET LOCAL datestyle = 'ISO'", "SET LOCAL extra_float_digits = 1")
# The numbers PostgreSQL gives its built-in types (catalogue pg_type), which never change.
_ARROW_TYPES = {
    16: pa.bool_(),
    **dict.fromkeys((20, 21, 23, 26), pa.int64()),
    **dict.fromkeys((700, 701), pa.float64()),
    **dict.fromkeys((18, 19, 25, 705, 1042, 1043), pa.string()),
    1009: pa.list_(pa.string()),
    1082: pa.date32(),
    1114: pa.timestamp("us"),
    1184: pa.timestamp("us", tz="UTC"),
}


class PostgresEngine(Engine):
    """A PostgreSQL database, read only but for temporary tables of labels, which go when they were joined.

    The server's own log may quote cells; it is its administrator's to guard. A moment (timestamptz) has its date in
    UTC, over a connection of yours in the time zone of that connection.

    Parameters
    ----------
    connection
        An address such as "postgresql://user@host/database", to which it connects again if the connection was cut; or
        an open psycopg connection, which stays open when the engine is closed.
    """

    dialect: ClassVar[str] = "postgres"
    title: ClassVar[str] = "PostgreSQL"
    computes_again: ClassVar[bool] = True
    gathers_units: ClassVar[bool] = True

    def __init__(self, connection: "str | Connection[Any]") -> None:
        self._address = connection if isinstance(connection, str) else None
        self._connection = _connect(connection) if isinstance(connection, str) else connection
        self._lock = Lock()

    def close(self) -> None:
        """Close the connection if it was opened here."""
        if self._address is not None:
            self._connection.close()

    def _reconnect(self) -> None:
        if self._address is None:
            super()._reconnect()
            return
        with self._lock:
            self._connection.close()
            self._connection = _connect(self._address)

    def _native(self, node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.And) and isinstance(node.expression, exp.Between):
            known, cell = finite_cell(node.this), node.expression.this
            if known is not None and known in (cell, exp.cast(cell, "DOUBLE")):
                # Neither NaN nor infinity lies between two numbers here, and statistics are not asked instead of cells.
                return node.expression.transform(self._native)
        return super()._native(node)

    def _finite(self, cell: exp.Expr) -> exp.Expr:
        # NaN is greater than infinity here. Two comparisons take less time than a list.
        ends = [exp.cast(exp.Literal.string(word), "DOUBLE") for word in ("-Infinity", "Infinity")]
        above = exp.GT(this=cell, expression=ends[0])
        return exp.and_(above, exp.LT(this=cell.copy(), expression=ends[1]), copy=False)

    def _total(self, cell: exp.Expr) -> exp.Expr:
        return exp.Sum(this=cell)  # a numeric, which PostgreSQL adds up in 128 bits

    def _scramble(self, parts: list[exp.Expr]) -> exp.Expr:
        salt, *cells = parts
        row: exp.Expr = exp.Anonymous(this="ROW", expressions=cells)
        if self._connection.info.server_version >= _HASHES_ROWS:
            return exp.Anonymous(this="HASH_RECORD_EXTENDED", expressions=[row, salt])
        return exp.Anonymous(this="HASHTEXTEXTENDED", expressions=[exp.cast(row, "TEXT"), salt])

    def _capture(self, cell: exp.Expr, pattern: exp.Expr) -> exp.Expr:
        return exp.Anonymous(this="SUBSTRING", expressions=[cell, pattern])

    def _in_byte_order(self, cell: exp.Expr) -> exp.Expr:
        return exp.paren(exp.Collate(this=exp.paren(cell), expression=exp.to_identifier("C", quoted=True)))

    @property
    def hands_rows(self) -> bool:
        """Yes: packed by unit, they take less time than to be sorted there."""
        return True

    def hand_over(self, expression: exp.Expr) -> Iterator[pa.Table]:
        """Run a query for rows of units and give its answer packed, all rows of a unit in one piece.

        The server puts rows in the order of a few hundred parts of the units, within the memory that it gives every
        query, and packs each part into one cell, which takes a third of the time that single rows would.
        """
        written = self.statement(expression)
        pieces = self._withheld(lambda: self._pack(written), "Handing over rows")
        while (piece := self._withheld(lambda: next(pieces, None), "Handing over rows")) is not None:
            yield piece

    def _pack(self, statement: str) -> Iterator[pa.Table]:
        with self._lock, self._connection.transaction(), self._connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM ({statement}) AS asked LIMIT 0".encode())  # noqa: S608
            packing = RowPacking(cursor.description or [])
            yield packing.empty
            if not packing.possible:
                return
            for each in PACKED_BY_SORTING:
                cursor.execute(each.encode())
            for found in cursor.stream(packing.wrap(statement).encode(), binary=True):
                yield packing.unpack(found)

    def _fetch(self, statement: str, first: Sequence[str] = ()) -> pa.Table:
        with self._lock, self._connection.transaction(), self._connection.cursor() as cursor:
            for each in first:
                cursor.execute(each.encode())
            cursor.execute(statement.encode())
            return _table(cursor.fetchall(), cursor.description or [])

    def _stream(self, statement: str) -> Iterator[pa.Table]:
        with self._lock, self._connection.transaction():
            with self._connection.cursor() as cursor:
                cursor.execute(f"SELECT * FROM ({statement}) AS asked LIMIT 0".encode())  # noqa: S608
                shape = _table([], cursor.description or []).schema
            yield from self._copy(statement, shape) if set(shape.types) <= _COPIED else self._scroll(statement)

    def _scroll(self, statement: str) -> Iterator[pa.Table]:
        with self._connection.cursor(f"ziggurat_{next(_numbers)}") as cursor:
            cursor.execute(statement.encode())
            while rows := cursor.fetchmany(_BATCH):
                yield _table(rows, cursor.description or [])

    def _copy(self, statement: str, shape: pa.Schema) -> Iterator[pa.Table]:
        """Rows as the server writes them: Python looks at none of their cells, which takes a third of the time."""
        with self._connection.cursor() as cursor:
            for each in _PLAIN_TEXT:
                cursor.execute(each.encode())
            lines = bytearray()
            with cursor.copy(f"COPY ({statement}) TO STDOUT (FORMAT csv, ENCODING 'UTF8')".encode()) as copy:
                for block in copy:
                    lines += block
                    if len(lines) >= _LINES and _is_whole(lines):
                        yield _read_lines(bytes(lines), shape)
                        lines.clear()
            if lines:
                yield _read_lines(bytes(lines), shape)

    def draw_rows(self, expression: exp.Expr, count: int, limit: int, source: "Source") -> pa.Table:
        """Return rows of a query's answer, drawn at random without replacement: every set of `limit` is equally likely.

        PostgreSQL draws a lot for each row, in the order in which it stores them.
        """
        from ziggurat.data.engines._drawing import draw_by_lot

        def draw(seed: int, share: float) -> pa.Table:
            written = self.statement(keep_lots(expression, exp.Anonymous(this="RANDOM"), share))
            first = (*_IN_STORED_ORDER, f"SELECT SETSEED({(seed >> 10) / 2**53!r})")
            return self._withheld(lambda: canonical(self._fetch(written, first)), "Drawing rows")

        return draw_by_lot(draw, count, limit, source)

    def lend(self, table: pa.Table) -> exp.Expr:
        """Return a table of ours as it stands in the FROM of a query of this engine.

        A short one is one array a column, written into the query. A long one is a temporary table, which only this
        connection sees; where none may be made (a stand-by server, a login without that right), arrays too.
        """
        made = self._make_temporary(table) if table.num_rows > _IN_QUERY else None
        return _unnest(table) if made is None else made

    def take_back(self, lent: exp.Expr) -> None:
        """Forget a table that was lent, once no query needs it any more."""
        if isinstance(lent, exp.Table):
            statement = f"DROP TABLE IF EXISTS {lent.sql(dialect=self.dialect)}"
            self._withheld(lambda: self._fetch_nothing(statement), "Taking back a table")

    def _make_temporary(self, table: pa.Table) -> exp.Table | None:
        import psycopg

        made = exp.table_(f"ziggurat_lent_{next(_numbers)}", db="pg_temp", quoted=True)
        name = made.sql(dialect=self.dialect)
        fields = [
            f"{exp.to_identifier(each.name, quoted=True).sql(dialect=self.dialect)} {_type_name(each.type)}"
            for each in table.schema
        ]
        try:
            self._fetch_nothing(f"CREATE TEMPORARY TABLE {name} ({', '.join(fields)})", (name, table))
        except psycopg.Error:
            return None
        return made

    def _fetch_nothing(self, statement: str, filled: tuple[str, pa.Table] | None = None) -> None:
        """Change what is temporary; all else stays read only, and so does the next transaction."""
        with self._lock, self._connection.transaction(), self._connection.cursor() as cursor:
            cursor.execute(b"SET TRANSACTION READ WRITE")
            cursor.execute(statement.encode())
            if filled is not None:
                name, table = filled
                with cursor.copy(f"COPY {name} FROM STDIN (FORMAT csv, ENCODING 'UTF8')".encode()) as copy:
                    for piece in table.to_batches(_BATCH):
                        copy.write(_write_lines(piece))
                cursor.execute(f"ANALYZE {name}".encode())


def _table(rows: Sequence[tuple[Any, ...]], described: Sequence[Any]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(described)
    arrays = [_array(values, column) for values, column in zip(columns, described, strict=True)]
    return pa.Table.from_arrays(arrays, names=[column.name for column in described])


def _is_whole(lines: bytearray) -> bool:
    """Whether text ends where a row does: after a line break that is in no quotation marks."""
    return lines.endswith(b"\n") and lines.count(b'"') % 2 == 0


def _read_lines(lines: bytes, shape: pa.Schema) -> pa.Table:
    """Rows as COPY writes them: NULL is nothing at all, and text of no length two quotation marks."""
    from pyarrow import csv

    names = [str(place) for place in range(len(shape))]
    reading = csv.ReadOptions(column_names=names, block_size=len(lines) + 1, use_threads=False)
    parsing = csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False)
    converting = csv.ConvertOptions(
        column_types=dict(zip(names, shape.types, strict=True)),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        true_values=["t"],
        false_values=["f"],
    )
    return csv.read_csv(pa.BufferReader(lines), reading, parsing, converting).rename_columns(shape.names)


def _unnest(table: pa.Table) -> exp.Unnest:
    arrays = [
        exp.cast(exp.Literal.string(_write_array(column)), f"{_type_name(column.type)}[]") for column in table.columns
    ]
    columns = [exp.to_identifier(name, quoted=True) for name in table.column_names]
    alias = exp.TableAlias(this=exp.to_identifier("lent", quoted=True), columns=columns)
    return exp.Unnest(expressions=arrays, alias=alias)


def _write_lines(piece: pa.RecordBatch) -> bytes:
    """Rows as COPY reads them: Arrow puts every text in quotation marks, and leaves NULL without."""
    from pyarrow.csv import WriteOptions, write_csv

    lines = pa.BufferOutputStream()
    write_csv(piece, lines, WriteOptions(include_header=False))
    return lines.getvalue().to_pybytes()  # type: ignore[no-any-return]


def _write_array(column: pa.ChunkedArray) -> str:
    """A column as PostgreSQL writes an array, every cell in quotation marks."""
    cells = column.cast(pa.string()).to_pylist()
    return "{" + ",".join("NULL" if cell is None else _quote(cell) for cell in cells) + "}"


def _quote(cell: str) -> str:
    escaped = cell.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _type_name(given: pa.DataType) -> str:
    names = {pa.int64(): "BIGINT", pa.float64(): "DOUBLE PRECISION", pa.bool_(): "BOOLEAN", pa.date32(): "DATE"}
    return names.get(given, "TEXT")


def _connect(address: str) -> "Connection[Any]":
    try:
        import psycopg
    except ImportError:
        raise MissingExtraError("PostgreSQL needs psycopg; add it with: pip install 'ziggurat[postgres]'.") from None
    failed = False
    try:
        connection = psycopg.connect(address, autocommit=True)
        connection.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY")
        connection.execute("SET TIME ZONE 'UTC'")
    except psycopg.Error:
        failed = True
    if failed:  # outside the handler: psycopg's message repeats parts of the address
        raise EngineError(
            "The PostgreSQL server could not be reached or refused the login; "
            "check the host, port, database, user and password of the address."
        )
    return connection


def _array(values: tuple[Any, ...], column: Any) -> pa.Array:
    if column.type_code == _NUMERIC:
        return _numerics(values, column.scale)
    known = _ARROW_TYPES.get(column.type_code)
    if known is not None:
        return pa.array(values, known)
    if all(value is None or isinstance(value, str) for value in values) and not _is_built_in(column.type_code):
        return pa.array(values, pa.string())  # an enumeration or a domain of somebody's own
    return pa.array([None if value is None else str(value).encode() for value in values], pa.binary())


def _is_built_in(type_code: int) -> bool:
    return type_code < 16384  # FirstNormalObjectId: what users create is numbered from here


def _numerics(values: tuple[Decimal | None, ...], scale: int | None) -> pa.Array:
    # A numeric without a declared scale (SUM of bigint, say) is whole if no value carries a fraction part.
    whole = scale == 0 or (scale is None and not any(_has_fraction(value) for value in values))
    if not whole:
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    return pa.array(values, WIDE_INTEGER)


def _has_fraction(value: Decimal | None) -> bool:
    return value is not None and (not value.is_finite() or int(value.as_tuple().exponent) < 0)

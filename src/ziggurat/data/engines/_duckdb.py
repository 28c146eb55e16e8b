"""DuckDB in the process: the default engine."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar

import duckdb
import pyarrow as pa
import pyarrow.ipc as ipc
from sqlglot import exp

from ziggurat.data.engines._base import Engine, table_named
from ziggurat.data.engines._columns import columns_of
from ziggurat.data.engines._database_file import DatabaseTable, show_table
from ziggurat.data.engines._file_names import Mark, files_named, literal, mark
from ziggurat.data.engines._incoming import check_texts, prepare_batches, prepare_table, replacements
from ziggurat.data.engines._private_folder import private_folder
from ziggurat.data.engines._spreadsheet_cells import unmark_sql
from ziggurat.data.engines.texts import TEXT_SUFFIXES, LoadedText, is_text_file, open_texts
from ziggurat.data.schema import FileLayout
from ziggurat.errors import DataError

_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    # No extension is fetched from the network, and no Python variable is read because a table shares its name.
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}
_BATCH = 1 << 17
_ARROW_SUFFIXES = (".arrow", ".feather")
FILE_SUFFIXES = (*TEXT_SUFFIXES, ".parquet", *_ARROW_SUFFIXES)


def is_dataset(data: object) -> bool:
    """Return whether an object is an Arrow dataset, without importing them (which imports pandas)."""
    return type(data).__module__ == "pyarrow._dataset"


class _DuckDB(Engine):
    """What holds for every DuckDB connection."""

    dialect: ClassVar[str] = "duckdb"
    title: ClassVar[str] = "DuckDB"
    wide: ClassVar[str] = "INT128"  # twice as fast as its decimals
    knows_extremes: ClassVar[bool] = True

    def _native(self, node: exp.Expr) -> exp.Expr:
        # DuckDB adds up integers of 64 bits in 128 on its own, and faster than integers of 128 bits.
        if (
            isinstance(node, exp.Sum)
            and isinstance(node.this, exp.Cast)
            and node.this.to.this is exp.DataType.Type.INT128
        ):
            return exp.Sum(this=node.this.this.transform(self._native))
        return super()._native(node)

    def _finite(self, cell: exp.Expr) -> exp.Expr:
        # The one test that DuckDB 2.0 does not decide from the statistics of a file: see `is_finite`.
        return exp.Anonymous(this="ISFINITE", expressions=[cell])

    def _total(self, cell: exp.Expr) -> exp.Expr:
        return exp.Sum(this=cell)  # which is of 128 bits

    def _scramble(self, parts: list[exp.Expr]) -> exp.Expr:
        return exp.Anonymous(this="HASH", expressions=parts)

    def _in_byte_order(self, cell: exp.Expr) -> exp.Expr:
        # A column or a connection may have been told that texts which differ in case or accents are the same.
        return exp.paren(exp.Collate(this=exp.paren(cell), expression=exp.to_identifier("C", quoted=True)))


class DuckDBEngine(_DuckDB):
    """DuckDB in this process: files, frames and Arrow tables, larger than memory if need be.

    Parameters
    ----------
    connection
        An open DuckDB connection to use; by default a private in-memory database.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection | None = None) -> None:
        self._owned = connection is None
        self._connection = _private() if connection is None else connection
        self._lock = Lock()
        self._numbers = itertools.count(1)
        self._sealed: dict[str, Mark] = {}
        self._texts: dict[str, LoadedText] = {}
        self._columns: dict[str, pa.Table | list[str]] = {}

    @property
    def hands_rows(self) -> bool:
        """Yes: the engine is in this process."""
        return True

    def confine(self, folder: Path, memory: str) -> None:
        """Read files of one folder alone from now on, and use no more memory; no query can undo it.

        Parameters
        ----------
        folder
            Where files are that may be read.
        memory
            Such as "2GB"; what needs more goes to the private folder of this process.
        """
        allowed = ", ".join("'" + str(each).replace("'", "''") + "'" for each in (folder, private_folder()))
        said = memory.replace("'", "''")
        for setting in (
            f"allowed_directories = [{allowed}]", f"memory_limit = '{said}'", "enable_external_access = false",
            "lock_configuration = true",
        ):  # fmt: skip
            change = partial(self._alone, self._connection.execute, f"SET {setting}")
            self._withheld(change, "Confining the engine")

    def attach(self, data: object, layout: FileLayout | None = None) -> str:
        """Make a file (CSV, TSV, Parquet, Arrow), an Arrow table, dataset or reader visible to queries.

        The cells of a CSV or TSV file are text here; a schema says what to read them as. With a layout, even one that
        says nothing, a text file may be of any common habit; without, it is of the one kind that we write.
        """
        name = self.name_for_later()
        if isinstance(data, str | Path):
            self._attach_file(str(data), name, layout)
        elif isinstance(data, pa.Table):
            table = prepare_table(data)
            self._withheld(lambda: self._alone(self._connection.register, name, table), "Attaching an Arrow table")
            self._columns[name] = table
        elif is_dataset(data):
            self._withheld(lambda: self._attach_dataset(data, name), "Attaching an Arrow dataset")
        elif isinstance(data, DatabaseTable):
            self._withheld(lambda: self._attach_database(data, name), f"Reading the file {data.path!r}")
        elif isinstance(data, pa.RecordBatchReader):
            self._withheld(lambda: self._consume(data, name), "Reading the record batches")
        else:
            raise DataError(f"DuckDB cannot attach a {type(data).__name__}; pass a file or an Arrow table.")
        return name

    def name_for_later(self) -> str:
        """Give a name that `show` will give a meaning."""
        return f"ziggurat_{next(self._numbers)}"

    def show(self, name: str, expression: exp.Expr) -> None:
        """Let a name stand for a query, in every query from now on."""
        statement = f'CREATE VIEW "{name}" AS {self.statement(exp.select("*").from_(expression))}'
        self._withheld(lambda: self._alone(self._connection.execute, statement), "Opening the table")

    def ready(self) -> None:
        """Make sure that the engine lives, and that every file is the one that was opened and checked."""
        super().ready()
        _require_same(self._sealed)

    def columns(self, relation: str) -> dict[str, pa.DataType]:
        """Return the engine's own type of each column of a relation, as Arrow types."""
        text = self._texts.get(relation)  # a table of our own, all of text: nothing needs to be asked
        return super().columns(relation) if text is None else dict.fromkeys(text.header.names, pa.string())

    def query(self, expression: exp.Expr, statement: str = "") -> pa.Table:
        """Run a query and return its answer in canonical Arrow types, the same on every engine."""
        answer = super().query(expression, statement)
        _require_same(self._sealed)
        return answer

    def batches(self, expression: exp.Expr) -> Iterator[pa.RecordBatch]:
        """Run a query and give its answer piece by piece, in canonical Arrow types."""
        yield from super().batches(expression)
        _require_same(self._sealed)

    def pieces(self, expression: exp.Expr) -> Iterator[pa.Table]:
        """Run a query and give its answer piece by piece, in the engine's own Arrow types."""
        yield from super().pieces(expression)
        _require_same(self._sealed)

    def hand_over(self, expression: exp.Expr) -> Iterator[pa.Table]:
        """Run a query for rows of units; the first piece has none, and tells the types though no row may follow."""
        statement = f"SELECT * FROM ({self.statement(expression)}) AS asked LIMIT 0"  # noqa: S608
        yield self._withheld(lambda: self._fetch(statement), "Handing over rows")
        yield from self.pieces(expression)

    def at_hand(self, relation: str, names: Sequence[str]) -> pa.Table | None:
        """Return columns of Arrow tables and Parquet files of moderate size, text as codes where it is held so."""
        found = self._columns.get(relation)
        if found is None:
            return None
        answer = self._withheld(lambda: columns_of(found, names), "Reading columns")
        _require_same(self._sealed)
        return answer

    def layout(self, relation: str) -> FileLayout | None:
        """Return what was told or found out of the text file behind a relation; None if there is nothing to say."""
        return self._texts[relation].layout if relation in self._texts else None

    def notes(self, relation: str) -> tuple[str, ...]:
        """Return how the text file behind a relation was read, in sentences."""
        return self._texts[relation].notes if relation in self._texts else ()

    def lines(self, relation: str, condition: exp.Expr, most: int) -> list[str]:
        """Return at which lines of a text file the first rows stand that meet a condition, in words."""
        if relation not in self._texts or not self._one("SELECT current_setting('preserve_insertion_order')"):
            return []
        row = exp.column("rowid", quoted=True)
        query = (
            exp.select(row.as_("row")).from_(table_named(relation)).where(condition).order_by(row.copy()).limit(most)
        )
        return [self._texts[relation].line(each) for each in self.query(query).column("row").to_pylist()]

    def _one(self, statement: str) -> Any:
        """The only cell of an answer."""
        return self._fetch(statement).column(0)[0].as_py()

    def close(self) -> None:
        """Close the private database; a connection that was handed in stays open."""
        if self._owned:
            self._connection.close()

    def _alone(self, change: Callable[..., object], *given: object) -> None:
        """Change something of the connection while nobody else uses it: it serves one thread at a time."""
        with self._lock:
            change(*given)

    def _ping(self) -> None:
        with self._lock:
            self._connection.execute("SELECT 1").fetchall()

    def _fetch(self, statement: str) -> pa.Table:
        # DuckDB runs one query per connection at a time, on all cores.
        with self._lock:
            return self._connection.sql(statement).to_arrow_table()

    def _stream(self, statement: str) -> Iterator[pa.Table]:
        # Another query on the connection would end this one, so others wait until the answer has been read.
        with self._lock:
            for batch in self._connection.sql(statement).to_arrow_reader(_BATCH):
                yield pa.Table.from_batches([batch])

    def lend(self, table: pa.Table) -> exp.Expr:
        """Return a small table of ours as it stands in the FROM of a query of this engine."""
        return exp.table_(self.attach(table), quoted=True)

    def take_back(self, lent: exp.Expr) -> None:
        """Forget a table that was lent, once no query needs it any more."""
        with self._lock:
            self._connection.unregister(lent.name)
            self._columns.pop(lent.name, None)

    def _attach_file(self, path: str, name: str, layout: FileLayout | None) -> None:
        if Path(path).is_dir():
            raise DataError(f"{path!r} is a folder; name the files in it, such as {path + '/*' + Path(path).suffix!r}.")
        files = files_named(path) or [path]
        marks = {file: mark(file) for file in files}
        if is_text_file(path):
            self._load_text(path, files, name, layout)
        elif path.lower().endswith((".parquet", *_ARROW_SUFFIXES)):
            self._withheld(lambda: self._view_of(files, name), f"Reading the file {path!r}")
            self._sealed |= marks
        elif path.lower().endswith((".zip", ".gz")):
            raise DataError(
                f"The name of the file {path!r} must say what is packed in it: call it {_name_packed(path)!r} if that "
                "is CSV, or unpack it."
            )
        else:
            raise DataError(
                f"The file {path!r} has no known ending; use one of {', '.join(FILE_SUFFIXES)}, or one of Excel, "
                "Stata, SPSS, SAS, R, JSON lines, SQLite or DuckDB."
            )
        _require_same(marks)

    def _load_text(self, path: str, files: list[str], name: str, layout: FileLayout | None) -> None:
        """Check the lines of text files, and keep exactly what was checked: questions read no file again."""
        text = open_texts(files, layout)
        try:
            self._withheld(lambda: self._alone(self._text_table, text, name), f"Reading the file {path!r}")
        finally:
            text.forget_copies()
        rows = self._one(f'SELECT COUNT(*) FROM "{name}"')  # noqa: S608
        if rows != text.records:
            raise DataError(
                f"DuckDB finds {rows:,} rows in the {text.records:,} of {path!r}; write the file as Parquet."
            )
        self._texts[name] = text

    def _text_table(self, text: LoadedText, name: str) -> None:
        # No sniffer: with it and an explicit strict_mode, DuckDB 2.0.0 finds no row in a file of CR LF lines.
        header = text.header
        named: Any = [literal(file) for file in text.copies]
        relation = self._connection.read_csv(
            named,
            auto_detect=False,
            columns=dict.fromkeys(header.names, "VARCHAR"),
            header=True,
            skiprows=header.skipped,
            sep=header.delimiter,
            quotechar='"',
            escapechar='"',
            strict_mode=True,
            hive_partitioning=False,
        )
        if text.apostrophes:
            cells = ['"' + each.replace('"', '""') + '"' for each in header.names]
            relation = relation.project(", ".join(f"{unmark_sql(cell)} AS {cell}" for cell in cells))
        relation.create_view(f"{name}_lines")
        self._connection.execute(f'CREATE TEMP TABLE "{name}" AS FROM "{name}_lines"')
        self._connection.execute(f'DROP VIEW "{name}_lines"')

    def _view_of(self, files: list[str], name: str) -> None:
        """See files of Parquet or Arrow without loading them, once every cell has been read."""
        named = [literal(file) for file in files]
        if files[0].lower().endswith(".parquet"):
            from pyarrow.parquet import read_schema

            with self._lock:
                relation = self._connection.read_parquet(named, hive_partitioning=False)
                _describe(relation, read_schema(named[0])).create_view(name)
            self._columns[name] = named
        else:
            self._arrow_view(named, name)
        self._read_whole(name)

    def _dataset_view(self, dataset: Any, name: str) -> None:
        check_texts(dataset)
        held = f"{name}_dataset"
        with self._lock:
            self._connection.register(held, dataset)
            _describe(self._connection.table(held), dataset.schema).create_view(name)

    def _attach_dataset(self, dataset: Any, name: str) -> None:
        marks = {file: mark(file) for file in getattr(dataset, "files", ())}
        self._dataset_view(dataset, name)
        self._read_whole(name)
        self._sealed |= marks

    def _attach_database(self, held: DatabaseTable, name: str) -> None:
        known = mark(held.path)
        self._alone(show_table, self._connection, held, name)
        self._read_whole(name)
        self._sealed[held.path] = known

    def _read_whole(self, name: str) -> None:
        # A damaged page must stop who opens the file, not who has paid; a hash needs every cell.
        self._one(f'SELECT BIT_XOR(HASH(every)) FROM "{name}" AS every')  # noqa: S608

    def _arrow_view(self, files: list[str], name: str) -> None:
        try:
            from pyarrow.dataset import dataset

            self._dataset_view(dataset(files, format="ipc"), name)
        except pa.ArrowInvalid:  # the stream format, which cannot be scanned twice
            if len(files) > 1:
                raise
            with pa.OSFile(files[0]) as file, ipc.open_stream(file) as reader:
                self._consume(reader, name)

    def _consume(self, reader: pa.RecordBatchReader, name: str) -> None:
        # A reader yields its rows once; a table of our own answers more than one query.
        staged = f"{name}_reader"
        with self._lock:
            self._connection.register(staged, prepare_batches(reader))
            self._connection.table(staged).create(name)
            self._connection.unregister(staged)


def _private() -> duckdb.DuckDBPyConnection:
    # What does not fit into memory goes to a folder that nobody else can read, instead of the folder one works in.
    spill = {"temp_directory": str(private_folder())}
    connection = duckdb.connect(":memory:", config={**_SETTINGS, **spill})
    # The zone in which a moment of unknown zone has a date; DuckDB would take that of the machine.
    connection.sql("SET TimeZone = 'UTC'")
    return connection


def _require_same(marks: Mapping[str, Mark]) -> None:
    for file, known in list(marks.items()):  # another thread may open a file meanwhile
        if mark(file) != known:
            raise DataError(f"The file {file!r} changed since it was opened; open it again.")


def _describe(relation: duckdb.DuckDBPyRelation, schema: pa.Schema) -> duckdb.DuckDBPyRelation:
    """The relation with what Arrow knows of its columns and DuckDB does not."""
    replaced = [f'{sql} AS "{name.replace(chr(34), chr(34) * 2)}"' for name, sql in replacements(schema).items()]
    return relation.project(f"* REPLACE ({', '.join(replaced)})") if replaced else relation


class DuckDBRelationEngine(_DuckDB):
    """A DuckDB relation, queried in the connection it belongs to, without a copy.

    Parameters
    ----------
    relation
        What `connection.sql(...)` or `connection.table(...)` returned.
    """

    relation_name: ClassVar[str] = "ziggurat_relation"

    def __init__(self, relation: duckdb.DuckDBPyRelation) -> None:
        self._relation = relation
        self._lock = Lock()

    def close(self) -> None:
        """Do nothing: the connection belongs to whoever made the relation."""

    def _fetch(self, statement: str) -> pa.Table:
        with self._lock:
            answer: Any = self._relation.query(self.relation_name, statement)
            return answer.to_arrow_table()


def _name_packed(path: str) -> str:
    """What a packed table would be called, such as table.csv.zip."""
    return str(Path(path).with_suffix(f".csv{Path(path).suffix}"))

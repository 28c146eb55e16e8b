"""Apache Spark: the same queries over a cluster."""

import itertools
import logging
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa
from sqlglot import exp

from ziggurat.data.engines._base import Engine, keep_lots
from ziggurat.data.engines._canonical import canonical
from ziggurat.data.engines._file_names import files_named
from ziggurat.data.engines._incoming import prepare_table
from ziggurat.data.engines.spark import OpenedSession, open_session
from ziggurat.data.schema import FileLayout
from ziggurat.errors import DataError, EngineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ziggurat.randomness import Source

_numbers = itertools.count(1)
_BATCH = 50_000


class SparkEngine(Engine):
    """A Spark session: yours, that of the process, or one that is opened here and stops when the engine is closed.

    Spark's own logs may quote cells. A session opened here writes none; for a session of yours, and for the server of
    Spark Connect, log level and log files are yours to guard. Moments have their dates in the session's time zone.

    Parameters
    ----------
    session
        An open session, of Spark or of Spark Connect, with `spark.sql.ansi.enabled` on (Spark 4's default): without
        it Spark turns overflows into NULL, and a sum would be silently wrong. Or where to open one: a master such as
        "local[4]" or "spark://host:7077", or the server "sc://host:15002". By default the session that the process
        has, or else one where `ZIGGURAT_SPARK`, spark-submit or `SPARK_REMOTE` says, or else on this machine.
    """

    dialect: ClassVar[str] = "spark"
    title: ClassVar[str] = "Spark"

    def __init__(self, session: "SparkSession | str | None" = None) -> None:
        is_given = session is not None and not isinstance(session, str)
        opened = OpenedSession(session, False) if is_given else open_session(str(session or ""))
        self._session, self._owned = opened.session, opened.owned
        if str(self._session.conf.get("spark.sql.ansi.enabled")).lower() != "true":
            raise EngineError("This Spark session hides overflows; set spark.sql.ansi.enabled to true.")

    def attach(self, data: object, layout: FileLayout | None = None) -> str:  # noqa: ARG002 - it reads no text files
        """Make a Spark DataFrame, an Arrow table or a Parquet file visible to queries."""
        name = f"ziggurat_{next(_numbers)}"
        if isinstance(data, pa.Table):
            table = canonical(prepare_table(data))
            frame = self._withheld(lambda: self._session.createDataFrame(table), "Attaching an Arrow table")
        elif isinstance(data, str | Path):
            frame = self._parquet(str(data))
        else:
            frame = data
        if not hasattr(frame, "createOrReplaceTempView"):
            raise DataError(f"Spark cannot attach a {type(data).__name__}; pass a Spark DataFrame.")
        frame.createOrReplaceTempView(name)
        return name

    def close(self) -> None:
        """Stop the session if it was opened here."""
        if self._owned:
            self._session.stop()

    def _fetch(self, statement: str) -> pa.Table:
        with _quiet_logs():
            return self._session.sql(statement).toArrow()

    def _stream(self, statement: str) -> Iterator[pa.Table]:
        with _quiet_logs():
            frame = self._session.sql(statement)
            rows = frame.toLocalIterator(prefetchPartitions=True)
            empty = frame.limit(0).toArrow()
        while True:
            with _quiet_logs():
                batch = list(itertools.islice(rows, _BATCH))
            if not batch:
                return
            cells = zip(zip(*batch, strict=True), empty.schema.types, strict=True)
            yield pa.Table.from_arrays([pa.array(each, kind) for each, kind in cells], schema=empty.schema)

    def draw_rows(self, expression: exp.Expr, count: int, limit: int, source: "Source") -> pa.Table:
        """Return rows of a query's answer, drawn at random without replacement: every set of `limit` is equally likely.

        Spark draws a lot for each row; a partition draws its own, from the seed and its number.
        """
        from ziggurat.data.engines._drawing import draw_by_lot

        def draw(seed: int, share: float) -> pa.Table:
            lot = exp.Anonymous(this="RAND", expressions=[exp.Literal.number(seed)])
            return self.query(keep_lots(expression, lot, share))

        return draw_by_lot(draw, count, limit, source)

    def lend(self, table: pa.Table) -> exp.Expr:
        """Return a small table of ours as it stands in the FROM of a query of this engine."""
        return exp.table_(self.attach(table), quoted=True)

    def take_back(self, lent: exp.Expr) -> None:
        """Forget a table that was lent, once no query needs it any more."""
        self._session.catalog.dropTempView(lent.name)

    def _finite(self, cell: exp.Expr) -> exp.Expr:
        # Spark pushes `x IN (NaN)` into the Parquet reader, which skips by statistics; it does not push ISNAN.
        infinite = [exp.cast(exp.Literal.string(word), "DOUBLE") for word in ("Infinity", "-Infinity")]
        number = exp.not_(exp.IsNan(this=cell), copy=False)
        return exp.and_(number, exp.not_(exp.In(this=cell.copy(), expressions=infinite), copy=False), copy=False)

    def _scramble(self, parts: list[exp.Expr]) -> exp.Expr:
        return exp.Anonymous(this="XXHASH64", expressions=parts)

    def _parquet(self, path: str) -> Any:
        if not path.lower().endswith(".parquet"):
            raise DataError(f"Spark reads Parquet files here, not {path!r}; pass a Spark DataFrame instead.")
        # Spark takes these characters for a pattern unless a backslash stands before them.
        files = [re.sub(r"([\\*?\[\]{}])", r"\\\1", file) for file in files_named(path) or [path]]
        return self._withheld(lambda: self._session.read.parquet(*files), f"Reading the file {path!r}")


class _Quiet(logging.Filter):
    """Drops what a thread logs while it runs a query of ours."""

    def __init__(self) -> None:
        super().__init__()
        self.here = threading.local()

    def filter(self, record: logging.LogRecord) -> bool:  # noqa: ARG002
        return not getattr(self.here, "quiet", False)


_quiet = _Quiet()


@contextmanager
def _quiet_logs() -> Iterator[None]:
    # PySpark logs a failed query with the engine's message, cells included, before it raises.
    from pyspark.logger import PySparkLogger

    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).addFilter(_quiet)
    _quiet.here.quiet = True
    try:
        yield
    finally:
        _quiet.here.quiet = False

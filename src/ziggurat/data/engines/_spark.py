"""Apache Spark: the same queries over a cluster."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa
from sqlglot import exp

from ziggurat.data.engines._base import Engine, keep_lots
from ziggurat.data.engines._canonical import canonical
from ziggurat.data.engines._incoming import prepare_table
from ziggurat.data.engines.spark import (
    SPARK_ENDINGS,
    OpenedSession,
    SparkFiles,
    open_files,
    open_session,
    quiet_logs,
    write_frame,
)
from ziggurat.data.schema import FileLayout
from ziggurat.errors import DataError, EngineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ziggurat.randomness import Source

_numbers = itertools.count(1)
_BATCH = 50_000
_LIMB = 21  # bits


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
    writes: ClassVar[tuple[str, ...]] = SPARK_ENDINGS
    most_parts: ClassVar[int] = 12
    handed_at_once: ClassVar[int] = 2**27  # they lie in the driver's heap until they are here

    def __init__(self, session: "SparkSession | str | None" = None) -> None:
        is_given = session is not None and not isinstance(session, str)
        opened = OpenedSession(session, False) if is_given else open_session(str(session or ""))
        self._session, self._owned = opened.session, opened.owned
        self._files: dict[str, SparkFiles] = {}
        if str(self._session.conf.get("spark.sql.ansi.enabled")).lower() != "true":
            raise EngineError("This Spark session hides overflows; set spark.sql.ansi.enabled to true.")

    def attach(self, data: object, layout: FileLayout | None = None) -> str:
        """Make a Spark DataFrame, an Arrow table, or files or a folder of Parquet or CSV visible to queries.

        Files are read where they are, by the workers, and so must be where these see them. They are checked whole here;
        parts of a path such as `year=2020` are columns. The cells of CSV files are text.
        """
        name = self.name_for_later()
        if isinstance(data, pa.Table):
            table = canonical(prepare_table(data))
            frame = self._withheld(lambda: self._session.createDataFrame(table), "Attaching an Arrow table")
        elif isinstance(data, str | Path):
            opened = open_files(self._session, str(data), layout)
            frame, self._files[name] = opened.frame, opened
        else:
            frame = data
        if not hasattr(frame, "createOrReplaceTempView"):
            raise DataError(f"Spark cannot attach a {type(data).__name__}; pass a Spark DataFrame.")
        frame.createOrReplaceTempView(name)
        return name

    @property
    def spread(self) -> bool:
        """Whether several machines do the work; a local session is this machine alone."""
        return not str(self._session.conf.get("spark.master", "local")).startswith("local")

    @property
    def hands_rows(self) -> bool:
        """Whether all work is done on this machine; a cluster sorts where its rows are."""
        return not self.spread

    def hand_over(self, expression: exp.Expr) -> Iterator[pa.Table]:
        """Run a query for rows of units and give its answer at once: Spark sends columns so, and single rows else."""
        statement = self.statement(expression)
        yield self._withheld(lambda: self._fetch(statement), "Handing over rows")

    def name_for_later(self) -> str:
        """Give a name that `show` will give a meaning."""
        return f"ziggurat_{next(_numbers)}"

    def show(self, name: str, expression: exp.Expr) -> None:
        """Let a name stand for a query, in every query from now on."""
        statement = self.statement(exp.select("*").from_(expression))
        self._withheld(lambda: self._session.sql(statement).createOrReplaceTempView(name), "Opening the table")

    def ready(self) -> None:
        """Make sure that Spark lives, and that every file is the one that was opened and checked."""
        super().ready()
        for opened in self._files.values():
            opened.seal.check(self._session)

    def layout(self, relation: str) -> FileLayout | None:
        """Return what was told or found out of the text files behind a relation; None if there is nothing to say."""
        return self._files[relation].layout if relation in self._files else None

    def notes(self, relation: str) -> tuple[str, ...]:
        """Return how the files behind a relation were read, in sentences."""
        return self._files[relation].notes if relation in self._files else ()

    def close(self) -> None:
        """Stop the session if it was opened here."""
        if self._owned:
            self._session.stop()

    def _fetch(self, statement: str) -> pa.Table:
        with quiet_logs():
            return self._session.sql(statement).toArrow()

    def _stream(self, statement: str) -> Iterator[pa.Table]:
        with quiet_logs():
            frame = self._session.sql(statement)
            rows = frame.toLocalIterator(prefetchPartitions=True)
            empty = frame.limit(0).toArrow()
        while True:
            with quiet_logs():
                batch = list(itertools.islice(rows, _BATCH))
            if not batch:
                return
            cells = zip(zip(*batch, strict=True), empty.schema.types, strict=True)
            yield pa.Table.from_arrays([pa.array(each, kind) for each, kind in cells], schema=empty.schema)

    def write_rows(
        self, expression: exp.Expr, folder: Path, ending: str, *, weight: str, salt: int, one: bool
    ) -> tuple[int, int]:
        """Let Spark write a query's answer to parts in a folder, which its workers must share with this machine."""
        statement = self.statement(expression)

        def work() -> tuple[int, int]:
            with quiet_logs():
                frame = self._session.sql(statement)
                return write_frame(frame, folder, ending, weight=weight, salt=salt, one=one)

        return self._withheld(work, "Writing rows")

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

    def _total(self, cell: exp.Expr) -> exp.Expr:
        """Sum 22 high, 21 middle and 21 low bits apart: 2**41 rows do not overflow, and no cell becomes a decimal."""
        high = exp.Anonymous(this="SHIFTRIGHT", expressions=[cell, exp.Literal.number(2 * _LIMB)])
        middle = exp.Anonymous(this="SHIFTRIGHT", expressions=[cell.copy(), exp.Literal.number(_LIMB)])
        limbs = [high, _keep_low(middle), _keep_low(cell.copy())]
        sums = [exp.cast(exp.Sum(this=each), self.wide) for each in limbs]
        scaled = [
            exp.Mul(this=each, expression=exp.Literal.number(1 << (_LIMB * place)))
            for each, place in zip(sums, (2, 1, 0), strict=True)
        ]
        return exp.paren(exp.Add(this=exp.Add(this=scaled[0], expression=scaled[1]), expression=scaled[2]))

    def _scramble(self, parts: list[exp.Expr]) -> exp.Expr:
        return exp.Anonymous(this="XXHASH64", expressions=parts)


def _keep_low(cell: exp.Expr) -> exp.Expr:
    return exp.paren(exp.BitwiseAnd(this=cell, expression=exp.Literal.number((1 << _LIMB) - 1)))

"""What an engine is: something that answers a relational query with an Arrow table."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar, Self, TypeVar

import pyarrow as pa
from sqlglot import exp

from ziggurat.data.engines._canonical import canonical
from ziggurat.data.schema import FileLayout
from ziggurat.errors import DataError, EngineError

if TYPE_CHECKING:
    from ziggurat.randomness import Source

WIDE = "INT128"
"""The type, in a query, of integers that may need more than 64 bits; each engine has its own word for it."""

_FINITE, _SCRAMBLED, _CAPTURED, _BYTES = "FINITE_REAL", "SCRAMBLED", "CAPTURED", "BYTE_ORDER"
_TOTAL = "EXACT_TOTAL"

_Result = TypeVar("_Result")


class Engine(ABC):
    """A database that holds tables and answers queries about them.

    An engine adds `_fetch` (run a statement, answer in Arrow) and `close`, and `attach` if it can take in
    data from outside. Its errors never show what the database said, because that may quote cells.
    """

    dialect: ClassVar[str]
    title: ClassVar[str]
    wide: ClassVar[str] = "DECIMAL(38, 0)"
    writes: ClassVar[tuple[str, ...]] = ()  # the endings of files that `write_rows` writes
    computes_again: ClassVar[bool] = False
    """Whether a cell that two aggregates of a query read is computed for each of them."""
    knows_extremes: ClassVar[bool] = False
    """Whether it takes next to nothing to find that no cell of a column is beyond a bound."""
    gathers_units: ClassVar[bool] = False
    """Whether `hand_over` gives all rows of one unit in one piece."""
    most_parts: ClassVar[int] = 1 << 20
    """In how many parts, at most, rows are handed over before it is better not to; each is a scan."""
    handed_at_once: ClassVar[int] = 2**29
    """How many bytes of rows are handed over at once, at most."""

    @abstractmethod
    def _fetch(self, statement: str) -> pa.Table:
        """Run one statement in this engine's dialect; any exception is withheld by the caller."""

    @property
    def spread(self) -> bool:
        """Whether several machines do the work, so that what one of them could read is better read by all."""
        return False

    @property
    def hands_rows(self) -> bool:
        """Whether rows of numbers reach this process sooner than the engine would have sorted them."""
        return False

    @abstractmethod
    def close(self) -> None:
        """Release what the engine opened itself; what was handed to it stays open."""

    def ready(self) -> None:
        """Make sure that the engine lives, and connect to it again where that is ours to do; no table is read.

        Raises
        ------
        EngineError
            If it does not answer.
        DataError
            If a file is no longer the one that was opened and checked.
        """
        try:
            self._ping()
            return
        except Exception:  # noqa: BLE001, S110  (whatever it said about a connection that is gone)
            pass
        self._reconnect()

    def _ping(self) -> None:
        """Ask for something that needs no table; any exception says that the engine is gone."""
        self._fetch("SELECT 1 AS alive")

    def _reconnect(self) -> None:
        """Reach the engine again, or say that it cannot be reached from here."""
        raise EngineError(f"{self.title} does not answer any more; connect again and open the table anew.")

    def attach(self, data: object, layout: FileLayout | None = None) -> str:  # noqa: ARG002
        """Make outside data visible to queries and return the name of the relation.

        Parameters
        ----------
        data
            A file, a frame or an Arrow table; which of them depends on the engine.
        layout
            What was told of a text file, which may then be of any common habit; None for the one kind that we write.
        """
        raise DataError(f"{self.title} reads only tables that it holds; name one with table=.")

    def at_hand(self, relation: str, names: Sequence[str]) -> pa.Table | None:  # noqa: ARG002
        """Return columns row by row if that takes next to nothing, text as codes where it is held so; else None.

        Parameters
        ----------
        relation
            What `attach` returned.
        names
            Which columns. They have the types of their Arrow array or file, not the canonical ones.
        """
        return None

    def layout(self, relation: str) -> FileLayout | None:  # noqa: ARG002
        """Return what was told or found out of the text file behind a relation; None if there is nothing to say."""
        return None

    def notes(self, relation: str) -> tuple[str, ...]:  # noqa: ARG002
        """Return how the file behind a relation was read, in sentences for the steward."""
        return ()

    def lines(self, relation: str, condition: exp.Expr, most: int) -> list[str]:  # noqa: ARG002
        """Return at which lines of their file the first rows stand that meet a condition; nothing if rows have none.

        Parameters
        ----------
        relation
            What `attach` returned.
        condition
            About the columns as the engine holds them.
        most
            Of how many rows.
        """
        return []

    def query(self, expression: exp.Expr, statement: str = "") -> pa.Table:
        """Run a query and return its answer in canonical Arrow types, the same on every engine.

        Parameters
        ----------
        expression
            A sqlglot expression; it is written in the engine's dialect with every name quoted.
        statement
            What `statement` gave for it, if that is known already.
        """
        written = statement or self.statement(expression)
        return self._withheld(lambda: canonical(self._fetch(written)), lambda: _operation(expression))

    def batches(self, expression: exp.Expr) -> Iterator[pa.RecordBatch]:
        """Run a query and give its answer piece by piece, in canonical Arrow types, so that it need not fit in memory.

        Parameters
        ----------
        expression
            A sqlglot expression, as for `query`.
        """
        written = self.statement(expression)
        pieces = self._withheld(lambda: self._stream(written), lambda: _operation(expression))
        while True:
            piece = self._withheld(lambda: next(pieces, None), lambda: _operation(expression))
            if piece is None:
                return
            yield from canonical(piece).to_batches()

    def pieces(self, expression: exp.Expr) -> Iterator[pa.Table]:
        """Run a query and give its answer piece by piece, in the engine's own Arrow types.

        Parameters
        ----------
        expression
            A sqlglot expression, as for `query`.
        """
        written = self.statement(expression)
        found = self._withheld(lambda: self._stream(written), lambda: _operation(expression))
        while (piece := self._withheld(lambda: next(found, None), lambda: _operation(expression))) is not None:
            yield piece

    def hand_over(self, expression: exp.Expr) -> Iterator[pa.Table]:
        """Run a query for rows of units and give its answer piece by piece, in types that tell units apart.

        Parameters
        ----------
        expression
            A sqlglot expression, as for `query`. Its first column is the unit, the others are whole numbers, and none
            of it is NULL. There is a piece even where there is no row: types must not tell whether there is one.
        """
        return self.pieces(expression)

    def _stream(self, statement: str) -> Iterator[pa.Table]:
        """Run one statement and give its answer piece by piece; an engine that cannot gives it whole."""
        return iter([self._fetch(statement)])

    def write_rows(
        self,
        expression: exp.Expr,  # noqa: ARG002
        folder: Path,  # noqa: ARG002
        ending: str,
        *,
        weight: str,  # noqa: ARG002
        salt: int,  # noqa: ARG002
        one: bool,  # noqa: ARG002
    ) -> tuple[int, int]:
        """Write a query's answer to parts of a table in a folder, so that no row leaves the engine in any other way.

        Only an engine whose `writes` names the ending does; of others `batches` are written. Rows stand in an order
        that depends on nothing but their cells and the salt. Returned are how many rows were written, and the sum of
        their weights, by which the caller sees that they are those that were meant.

        Parameters
        ----------
        expression
            A sqlglot expression, as for `query`.
        folder
            Where to put the parts: a new folder that nobody else looks into.
        ending
            Of the parts, which says how they are written.
        weight
            The column of whole numbers that is summed up and not written.
        salt
            What decides the order.
        one
            Whether there shall be one part only.
        """
        raise DataError(f"{self.title} does not write files ending in {ending}.")

    def draw_rows(self, expression: exp.Expr, count: int, limit: int, source: "Source") -> pa.Table:
        """Return rows of a query's answer, drawn at random without replacement: every set of `limit` is equally likely.

        From a seeded source they are the same again if the engine reads what it holds in the same order. Here rows are
        drawn as they pass by, which is right in this process; an engine elsewhere draws them itself.

        Parameters
        ----------
        expression
            A sqlglot expression, as for `query`.
        count
            How many rows the answer has.
        limit
            How many to draw, at most `count`.
        source
            Where the draw comes from.
        """
        from ziggurat.data.engines._drawing import draw_by_place

        return draw_by_place(self.batches(expression), count, limit, source)

    def lend(self, table: pa.Table) -> exp.Expr:
        """Return a small table of ours as it stands in the FROM of a query of this engine.

        Parameters
        ----------
        table
            Columns of whole numbers, reals, truth values, dates or text.
        """
        rows = [tuple(_literal(value) for value in row.values()) for row in table.to_pylist()]
        if not rows:
            nothing = [exp.Null().as_(name, quoted=True) for name in table.column_names]
            return exp.select(*nothing).where(exp.false()).subquery("lent")
        values = exp.Values(expressions=[exp.Tuple(expressions=list(row)) for row in rows])
        columns = [exp.to_identifier(name, quoted=True) for name in table.column_names]
        return exp.Values(
            expressions=values.expressions,
            alias=exp.TableAlias(this=exp.to_identifier("lent", quoted=True), columns=columns),
        )

    def take_back(self, lent: exp.Expr) -> None:  # noqa: B027 - what stands in the query itself needs no taking back
        """Forget a table that was lent, once no query needs it any more.

        Parameters
        ----------
        lent
            What `lend` returned.
        """

    def statement(self, expression: exp.Expr) -> str:
        """Return a query as this engine is asked it, in its own dialect."""
        native = expression.transform(self._native)  # a copy, so that it may be written without another
        return native.sql(dialect=self.dialect, copy=False, identify=True)

    def columns(self, relation: str) -> dict[str, pa.DataType]:
        """Return the engine's own type of each column of a relation, as Arrow types."""
        probe = exp.select("*").from_(table_named(relation)).limit(0)
        statement = probe.sql(dialect=self.dialect, identify=True)
        answer = self._withheld(lambda: self._fetch(statement), f"Opening the table {relation!r}")
        return dict(zip(answer.column_names, answer.schema.types, strict=True))

    def _native(self, node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.DataType) and node.this is exp.DataType.Type.INT128:
            return exp.DataType.build(self.wide)
        if isinstance(node, exp.Anonymous) and node.this == _FINITE:
            return exp.paren(self._finite(node.expressions[0].transform(self._native)), copy=False)
        if isinstance(node, exp.Anonymous) and node.this == _SCRAMBLED:
            return self._scramble([each.transform(self._native) for each in node.expressions])
        if isinstance(node, exp.Anonymous) and node.this == _CAPTURED:
            cell, pattern = node.expressions
            return self._capture(cell.transform(self._native), pattern)
        if isinstance(node, exp.Anonymous) and node.this == _BYTES:
            return self._in_byte_order(node.expressions[0].transform(self._native))
        if isinstance(node, exp.Anonymous) and node.this == _TOTAL:
            return self._total(exp.cast(node.expressions[0].transform(self._native), "BIGINT"))
        return node

    def _total(self, cell: exp.Expr) -> exp.Expr:
        """Return the sum of whole numbers of 64 bits, exact however many they are; NULL if there are none."""
        return exp.Sum(this=exp.cast(cell, self.wide))

    def _capture(self, cell: exp.Expr, pattern: exp.Expr) -> exp.Expr:
        """Return what the only group of a pattern matches in a cell; nothing or NULL where it does not."""
        return exp.Anonymous(this="REGEXP_EXTRACT", expressions=[cell, pattern, exp.Literal.number(1)])

    @abstractmethod
    def _scramble(self, parts: list[exp.Expr]) -> exp.Expr:
        """Return a 64-bit number that is a fixed function of `parts`, spread as if it were drawn at random."""

    def _finite(self, cell: exp.Expr) -> exp.Expr:
        """Return the condition that a real cell is neither NaN nor infinite, as this engine evaluates it soundly."""
        odd = [exp.cast(exp.Literal.string(word), "DOUBLE") for word in ("NaN", "Infinity", "-Infinity")]
        return exp.not_(exp.In(this=cell, expressions=odd), copy=False)

    def _in_byte_order(self, cell: exp.Expr) -> exp.Expr:
        """Return a cell of text such that ORDER BY compares its bytes; most engines do that anyway."""
        return cell

    def _withheld(self, work: Callable[[], _Result], operation: str | Callable[[], str]) -> _Result:
        try:
            return work()
        except DataError:  # our own, which quotes no cell
            raise
        except Exception as error:  # noqa: BLE001  (drivers raise what they like, and may quote cells)
            reason = type(error).__name__
        # Raised outside the handler, so that not even __context__ leads to the engine's own message.
        named = operation if isinstance(operation, str) else operation()
        raise EngineError(
            f"{named} failed in {self.title} ({reason}); its own message is withheld because it may quote cells."
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


def is_finite(cell: exp.Expr) -> exp.Expr:
    """Return the condition that a real cell is a number: neither NaN nor infinite; NULL for NULL.

    Comparisons will not do. The statistics of a Parquet file leave NaN out, and DuckDB 2.0 decides from them,
    without looking at a cell, that `x <= 10`, `x BETWEEN ...` and even `NOT isnan(x)` hold everywhere. So every
    engine has its own word for this condition, which the contract suite holds against such files.
    """
    return exp.Anonymous(this=_FINITE, expressions=[cell])


def finite_cell(condition: exp.Expr) -> exp.Expr | None:
    """Return the cell that `is_finite` gave this very condition for; None if it is another one."""
    bare = condition.unnest()
    return bare.expressions[0] if isinstance(bare, exp.Anonymous) and bare.this == _FINITE else None


def captured(cell: exp.Expr, pattern: str) -> exp.Expr:
    """Return what the only group of a pattern matches in a cell of text; nothing or NULL where it does not match."""
    return exp.Anonymous(this=_CAPTURED, expressions=[cell, exp.Literal.string(pattern)])


def scramble(parts: Sequence[exp.Expr], salt: int) -> exp.Expr:
    """Return a number that depends on nothing but `parts` and `salt`, and orders rows as if by lot.

    A lot drawn by the engine's own RANDOM() would depend on which rows came before, so that one person's rows could
    decide which of another's are kept. This one is a function of the row alone, for every salt.
    """
    return exp.Anonymous(this=_SCRAMBLED, expressions=[exp.Literal.number(salt), *parts])


def exact_total(cell: exp.Expr) -> exp.Expr:
    """Return the sum of whole numbers that fit into 64 bits, exact however many they are; NULL if there are none.

    Engines differ in what they add up quickly without losing a digit, so each has its own way.
    """
    return exp.Anonymous(this=_TOTAL, expressions=[cell])


def in_byte_order(cell: exp.Expr) -> exp.Expr:
    """Return a cell of text that ORDER BY puts in the same place on every engine, whatever language it is set to."""
    return exp.Anonymous(this=_BYTES, expressions=[cell])


def keep_lots(expression: exp.Expr, lot: exp.Expr, share: float) -> exp.Select:
    """Return a query for those rows of another's answer whose lot, drawn by the engine for each, is below a share."""
    drawn = exp.LT(this=lot, expression=exp.Literal.number(repr(share)))
    return exp.select("*").from_(exp.Subquery(this=expression, alias=exp.TableAlias(this="asked"))).where(drawn)


def table_named(relation: str) -> exp.Table:
    """Return the table that `relation` names, as "table", "schema.table" or "catalog.schema.table"."""
    parts = relation.split(".")
    if not all(parts) or len(parts) > 3:
        raise DataError(f"{relation!r} is not the name of a table; write 'table' or 'schema.table'.")
    catalog, schema, table = [None, None, *parts][-3:]
    return exp.table_(table, db=schema, catalog=catalog, quoted=True)


def _literal(value: object) -> exp.Expr:
    if isinstance(value, date):
        return exp.cast(exp.Literal.string(value.isoformat()), "DATE")
    return exp.convert(value)


def _operation(expression: exp.Expr) -> str:
    names = sorted({column.name for column in expression.find_all(exp.Column) if column.name})
    if not names:
        return "A query"
    listed = ", ".join(repr(name) for name in names[:5]) + (", ..." if len(names) > 5 else "")
    return f"A query over column {listed}" if len(names) == 1 else f"A query over columns {listed}"

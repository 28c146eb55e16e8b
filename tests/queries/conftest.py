"""A table of nasty rows, in every engine."""

import datetime
import itertools
import math
import random
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest

from ziggurat.data import Bounds, Categories, Column, Kind, Schema, Table, Unit
from ziggurat.data.engines import DuckDBEngine, Engine, PostgresEngine, SparkEngine

SECRET_TEXT, SECRET_NUMBER = "Xyzzy-4711-plugh", 8675309421
_names = itertools.count(1)
_POSTGRES_TYPES = {
    pa.int64(): "bigint",
    pa.float64(): "double precision",
    pa.string(): "text",
    pa.bool_(): "boolean",
    pa.date32(): "date",
}
_DAY = datetime.date
_CELLS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "id": (pa.int64(), []),
    "who": (pa.string(), ["p1", "p1", "p2", "p3", "p3", "p3", None, "?"]),
    "n": (pa.int64(), [0, 1, -1, 100, -100, 7, None, 2**63 - 1, -(2**63), -99, 50, 3]),
    "m": (pa.int64(), [0, 3, 10, None, 1, 11, -5, 7, 2]),
    "big": (pa.int64(), [2**63 - 1, -(2**63), 0, None, 1, -1, 2**53 + 1, SECRET_NUMBER]),
    "x": (
        pa.float64(),
        [0.0, -0.0, 1.5, -1e3, 1e3, 1e308, -1e308, math.nan, math.inf, -math.inf, None, 5e-324, -2.5, 0.1, 1e-200],
    ),
    "y": (pa.float64(), [0.0, 1.0, 0.5, 5e-324, 1e-160, math.nan, None, 2.0, -1.0, 0.3, 1e-300]),
    "w": (pa.float64(), [1e308, -1e308, 0.0, 5e-324, math.nan, math.inf, None, 2.5, -3.5, 1e17, 4503599627370497.5]),
    "c": (pa.string(), ["a", "b", "C d", "zz", None, "?", "", SECRET_TEXT]),
    "k": (pa.int64(), [1, 2, 3, 4, None, -8]),
    "t": (
        pa.string(),
        ["", "a", " Ab c ", "ÄÖ ß", None, "?", "100%", "a_b", "日本語テキスト", "x\\y", "it's", SECRET_TEXT],
    ),
    "d": (
        pa.date32(),
        [_DAY(1, 1, 1), _DAY(9999, 12, 31), None, _DAY(2020, 2, 29), _DAY(1970, 1, 1), _DAY(1969, 12, 31)],
    ),
    "e": (
        pa.date32(),
        [_DAY(2019, 12, 31), _DAY(2020, 1, 1), _DAY(2021, 6, 15), None, _DAY(2022, 1, 1), _DAY(2030, 5, 5)],
    ),
    "f": (pa.bool_(), [True, False, None]),
}  # fmt: skip
ROWS = 60


def nasty_rows() -> pa.Table:
    """Every cell of every column beside different cells of the others."""
    columns = {}
    for name, (kind, cells) in _CELLS.items():
        held = [place if name == "id" else cells[(place * (1 + len(name))) % len(cells)] for place in range(ROWS)]
        columns[name] = pa.array(held, kind, from_pandas=False)
    return pa.table(columns)


def nasty_schema(unit: Unit | None = None) -> Schema:
    """Bounds, categories and missing codes of the nasty rows."""
    columns = (
        Column("id", Kind.INTEGER, bounds=Bounds(0, ROWS)),
        Column("who", Kind.TEXT, "identifier", missing=("?",)),
        Column("n", Kind.INTEGER, bounds=Bounds(-100, 100), missing=(-99,)),
        Column("m", Kind.INTEGER, bounds=Bounds(0, 10)),
        Column("big", Kind.INTEGER),
        Column("x", Kind.REAL, bounds=Bounds(-1000, 1000)),
        Column("y", Kind.REAL, bounds=Bounds(0, 1)),
        Column("w", Kind.REAL),
        Column("c", Kind.CATEGORY, categories=Categories(("a", "b", "C d")), missing=("?",)),
        Column("k", Kind.CATEGORY, categories=Categories((1, 2, 3)), missing=(-8,)),
        Column("t", Kind.TEXT, missing=("?",)),
        Column("d", Kind.DATE),
        Column("e", Kind.DATE, bounds=Bounds(_DAY(2020, 1, 1), _DAY(2021, 12, 31))),
        Column("f", Kind.BOOLEAN),
    )
    return Schema(columns, unit or Unit.person("who"))


Load = Callable[[pa.Table], tuple[Engine, str]]


@pytest.fixture(
    params=[
        "duckdb",
        pytest.param("spark", marks=pytest.mark.spark),
        pytest.param("postgres", marks=pytest.mark.postgres),
    ]
)
def load(request: pytest.FixtureRequest) -> Iterator[Load]:
    """Put an Arrow table into an engine; the engine and the name of the relation."""
    if request.param == "postgres":
        uri = request.getfixturevalue("postgres_uri")
        with PostgresEngine(uri) as engine:
            yield lambda table: (engine, _into_postgres(uri, table))
        return
    engine = DuckDBEngine() if request.param == "duckdb" else SparkEngine(request.getfixturevalue("spark_session"))
    with engine:
        yield lambda table: (engine, engine.attach(table))


@pytest.fixture
def nasty_everywhere(load: Load) -> Table:
    """The nasty rows in each engine in turn."""
    engine, name = load(nasty_rows())
    return Table(engine, name, nasty_schema())


@pytest.fixture(scope="session")
def nasty() -> Table:
    """The nasty rows in DuckDB."""
    engine = DuckDBEngine()
    return Table(engine, engine.attach(nasty_rows()), nasty_schema())


@pytest.fixture(scope="session")
def nasty_by_row() -> Table:
    """The nasty rows, each about somebody else."""
    engine = DuckDBEngine()
    return Table(engine, engine.attach(nasty_rows()), nasty_schema(Unit.row()))


@pytest.fixture(scope="session")
def secrets() -> tuple[str, str]:
    """What stands in the nasty rows and must stand in no message."""
    return SECRET_TEXT, str(SECRET_NUMBER)


def _into_postgres(uri: str, table: pa.Table) -> str:
    import psycopg

    name = f"questions_{next(_names)}"
    fields = ", ".join(f'"{field.name}" {_POSTGRES_TYPES[field.type]}' for field in table.schema)
    with psycopg.connect(uri, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(f'CREATE TABLE "{name}" ({fields})')
        with cursor.copy(f'COPY "{name}" FROM STDIN') as copy:
            for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
                copy.write_row(row)
    return name


class Grammar:
    """Writes SQL at random: mostly well-formed, sometimes of the wrong kind, and garbage on demand."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def one(self, *choices: str) -> str:
        return self.random.choice(choices)

    def number(self, depth: int) -> str:
        if depth <= 0:
            return self.one("n", "m", "x", "y", "k", "w", "big", "0", "1", "-3", "2.5", "1e3", "1e-12", "id")
        a, b = self.number(depth - 1), self.number(depth - 1)
        return self.one(
            f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} / {b})", f"({a} % {b})", f"-({a})",
            f"ABS({a})", f"SIGN({a})", f"FLOOR({a})", f"CEIL({a})", f"ROUND({a}, {self.one('0', '1', '-1', '3')})",
            f"SQRT({a})", f"LN({a})", f"LOG10({a})", f"EXP({a})",
            f"POWER({a}, {self.one('2', '3', '0.5', '-1', '-2')})",
            f"CLAMP({a}, -10, 10)", f"LEAST({a}, {b})", f"GREATEST({a}, {b})", f"COALESCE({a}, {b})",
            f"NULLIF({a}, {b})", f"BIN({a}, {self.one('1', '5', '0.5')})", f"BUCKET({a}, 0, 10, 4)",
            f"CASE WHEN {self.condition(depth - 1)} THEN {a} ELSE {b} END", f"LENGTH({self.text(depth - 1)})",
            f"YEAR({self.day(depth - 1)})", f"({self.day(depth - 1)} - {self.day(depth - 1)})",
            f"CAST({a} AS DOUBLE)", f"IF({self.condition(depth - 1)}, {a}, {b})",
        )  # fmt: skip

    def text(self, depth: int) -> str:
        if depth <= 0:
            return self.one("c", "t", "'a'", "'b'", "''", "'C d'")
        a, b = self.text(depth - 1), self.text(depth - 1)
        return self.one(
            f"LOWER({a})", f"UPPER({a})", f"TRIM({a})", f"SUBSTRING({a}, 1, 2)", f"({a} || {b})", f"COALESCE({a}, {b})",
            f"CASE WHEN {self.condition(depth - 1)} THEN {a} ELSE {b} END", f"CAST({self.one('k', 'm', 'n')} AS TEXT)",
        )  # fmt: skip

    def day(self, depth: int) -> str:
        if depth <= 0:
            return self.one("d", "e", "DATE '2020-02-29'")
        return self.one(
            f"({self.day(0)} + INTERVAL 3 DAY)", f"CLAMP({self.day(0)}, DATE '2000-01-01', DATE '2020-01-01')"
        )

    def condition(self, depth: int) -> str:
        if depth <= 0:
            return self.one(
                "f", "n > 5", "c = 'a'", "c <> 'b'", "c IN ('a', 'b')", "k = 2", "x < 0.5", "t LIKE 'a%'", "t IS NULL",
                "e >= DATE '2020-06-01'", "n BETWEEN -1 AND 7", "c IS NOT NULL", "TRUE", "NOT f", "y = 0",
            )  # fmt: skip
        a, b = self.condition(depth - 1), self.condition(depth - 1)
        operator = self.one("=", "<>", "<", ">", "<=", ">=")
        return self.one(
            f"({a} AND {b})", f"({a} OR {b})", f"NOT ({a})", f"({a}) IS TRUE",
            f"{self.number(depth - 1)} {operator} {self.number(depth - 1)}",
            f"{self.text(depth - 1)} = {self.text(depth - 1)}", f"{self.number(depth - 1)} IS NULL",
        )  # fmt: skip

    def aggregate(self) -> str:
        number, depth = self.number(self.random.randint(0, 2)), 1
        call = self.one(
            "COUNT(*)", "COUNT(DISTINCT who)", f"COUNT({number})", f"COUNT(DISTINCT {self.text(depth)})",
            f"SUM({number})", f"AVG({number})", f"SUM(CLAMP({number}, 0, 1))", f"VAR_POP({number})",
            f"STDDEV({number})",
            f"MEDIAN({number})", f"QUANTILE({number}, 0.9)", f"MODE({self.one('c', 'k', 'm')})", "TOP_K(c, 2)",
            f"COUNT_IF({self.condition(1)})", f"MAX({number})", f"SUM({self.condition(0)})", "SUM(total)",
        )  # fmt: skip
        return call if self.random.random() < 0.8 else f"{call} FILTER (WHERE {self.condition(1)})"

    def source(self) -> str:
        per_unit = f"SELECT who, SUM({self.number(1)}) AS total, COUNT(*) AS n FROM people GROUP BY who"
        return self.one(
            "people", "people", "people AS p",
            f"(SELECT *, {self.number(1)} AS z FROM people WHERE {self.condition(1)}) AS s",
            f"({per_unit}) AS s", "people JOIN places ON people.k = places.k", "people LEFT JOIN places USING (k)",
            "people JOIN others ON people.who = others.who", "people JOIN others ON people.n = others.n",
        )  # fmt: skip

    def question(self) -> str:
        keys = [self.one("c", "k", "BIN(n, 10)", "f", "YEAR(e)", self.number(1), self.text(1), "t", "who", "label")
                for _ in range(self.random.choice([0, 0, 1, 2]))]  # fmt: skip
        chosen = [f"{key} AS key{place}" for place, key in enumerate(keys)]
        chosen += [f"{self.aggregate()} AS a{place}" for place in range(self.random.randint(1, 3))]
        parts = [f"SELECT {', '.join(chosen)} FROM {self.source()}"]
        parts += [f"WHERE {self.condition(2)}"] if self.random.random() < 0.6 else []
        parts += [f"GROUP BY {', '.join(keys)}"] if keys else []
        parts += [
            self.one("HAVING a0 > 3", "HAVING COUNT(*) > 1", "ORDER BY a0 DESC", "ORDER BY 1 LIMIT 3", "LIMIT 2", "")
        ]
        return " ".join(parts)

    def garbage(self, sql: str) -> str:
        words = sql.split(" ")
        for _ in range(self.random.randint(1, 4)):
            place = self.random.randrange(len(words))
            words[place] = self.one(
                "", "(", ")", "SELECT", "FROM", "UNION SELECT 1", ";", "'", "--", "*", "who", "NULL", "DISTINCT",
                "OVER ()", "read_csv('/etc/passwd')", "EXISTS (SELECT 1 FROM people)", "1/0", words[place] * 2,
                "CAST(t AS BIGINT)",
                "(SELECT MAX(t) FROM people)", "\0", "🜁", "x::DATE", "9" * 30, "t || t", "LIMIT ALL", "[1]", "$$",
            )  # fmt: skip
        return " ".join(words)


@pytest.fixture(scope="session")
def grammar() -> type[Grammar]:
    """Writes SQL at random, from a seed."""
    return Grammar

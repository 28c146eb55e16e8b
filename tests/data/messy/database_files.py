"""Files that hold databases, and JSON lines."""

import json
import sqlite3
from pathlib import Path
from typing import Any

from messy_file import Make, MessyFile, as_rows, day, write_text

_PEOPLE = "create table people (id integer, age integer); insert into people values (1, 34), (2, 71);"
_VISITS = "create table visits (person integer, day text); insert into visits values (1, '2024-03-12');"
_PEOPLE_ROWS = as_rows("id age", (1, 34), (2, 71))


def run_sqlite(script: str) -> Make:
    """Return what writes a SQLite file by a script."""

    def make(path: Path) -> None:
        connection = sqlite3.connect(path)
        connection.executescript(script)
        connection.close()

    return make


def run_duckdb(script: str) -> Make:
    """Return what writes a DuckDB file by a script."""

    def make(path: Path) -> None:
        import duckdb

        with duckdb.connect(str(path)) as connection:
            connection.execute(script)

    return make


def write_lines(*objects: Any) -> Make:
    """Return what writes JSON lines."""
    return write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in objects))


FILES = (
    MessyFile(
        "one_table.sqlite",
        "An app keeps its one table in SQLite.",
        run_sqlite(_PEOPLE),
        rows=_PEOPLE_ROWS,
        kinds={"id": "integer", "age": "integer"},
    ),
    MessyFile(
        "two_tables.sqlite",
        "A SQLite file has two tables, and nobody says which.",
        run_sqlite(_PEOPLE + _VISITS),
        refused="(?i)(?=.*people)(?=.*visits)(?=.*table)",
    ),
    MessyFile(
        "two_tables_told.db",
        "A SQLite file named .db has two tables, and one is told.",
        run_sqlite(_PEOPLE + _VISITS),
        {"table": "visits"},
        rows=as_rows("person day", (1, day("2024-03-12"))),
        kinds={"day": "date"},
    ),
    MessyFile(
        "no_such_table.sqlite",
        "A table is told that the SQLite file does not have.",
        run_sqlite(_PEOPLE + _VISITS),
        {"table": "visit"},
        refused="visits",
    ),
    MessyFile(
        "everything_text.sqlite",
        "A program stores every cell of SQLite as text, with decimal commas and German dates.",
        run_sqlite(
            "create table t (kosten text, geboren text);"
            "insert into t values ('1.250,50 €', '31.12.1980'), ('86,80 €', '01.02.1955'), ('-', null);"
        ),
        rows=as_rows("kosten geboren", (1250.5, day("1980-12-31")), (86.8, day("1955-02-01")), (None, None)),
        kinds={"kosten": "real", "geboren": "date"},
    ),
    MessyFile(
        "mixed_cells.sqlite",
        "SQLite lets a column of numbers hold a word.",
        run_sqlite("create table t (id integer, dose real); insert into t values (1, 2.5), (2, 'NA'), (3, 4);"),
        rows=as_rows("id dose", (1, 2.5), (2, None), (3, 4.0)),
        kinds={"dose": "real"},
    ),
    MessyFile(
        "no_tables.sqlite",
        "A SQLite file was made and never filled.",
        run_sqlite("create table t (a); drop table t;"),
        refused="(?i)no table",
    ),
    MessyFile(
        "one_table.duckdb",
        "An analyst hands over a DuckDB file with money as decimals.",
        run_duckdb("create table t as select 1 as id, 12.50::decimal(9, 2) as cost, date '2024-03-12' as seen"),
        rows=as_rows("id cost seen", (1, 12.5, day("2024-03-12"))),
        kinds={"id": "integer", "cost": "real", "seen": "date"},
    ),
    MessyFile(
        "two_tables.duckdb",
        "A DuckDB file has two tables, and nobody says which.",
        run_duckdb("create table people (id int); create table visits (id int)"),
        refused="(?i)(?=.*people)(?=.*visits)(?=.*table)",
    ),
    MessyFile(
        "missing_keys.jsonl",
        "An interface leaves keys out where it knows nothing.",
        write_lines({"id": 1, "age": 34, "ward": "north"}, {"id": 2, "ward": None}, {"id": 3, "age": 58}),
        rows=as_rows("id age ward", (1, 34, "north"), (2, None, None), (3, 58, None)),
        kinds={"id": "integer", "age": "integer", "ward": "text"},
    ),
    MessyFile(
        "late_key.ndjson",
        "A key comes up for the first time in line 2,050, and most lines have another number of keys.",
        write_lines(*({"id": n, **({"note": "late"} if n == 2_049 else {})} for n in range(2_100))),
        rows=as_rows("id note", *((n, "late" if n == 2_049 else None) for n in range(2_100))),
    ),
    MessyFile(
        "texts_for_numbers.jsonl",
        "A web form sends numbers and dates as texts.",
        write_lines({"id": 1, "kg": "86,8", "born": "31.12.1980"}, {"id": 2, "kg": "61,2", "born": "01.02.1955"}),
        rows=as_rows("id kg born", (1, 86.8, day("1980-12-31")), (2, 61.2, day("1955-02-01"))),
        kinds={"kg": "real", "born": "date"},
    ),
    MessyFile(
        "nested.jsonl",
        "An interface puts objects into objects, which no column can hold.",
        write_lines({"id": 1, "name": {"first": "Anna", "last": "Berg"}}, {"id": 2, "name": {"first": "Bernd"}}),
        refused="(?i)(?=.*'name')(?=.*(nest|flat|object))",
        unlike=("Anna", "Berg"),
    ),
    MessyFile(
        "broken_line.jsonl",
        "A line was cut off when the disk was full.",
        write_text('{"id": 1, "ward": "north"}\n{"id": 2, "wa\n{"id": 3, "ward": "south"}\n'),
        refused="(?i)line 2",
        unlike=("north", "south"),
    ),
)

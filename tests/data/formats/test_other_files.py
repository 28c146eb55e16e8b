"""JSON lines, SQLite, DuckDB, R and folders give a table, or one sentence says what to change."""

import gzip
import json
import sqlite3
import sys
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ziggurat.data import Column, FileLayout, Kind, Schema, read
from ziggurat.data.reading.formats import load_file
from ziggurat.errors import DataError, MissingExtraError

ROWS = [{"a": 1, "b": "x"}, {"a": 2, "b": None}]


def test_json_lines_with_missing_keys(tmp_path: Path) -> None:
    text = '{"a": 1, "b": "x"}\n\n{"a": 2}\n{"c": true, "a": 3.5}\n'
    (tmp_path / "t.jsonl").write_text(text)
    (tmp_path / "t.ndjson.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "t.json").write_text(json.dumps([json.loads(line) for line in text.split("\n") if line]))
    for name in ("t.jsonl", "t.ndjson.gz", "t.json"):
        found = read(tmp_path / name)
        assert found.raw.rows().to_pylist() == [
            {"a": 1.0, "b": "x", "c": None},
            {"a": 2.0, "b": None, "c": None},
            {"a": 3.5, "b": None, "c": True},
        ]


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("t.jsonl", '{"a": 1}\n{"a": {"secret": 2}}\n', "Field 'a' in line or element 2 .* values inside values"),
        ("t.jsonl", '{"a": 1}\nsecret\n', "Line 2 of .* is not a JSON object"),
        ("t.jsonl", '["secret"]\n', "1 of .* is not a JSON object with the names"),
        ("t.json", '{"a":\n "secret"}\n', "is not a list of flat JSON objects|Line 1"),
        ("t.jsonl", "\n", "holds no row"),
        ("t.jsonl.gz", '{"a": 1}', "not a complete gzip file"),
    ],
)
def test_what_is_no_table_in_json_is_one_sentence(name: str, text: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=sentence) as caught:
        read(tmp_path / name)
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None


def make_sqlite(path: Path, tables: tuple[str, ...] = ("one",)) -> Path:
    with sqlite3.connect(path) as connection:
        for table in tables:
            connection.execute(f'CREATE TABLE "{table}" (a INTEGER, b TEXT)')
            connection.executemany(f'INSERT INTO "{table}" VALUES (:a, :b)', ROWS)
    connection.close()
    return path


def test_a_table_of_a_sqlite_file(tmp_path: Path) -> None:
    path = make_sqlite(tmp_path / "t.db")
    assert read(path).raw.rows().to_pylist() == ROWS
    assert read(f"sqlite:///{path}", table="one").raw.rows().to_pylist() == ROWS
    several = make_sqlite(tmp_path / "s.sqlite", ("one", "two"))
    with pytest.raises(DataError, match=r"several tables in .*, 'one' and 'two'; name one with table="):
        read(several)
    assert read(several, table="two").raw.count_rows() == 2
    with pytest.raises(DataError, match=r"no table 'twoo' .*did you mean 'two'"):
        read(several, table="twoo")


def test_a_schema_may_name_the_table_and_may_be_read_later(tmp_path: Path) -> None:
    path = make_sqlite(tmp_path / "t.sqlite", ("one", "two"))
    schema = Schema((Column("a", Kind.INTEGER),), file=FileLayout(table="two"))
    table = read(path, schema, later=True)
    table.ready()
    assert table.raw.rows().to_pylist() == [{"a": 1}, {"a": 2}]


def make_duckdb(path: Path) -> Path:
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE one AS SELECT 1::INT AS a, 'x' AS b UNION ALL SELECT 2, NULL")
        connection.execute("CREATE SCHEMA other")
        connection.execute("CREATE TABLE other.two AS SELECT DATE '2020-01-02' AS d")
    return path


@pytest.mark.parametrize("ending", [".duckdb", ".ddb", ".db"])
def test_a_table_of_a_duckdb_file_stays_where_it_is(ending: str, tmp_path: Path) -> None:
    path = make_duckdb(tmp_path / f"t{ending}")
    with pytest.raises(DataError, match=r"'one' and 'other\.two'; name one"):
        read(path)
    assert sorted(read(path, table="one").raw.rows().to_pylist(), key=lambda row: row["a"]) == ROWS
    assert read(path, table="other.two").raw.rows().to_pylist() == [{"d": date(2020, 1, 2)}]


def test_a_duckdb_file_that_changes_is_refused(tmp_path: Path) -> None:
    path = make_duckdb(tmp_path / "t.duckdb")
    table = read(path, table="one")
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(DataError, match="changed since it was opened"):
        table.ready()


def test_a_database_of_neither_kind_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "t.db").write_bytes(b"secret" * 10)
    with pytest.raises(DataError, match="neither a SQLite nor a DuckDB file"):
        read(tmp_path / "t.db")


def test_a_folder_of_parquet_files_with_keys_in_its_paths(tmp_path: Path) -> None:
    for year, rows in ((2020, [1, 2]), (2021, [3])):
        (tmp_path / "t" / f"year={year}").mkdir(parents=True)
        pq.write_table(pa.table({"a": rows}), tmp_path / "t" / f"year={year}" / "part-0.parquet")
    (tmp_path / "t" / "_SUCCESS").touch()
    table = read(tmp_path / "t")
    found = sorted(table.raw.rows().to_pylist(), key=lambda row: row["a"])
    assert found == [{"a": 1, "year": 2020}, {"a": 2, "year": 2020}, {"a": 3, "year": 2021}]
    pq.write_table(pa.table({"a": [7]}), tmp_path / "t" / "year=2021" / "part-0.parquet")
    with pytest.raises(DataError, match="changed since it was opened"):
        table.ready()


@pytest.mark.parametrize("inside", ["", "region=N/"])
def test_a_folder_of_text_files_is_read_as_one(inside: str, tmp_path: Path) -> None:
    (tmp_path / "t" / inside).mkdir(parents=True)
    for number in (1, 2):
        (tmp_path / "t" / f"{inside}{number}.csv").write_text(f"a,b\n{number},x\n")
    key = {"region": "N"} if inside else {}
    assert read(tmp_path / "t").raw.rows().to_pylist() == [{"a": n, "b": "x"} | key for n in (1, 2)]


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ((), "is a folder; name the files in it"),
        (("a.csv", "b.parquet"), "several kinds, '.csv' and '.parquet'"),
        (("a.txt.png",), "no files of Parquet, Arrow or text"),
        (("_delta_log/0.json", "a.parquet"), "Delta or Hudi"),
    ],
)
def test_a_folder_of_no_one_table_is_one_sentence(files: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    for file in files:
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text("a\n1\n")
    with pytest.raises(DataError, match=sentence):
        read(tmp_path)


def test_files_of_a_folder_must_have_the_same_columns(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"b": [1]}), tmp_path / "2.parquet")
    with pytest.raises(DataError, match=r"2\.parquet' has other columns, or other types"):
        read(tmp_path)


def _plain_frame() -> Any:
    import pandas as pd

    return pd.DataFrame(
        {
            "whole": pd.array([1, 2, None], dtype="Int32"),
            "part": [1.5, None, 3.0],
            "truth": pd.array([True, False, None], dtype="boolean"),
            "grade": pd.Categorical(["good", "bad", "good"], categories=["bad", "good", "best"], ordered=True),
        }
    )


def test_data_frames_of_r(tmp_path: Path) -> None:
    rdata = pytest.importorskip("rdata")
    rdata.write_rds(tmp_path / "t.rds", _plain_frame())
    loaded = load_file(str(tmp_path / "t.rds"), FileLayout())
    assert loaded.data.to_pylist() == [
        {"whole": 1, "part": 1.5, "truth": True, "grade": "good"},
        {"whole": 2, "part": None, "truth": False, "grade": "bad"},
        {"whole": None, "part": 3.0, "truth": None, "grade": "good"},
    ]
    grade = read(tmp_path / "t.rds").schema["grade"]
    assert grade.kind is Kind.CATEGORY
    assert grade.categories is not None
    assert grade.categories.values == ("bad", "good", "best")
    rdata.write_rda(tmp_path / "t.RData", {"one": _plain_frame()[["whole"]], "two": _plain_frame()[["part"]]})
    with pytest.raises(DataError, match="'one' and 'two'; name one with table="):
        read(tmp_path / "t.RData")
    assert read(tmp_path / "t.RData", table="two").schema.names == ("part",)


R_TEXT = """
A
3
262657
197888
5
UTF-8
787
3
782
2
18262
NA
1026
1
262153
5
class
16
1
262153
4
Date
254
16
2
262153
1
x
9
-1
782
2
0
86400.5
1026
511
16
2
262153
7
POSIXct
262153
6
POSIXt
254
1026
1
262153
5
names
16
3
262153
4
born
262153
1
s
262153
4
seen
1026
511
16
1
262153
10
data.frame
1026
1
262153
9
row.names
13
2
NA
-2
254
"""


def test_dates_moments_and_missing_texts_of_r(tmp_path: Path) -> None:
    pytest.importorskip("rdata")
    (tmp_path / "t.rds").write_bytes(R_TEXT.strip().encode())
    loaded = load_file(str(tmp_path / "t.rds"), FileLayout())
    rows = loaded.data.to_pylist()
    assert [row["born"] for row in rows] == [date(2020, 1, 1), None]
    assert [row["s"] for row in rows] == ["x", None]
    assert [str(row["seen"]) for row in rows] == ["1970-01-01 00:00:00", "1970-01-02 00:00:00.500000"]


def test_without_rdata_the_sentence_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rdata", None)
    (tmp_path / "t.rds").write_bytes(b"x")
    with pytest.raises(MissingExtraError, match=r"pip install 'ziggurat\[r\]'"):
        read(tmp_path / "t.rds")

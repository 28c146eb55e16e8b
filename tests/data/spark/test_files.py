"""Files and folders by path: Spark gives the rows that DuckDB gives, or refuses before anything is paid for."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ziggurat.data import Bounds, Column, Schema, Table, Unit, read
from ziggurat.data.engines import SparkEngine
from ziggurat.data.reading import write_csv
from ziggurat.errors import DataError, ParameterError

pytestmark = pytest.mark.spark
ROWS = pa.table({"age": [30, None, 41, 5], "note": ["=1+1", 'said "no", twice', None, "ärztlich"], "year": ["1"] * 4})
SCHEMA = Schema(
    (Column("age", "integer", bounds=Bounds(0, 100)), Column("note", "text"), Column("year", "integer")), Unit.row()
)


@pytest.fixture
def engine(spark_session: Any) -> SparkEngine:
    return SparkEngine(spark_session)


def rows_of(table: Table) -> list[str]:
    return sorted(str(row) for row in table.raw.rows().to_pylist())


def write_parts(folder: Path, ending: str) -> Path:
    """Three parts in two years, as Hive and Spark write them, and what neither counts."""
    for place, year in enumerate(("2019", "2020", "2020")):
        part = folder / f"year={year}" / f"part-{place}.{ending}"
        part.parent.mkdir(parents=True, exist_ok=True)
        rows = ROWS.drop_columns("year")
        pq.write_table(rows, part) if ending == "parquet" else write_csv(rows, part)
    (folder / "_SUCCESS").touch()
    return folder


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_partitioned_folder_gives_the_same_rows_in_duckdb_and_spark(
    ending: str, engine: SparkEngine, tmp_path: Path
) -> None:
    folder = write_parts(tmp_path / "visits[1]", ending)
    here = rows_of(read(folder, SCHEMA))
    assert len(here) == 12
    assert rows_of(read(f"spark:{folder}/", SCHEMA, engine=engine)) == here
    assert rows_of(read(folder, engine=engine)) == here


def test_a_file_and_a_pattern_are_read_by_path(engine: SparkEngine, tmp_path: Path) -> None:
    for place in range(2):
        write_csv(ROWS, tmp_path / f"part-{place}.csv")
    assert len(rows_of(read(f"spark:{tmp_path}/part-1.csv", SCHEMA, engine=engine))) == 4
    both = read(f"spark:{tmp_path}/part-*.csv", SCHEMA, engine=engine)
    assert rows_of(both) == rows_of(read(f"{tmp_path}/part-*.csv", SCHEMA))
    assert both.notes == ("2 files read as one table by Spark, where they are.",)


ODD = {
    "a quotation mark is left open": b'age,note\n1,"x\n3,4\n',
    "a cell has a line break": b'age,note\n1,"x\ny"\n3,4\n',
    "a line is short": b"age,note\n1\n",
    "a line is long": b"age,note\n1,2,3\n",
    "a quotation mark stands in a cell": b'age,note\n1,x"y\n',
    "text follows a quotation mark": b'age,note\n1,"x"y\n',
    "a blank line": b"age,note\n1,2\n\n3,4\n",
    "not UTF-8": b"age,note\n1,\xe9\n",
    "a zero byte": b"age,note\n1,\x00\n",
}


@pytest.mark.parametrize("case", ODD)
def test_csv_is_checked_whole_when_it_is_opened(case: str, engine: SparkEngine, tmp_path: Path) -> None:
    """Each of these Spark reads without a word, with cells that are lost or in the wrong place."""
    (tmp_path / "part-0.csv").write_bytes(b"age,note\n1,fine\n")
    (tmp_path / "part-1.csv").write_bytes(ODD[case])
    with pytest.raises(DataError, match="not a row of 2 cells in plain CSV"):
        read(f"spark:{tmp_path}", engine=engine)


@pytest.mark.parametrize("header", [b"note,age", b"age", b"age,note,more", b"other,note"])
def test_every_file_has_the_same_header(header: bytes, engine: SparkEngine, tmp_path: Path) -> None:
    (tmp_path / "part-0.csv").write_bytes(b"age,note\n1,x\n2,y\n")
    (tmp_path / "part-1.csv").write_bytes(header + b"\n")
    with pytest.raises(DataError, match=r"another header|plain CSV"):
        read(f"spark:{tmp_path}", engine=engine)


def test_a_cell_of_another_kind_stops_who_opens_the_folder(engine: SparkEngine, tmp_path: Path) -> None:
    (tmp_path / "part-0.csv").write_text("age,note,year\n1,x,1\nseven,y,1\n")
    with pytest.raises(DataError, match="'age'") as raised:
        read(f"spark:{tmp_path}", SCHEMA, engine=engine)
    assert "seven" not in str(raised.value)


def test_a_damaged_part_stops_who_opens_the_folder(engine: SparkEngine, tmp_path: Path) -> None:
    """Also where a session was told to skip what it cannot read."""
    folder = write_parts(tmp_path / "visits", "parquet")
    part = next(folder.rglob("part-1.parquet"))
    whole = part.read_bytes()
    part.write_bytes(whole[:4] + b"\xff" * 60 + whole[64:])
    engine._session.conf.set("spark.sql.files.ignoreCorruptFiles", "true")
    try:
        with pytest.raises(DataError, match="is one damaged"):
            read(f"spark:{folder}", SCHEMA, engine=engine)
    finally:
        engine._session.conf.unset("spark.sql.files.ignoreCorruptFiles")


def test_a_folder_that_changed_is_refused_before_anything_is_paid_for(engine: SparkEngine, tmp_path: Path) -> None:
    folder = write_parts(tmp_path / "visits", "csv")
    table = read(f"spark:{folder}", SCHEMA, engine=engine)
    table.ready()
    with next(folder.rglob("part-1.csv")).open("a") as file:
        file.write("77,late\n")
    with pytest.raises(DataError, match="changed since they were opened"):
        table.ready()


def test_a_folder_is_opened_later_if_it_is_planned_with(engine: SparkEngine, tmp_path: Path) -> None:
    folder = tmp_path / "visits"
    table = read(f"spark:{folder}", SCHEMA, engine=engine, later=True)
    assert table.columns == ("age", "note", "year")
    write_parts(folder, "csv")
    table.ready()
    assert rows_of(table) == rows_of(read(folder, SCHEMA))


def test_tables_with_a_log_and_mixed_folders_are_refused(engine: SparkEngine, tmp_path: Path) -> None:
    folder = write_parts(tmp_path / "visits", "parquet")
    (folder / "_delta_log").mkdir()
    with pytest.raises(DataError, match="whose log says which files count"):
        read(f"spark:{folder}", SCHEMA, engine=engine)
    (folder / "_delta_log").rmdir()
    (folder / "more.csv").write_text("age,note\n")
    with pytest.raises(DataError, match="files of several kinds"):
        read(f"spark:{folder}", SCHEMA, engine=engine)


def test_addresses_say_what_to_write_instead(engine: SparkEngine, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="names a cluster and no table"):
        read("spark://host:7077", SCHEMA, engine=engine)
    with pytest.raises(DataError, match="Spark finds no file"):
        read(f"spark:{tmp_path}/nothing", SCHEMA, engine=engine)
    (tmp_path / "x.csv").write_text("age,note,year\n")
    with pytest.raises(DataError, match="plain CSV alone"):
        read(f"spark:{tmp_path}/x.csv", SCHEMA, engine=engine, encoding="cp1252")


def test_a_table_of_the_catalogue_is_named_with_the_bare_address(engine: SparkEngine) -> None:
    engine._session.createDataFrame(ROWS).createOrReplaceTempView("visits_held")
    table = read("spark:", SCHEMA, table="visits_held")
    assert len(rows_of(table)) == 4


def test_commands_take_a_folder_by_its_address(engine: SparkEngine, command: Any, tmp_path: Path) -> None:
    write_parts(tmp_path / "visits", "csv")
    SCHEMA.to_yaml(tmp_path / "visits.yaml")
    done = command("risk", f"spark:{tmp_path}/visits", "--schema", "visits.yaml", "--qi", "age", "--json")
    assert done.code == 0, done.err
    assert '"rows": 12' in done.out

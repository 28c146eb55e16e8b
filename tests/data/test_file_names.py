"""A file is read under its own name, and as it was when it was checked."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest

from ziggurat.data import Column, Schema, read
from ziggurat.data.engines import DuckDBEngine, SparkEngine
from ziggurat.errors import DataError, EngineError

NAMES = ("x[1]", "w*", "w?", "[[]", "{a,b}", "a\\[b", "year=2020", "~", "x'y", 'x"y', "%41", "file:x", "été 1")
RIGHT, WRONG = pa.table({"a": ["right"]}), pa.table({"a": ["wrong"]})
WRITERS = {
    ".csv": lambda table, path: Path(path).write_text(f"a\n{table['a'][0]}\n"),
    ".parquet": parquet.write_table,
    ".feather": feather.write_feather,
}


@pytest.fixture
def decoys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files that a pattern would find instead."""
    for name in ("x1", "w1", "w2", "[", "a", "b", "a[b", "xA", "x"):
        for ending, write in WRITERS.items():
            write(WRONG, tmp_path / f"{name}{ending}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("name", NAMES)
def test_the_name_of_a_file_is_literal(name: str, ending: str, decoys: Path) -> None:
    WRITERS[ending](RIGHT, decoys / f"{name}{ending}")
    for path in (f"{name}{ending}", decoys / f"{name}{ending}"):
        assert read(path).raw.rows().to_pylist() == [{"a": "right"}]


@pytest.mark.parametrize("ending", WRITERS)
def test_the_name_of_a_folder_is_literal_and_no_column(ending: str, decoys: Path) -> None:
    for folder in ("year=2020", "w*", "x[1]"):
        (decoys / folder).mkdir()
        WRITERS[ending](RIGHT, decoys / folder / f"t{ending}")
        assert read(f"{folder}/t{ending}").raw.rows().to_pylist() == [{"a": "right"}]


@pytest.mark.spark
def test_spark_takes_names_literally(spark_session: Any, decoys: Path) -> None:
    for name in ("x[1]", "w*", "{a,b}"):
        parquet.write_table(RIGHT, decoys / f"{name}.parquet")
        table = read(decoys / f"{name}.parquet", engine=SparkEngine(spark_session))
        assert table.raw.rows().to_pylist() == [{"a": "right"}]


def test_a_bracket_is_no_pattern(decoys: Path) -> None:
    with pytest.raises(DataError, match="There is no file"):
        read("x[1].csv")


@pytest.mark.parametrize("ending", WRITERS)
def test_a_star_without_a_file_of_that_name_is_a_pattern(ending: str, decoys: Path) -> None:
    assert read(f"w*{ending}").raw.count_rows() == 2
    assert read(f"w?{ending}").raw.count_rows() == 2


def test_files_of_one_pattern_have_one_header(tmp_path: Path) -> None:
    (tmp_path / "p1.csv").write_text("a,b\n1,2\n")
    (tmp_path / "p2.csv").write_text("b,a\n1,2\n")
    with pytest.raises(DataError, match=r"The header of '.*p2\.csv' is not that of '.*p1\.csv'"):
        read(tmp_path / "p*.csv")
    (tmp_path / "p2.csv").write_text("a,b\n3,x\n")
    with pytest.raises(DataError, match=r"^Line 2 of '.*p2\.csv', column 'b'"):
        read(tmp_path / "p*.csv", Schema((Column("a", "integer"), Column("b", "integer"))))


def test_a_text_file_answers_as_it_was_checked_whatever_becomes_of_it(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\n1\n2\n")
    table = read(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_text('a\n1\n"broken\n')
    assert table.raw.count_rows() == 2
    (tmp_path / "t.csv").unlink()
    assert table.raw.rows().to_pylist() == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize("ending", [".parquet", ".feather"])
def test_a_file_that_changed_since_it_was_opened_is_refused(ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"t{ending}"
    WRITERS[ending](RIGHT, file)
    table = read(file)
    table.engine.ready()
    WRITERS[ending](WRONG, tmp_path / "other")
    (tmp_path / "other").replace(file)
    for use in (table.engine.ready, table.raw.rows, lambda: list(table.engine.batches(table.select("a")))):
        with pytest.raises(DataError, match="changed since it was opened; open it again"):
            use()


def test_a_damaged_page_stops_who_opens_the_file(tmp_path: Path) -> None:
    file = tmp_path / "t.parquet"
    table = pa.table({"a": range(20_000), "b": [f"cell {n}" for n in range(20_000)]})
    parquet.write_table(table, file, compression="zstd", use_dictionary=False)
    content = bytearray(file.read_bytes())
    middle = parquet.ParquetFile(file).metadata.row_group(0).column(1).data_page_offset + 2_000
    content[middle : middle + 400] = bytes(400)
    file.write_bytes(content)
    with pytest.raises(EngineError, match="Reading the file"):
        read(file, Schema((Column("a", "integer"),)))


def test_a_connection_that_was_handed_in_keeps_no_table(tmp_path: Path) -> None:
    import duckdb

    (tmp_path / "t.csv").write_text("a\n1\n")
    database = tmp_path / "theirs.db"
    with duckdb.connect(str(database)) as connection:
        assert read(tmp_path / "t.csv", engine=DuckDBEngine(connection)).raw.count_rows() == 1
    with duckdb.connect(str(database)) as connection:
        assert connection.sql("SHOW ALL TABLES").fetchall() == []

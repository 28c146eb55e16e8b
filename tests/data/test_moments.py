"""A moment with a time zone has the date of that zone; what is no date is counted, not shown."""

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from ziggurat.data import Column, Schema, read, suggest_schema
from ziggurat.data.engines import SparkEngine
from ziggurat.errors import DataError, SchemaError

LATE = datetime.datetime(2024, 1, 1, 23, 30, tzinfo=datetime.UTC)
ZONED = pa.table(
    {
        "berlin": pa.array([LATE], pa.timestamp("us", tz="Europe/Berlin")),
        "plus_two": pa.array([LATE], pa.timestamp("ns", tz="+02:00")),
        "honolulu": pa.array([LATE], pa.timestamp("ms", tz="Pacific/Honolulu")),
        "utc": pa.array([LATE], pa.timestamp("us", tz="UTC")),
        "naive": pa.array([LATE.replace(tzinfo=None)], pa.timestamp("s")),
    }
)
FIRST, SECOND = datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)
EXPECTED = [SECOND, SECOND, FIRST, FIRST, FIRST]


def _parquet(folder: Path) -> object:
    pyarrow.parquet.write_table(ZONED, folder / "t.parquet")
    return folder / "t.parquet"


def _feather(folder: Path) -> object:
    pyarrow.feather.write_feather(ZONED, folder / "t.feather")
    return folder / "t.feather"


SOURCES: dict[str, Callable[[Path], object]] = {
    "arrow": lambda _: ZONED,
    "reader": lambda _: ZONED.to_reader(),
    "pandas": lambda _: ZONED.to_pandas(),
    "polars": lambda _: pl.from_arrow(ZONED),
    "parquet": _parquet,
    "feather": _feather,
}


@pytest.mark.parametrize("source", SOURCES)
def test_the_date_of_a_moment_is_that_of_its_own_zone(source: str, tmp_path: Path) -> None:
    (row,) = read(SOURCES[source](tmp_path)).raw.rows().to_pylist()
    assert list(row.values()) == EXPECTED


@pytest.mark.spark
def test_spark_takes_over_the_dates_of_a_frame(spark_session: Any) -> None:
    (row,) = read(ZONED, engine=SparkEngine(spark_session)).raw.rows().to_pylist()
    assert list(row.values()) == EXPECTED


def test_a_moment_of_unknown_zone_has_the_date_of_utc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    early = datetime.datetime(2024, 1, 2, 0, 30, tzinfo=datetime.UTC)
    table = pa.table({"at": pa.array([early], pa.timestamp("us", tz="UTC"))})
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet", store_schema=False)
    assert read(tmp_path / "t.parquet").raw.rows().to_pylist() == [{"at": SECOND}]


def test_a_zone_nobody_knows_is_one_sentence() -> None:
    with pytest.raises(DataError, match="The time zone of column 'at' is not known to this machine"):
        read(pa.table({"at": pa.array([LATE], pa.timestamp("us", tz="Nowhere/Land"))}))


FAR = pa.table(
    {
        "day": pa.array([0, 2**30], pa.int32()).cast(pa.date32()),
        "seconds": pa.array([0, 2**60], pa.timestamp("s")),
        "thousandths": pa.array([0, -(2**60)], pa.timestamp("ms")),
        "millionths": pa.array([0, 2**62], pa.timestamp("us")),
        "zoned": pa.array([0, 2**62], pa.timestamp("us", tz="Europe/Berlin")),
    }
)


def test_moments_beyond_the_year_9999_are_unreadable_cells() -> None:
    with pytest.raises(DataError, match="1 cell of column 'day' cannot be read as date"):
        read(FAR)
    table = read(FAR, on_bad_cell="missing")
    assert table.unreadable() == dict.fromkeys(FAR.column_names, 1)
    suggestion = suggest_schema(table)
    assert {column.bounds.upper for column in suggestion.schema.columns if column.bounds} == {datetime.date(1970, 1, 1)}
    assert suggestion.reasons["day"].endswith("1 cell cannot be read and counts as missing")


@pytest.mark.parametrize("cells", [pa.array([1, 2**64 - 1], pa.uint64()), pa.array([1, 10**30], pa.decimal128(38, 0))])
def test_integers_of_more_than_64_bits_are_unreadable_cells(cells: pa.Array, tmp_path: Path) -> None:
    table = pa.table({"x": cells})
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    for source in (table, tmp_path / "t.parquet"):
        with pytest.raises(DataError, match="1 cell of column 'x' cannot be read as integer"):
            read(source)
        assert read(source, on_bad_cell="missing").raw.rows().column("x").to_pylist() == [1, None]
    assert read(table, Schema((Column("x", "real"),))).raw.rows().num_rows == 2


def test_narrow_and_wide_numbers_of_arrow_are_taken_in() -> None:
    table = pa.table({"half": pa.array([1.5], pa.float16()), "wide": pa.array([7], pa.decimal256(60, 0))})
    assert read(table).raw.rows().to_pylist() == [{"half": 1.5, "wide": 7}]
    with pytest.raises(DataError, match="Column 'wide' holds decimals of more than 38 digits"):
        read(pa.table({"wide": pa.array([10**50], pa.decimal256(60, 0))}))


def test_durations_and_periods_are_left_out_of_frames_and_files_alike(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"p": pd.period_range("2024-01", periods=2, freq="M"), "d": pd.to_timedelta([1, 2], unit="s"), "v": [1, 2]}
    )
    frame.to_parquet(tmp_path / "t.parquet")
    for source in (frame, tmp_path / "t.parquet"):
        table = read(source)
        assert (table.schema.names, table.left_out) == (("v",), ("p", "d"))
        with pytest.raises(SchemaError, match="Column 'd' has a type that no kind describes"):
            read(source, Schema((Column("d", "integer"),)))


def test_nan_is_found_in_a_relation_of_somebody_elses_connection(tmp_path: Path) -> None:
    pyarrow.parquet.write_table(
        pa.table({"v": pa.array([1.5, float("nan")], from_pandas=False)}), tmp_path / "t.parquet"
    )
    with duckdb.connect() as connection:
        (problem,) = read(connection.read_parquet(str(tmp_path / "t.parquet"))).validate()
    assert (problem.what, problem.count) == ("not a number (NaN)", 1)

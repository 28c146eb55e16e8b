"""Tables leave as frames of any library with their types: days are days, and whole numbers stay whole."""

from datetime import date

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ziggurat.data import read
from ziggurat.frames import GivenAsFrame

ROWS = [
    {"n": 1, "day": date(2024, 2, 29), "yes": True, "town": "Ur", "x": 0.5},
    {"n": None, "day": None, "yes": None, "town": None, "x": None},
    {"n": 2**53 + 1, "day": date(1931, 7, 13), "yes": False, "town": "Uruk", "x": -1.0},
]
TYPES = [("n", pa.int64()), ("day", pa.date32()), ("yes", pa.bool_()), ("town", pa.string()), ("x", pa.float64())]
TABLE = pa.Table.from_pylist(ROWS, schema=pa.schema(TYPES))


class Given(GivenAsFrame):
    def to_arrow(self):
        return TABLE


def test_pandas_keeps_whole_numbers_truth_values_and_days_though_some_are_missing():
    frame = Given().to_pandas()
    assert [str(each) for each in frame.dtypes[:3]] == ["Int64", "date32[day][pyarrow]", "boolean"]
    assert frame["n"][2] == 2**53 + 1
    assert frame["day"][0] == date(2024, 2, 29)
    assert frame["town"][2] == "Uruk"
    assert pd.isna(frame["town"][1])


def test_polars_keeps_the_types():
    frame = Given().to_polars()
    assert frame.dtypes == [pl.Int64, pl.Date, pl.Boolean, pl.String, pl.Float64]
    assert frame.to_dicts() == ROWS


def test_duckdb_keeps_the_types_in_the_connection_that_is_given():
    with duckdb.connect() as connection:
        relation = Given().to_duckdb(connection)
        assert [str(each) for each in relation.types] == ["BIGINT", "DATE", "BOOLEAN", "VARCHAR", "DOUBLE"]
        assert relation.fetchall() == [tuple(row.values()) for row in ROWS]


def test_what_left_comes_in_again():
    for frame in (Given().to_pandas(), Given().to_polars(), Given().to_duckdb()):
        assert read(frame).raw.to_arrow().select(["n", "day", "yes"]).to_pylist() == [
            {name: row[name] for name in ("n", "day", "yes")} for row in ROWS
        ]


@pytest.mark.parametrize("name", ["to_pandas", "to_polars", "to_duckdb", "to_spark"])
def test_whatever_is_a_table_gives_every_frame(name):
    from ziggurat.anonymize import Anonymized
    from ziggurat.anonymize.masking import MaskedTable
    from ziggurat.data import RawAccess
    from ziggurat.findings import Finding
    from ziggurat.queries import Answer
    from ziggurat.queries.workloads import WorkloadAnswer
    from ziggurat.release import Sweep
    from ziggurat.synthesize import Synthetic

    for kind in (Answer, WorkloadAnswer, Sweep, Synthetic, Anonymized, MaskedTable, RawAccess, Finding):
        assert callable(getattr(kind, name))

"""Every Arrow type an engine may answer with has one canonical form."""

import datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from ziggurat.data.engines._canonical import canonical

NOON_IN_BERLIN = datetime.datetime(2024, 1, 1, 11, tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    ("given", "kind", "values"),
    [
        (pa.array([1, None], pa.uint8()), pa.int64(), [1, None]),
        (pa.array([2**64 - 1], pa.uint64()), pa.decimal128(38, 0), [Decimal(2**64 - 1)]),
        (pa.array([Decimal(7)], pa.decimal128(38, 0)), pa.int64(), [7]),
        (pa.array([Decimal(10) ** 30], pa.decimal128(38, 0)), pa.decimal128(38, 0), [Decimal(10) ** 30]),
        (pa.array([Decimal("0.3"), Decimal("0.7")], pa.decimal128(9, 1)), pa.float64(), [0.3, 0.7]),
        (pa.array([0.5], pa.float32()), pa.float64(), [0.5]),
        (pa.array(["a"], pa.large_string()), pa.string(), ["a"]),
        (pa.array(["a"], pa.string_view()), pa.string(), ["a"]),
        (pa.array(["a", "a"]).dictionary_encode(), pa.string(), ["a", "a"]),
        (pa.array([datetime.date(2024, 1, 1)], pa.date64()), pa.date32(), [datetime.date(2024, 1, 1)]),
        (
            pa.array([NOON_IN_BERLIN], pa.timestamp("ns", tz="Europe/Berlin")),
            pa.timestamp("us"),
            [datetime.datetime(2024, 1, 1, 11)],
        ),
        (pa.array([True, None]), pa.bool_(), [True, None]),
    ],
)
def test_every_type_has_one_form(given: pa.Array, kind: pa.DataType, values: list[Any]) -> None:
    column = canonical(pa.table({"x": given})).column("x")
    assert column.type == kind
    assert column.to_pylist() == values

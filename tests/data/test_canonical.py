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
        (pa.array([Decimal(7), None], pa.decimal128(38, 0)), pa.int64(), [7, None]),
        (pa.array([], pa.decimal128(38, 0)), pa.int64(), []),
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


ENDS = [0, 1, -1, 2**31, -(2**31), 2**63 - 1, -(2**63)]
BEYOND = [2**63, -(2**63) - 1, 2**64, 2**64 - 1, -(2**64), 10**30, -(10**30)]


@pytest.mark.parametrize("beyond", [None, *BEYOND])
def test_wide_integers_become_narrow_exactly_if_all_of_them_fit(beyond: int | None) -> None:
    numbers = ENDS if beyond is None else [*ENDS, beyond]
    cells = pa.array([Decimal(each) for each in [5, *numbers, 5]], pa.decimal128(38, 0))[1:-1]
    for chunks in ([cells], [cells[:3], cells[3:3], cells[3:]]):
        column = canonical(pa.table({"x": pa.chunked_array(chunks)})).column("x")
        assert column.type == (pa.int64() if beyond is None else pa.decimal128(38, 0))
        assert [int(each) for each in column.to_pylist()] == numbers


@pytest.mark.parametrize("kind", [pa.int8(), pa.int16(), pa.int32(), pa.int64()])
def test_a_slice_of_shorter_integers_keeps_its_numbers(kind: pa.DataType) -> None:
    column = canonical(pa.table({"x": pa.array([9, -128, 0, 127, 9], kind)[1:4]})).column("x")
    assert (column.type, column.to_pylist()) == (pa.int64(), [-128, 0, 127])

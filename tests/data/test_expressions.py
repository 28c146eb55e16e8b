"""Grids are powers of two, and what leaves the exact range is refused."""

from datetime import date
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ziggurat.data import Bounds, Column, Kind, Table, read
from ziggurat.data.expressions import clamp, quantize, quantize_bounds
from ziggurat.errors import NotPublicError, ParameterError, SchemaError

X = Column("x", "real", bounds=Bounds(-1, 10))


@pytest.mark.parametrize("grid", [Fraction(1, 3), Fraction(0), Fraction(-1, 2), Fraction(3), Fraction(1, 2**2000)])
def test_a_grid_that_is_no_power_of_two_is_refused(grid: Fraction) -> None:
    with pytest.raises(ParameterError, match="The grid must"):
        quantize(X, grid)


def test_a_grid_too_fine_for_the_bounds_is_refused() -> None:
    with pytest.raises(ParameterError, match="too fine for the bounds of column 'x'"):
        quantize(X, Fraction(1, 2**50))


def test_dates_and_text_have_no_grid() -> None:
    with pytest.raises(SchemaError, match="only integer and real"):
        quantize(Column("d", "date", bounds=Bounds(date.min, date.max)), Fraction(1))


@pytest.mark.parametrize("build", [clamp, lambda column: quantize(column, Fraction(1))])
def test_learned_or_absent_bounds_are_refused(build: object) -> None:
    for column in (Column("x", "real"), Column("x", "real", bounds=Bounds(0, 1, "learned"))):
        with pytest.raises(NotPublicError):
            build(column)  # type: ignore[operator]


_REAL = st.floats(-1e6, 1e6)


@settings(deadline=None)
@given(_REAL, _REAL, st.lists(_REAL, min_size=1, max_size=5), st.integers(-20, 20))
def test_every_index_lies_within_the_stated_range(a: float, b: float, cells: list[float], power: int) -> None:
    column = Column("x", Kind.REAL, bounds=Bounds(min(a, b), max(a, b)))
    lower, upper = quantize_bounds(column, Fraction(2) ** power)
    table = _table(cells)
    indices = table.query(table.select(quantize(column, Fraction(2) ** power).as_("i"))).column("i").to_pylist()
    assert all(lower <= index <= upper for index in indices)


def _table(cells: list[float]) -> Table:
    import pyarrow as pa

    return read(pa.table({"x": pa.array(cells, pa.float64())}))

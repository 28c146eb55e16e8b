"""Several tables in one encoding: cells, and rows, are equal there where they are equal as they stand."""

import math
import random
from datetime import date
from itertools import product
from typing import Any

import pyarrow as pa
import pytest

from ziggurat.attacks.synthetic import name_copies, number_alike, read_alike
from ziggurat.errors import DataError

CELLS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "text": (pa.string(), ["", "a", "A", "é", "e\u0301", "日本"]),
    "whole": (pa.int64(), [0, -1, 2**60]),
    "real": (pa.float64(), [0.0, -0.0, 1.5, math.inf, -math.inf, math.nan]),
    "day": (pa.date32(), [date(1969, 12, 31), date(2024, 2, 29)]),
    "truth": (pa.bool_(), [True, False]),
    "gone": (pa.float64(), []),
}


def people(seed: int, rows: int, more: tuple[str, ...] = ()) -> pa.Table:
    draw = random.Random(seed)
    drawn = {
        name: draw.choices([*cells, *(more if name == "text" else ()), None], k=rows)
        for name, (_, cells) in CELLS.items()
    }
    return pa.table({name: pa.array(drawn[name], kind) for name, (kind, _) in CELLS.items()})


def _plain(cell: Any) -> Any:
    """A cell that equals itself: NaN is as missing as NULL, and 0.0 is -0.0."""
    return None if cell is None or cell != cell else cell


@pytest.mark.parametrize(("seed", "rows"), list(product(range(3), (1, 40))))
def test_cells_and_rows_are_equal_where_they_are(seed: int, rows: int) -> None:
    tables = [people(seed, rows), people(seed + 10, 25, ("only here",)), people(seed + 20, 3)]
    encoded = read_alike(tables[0], name_copies(tables[1:]))
    plain = [[tuple(map(_plain, row.values())) for row in table.to_pylist()] for table in tables]
    for place, name in enumerate(CELLS):
        seen: dict[Any, set[Any]] = {}
        for held, rows_ in zip(encoded, plain, strict=True):
            for cell, row in zip(held.column(name).tolist(), rows_, strict=True):
                seen.setdefault(row[place], set()).add(_plain(cell))
        assert all(len(each) == 1 for each in seen.values())
        assert len(set.union(*seen.values())) == len(seen)
    numbers: dict[tuple[Any, ...], int] = {}
    expected = [[numbers.setdefault(row, len(numbers)) for row in each] for each in plain]
    assert [each.tolist() for each in number_alike([each.cells for each in encoded])] == expected


def test_columns_of_another_kind_are_not_compared() -> None:
    with pytest.raises(DataError, match="another kind of cells in the synthetic table"):
        read_alike(pa.table({"v": [1, 2]}), name_copies(pa.table({"v": ["1", "2"]})))
    found = read_alike(pa.table({"v": [1, 2]}), name_copies(pa.table({"v": pa.array([None, None], pa.string())})))
    assert [len(each) for each in found] == [2, 2]
    assert all(math.isnan(cell) for cell in found[1].column("v"))

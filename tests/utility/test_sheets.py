"""An original and its copies in the same codes, against what plain Python says of their cells."""

import math
import random
from datetime import date

import numpy as np
import pyarrow as pa
import pytest

from ziggurat.data import Column, Kind, Schema, read
from ziggurat.utility._sheets import MISSING, open_sheets

SCHEMA = Schema(
    (
        Column("town", Kind.CATEGORY, missing=("?",)),
        Column("grade", Kind.CATEGORY),
        Column("dose", Kind.REAL, missing=(-9,)),
        Column("count", Kind.INTEGER),
        Column("day", Kind.DATE),
        Column("smoker", Kind.BOOLEAN),
    )
)


def people(seed: int, rows: int, more: tuple[str, ...] = ()) -> pa.Table:
    draw = random.Random(seed)
    cells = {
        "town": ["é", "e\u0301", "", "?", "日本", *more],
        "grade": ["10", "9", "-1"],
        "dose": [0.0, -0.0, 1.5, -9.0, math.nan, math.inf],
        "count": [0, 2**60, -3],  # beyond what a real holds exactly
        "day": [date(1969, 12, 31), date(2024, 2, 29)],
        "smoker": [True, False],
    }
    return pa.table({name: [draw.choice([*held, None]) for _ in range(rows)] for name, held in cells.items()})


@pytest.mark.parametrize(("seed", "rows"), [(1, 1), (2, 40), (3, 200)])
def test_codes_and_numbers_say_what_the_cells_say(seed: int, rows: int) -> None:
    tables = [people(seed, rows), people(seed + 10, 30, ("only here",)), people(seed + 20, 5)]
    sheets = open_sheets(*(read(tables[0], SCHEMA), [read(each, SCHEMA) for each in tables[1:]]))
    for sheet, table in zip(sheets.all, tables, strict=True):
        for field in sheets.fields:
            held, cells = sheet.cells[field.name], table.column(field.name).to_pylist()
            plain = [_number(cell) for cell in cells] if field.numeric else [_text(cell) for cell in cells]
            if field.numeric:
                kinds = [2 if cell == -9 and field.name == "dose" else int(math.isnan(cell)) for cell in plain]
                assert held.codes.tolist() == kinds
                expected = [math.nan if kind else cell for cell, kind in zip(plain, kinds, strict=True)]
                assert [repr(each) for each in held.numbers.tolist()] == [repr(each) for each in expected]
            else:
                assert [field.labels[code] for code in held.codes] == plain
            absent = [cell in (None, "?") if not field.numeric else None for cell in cells]
            assert field.numeric or sheet.missing(field).tolist() == absent


def _text(cell: object) -> str:
    return MISSING if cell is None else str(cell).lower() if isinstance(cell, bool) else str(cell)


def _number(cell: float | date | None) -> float:
    if isinstance(cell, date):
        return float((cell - date(1970, 1, 1)).days)
    return math.nan if cell is None or not math.isfinite(cell) else float(cell)


@pytest.mark.parametrize(
    ("texts", "order"),
    [
        (["10", "9", "-1"], ("-1", "9", "10")),
        (["10", "9", "--1"], ("--1", "10", "9")),  # no number
        (["10", "9", "²"], ("10", "9", "²")),
    ],
)
def test_whole_numbers_are_in_the_order_of_numbers(texts: list[str], order: tuple[str, ...]) -> None:
    sheets = open_sheets(pa.table({"v": texts}), pa.table({"v": texts[:1]}), ["v"])
    assert sheets.fields[0].labels == order
    assert sheets.copies[0].cells["v"].codes.tolist() == [order.index("10")]
    assert sheets.original.take(np.array([False, True, False])).cells["v"].size == 3

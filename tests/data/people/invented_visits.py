"""Invented clinic visits, several of a patient."""

import datetime
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ziggurat.data import Schema, Table, read

SCHEMA = """
name: visits
unit: {person: patient}
columns:
  patient: {kind: text, role: identifier}
  day: {kind: date, role: quasi-identifier}
  ward: {kind: category, categories: [a, b, c], role: sensitive}
  bmi: {kind: real, bounds: [10, 60]}
  cost: {kind: real, bounds: [0, 500]}
  tests: {kind: integer, bounds: [0, 10]}
  smoker: {kind: boolean}
"""
KINDS = [pa.string(), pa.date32(), pa.string(), pa.float64(), pa.float64(), pa.int64(), pa.bool_()]
Row = tuple[Any, ...]


def open_rows(rows: Sequence[Row], schema: str = SCHEMA) -> Table:
    """A table of these visits in DuckDB."""
    declared = Schema.from_yaml(schema)
    columns = list(zip(*rows, strict=True)) or [()] * len(KINDS)
    arrays = [pa.array(cells, kind) for cells, kind in zip(columns, KINDS, strict=True)]
    return read(pa.Table.from_arrays(arrays, names=list(declared.names)), declared)


def draw_rows(seed: int, rows: int, people: int) -> list[Row]:
    """Visits with many ties and gaps."""
    draw = np.random.default_rng(seed)

    def maybe(value: Any) -> Any:
        return None if draw.random() < 0.15 else value

    return [
        (
            maybe(f"p{draw.integers(people)}"),
            maybe(datetime.date(2024, 1, 1 + int(draw.integers(3)))),
            maybe("abc"[draw.integers(3)]),
            maybe(float(draw.integers(0, 80))),
            maybe(float(draw.random() * 600)),
            maybe(int(draw.integers(0, 12))),
            maybe(bool(draw.integers(2))),
        )
        for _ in range(rows)
    ]

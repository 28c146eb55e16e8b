"""Audits of synthesizers with a promise: tables are made anew for every run, as anybody would, and their rows seen.

Relation: add or remove one row. The row is ill and all others of the pair are half ill, half well, so that the count
that it moves by 1 is far from 0, where counts are cut off. There is one column: MST spends everything on it, and there
its promise is tight; AIM counts it twice, with nothing to choose from but itself.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ziggurat.attacks.audits._case import AuditCase, Draw
from ziggurat.data import Column, Kind, Schema, Table, read
from ziggurat.randomness import Source
from ziggurat.synthesize import AIM, MST
from ziggurat.threads import one_thread

_OTHERS = 40
_MANY = 4000
_DELTA = "0.01"


def make_pair(columns: int) -> tuple[Table, Table]:
    """Rows that are well and ill in all columns, as many of each; and the same with one more who is ill."""
    names = [f"ill{place}" for place in range(columns)]
    schema = Schema(tuple(Column(name, Kind.BOOLEAN) for name in names))
    cells = [False] * _OTHERS + [True] * _OTHERS
    tables = [pa.table(dict.fromkeys(names, rows)) for rows in (cells, [*cells, True])]
    return read(tables[0], schema=schema), read(tables[1], schema=schema)


def draw_seed(source: Source) -> int:
    """A seed for one run."""
    return int(source.words(1)[0] >> np.uint64(1))


def share_of_ill(rows: pa.Table) -> float:
    """The share of synthetic rows that are ill in all columns."""
    return float(np.logical_and.reduce([column.to_numpy() for column in rows.columns]).mean())


def audit_rows(method: type[AIM] | type[MST], columns: int, **options: Any) -> Any:
    """Draws of how many synthetic rows are ill: all that is seen are as many as there are by default, and many more."""

    def make(epsilon: Fraction) -> Draw:
        pair = make_pair(columns)

        def draw(world: Literal[0, 1], runs: int, source: Source) -> npt.ArrayLike:
            with one_thread():
                return [_count_in(method, epsilon, pair[world], source, options) for _ in range(runs)]

        return draw

    return make


def _count_in(
    method: type[AIM] | type[MST], epsilon: Fraction, table: Table, source: Source, options: dict[str, Any]
) -> float:
    made = method(epsilon, _DELTA, missing=[], random_state=draw_seed(source), **options).fit(table)
    usual, many = (made.sample(rows, random_state=draw_seed(source)) for rows in (None, _MANY))
    return float(usual.num_rows * share_of_ill(many))


def _measurements(epsilon: Fraction) -> Draw:
    """Draws of the noisy count of ill rows, which is published with the model."""
    pair = make_pair(1)

    def draw(world: Literal[0, 1], runs: int, source: Source) -> npt.ArrayLike:
        with one_thread():
            made = [MST(epsilon, _DELTA, missing=[], random_state=draw_seed(source)) for _ in range(runs)]
            return [each.fit(pair[world]).measurements_[0].counts[1] for each in made]

    return draw


_ROW = f"a table of {2 * _OTHERS} rows and one with one more, add or remove one row"

CASES = (
    AuditCase("synthesize.AIM", _ROW, audit_rows(AIM, 1, rounds=1), _DELTA, 200, 16),
    AuditCase("synthesize.MST", _ROW, audit_rows(MST, 1), _DELTA, 200, 12),
    AuditCase("synthesize.MST.measurements_", _ROW, _measurements, _DELTA, 200, 12),
)

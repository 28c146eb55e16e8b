"""Audits of synthesizers with a promise: tables are made anew for every run, as anybody would, and their rows seen.

Relation: add or remove one row. The row is ill and all others of the pair are half ill, half well, so that the count
that it moves by 1 is far from 0, where counts are cut off. There is one column: MST spends everything on it, and there
its promise is tight; AIM counts it twice, with nothing to choose from but itself.

What is chosen is tried on a few columns, all pairs of which are equally far from independence: the first two columns
agree more often than not, and any other two differ more often than not, by as much. One row more that is true in all
columns takes the first pair a row further from independence, and brings all others a row nearer, which is all that a
score can move. What was measured, in which order and with which counts, is published with the model: whether the first
pair was chosen first, whether at all, and the log ratio of likelihoods of all counts are told apart by learning.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
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


_CELL, _LEAN = 100, 10  # rows in a cell of all columns, and by how many each pair moves it
_WATCHED = ("c0", "c1")


def make_balanced_pair(columns: int) -> tuple[Table, Table]:
    """Rows whose pairs of columns are all equally far from independence; and the same with one that tips them."""
    names = [f"c{place}" for place in range(columns)]
    schema = Schema(tuple(Column(name, Kind.BOOLEAN) for name in names))
    cells = [np.array(cell) for cell in product((False, True), repeat=columns)]
    counts = [
        _CELL
        + sum((1 if cell[i] == cell[j] else -1) * _lean(names[i], names[j]) for i, j in combinations(range(columns), 2))
        for cell in cells
    ]
    rows = np.repeat(cells, counts, axis=0)

    def make(*more: npt.NDArray[np.bool_]) -> Table:
        columns_of = np.vstack([rows, *more]).T
        return read(pa.table(dict(zip(names, columns_of, strict=True))), schema=schema)

    return make(), make(np.ones(columns, np.bool_))


def _lean(one: str, other: str) -> int:
    return _LEAN if (one, other) == _WATCHED else -_LEAN


def read_choices(made: AIM | MST) -> list[float]:
    """Whether the watched pair was chosen first, and at all, and how likely the counts are with the row and without."""
    chosen = [each.columns for each in made.measurements_ if len(each.columns) > 1]
    told = 0.0
    for each in made.measurements_:
        cells = 2 ** (len(made.axes_) - len(each.columns))
        usual = cells * (_CELL + (_lean(*each.columns) if len(each.columns) > 1 else 0))
        told += (float(each.counts[(1,) * len(each.columns)]) - usual) / float(each.sigma) ** 2
    return [float(chosen[:1] == [_WATCHED]), float(_WATCHED in chosen), told]


def audit_choices(method: type[AIM] | type[MST], columns: int, **options: Any) -> Any:
    """Draws of what was chosen and counted, which is published with the model."""

    def make(epsilon: Fraction) -> Draw:
        pair = make_balanced_pair(columns)

        def draw(world: Literal[0, 1], runs: int, source: Source) -> npt.ArrayLike:
            with one_thread():
                seeds = [draw_seed(source) for _ in range(runs)]
                made = (method(epsilon, _DELTA, missing=[], random_state=seed, **options) for seed in seeds)
                return [read_choices(each.fit(pair[world])) for each in made]

        return draw

    return make


_TIPPED = "columns whose pairs are all equally far from independence, and a row more that tips the balance"
_ROW = f"a table of {2 * _OTHERS} rows and one with one more, add or remove one row"

CASES = (
    AuditCase("synthesize.AIM", _ROW, audit_rows(AIM, 1, rounds=1), _DELTA, 200, 16),
    AuditCase("synthesize.AIM (choices)", _TIPPED, audit_choices(AIM, 4, rounds=1), _DELTA, 200, 16),
    AuditCase("synthesize.MST", _ROW, audit_rows(MST, 1), _DELTA, 200, 12),
    AuditCase("synthesize.MST.measurements_", _ROW, _measurements, _DELTA, 200, 12),
    AuditCase("synthesize.MST (tree)", _TIPPED, audit_choices(MST, 4), _DELTA, 250, 16),
)

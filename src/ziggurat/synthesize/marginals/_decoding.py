"""From numbers of cells back to values: labels, and a value drawn evenly from every bin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from ziggurat.data import Kind
from ziggurat.synthesize.marginals._cliques import Integers
from ziggurat.synthesize.marginals._domain import Axis


def decode(axes: Sequence[Axis], codes: Mapping[str, Integers], draw: np.random.Generator) -> pa.Table:
    """Return a table of values; nothing in it is taken from a row."""
    return pa.table({axis.name: _column(axis, codes[axis.name], draw) for axis in axes})


def _column(axis: Axis, codes: Integers, draw: np.random.Generator) -> pa.Array:
    empty = (codes >= axis.values) if axis.missing else np.zeros(codes.size, dtype=bool)
    if axis.labels is not None:
        places = pa.array(np.where(empty, 0, codes), mask=empty)
        return pa.array(axis.labels).take(places)
    lower, upper = (np.asarray(part)[np.where(empty, 0, codes)] for part in _ends(axis))
    if axis.kind is Kind.REAL:
        return pa.array(lower + (upper - lower) * draw.random(codes.size), mask=empty)
    numbers = pa.array(draw.integers(lower, upper), mask=empty)
    return numbers.cast(pa.int32()).cast(pa.date32()) if axis.kind is Kind.DATE else numbers


def _ends(axis: Axis) -> tuple[Sequence[float], Sequence[float]]:
    edges = axis.edges or ()
    return edges[:-1], edges[1:]

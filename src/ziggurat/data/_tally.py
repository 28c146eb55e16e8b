"""Compute many aggregates over a table, some hundred to a query."""

from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeVar

import pyarrow as pa
from sqlglot import exp

# PostgreSQL answers with at most 1,664 columns; far below that, every engine plans a query in no time.
_AT_ONCE = 200

_Key = TypeVar("_Key", bound=Hashable)


def tally(run: Callable[[list[exp.Expr]], pa.Table], asked: Mapping[_Key, exp.Expr]) -> dict[_Key, Any]:
    """Return the value of each aggregate; a table of some fifty columns is read in one pass.

    Parameters
    ----------
    run
        Computes a list of aliased aggregates in one query.
    asked
        Aggregates by the key under which to answer.
    """
    named = [expression.as_(f"tally_{place}", copy=False) for place, expression in enumerate(asked.values())]
    values: list[Any] = []
    for start in range(0, len(named), _AT_ONCE):
        (answer,) = run(named[start : start + _AT_ONCE]).to_pylist()
        values.extend(answer.values())
    return dict(zip(asked, values, strict=True))

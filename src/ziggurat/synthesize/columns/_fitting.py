"""From which rows each column is learned, and what is kept of it meanwhile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from ziggurat.data import Condition
from ziggurat.data.coded import CodedColumn
from ziggurat.data.engines import Engine
from ziggurat.errors import DataError
from ziggurat.synthesize._saving import ColumnCheckpoint
from ziggurat.synthesize.columns._learning import Keep, Kept, Truths
from ziggurat.synthesize.columns._plan import ColumnPlan
from ziggurat.synthesize.columns._rules import RowRule
from ziggurat.synthesize.learners import describe_method


def either(where: Mapping[str, Condition], names: Sequence[str]) -> Condition:
    """Return the condition that a row is marked for any column."""
    texts = dict.fromkeys(each.text for each in where.values())
    return Condition.parse(" OR ".join(f"({text})" for text in texts), names)


def rows_for(
    name: str,
    rows: pa.Table,
    where: Mapping[str, Condition] | None,
    rules: Sequence[RowRule],
    engine: Engine | None,
) -> Truths:
    """Return from which rows a column is learned: those that will be drawn like it, and that no rule fixes.

    A replaced cell is a draw given that it is to be replaced (Reiter 2003), so that only such rows tell of it.
    """
    used = np.ones(rows.num_rows, np.bool_)
    if where is not None:
        used &= where[name].holds(rows, engine=engine)
        if not used.any():
            raise DataError(f"The condition {where[name].text!r} holds in no row; nothing would be drawn anew.")
    free = used.copy()
    for rule in rules:
        if rule.sets is not None and rule.sets[0] == name:
            free &= ~rule.applies(rows, engine)
    return free if free.any() else used


def keeping(
    folder: str | Path | None, plan: ColumnPlan, cells: Mapping[str, CodedColumn], fits: Mapping[str, Truths]
) -> tuple[Kept, Keep]:
    """Return how learned columns are taken up from a folder, and kept in it; without one they are not."""
    if folder is None:
        return (lambda _name, _part: None), (lambda _name, _part, _fitted: None)
    held = ColumnCheckpoint(folder)
    for name in plan.order:
        used = [cells[name], *(cells[each] for each in plan.given[name])]
        held.about(name, describe_method(plan.methods[name]), [each.take(fits[name]) for each in used])
    return (lambda name, part: held.find(name, part, plan.methods[name])), held.keep

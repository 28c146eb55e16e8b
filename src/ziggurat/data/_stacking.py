"""Ask the same of many columns: columns that are alike are stacked into one, so that the query does not grow with them.

A query that names two thousand columns takes an engine seconds to plan, and as many counts of distinct values far
longer; one long column of the same cells, grouped by where they come from, takes as long as its cells.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from sqlglot import exp

from ziggurat.data._tally import tally
from ziggurat.data.engines import Engine
from ziggurat.data.expressions import count_where
from ziggurat.data.schema import Column

Ask = Callable[[Column, pa.DataType], Mapping[str, exp.Expr]]
See = Callable[[Column, pa.DataType], exp.Expr]
Flag = Callable[[Column, pa.DataType], exp.Expr | None]

_PLACE, _CELL, _FLAG, _UNREADABLE = "ziggurat_place", "ziggurat_cell", "ziggurat_flag", "unreadable"
_STACKING = ("duckdb",)  # others plan a wide query quickly, or read a row whole for each of its cells
WORTH_STACKING = 8
"""From how many columns that are alike on it pays to stack them."""
_CELLS_AT_ONCE = 20_000_000


@dataclass(frozen=True)
class HeldColumns:
    """Where columns are held: the engine, the relation as it stands in a query, and the engine's own types."""

    engine: Engine
    relation: exp.Expr
    types: Mapping[str, pa.DataType]

    def count_rows(self) -> int:
        """Return the number of rows."""
        rows = exp.Count(this=exp.Star()).as_("rows")
        return int(self.engine.query(exp.select(rows).from_(self.relation)).column("rows")[0].as_py())


def tally_columns(
    held: HeldColumns, columns: Sequence[Column], ask: Ask, see: See | None = None, flag: Flag | None = None
) -> dict[str, dict[str, Any]]:
    """Return for each column the value of each aggregate that `ask` gives for it, by its key.

    Parameters
    ----------
    held
        Where they are.
    columns
        Of which to ask; what `ask` and `see` make of a column depends on its kind, missing codes and notation only.
    ask
        Gives aggregates over the cells of a column, by key.
    see
        Gives a cell as the aggregates see it; by default as the engine holds it.
    flag
        Gives the condition that a cell, as the engine holds it, cannot be read, or None; such cells are counted on
        the way, under the key "unreadable".
    """
    answers: dict[str, dict[str, Any]] = {}
    alone: list[Column] = []
    rows = held.count_rows() if len(columns) >= WORTH_STACKING and held.engine.dialect in _STACKING else None
    at_once = _CELLS_AT_ONCE // rows if rows else 0  # a table without rows has no groups
    for alike in _alike(held, columns):
        if min(len(alike), at_once) < WORTH_STACKING:
            alone.extend(alike)
        else:
            for start in range(0, len(alike), at_once):
                answers |= _ask_stack(held, alike[start : start + at_once], ask, see, flag)
    return answers | _ask_side_by_side(held, alone, ask, see, flag)


def _alike(held: HeldColumns, columns: Sequence[Column]) -> list[list[Column]]:
    groups: dict[tuple[Any, ...], list[Column]] = {}
    for column in columns:
        codes = tuple((type(code), code) for code in column.missing)
        key = (held.types[column.name], column.kind, column.storage, codes, column.written, column.sequence)
        groups.setdefault(key, []).append(column)
    return list(groups.values())


def _ask_stack(
    held: HeldColumns, alike: list[Column], ask: Ask, see: See | None, flag: Flag | None
) -> dict[str, dict[str, Any]]:
    given = held.types[alike[0].name]
    model = replace(alike[0], name=_CELL, labels=())
    place = exp.column(_PLACE, quoted=True)
    cell = see(model, given) if see else exp.column(_CELL, quoted=True)
    asked, shown = dict(ask(model, given)), [place, cell.as_(_CELL, quoted=True, copy=False)]
    marked = flag(model, given) if flag else None
    if marked is not None:
        shown.append(marked.as_(_FLAG, quoted=True, copy=False))
        asked[_UNREADABLE] = _count_flagged(_FLAG)
    seen = exp.select(*shown, copy=False).from_(_stack(held, alike), copy=False)
    named = [each.as_(f"tally_{at}", copy=False) for at, each in enumerate(asked.values())]
    query = (
        exp.select(place, *named, copy=False)
        .from_(seen.subquery("seen", copy=False), copy=False)
        .group_by(place, copy=False)
    )
    answer = {row.pop(_PLACE): tuple(row.values()) for row in held.engine.query(query).to_pylist()}
    return {each.name: dict(zip(asked, answer[each.name], strict=True)) for each in alike}


def _stack(held: HeldColumns, alike: list[Column]) -> exp.Expr:
    names = [exp.column(each.name, quoted=True) for each in alike]
    into = exp.Pivot(
        expressions=[exp.to_identifier(_CELL, quoted=True)],
        fields=[exp.In(this=exp.to_identifier(_PLACE, quoted=True), expressions=names)],
        unpivot=True,
        include_nulls=True,
    )
    chosen = exp.select(*names, copy=False).from_(held.relation, copy=False).subquery("held", copy=False)
    chosen.set("pivots", [into])
    return chosen


def _ask_side_by_side(
    held: HeldColumns, columns: list[Column], ask: Ask, see: See | None, flag: Flag | None
) -> dict[str, dict[str, Any]]:
    asked = {(each.name, key): one for each in columns for key, one in ask(each, held.types[each.name]).items()}
    shown = _shown(held, columns, see)
    for place, each in enumerate(columns if flag else ()):
        marked = flag(each, held.types[each.name]) if flag else None
        if marked is not None:
            shown[f"{_FLAG}_{place}"] = marked
            asked[each.name, _UNREADABLE] = _count_flagged(f"{_FLAG}_{place}")

    def run(aggregates: list[exp.Expr]) -> pa.Table:
        used = dict.fromkeys(cell.name for each in aggregates for cell in each.find_all(exp.Column))
        seen = [shown[name].as_(name, quoted=True, copy=False) for name in used]
        view = exp.select(*seen, copy=False).from_(held.relation, copy=False).subquery("seen", copy=False)
        return held.engine.query(exp.select(*aggregates, copy=False).from_(view, copy=False))

    answers: dict[str, dict[str, Any]] = {}
    for (name, key), value in tally(run, asked).items():
        answers.setdefault(name, {})[key] = value
    return answers


def _shown(held: HeldColumns, columns: list[Column], see: See | None) -> dict[str, exp.Expr]:
    given = held.types
    return {each.name: see(each, given[each.name]) if see else exp.column(each.name, quoted=True) for each in columns}


def _count_flagged(name: str) -> exp.Expr:
    return count_where(exp.column(name, quoted=True))

"""Audits of questions about tables, all the way from SQL through the engine to the noisy answer.

One question with groups is many runs at once: nobody is in two groups, so that neighbours differ in one group alone,
the noise of every group is drawn on its own, and each is a run of the same plan on the same pair of neighbours, at all
of epsilon. The noise is that of a question without groups. Estimates of errors that are not noise are left out. Where
answers of groups are made consistent, as those of a workload, that does not hold, and every run is a run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ziggurat.attacks.audits._case import AuditCase, Draw
from ziggurat.data import Bounds, Column, Kind, Schema, Table, Unit
from ziggurat.data.engines import DuckDBEngine
from ziggurat.queries import Catalogue, QuestionPlan, Terms, Workload, parse
from ziggurat.randomness import Source

DELTA = "0.01"
MANY = 4000  # groups of one question
_HIGHEST = 7

Rows = tuple[tuple[int, ...], tuple[int, ...]]


def _open(cells: Sequence[int], groups: int, *, people: bool = False, named: bool = True) -> Table:
    """A table in which every group has the same cells, each of a row of its own, or all of one person.

    Which groups there may be is public (`named`) or not.
    """
    import pyarrow as pa

    columns = (
        Column("who", Kind.INTEGER),
        Column("place", Kind.INTEGER, bounds=Bounds(0, max(groups - 1, 1)) if named else None),
        Column("x", Kind.INTEGER, bounds=Bounds(0, _HIGHEST)),
    )
    engine = DuckDBEngine()
    places = np.repeat(np.arange(groups), len(cells))
    held = {"who": places, "place": places, "x": np.tile(np.array(cells, np.int64), groups)}
    schema = Schema(columns, unit=Unit.person("who")) if people else Schema(columns)
    return Table(engine, engine.attach(pa.table(held)), schema)


def _ask(aggregate: str, rows: Rows, *, opened: dict[str, bool] | None = None, **terms: Any) -> Callable[[Any], Draw]:
    """Ask about groups that have the rows of one neighbour, or of the other; a group that is not named answers -1.

    Seen are the value and the ends of its interval, which are drawn as well where a value is chosen.
    """

    def built(epsilon: Fraction) -> Draw:
        def draw(world: Literal[0, 1], runs: int, source: Source) -> npt.ArrayLike:
            known = Catalogue({"people": _open(rows[world], runs, **(opened or {}))})
            asked = parse(f"SELECT place, {aggregate} AS it FROM people GROUP BY place", known)  # noqa: S608 - ours
            answer = QuestionPlan(asked, Terms(epsilon, effects=0, **terms)).run(source)
            seen = np.full((runs, 3), -1.0)
            for (place,), each in zip(answer.groups, answer.estimates["it"], strict=True):
                seen[int(str(place))] = [float(str(end)) for end in (each.value, each.low, each.high)]
            return seen if "QUANTILE" in aggregate else seen[:, 0]

        return draw

    return built


def _answer_workload(epsilon: Fraction) -> Draw:
    """Several histograms of one table, whose answers are made consistent; seen are all answers of a run."""

    def draw(world: Literal[0, 1], runs: int, source: Source) -> npt.ArrayLike:
        table = _open((0,) + (_HIGHEST,) * world, 1)
        plan = Workload(table.schema).prefixes("x").total().plan(table.unit, epsilon)
        answers = [plan.run(table, source).groups for _ in range(runs)]
        return np.array([np.concatenate([group.value for group in each]) for each in answers])

    return draw


_ROW, _PERSON = "one row more", "a person with twelve rows more, of which two count"
_MORE: Rows = ((), (_HIGHEST,))

CASES = (
    AuditCase("queries.QuestionPlan.count", f"no row and one, {_ROW}", _ask("COUNT(*)", _MORE), runs=MANY),
    AuditCase("queries.QuestionPlan.sum", f"no row and one at the bound, {_ROW}", _ask("SUM(x)", _MORE), runs=MANY),
    AuditCase(
        "queries.QuestionPlan.mean",
        f"a row at one bound, and one at the other, {_ROW}",
        _ask("AVG(x)", ((0,), (0, _HIGHEST))),
        runs=MANY,
        fault=4,
    ),
    AuditCase(
        "queries.QuestionPlan.median",
        f"no row and one at the bound, {_ROW}",
        _ask("QUANTILE(x, 0.5)", _MORE),
        runs=MANY // 2,
        fault=16,
    ),
    AuditCase("queries.QuestionPlan.distinct", f"no row and one, {_ROW}", _ask("COUNT(DISTINCT x)", _MORE), runs=MANY),
    AuditCase(
        "queries.QuestionPlan.gaussian",
        f"no row and one at the bound, {_ROW}",
        _ask("SUM(x)", _MORE, delta=DELTA, noise="gaussian"),
        delta=DELTA,
        runs=MANY,
        fault=3,
    ),
    AuditCase(
        "queries.QuestionPlan.groups",
        f"groups of three rows and of four, whose names are not public, {_ROW}",
        _ask("COUNT(*)", ((0,) * 3, (0,) * 4), opened={"named": False}, delta=DELTA),
        delta=DELTA,
        runs=MANY,
        fault=3,
    ),
    AuditCase(
        "queries.QuestionPlan.people",
        _PERSON,
        _ask("COUNT(*)", ((), (_HIGHEST,) * 12), opened={"people": True}, rows_per_unit=2, groups_per_unit=1),
        runs=MANY,
    ),
    AuditCase(
        "queries.WorkloadPlan",
        f"a row at one bound, and one at the other, {_ROW}",
        _answer_workload,
        runs=200,
        fault=6,
    ),
)

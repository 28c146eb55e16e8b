"""On every engine the sums of unmoved cells are those of moved ones, and are used only where none had to be moved."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import pyarrow as pa
import pytest
from sqlglot import exp

from ziggurat.data import Bounds, Categories, Column, Kind, Schema, Table, Unit
from ziggurat.data.engines import DuckDBEngine, Engine
from ziggurat.queries import Catalogue, QuestionPlan, Terms, parse
from ziggurat.queries._value import Value
from ziggurat.queries.answering._additive import Need
from ziggurat.queries.answering._execution import Execution
from ziggurat.queries.answering._grid import leave_unmoved
from ziggurat.queries.answering.watching import _inside, choose_test
from ziggurat.queries.answering.watching._inside import CountTest, EndsTest
from ziggurat.randomness import seeded

Load = Callable[[pa.Table], str]
Row = tuple[str | None, int | None, float | None, int | None]
KINDS = {"sex": pa.string(), "age": pa.int64(), "cost": pa.float64(), "coded": pa.int64()}
COLUMNS = (
    Column("sex", Kind.CATEGORY, categories=Categories(("f", "m"))),
    Column("age", Kind.INTEGER, bounds=Bounds(-20, 100)),
    Column("cost", Kind.REAL, bounds=Bounds(0.0, 9.7)),
    Column("coded", Kind.INTEGER, bounds=Bounds(0, 5), missing=(-9,)),
)
CALM: list[Row] = [
    ("f", -20, 0.0, 0), ("f", 100, 9.7, 5), ("m", None, -0.0, 4), ("m", 37, None, None), (None, 7, 3.3, 1),
    ("m", 41, 1e-310, 2), ("f", 0, 0.1, 3),
]  # fmt: skip
WILD: list[Row] = [
    *(("f", 1, cost, 0) for cost in (math.nan, math.inf, -math.inf, 1e300, -1e300, 9.700000000000003, -5e-324)),
    *(("m", age, 1.0, 0) for age in (101, -21, 10**12, 2**63 - 1, -(2**63))),
    ("f", 1, 1.0, 6),
    ("f", 1, 1.0, -9),
    (None, 101, 1.0, 0),
    (None, 1, math.nan, 0),
]
ASKED = "COUNT(*) AS n, COUNT(cost) AS c, SUM(age) AS s, AVG(age) AS a, AVG(cost) AS m, SUM(coded) AS d"


def table_of(engine: Engine, load: Load, rows: Sequence[Row]) -> Table:
    cells = {name: [row[place] for row in rows] for place, name in enumerate(KINDS)}
    arrays = {name: pa.array(cells[name], kind, from_pandas=False) for name, kind in KINDS.items()}
    return Table(engine, load(pa.table(arrays)), Schema(COLUMNS, unit=Unit()))


def look(engine: Engine, load: Load, rows: Sequence[Row], text: str, moved: bool = False) -> tuple[Any, list[str], int]:
    """The sums and histograms, the statements that are told, and how many the engine was asked."""
    table = table_of(engine, load, rows)
    plan = QuestionPlan(parse(text, Catalogue({"people": table})), Terms(1))
    execution, asked, query = Execution(plan, seeded(1), None), [], engine.query
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_inside, "_seen_outside", WeakKeyDictionary())
        if moved:
            patched.setattr(Execution, "_looks_outside", False)
        patched.setattr(engine, "query", lambda *given: asked.append(given) or query(*given))
        sums = execution._sums([need for need, _ in plan.measured(plan.estimators({}))])
        groups, _ = execution._groups(sums)
        watched = [execution._watch(each).tolist() for each in plan.watches]
    told = [each.replace(table._name, "people") for each in execution.statements]
    return ([sums.get(group) for group in groups], watched), told, len(asked)


def ask(keys: str, asked: str = ASKED) -> str:
    return f"SELECT {keys}, {asked} FROM people GROUP BY {keys}" if keys else f"SELECT {asked} FROM people"


@pytest.mark.parametrize("keys", ["", "sex"])
def test_one_question_is_enough_where_no_cell_lies_outside(held: tuple[Engine, Load], keys: str) -> None:
    for rows in (CALM, CALM[:1], [("f", None, None, None)] * 3, []):
        found, _, asked = look(*held, rows, ask(keys))
        assert found == look(*held, rows, ask(keys), moved=True)[0]
        assert asked == 1


@pytest.mark.parametrize("keys", ["", "sex"])
def test_one_cell_outside_is_moved_and_counted_and_told_of_by_nothing(held: tuple[Engine, Load], keys: str) -> None:
    _, calmly, _ = look(*held, CALM, ask(keys))
    for wild in WILD:
        found, told, asked = look(*held, [*CALM, wild], ask(keys))
        assert found == look(*held, [*CALM, wild], ask(keys), moved=True)[0], wild
        assert told == calmly
        assert asked == expect_asked(held[0], wild), wild


def expect_asked(engine: Engine, wild: Row) -> int:
    """Once if nothing had to be moved; for the sums again, and for how far outside; for that alone."""
    if wild[3] == -9 or (engine.knows_extremes and wild[2] is not None and not math.isfinite(wild[2])):
        return 1
    return 2 if wild[3] == 6 and not engine.knows_extremes else 3


def test_rows_that_a_question_leaves_out_may_lie_anywhere(held: tuple[Engine, Load]) -> None:
    text = "SELECT SUM(age) AS s, SUM(cost) FILTER (WHERE age > 5) AS c FROM people WHERE sex = 'm'"
    found, _, asked = look(*held, [*CALM, ("f", 101, 1.0, 0)], text)
    assert found == look(*held, [*CALM, ("f", 101, 1.0, 0)], text, moved=True)[0]
    assert asked == 1


def test_each_aggregate_is_held_to_its_own_bounds(held: tuple[Engine, Load]) -> None:
    text = "SELECT SUM(CLAMP(age, 0, 50)) AS few, SUM(age) AS s, SUM(age + 0) AS t, COUNT(age) AS n FROM people"
    for rows in (CALM, CALM[2:4], [*CALM, ("f", 101, 1.0, 0)]):
        assert look(*held, rows, text)[0] == look(*held, rows, text, moved=True)[0]


def test_what_was_found_outside_is_not_tried_again(held: tuple[Engine, Load]) -> None:
    engine = held[0]
    age = Value(exp.column("age"), Kind.INTEGER, 0, 1, column="age", raw=exp.column("age"))
    need = Need("sum", exp.column("age"), 1, Fraction(1), unmoved=leave_unmoved(age))
    test = choose_test(parse(ask(""), Catalogue({"people": table_of(*held, CALM)})), [need], [])
    assert test.helps
    assert not test.failed_before(engine)
    test.note_outside(engine)
    assert test.failed_before(engine)


def test_a_test_that_lets_everything_pass_is_caught(held: tuple[Engine, Load], monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (CountTest, EndsTest):
        monkeypatch.setattr(kind, "holds", lambda _self, _rows: True)
    rows = [*CALM, ("f", 101, 1.0, 0)]
    assert look(*held, rows, ask("sex"))[0] != look(*held, rows, ask("sex"), moved=True)[0]


def test_cells_that_the_statistics_of_a_file_leave_out_are_missing(tmp_path: Path) -> None:
    from pyarrow import parquet

    def load(table: pa.Table) -> str:
        parquet.write_table(table, tmp_path / "rows.parquet")
        return engine.attach(tmp_path / "rows.parquet")

    with DuckDBEngine() as engine:
        for rows in ([*CALM, ("f", 1, math.nan, 0)], [("f", 1, math.nan, 0)] * 3, [*CALM, ("f", 1, math.inf, 0)]):
            assert look(engine, load, rows, ask("sex"))[0] == look(engine, load, rows, ask("sex"), moved=True)[0]

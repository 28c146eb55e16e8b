"""Every engine hands over rows of units such that what is weighed here is what its own statement weighs."""

import datetime
import math
import random
import re
from collections.abc import Callable
from fractions import Fraction

import pyarrow as pa
import pytest
from sqlglot import exp

from ziggurat.data import Bounds, Categories, Column, Kind, Schema, Table, Unit
from ziggurat.data.engines import DuckDBEngine, Engine, PostgresEngine, scramble
from ziggurat.queries import Catalogue, QuestionPlan, Terms, parse
from ziggurat.queries.answering._additive import Need
from ziggurat.queries.answering._counted import UNIT, compare_exactly, key_names, rows_of
from ziggurat.queries.answering._execution import Execution
from ziggurat.queries.answering.watching import LeftOut
from ziggurat.queries.answering.weighing import _asked, _held
from ziggurat.randomness import seeded

Load = Callable[[pa.Table], str]
DAY = datetime.date
SALTS = (1, 2, 3)
CELLS = {
    "who": (pa.int64(), [None, 0, 1, 2, 3, -1, 2**63 - 1, -(2**63)]),
    "name": (pa.string(), [None, "", "a", "A", "b", "ab", "日本", "a" * 40, "a" * 39 + "b", "x\\y", '"', "é"]),
    "born": (pa.date32(), [None, DAY(1, 1, 1), DAY(1970, 1, 1), DAY(9999, 12, 31)]),
    "sex": (pa.string(), [None, "f", "m", "?", "F", ""]),
    "size": (pa.int64(), [None, 0, 1, 2, 7]),
    "town": (pa.string(), [None, "x", "y", "X", "z" * 30, "é", "e"]),
    "age": (pa.int64(), [None, -20, 100, 0, 10**12, -(10**12), 37]),
    "cost": (pa.float64(), [None, 0.0, -0.0, 9.5, 3.3, math.nan, math.inf, -math.inf, 1e300]),
    "wealth": (pa.float64(), [None, 1e12, -1e12, 1e300, math.nan, 0.1, -7.0]),
}
COLUMNS = (
    Column("who", Kind.INTEGER),
    Column("name", Kind.TEXT),
    Column("born", Kind.DATE),
    Column("sex", Kind.CATEGORY, categories=Categories(("f", "m"))),
    Column("size", Kind.INTEGER, bounds=Bounds(0, 2)),
    Column("town", Kind.TEXT),
    Column("age", Kind.INTEGER, bounds=Bounds(-20, 100)),
    Column("cost", Kind.REAL, bounds=Bounds(0.0, 9.5)),
    Column("wealth", Kind.REAL, bounds=Bounds(-1e12, 1e12)),
)
ASKED = (
    "COUNT(*) AS n, COUNT(cost) AS c, SUM(age) AS s, SUM(wealth) AS w, AVG(cost) AS m, VAR_POP(age) AS v, "
    "COUNT(DISTINCT {unit}) AS u"
)


def draw_rows(rows: int, seed: int) -> pa.Table:
    """Rows of every kind of cell, of a few units with many rows and many with few."""
    draw = random.Random(seed)
    columns = {name: [draw.choice(cells) for _ in range(rows)] for name, (_, cells) in CELLS.items()}
    if seed % 2:
        columns["who"] = [int(draw.paretovariate(0.5)) % 97 for _ in range(rows)]
    return pa.table({name: pa.array(columns[name], kind, from_pandas=False) for name, (kind, _) in CELLS.items()})


def plan_for(engine: Engine, name: str, unit: str, keys: str, rows: int = 2, groups: int = 2) -> QuestionPlan:
    table = Table(engine, name, Schema(COLUMNS, unit=Unit.person(unit)))
    asked = ASKED.format(unit=unit)
    text = f"SELECT {keys}, {asked} FROM people GROUP BY {keys}" if keys else f"SELECT {asked} FROM people"
    return QuestionPlan(
        parse(text, Catalogue({"people": table})), Terms(1, "1e-6", rows_per_unit=rows, groups_per_unit=groups)
    )


def weigh(plan: QuestionPlan, engine: Engine, salt: int, here: bool, monkeypatch: pytest.MonkeyPatch):
    """The sums of the groups that may be answered, and units by the rows they lose."""
    execution = Execution(plan, seeded(salt), None)
    with monkeypatch.context() as patched:
        patched.setattr(type(engine), "hands_rows", property(lambda _self: here))
        sums = execution._sums([need for need, _ in plan.measured(plan.estimators({}))])
        lost = [execution._watch(each).tolist() for each in plan.watches if isinstance(each, LeftOut)]
    assert (execution._lost is not None) == here
    if plan.selection is None:
        listed, _ = execution._groups({})
        sums = {group: sums[group] for group in listed if group in sums}
    return sums, lost


@pytest.mark.parametrize("seed", [0, 1])
def test_handed_rows_weigh_what_the_engine_weighs(
    held: tuple[Engine, Load], seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, load = held
    name = load(draw_rows(400, seed))
    units = {0: ("name", "born"), 1: ("who",)}[seed]
    monkeypatch.setattr(_held, "_FEW", 0)  # compiled from the first row on
    for unit in units:
        for keys, salt in zip(("", "sex", "town, size"), SALTS, strict=True):
            plan = plan_for(engine, name, unit, keys)
            assert weigh(plan, engine, salt, True, monkeypatch) == weigh(plan, engine, salt, False, monkeypatch)


PLAIN = "COUNT(*) AS n, COUNT(cost) AS c, SUM(age) AS s, COUNT(DISTINCT {unit}) AS u"


def read_plainly(row: dict[str, object], name: str) -> object:
    """A cell as a question sees it: moved into its bounds, and None where it is missing."""
    cell, column = row[name], next(each for each in COLUMNS if each.name == name)
    if cell is None or (isinstance(cell, float) and not math.isfinite(cell)):
        return None
    return cell if column.bounds is None else min(max(cell, column.bounds.lower), column.bounds.upper)


def draw_lots(plan: QuestionPlan, engine: Engine, salt: int) -> dict[tuple[object, ...], int]:
    """The lot of every group of every unit: the one thing that is not computed here, as it is the engine's hash."""
    names = [exp.column(name, quoted=True) for name in (UNIT, *key_names(plan.question))]
    lot = exp.cast(scramble([each.copy() for each in names], salt), "TEXT").as_("lot")
    asked = exp.select(*names, lot).from_(rows_of(plan.question, {}).subquery("counted"))
    return {tuple(row.values())[:-1]: int(row["lot"]) for row in engine.query(asked).to_pylist()}


def add_plainly(
    plan: QuestionPlan, rows: list[dict[str, object]], unit: str, keys: list[str], lots: dict[tuple[object, ...], int]
) -> dict[tuple[object, ...], list[int]]:
    """What bounding promises, row after row in fractions: slow, and with nothing to get wrong."""
    shared, held = plan.shared, {}
    for row in rows:
        group = tuple(read_plainly(row, name) for name in keys)
        if row[unit] is not None and None not in group:
            held.setdefault(row[unit], {}).setdefault(group, []).append(row)
    sums: dict[tuple[object, ...], list[int]] = {}
    for one, groups in held.items():
        kept = sorted(groups, key=lambda group, one=one: lots[one, *group])[: shared.groups] if keys else list(groups)
        for group in kept:
            cells = groups[group]
            adds = [1, len(cells), sum(read_plainly(row, "cost") is not None for row in cells)]
            adds.append(sum(read_plainly(row, "age") or 0 for row in cells))
            part = min(Fraction(1), Fraction(shared.rows, len(cells)))
            needs = [need for need, _ in plan.measured(plan.estimators({}))]
            found = [
                min(adds[0], 1)
                if need.combine == "units"
                else math.floor(adds[_place(need)] * need.fineness * part + Fraction(1, 2))
                for need in needs
            ]
            total = sums.setdefault(group, [0] * len(found))
            total[:] = [mine + more for mine, more in zip(total, found, strict=True)]
    return sums


def _place(need: Need) -> int:
    return {"rows": 1, "count": 2, "sum": 3}[need.combine]


@pytest.mark.parametrize("seed", [0, 1])
def test_both_ways_weigh_what_a_plain_reference_weighs(
    held: tuple[Engine, Load], seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, load = held
    rows = draw_rows(150, seed)
    name, plain = load(rows), rows.to_pylist()
    for unit, keys, limits in (("who", "", (2, 1)), ("name", "sex", (1, 1)), ("born", "town, size", (3, 2))):
        table = Table(engine, name, Schema(COLUMNS, unit=Unit.person(unit)))
        text = f"{PLAIN.format(unit=unit)} FROM people"
        text = f"SELECT {keys}, {text} GROUP BY {keys}" if keys else f"SELECT {text}"
        terms = Terms(1, "1e-6", rows_per_unit=limits[0], groups_per_unit=limits[1])
        plan = QuestionPlan(parse(text, Catalogue({"people": table})), terms)
        execution = Execution(plan, seeded(seed), None)
        lots = draw_lots(plan, engine, execution.salt)
        wanted = add_plainly(plan, plain, unit, keys.split(", ") if keys else [], lots)
        if plan.selection is None:
            listed, _ = execution._groups({})
            wanted = {group: wanted[group] for group in listed if group in wanted}
        assert wanted
        many = len(next(iter(wanted.values())))
        for here in (True, False):
            found, _ = weigh(plan, engine, seed, here, monkeypatch)
            assert {group: values[:many] for group, values in found.items()} == wanted


def test_units_that_are_handed_over_in_parts_add_up_to_the_same(
    held: tuple[Engine, Load], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, load = held
    plan = plan_for(engine, load(draw_rows(1500, 4)), "name", "sex", 3, 1)
    asked = weigh(plan, engine, 1, False, monkeypatch)
    monkeypatch.setattr(_asked, "_MEMORY", 2**14)
    monkeypatch.setattr(_held, "_FEW", 100)
    assert weigh(plan, engine, 1, True, monkeypatch) == asked


@pytest.mark.parametrize("few_parts", [False, True])
def test_what_is_told_does_not_say_whether_there_is_a_row_whatever_tells_people_apart(
    held: tuple[Engine, Load], few_parts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """People told apart by reals are weighed by the engine: which statement ran must not depend on there being any."""
    engine, load = held
    monkeypatch.setattr(type(engine), "hands_rows", property(lambda _self: True))
    if few_parts and not engine.gathers_units:
        monkeypatch.setattr(_asked, "_MEMORY", 2**10)
        monkeypatch.setattr(type(engine), "most_parts", 2)
    told = []
    for rows in (200, 1, 0):
        name = load(draw_rows(200, 3).slice(0, rows).drop_columns("cost").append_column("cost", reals(rows)))
        table = Table(engine, name, Schema(COLUMNS, unit=Unit.person("cost")))
        question = parse("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", Catalogue({"people": table}))
        plan = QuestionPlan(question, Terms(1, rows_per_unit=2, groups_per_unit=1))
        told.append([each.replace(name, "people") for each in plan.run(seeded(1)).statements])
    assert [len(each) for each in told] == [len(told[0])] * 3
    assert [_without_names(each) for each in told[1:]] == [_without_names(told[0])] * 2


def reals(rows: int) -> pa.Array:
    return pa.array([float(row % 50) for row in range(rows)], pa.float64())


def _without_names(statements: list[str]) -> list[str]:
    """Tables that were lent have another number each time."""
    return [re.sub(r"ziggurat_(lent_)?[0-9]+", "lent", each) for each in statements]


def test_no_rows_are_handed_over_as_none(held: tuple[Engine, Load], monkeypatch: pytest.MonkeyPatch) -> None:
    engine, load = held
    plan = plan_for(engine, load(draw_rows(1, 0).slice(0, 0)), "name", "sex")
    assert weigh(plan, engine, 1, True, monkeypatch)[1] == weigh(plan, engine, 1, False, monkeypatch)[1]


def test_where_handing_over_fails_the_engine_weighs(held: tuple[Engine, Load], monkeypatch: pytest.MonkeyPatch) -> None:
    engine, load = held
    plan = plan_for(engine, load(draw_rows(100, 0)), "who", "sex")
    asked = weigh(plan, engine, 1, False, monkeypatch)
    execution = Execution(plan, seeded(1), None)

    def fail(_expression: object) -> object:
        return engine._withheld(lambda: 1 // 0, "Handing over rows")

    monkeypatch.setattr(engine, "hand_over", fail)
    monkeypatch.setattr(type(engine), "hands_rows", property(lambda _self: True))
    sums = execution._sums([need for need, _ in plan.measured(plan.estimators({}))])
    assert {group: sums[group] for group in asked[0]} == asked[0]
    assert execution._lost is None


@pytest.mark.parametrize("unit", [Unit(), Unit.person("who")])
@pytest.mark.parametrize("keys", ["", "sex"])
def test_cells_outside_their_bounds_are_counted_alike_whether_they_are_seen_with_the_sums_or_not(
    held: tuple[Engine, Load], unit: Unit, keys: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, load = held
    wild = draw_rows(300, 2)
    calm = wild.set_column(6, "age", pa.array([7, None, -20] * 100, pa.int64()))
    calm = calm.set_column(7, "cost", pa.array([0.0, None, 9.5] * 100, pa.float64()))
    text = "COUNT(*) AS n, SUM(age) AS s, AVG(cost) AS m FROM people"
    text = f"SELECT {keys}, {text} GROUP BY {keys}" if keys else f"SELECT {text}"
    terms = Terms(1, rows_per_unit=2, groups_per_unit=1) if unit.column else Terms(1)
    for rows, some in ((wild, True), (calm, False)):
        table = Table(engine, load(rows), Schema(COLUMNS, unit=unit))
        plan, found, told = QuestionPlan(parse(text, Catalogue({"people": table})), terms), [], []
        for quick in (True, False):
            monkeypatch.setattr(type(engine), "knows_extremes", quick)
            execution = Execution(plan, seeded(1), None)
            sums = execution._sums([need for need, _ in plan.measured(plan.estimators({}))])
            groups, _ = execution._groups(sums)
            found.append(
                ([sums.get(group) for group in groups], [execution._watch(each).tolist() for each in plan.watches])
            )
            told.append(len(execution.statements))
        assert found[0] == found[1]
        assert told[0] == told[1]
        assert any(sum(each) for each in found[0][1][-2:]) == some


def _count_by_case(engine: Engine, name: str, terms: Terms, unit: Unit) -> dict[tuple[object, ...], list[int]]:
    columns = (Column("who", Kind.INTEGER), Column("sex", Kind.CATEGORY, categories=Categories(("a", "A"))))
    table = Table(engine, name, Schema(columns, unit=unit))
    question = parse("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", Catalogue({"people": table}))
    plan = QuestionPlan(question, terms)
    return Execution(plan, seeded(1), None)._sums([need for need, _ in plan.measured(plan.estimators({}))])


def _open_caseless(first: str) -> DuckDBEngine:
    """A column in which DuckDB takes 'a' and 'A' for the same, with ten rows of 'a' after one of `first`."""
    import duckdb

    connection = duckdb.connect()
    connection.sql("SET default_collation = 'NOCASE'")
    connection.sql(
        f"CREATE TABLE people AS SELECT CAST(0 AS BIGINT) AS who, '{first}' AS sex "
        "UNION ALL SELECT n, 'a' FROM range(1, 11) AS t(n)"
    )
    return DuckDBEngine(connection)


@pytest.mark.parametrize("here", [True, False])
@pytest.mark.parametrize("unit", [Unit(), Unit.person("who")])
def test_one_row_does_not_rename_the_group_of_others_where_case_means_nothing(
    unit: Unit, here: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    terms = Terms(1, rows_per_unit=2, groups_per_unit=1) if unit.column else Terms(1)
    monkeypatch.setattr(DuckDBEngine, "hands_rows", property(lambda _self: here))
    for first in ("a", "A"):
        with _open_caseless(first) as opened:
            found = _count_by_case(opened, "people", terms, unit)
        assert found["a",][0] == (11 if first == "a" else 10)
        assert sum(sums[0] for sums in found.values()) == 11


@pytest.mark.parametrize("here", [True, False])
@pytest.mark.parametrize(
    "source",
    [
        "people",
        "(SELECT who, SUM(age) AS age FROM people GROUP BY who) AS p",
        "people AS p JOIN (SELECT who, COUNT(*) AS n FROM people GROUP BY who) AS q ON p.who = q.who",
    ],
)
def test_people_are_told_apart_by_bytes_whoever_bounds_them_and_whatever_the_column_takes_for_the_same(
    here: bool, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two people whose names differ in case do not share one limit: each adds what is paid for, in both ways."""
    import duckdb

    monkeypatch.setattr(DuckDBEngine, "hands_rows", property(lambda _self: here))
    columns = (Column("who", Kind.TEXT), Column("age", Kind.INTEGER, bounds=Bounds(0, 9)))
    connection = duckdb.connect()
    connection.sql("SET default_collation = 'NOCASE'")
    connection.sql(
        "CREATE TABLE people AS SELECT who, 1::BIGINT AS age FROM (VALUES ('a'), ('A')) AS t (who), range(5)"
    )
    with DuckDBEngine(connection) as engine:
        table = Table(engine, "people", Schema(columns, unit=Unit.person("who")))
        rows = 1 if source.startswith("(") else 2
        question = parse(
            f"SELECT COUNT(*) AS n, COUNT(DISTINCT UNIT()) AS u FROM {source}", Catalogue({"people": table})
        )
        plan = QuestionPlan(question, Terms(1, rows_per_unit=rows, groups_per_unit=1))
        found = Execution(plan, seeded(1), None)._sums([need for need, _ in plan.measured(plan.estimators({}))])
    assert found[()] == [2 * rows, 2]
    assert "BYTE" not in question.text, "answers of before are known by this text"


@pytest.mark.postgres
def test_postgresql_is_told_to_group_texts_by_their_bytes(postgres_uri: str) -> None:
    # The servers of these tests have no collation to which different texts are the same.
    with PostgresEngine(postgres_uri) as engine:
        for kind, told in ((Kind.TEXT, True), (Kind.INTEGER, False)):
            written = engine.statement(exp.select(compare_exactly(kind, exp.column("sex"))))
            assert ('COLLATE "C"' in written) == told

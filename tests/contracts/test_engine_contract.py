"""What every engine promises; one suite over DuckDB, Spark and PostgreSQL.

Loaders (`conftest.py`) put the same Arrow table into each engine; from there on the tests know no engine by name.
"""

import datetime
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlglot import exp, select

from ziggurat.data import Bounds, Categories, Column, Kind, Schema, Symbols, Table, Unit, suggest_schema
from ziggurat.data.engines import DuckDBEngine, Engine, PostgresEngine
from ziggurat.data.expressions import clamp, count_where, exact_sum, is_present, quantize, quantize_bounds, ratio
from ziggurat.data.free_text import free_text_in
from ziggurat.errors import DataError, EngineError, NotPublicError, SchemaError
from ziggurat.sequences import SequenceLayout, Sequences, read_sequences

Load = Callable[[pa.Table], str]


def _load_through_parquet(engine: Engine, load: Load, table: pa.Table, folder: Path) -> str:
    """Attach a Parquet file, whose statistics leave NaN out, or load the table where there are no files."""
    if isinstance(engine, PostgresEngine):
        return load(table)
    pq.write_table(table, folder / "t.parquet")
    return engine.attach(str(folder / "t.parquet"))


def _rows(engine: Engine, query: exp.Expr) -> list[dict[str, Any]]:
    return engine.query(query).to_pylist()


def test_every_type_has_one_canonical_form(held: tuple[Engine, Load]) -> None:
    engine, load = held
    day, moment = datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 13, 5, 7, 250)
    given = {
        "whole": pa.array([1, None], pa.int64()),
        "small": pa.array([2, None], pa.int32()),
        "real": pa.array([0.1, None], pa.float64()),
        "word": pa.array(["ä b", None], pa.string()),
        "truth": pa.array([True, None], pa.bool_()),
        "day": pa.array([day, None], pa.date32()),
        "moment": pa.array([moment, None], pa.timestamp("us")),
    }
    answer = engine.query(select("*").from_(load(pa.table(given))))
    wanted = [pa.int64(), pa.int64(), pa.float64(), pa.string(), pa.bool_(), pa.date32(), pa.timestamp("us")]
    assert answer.schema.types == wanted
    rows = sorted(answer.to_pylist(), key=lambda row: row["whole"] is None)
    assert list(rows[0].values()) == [1, 2, 0.1, "ä b", True, day, moment]
    assert set(rows[1].values()) == {None}


def test_counts_and_sums_of_integers_are_int64(held: tuple[Engine, Load]) -> None:
    engine, load = held
    name = load(pa.table({"a": pa.array([1, 2, None], pa.int64())}))
    answer = engine.query(select("COUNT(*) AS n", "COUNT(a) AS f", "SUM(a) AS s", "MAX(a) AS m").from_(name))
    assert answer.schema.types == [pa.int64()] * 4
    assert answer.to_pylist() == [{"n": 3, "f": 2, "s": 3, "m": 2}]


def test_a_sum_beyond_64_bits_is_exact(held: tuple[Engine, Load]) -> None:
    engine, load = held
    largest = 2**63 - 1
    name = load(pa.table({"a": pa.array([largest] * 5, pa.int64())}))
    answer = engine.query(select(exact_sum(exp.column("a")).as_("s")).from_(name))
    assert answer.schema.types == [pa.decimal128(38, 0)]
    assert int(answer.column("s")[0].as_py()) == 5 * largest


def test_narrow_cells_of_any_size_add_up_without_losing_a_digit(held: tuple[Engine, Load]) -> None:
    engine, load = held
    ends = [-(2**63), -(2**42), -(2**21) - 1, -1, 0, 1, 2**21, 2**42 - 1, 2**62 + 12345, 2**63 - 1]
    sums = [[2**63 - 1] * 5, [-(2**63)] * 5, ends, [None, 7, None, -9], [3]]
    rows = [(group, cell) for group, cells in enumerate(sums) for cell in cells]
    groups, cells = zip(*rows, strict=True)
    name = load(pa.table({"g": pa.array(groups, pa.int64()), "a": pa.array(cells, pa.int64())}))
    total = exact_sum(exp.column("a"), narrow=True).as_("s")
    found = {row["g"]: int(row["s"]) for row in _rows(engine, select("g", total).from_(name).group_by("g"))}
    assert found == {group: sum(cell or 0 for cell in cells) for group, cells in enumerate(sums)}


@pytest.mark.parametrize("narrow", [False, True])
def test_the_sum_of_nothing_is_zero(held: tuple[Engine, Load], narrow: bool) -> None:
    engine, load = held
    name = load(pa.table({"a": pa.array([None, None], pa.int64())}))
    answer = engine.query(select(exact_sum(exp.column("a"), narrow=narrow).as_("s")).from_(name))
    assert answer.schema.types == [pa.int64()]
    assert answer.to_pylist() == [{"s": 0}]


def test_a_decimal_with_a_fraction_is_the_nearest_float(held: tuple[Engine, Load]) -> None:
    from decimal import Decimal

    engine, load = held
    texts = ["0.30", "0.70", "1234567.89", "-0.01"]
    table = pa.table({"d": pa.array([Decimal(text) for text in texts], pa.decimal128(9, 2))})
    wide = [Decimal("1234567890123456.7890123456"), Decimal("0.1000000001"), Decimal(3), Decimal("-99.7")]
    table = table.append_column("w", pa.array(wide, pa.decimal128(38, 10)))
    name = load(table)
    answer = engine.query(select("d", "w").from_(name))
    assert answer.schema.types == [pa.float64(), pa.float64()]
    assert sorted(answer.column("d").to_pylist()) == sorted(float(text) for text in texts)
    seen = Table(engine, name).raw.rows()
    assert sorted(seen.column("w").to_pylist()) == sorted(float(value) for value in wide)


def test_division_by_zero_is_null_and_whole_numbers_divide_as_reals(held: tuple[Engine, Load]) -> None:
    engine, load = held
    name = load(pa.table({"a": pa.array([1, 7], pa.int64()), "b": pa.array([0, 2], pa.int64())}))
    answer = engine.query(select("b", ratio(exp.column("a"), exp.column("b")).as_("q")).from_(name).order_by("b"))
    assert answer.to_pylist() == [{"b": 0, "q": None}, {"b": 2, "q": 3.5}]


def test_present_is_true_or_false_and_excludes_every_missing_value(held: tuple[Engine, Load]) -> None:
    engine, load = held
    cells = [1.5, -8.0, math.nan, math.inf, -math.inf, None, 1e308, -0.0]
    name = load(pa.table({"x": pa.array(cells, pa.float64(), from_pandas=False)}))
    condition = is_present(Column("x", Kind.REAL, missing=(-8, "?")))
    answer = _rows(
        engine,
        select(
            count_where(condition).as_("yes"),
            count_where(exp.not_(condition.copy())).as_("no"),
        ).from_(name),
    )
    assert answer == [{"yes": 3, "no": 5}]


@pytest.mark.parametrize(
    ("column", "cells", "kept"),
    [
        (Column("x", Kind.INTEGER, missing=(-8, -9.0, 0.5, "?")), pa.array([1, -8, -9, None, 0]), 2),
        (Column("x", Kind.TEXT, missing=("?", "it's", -8)), pa.array(["?", "it's", "a", "", None, "-8"]), 3),
        (Column("x", Kind.BOOLEAN), pa.array([True, False, None]), 2),
    ],
)
def test_present_knows_the_missing_codes_of_each_kind(
    held: tuple[Engine, Load], column: Column, cells: pa.Array, kept: int
) -> None:
    engine, load = held
    name = load(pa.table({"x": cells}))
    assert _rows(engine, select(count_where(is_present(column)).as_("n")).from_(name)) == [{"n": kept}]


def test_clamped_values_lie_within_public_bounds_and_missing_ones_stay_missing(held: tuple[Engine, Load]) -> None:
    engine, load = held
    cells = [-5.0, 0.25, 99.0, math.nan, math.inf, None]
    name = load(pa.table({"x": pa.array(cells, pa.float64(), from_pandas=False)}))
    column = Column("x", Kind.REAL, bounds=Bounds(0, 1))
    values = engine.query(select(clamp(column).as_("y")).from_(name)).column("y").to_pylist()
    assert sorted(value for value in values if value is not None) == [0.0, 0.25, 1.0]
    assert values.count(None) == 3


def test_dates_are_clamped_too(held: tuple[Engine, Load]) -> None:
    engine, load = held
    early, late = datetime.date(2000, 1, 1), datetime.date(2010, 12, 31)
    cells = [datetime.date(1900, 1, 1), datetime.date(2005, 5, 5), datetime.date(2100, 1, 1), None]
    name = load(pa.table({"x": pa.array(cells, pa.date32())}))
    query = select(clamp(Column("x", Kind.DATE, bounds=Bounds(early, late))).as_("y")).from_(name)
    assert set(engine.query(query).column("y").to_pylist()) == {early, cells[1], late, None}


def test_learned_bounds_are_not_clamped_to() -> None:
    with pytest.raises(NotPublicError, match="bounds of column 'x' were learned"):
        clamp(Column("x", Kind.REAL, bounds=Bounds(0, 1, "learned")))


@pytest.mark.parametrize("width", [pa.float32(), pa.float64()], ids=str)
@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_a_cell_of_a_parquet_file_that_is_no_number_is_missing(
    held: tuple[Engine, Load], width: pa.DataType, odd: float, tmp_path: Path
) -> None:
    engine, load = held
    cells = pa.table({"x": pa.array([1.5, odd, 3.0, None], width, from_pandas=False)})
    column = Column("x", Kind.REAL, bounds=Bounds(0, 10))
    table = Table(engine, _load_through_parquet(engine, load, cells, tmp_path), Schema((column,)))
    asked = {
        "total": exact_sum(quantize(column, Fraction(1, 2))),
        "yes": count_where(is_present(column)),
        "no": count_where(exp.not_(is_present(column))),
        "largest": exp.Max(this=clamp(column)),
    }
    (answer,) = table.aggregate(*(asked[name].as_(name) for name in asked)).to_pylist()
    assert answer == {"total": 9, "yes": 2, "no": 2, "largest": 3.0}
    (problem,) = table.validate()
    assert (problem.what, problem.count) == ("infinite" if math.isinf(odd) else "not a number (NaN)", 1)


@pytest.mark.parametrize("negated", [False, True])
def test_rows_of_a_parquet_file_are_filtered_by_what_is_present(
    held: tuple[Engine, Load], negated: bool, tmp_path: Path
) -> None:
    engine, load = held
    cells = pa.table({"x": pa.array([1.5, math.nan, 3.0], from_pandas=False)})
    table = Table(engine, _load_through_parquet(engine, load, cells, tmp_path))
    condition = is_present(table.schema["x"])
    where = exp.not_(condition) if negated else condition
    assert table.aggregate(exp.Count(this=exp.Star()).as_("n"), where=where).to_pylist() == [{"n": 1 if negated else 2}]


@pytest.mark.parametrize("width", [pa.float32(), pa.float64()], ids=str)
def test_a_parquet_column_with_nan_may_be_declared_integer(
    held: tuple[Engine, Load], width: pa.DataType, tmp_path: Path
) -> None:
    engine, load = held
    cells = pa.table({"x": pa.array([1.0, math.nan, 3.0], width, from_pandas=False)})
    name = _load_through_parquet(engine, load, cells, tmp_path)
    rows = Table(engine, name, Schema((Column("x", Kind.INTEGER),))).raw.rows()
    assert sorted(rows.column("x").drop_null().to_pylist()) == [1, 3]


def test_dates_that_python_has_not_are_unreadable_cells(held: tuple[Engine, Load]) -> None:
    engine, load = held
    name = load(pa.table({"d": pa.array([0, 6_600_000, None], pa.int32()).cast(pa.date32())}))
    with pytest.raises(DataError, match="1 cell of column 'd' cannot be read as date"):
        Table(engine, name)
    lenient = Table(engine, name, on_bad_cell="missing")
    assert [str(problem) for problem in lenient.validate()] == ["Column 'd': 1 cell is not readable as date."]
    bounds = suggest_schema(lenient).schema["d"].bounds
    assert bounds == Bounds(datetime.date(1970, 1, 1), datetime.date(1970, 1, 1), "learned")


def test_a_table_of_many_columns_is_looked_at_in_several_queries(held: tuple[Engine, Load]) -> None:
    engine, load = held
    name = load(pa.table({f"c{place}": [place, place] for place in range(120)}))
    proposal = suggest_schema(Table(engine, name)).schema
    assert all(proposal[f"c{place}"].bounds == Bounds(place, place, "learned") for place in range(120))
    assert Table(engine, name, proposal).validate() == []


_GRID = Fraction(1, 2**20)
_AWKWARD = Column("x", Kind.REAL, bounds=Bounds(-3, 7.3), missing=(2.0,))


def _awkward_cells() -> list[float | None]:
    walk = [math.sin(place) * 10.0 ** (place % 7 - 3) for place in range(2_000)]
    ties = [(place + 0.5) * 2.0**-20 for place in range(-20, 20)]
    return [*walk, *ties, 0.49999999999999994 * 2.0**-20, -0.0, 5e-324, 2.0, math.nan, math.inf, -math.inf, None]


def _expected_index(cell: float | None) -> int | None:
    if cell is None or not math.isfinite(cell) or cell == 2.0:
        return None
    return math.floor(min(max(cell, -3.0), 7.3) * 2.0**20 + 0.5)


def test_sums_of_quantised_values_are_identical_on_every_engine(held: tuple[Engine, Load]) -> None:
    engine, load = held
    cells = _awkward_cells()
    name = load(pa.table({"x": pa.array(cells, pa.float64(), from_pandas=False)}))
    index = quantize(_AWKWARD, _GRID)
    (answer,) = _rows(
        engine,
        select(
            exact_sum(index).as_("s"),
            exp.Min(this=index.copy()).as_("lower"),
            exp.Max(this=index.copy()).as_("upper"),
        ).from_(name),
    )
    expected = [value for value in map(_expected_index, cells) if value is not None]
    assert answer == {"s": sum(expected), "lower": min(expected), "upper": max(expected)}
    assert quantize_bounds(_AWKWARD, _GRID) == (min(expected), max(expected))


def test_integers_are_quantised_without_a_detour_through_floats(held: tuple[Engine, Load]) -> None:
    engine, load = held
    wide = 2**62 + 1
    name = load(pa.table({"x": pa.array([wide, wide - 2, -5], pa.int64())}))
    column = Column("x", Kind.INTEGER, bounds=Bounds(0, 2**63 - 1))
    query = select(exact_sum(quantize(column, Fraction(1))).as_("s")).from_(name)
    assert int(_rows(engine, query)[0]["s"]) == 2 * wide - 2


def test_names_and_text_are_quoted(held: tuple[Engine, Load]) -> None:
    engine, load = held
    odd = 'we"ird; DROP'
    name = load(pa.table({odd.replace('"', ""): pa.array(["it's", "\\n", "a"])}))
    column = Column(odd.replace('"', ""), Kind.CATEGORY, categories=Categories(("it's", "\\n", "--")))
    table = Table(engine, name, Schema((column,)))
    assert [problem.count for problem in table.validate()] == [1]


@pytest.mark.parametrize(
    ("kind", "cells", "expected"),
    [
        (Kind.INTEGER, ["1", " 2 ", "+3", "-4", "?", "", None, "9223372036854775807"], [1, 2, 3, -4, 2**63 - 1]),
        (Kind.REAL, ["1", ".5", "2.", "-1e-3", "NaN", "inf", "?"], [1.0, 0.5, 2.0, -0.001]),
        (Kind.DATE, ["2024-02-29", "1999-12-31", "?"], [datetime.date(2024, 2, 29), datetime.date(1999, 12, 31)]),
        (Kind.BOOLEAN, ["true", "Yes", "0", "F", "?"], [True, True, False, False]),
    ],
)
def test_text_is_read_by_one_grammar(
    held: tuple[Engine, Load], kind: Kind, cells: list[Any], expected: list[Any]
) -> None:
    engine, load = held
    name = load(pa.table({"x": pa.array(cells, pa.string())}))
    table = Table(engine, name, Schema((Column("x", kind, missing=("?",)),)))
    values = [value for value in table.raw.rows().column("x").to_pylist() if value is not None]
    assert sorted(values) == sorted(expected)


@pytest.mark.parametrize(
    ("kind", "bad"),
    [
        (Kind.INTEGER, ["1.5", "1e3", "0x1", "9223372036854775808", "12 3"]),
        (Kind.REAL, ["1,5", "abc", "1e", ".", "--1"]),
        (Kind.DATE, ["2023-02-29", "2024-13-01", "2024-1-1", "31.12.2024", "1900-02-29"]),
        (Kind.BOOLEAN, ["2", "maybe"]),
    ],
)
def test_cells_that_cannot_be_read_are_counted_or_missing(
    held: tuple[Engine, Load], kind: Kind, bad: list[str]
) -> None:
    engine, load = held
    name = load(pa.table({"x": pa.array([*bad, None], pa.string())}))
    schema = Schema((Column("x", kind),))
    with pytest.raises(DataError, match=f"{len(bad)} cells of column 'x' cannot be read as {kind}"):
        Table(engine, name, schema)
    lenient = Table(engine, name, schema, on_bad_cell="missing")
    assert set(lenient.raw.rows().column("x").to_pylist()) == {None}


def test_reals_that_are_whole_may_be_declared_integers(held: tuple[Engine, Load]) -> None:
    engine, load = held
    schema = Schema((Column("x", Kind.INTEGER),))
    whole = load(pa.table({"x": pa.array([1.0, None, math.nan], pa.float64(), from_pandas=False)}))
    assert Table(engine, whole, schema).raw.rows().column("x").to_pylist().count(1) == 1
    broken = load(pa.table({"x": [1.5, 1e300, 2.0]}))
    with pytest.raises(DataError, match="2 cells of column 'x'"):
        Table(engine, broken, schema)


def test_validation_counts_what_contradicts_the_schema(held: tuple[Engine, Load]) -> None:
    engine, load = held
    data = {
        "who": pa.array(["a", "a", None, "b"]),
        "age": pa.array([10, 200, -8, None], pa.int64()),
        "dose": pa.array([math.nan, math.inf, 0.5, 7.0], from_pandas=False),
        "sex": pa.array(["F", "X", "?", "M"]),
    }
    schema = Schema(
        (
            Column("who", Kind.TEXT, "identifier"),
            Column("age", Kind.INTEGER, bounds=Bounds(0, 120), missing=(-8,)),
            Column("dose", Kind.REAL, bounds=Bounds(0, 1)),
            Column("sex", Kind.CATEGORY, categories=Categories(("F", "M")), missing=("?",)),
        ),
        Unit.person("who"),
    )
    problems = Table(engine, load(pa.table(data)), schema).validate()
    assert {(problem.column, problem.what.split(",")[0], problem.count) for problem in problems} == {
        ("age", "outside the bounds", 1),
        ("dose", "not a number (NaN)", 1),
        ("dose", "infinite", 1),
        ("dose", "outside the bounds", 1),
        ("sex", "not among the categories", 1),
        ("who", "missing", 1),
    }


def test_a_table_without_rows_is_a_problem_not_a_crash(held: tuple[Engine, Load]) -> None:
    engine, load = held
    table = Table(engine, load(pa.table({"x": pa.array([], pa.int64())})))
    assert [str(problem) for problem in table.validate()] == ["The table has no rows."]
    assert table.raw.count_rows() == 0
    assert suggest_schema(table).schema["x"].bounds is None


def test_groups_and_conditions(held: tuple[Engine, Load]) -> None:
    engine, load = held
    table = Table(engine, load(pa.table({"g": ["a", "b", "a", None], "v": [1, 2, 3, 4]})))
    where = exp.GT(this=exp.column("v"), expression=exp.Literal.number(1))
    answer = table.aggregate(exact_sum(exp.column("v")).as_("s"), where=where, group_by=["g"])
    assert {(row["g"], row["s"]) for row in answer.to_pylist()} == {("a", 3), ("b", 2), (None, 4)}
    with pytest.raises(SchemaError, match="did you mean 'v'"):
        table.aggregate(exact_sum(exp.column("vv")).as_("s"))


def test_suggestions_are_learned_and_the_same_everywhere(held: tuple[Engine, Load]) -> None:
    engine, load = held
    size = 40
    data = {
        "patient": [f"p{place}" for place in range(size)],
        "age": [20 + place % 30 for place in range(size)],
        "diagnosis": [("flu", "cold")[place % 2] for place in range(size)],
        "height": [1.5 + place / 100 for place in range(size)],
    }
    schema = suggest_schema(Table(engine, load(pa.table(data)))).schema
    assert [column.role.value for column in schema.columns] == [
        "identifier",
        "quasi-identifier",
        "sensitive",
        "quasi-identifier",
    ]
    assert schema["age"].bounds == Bounds(20, 49, "learned")
    assert schema["diagnosis"].categories == Categories(("cold", "flu"), "learned")
    with pytest.raises(NotPublicError):
        schema["height"].public_bounds()


def test_an_absent_table_is_one_sentence(held: tuple[Engine, Load]) -> None:
    engine, _ = held
    with pytest.raises(EngineError, match=r"Opening the table 'no_such_table' failed in \w+ \(\w+\)"):
        Table(engine, "no_such_table")


def test_an_engine_goes_on_after_a_failed_query(held: tuple[Engine, Load]) -> None:
    engine, load = held
    name = load(pa.table({"a": [1]}))
    with pytest.raises(EngineError, match="A query over column 'absent' failed"):
        engine.query(select("absent").from_(name))
    assert _rows(engine, select("a").from_(name)) == [{"a": 1}]


def _lendable() -> pa.Table:
    columns = {
        "whole": pa.array([1, 2, None, 3], pa.int64()),
        "real": pa.array([0.5, None, -1.25, 3.0]),
        "text": pa.array(["a", 'b"\\{},', None, "it's é"]),
        "day": pa.array([datetime.date(2020, 2, 29), None, datetime.date(1999, 1, 1), datetime.date(2026, 11, 15)]),
        "truth": pa.array([True, False, None, True]),
    }
    return pa.table(columns)


def test_a_small_table_of_ours_can_be_lent_to_a_query(held: tuple[Engine, Load]) -> None:
    engine, _ = held
    lent = _lendable()
    answer = engine.query(exp.select("*").from_(engine.lend(lent)).order_by(exp.column("real", quoted=True)))
    assert sorted(map(str, answer.to_pylist())) == sorted(map(str, lent.to_pylist()))


def test_a_table_that_was_taken_back_is_gone(held: tuple[Engine, Load]) -> None:
    engine, _ = held
    lent = engine.lend(_lendable())
    engine.take_back(lent)
    if isinstance(lent, exp.Table):
        with pytest.raises(EngineError):
            engine.query(exp.select("*").from_(lent))


def _long_table() -> pa.Table:
    columns = {name: _lendable().column(name).to_pylist() * 1_500 for name in _lendable().column_names}
    columns["text"] = [
        None if place % 3 == 0 else ("", "a\nb", 'c"d', "\\N", "it's é", "x,y")[place % 6] for place in range(6_000)
    ]
    columns['a "b" c'] = list(range(6_000))
    return pa.table(columns)


def test_a_long_table_is_lent_beside_the_query_and_not_in_it(held: tuple[Engine, Load]) -> None:
    engine, _ = held
    given = _long_table()
    lent = engine.lend(given)
    query = exp.select("*").from_(lent)
    assert len(engine.statement(query)) < 200
    assert sorted(map(str, engine.query(query).to_pylist())) == sorted(map(str, given.to_pylist()))
    streamed = [row for piece in engine.batches(query) for row in piece.to_pylist()]
    assert len(streamed) == given.num_rows
    engine.take_back(lent)
    with pytest.raises(EngineError):
        engine.query(query)


@pytest.mark.postgres
def test_where_nothing_temporary_may_be_made_a_long_table_is_lent_in_the_query(postgres_uri: str) -> None:
    import psycopg

    given = _long_table()
    with psycopg.connect(postgres_uri, autocommit=True) as connection, connection.transaction():
        connection.execute("SET TRANSACTION READ ONLY")
        connection.execute("SELECT 1")  # from here on the transaction stays read only
        engine = PostgresEngine(connection)
        lent = engine.lend(given)
        assert isinstance(lent, exp.Unnest)
        answer = engine.query(exp.select("*").from_(lent))
        assert sorted(map(str, answer.to_pylist())) == sorted(map(str, given.to_pylist()))


@pytest.mark.postgres
def test_a_database_stays_read_only_after_a_table_was_lent(postgres_uri: str) -> None:
    with PostgresEngine(postgres_uri) as engine:
        engine.take_back(engine.lend(_long_table()))
        setting = exp.Anonymous(this="CURRENT_SETTING", expressions=[exp.Literal.string("transaction_read_only")])
        assert engine.query(exp.select(setting.as_("only"))).to_pylist() == [{"only": "on"}]


def test_a_lent_table_joins_with_one_that_the_engine_holds(held: tuple[Engine, Load]) -> None:
    engine, load = held
    name = load(pa.table({"code": pa.array([1, 2, 2, 5], pa.int64())}))
    labels = engine.lend(pa.table({"key": pa.array([1, 2], pa.int64()), "label": ["one", "two"]}))
    lent = exp.select("*").from_(labels).subquery("labels")
    joined = exp.select("label").from_(exp.table_(name, quoted=True)).join(lent, on="code = key", join_type="inner")
    assert sorted(engine.query(joined).column("label").to_pylist()) == ["one", "two", "two"]


def test_an_answer_can_be_read_piece_by_piece(held: tuple[Engine, Load]) -> None:
    engine, load = held
    given = list(range(120_000 if isinstance(engine, DuckDBEngine) else 60_000))
    name = load(pa.table({"x": pa.array(given, pa.int64()), "t": pa.array(["a", None] * (len(given) // 2))}))
    pieces = list(engine.batches(exp.select("x", "t").from_(exp.table_(name, quoted=True))))
    assert sorted(cell for piece in pieces for cell in piece.column("x").to_pylist()) == given
    assert {piece.schema.field("t").type for piece in pieces} == {pa.string()}


def test_a_query_that_fails_in_the_middle_shows_no_cell(held: tuple[Engine, Load]) -> None:
    engine, load = held
    name = load(pa.table({"t": ["12", "secret-cell"]}))
    query = exp.select(exp.cast(exp.column("t", quoted=True), "BIGINT")).from_(exp.table_(name, quoted=True))
    with pytest.raises(EngineError) as caught:
        list(engine.batches(query))
    assert "secret-cell" not in str(caught.value)
    assert caught.value.__context__ is None


def _by_owner(found: Sequences) -> list[set[tuple[Any, ...]]]:
    """The sequences and classes of each owner, whatever the order in which an engine gives them."""
    owners = np.arange(len(found)) if found.owners is None else found.owners
    named = list(zip(owners.tolist(), found, found.classes or [None] * len(found), strict=True))
    of_each = ({(each, label) for who, each, label in named if who == owner} for owner in set(owners.tolist()))
    return sorted(of_each, key=sorted)


@pytest.mark.parametrize("listed", [False, True])
def test_wide_sequences_are_read_alike(held: tuple[Engine, Load], listed: bool) -> None:
    engine, load = held
    cells = ["a.b a", "a.b x a", "", "a a a a a a", None, "a"]
    column = pa.array([None if each is None else each.split() for each in cells] if listed else cells)
    given = {"seq": column, "who": ["p", "q", "p", "q", "p", None], "bad": [False, True, True, None, True, True]}
    columns = (
        Column("seq", Kind.TEXT, sequence=Symbols(("a", "a.b"), longest=5)),
        Column("who", Kind.TEXT),
        Column("bad", Kind.BOOLEAN),
    )
    table = Table(engine, load(pa.table(given)), Schema(columns, Unit.person("who")))
    found = read_sequences(table, SequenceLayout("seq", label="bad"))
    assert _by_owner(found) == [{((), 1), (("a.b", "a"), 0)}, {(("a.b", "a"), 1)}]
    assert {(each.what, each.count) for each in table.validate() if each.column == "seq"} == {
        ("not made of the tokens alone", 1),
        ("longer than 'longest' says", 1),
    }


def test_long_sequences_are_read_alike(held: tuple[Engine, Load]) -> None:
    engine, load = held
    hours = [3, 2, 2, 1, None, 5, 1, 0, 4, 4]
    given = {
        "token": ["a", "b", "c", "c", "b", "a", "x", None, "a", "a"],
        "code": [1, 1, 1, 1, 2, 2, 3, 3, 1, None],  # the session; named like a column of ours
        "who": ["p", "p", "p", "q", "q", "q", "q", "q", None, "q"],
        "at": pa.array([None if h is None else datetime.datetime(2024, 1, 1, h) for h in hours], pa.timestamp("us")),
        "label": ["u", "w", "v", "u", "u", None, "v", "u", "u", "u"],
    }
    columns = (
        Column("token", Kind.CATEGORY, categories=Categories(("c", "b", "a"))),
        Column("code", Kind.INTEGER, role="identifier"),
        Column("who", Kind.TEXT),
        Column("at", Kind.DATE),
        Column("label", Kind.CATEGORY, categories=Categories(("u", "v"))),
    )
    table = Table(engine, load(pa.table(given)), Schema(columns, Unit.person("who")))
    found = read_sequences(table, SequenceLayout("code", "token", "at", "label", longest=3))
    mine, theirs = {(("c", "b", "a"), "v")}, {(("c",), "u"), (("a", "b"), "u"), ((), "u")}
    assert _by_owner(found) == sorted([mine, theirs], key=sorted)
    cut = read_sequences(table, SequenceLayout("code", "token", "at", longest=1))
    assert _by_owner(cut) == sorted([{(("c",), None)}, {(("c",), None), (("a",), None), ((), None)}], key=sorted)


def test_free_text_is_told_from_labels(held: tuple[Engine, Load]) -> None:
    engine, load = held
    sentence = "a sentence of five words"
    given = {
        "rare": [sentence] * 4 + ["fine"] * 38,
        "often": [sentence] * 5 + ["fine"] * 37,
        "many": [f"label {place // 2 if place < 30 else place}" for place in range(42)],
        "few": [f"label {place % 21}" for place in range(42)],
        "gone": [None] * 42,
    }
    columns = tuple(Column(name, Kind.TEXT) for name in given)
    table = Table(
        engine, load(pa.table({name: pa.array(cells, pa.string()) for name, cells in given.items()})), Schema(columns)
    )
    assert free_text_in(table) == ("rare", "many")

"""What is known of expressions over one row, and which are refused."""

from datetime import date
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from ziggurat.data import Kind, Table
from ziggurat.data.engines import DuckDBEngine
from ziggurat.errors import ParameterError, QuestionError
from ziggurat.queries import Catalogue, Value
from ziggurat.queries.answering import quantize_range, quantize_value
from ziggurat.queries.language._relations import Names, rows_of
from ziggurat.queries.language.expressions import Expressions, literal, read_select


def resolved(table: Table, sql: str) -> Value:
    select = read_select(f"SELECT {sql} FROM people")
    rows = rows_of(select, Names(Catalogue({"people": table})))
    return Expressions(rows).value(select.expressions[0])


def rows_with(table: Table, sql: str) -> tuple[Value, list[Any]]:
    select = read_select(f"SELECT {sql} FROM people")
    rows = rows_of(select, Names(Catalogue({"people": table})))
    value = Expressions(rows).value(select.expressions[0])
    query = exp.select(value.sql.as_("v")).from_(rows.relation().query.subquery("rows"))
    return value, table.engine.query(query).column("v").to_pylist()


@pytest.mark.parametrize(
    ("sql", "kind", "lower", "upper"),
    [
        ("n", Kind.INTEGER, -100, 100),
        ("n + m", Kind.INTEGER, -100, 110),
        ("n - m", Kind.INTEGER, -110, 100),
        ("n * m", Kind.INTEGER, -1000, 1000),
        ("n / 4", Kind.REAL, -25.0, 25.0),
        ("m / n", Kind.REAL, -10.0, 10.0),
        ("x / y", Kind.REAL, None, None),
        ("x * y", Kind.REAL, -1000.0, 1000.0),
        ("n % 7", Kind.INTEGER, -6, 6),
        ("m % 3", Kind.INTEGER, 0, 2),
        ("m % n", Kind.INTEGER, 0, 10),
        ("ABS(n)", Kind.INTEGER, 0, 100),
        ("SIGN(x)", Kind.INTEGER, -1, 1),
        ("FLOOR(x / 3)", Kind.INTEGER, -334, 333),
        ("ROUND(y, 1)", Kind.REAL, 0.0, 1.0),
        ("SQRT(m)", Kind.REAL, 0.0, 10**0.5),
        ("CLAMP(big, 0, 9)", Kind.INTEGER, 0, 9),
        ("CLAMP(n, 0, 500)", Kind.INTEGER, 0, 100),
        ("LEAST(big, 5)", Kind.INTEGER, None, 5),
        ("GREATEST(big, 5)", Kind.INTEGER, 5, None),
        ("LEAST(n, m)", Kind.INTEGER, -100, 10),
        ("COALESCE(m, -7)", Kind.INTEGER, -7, 10),
        ("COALESCE(n, x)", Kind.REAL, -1000.0, 1000.0),
        ("k", Kind.INTEGER, 1, 3),
        ("big", Kind.INTEGER, None, None),
        ("w", Kind.REAL, None, None),
        ("YEAR(e)", Kind.INTEGER, 2020, 2021),
        ("YEAR(d)", Kind.INTEGER, 1, 9999),
        ("MONTH(CLAMP(e, DATE '2020-02-01', DATE '2020-05-01'))", Kind.INTEGER, 2, 5),
        ("e - DATE '2020-01-01'", Kind.INTEGER, 0, 730),
        ("e + INTERVAL 1 DAY", Kind.DATE, date(2020, 1, 2), date(2022, 1, 1)),
        ("LENGTH(c)", Kind.INTEGER, 1, 3),
        ("LENGTH(t)", Kind.INTEGER, 0, None),
        ("BUCKET(x, 0, 10, 5)", Kind.INTEGER, 1, 5),
    ],
)
def test_ranges_are_those_of_interval_arithmetic(nasty: Table, sql: str, kind: Kind, lower: Any, upper: Any) -> None:
    value = resolved(nasty, sql)
    assert (value.kind, value.lower, value.upper) == (kind, lower, upper)


@pytest.mark.parametrize(
    ("sql", "categories"),
    [
        ("c", ("a", "b", "C d")),
        ("UPPER(c)", ("A", "B", "C D")),
        ("SUBSTRING(c, 1, 1)", ("a", "b", "C")),
        ("COALESCE(c, 'missing')", ("a", "b", "C d", "missing")),
        ("CASE WHEN n > 5 THEN 'high' WHEN n > 0 THEN 'low' END", ("high", "low")),
        ("CASE WHEN n > 5 THEN 1 ELSE 0 END", (0, 1)),
        ("NULLIF(c, 'a')", ("a", "b", "C d")),
        ("c || '!'", ("a!", "b!", "C d!")),
        ("CAST(k AS TEXT)", ("1", "2", "3")),
        ("BIN(m, 5)", (0, 5, 10)),
        ("BIN(y, 0.5)", (0.0, 0.5, 1.0)),
        ("BIN(n, 100, 50)", (-150, -50, 50)),
        ("t", None),
        ("c || t", None),
    ],
)
def test_lists_of_values_follow_what_is_done_to_them(nasty: Table, sql: str, categories: Any) -> None:
    assert resolved(nasty, sql).categories == categories


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("big + 1", "could leave 64 bits; bound what goes into it, as in CLAMP"),
        ("n * n * n * n * n * n * n * n * n * n", "could leave 64 bits"),
        ("w * 2", r"of a number without bounds could overflow; write CLAMP\(x, lower, upper\)"),
        ("POWER(1e200 + x, 2)", "POWER could exceed 1e300"),
        ("1e200 * (1e100 * (x + 1e3))", "could exceed 1e300"),
        ("EXP(x)", r"write EXP\(CLAMP\(x, -690, 690\)\)"),
        ("n / 0", "always zero"),
        ("x % 2", "needs whole numbers"),
        ("n // 2", r"write FLOOR\(x / y\)"),
        ("LOG(x)", r"write LN\(x\) or LOG10\(x\)"),
        ("n + t", "needs numbers, not a value of kind text"),
        ("n + f", "count with CASE WHEN"),
        ("n + NULL", "NULL"),
        ("n = NULL", "write IS NULL"),
        ("c = 'A'", "'A' is not among the categories of column 'c'; did you mean 'a'"),
        ("k = 9", "9 is not among the categories"),
        ("c IN ('a', 'q')", "'q' is not among the categories"),
        ("t > 'a'", "no order that all engines share"),
        ("LEAST(t, 'a')", "needs numbers or dates"),
        ("n = 1.5", "never equals one with a fraction"),
        ("n = 'a'", "cannot be compared"),
        ("n IN (1, m)", "IN takes constants"),
        ("d > 'yesterday'", "DATE '2020-01-31'"),
        ("d + INTERVAL 1 DAY", "could leave the years 1 to 9999"),
        ("d + INTERVAL 1 MONTH", "only whole days"),
        ("EXTRACT(DOW FROM d)", "EXTRACT knows YEAR"),
        ("t LIKE 'a\\%'", "backslash"),
        ("t ILIKE 'a'", r"write LOWER\(x\) LIKE"),
        ("t LIKE c", "must be a text that is written out"),
        ("REGEXP_MATCHES(t, 'a')", "Of patterns only LIKE"),
        ("CAST(x AS BIGINT)", r"write FLOOR\(x\) or ROUND\(x\)"),
        ("CAST(t AS BIGINT)", "not understood"),
        ("CAST(x AS TEXT)", "written differently by each engine"),
        ("TRY_CAST(t AS DATE)", "not understood"),
        ("CONCAT(t, 'a')", "write a || b"),
        ("CLAMP(n, m, 5)", "must be constants"),
        ("CLAMP(n, 5, 1)", "wrong way round"),
        ("CLAMP(n, 0, 'a')", "of the kind of what they bound"),
        ("CLAMP(n, 1)", r"CLAMP is written CLAMP\(x, lower, upper\)"),
        ("BIN(big, 10)", "has no first bin"),
        ("BIN(n, 0)", "must be above zero"),
        ("BUCKET(w, 5)", r"write BUCKET\(x, lower, upper, n\)"),
        ("CASE WHEN f THEN 1 ELSE 'a' END", "of several kinds"),
        ("CASE WHEN f THEN NULL END", "all NULL"),
        ("CASE WHEN n THEN 1 END", "A condition is needed"),
        ("POWER(n, m)", "exponent of POWER must be a number that is written out"),
        ("SUBSTRING(t, -1, 2)", "counts from 1"),
        ("SUM(n) OVER ()", "Window functions"),
        ("MAX(n)", "cannot stand here"),
        ("(SELECT MAX(n) FROM people)", "A sub-query may stand in FROM"),
        ("EXISTS (SELECT 1 FROM people)", "A sub-query may stand in FROM"),
        ("SQUARE_ROOT(n)", "There is no function 'SQUARE_ROOT' here"),
        ("nn", "There is no column 'nn'; did you mean 'n'"),
        ("q.n", "Nothing in FROM is called 'q'"),
        ("who", "tells one person from another"),
        ("who = 'p1'", "tells one person from another"),
        ("99999999999999999999", "does not fit 64 bits"),
        ("1e301", "at most 1e300"),
        ("'a\0b'", "databases cannot store"),
        ("x IS DISTINCT FROM y", "IS DISTINCT FROM"),
        ("n COLLATE nocase", "not understood"),
        ("[n]", "not understood"),
        ("?", "not understood"),
    ],
)
def test_what_cannot_be_proven_is_refused_with_a_rewrite(nasty: Table, sql: str, reason: str) -> None:
    with pytest.raises(QuestionError, match=reason):
        resolved(nasty, sql)


def test_a_comparison_inside_the_bounds_reads_the_bare_cell(nasty: Table) -> None:
    assert resolved(nasty, "m > 5").sql.sql() == "(\"m\" > CAST('5' AS BIGINT))"
    assert "CASE" in resolved(nasty, "m > 10").sql.sql()


def test_a_filter_reads_the_bare_category(nasty: Table) -> None:
    select = read_select("SELECT 1 FROM people WHERE c = 'a' AND (c IN ('a', 'b') OR k = 1)")
    rows = rows_of(select, Names(Catalogue({"people": nasty})))
    assert "CASE" not in Expressions(rows).condition(select.args["where"].this).sql()
    assert "CASE" in Expressions(rows).condition(exp.Not(this=select.args["where"].this)).sql()


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_generated_expressions_stay_within_what_is_known_of_them(
    nasty: Table, grammar: Any, data: st.DataObject
) -> None:
    written = grammar(data.draw(st.integers(0, 10**9)))
    sql = written.one(written.number(3), written.text(3), written.condition(3))
    try:
        value, found = rows_with(nasty, sql)
    except QuestionError:
        return
    for each in found:
        if each is not None:
            assert value.lower is None or each >= value.lower, sql
            assert value.upper is None or each <= value.upper, sql
            assert value.categories is None or each in value.categories, sql


@given(st.one_of(st.integers(), st.floats(), st.text(), st.booleans(), st.dates(), st.datetimes(), st.none()))
def test_a_constant_is_held_or_refused(constant: Any) -> None:
    try:
        assert literal(constant).constant == constant
    except QuestionError:
        return


def test_an_index_is_held_to_its_range_even_if_the_value_is_not():
    wrong = Value(exp.Literal.number(99), Kind.INTEGER, -3, 7)
    query = exp.select(quantize_value(wrong, Fraction(1)).as_("index"))
    assert DuckDBEngine().query(query).to_pylist() == [{"index": 7}]


def test_reals_are_laid_on_the_nearest_point_of_the_grid(nasty: Table) -> None:
    value, _ = rows_with(nasty, "x")
    select = read_select("SELECT x FROM people")
    rows = rows_of(select, Names(Catalogue({"people": nasty})))
    held = Expressions(rows).value(select.expressions[0])
    query = exp.select(held.sql.as_("x"), quantize_value(held, Fraction(1, 8)).as_("i"))
    answer = nasty.engine.query(query.from_(rows.relation().query.subquery("rows"))).to_pylist()
    first, last = quantize_range(value, Fraction(1, 8))
    assert (first, last) == (-8000, 8000)
    for row in answer:
        assert (row["i"] is None) == (row["x"] is None)
        assert row["i"] is None or (first <= row["i"] <= last and abs(row["i"] / 8 - row["x"]) <= 1 / 16)


@pytest.mark.parametrize("value", [Value(exp.column("n"), Kind.INTEGER), Value(exp.column("t"), Kind.TEXT)])
def test_what_has_no_bounds_has_no_grid(value: Value) -> None:
    with pytest.raises(ParameterError, match="lower and an upper bound"):
        quantize_value(value, Fraction(1))

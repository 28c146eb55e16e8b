"""SELECT as a question: what is asked, grouped, sorted and called, and what is refused."""

from fractions import Fraction
from typing import Any

import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st

from ziggurat.data import Kind, Table
from ziggurat.errors import QuestionError
from ziggurat.queries import Aggregate, Catalogue, Measure, Ordering, Value, parse


@pytest.fixture(scope="module")
def catalogue(nasty: Table, nasty_by_row: Table) -> Catalogue:
    return Catalogue({"people": nasty, "rows_only": nasty_by_row})


def aggregate(catalogue: Catalogue, sql: str) -> Aggregate:
    (found,) = parse(f"SELECT {sql} FROM people", catalogue).aggregates
    return found


def value_of(found: Aggregate) -> Value:
    assert found.value is not None
    return found.value


@pytest.mark.parametrize(
    ("sql", "measure", "parameter", "name"),
    [
        ("COUNT(*)", Measure.COUNT, None, "count"),
        ("COUNT(1)", Measure.COUNT, None, "count"),
        ("COUNT(n)", Measure.COUNT, None, "count_n"),
        ("COUNT(DISTINCT who)", Measure.COUNT_UNITS, None, "count_units"),
        ("COUNT(DISTINCT UNIT())", Measure.COUNT_UNITS, None, "count_units"),
        ("COUNT(DISTINCT t)", Measure.COUNT_DISTINCT, None, "count_distinct_t"),
        ("SUM(n)", Measure.SUM, None, "sum_n"),
        ("SUM(n + m)", Measure.SUM, None, "sum"),
        ("AVG(x)", Measure.MEAN, None, "mean_x"),
        ("MEAN(x)", Measure.MEAN, None, "mean_x"),
        ("VARIANCE(x)", Measure.VARIANCE, 1, "variance_x"),
        ("VAR_SAMP(x)", Measure.VARIANCE, 1, "variance_x"),
        ("VAR_POP(x)", Measure.VARIANCE, 0, "variance_x"),
        ("STDDEV(x)", Measure.DEVIATION, 1, "deviation_x"),
        ("STDDEV_SAMP(x)", Measure.DEVIATION, 1, "deviation_x"),
        ("STDDEV_POP(x)", Measure.DEVIATION, 0, "deviation_x"),
        ("MEDIAN(x)", Measure.QUANTILE, Fraction(1, 2), "quantile_x"),
        ("QUANTILE(x, 0.9)", Measure.QUANTILE, Fraction(9, 10), "quantile_x"),
        ("QUANTILE_CONT(x, 0.1)", Measure.QUANTILE, Fraction(1, 10), "quantile_x"),
        ("QUANTILE_DISC(x, 1)", Measure.QUANTILE, 1, "quantile_x"),
        ("APPROX_QUANTILE(x, 0.25)", Measure.QUANTILE, Fraction(1, 4), "quantile_x"),
        ("PERCENTILE_CONT(0.1) WITHIN GROUP (ORDER BY x)", Measure.QUANTILE, Fraction(1, 10), "quantile_x"),
        ("PERCENTILE_DISC(0.1) WITHIN GROUP (ORDER BY x DESC)", Measure.QUANTILE, Fraction(9, 10), "quantile_x"),
        ("MEDIAN(d)", Measure.QUANTILE, Fraction(1, 2), "quantile_d"),
        ("MODE(c)", Measure.MODE, None, "mode_c"),
        ("MODE() WITHIN GROUP (ORDER BY c)", Measure.MODE, None, "mode_c"),
        ("TOP_K(c, 2)", Measure.TOP, 2, "top_c"),
        ("APPROX_TOP_K(m, 3)", Measure.TOP, 3, "top_m"),
    ],
)
def test_aggregates_are_understood(catalogue: Catalogue, sql: str, measure: Measure, parameter: Any, name: str) -> None:
    found = aggregate(catalogue, sql)
    assert (found.measure, found.parameter, found.name, found.where) == (measure, parameter, name, None)


def test_a_count_of_a_condition_counts_the_rows_where_it_holds(catalogue: Catalogue) -> None:
    first, second = (aggregate(catalogue, sql) for sql in ("COUNT_IF(m > 3)", "COUNT(*) FILTER (WHERE m > 3)"))
    assert (first.measure, first.value, first.where) == (second.measure, second.value, second.where)
    assert first.where is not None


def test_truth_values_are_summed_as_0_and_1(catalogue: Catalogue) -> None:
    value = value_of(aggregate(catalogue, "AVG(n > 5)"))
    assert (value.kind, value.lower, value.upper) == (Kind.INTEGER, 0, 1)


def test_a_column_without_bounds_is_passed_on_by_name(catalogue: Catalogue) -> None:
    value = value_of(aggregate(catalogue, "SUM(big)"))
    assert (value.column, value.lower, value.upper) == ("big", None, None)


def test_the_cell_before_it_was_moved_is_known(catalogue: Catalogue) -> None:
    value = value_of(aggregate(catalogue, "SUM(m)"))
    assert value.raw is not None
    assert value.raw.sql() == '"m"'


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("MIN(n)", r"one person's value, which no noise can hide; ask QUANTILE\(n, 0.01\) instead"),
        ("MAX(n + 1)", r"ask QUANTILE\(x, 0.99\) instead"),
        ("SUM(n) / COUNT(*)", r"Arithmetic over aggregates, as in 'SUM\(n\) / COUNT\(\*\)'"),
        ("SUM(n) + 1", "Arithmetic over aggregates"),
        ("SUM(big / 3)", r"no bounds; write CLAMP\(expression, lower, upper\)"),
        ("SUM(x / y)", "no bounds"),
        ("SUM(d)", "MEDIAN and QUANTILE take dates"),
        ("SUM(t)", "needs numbers"),
        ("MEDIAN(f)", "needs numbers or dates"),
        ("MODE(t)", "known beforehand; declare categories"),
        ("MODE(big)", "known beforehand"),
        ("TOP_K(c, 0)", "between 1 and 1,000"),
        ("TOP_K(c)", r"is written TOP_K\(x, k\)"),
        ("QUANTILE(x, 2)", "between 0 and 1"),
        ("QUANTILE(x, y)", "between 0 and 1"),
        ("SUM(DISTINCT n)", r"only the count is understood: COUNT\(DISTINCT x\)"),
        ("COUNT(DISTINCT n, m)", "takes one column"),
        ("SUM(SUM(n))", "cannot stand here"),
        ("SUM(NULL)", "aggregate of NULL"),
        ("SUM(who)", "tells one person from another"),
        ("STRING_AGG(t, ',')", "is not understood"),
        ("LIST(t)", "not understood"),
        ("ANY_VALUE(t)", "is not understood"),
        ("FIRST(t)", "is not understood"),
        ("COUNT(*) OVER ()", "Arithmetic over aggregates|Window functions"),
        ("n", r"'n' is one person's value; put it into an aggregate or into GROUP BY"),
        ("*", r"SELECT \* would show rows"),
        ("1", "one person's value"),
        ("who", "tells one person from another"),
    ],
)
def test_what_shows_single_people_is_refused_with_a_rewrite(catalogue: Catalogue, sql: str, reason: str) -> None:
    with pytest.raises(QuestionError, match=reason):
        parse(f"SELECT {sql} FROM people", catalogue)


@pytest.mark.parametrize(
    "group",
    ["BIN(n, 10)", "decade", "1", "DECADE", "bin(people.N, 10)"],
    ids=["expression", "alias", "place", "case", "qualified"],
)
def test_keys_are_named_by_expression_alias_or_place(catalogue: Catalogue, group: str) -> None:
    question = parse(f"SELECT BIN(n, 10) AS decade, COUNT(*) FROM people GROUP BY {group}", catalogue)
    assert [key.name for key in question.keys] == ["decade"]
    assert question.keys[0].value.domain() == tuple(range(-100, 101, 10))
    assert question.columns == ("decade", "count")


def test_a_category_is_a_bare_key_whose_groups_are_known(catalogue: Catalogue) -> None:
    (key,) = parse("SELECT COUNT(*), c FROM people GROUP BY c", catalogue).keys
    assert (key.value.sql.sql(), key.value.domain()) == ('"c"', ("a", "b", "C d"))


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT COUNT(*) FROM people GROUP BY c", "not shown; add every key"),
        ("SELECT c FROM people GROUP BY c", r"nothing to compute; add an aggregate such as COUNT\(\*\)"),
        ("SELECT x, COUNT(*) FROM people GROUP BY x", r"group by BIN\(x, width\)"),
        ("SELECT who, COUNT(*) FROM people GROUP BY who", "A group per person would show single ones"),
        ("SELECT 1 AS one, COUNT(*) FROM people GROUP BY one", "A constant makes one group"),
        ("SELECT c, COUNT(*) FROM people GROUP BY 3", "names no column of SELECT"),
        ("SELECT c, COUNT(*) FROM people GROUP BY 2", "is an aggregate"),
        ("SELECT c, k, COUNT(*) FROM people GROUP BY c", "'k' is one person's value"),
        ("SELECT c, c AS again, COUNT(*) FROM people GROUP BY c", "shown twice"),
        ("SELECT COUNT(*) AS a, SUM(n) AS A FROM people", "Two columns of the answer are called"),
        ("SELECT SUM(n + 1), SUM(n + 2) FROM people", "name one with AS"),
        ("SELECT COUNT(*) AS ziggurat_a FROM people", "cannot be a name"),
        ("SELECT c, COUNT(*) FROM people GROUP BY ROLLUP (c)", "not understood"),
        ("SELECT c, COUNT(*) FROM people GROUP BY ALL", "not understood"),
        ("SELECT DISTINCT c FROM people", r"write GROUP BY with COUNT\(\*\)"),
        ("SELECT COUNT(*)", "needs FROM"),
        ("SELECT COUNT(*) FROM people LIMIT 3 OFFSET 1", "not understood"),
        ("SELECT COUNT(*) FROM people LIMIT 1 + 1", "LIMIT takes a whole number"),
        ("SELECT COUNT(*) FROM people QUALIFY TRUE", "not understood"),
        ("SELECT COUNT(*) INTO t FROM people", "not understood"),
        ("SELECT COUNT(*) FROM people FOR UPDATE", "not understood"),
        ("SELECT COUNT(*) FROM people HAVING n > 3", "HAVING sees only the answer, which has no column 'n'"),
        ("SELECT COUNT(*) FROM people HAVING SUM(n) > 3", "is not in the answer; add it to SELECT"),
        ("SELECT TOP_K(c, 2) AS t FROM people HAVING t = 'a'", "cannot be compared"),
        ("SELECT COUNT(*) FROM people ORDER BY n", "ORDER BY sees only the answer"),
        ("SELECT COUNT(*) FROM people ORDER BY 2", "names no column of SELECT"),
        ("SELECT COUNT(*) FROM people ORDER BY ALL", "not understood"),
        ("SELECT COUNT(*) FROM people ORDER BY count NULLS FIRST", "not understood"),
        ("SELECT COUNT(*) FROM people WHERE n", "A condition is needed"),
        ("SELECT COUNT(*) FROM people WHERE COUNT(*) > 1", "cannot stand here"),
        ("SELECT 1; SELECT 2", "one SELECT at a time"),
        ("", "one SELECT at a time"),
        ("DROP TABLE people", "nothing else is understood"),
        ("PRAGMA version", "nothing else is understood"),
        ("ATTACH 'x.db'", "nothing else is understood"),
        ("COPY people TO 'x'", "nothing else is understood"),
        ("SELECT COUNT(*) FROM people UNION SELECT COUNT(*) FROM people", "UNION included"),
        ("SELECT COUNT(* FROM people", r"line 1, column \d+, near"),
        ("SELECT 'a FROM people", "not closed"),
        ("WITH RECURSIVE a AS (SELECT n FROM people) SELECT COUNT(*) FROM a", "not understood"),
    ],
)
def test_other_questions_are_refused(catalogue: Catalogue, sql: str, reason: str) -> None:
    with pytest.raises(QuestionError, match=reason):
        parse(sql, catalogue)


@pytest.mark.parametrize("by", ["total DESC", "2 DESC", "SUM(n) DESC", "sum( N ) desc"])
def test_the_answer_is_sorted_by_alias_place_or_aggregate(catalogue: Catalogue, by: str) -> None:
    question = parse(f"SELECT c, SUM(n) AS total FROM people GROUP BY c ORDER BY {by}, c LIMIT 5", catalogue)
    assert question.order == (Ordering("total", True), Ordering("c"))
    assert question.limit == 5


def test_having_is_a_condition_on_the_answer(catalogue: Catalogue) -> None:
    sql = "SELECT c, COUNT(*) AS n FROM people GROUP BY c HAVING COUNT(*) > 10 AND c <> 'a' AND n < 1e6"
    having = parse(sql, catalogue).having
    assert having is not None
    names = {column.name for column in having.find_all(sqlglot.exp.Column)}
    assert names == {"n", "c"}


def test_comments_and_case_do_not_matter(catalogue: Catalogue) -> None:
    plain = parse("SELECT c, AVG(x) AS m FROM people WHERE n > 3 AND c = 'a' GROUP BY c ORDER BY m", catalogue)
    other = parse(
        "-- how much?\nselect P.C , avg(p.X) as m /* mean */ from PEOPLE as p\n"
        "where 3 < N and ('a' = c) group by 1 order by 2",
        catalogue,
    )
    assert plain.text == other.text


@pytest.mark.parametrize(
    ("one", "another"),
    [
        ("SELECT COUNT(*) FROM people", "SELECT COUNT(n) FROM people"),
        ("SELECT SUM(n) AS s FROM people", "SELECT SUM(m) AS s FROM people"),
        ("SELECT COUNT(*) FROM people", "SELECT COUNT(*) FROM rows_only"),
        ("SELECT VAR_POP(n) AS v FROM people", "SELECT VAR_SAMP(n) AS v FROM people"),
        ("SELECT QUANTILE(n, 0.5) AS v FROM people", "SELECT QUANTILE(n, 0.51) AS v FROM people"),
        ("SELECT COUNT(*) FROM people WHERE n > 3", "SELECT COUNT(*) FROM people WHERE n >= 3"),
        ("SELECT COUNT(*) FROM people WHERE NOT (f AND n > 3)", "SELECT COUNT(*) FROM people WHERE (NOT f) AND n > 3"),
        ("SELECT SUM(n * (m + 1)) FROM people", "SELECT SUM(n * m + 1) FROM people"),
        ("SELECT SUM(n - (m - 1)) FROM people", "SELECT SUM(n - m - 1) FROM people"),
        ("SELECT SUM(CLAMP(n, 0, 9)) FROM people", "SELECT SUM(CLAMP(n, 0, 8)) FROM people"),
        ("SELECT SUM(ROUND(x, 1)) FROM people", "SELECT SUM(ROUND(x, 2)) FROM people"),
        ("SELECT SUM(POWER(x, 2)) FROM people", "SELECT SUM(POWER(x, 3)) FROM people"),
        ("SELECT TOP_K(c, 1) AS t FROM people", "SELECT TOP_K(c, 2) AS t FROM people"),
        ("SELECT COUNT(DISTINCT who) AS a FROM people", "SELECT COUNT(DISTINCT c) AS a FROM people"),
        ("SELECT COUNT_IF(f) AS a FROM people", "SELECT COUNT_IF(NOT f) AS a FROM people"),
        ("SELECT COUNT(*) FROM people LIMIT 1", "SELECT COUNT(*) FROM people"),
        ("SELECT k, COUNT(*) FROM people GROUP BY k ORDER BY k",
         "SELECT k, COUNT(*) FROM people GROUP BY k ORDER BY k DESC"),
        ("SELECT COUNT(*) FROM people WHERE c = 'a'", "SELECT COUNT(*) FROM people WHERE c = 'b'"),
        ("SELECT COUNT(*) FROM people WHERE t = '1'", "SELECT COUNT(*) FROM people WHERE t = ' 1'"),
        ("SELECT LENGTH(t) AS l, COUNT(*) FROM people GROUP BY l",
         "SELECT LENGTH(TRIM(t)) AS l, COUNT(*) FROM people GROUP BY l"),
        ("SELECT SUM(s) AS s FROM (SELECT n AS s FROM people) AS q",
         "SELECT SUM(s) AS s FROM (SELECT m AS s FROM people) AS q"),
        (
            "SELECT SUM(s) AS s FROM (SELECT SUM(n) AS s FROM people GROUP BY who) AS q",
            "SELECT SUM(s) AS s FROM (SELECT SUM(n) AS s FROM people WHERE f GROUP BY who) AS q",
        ),
    ],
)  # fmt: skip
def test_different_questions_have_different_texts(catalogue: Catalogue, one: str, another: str) -> None:
    assert parse(one, catalogue).text != parse(another, catalogue).text


def test_bounds_that_were_stated_are_in_the_text(catalogue: Catalogue) -> None:
    texts = {
        parse("SELECT SUM(big) FROM people", each).text
        for each in (catalogue, catalogue.with_bounds({"big": (0, 9)}), catalogue.with_bounds({"big": (0, 8)}))
    }
    assert len(texts) == 3
    assert any('CLAMP("big", 0, 9)' in text for text in texts)


def test_the_text_reads_like_the_question(catalogue: Catalogue) -> None:
    sql = "SELECT c, AVG(x / 2) AS half FROM people WHERE y < 0.5 GROUP BY c"
    assert parse(sql, catalogue).text == (
        'SELECT "c" AS "c", AVG((CLAMP("x", -1000.0, 1000.0) / 2)) AS "half" FROM "people" AS "rows" '
        'WHERE ("y" < 0.5) GROUP BY "c"'
    )


def test_texts_of_generated_questions_differ_where_they_compute_different_things(
    catalogue: Catalogue, grammar: Any
) -> None:
    computed: dict[str, str] = {}
    written = grammar(99)
    for _ in range(400):
        try:
            question = parse(
                f"SELECT SUM({written.number(2)}) AS s FROM people WHERE {written.condition(1)}", catalogue
            )
        except QuestionError:
            continue
        assert question.where is not None
        what = value_of(question.aggregates[0]).sql.sql() + question.where.sql()
        assert computed.setdefault(question.text, what) == what
    assert len(computed) > 100


def test_a_unit_without_a_column_cannot_be_counted_apart(catalogue: Catalogue) -> None:
    with pytest.raises(QuestionError, match="if units have a column"):
        parse("SELECT COUNT(DISTINCT UNIT()) FROM rows_only", catalogue)


@given(st.text(max_size=200))
def test_any_text_is_refused_in_one_sentence(catalogue: Catalogue, text: str) -> None:
    with pytest.raises(QuestionError):
        parse(text, catalogue)


def test_nothing_is_read_from_a_private_table(catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("a private table was read")

    monkeypatch.setattr("ziggurat.data.engines._duckdb.DuckDBEngine._fetch", fail)
    parse("SELECT c, MEDIAN(n) FROM people WHERE x > 1 GROUP BY c", catalogue)
    parse("SELECT SUM(s) FROM (SELECT SUM(n) AS s FROM people GROUP BY who) AS q", catalogue)

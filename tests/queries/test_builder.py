"""A question built in Python means the same as the one written in SQL."""

from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import pyarrow as pa
import pytest

from ziggurat.data import Column, Kind, Schema, Table, Unit
from ziggurat.errors import QuestionError
from ziggurat.queries import Catalogue, Expression, Query, column, parse

PEOPLE = Query("people")


@pytest.fixture(scope="module")
def catalogue(nasty: Table) -> Catalogue:
    schema = Schema((Column("who", Kind.TEXT, "identifier"), Column("year", Kind.INTEGER)), Unit.person("who"))
    others = Table(nasty.engine, nasty.engine.attach(pa.table({"who": ["p1"], "year": [1990]})), schema)
    places = Table(nasty.engine, nasty.engine.attach(pa.table({"k": [1, 2], "label": ["one", "two"]})))
    return Catalogue({"people": nasty, "others": others}, {"places": places})


@pytest.mark.parametrize(
    ("built", "sql"),
    [
        (PEOPLE.count(), "SELECT COUNT(*) AS count FROM people"),
        (PEOPLE.count("n", where="f"), "SELECT COUNT(*) FILTER (WHERE f) AS n FROM people"),
        (PEOPLE.count_units(), "SELECT COUNT(DISTINCT who) FROM people"),
        (PEOPLE.count_distinct("t"), "SELECT COUNT(DISTINCT t) FROM people"),
        (PEOPLE.sum("n * m", "s"), "SELECT SUM(n * m) AS s FROM people"),
        (PEOPLE.mean(column("x"), where=column("n") > 3), "SELECT AVG(x) FILTER (WHERE n > 3) FROM people"),
        (PEOPLE.variance("x").deviation("y"), "SELECT VARIANCE(x), STDDEV(y) FROM people"),
        (PEOPLE.quantile("x", 0.9).median("y"), "SELECT QUANTILE(x, 0.9), MEDIAN(y) FROM people"),
        (PEOPLE.most_frequent("c").top("k", 2), "SELECT MODE(c), TOP_K(k, 2) FROM people"),
        (PEOPLE.where("n > 3 OR f").where("m = 2").count(), "SELECT COUNT(*) FROM people WHERE (n > 3 OR f) AND m = 2"),
        (PEOPLE.group_by("c", decade="BIN(n, 10)").count(),
         "SELECT c, BIN(n, 10) AS decade, COUNT(*) FROM people GROUP BY c, BIN(n, 10)"),
        (PEOPLE.group_by(column("k")).sum("m").having("sum_m > 10").order_by("sum_m", descending=True).limit(2),
         "SELECT k, SUM(m) FROM people GROUP BY k HAVING SUM(m) > 10 ORDER BY SUM(m) DESC LIMIT 2"),
        (PEOPLE.histogram("c"), "SELECT c, COUNT(*) FROM people GROUP BY c"),
        (PEOPLE.histogram("n", bins=4), "SELECT BUCKET(n, -100, 100, 4) AS n_bin, COUNT(*) FROM people GROUP BY n_bin"),
        (PEOPLE.histogram("m", edges=[0, 3, 8]),
         "SELECT CASE WHEN m < 0 THEN NULL WHEN m < 3 THEN 0 WHEN m <= 8 THEN 3 END AS m, COUNT(*) "
         "FROM people GROUP BY 1"),
        (PEOPLE.join("places", on="k").group_by("label").count(),
         "SELECT label, COUNT(*) FROM people JOIN places USING (k) GROUP BY label"),
        (PEOPLE.join("places", on="people.k = places.k", how="left").count(),
         "SELECT COUNT(*) FROM people LEFT JOIN places ON people.k = places.k"),
        (PEOPLE.join("others", on=column("people.who") == column("o.who"), name="o").sum("CLAMP(o.year, 0, 9)"),
         "SELECT SUM(CLAMP(o.year, 0, 9)) FROM people JOIN others AS o ON people.who = o.who"),
        (PEOPLE.join(Query("others").where("year > 3"), on=["who"], name="o").count(),
         "SELECT COUNT(*) FROM people JOIN (SELECT * FROM others WHERE year > 3) AS o USING (who)"),
        (PEOPLE.where("f").with_column("z", column("n") + 1).sum("z"),
         "SELECT SUM(z) FROM (SELECT *, n + 1 AS z FROM people WHERE f) AS a"),
        (PEOPLE.per_unit(total="SUM(m)", visits="COUNT(*)").where("visits > 1").sum("CLAMP(total, 0, 50)"),
         "SELECT SUM(CLAMP(total, 0, 50)) "
         "FROM (SELECT who, SUM(m) AS total, COUNT(*) AS visits FROM people GROUP BY who) AS a "
         "WHERE visits > 1"),
        (PEOPLE.per_unit("c", n="COUNT(*)").group_by("c").sum("CLAMP(n, 0, 5)"),
         "SELECT c, SUM(CLAMP(n, 0, 5)) FROM (SELECT c, COUNT(*) AS n FROM people GROUP BY who, c) AS a GROUP BY c"),
    ],
    ids=lambda each: each[:50] if isinstance(each, str) else "",
)  # fmt: skip
def test_both_mean_the_same(catalogue: Catalogue, built: Query, sql: str) -> None:
    assert built.resolve(catalogue).text == parse(sql, catalogue).text
    assert parse(built.sql(), catalogue).text == parse(sql, catalogue).text


N, X, C, E, T = (column(name) for name in "nxcet")


@pytest.mark.parametrize(
    ("built", "sql"),
    [
        ((N + 1) * 2 - N / 4, "(n + 1) * 2 - n / 4"),
        (1 - N, "1 - n"),
        (-(N + 1) % 7, "(-(n + 1)) % 7"),
        (2 * (3 / (N + 200)), "2 * (3 / (n + 200))"),
        (10 + N - (N - 3), "10 + n - (n - 3)"),
        (X**2, "POWER(x, 2)"),
        (N.clamp(-5, 5).abs(), "ABS(CLAMP(n, -5, 5))"),
        (X.floor() + X.ceil() + X.round(1), "FLOOR(x) + CEIL(x) + ROUND(x, 1)"),
        (N.bin(10, 5), "BIN(n, 10, 5)"),
        (N.bucket(4, 0, 10), "BUCKET(n, 0, 10, 4)"),
        ((X.clamp(1, 9)).sqrt() + X.ln(), "SQRT(CLAMP(x, 1, 9)) + LN(x)"),
        (E.year() * 100 + E.month() + E.day(), "YEAR(e) * 100 + MONTH(e) + DAY(e)"),
        (T.trim().lower().length(), "LENGTH(LOWER(TRIM(t)))"),
        (C.if_missing("none").upper().length(), "LENGTH(UPPER(COALESCE(c, 'none')))"),
        (N.if_missing(-3), "COALESCE(n, -3)"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_expressions_mean_what_sql_means(catalogue: Catalogue, built: Expression, sql: str) -> None:
    one, other = (PEOPLE.count_distinct(each, "d").resolve(catalogue) for each in (built, sql))
    assert one.text == other.text


@pytest.mark.parametrize(
    ("built", "sql"),
    [
        ((N > 1) & (N <= 5) | ~(C == "a"), "(n > 1 AND n <= 5) OR NOT c = 'a'"),
        ((N < 1) | (N >= 5) & (C != "b"), "n < 1 OR (n >= 5 AND c <> 'b')"),
        (N.between(1, 5), "n BETWEEN 1 AND 5"),
        (C.is_in(["a", "b"]), "c IN ('a', 'b')"),
        (T.is_missing() | T.like("a%"), "t IS NULL OR t LIKE 'a%'"),
        (X.is_present(), "x IS NOT NULL"),
        (date(2020, 6, 1) < E, "e > DATE '2020-06-01'"),
        (column("f") == True, "f = TRUE"),  # noqa: E712
        (T == "it's", "t = 'it''s'"),
        (N > -3, "n > -3"),
        (X > 1e-7, "x > 0.0000001"),
        (column("people.n") > 3, "people.n > 3"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_conditions_mean_what_sql_means(catalogue: Catalogue, built: Expression, sql: str) -> None:
    one, other = (PEOPLE.where(each).count().resolve(catalogue) for each in (built, sql))
    assert one.text == other.text


def test_every_step_returns_a_new_question() -> None:
    base = PEOPLE.where("n > 3")
    counted = base.count()
    assert base.sql() != counted.sql()
    assert PEOPLE.sql() == Query("people").sql()
    assert "COUNT" in repr(counted)
    assert repr(column("n") > 3) == '<Expression "n" > 3>'


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (lambda: Query("people; DROP TABLE x"), "is not a name"),
        (lambda: PEOPLE.where("n > 3 FROM others"), "not understood"),
        (lambda: PEOPLE.where("n > 3; SELECT 1"), "one SELECT at a time"),
        (lambda: PEOPLE.where("n, m"), "One expression is needed"),
        (lambda: PEOPLE.sum("n AS s"), "without AS"),
        (lambda: PEOPLE.where(3), "Write an expression as SQL text"),
        (lambda: PEOPLE.sum("n", "a b"), "is not a name"),
        (lambda: PEOPLE.count().with_column("z", "1"), "before grouping and counting"),
        (lambda: PEOPLE.count().per_unit(n="COUNT(*)"), "before grouping and counting"),
        (lambda: PEOPLE.join("places", on="k", how="right"), "begin with the table whose rows are kept"),
        (lambda: PEOPLE.join(PEOPLE, on="who"), "needs a name"),
        (lambda: PEOPLE.histogram("n", bins=3, edges=[1, 2]), "either a number of bins or edges"),
        (lambda: PEOPLE.histogram("n", edges=[2, 1]), "must rise"),
        (lambda: column("n") == datetime(2020, 1, 1), "takes numbers, text, dates"),
        (lambda: bool(column("n") > 3), "neither true nor false"),
    ],
)
def test_what_is_no_step_is_refused_at_once(step: Callable[[], Any], reason: str) -> None:
    with pytest.raises(QuestionError, match=reason):
        step()

"""FROM: tables, joins and sub-queries, each row of which still belongs to one unit."""

from typing import Any

import pyarrow as pa
import pytest
from sqlglot import exp

from ziggurat.data import Bounds, Column, Kind, Schema, Table, Unit, read
from ziggurat.data.engines import DuckDBEngine
from ziggurat.errors import ParameterError, QuestionError, SchemaError
from ziggurat.queries import Catalogue, Question, parse

WHO = Column("who", Kind.TEXT, "identifier")
VISITS = {
    "who": ["a", "a", "b", "c", None, "c"],
    "cost": [1.5, 2.5, 100.0, float("nan"), 7.0, None],
    "days": [1, 2, 3, 4, 5, 2**62],
    "ward": [1, 2, 1, 3, 1, None],
    "urgent": [True, False, None, True, True, False],
}
VISIT_SCHEMA = Schema(
    (
        WHO,
        Column("cost", Kind.REAL, bounds=Bounds(0, 10)),
        Column("days", Kind.INTEGER),
        Column("ward", Kind.INTEGER, bounds=Bounds(1, 4)),
        Column("urgent", Kind.BOOLEAN),
    ),
    Unit.person("who"),
)


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    engine = DuckDBEngine()
    visits = read(pa.table(VISITS), VISIT_SCHEMA, engine=engine)
    born = Schema((WHO, Column("year", Kind.INTEGER, bounds=Bounds(1900, 2020))), Unit.person("who"))
    people = read(pa.table({"who": ["a", "b", "d"], "year": [1990, 1950, 2000]}), born, engine=engine)
    firms = Schema((Column("firm", Kind.TEXT), Column("size", Kind.INTEGER)), Unit.of("firm", "organisation"))
    companies = read(pa.table({"firm": ["x"], "size": [3]}), firms, engine=engine)
    rows = Schema((Column("ward", Kind.INTEGER), Column("size", Kind.INTEGER, bounds=Bounds(0, 9))))
    beds = read(pa.table({"ward": [1, 2], "size": [3, 4]}), rows, engine=engine)
    elsewhere = read(pa.table({"who": ["a"]}), Schema((WHO,), Unit.person("who")))
    wards = read(pa.table({"ward": [1, 2, 2, 9], "name": ["it's", "B", "B2", None], "floor": [0, 1, 1, 2]}))
    return Catalogue(
        {"visits": visits, "people": people, "companies": companies, "beds": beds, "elsewhere": elsewhere},
        {"wards": wards, "same": read(pa.table({"ward": [1, 2]}), engine=engine)},
    )


def rows_of(question: Question) -> list[dict[str, Any]]:
    """The relation, row by row, with the keys and values of the question."""
    chosen = [key.value.sql.as_(key.name) for key in question.keys]
    chosen += [each.value.sql.as_(each.name) for each in question.aggregates if each.value is not None]
    unit = question.relation.unit_column
    chosen += [exp.column(unit, quoted=True).as_("unit")] if unit else []
    query = exp.select(*chosen).from_(question.relation.query.subquery("rows"))
    query = query if question.where is None else query.where(question.where)
    return question.relation.engine.query(query).to_pylist()


def values(question: Question, name: str) -> list[Any]:
    return sorted(row[name] for row in rows_of(question) if row[name] is not None)


def test_a_table_has_a_unit_that_is_no_column(catalogue: Catalogue) -> None:
    relation = parse("SELECT SUM(days) AS s FROM visits", catalogue).relation
    assert (relation.unit, relation.unit_column, relation.rows_per_unit) == (Unit.person("who"), "ziggurat_unit", None)
    assert set(relation.columns) == {"days"}
    assert relation.tables == ("visits",)


def test_a_table_of_rows_has_one_row_per_unit(catalogue: Catalogue) -> None:
    relation = parse("SELECT COUNT(*) FROM beds", catalogue).relation
    assert (relation.unit_column, relation.rows_per_unit) == (None, 1)


def test_only_the_columns_that_are_used_are_read(catalogue: Catalogue) -> None:
    question = parse("SELECT AVG(cost) FROM visits WHERE ward = 2", catalogue)
    assert "days" not in question.relation.query.sql()


@pytest.mark.parametrize("source", ["visits JOIN wards USING (ward)", "visits v JOIN wards w ON w.ward = v.ward",
                                    "wards w JOIN visits v ON w.ward = v.ward"])  # fmt: skip
def test_a_public_table_is_joined_and_its_values_are_known(catalogue: Catalogue, source: str) -> None:
    question = parse(f"SELECT name, SUM(floor) AS s FROM {source} GROUP BY name", catalogue)
    assert question.keys[0].value.categories == ("B", "B2", "it's")
    assert (question.aggregates[0].value.lower, question.aggregates[0].value.upper) == (0, 2)
    assert values(question, "name") == ["B", "B2", "it's", "it's", "it's"]


def test_a_left_join_keeps_rows_that_meet_none(catalogue: Catalogue) -> None:
    question = parse("SELECT SUM(floor) AS s, SUM(ward) AS w FROM visits LEFT JOIN wards USING (ward)", catalogue)
    assert len(rows_of(question)) == 7
    assert values(question, "w") == [1, 1, 1, 2, 2, 3]


def test_public_rows_of_one_key_multiply_those_of_a_unit(catalogue: Catalogue) -> None:
    assert parse("SELECT COUNT(*) FROM beds JOIN wards USING (ward)", catalogue).relation.rows_per_unit == 2
    assert parse("SELECT COUNT(*) FROM beds JOIN same USING (ward)", catalogue).relation.rows_per_unit == 1
    twice = "beds JOIN wards USING (ward) LEFT JOIN wards AS w ON beds.ward = w.ward"
    assert parse(f"SELECT COUNT(*) FROM {twice}", catalogue).relation.rows_per_unit == 4


def test_private_tables_are_joined_on_their_unit(catalogue: Catalogue) -> None:
    question = parse("SELECT SUM(year) AS y FROM visits v JOIN people p ON v.who = p.who", catalogue)
    assert values(question, "y") == [1950, 1990, 1990]
    assert question.relation.rows_per_unit is None
    assert question.relation.tables == ("visits", "people")
    assert {row["unit"] for row in rows_of(question)} == {"a", "b"}


def test_totals_per_unit_have_one_row_per_unit(catalogue: Catalogue) -> None:
    inner = "SELECT who, COUNT(*) AS n, SUM(ward) AS w, AVG(cost) AS c FROM visits GROUP BY who"
    question = parse(f"SELECT SUM(n) AS n, SUM(w) AS w, SUM(c) AS c FROM ({inner}) AS t", catalogue)
    assert question.relation.rows_per_unit == 1
    assert (values(question, "n"), values(question, "w"), values(question, "c")) == ([1, 2, 2], [1, 3, 3], [2.0, 10.0])
    assert [row["unit"] for row in rows_of(question)].count(None) == 0
    assert question.aggregates[2].value.upper == 10.0
    assert question.aggregates[0].value.column == "n"


def test_totals_per_unit_and_key_have_a_row_for_every_key(catalogue: Catalogue) -> None:
    inner = "SELECT ward, urgent, COUNT(*) AS n FROM visits GROUP BY who, ward, urgent"
    question = parse(f"SELECT ward, SUM(n) AS n FROM ({inner}) AS t GROUP BY ward", catalogue)
    assert question.relation.rows_per_unit == (4 + 1) * (2 + 1)
    assert len(rows_of(question)) == 5


def test_a_sum_per_unit_is_exact_and_stays_within_64_bits(catalogue: Catalogue) -> None:
    inner = "SELECT SUM(days) AS d, SUM(CLAMP(days, 0, 9)) AS c, SUM(cost) AS r FROM visits GROUP BY who"
    question = parse(f"SELECT SUM(d) AS d, SUM(c) AS c, SUM(r) AS r FROM ({inner}) AS t", catalogue)
    assert values(question, "d") == [3, 3, 2**62 + 4]
    assert values(question, "r") == [0.0, 4.0, 10.0]
    assert [each.value.lower for each in question.aggregates] == [None, 0, 0.0]


def test_a_table_is_not_joined_with_itself_row_by_row(catalogue: Catalogue) -> None:
    with pytest.raises(QuestionError, match="totals per unit in one of the two"):
        parse("SELECT COUNT(*) FROM visits v JOIN visits u ON v.who = u.who", catalogue)
    totals = "SELECT who, COUNT(*) AS n FROM visits GROUP BY who"
    assert parse(f"SELECT COUNT(*) FROM visits v JOIN ({totals}) AS t ON v.who = t.who WHERE n > 1", catalogue)


def test_rows_per_unit_bound_the_totals_of_a_unit(catalogue: Catalogue) -> None:
    once = "SELECT who, COUNT(*) AS n FROM visits GROUP BY who"
    question = parse(
        f"SELECT SUM(s) AS s FROM (SELECT SUM(CLAMP(n, 0, 5)) AS s FROM ({once}) AS o GROUP BY who) AS t", catalogue
    )
    assert (question.aggregates[0].value.lower, question.aggregates[0].value.upper) == (0, 5)


def test_conditions_on_totals_choose_units(catalogue: Catalogue) -> None:
    for having in ("COUNT(*) > 1", "n > 1", "SUM(ward) > 1 AND n > 1"):
        inner = f"SELECT who, COUNT(*) AS n FROM visits GROUP BY who HAVING {having}"
        question = parse(f"SELECT COUNT(DISTINCT who) FROM ({inner}) AS t", catalogue)
        assert {row["unit"] for row in rows_of(question)} == {"a", "c"}


def test_totals_of_a_unit_may_be_computed_with(catalogue: Catalogue) -> None:
    inner = "SELECT who, MAX(ward) - MIN(ward) AS spread, COUNT(*) FILTER (WHERE urgent) AS u FROM visits GROUP BY 1"
    question = parse(f"SELECT SUM(spread) AS s, SUM(u) AS u FROM ({inner}) AS t", catalogue)
    assert (question.aggregates[0].value.lower, question.aggregates[0].value.upper) == (-3, 3)
    assert (values(question, "s"), values(question, "u")) == ([0, 0, 1], [0, 1, 1])


def test_a_sub_query_of_rows_carries_the_unit_along(catalogue: Catalogue) -> None:
    late = "SELECT days * 0 + 1 AS one, ward FROM visits WHERE ward > 1"
    sql = f"WITH late AS ({late}) SELECT COUNT(DISTINCT who), SUM(one) AS s FROM late"
    with pytest.raises(QuestionError, match="could leave 64 bits"):
        parse(sql, catalogue)
    question = parse(sql.replace("days * 0 + 1", "ward * 2"), catalogue)
    assert values(question, "s") == [4, 6]
    assert {row["unit"] for row in rows_of(question)} == {"a", "c"}


def test_a_star_in_a_sub_query_stands_for_all_columns(catalogue: Catalogue) -> None:
    question = parse(
        "SELECT SUM(twice) AS t, COUNT(urgent) AS u FROM (SELECT *, ward * 2 AS twice FROM visits) AS v", catalogue
    )
    assert values(question, "t") == [2, 2, 2, 4, 6]


def test_a_category_stays_cheap_through_a_sub_query(nasty: Table) -> None:
    question = parse("SELECT c, COUNT(*) FROM (SELECT c FROM people) AS p GROUP BY c", Catalogue({"people": nasty}))
    assert question.keys[0].value.sql == exp.column("c", quoted=True)


def test_values_of_a_public_column_may_be_listed(catalogue: Catalogue) -> None:
    question = parse("SELECT SUM(ward) AS w FROM visits WHERE ward IN (SELECT ward FROM wards)", catalogue)
    assert values(question, "w") == [1, 1, 1, 2]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("wards", "nothing private in FROM"),
        ("nowhere", "There is no table 'nowhere'"),
        ("visits, people", "A join needs ON"),
        ("visits CROSS JOIN people", "Only JOIN and LEFT JOIN"),
        ("visits RIGHT JOIN people ON visits.who = people.who", "Only JOIN and LEFT JOIN"),
        ("visits FULL JOIN people ON visits.who = people.who", "Only JOIN and LEFT JOIN"),
        ("visits NATURAL JOIN people", "not understood"),
        ("visits JOIN people ON visits.ward = people.year", "joined on the columns of their unit"),
        ("visits JOIN people ON visits.who = people.who OR TRUE", "not an equality of two columns"),
        ("visits JOIN people ON visits.who > people.who", "not an equality of two columns"),
        ("visits JOIN wards ON visits.ward = visits.days", "one column of 'wards'"),
        ("visits JOIN companies ON visits.who = companies.firm", "one promise cannot hide both"),
        ("visits JOIN beds ON visits.ward = beds.ward", "whose unit is a row"),
        ("beds JOIN beds AS b ON beds.ward = b.ward", "whose unit is a row"),
        ("visits JOIN elsewhere ON visits.who = elsewhere.who", "within one engine"),
        ("visits JOIN visits ON visits.who = visits.who", "Two things in FROM are called"),
        ("wards LEFT JOIN visits ON wards.ward = visits.ward", "nothing private in FROM"),
        ("read_csv('/etc/passwd')", "cannot stand in FROM"),
        ("'/etc/passwd'", "There is no table"),
        ("other.visits", "not understood"),
        ("visits TABLESAMPLE 10%", "not understood"),
        ("visits AS v(a, b)", "not understood"),
        ("(VALUES (1)) AS v", "cannot stand in FROM|must be one SELECT"),
        ("(SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) AS t", "totals over different people"),
        ("(SELECT COUNT(*) AS n FROM visits) AS t", "totals over different people"),
        ("(SELECT ward, COUNT(*) AS n FROM beds GROUP BY ward) AS t", "the unit of this table is a row"),
        ("(SELECT who, ward, COUNT(*) AS n FROM visits GROUP BY who) AS t", "neither a total nor a key"),
        ("(SELECT who, MEDIAN(ward) AS n FROM visits GROUP BY who) AS t", "only COUNT, SUM, AVG, MIN and MAX"),
        ("(SELECT who, SUM(days / ward) AS n FROM visits GROUP BY who) AS t", "no bounds; write CLAMP"),
        ("(SELECT ward FROM visits LIMIT 3) AS t", "not understood"),
        ("(SELECT DISTINCT ward FROM visits) AS t", "not understood"),
        ("(SELECT ward FROM visits UNION SELECT ward FROM visits) AS t", "one SELECT"),
        ("(SELECT ward + 1 FROM visits) AS t", "needs a name"),
        ("(SELECT ward AS a, ward AS A FROM visits) AS t", "are called"),
        ("(SELECT ward AS ziggurat_unit FROM visits) AS t", "cannot be a name"),
        ("(SELECT ward AS " + "a" * 70 + " FROM visits) AS t", "cannot be a name"),
    ],
)
def test_what_would_mix_people_is_refused_with_the_reason(catalogue: Catalogue, source: str, reason: str) -> None:
    with pytest.raises(QuestionError, match=reason):
        parse(f"SELECT COUNT(*) FROM {source}", catalogue)


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ("ward IN (SELECT ward FROM visits)", "private rows"),
        ("ward IN (SELECT ward + 1 FROM wards)", "only SELECT column FROM public_table"),
        ("ward IN (SELECT nothing FROM wards)", "has no column 'nothing'"),
        ("ward IN (SELECT ward FROM wards WHERE floor = 1)", "not understood"),
    ],
)
def test_lists_come_only_from_public_columns(catalogue: Catalogue, condition: str, reason: str) -> None:
    with pytest.raises(QuestionError, match=reason):
        parse(f"SELECT COUNT(*) FROM visits WHERE {condition}", catalogue)


def test_a_large_public_table_of_another_engine_is_refused(catalogue: Catalogue) -> None:
    engine = DuckDBEngine()
    visits = read(pa.table(VISITS), VISIT_SCHEMA, engine=engine)
    codes = pa.table({"ward": list(range(10_001))})
    sql = "SELECT COUNT(*) FROM visits JOIN codes USING (ward)"
    with pytest.raises(QuestionError, match="more than 10,000 rows; load it into the engine"):
        parse(sql, Catalogue({"visits": visits}, {"codes": read(codes)}))
    parse(sql, Catalogue({"visits": visits}, {"codes": read(codes, engine=engine)}))


@pytest.mark.parametrize("name", ["", "a b", "1a", "a.b", 'a"', "ziggurat_x"])
def test_bad_names_of_tables_are_refused(nasty: Table, name: str) -> None:
    with pytest.raises(ParameterError, match="cannot name a table"):
        Catalogue({name: nasty})


def test_two_tables_of_one_name_are_refused(nasty: Table) -> None:
    with pytest.raises(ParameterError, match="Two tables are called"):
        Catalogue({"People": nasty}, {"people": nasty})


def test_a_column_with_a_reserved_name_is_refused() -> None:
    with pytest.raises(ParameterError, match="which is reserved"):
        Catalogue({"t": read(pa.table({"Ziggurat_unit": [1]}))})


def test_an_analyst_states_bounds(nasty: Table) -> None:
    plain = Catalogue({"people": nasty, "more": nasty})
    stated = plain.with_bounds({"BIG": (0, 9), "more.w": (-1, 1)})
    assert parse("SELECT SUM(big) FROM people", plain).aggregates[0].value.lower is None
    value = parse("SELECT SUM(big) FROM people", stated).aggregates[0].value
    assert (value.lower, value.upper) == (0, 9)
    assert parse("SELECT SUM(w) FROM more", stated).aggregates[0].value.upper == 1.0
    assert parse("SELECT SUM(w) FROM people", stated).aggregates[0].value.upper is None


def test_bounds_must_name_a_column_and_be_two(nasty: Table) -> None:
    plain = Catalogue({"people": nasty})
    with pytest.raises(QuestionError, match="There is no column 'bigg' to bound; did you mean 'big'"):
        plain.with_bounds({"bigg": (0, 1)})
    with pytest.raises(ParameterError, match="must be two values"):
        plain.with_bounds({"big": 3})  # type: ignore[dict-item]
    with pytest.raises(SchemaError, match="swap them"):
        plain.with_bounds({"big": (3, 1)})


def test_joins_and_totals_come_out_alike_on_every_engine(load: Any) -> None:
    engine, visits = load(pa.table(VISITS))
    wards = read(pa.table({"ward": [1, 2, 2, 9], "name": ["it's", "B", "B2", None], "floor": [0.5, 1, 1, 2]}))
    catalogue = Catalogue({"visits": Table(engine, visits, VISIT_SCHEMA)}, {"wards": wards})
    joined = parse("SELECT name, SUM(floor) AS s FROM visits LEFT JOIN wards USING (ward) GROUP BY name", catalogue)
    assert sorted(str(row["name"]) for row in rows_of(joined)) == ["B", "B2", "None", "None", "it's", "it's", "it's"]
    chosen = "who, SUM(days) AS d, AVG(cost) AS c, COUNT(DISTINCT ward) AS w"
    inner = f"SELECT {chosen} FROM visits GROUP BY who HAVING COUNT(*) > 1"
    totals = parse(f"SELECT SUM(d) AS d, SUM(c) AS c, SUM(w) AS w FROM ({inner}) AS t", catalogue)
    found = sorted(rows_of(totals), key=lambda row: row["unit"])
    assert [(row["d"], row["c"], row["w"]) for row in found] == [(3, 2.0, 2), (2**62 + 4, None, 1)]

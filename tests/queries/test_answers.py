"""With next to no noise, answers equal those of the engine, on every engine."""

import json
from datetime import date, timedelta

import numpy as np
import pyarrow as pa
import pytest

from ziggurat.data import Bounds, Categories, Column, Kind, Schema, Table, Unit
from ziggurat.data.engines import DuckDBEngine, PostgresEngine, SparkEngine
from ziggurat.errors import ParameterError, QuestionError
from ziggurat.queries import Answer, Catalogue, QuestionPlan, Terms, parse
from ziggurat.randomness import seeded

ROW = Unit()
ROWS = 600
COLUMNS = (
    Column("person", Kind.INTEGER),
    Column("sex", Kind.CATEGORY, categories=Categories(("f", "m", "x"))),
    Column("town", Kind.TEXT),
    Column("age", Kind.INTEGER, bounds=Bounds(0, 110)),
    Column("cost", Kind.REAL, bounds=Bounds(-5.0, 500.0)),
    Column("income", Kind.REAL),
    Column("seen", Kind.DATE, bounds=Bounds(date(2020, 1, 1), date(2021, 12, 31))),
    Column("smokes", Kind.BOOLEAN),
)
_random = np.random.default_rng(3)
PEOPLE = pa.table(
    {
        "person": _random.integers(0, 200, ROWS),
        "sex": _random.choice(["f", "m"], ROWS),
        "town": _random.choice(["rome", "oslo", "bern"], ROWS, p=[0.6, 0.39, 0.01]),
        "age": _random.integers(18, 90, ROWS),
        "cost": _random.exponential(60, ROWS).clip(0, 500),
        "income": _random.exponential(40_000, ROWS),
        "seen": pa.array([date(2020, 1, 1) + timedelta(days=int(day)) for day in _random.integers(0, 700, ROWS)]),
        "smokes": pa.array(_random.random(ROWS) < 0.3),
    }
)
FRAME = PEOPLE.to_pandas()
EXACTLY = {"epsilon": 10**9, "delta": "1e-9", "rows_per_unit": 100, "groups_per_unit": 10}


@pytest.fixture(scope="module", params=["duckdb", "postgres", pytest.param("spark", marks=pytest.mark.spark)])
def people(request) -> Table:
    return opened(request, request.param)


def opened(request, engine: str, unit: Unit = ROW) -> Table:
    schema = Schema(COLUMNS, unit=unit)
    if engine == "duckdb":
        held = DuckDBEngine()
        return Table(held, held.attach(PEOPLE), schema)
    if engine == "spark":
        spark = SparkEngine(request.getfixturevalue("spark_session"))
        return Table(spark, spark.attach(PEOPLE), schema)
    return Table(PostgresEngine(request.getfixturevalue("postgres_uri")), copied(request), schema)


def copied(request) -> str:
    """The people in a PostgreSQL table, made once."""
    import psycopg

    types = ["bigint", "text", "text", "bigint", "double precision", "double precision", "date", "boolean"]
    columns = ", ".join(f"{column.name} {kind}" for column, kind in zip(COLUMNS, types, strict=True))
    with psycopg.connect(request.getfixturevalue("postgres_uri"), autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS people_asked")
        connection.execute(f"CREATE TABLE people_asked ({columns})")
        with connection.cursor().copy("COPY people_asked FROM STDIN") as copy:
            for row in PEOPLE.to_pylist():
                copy.write_row(tuple(row.values()))
    return "people_asked"


def ask(table: Table, question: str, **terms: object) -> Answer:
    plan = QuestionPlan(parse(question, Catalogue({"people": table})), Terms(**{"epsilon": 1, **terms}))
    return plan.run(seeded(1))


def exactly(table: Table, question: str, **terms: object) -> Answer:
    return ask(table, question, **{**EXACTLY, **terms})


def test_every_aggregate_equals_the_exact_one_when_epsilon_is_huge(people):
    answer = exactly(
        people,
        """SELECT COUNT(*) AS n, COUNT(DISTINCT age) AS ages, SUM(age) AS years, SUM(cost) AS cost, AVG(age) AS age,
        AVG(cost) AS mean_cost, VAR_SAMP(age) AS variance, STDDEV_POP(cost) AS deviation, MEDIAN(age) AS middle,
        QUANTILE(cost, 0.9) AS high, MODE(town_known) AS town, TOP_K(sex, 2) AS sexes, MEDIAN(seen) AS day,
        SUM(CASE WHEN smokes THEN 1 ELSE 0 END) AS smokers
        FROM (SELECT *, CASE WHEN town = 'rome' THEN 'rome' ELSE 'elsewhere' END AS town_known FROM people) AS p""",
        effects=0,
    )
    sexes = FRAME.sex.value_counts()
    expected = {
        "n": ROWS,
        "ages": FRAME.age.nunique(),
        "years": FRAME.age.sum(),
        "cost": pytest.approx(FRAME.cost.sum(), rel=1e-6),
        "age": pytest.approx(FRAME.age.mean(), rel=1e-6),
        "mean_cost": pytest.approx(FRAME.cost.mean(), rel=1e-6),
        "variance": pytest.approx(FRAME.age.var(), rel=1e-4),
        "deviation": pytest.approx(FRAME.cost.std(ddof=0), rel=1e-3),
        "middle": FRAME.age.quantile(0.5, interpolation="lower"),
        "high": pytest.approx(FRAME.cost.quantile(0.9), abs=1.0),
        "town": "rome",
        "sexes": list(sexes.index),
        "day": pytest.approx(FRAME.seen.sort_values().iloc[(ROWS - 1) // 2]),
        "smokers": FRAME.smokes.sum(),
    }
    assert {name: answer[name][0] for name in answer.aggregates} == expected


def test_groups_with_public_names_equal_the_exact_ones_and_empty_ones_are_there(people):
    answer = exactly(people, "SELECT sex, COUNT(*) AS n, AVG(age) AS age FROM people WHERE age >= 40 GROUP BY sex")
    older = FRAME[FRAME.age >= 40].groupby("sex").age.agg(["size", "mean"])
    assert answer["sex"] == ["f", "m", "x"]
    assert answer["n"] == [*older["size"], 0]
    assert answer["age"][:2] == pytest.approx(list(older["mean"]), rel=1e-6)


def test_only_aggregates_leave_the_engine(people, monkeypatch):
    kind, fetched = type(people.engine), []

    def counting(engine, statement, fetch=kind._fetch):
        answer = fetch(engine, statement)
        fetched.append(answer.num_rows)
        return answer

    monkeypatch.setattr(kind, "_fetch", counting)
    ask(people, "SELECT sex, COUNT(*) AS n, AVG(cost) AS cost, MODE(smokes) AS smokes FROM people GROUP BY sex")
    assert 1 <= max(fetched) <= 6  # sexes, or sexes by whether they smoke


def test_groups_with_private_names_are_those_with_many_units(people):
    answer = ask(people, "SELECT town, COUNT(*) AS n FROM people GROUP BY town", epsilon=1, delta="1e-6")
    assert answer["town"] == ["oslo", "rome"]
    counts = FRAME.town.value_counts()
    assert answer["n"] == pytest.approx([counts["oslo"], counts["rome"]], abs=30)


@pytest.mark.parametrize("engine", ["duckdb", "postgres", pytest.param("spark", marks=pytest.mark.spark)])
def test_a_person_counts_with_at_most_so_many_rows(request, engine):
    people = opened(request, engine, Unit.person("person"))
    answer = exactly(
        people,
        "SELECT COUNT(*) AS n, COUNT(DISTINCT person) AS people, SUM(age) AS years FROM people",
        rows_per_unit=2,
        effects=0,
    )
    kept = FRAME.groupby("person").size().clip(upper=2)
    assert answer["n"] == [kept.sum()]
    assert answer["people"] == [len(kept)]
    assert kept.sum() * 18 <= answer["years"][0] <= kept.sum() * 90


@pytest.mark.parametrize("engine", ["duckdb", "postgres", pytest.param("spark", marks=pytest.mark.spark)])
def test_a_person_is_in_at_most_so_many_groups(request, engine):
    people = opened(request, engine, Unit.person("person"))
    answer = exactly(
        people,
        "SELECT sex, smokes, COUNT(DISTINCT person) AS people FROM people GROUP BY sex, smokes",
        groups_per_unit=1,
        effects=0,
    )
    assert sum(answer["people"]) == FRAME.person.nunique()


def test_bounds_are_learned_out_of_the_same_epsilon(people):
    answer = ask(people, "SELECT AVG(income) AS income FROM people", epsilon=20, learn=["income"], effects=0)
    assert answer.guarantee().epsilon <= 20
    assert answer.value == pytest.approx(FRAME.income.mean(), rel=0.1)
    assert "learned privately" in answer.notes[0]


def test_the_estimate_of_clipped_cells_widens_the_interval_towards_the_truth(people):
    catalogue = Catalogue({"people": people}).with_bounds({"income": (0, 20_000)})
    plan = QuestionPlan(parse("SELECT SUM(income) AS total FROM people", catalogue), Terms(20))
    answer = plan.run(seeded(1))
    outside = int((FRAME.income > 20_000).sum())
    assert answer.effects[0].kind == "clipping"
    assert answer.effects[0].low <= outside <= answer.effects[0].high
    clipped = FRAME.income.clip(0, 20_000).sum()
    assert answer.value == pytest.approx(clipped, rel=0.01)
    assert answer.interval[0] > 0.9 * clipped
    assert answer.interval[1] >= FRAME.income.sum() * 0.95


def test_rows_left_out_are_estimated(request):
    people = opened(request, "duckdb", Unit.person("person"))
    answer = ask(people, "SELECT COUNT(*) AS n FROM people", epsilon=20, rows_per_unit=1)
    assert answer.effects[0].kind == "rows-left-out"
    several = int((FRAME.groupby("person").size() > 1).sum())
    assert answer.effects[0].low <= several <= answer.effects[0].high
    assert answer.interval[1] >= 0.95 * ROWS
    assert answer.value == pytest.approx(FRAME.person.nunique(), abs=5)


def test_groups_not_shown_are_estimated(request):
    people = opened(request, "duckdb")
    answer = ask(people, "SELECT town, COUNT(*) AS n FROM people GROUP BY town", epsilon=1, delta="1e-6")
    hidden = int((FRAME.town == "bern").sum())
    assert answer["town"] == ["oslo", "rome"]
    assert answer.effects[0].low <= hidden <= answer.effects[0].high


def test_the_same_seed_gives_the_same_answer_and_marks_a_rehearsal(request):
    people = opened(request, "duckdb", Unit.person("person"))
    question = "SELECT sex, SUM(cost) AS cost FROM people GROUP BY sex"
    answers = [ask(people, question, rows_per_unit=2, groups_per_unit=1) for _ in range(2)]
    assert answers[0] == answers[1]
    assert answers[0].rehearsal


def test_secure_answers_differ_and_may_be_published(request):
    plan = QuestionPlan(
        parse("SELECT SUM(cost) AS cost FROM people", Catalogue({"people": opened(request, "duckdb")})), Terms(1)
    )
    answers = [plan.run() for _ in range(2)]
    assert answers[0].value != answers[1].value
    assert not answers[0].rehearsal


def test_an_answer_survives_its_json_form(request):
    people = opened(request, "duckdb")
    answer = ask(people, "SELECT smokes, MEDIAN(seen) AS day, TOP_K(sex, 2) AS sexes FROM people GROUP BY smokes")
    assert Answer.from_dict(json.loads(json.dumps(answer.to_dict()))) == answer


def test_an_answer_becomes_frames_with_intervals(request):
    people = opened(request, "duckdb")
    answer = ask(people, "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex")
    assert answer.to_arrow().column_names == ["sex", "n", "n_low", "n_high"]
    assert list(answer.to_pandas(intervals=False).columns) == ["sex", "n"]
    assert answer.to_polars().shape == (3, 4)
    assert str(answer).splitlines()[0].split() == ["sex", "n"]


def test_order_limit_and_having_work_on_what_is_already_noisy(request):
    people = opened(request, "duckdb")
    answer = exactly(
        people, "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex HAVING COUNT(*) > 10 ORDER BY n DESC LIMIT 1"
    )
    assert answer["sex"] == [FRAME.sex.value_counts().index[0]]
    assert len(answer) == 1


def test_a_wish_for_one_number_of_many_is_refused(request):
    answer = ask(opened(request, "duckdb"), "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex")
    with pytest.raises(ParameterError, match="several numbers"):
        _ = answer.value
    with pytest.raises(ParameterError, match="no column 'age'"):
        _ = answer["age"]


@pytest.mark.parametrize(
    ("question", "terms", "unit", "reason"),
    [
        ("SELECT SUM(income) FROM people", {}, Unit(), "no public bounds"),
        ("SELECT AVG(age) FROM people", {}, Unit.person("person"), "state how many of them count"),
        ("SELECT sex, COUNT(DISTINCT person) FROM people GROUP BY sex", {}, Unit.person("person"), "how many groups"),
        ("SELECT town, COUNT(*) FROM people GROUP BY town", {}, Unit(), "needs a delta"),
        ("SELECT MODE(town) FROM people", {}, Unit(), "known beforehand"),
        ("SELECT TOP_K(sex, 4) FROM people", {}, Unit(), "3 values to choose from"),
        ("SELECT AVG(age) FROM people", {"learn": ["income"]}, Unit(), "cannot be learned"),
        ("SELECT QUANTILE(age, 0.12345678) FROM people", {}, Unit(), "six decimals"),
    ],
)
def test_what_cannot_be_bounded_is_refused_with_the_reason(request, question, terms, unit, reason):
    with pytest.raises(QuestionError, match=reason):
        ask(opened(request, "duckdb", unit), question, **terms)


@pytest.mark.parametrize(
    ("terms", "reason"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": 1, "noise": "gaussian"}, "delta"),
        ({"epsilon": 1, "noise": "uniform"}, "noise"),
        ({"epsilon": 1, "shares": {"n": "0.5"}}, "add up"),
        ({"epsilon": 1, "shares": {"n": "1", "m": "0"}}, "greater than 0"),
        ({"epsilon": 1, "effects": 1}, "effects"),
        ({"epsilon": 1, "confidence": 1}, "confidence"),
        ({"epsilon": 1, "rows_per_unit": 0}, "rows_per_unit"),
    ],
)
def test_terms_that_make_no_sense_are_refused(terms, reason):
    with pytest.raises(ParameterError, match=reason):
        Terms(**terms)


def test_the_statements_that_ran_are_told(request):
    answer = ask(opened(request, "duckdb"), "SELECT COUNT(*) AS n FROM people", effects=0)
    assert len(answer.statements) == 1
    assert answer.statements[0].startswith("SELECT COUNT(*)")


@pytest.mark.parametrize(("aggregate", "exact"), [("COUNT(*)", ROWS), ("AVG(age)", None), ("VAR_POP(age)", None)])
def test_intervals_reach_to_the_truth_where_many_rows_are_left_out(request, aggregate, exact):
    people = opened(request, "duckdb", Unit.person("person"))
    truth = exact or {"AVG(age)": FRAME.age.mean(), "VAR_POP(age)": FRAME.age.var(ddof=0)}[aggregate]
    plan = QuestionPlan(
        parse(f"SELECT {aggregate} AS it FROM people", Catalogue({"people": people})), Terms(4, rows_per_unit=1)
    )
    held = [low <= truth <= high for low, high in (plan.run(seeded(seed)).interval for seed in range(60))]
    assert np.mean(held) >= 0.94


@pytest.mark.parametrize("aggregate", ["SUM(income)", "AVG(income)", "VAR_POP(income)"])
def test_intervals_reach_to_the_truth_where_many_cells_are_outside_their_bounds(request, aggregate):
    catalogue = Catalogue({"people": opened(request, "duckdb")}).with_bounds({"income": (0, 20_000)})
    truth = {"SUM": FRAME.income.sum(), "AVG": FRAME.income.mean(), "VAR": FRAME.income.var(ddof=0)}[aggregate[:3]]
    plan = QuestionPlan(parse(f"SELECT {aggregate} AS it FROM people", catalogue), Terms(4))
    held = [low <= truth <= high for low, high in (plan.run(seeded(seed)).interval for seed in range(60))]
    assert np.mean(held) >= 0.94


def test_nothing_is_said_to_be_off_where_nothing_is(request):
    plan = QuestionPlan(
        parse("SELECT SUM(age) AS it FROM people", Catalogue({"people": opened(request, "duckdb")})), Terms(1)
    )
    found = [plan.run(seeded(seed)).effects[0].estimate for seed in range(100)]
    assert np.mean([each > 0 for each in found]) <= 0.1


@pytest.mark.parametrize("share", [0, 1])
def test_the_outermost_quantiles_are_refused(request, share):
    with pytest.raises(QuestionError, match="ask a quantile in between"):
        ask(opened(request, "duckdb"), f"SELECT QUANTILE(age, {share}) AS it FROM people")


def test_numbers_near_zero_on_a_coarse_grid_fail_nowhere(people):
    question = "SELECT SUM(CASE WHEN smokes THEN 5e-324 ELSE 1e20 END) AS it FROM people"
    answer = exactly(people, question, effects=0)
    assert answer.value == pytest.approx(1e20 * (~FRAME.smokes).sum())


def test_undeclared_values_are_in_no_group_even_if_groups_are_too_many_to_list(request):
    columns = {name: [f"{name}{place % 400}" for place in range(500)] + ["?"] * 500 for name in ("a", "b")}
    listed = Categories(tuple(f"x{place}" for place in range(400)))
    schema = Schema(tuple(Column(name, Kind.CATEGORY, categories=listed) for name in columns))
    engine = DuckDBEngine()
    table = Table(engine, engine.attach(pa.table(columns)), schema)
    plan = QuestionPlan(
        parse("SELECT a, b, COUNT(*) AS n FROM t GROUP BY a, b", Catalogue({"t": table})), Terms(1, "1e-6")
    )
    assert len(plan.run(seeded(1))) == 0

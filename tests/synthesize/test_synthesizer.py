"""Sequential synthesis as its users meet it."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone

from ziggurat.attacks import inference
from ziggurat.data import Column, Schema, read
from ziggurat.data.generators import clinic_patients
from ziggurat.errors import DataError, ParameterError, ZigguratError
from ziggurat.synthesize import (
    NOT_PROMISED,
    Cart,
    Linear,
    Origin,
    Synthesizer,
    combine_estimates,
    read_facts,
    synthesize,
)

CELL = "zq-17-secret"
METHODS = ("sample", "linear", "cart", "forest", "network")


def people(rows: int = 400, seed: int = 1) -> pa.Table:
    draw = np.random.default_rng(seed)
    age = draw.integers(0, 90, rows)
    married = np.where(age < 18, "never", draw.choice(["never", "married", "widowed"], rows, p=[0.3, 0.5, 0.2]))
    income = np.where(age < 15, np.nan, np.round(draw.lognormal(9, 0.6, rows) + 200 * age))
    income[draw.random(rows) < 0.1] = -8
    born = np.datetime64("1930-01-01") + draw.integers(0, 20_000, rows)
    return pa.table(
        {
            "sex": draw.choice(["f", "m"], rows),
            "age": age,
            "marital": married,
            "income": pa.array(income, from_pandas=True),
            "born": pa.array(born.astype("datetime64[D]")),
            "visit": pa.array((born + draw.integers(0, 5000, rows)).astype("datetime64[D]")),
        }
    )


TABLE = people()
RULES = ["age < 18 -> marital = 'never'", "born <= visit", "age < 15 -> income IS NULL OR income = -8"]
SETTINGS: dict[str, Any] = {"missing": {"income": [-8]}, "random_state": 7}


@pytest.mark.parametrize("method", METHODS)
def test_every_method_makes_a_table_of_the_same_columns_types_and_codes(method: str) -> None:
    made = synthesize(TABLE, method, rows=300, **SETTINGS)[0]
    assert made.schema.names == TABLE.schema.names
    assert [str(each) for each in made.schema.types] == [str(each) for each in read(TABLE).raw.rows().schema.types]
    incomes = made.column("income").to_pylist()
    assert -8 in incomes
    assert None in incomes
    assert set(made.column("marital").to_pylist()) <= {"never", "married", "widowed"}


@pytest.mark.parametrize("method", ["sample", "cart", "forest", "linear"])
def test_rules_hold_in_every_row(method: str) -> None:
    rules = RULES[:2] if method in ("sample", "linear") else RULES
    made = synthesize(TABLE, method, rows=2000, rules=rules, **SETTINGS)[0].to_pandas()
    assert (made.loc[made.age < 18, "marital"] == "never").all()
    assert (made.born <= made.visit).all()
    if len(rules) == 3:
        young = made.loc[made.age < 15, "income"]
        assert (young.isna() | (young == -8)).all()


def test_without_the_rules_some_rows_break_them() -> None:
    made = synthesize(TABLE, "sample", rows=2000, **SETTINGS)[0].to_pandas()
    assert (made.born > made.visit).any()
    assert (made.loc[made.age < 18, "marital"] != "never").any()


def test_what_goes_together_stays_together() -> None:
    draw = np.random.default_rng(3)
    x = draw.integers(0, 100, 3000)
    table = pa.table(
        {"x": x, "y": np.round(3 * x + draw.normal(0, 10, 3000), 1), "z": np.where(x > 50, "big", "small")}
    )
    made = synthesize(table, random_state=1)[0].to_pandas()
    assert np.corrcoef(made.x, made.y)[0, 1] > 0.98
    assert ((made.z == "big") == (made.x > 50)).mean() > 0.97
    loose = synthesize(table, "sample", random_state=1)[0].to_pandas()
    assert abs(np.corrcoef(loose.x, loose.y)[0, 1]) < 0.1


def test_predictors_and_order_are_kept_to() -> None:
    draw = np.random.default_rng(3)
    x = draw.integers(0, 100, 2000)
    table = pa.table({"x": x, "y": x + 0.5, "w": draw.random(2000)})
    apart = synthesize(table, predictors={"y": ["w"]}, order=["w"], random_state=1)[0].to_pandas()
    assert abs(np.corrcoef(apart.x, apart.y)[0, 1]) < 0.2
    assert Synthesizer(random_state=1).fit(TABLE).plan_.order == ("sex", "marital", "age", "income", "born", "visit")
    assert Synthesizer(order="table", random_state=1).fit(TABLE).plan_.order == tuple(TABLE.column_names)


def test_who_knows_a_postcode_learns_no_more_of_those_in_the_table_than_of_others() -> None:
    draw = np.random.default_rng(4)
    cells = {
        "ill": draw.choice(list("abcdefgh"), 8000),
        "postcode": [f"p{each}" for each in draw.integers(0, 800, 8000)],
    }
    table = pa.table({**cells, "age": draw.integers(20, 90, 8000)})
    real, others = table.slice(0, 4000), table.slice(4000)

    def risk(made: pa.Table) -> float:
        return inference(real, made, others, known=["postcode", "age"], secret="ill", random_state=1).guesses.risk.low

    for order in ("fewest-first", ["ill", "postcode", "age"]):
        assert risk(Synthesizer(order=order, random_state=1).fit(real).sample()[0]) < 0.02
    assert risk(real) > 0.5


def test_caution_keeps_leaves_from_telling_of_the_people_in_them() -> None:
    clinic = clinic_patients(4000).drop(["patient_id", "postcode"])
    real, others = clinic.slice(0, 3000), clinic.slice(3000)

    def risk(caution: float) -> float:
        made = Synthesizer(Cart(caution=caution), random_state=1).fit(real).sample()
        found = inference(real, made, others, known=["age", "sex", "bmi"], secret="diagnosis", random_state=1)
        return found.guesses.risk.rate

    assert risk(0) > 0.2 > 0.1 > risk(2)


def test_a_seed_repeats_a_rehearsal_and_is_marked_and_secure_draws_differ() -> None:
    first, second = (synthesize(TABLE, rows=50, **SETTINGS) for _ in range(2))
    assert first[0].equals(second[0])
    assert first.rehearsal
    assert "rehearsal" in first.sentence
    free = [synthesize(TABLE, rows=50, missing={"income": [-8]}) for _ in range(2)]
    assert not free[0][0].equals(free[1][0])
    assert not free[0].rehearsal
    assert free[0].sentence.endswith(NOT_PROMISED)


def test_copies_differ_and_batches_of_a_copy_share_its_parameters() -> None:
    fitted = Synthesizer(random_state=1, posterior=True).fit(TABLE.select(["sex", "age"]))
    copies = fitted.sample(copies=3)
    assert len({json.dumps(each.to_pydict()) for each in copies.tables}) == 3
    shares = [np.mean(np.array(each["sex"].to_pylist()) == "f") for each in fitted.sample(40_000, copies=30).tables]
    assert 0.015 < np.std(shares) < 0.045  # the posterior alone: sqrt(.25 / 400) = .025, sampling .0025
    plain = Synthesizer(random_state=1).fit(TABLE.select(["sex", "age"])).sample(40_000, copies=30)
    assert np.std([np.mean(np.array(each["sex"].to_pylist()) == "f") for each in plain.tables]) < 0.004
    assert (plain.proper, plain.mean("age").rule) == (False, "simple")


def test_a_partially_synthetic_copy_differs_where_the_condition_holds_and_nowhere_else() -> None:
    where = {"income": "income > 20000", "age": "age >= 80"}
    made = Synthesizer(partial=where, **SETTINGS).fit(TABLE).sample(copies=2)
    real, copy = TABLE.to_pandas(), made[0].to_pandas()
    rich, old = real.income > 20000, real.age >= 80
    assert (copy.age[~old] == real.age[~old]).all()
    assert copy.income[~rich].equals(real.income[~rich])
    assert copy.drop(columns=["age", "income"]).equals(real.drop(columns=["age", "income"]))
    assert made.kind == "partially"
    assert made.replaced == {"age": int(old.sum()), "income": int(rich.sum())}
    assert (copy.income[rich] != real.income[rich]).mean() > 0.9
    assert copy.income[rich].mean() == pytest.approx(real.income[rich].mean(), rel=0.15)


def test_one_condition_may_stand_for_its_columns_or_for_others() -> None:
    named = Synthesizer(partial="income > 20000 AND age > 30", **SETTINGS).fit(TABLE)
    assert set(named.plan_.order) == {"income", "age"}
    others = Synthesizer(partial=["income > 20000", "age > 80"], columns=["marital"], **SETTINGS).fit(TABLE)
    assert others.plan_.order == ("marital",)
    made = others.sample()
    assert made.replaced["marital"] == ((TABLE.to_pandas().income > 20000) | (TABLE.to_pandas().age > 80)).sum()


def test_known_columns_come_from_the_population() -> None:
    population = pa.table({"sex": ["f"] * 900 + ["m"] * 100})
    made = (
        Synthesizer(known=["sex"], random_state=1).fit(TABLE.select(["sex", "age"])).sample(500, population=population)
    )
    assert made[0].column("sex").to_pylist().count("f") > 420
    assert made[0].column_names == ["sex", "age"]
    assert made.rule == "fully"
    with pytest.raises(ParameterError, match="neither"):
        Synthesizer(known=["sex"], random_state=1).fit(TABLE.select(["sex", "age"])).sample(5)


def test_what_was_learned_can_be_stored_and_draws_the_same(tmp_path: Path) -> None:
    methods = {
        "age": "linear",
        "marital": "forest",
        "income": Cart(smallest_leaf=7),
        "visit": "network",
        "sex": "sample",
    }
    fitted = Synthesizer(methods=methods, rules=RULES[1:2], **SETTINGS).fit(TABLE)
    fitted.save(tmp_path / "people.ziggurat")
    opened = Synthesizer.load(tmp_path / "people.ziggurat")
    assert opened.sample(200)[0].equals(fitted.sample(200)[0])
    assert stat.S_IMODE((tmp_path / "people.ziggurat").stat().st_mode) == 0o600
    (tmp_path / "other").write_text("x")
    with pytest.raises(DataError, match="no synthesiser"):
        Synthesizer.load(tmp_path / "other")


def test_a_stored_partial_synthesiser_asks_for_the_table(tmp_path: Path) -> None:
    fitted = Synthesizer(partial="age > 60", **SETTINGS).fit(TABLE)
    fitted.save(tmp_path / "part.ziggurat")
    opened = Synthesizer.load(tmp_path / "part.ziggurat")
    with pytest.raises(ParameterError, match="holds no table"):
        opened.sample()
    assert opened.sample(table=TABLE)[0].equals(fitted.sample()[0])


def test_columns_that_were_learned_before_an_interruption_are_taken_up(tmp_path: Path) -> None:
    class StoppedError(Exception):
        """What a crash looks like."""

    def stop(column: str, done: int, of: int) -> None:
        if done == 3:
            raise StoppedError

    with pytest.raises(StoppedError):
        Synthesizer(**SETTINGS).fit(TABLE, progress=stop, checkpoint=tmp_path)
    kept = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert len(kept) >= 3
    again = Synthesizer(**SETTINGS).fit(TABLE, checkpoint=tmp_path)
    assert all((tmp_path / name).stat().st_mtime_ns == made for name, made in kept.items())
    assert again.sample(100)[0].equals(Synthesizer(**SETTINGS).fit(TABLE).sample(100)[0])
    other = Synthesizer(**SETTINGS).fit(people(seed=2), checkpoint=tmp_path)
    assert not any((tmp_path / name).stat().st_mtime_ns == made for name, made in kept.items())
    assert other.sample(100)[0].equals(Synthesizer(**SETTINGS).fit(people(seed=2)).sample(100)[0])


def test_files_are_complete_or_not_there_and_say_what_they_are(tmp_path: Path) -> None:
    fitted = Synthesizer(**SETTINGS).fit(TABLE)
    written = fitted.write(tmp_path / "out.parquet", 1000, 2, batch=300)
    assert [path.name for path in written.paths] == ["out.1.parquet", "out.2.parquet"]
    assert written.rows == (1000, 1000)
    facts = read_facts(written.paths[0])
    assert (facts["kind"], facts["rehearsal"], facts["promise"]) == ("fully", True, "unbounded")
    assert pq.read_table(written.paths[1]).num_rows == 1000

    def stop(what: str, done: int, of: int) -> None:
        if done > 300:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fitted.write(tmp_path / "late.csv", 1000, batch=300, progress=stop)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.1.parquet", "out.2.parquet"]


def test_copies_that_are_there_are_left_alone_when_a_run_goes_on(tmp_path: Path) -> None:
    fitted = Synthesizer(**SETTINGS).fit(TABLE)
    fitted.write(tmp_path / "out.csv", 10, 2)
    (tmp_path / "out.1.csv").unlink()
    before = (tmp_path / "out.2.csv").stat().st_mtime_ns
    assert fitted.write(tmp_path / "out.csv", 10, 2, resume=True).rows == (10, 0)
    assert (tmp_path / "out.2.csv").stat().st_mtime_ns == before


def test_a_long_table_is_learned_from_a_part_of_it() -> None:
    long = pa.table({"x": np.arange(50_000) % 7})
    fitted = Synthesizer(learn_from=1000, random_state=1).fit(long)
    assert (fitted.rows_, fitted.learned_from_) == (50_000, 1000)
    shares = np.bincount(np.array(fitted.sample()[0]["x"]), minlength=7) / 50_000
    assert shares == pytest.approx(np.full(7, 1 / 7), abs=0.05)


@pytest.mark.parametrize(("partial", "marked"), [(None, None), ("x > 4", 200)])
def test_everything_that_is_written_tells_how_many_rows_were_learned_from(
    tmp_path: Path, partial: str | None, marked: int | None
) -> None:
    long = pa.table({"x": np.arange(700) % 7, "y": np.arange(700) % 5})
    fitted = Synthesizer(learn_from=100, partial=partial, random_state=1).fit(long)
    fitted.save(tmp_path / "kept.ziggurat")
    for maker in (fitted, Synthesizer.load(tmp_path / "kept.ziggurat")):
        made = maker.sample(copies=2, table=None if partial is None else long)
        written = maker.write(tmp_path / "out.parquet", copies=2, table=None if partial is None else long)
        assert made.origin == written.origin == Origin.from_dict(read_facts(written.paths[0]))
        assert (made.rows, made.marked, maker.rows_) == (100, marked, 700)
        assert "learned from 100 rows" in made.sentence
        by_hand = combine_estimates(
            [float(np.mean(each["y"])) for each in made.tables],
            [float(np.var(each["y"], ddof=1) / 700) for each in made.tables],
            made.rule,
            rows=100,
            synthetic_rows=marked or 700,
            proper=made.proper,
        )
        assert made.mean("y").variance == pytest.approx(by_hand.variance)


def test_it_is_an_estimator_of_scikit_learn() -> None:
    made = Synthesizer(Linear(), smoothing=False, leave_out=["sex"])
    assert clone(made).get_params() == made.get_params()
    assert made.fit(TABLE) is made
    assert "sex" not in made.sample(5)[0].column_names


def test_estimates_leave_out_codes_and_carry_intervals() -> None:
    made = synthesize(TABLE, copies=5, **SETTINGS)
    incomes = TABLE.to_pandas().income
    real = incomes[incomes > 0]
    mean, median, share = made.mean("income"), made.quantile("income"), made.share("age < 30")
    assert mean.low < real.mean() < mean.high
    assert median.low < real.median() < median.high
    assert share.low < (TABLE.to_pandas().age < 30).mean() < share.high
    assert mean.rule == "simple"
    with pytest.raises(ParameterError, match="posterior=True"):
        made.mean("age", rule="fully")
    assert synthesize(TABLE, copies=5, posterior=True, **SETTINGS).mean("age", rule="fully").rule == "fully"
    with pytest.raises(ParameterError, match="holds no numbers"):
        made.mean("sex")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "table",
    [
        {"one": ["a"] * 30, "two": list(range(30))},
        {"gone": pa.array([None] * 30, pa.float64()), "here": list("ab") * 15},
        {"gone": pa.array([None] * 30, pa.string()), "here": list("ab") * 15},
        {"x": [1.5], "y": ["a"]},
        {f"x{i}": [1.0, 2.0, 4.0] for i in range(12)},
        {"when": pa.array([0, 50, None] * 10, pa.date32()), "truth": [True, False, None] * 10},
    ],
    ids=["one value", "numbers all missing", "text all missing", "one row", "more columns than rows", "dates"],
)
def test_odd_tables_make_no_trouble(method: str, table: dict[str, Any]) -> None:
    made = synthesize(pa.table(table), method, rows=20, random_state=1)[0]
    assert made.num_rows == 20
    assert made.column_names == list(table)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"method": "tree"}, "no method of synthesis"),
        ({"rules": ["age < 18 -> marital = 'married'"]}, "contradicts the table"),
        ({"rules": ["agee < 18"]}, "did you mean 'age'"),
        ({"rules": ["age > 3 -> age > 2 -> age > 1"]}, "one '->'"),
        ({"rules": "age < 100"}, "takes a list"),
        ({"partial": "age > 1000"}, "holds in no row"),
        ({"partial": {"ag": "age > 10"}}, "no column"),
        ({"partial": 5}, "takes a condition"),
        ({"columns": ["age"]}, "give that condition too"),
        ({"order": ["age", "age"]}, "once"),
        ({"order": "backwards"}, "fewest-first"),
        ({"predictors": {"sex": ["age"]}}, "not drawn before"),
        ({"leave_out": ["nothing"]}, "no column"),
        ({"leave_out": TABLE.column_names}, "No column is left"),
        ({"learn_from": 0}, "at least 1"),
        ({"known": ["sex"], "partial": "age > 3"}, "fully synthetic"),
        ({"methods": {"x": "cart"}}, "no column"),
        ({"missing": {"incom": [-8]}}, "'missing' names"),
        ({"missing": {"income": ["-8"]}}, "list of numbers"),
        ({"rules": ["age < 0 -> born = 'never'"]}, "different kinds"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ZigguratError, match=said) as caught:
        Synthesizer(**settings).fit(TABLE)
    assert str(caught.value).endswith((".", "?"))


def test_ten_thousand_categories_are_refused_unless_they_are_sampled() -> None:
    table = pa.table({"x": list("ab") * 10_000, "zip": [f"{i % 10_000:05d}" for i in range(20_000)]})
    with pytest.raises(DataError, match="10,000 categories"):
        synthesize(table, random_state=1)
    assert synthesize(table, methods={"zip": "sample"}, rows=100, random_state=1)[0].num_rows == 100


def test_free_text_and_an_empty_table_are_refused_without_a_cell() -> None:
    with pytest.raises(ParameterError, match="free text") as caught:
        synthesize(pa.table({"note": [f"{CELL} {i}" for i in range(100)]}))
    assert CELL not in str(caught.value)
    with pytest.raises(DataError, match="no rows"):
        synthesize(pa.table({"x": pa.array([], pa.int64())}))


def test_a_rule_that_draws_cannot_meet_is_named() -> None:
    table = pa.table({"a": list(range(200)), "b": [each + 0.25 for each in range(200)]})
    with pytest.raises(DataError, match="still fails"):
        synthesize(table, "sample", rules=["b - a = 0.25"], rows=200, random_state=1)


@pytest.mark.parametrize("copies", [0, -1, True, 1.5])
def test_copies_rows_and_batches_are_counted_in_whole_numbers(copies: Any) -> None:
    fitted = Synthesizer(random_state=1).fit(TABLE.select(["sex"]))
    with pytest.raises(ParameterError, match="copies"):
        fitted.sample(copies=copies)
    with pytest.raises(ParameterError, match="rows"):
        fitted.sample(copies)
    with pytest.raises(ParameterError, match="learned nothing"):
        Synthesizer().sample()


def test_codes_and_roles_of_the_schema_are_kept() -> None:
    columns = [
        Column("sex", "category"),
        Column("income", "real", missing=(-8,)),
        Column("age", "integer", role="identifier"),
    ]
    made = synthesize(read(TABLE, Schema(tuple(columns))), rows=400, random_state=1)
    assert made[0].column_names == ["sex", "income"]
    assert made.missing == {"income": (-8,)}
    assert -8 in made[0]["income"].to_pylist()
    unit = read(TABLE, Schema(tuple(columns)), unit="age")
    assert synthesize(unit, rows=5, random_state=1)[0].column_names == ["sex", "income"]

"""AIM and MST: what they promise, what they refuse, and that their rows are like the table's."""

import math
import os
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone

from ziggurat.data import Bounds, Categories, Column, Kind, Provenance, Schema, Unit, read
from ziggurat.errors import DataError, NotPublicError, ParameterError, PrivacyError, SchemaError
from ziggurat.privacy import Neighbours, Relation, compose
from ziggurat.randomness import seeded
from ziggurat.synthesize import AIM, MST
from ziggurat.synthesize.marginals._counts import CountedUnit, ExactCounts, RhoLeft, part_of, root_below
from ziggurat.synthesize.marginals._private import _rho
from ziggurat.synthesize.marginals._reading_codes import _keep_by_lot

BOTH = pytest.mark.parametrize("method", [AIM, MST])
SCHEMA = Schema(
    (
        Column("sex", Kind.CATEGORY, categories=Categories(("f", "m"))),
        Column("smokes", Kind.BOOLEAN),
        Column("age", Kind.INTEGER, bounds=Bounds(0, 99)),
    )
)


def rows(count=2000, seed=1):
    draw = np.random.default_rng(seed)
    man = draw.random(count) < 0.4
    smokes = man ^ (draw.random(count) < 0.1)
    age = np.where(smokes, 60, 30) + draw.integers(-9, 10, count)
    return pa.table({"sex": np.where(man, "m", "f"), "smokes": smokes, "age": age})


def people(count=300, each=4):
    table = rows(count * each)
    return table.append_column("who", pa.array(np.repeat(np.arange(count), each)))


PEOPLE = Schema((*SCHEMA.columns, Column("who", Kind.INTEGER)), Unit.person("who"))


@BOTH
@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
@pytest.mark.parametrize("relation", ["add-or-remove-one", "replace-one"])
def test_what_was_planned_is_stated_and_keeps_within_epsilon_and_delta(method, epsilon, relation):
    model = method(epsilon, "1e-6", relation=relation, random_state=1)
    planned = model.planned(SCHEMA)
    model.fit(read(rows(200), SCHEMA))
    assert model.event_ == planned
    assert model.guarantee_.epsilon <= Fraction(epsilon)
    assert model.guarantee_.epsilon > Fraction(epsilon) * Fraction(9, 10)
    assert model.event_.neighbours == Neighbours(relation=Relation(relation))
    assert model.rehearsal_


@BOTH
@pytest.mark.parametrize("seed", range(4))
def test_what_is_spent_never_exceeds_rho(method, seed):
    model = method("2", "1e-6", random_state=seed).fit(read(rows(100, seed), SCHEMA))
    rho = compose(model.event_).zcdp().rho
    assert 0 < model.spent_ <= rho <= Fraction(_rho(Fraction(2), Fraction("1e-6")))
    assert model.spent_ > rho * Fraction(99, 100)


def test_a_purse_does_not_give_more_than_it_holds():
    purse = RhoLeft(Fraction(1, 2))
    purse.pay(Fraction(1, 3))
    with pytest.raises(PrivacyError, match="More would be spent"):
        purse.pay(Fraction(1, 3))
    assert purse.left == Fraction(1, 6)


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("count", [1, 3])
def test_noise_and_choices_cost_what_they_were_given(relation, count):
    unit = CountedUnit(Neighbours(relation=relation), count)
    moved = count * (1 if relation is Relation.ADD_OR_REMOVE_ONE else math.sqrt(2))
    rho = Fraction(1, 50)
    assert float(unit.noise(rho).sigma) == pytest.approx(moved / math.sqrt(2 / 50))
    assert unit.noise(rho).rho <= rho
    assert rho * Fraction(999, 1000) < compose(unit.choice(rho, 7).event).zcdp().rho <= rho


@BOTH
def test_with_a_large_epsilon_pairs_of_columns_come_out_as_they_are(method):
    table = rows(5000)
    model = method(100, "1e-6", random_state=2).fit(read(table, SCHEMA))
    made = model.sample(random_state=3)
    assert abs(made.num_rows - 5000) < 30
    smokers = [pc.mean(each.filter(each["smokes"])["age"]).as_py() for each in (table, made)]
    others = [pc.mean(each.filter(pc.invert(each["smokes"]))["age"]).as_py() for each in (table, made)]
    assert smokers[0] == pytest.approx(smokers[1], abs=1)
    assert others[0] == pytest.approx(others[1], abs=1)
    agree = [pc.mean(pc.equal(pc.equal(each["sex"], "m"), each["smokes"])).as_py() for each in (table, made)]
    assert agree[0] == pytest.approx(agree[1], abs=0.02)


@BOTH
def test_rows_have_the_types_and_stay_in_the_public_domain(method):
    made = method(1, "1e-6", random_state=2).fit(read(rows(300), SCHEMA)).sample(1000, random_state=1)
    assert made.schema.types == [pa.string(), pa.bool_(), pa.int64()]
    assert set(made["sex"].to_pylist()) <= {"f", "m", "other", None}
    assert pc.min(made["age"]).as_py() >= 0
    assert pc.max(made["age"]).as_py() <= 99


@BOTH
def test_a_loaded_model_draws_and_promises_the_same(method, tmp_path):
    made = method("1/3", "1e-6", bins={"age": [0, 18, 65, 99]}, random_state=4).fit(read(rows(300), SCHEMA))
    made.save(tmp_path / "model")
    back = method.load(tmp_path / "model")
    assert back.sample(50, random_state=1) == made.sample(50, random_state=1)
    assert (back.event_, back.guarantee_, back.rehearsal_) == (made.event_, made.guarantee_, True)
    assert [each.sigma for each in back.measurements_] == [each.sigma for each in made.measurements_]
    other = MST if method is AIM else AIM
    with pytest.raises(DataError, match=f"no {other.__name__}"):
        other.load(tmp_path / "model")


def test_what_is_stored_is_noisy(tmp_path):
    counts = AIM(1, "1e-6", random_state=4).fit(read(rows(300), SCHEMA)).measurements_[0].counts
    again = AIM(1, "1e-6", random_state=5).fit(read(rows(300), SCHEMA)).measurements_[0].counts
    assert not np.array_equal(counts, again)


def test_the_same_seed_makes_the_same_model_and_no_seed_makes_a_release():
    table = read(rows(100), SCHEMA)
    one, two = (AIM(1, "1e-6", random_state=7).fit(table).sample(20, random_state=1) for _ in range(2))
    assert one == two
    assert not clone(AIM(1, "1e-6")).fit(table).rehearsal_


def test_numpys_global_state_is_left_alone():
    np.random.seed(1)
    before = np.random.get_state()[1].copy()
    MST(1, "1e-6").fit(read(rows(100), SCHEMA)).sample(10)
    assert np.array_equal(before, np.random.get_state()[1])


@BOTH
def test_people_count_with_a_stated_number_of_rows(method):
    model = method(1, "1e-6", rows_per_unit=2, random_state=1).fit(read(people(), PEOPLE))
    assert model.event_.neighbours == Neighbours(Unit.person("who"))
    assert model.axes_[-1].name == "age"
    assert (
        model.measurements_[0].sigma
        > MST(1, "1e-6", random_state=1).fit(read(rows(), SCHEMA)).measurements_[0].sigma / 4
    )
    assert 500 < model.total_ < 700  # two of the four rows of 300 people
    with pytest.raises(ParameterError, match="rows_per_unit"):
        method().planned(PEOPLE)
    with pytest.raises(ParameterError, match="unit is a row"):
        method(rows_per_unit=2).planned(SCHEMA)


def test_of_each_unit_at_most_so_many_rows_are_kept_by_lot():
    units = np.array([3, 3, 3, 1, 1, -1, 7, 3])
    seen = [set(map(int, _keep_by_lot(units, 2, seeded(seed)))) for seed in range(60)]
    assert all(len(each) == 5 and {3, 4, 6} <= each and 5 not in each for each in seen)
    assert set.union(*seen) == {0, 1, 2, 3, 4, 6, 7}


def test_under_replace_one_the_number_of_rows_is_public():
    assert MST(1, "1e-6", relation="replace-one", random_state=1).fit(read(rows(321), SCHEMA)).total_ == 321


@BOTH
def test_a_domain_that_nobody_declared_is_refused_with_what_to_do(method):
    told = {
        "age": (Column("age", Kind.INTEGER), "no public bounds"),
        "sex": (Column("sex", Kind.CATEGORY), "no public list"),
        "text": (Column("sex", Kind.TEXT), "make it a category"),
        "learned": (Column("age", Kind.INTEGER, bounds=Bounds(0, 99, Provenance.LEARNED)), "no public bounds"),
    }
    for column, words in told.values():
        with pytest.raises(NotPublicError, match=words):
            method().fit(read(rows(20), SCHEMA.with_column(column)))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"epsilon": 0}, "epsilon must be greater"),
        ({"epsilon": -1}, "epsilon must be greater"),
        ({"epsilon": "1e-15"}, "epsilon is too small"),
        ({"delta": 0}, "delta above 0"),
        ({"bins": 0}, "bins"),
        ({"bins": {"height": 3}}, "'height'"),
        ({"bins": {"age": [5, 5]}}, "increasing"),
        ({"columns": []}, "at least one column"),
        ({"columns": "age"}, "in a list"),
        ({"missing": "age"}, "missing must list"),
        ({"missing": ["height"]}, "missing must list"),
        ({"relation": "same"}, "relation must be"),
        ({"domain": "free"}, "domain must be"),
        ({"max_cells": 0}, "max_cells"),
        ({"solver": "magic"}, "solver must be"),
        ({"random_state": 0.5}, "random state"),
        ({"workload": []}, "workload must be"),
        ({"workload": [("age", "age")]}, "different columns"),
        ({"workload": [("age", "height")]}, "'height'"),
        ({"rounds": 0}, "rounds"),
    ],
)
def test_parameters_that_make_no_sense_are_refused_in_one_sentence(options, words):
    with pytest.raises(ParameterError, match=words):
        AIM(**options).fit(read(rows(20), SCHEMA))


def test_an_unknown_column_is_refused():
    with pytest.raises(SchemaError, match="height"):
        AIM(columns=["height"]).planned(SCHEMA)


@BOTH
def test_one_column_one_value_nothing_at_all_and_no_rows_are_synthesised(method):
    one = Schema((Column("sex", Kind.CATEGORY, categories=Categories(("f",))),))
    made = method(10, "1e-6", random_state=1).fit(read(pa.table({"sex": ["f"] * 50}), one)).sample(random_state=1)
    assert pc.value_counts(made["sex"])[0].as_py()["values"] == "f"
    empty = pa.table(
        {"sex": pa.nulls(400, pa.string()), "smokes": pa.nulls(400, pa.bool_()), "age": pa.nulls(400, pa.int64())}
    )
    drawn = method(10, "1e-6", random_state=1).fit(read(empty, SCHEMA)).sample(200, random_state=1)
    assert all(drawn[name].null_count > 150 for name in drawn.column_names)
    assert method(1, "1e-6", random_state=1).fit(read(rows(0), SCHEMA)).sample(3).num_rows == 3


def test_ten_thousand_categories_are_synthesised_and_a_million_cells_are_refused():
    labels = tuple(f"c{place}" for place in range(10_000))
    many = SCHEMA.with_column(Column("sex", Kind.CATEGORY, categories=Categories(labels)))
    draw = np.random.default_rng(1)
    table = rows(2000).set_column(0, "sex", pa.array(np.array(labels)[draw.zipf(1.5, 2000) % 10_000]))
    made = MST(2, "1e-6", random_state=1).fit(read(table, many)).sample(2000, random_state=1)
    share = pc.mean(pc.equal(table["sex"], "c1")).as_py()
    assert pc.mean(pc.equal(made["sex"], "c1")).as_py() == pytest.approx(share, abs=0.05)
    with pytest.raises(ParameterError, match="fewer bins"):
        AIM(bins=1_000_000).fit(
            read(rows(20), SCHEMA.with_column(Column("age", Kind.INTEGER, bounds=Bounds(0, 10**7))))
        )


def test_codes_for_missing_are_missing():
    schema = SCHEMA.with_column(Column("sex", Kind.CATEGORY, categories=Categories(("f", "m")), missing=("?",)))
    table = rows(200).set_column(0, "sex", pa.array(["?"] * 200))
    made = MST(50, "1e-6", random_state=1).fit(read(table, schema)).sample(100, random_state=1)
    assert made["sex"].null_count > 90


def test_a_workload_of_three_columns_is_measured():
    model = AIM(50, "1e-6", workload=[("sex", "smokes", "age")], random_state=1).fit(read(rows(), SCHEMA))
    assert any(len(each.columns) == 3 for each in model.measurements_)


def test_the_model_never_grows_beyond_its_cells():
    model = AIM(50, "1e-6", max_cells=150, random_state=1).fit(read(rows(), SCHEMA))
    assert sum(table.size for _, _, table in model.chain_) <= 150


def test_no_message_holds_a_cell():
    table = rows(20).set_column(0, "sex", pa.array(["secret"] * 20))
    made = MST(50, "1e-6", random_state=1).fit(read(table, SCHEMA)).sample(20, random_state=1)
    assert "secret" not in str(made.to_pydict())
    assert made["sex"].to_pylist().count("other") > 10


def test_roots_and_parts_are_never_above_the_true_ones():
    for amount in (Fraction(2), Fraction(1, 3), Fraction("1e-7")):
        assert root_below(amount) ** 2 <= amount
        assert part_of(amount, Fraction(1, 3)) <= amount / 3
        assert float(root_below(amount)) == pytest.approx(math.sqrt(amount))


@pytest.mark.data
@pytest.mark.skipif(not os.environ.get("ZIGGURAT_DATA"), reason="ZIGGURAT_DATA is not set")
def test_pairs_of_adult_come_out_within_a_few_hundredths_at_epsilon_one():
    names = ["age", "education", "sex", "income"]
    table = pq.read_table(Path(os.environ["ZIGGURAT_DATA"]) / "adult_uci.parquet", columns=names)
    labels = {name: Categories(tuple(sorted(set(table[name].to_pylist())))) for name in names[1:]}
    listed = (Column(name, Kind.CATEGORY, categories=labels[name]) for name in names[1:])
    schema = Schema((Column("age", Kind.INTEGER, bounds=Bounds(17, 90)), *listed))
    model = AIM(1, "1e-9", random_state=1).fit(read(table, schema))
    made = model.sample(random_state=1)
    codes = [{axis.name: axis.codes(each[axis.name]) for axis in model.axes_} for each in (table, made)]
    sizes = {axis.name: axis.size for axis in model.axes_}
    for pair in combinations(names, 2):
        shares = [ExactCounts(each, sizes).by(pair) / len(each["age"]) for each in codes]
        assert np.abs(shares[0] - shares[1]).sum() / 2 < 0.05

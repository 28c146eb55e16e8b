"""Cells of columns: public, or paid for; and back to values."""

from datetime import date
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ziggurat.data import Bounds, Categories, Column, Kind, Schema, Unit, read
from ziggurat.errors import MixedNeighboursError, ParameterError
from ziggurat.privacy import compose
from ziggurat.synthesize import AIM, MST
from ziggurat.synthesize.marginals._decoding import decode
from ziggurat.synthesize.marginals._domain import Axis, axis_of

AGE = Column("age", Kind.INTEGER, bounds=Bounds(0, 9))
WEIGHT = Column("weight", Kind.REAL, bounds=Bounds(0.0, 1.0))
VISIT = Column("visit", Kind.DATE, bounds=Bounds(date(2020, 1, 1), date(2020, 12, 31)))
TOWN = Column("town", Kind.CATEGORY, categories=Categories(("Jena", "Ulm")))
CODE = Column("code", Kind.CATEGORY, categories=Categories((10, 20)))


def coded(column, values, bins=5, missing=True):
    return axis_of(column, bins, missing).codes(pa.chunked_array([pa.array(values)])).tolist()


def test_numbers_are_clamped_and_missing_ones_have_a_cell():
    assert coded(AGE, [-5, 0, 1, 2, 9, 40, None]) == [0, 0, 0, 1, 4, 4, 5]
    assert coded(WEIGHT, [-1.0, 0.0, 0.2, 1.0, 7.0, float("nan"), None]) == [0, 0, 1, 4, 4, 5, 5]
    assert coded(AGE, [None, 3], missing=False) == [0, 1]


def test_unknown_text_is_other_and_an_unknown_code_is_missing():
    assert coded(TOWN, ["Jena", "Ulm", "Rome", None]) == [0, 1, 2, 3]
    assert coded(CODE, [10, 20, 30, None]) == [0, 1, 2, 2]
    assert coded(Column("yes", Kind.BOOLEAN), [True, False, None]) == [1, 0, 2]


def test_whole_numbers_have_no_more_cells_than_values_and_edges_are_taken_as_declared():
    assert axis_of(AGE, 32, True).values == 10
    assert axis_of(AGE, {"age": [0, 3, 9]}, True).edges == (0, 3, 10)
    assert axis_of(VISIT, {"visit": ["2020-01-01", date(2020, 7, 1), "2020-12-31"]}, True).values == 2
    assert coded(VISIT, [date(2019, 1, 1), date(2020, 12, 31), None], bins=12) == [0, 11, 12]


def test_bounds_that_are_one_value_make_one_cell():
    for column in (Column("a", Kind.INTEGER, bounds=Bounds(3, 3)), Column("b", Kind.REAL, bounds=Bounds(3.0, 3.0))):
        axis = axis_of(column, 5, True)
        assert axis.values == 1
        assert decode([axis], {column.name: np.zeros(4, dtype=int)}, np.random.default_rng(1))[0].to_pylist() == [3] * 4


@settings(max_examples=60)
@given(st.lists(st.one_of(st.none(), st.integers(-(2**40), 2**40)), max_size=30), st.integers(1, 40), st.booleans())
def test_every_cell_decodes_to_a_value_that_has_that_cell(values, bins, missing):
    axis = axis_of(Column("n", Kind.INTEGER, bounds=Bounds(-1000, 5000)), bins, missing)
    codes = axis.codes(pa.chunked_array([pa.array(values, pa.int64())]))
    assert all(0 <= code < axis.size for code in codes)
    back = decode([axis], {"n": codes}, np.random.default_rng(1))
    assert axis.codes(back["n"]).tolist() == codes.tolist()


@pytest.mark.parametrize("column", [AGE, WEIGHT, VISIT, TOWN, CODE, Column("yes", Kind.BOOLEAN)])
def test_values_come_back_in_their_own_type_and_the_cells_are_stored_as_they_are(column):
    axis = axis_of(column, 4, True)
    codes = np.arange(axis.size).repeat(20)
    table = decode([axis], {column.name: codes}, np.random.default_rng(2))
    wanted = {Kind.REAL: pa.float64(), Kind.DATE: pa.date32(), Kind.INTEGER: pa.int64(), Kind.BOOLEAN: pa.bool_()}
    held = pa.string() if column is TOWN else wanted.get(column.storage)
    assert table.schema.types == [held]
    assert axis.codes(table[0]).tolist() == codes.tolist()
    assert Axis.from_dict(axis.to_dict()) == axis


UNKNOWN = Schema((Column("town", Kind.TEXT), Column("age", Kind.INTEGER), Column("paid", Kind.REAL)))


def visits(count=3000):
    draw = np.random.default_rng(1)
    towns = np.where(draw.random(count) < 0.6, "Jena", "Ulm").astype(object)
    towns[0] = "the only one from Rome"
    return pa.table({"town": towns, "age": draw.integers(20, 60, count), "paid": draw.random(count) * 900})


def test_a_domain_can_be_paid_for_and_a_single_persons_value_is_not_in_it():
    model = MST(3, "1e-6", domain="pay", random_state=1)
    planned = model.planned(UNKNOWN)
    model.fit(read(visits(), UNKNOWN))
    town, age, paid = model.axes_
    assert town.labels == ("Jena", "Ulm", "other")
    assert (age.edges[0], age.edges[-1]) == (16, 65)
    assert (paid.edges[0], paid.edges[-1]) in {(0, 1024), (2, 1024), (1, 1024), (4, 1024), (8, 1024), (16, 1024)}
    assert model.event_ == planned
    assert compose(planned).approximate("1e-6").epsilon <= 3


def test_paying_leaves_less_for_the_counts():
    free = Schema((Column("town", Kind.CATEGORY, categories=Categories(("Jena", "Ulm"))), *UNKNOWN.columns[1:]))
    known = Schema((free.columns[0], Column("age", Kind.INTEGER, bounds=Bounds(0, 99)), WEIGHT))
    options = {"domain": "pay", "domain_share": "1/2"}
    sigma = [MST(3, "1e-6", **options).plan_terms(schema).rho for schema in (known, free, UNKNOWN)]
    assert sigma[0] > sigma[1] > sigma[2]


def test_categories_are_not_looked_for_under_replace_one():
    with pytest.raises(MixedNeighboursError, match="add-or-remove-one"):
        AIM(domain="pay", relation="replace-one").planned(UNKNOWN)
    assert AIM(domain="pay", relation="replace-one", columns=["age", "paid"]).planned(UNKNOWN)


def test_a_value_that_one_person_holds_often_is_not_named():
    table = visits(400).append_column("who", pa.array(np.minimum(np.arange(400), 300)))
    towns = np.array(table["town"].to_pylist(), dtype=object)
    towns[300:] = "the home of one person"
    table = table.set_column(0, "town", pa.array(towns))
    schema = Schema((*UNKNOWN.columns, Column("who", Kind.INTEGER)), Unit.person("who"))
    model = MST(8, "1e-6", domain="pay", rows_per_unit=50, random_state=1).fit(read(table, schema))
    assert "the home of one person" not in model.axes_[0].labels


def test_a_share_that_is_no_share_is_refused():
    with pytest.raises(ParameterError, match="domain_share"):
        AIM(domain="pay", domain_share=1).planned(UNKNOWN)
    assert AIM(domain="pay", domain_share=Fraction(1, 5)).planned(UNKNOWN)

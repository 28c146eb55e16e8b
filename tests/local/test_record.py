"""Several columns of one record: the costs add, any frame is taken, and each column is estimated."""

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ziggurat.data import Unit
from ziggurat.errors import DataError, MixedNeighboursError, ParameterError
from ziggurat.local import CountNoise, LocalHashing, RecordLaplace, Response, UnaryEncoding, VectorNoise, WholeRecord
from ziggurat.privacy import Neighbours, Relation
from ziggurat.randomness import seeded

COLUMNS = {
    "sex": (np.array(["f", "m"] * 200), Response("0.5", ["f", "m"])),
    "area": (np.arange(400) % 40, UnaryEncoding("0.5", 40)),
    "street": (np.arange(400) % 30, LocalHashing("0.5", 3000)),
    "age": (np.arange(400) % 90, CountNoise("0.25", 0, 90)),
    "weight": (np.arange(400) / 4, RecordLaplace("0.25", 0, 200)),
}
DATA = {name: values for name, (values, _) in COLUMNS.items()}
PARTS = {name: part for name, (_, part) in COLUMNS.items()}


def test_the_costs_of_the_columns_add():
    made = WholeRecord(PARTS)
    assert Fraction(2) * (1 - Fraction(1, 10**6)) < made.epsilon <= 2
    assert float(made.guarantee("1e-6").epsilon) <= 2 * (1 + 1e-8)
    assert "2-differential" in str(made.guarantee()) or made.epsilon < 2


@pytest.mark.parametrize("frame", [pa.table, pd.DataFrame, pl.DataFrame], ids=["arrow", "pandas", "polars"])
def test_any_frame_is_taken_and_every_column_estimated(frame):
    made = WholeRecord(PARTS)
    reports = made.privatize(frame(DATA), seeded("frame"))
    expected = made.privatize(pa.table(DATA), seeded("frame"))
    assert (reports.people, reports.value.equals(expected.value)) == (400, True)
    found = made.estimate(reports)
    assert list(found) == list(PARTS)
    assert found["sex"].interval("f")[0] <= 200 <= found["sex"].interval("f")[1]


def test_columns_without_a_privatiser_stay_behind():
    made = WholeRecord({"sex": PARTS["sex"]})
    assert made.privatize(pa.table(DATA), seeded(1)).value.column_names == ["sex"]


def test_a_record_survives_json():
    made = WholeRecord(PARTS)
    again = WholeRecord.from_dict(json.loads(json.dumps(made.to_dict())))
    assert (again.event, again.to_dict()) == (made.event, made.to_dict())


def test_a_column_that_is_absent_or_wrong_is_named_and_no_cell_is():
    made = WholeRecord({"sex": PARTS["sex"]})
    with pytest.raises(DataError, match="'sex'"):
        made.privatize(pa.table({"age": [1]}))
    with pytest.raises(DataError, match="'sex'") as caught:
        made.privatize(pa.table({"sex": ["canary"]}))
    assert "canary" not in str(caught.value)
    with pytest.raises(DataError, match="'sex'"):
        made.estimate(pa.table({"age": [1]}))


def test_a_bad_column_is_found_before_anything_is_drawn():
    source = seeded("untouched")
    with pytest.raises(DataError):
        WholeRecord(PARTS).privatize(pa.table({**DATA, "weight": ["x"] * 400}), source)
    assert np.array_equal(source.words(4), seeded("untouched").words(4))


@pytest.mark.parametrize("bad", [{}, None, {"a": 1}, {1: PARTS["sex"]}, {"v": VectorNoise(1, 2)}, ["sex"]])
def test_parts_that_are_none_are_refused(bad):
    with pytest.raises(ParameterError):
        WholeRecord(bad)


def test_parts_about_different_units_are_refused():
    other = Response(1, 2, neighbours=Neighbours(Unit.person("id"), Relation.REPLACE_ONE))
    with pytest.raises(MixedNeighboursError):
        WholeRecord({"a": Response(1, 2), "b": other})


@pytest.mark.parametrize("bad", [None, {}, {"columns": 3}, {"columns": {}}, {"columns": {"a": {"kind": "x"}}}])
def test_a_description_that_is_none_is_refused(bad):
    with pytest.raises(ParameterError):
        WholeRecord.from_dict(bad)

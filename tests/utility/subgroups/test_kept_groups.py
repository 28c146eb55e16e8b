"""How well tables keep groups of people."""

import json

import numpy as np
import pyarrow as pa
import pytest

from ziggurat.data import Column, Kind, Schema, read
from ziggurat.errors import DataError, ParameterError, ZigguratError
from ziggurat.utility import compare_group_counts


def invent():
    places = np.repeat(["big", "middle", "small", "tiny"], [2000, 200, 20, 2])
    return pa.table({"place": places, "sex": np.tile(["f", "m"], 1111), "pay": np.arange(2222) % 10})


def test_a_perfect_copy_keeps_everybody():
    found = compare_group_counts(invent(), invent(), "place", values="pay")
    assert found.lost.hits == 0
    assert [each.off for each in found.sizes] == [0, 0, 0, 0]
    assert [each.group for each in found.groups] == [("big",), ("middle",)]
    assert all(here == there for each in found.groups for here, there in each.means.values())
    assert found.invented == 0


def test_lost_and_shrunken_groups_are_told_by_their_size():
    kept = invent().slice(0, 2100)
    found = compare_group_counts(invent(), [kept, kept], ["place"])
    assert found.table.to_pydict() == {
        "groups with": ["1 to 9 rows", "10 to 29 rows", "100 to 999 rows", "1000 or more rows"],
        "groups": [1, 1, 1, 1],
        "lost": [1.0, 1.0, 0.0, 0.0],
        "count off by, median": pytest.approx([1, 1, 1 - 100 / 2100 * 2222 / 200, 2000 / 2100 * 2222 / 2000 - 1]),
    }
    assert "2 are lost" in found.sentence


def test_generalised_values_lose_their_groups_and_invent_others():
    hidden = invent().set_column(0, "place", pa.array(["*"] * 2222))
    found = compare_group_counts(invent(), hidden, ("place", "sex"))
    assert found.lost.rate == 1
    assert found.invented == 2


def test_about_small_groups_nothing_is_said_one_by_one():
    found = compare_group_counts(invent(), invent(), "place")
    assert "tiny" not in json.dumps(found.to_dict())
    assert set(found.group_table["place"].to_pylist()) == {"big", "middle"}


def test_missing_cells_are_a_group_and_means_are_scaled_by_nothing():
    table = pa.table({"sex": ["f", None] * 40, "pay": [1.0, 3.0] * 40})
    moved = pa.table({"sex": ["f", None] * 20, "pay": [1.5, None] * 20})
    found = {each.group[0]: each for each in compare_group_counts(table, moved, "sex", values="pay").groups}
    assert found["f"].means["pay"] == (1.0, 1.5)
    assert found["missing"].means["pay"][0] == 3.0
    assert np.isnan(found["missing"].means["pay"][1])
    assert found["missing"].kept == 40


def test_a_code_for_missing_is_as_missing_as_an_empty_cell():
    schema = Schema((Column("place", Kind.TEXT, missing=("?",)),))
    known = read(pa.table({"place": ["?", "here"] * 40}), schema)
    copy = pa.table({"place": [None, "here"] * 40})
    assert compare_group_counts(known, copy, "place").lost.hits == 0
    assert compare_group_counts(pa.table({"place": ["?", "here"] * 40}), copy, "place").lost.hits == 1


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_it_is_drawn(kind):
    assert len(compare_group_counts(invent(), invent().slice(0, 2100), "place").draw(kind)) > 1000


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(ParameterError, match="Name the columns"):
        compare_group_counts(invent(), invent(), ())
    with pytest.raises(DataError, match="does not hold numbers"):
        compare_group_counts(invent(), invent(), "place", values="sex")
    with pytest.raises(ZigguratError, match="nowhere"):
        compare_group_counts(invent(), invent(), "nowhere")
    with pytest.raises(DataError, match="without rows"):
        compare_group_counts(invent(), invent().slice(0, 0), "place")

"""Two releases of the same people."""

import numpy as np
import pyarrow as pa
import pytest

from ziggurat.attacks import intersection
from ziggurat.errors import ParameterError, SchemaError

FIRST = pa.table({"age": ["20-29"] * 3 + ["30-39"] * 3, "ill": ["flu", "gout", "cold", "flu", "gout", "mumps"]})
SECOND = pa.table(
    {"age": ["25-34"] * 3 + ["15-24", "35-44", "35-44"], "ill": ["gout", "cold", "flu", "flu", "mumps", "gout"]}
)
PEOPLE = pa.table({"age": [22, 26, 28, 31, 36, 38], "ill": ["flu", "gout", "cold", "flu", "gout", "mumps"]})


def test_two_releases_pin_down_what_each_alone_does_not():
    first = pa.table({"age": ["20-29"] * 2, "ill": ["flu", "gout"]})
    second = pa.table({"age": ["25-34"] * 2, "ill": ["gout", "cold"]})
    found = intersection(first, second, pa.table({"age": [27]}), on=["age"], sensitive="ill")
    assert (found.alone.hits, found.together.hits, found.right) == (0, 1, None)
    assert found.table.to_pylist()[0] == {
        "values left": 1,
        "people by the first": 0,
        "people by the second": 0,
        "people by both": 1,
    }


def test_values_left_are_counted_and_judged_by_hand():
    found = intersection(FIRST, SECOND, PEOPLE, on=["age"], sensitive="ill")
    # 22: {flu}; 26 and 28: {gout, cold, flu}; 31: {flu, gout}; 36 and 38: {gout, mumps}
    assert found.both == ((1, 1), (2, 3), (3, 2))
    assert found.together.hits == found.right.hits == found.alone.hits == 1
    assert found.contradicted == 0


def test_people_who_are_not_in_both_are_told_apart():
    found = intersection(FIRST, SECOND, pa.table({"age": [22, 99]}), on=["age"], sensitive="ill")
    assert (found.found.hits, found.found.trials) == (1, 2)
    other = pa.table({"age": ["15-24"], "ill": ["measles"]})
    assert intersection(FIRST, other, pa.table({"age": [22]}), on=["age"], sensitive="ill").contradicted == 1


def released(table, width, start):
    ages = table["age"].to_numpy()
    low = (ages - start) // width * width + start
    return table.set_column(
        0, "age", pa.array([f"{a}-{a + width - 1}" if a >= 0 else f"{a} to {a + width - 1}" for a in low])
    )


def test_shifted_intervals_compose_and_equal_ones_do_not():
    generator = np.random.default_rng(1)
    table = pa.table({"age": generator.integers(0, 400, 2000), "ill": generator.integers(0, 1000, 2000)})
    first = released(table, 4, 0)
    same = intersection(first, first, table, on=["age"], sensitive="ill")
    shifted = intersection(first, released(table, 4, -2), table, on=["age"], sensitive="ill")
    assert same.together == same.alone
    assert sum(size * many for size, many in shifted.both) < 0.7 * sum(size * many for size, many in same.both)


def test_the_truth_is_judged_wrong_where_cells_were_shuffled():
    found = intersection(
        FIRST, SECOND, PEOPLE.set_column(1, "ill", pa.array(["cold"] * 6)), on=["age"], sensitive="ill"
    )
    assert found.together.hits == 1
    assert found.right.hits == 0


def test_bad_input_is_refused():
    with pytest.raises(ParameterError):
        intersection(FIRST, SECOND, PEOPLE, on=["ill"], sensitive="ill")
    with pytest.raises(SchemaError):
        intersection(FIRST, SECOND, PEOPLE, on=["age"], sensitive="il")
    with pytest.raises(SchemaError):
        intersection(FIRST, SECOND.select(["ill"]), PEOPLE, on=["age"], sensitive="ill")

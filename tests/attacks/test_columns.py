"""Which columns single people out."""

from itertools import combinations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ziggurat.attacks import singling_out
from ziggurat.errors import ParameterError

TINY = pa.table({"a": [1, 1, 2, 2], "b": ["x", "y", "x", "y"], "c": [0, 0, 0, 1]})


def test_a_tiny_table_is_judged_as_by_hand():
    found = {each.columns: each for each in singling_out(TINY, ["a", "b", "c"]).sets}
    assert len(found) == 7
    assert [found[each].uniques for each in (("a",), ("c",), ("a", "b"), ("a", "c"))] == [0, 1, 4, 2]
    assert found["a", "b"].distinction == 1
    assert found["a",].separation == pytest.approx(4 / 6)
    assert found["c",].separation == pytest.approx(3 / 6)
    assert found["a", "b"].minimal_uniques == 4
    assert found["a", "c"].minimal_uniques == 1  # the other is unique by c alone
    assert found["a", "b", "c"].minimal_uniques == 0


def test_minimal_sets_hold_no_smaller_one():
    found = singling_out(TINY, ["a", "b", "c"])
    assert [each.columns for each in found.minimal_sets()] == [("a", "b")]
    assert [each.columns for each in found.minimal_sets(0.25)] == [("c",), ("a", "b")]


@settings(max_examples=20)
@given(st.lists(st.tuples(*[st.integers(0, 2)] * 4), min_size=1, max_size=30))
def test_every_set_is_counted_as_pandas_counts_it(rows):
    names = list("abcd")
    frame = pd.DataFrame(rows, columns=names)
    found = {each.columns: each for each in singling_out(pa.Table.from_pandas(frame, preserve_index=False), names).sets}
    unique = {}
    for size in range(1, 5):
        for chosen in combinations(names, size):
            counts = frame.groupby(list(chosen))["a"].transform("count")
            unique[chosen] = set(frame.index[counts == 1])
            smaller = set().union(*(unique[part] for part in combinations(chosen, size - 1) if part))
            assert found[chosen].classes == len(frame.drop_duplicates(list(chosen)))
            assert found[chosen].uniques == len(unique[chosen])
            assert found[chosen].minimal_uniques == len(unique[chosen] - smaller)


def test_sets_are_ranked_and_cut_at_the_size_asked_for():
    found = singling_out(TINY, ["a", "b", "c"], largest=2)
    assert found.largest == 2
    assert [len(each.columns) for each in found.sets] == [1, 1, 1, 2, 2, 2]
    assert found.best(2).columns == ("a", "b")
    assert next(iter(found.columns())) in ("a", "b")
    assert found.table.num_rows == 6
    assert "'c'" in found.sentence


def test_large_codes_go_through_the_hash_and_agree():
    generator = np.random.default_rng(3)
    table = pa.table({name: generator.integers(0, 3000, 4000) for name in "ab"})
    frame = table.to_pandas()
    assert singling_out(table, ["a", "b"]).best(2).classes == len(frame.drop_duplicates())


def test_too_many_sets_are_refused_with_a_size_that_works():
    wide = pa.table({f"c{i}": [i] for i in range(40)})
    with pytest.raises(ParameterError, match="at most 3"):
        singling_out(wide, wide.column_names)
    assert len(singling_out(wide, wide.column_names, largest=2).sets) == 820
    for largest in (0, True, 1.5):
        with pytest.raises(ParameterError):
            singling_out(TINY, ["a"], largest=largest)
    with pytest.raises(ParameterError):
        singling_out(TINY, ["a"]).best(2)


def test_a_thousand_columns_are_looked_at_one_by_one():
    wide = pa.table({f"c{i}": [0, i % 2] for i in range(1000)})
    with pytest.raises(ParameterError, match="1000 columns; look at sets of at most 1"):
        singling_out(wide, wide.column_names)
    found = singling_out(wide, wide.column_names, largest=1)
    assert sum(each.uniques == 2 for each in found.sets) == 500

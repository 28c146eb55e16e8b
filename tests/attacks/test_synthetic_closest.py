"""How close synthetic rows come to the rows they were made from."""

import json
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ziggurat.attacks import Share, closest_records
from ziggurat.attacks._swaps import bound_luck
from ziggurat.attacks.synthetic import read_alike
from ziggurat.attacks.synthetic._alike import scale_rows
from ziggurat.attacks.synthetic._closest_kernels import nearest
from ziggurat.data import Column, Kind, Schema, read
from ziggurat.errors import DataError, ParameterError


def people(seed, rows=500):
    draw = np.random.default_rng(seed)
    return pa.table(
        {
            "age": draw.integers(18, 90, rows),
            "income": draw.lognormal(10, 0.7, rows).round(2),
            "place": draw.choice(["a", "b", "c", None], rows),
            "born": pa.array(draw.integers(0, 20_000, rows).astype(np.int32)).cast(pa.date32()),
        }
    )


def gower(one, two, ranges):
    total = 0.0
    for name, width in ranges.items():
        a, b = one[name], two[name]
        if a is None or b is None or width is None:
            total += float(a != b)
        else:
            total += min(1.0, abs(float(a) - float(b)) / width) if width else float(a != b)
    return total / len(ranges)


@pytest.mark.parametrize("neighbours", [1, 3])
def test_the_nearest_rows_are_those_of_a_search_by_hand(neighbours):
    draw = np.random.default_rng(1)
    number = [None if draw.random() < 0.2 else float(draw.integers(-5, 5)) for _ in range(130)]
    table = pa.table({"x": number, "y": draw.normal(size=130), "z": draw.choice(["a", None], 130), "c": [4] * 130})
    first, second = read_alike(table.slice(0, 100), [("it", table.slice(100))])
    base, asked = scale_rows([first, second], [first])
    distances = nearest(base, asked, neighbours, draw.permutation(len(base)))[1]
    rows, widths = table.to_pylist(), {"x": None, "y": None, "z": None, "c": 0}
    for name in ("x", "y"):
        cells = [row[name] for row in rows[:100] if row[name] is not None]
        widths[name] = max(cells) - min(cells)
    for query, found in zip(rows[100:], distances, strict=True):
        wanted = sorted(gower(query, row, widths) for row in rows[:100])[:neighbours]
        assert found.tolist() == pytest.approx(wanted)


@pytest.mark.parametrize("sizes", [(0, 5, 2), (1, 5, 3), (64, 1, 1), (65, 7, 2), (200, 0, 1)])
def test_the_search_works_for_any_number_of_rows(sizes):
    rows, queries, neighbours = sizes
    draw = np.random.default_rng(2)
    base, asked = draw.random((rows, 3)), draw.random((queries, 3))
    places, distances = nearest(base, asked, neighbours, draw.permutation(rows))
    for query in range(queries):
        wanted = np.argsort(np.abs(base - asked[query]).sum(axis=1))[:neighbours]
        assert places[query, : wanted.size].tolist() == wanted.tolist()
        assert (places[query, wanted.size :] == -1).all()
        assert np.isinf(distances[query, wanted.size :]).all()


def test_of_equal_rows_the_first_in_the_order_is_found():
    for order in ([2, 0, 3, 1], [1, 3, 0, 2]):
        found = nearest(np.zeros((4, 2)), np.zeros((1, 2)), 2, np.array(order))[0]
        assert found[0].tolist() == order[:2]


def test_a_table_that_repeats_the_original_is_warned_of():
    original, holdout = people(1), people(2)
    found = closest_records(original, original, holdout, random_state=1)
    assert found.overfit
    assert "Warning" in found.sentence
    assert found.closer == found.copies == found.copies_drawn == found.uniques_copied == Share(500, 500)
    assert found.copies_holdout == Share(0, 500)
    assert (found.training.distance, found.training.ratio) == (0, 0)
    assert found.holdout.distance > 0


def test_a_table_that_knows_nothing_of_the_original_is_cleared():
    found = closest_records(people(1), [people(3), people(4)], people(2), random_state=1)
    assert not found.overfit
    assert abs(found.closer.rate - 0.5) < found.chance
    assert "no more than chance" in found.sentence
    assert found.closer.trials == 1000
    assert found.training.distance == pytest.approx(found.holdout.distance, rel=0.3)


def test_a_fifth_of_nearly_copied_rows_is_warned_of():
    original = people(1)
    close = original.slice(0, 100)
    moved = close.set_column(0, "age", pa.array(close["age"].to_numpy() + 1))
    found = closest_records(original, pa.concat_tables([moved, people(5, 400)]), people(2), random_state=1)
    assert found.overfit
    assert found.copies.hits == 0


@pytest.mark.statistical
def test_rows_that_share_a_closest_row_do_not_make_a_false_alarm():
    # 100 tables of 20 times as many rows as are real: 5 % false alarms are expected, and 20 % come less than once in a
    # million times; the interval of the plain share, which takes the rows for independent, misses a half in a third.
    draw = np.random.default_rng(4)
    wrong = plain = 0
    for seed in range(100):
        one, two, made = (
            pa.table({"x": draw.normal(size=rows), "y": draw.normal(size=rows)}) for rows in (40, 40, 800)
        )
        found = closest_records(one, made, two, random_state=seed)
        wrong += abs(found.closer.rate - 0.5) > found.chance
        plain += not found.closer.low <= 0.5 <= found.closer.high
    assert wrong / 100 < 0.2
    assert plain / 100 > 0.2


def test_copies_and_copied_uniques_are_counted_by_hand():
    original = pa.table({"a": [1, 2, 2, None], "b": ["x", "y", "y", None]})
    holdout = pa.table({"a": [5, 1, 8, 9], "b": ["x", "x", "x", "x"]})
    made = pa.table({"a": [2, None, 7, 1, 5], "b": ["y", None, "y", "x", "x"]})
    found = closest_records(original, made, holdout)
    assert found.copies == Share(3, 5)
    assert found.copies_holdout == Share(2, 5)
    assert found.uniques_copied == Share(2, 2)


def test_real_rows_are_drawn_in_equal_numbers_and_copies_counted_among_all():
    original = people(1, 600)
    found = closest_records(original, original, people(2, 50), at_most=40, random_state=1)
    assert (found.rows, found.synthetic_rows) == (40, 40)
    assert found.copies == Share(600, 600)
    assert found.copies_drawn == Share(40, 600)


def test_a_schema_says_what_is_missing_in_the_synthetic_table_too():
    schema = Schema((Column("x", Kind.INTEGER, missing=(-8,)), Column("y", Kind.REAL)))
    table = pa.table({"x": [1, 2, -8], "y": [0.5, 1.5, 2.5], "unseen": [1, 2, 3]})
    found = closest_records(read(table, schema), table, table.slice(0, 2))
    assert found.copies == Share(3, 3)
    assert found.training.distance == 0


def test_numbers_beyond_the_real_range_are_at_most_a_whole_unit_away():
    original = pa.table({"x": [0.0, 1.0], "c": [1, 1]})
    found = closest_records(original, pa.table({"x": [1e300, -1e300], "c": [2, 1]}), original)
    assert found.training.distance_median == pytest.approx((1 + 0.5) / 2)


def test_one_row_of_each_has_no_second_neighbour():
    one = pa.table({"x": [1]})
    found = closest_records(one, one, one)
    assert found.training.ratio is None
    assert not found.overfit


def test_bad_tables_are_refused_in_a_sentence():
    table = people(1, 5)
    with pytest.raises(DataError, match="'place' is not in the hold-out"):
        closest_records(table, table, table.drop_columns(["place"]))
    with pytest.raises(DataError, match="'age' holds another kind of cells in copy 2"):
        closest_records(table, [table, table.set_column(0, "age", [["x"] * 5])], table)
    with pytest.raises(DataError, match="The hold-out has no rows"):
        closest_records(table, table, table.slice(5))
    with pytest.raises(ParameterError, match="whole number"):
        closest_records(table, table, table, at_most=0)
    assert closest_records(table, table, table.select(["age"]), columns=["age"]).copies == Share(5, 5)


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_few_rows_are_measured(ours, theirs, made, seed):
    found = closest_records(people(seed, ours), people(seed + 1, made), people(seed + 2, theirs), random_state=1)
    facts = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert 0 <= facts["closer"]["rate"] <= 1
    assert found.table.num_rows == 2


def test_the_luck_of_closest_records_is_never_below_that_of_all_random_signs():
    """Every way to change places within the pairs, for differences of many shapes."""
    for differences in ([5], [1, 1, 1], [3, 1, -1, 2], [4, 4, -1, 0, 2, 7], [1] * 12, [9, 1, 1, 1, 1, -3, 2]):
        signs = np.array(list(product((-1, 1), repeat=len(differences))))
        exact = float(np.mean(signs @ np.array(differences) >= sum(differences)))
        assert exact <= bound_luck(np.array(differences)) <= 1
    assert bound_luck(np.array([0, 0])) == 1.0
    assert bound_luck(np.ones(400, np.int64)) < 1e-80


def test_closest_records_have_luck_if_the_table_knows_nothing_and_none_if_it_repeats_people():
    original, holdout, other = people(1), people(2), people(3)
    assert closest_records(original, other, holdout, random_state=1).luck > 0.05
    assert closest_records(original, original, holdout, random_state=1).luck < 1e-9

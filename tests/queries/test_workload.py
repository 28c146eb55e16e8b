"""What a workload may ask, and what it refuses."""

import datetime
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ziggurat.data import Bounds, Categories, Column, Kind, Provenance, Schema, Unit
from ziggurat.errors import NotPublicError, ParameterError, SchemaError, ZigguratError
from ziggurat.queries import Workload
from ziggurat.queries.workloads._workload import coarsen

SCHEMA = Schema(
    (
        Column("age", Kind.INTEGER, bounds=Bounds(17, 90)),
        Column("sex", Kind.CATEGORY, categories=Categories(("f", "m"))),
        Column("school", Kind.CATEGORY, categories=Categories(("none", "some", "much"), ordered=True)),
        Column("smoker", Kind.BOOLEAN),
        Column("height", Kind.REAL, bounds=Bounds(1.0, 2.0)),
        Column("seen", Kind.DATE, bounds=Bounds(datetime.date(2024, 1, 1), datetime.date(2024, 12, 31))),
        Column("note", Kind.TEXT),
        Column("wage", Kind.INTEGER, bounds=Bounds(0, 10, Provenance.LEARNED)),
        Column("huge", Kind.INTEGER, bounds=Bounds(0, 2**40)),
    )
)


def test_a_workload_grows_and_never_changes():
    empty = Workload(SCHEMA)
    grown = empty.marginal("sex", "smoker").total()
    assert (len(empty), len(grown)) == (0, 5)
    assert [group.name for group in grown.groups] == ["sex, smoker", "total"]


def test_every_kind_of_question_counts_its_queries():
    asked = Workload(SCHEMA, bins={"height": 4, "seen": 12}, edges={"age": [17, 30, 60, 90]})
    assert len(asked.marginals(2, ["age", "sex", "smoker"])) == 3 * 2 + 3 * 2 + 2 * 2
    assert len(asked.all_ranges("height")) == 10
    assert len(asked.prefixes("seen", by=["sex"])) == 24
    assert len(asked.ranges("school", [("none", "some"), ("much", "much")])) == 2


def test_labels_say_which_ends_count():
    asked = Workload(SCHEMA, edges={"height": [1.0, 1.5, 2.0]}).marginal("height").ranges("age", [(17, 30)])
    labels = [group.labels(asked.cells) for group in asked.groups]
    assert labels == [{"height": ["[1.0, 1.5)", "[1.5, 2.0]"]}, {"age": ["17 to 30"]}]


def test_even_bins_cover_the_bounds_of_whole_numbers_and_dates():
    cells = Workload(SCHEMA, bins={"age": 3, "seen": 2}).marginal("age").marginal("seen").cells
    assert cells["age"].edges == (17, 41, 66, 90)
    assert cells["seen"].edges == tuple(datetime.date(2024, *day) for day in ((1, 1), (7, 2), (12, 31)))


def test_cells_that_no_query_tells_apart_are_merged():
    asked = Workload(SCHEMA).ranges("age", [(20, 29), (40, 59), (50, 69)])
    places, groups = coarsen(asked)
    assert places["age"][[3, 12, 23, 33, 43, 0, -1]].tolist() == [0, 0, 1, 2, 3, 4, 4]
    ranges = groups[0].factors["age"]
    assert np.stack([ranges.lows, ranges.highs], axis=1).tolist() == [[0, 1], [1, 3], [2, 4]]


def test_marginals_over_many_columns_need_no_joint_domain():
    wide = Schema(tuple(Column(f"c{i}", Kind.INTEGER, bounds=Bounds(0, 99)) for i in range(40)))
    plan = Workload(wide).marginals(1).plan(Unit(), 1)
    assert len(plan.mechanisms) == 40


@pytest.mark.parametrize(
    ("build", "error", "says"),
    [
        (lambda w: w.marginal("note"), NotPublicError, "public categories"),
        (lambda w: w.marginal("wage"), NotPublicError, "learned from the data"),
        (lambda w: w.marginal("height"), ParameterError, "edges= or bins="),
        (lambda w: w.marginal("huge"), ParameterError, "state bins"),
        (lambda w: w.marginal("sx"), SchemaError, "did you mean 'sex'"),
        (lambda w: w.marginal(), ParameterError, "total"),
        (lambda w: w.marginal("sex", "sex"), ParameterError, "twice"),
        (lambda w: w.marginals(3, ["sex", "age"]), ParameterError, "fewer than 3"),
        (lambda w: w.marginals(1, "sex"), ParameterError, "list of names"),
        (lambda w: w.ranges("sex", [("f", "m")]), ParameterError, "no order"),
        (lambda w: w.ranges("age", [(16, 30)]), ParameterError, "begin and end"),
        (lambda w: w.ranges("age", [(30, 20)]), ParameterError, "begin before"),
        (lambda w: w.ranges("age", [3]), ParameterError, "pairs"),
        (lambda w: w.ranges("age", []), ParameterError, "at least one"),
        (lambda w: w.ranges("age", [(20, 30)], by=["age"]), ParameterError, "both"),
        (lambda w: w.total(weight=0), ParameterError, "greater than 0"),
        (lambda w: w.plan(Unit(), 1), ParameterError, "asks nothing"),
        (lambda w: Workload(SCHEMA, bins={"huge": 3000}).all_ranges("huge"), ParameterError, "too many"),
        (lambda w: Workload(SCHEMA, bins={"huge": 60_000}).marginal("huge", "age"), ParameterError, "cells together"),
        (lambda w: Workload(SCHEMA, bins={"age": 100}), ParameterError, "fewer"),
        (lambda w: Workload(SCHEMA, bins={"sex": 2}), ParameterError, "only numbers and dates"),
        (lambda w: Workload(SCHEMA, bins={"age": 2}, edges={"age": [17, 90]}), ParameterError, "not both"),
        (lambda w: Workload("schema"), ParameterError, "table.schema"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(build, error, says):
    with pytest.raises(error, match=says):
        build(Workload(SCHEMA))


JUNK = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.integers(), max_size=3))


@settings(deadline=None)
@given(edges=st.lists(JUNK, max_size=4), bins=JUNK, ranges=st.lists(st.tuples(JUNK, JUNK), max_size=3), weight=JUNK)
def test_junk_is_refused_by_our_own_errors_alone(edges, bins, ranges, weight):
    attempts = [
        lambda: Workload(SCHEMA, edges={"age": edges}),
        lambda: Workload(SCHEMA, bins={"height": bins}),
        lambda: Workload(SCHEMA).ranges("age", ranges),
        lambda: Workload(SCHEMA).total(weight=weight),
    ]
    for attempt in attempts:
        with suppress(ZigguratError):
            attempt()

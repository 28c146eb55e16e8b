"""One tidy table of all runs, its summaries, and printed values beside ours."""

import csv
import statistics
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ziggurat.errors import DataError
from ziggurat.experiments import Expected, Experiment, Module, NodeRecord, Results
from ziggurat.experiments._values import describe, same, token

AGAIN = Module("again", "classify", metrics=("accuracy", "auc"))
PRIVATE = Module(
    "private", "privatize", {"clip": 3}, trials=({"epsilon": 2}, {"epsilon": 0.1}), repeats=3, modules=(AGAIN,)
)
EXPERIMENT = Experiment("example", (Module("prepare", "prepare-data", {"rows": 4000}), PRIVATE))


def record(node, varied=None, repeats=None, metrics=None, status="done", error=None):
    module = node.rpartition("/")[2].partition("[")[0].partition("#")[0]
    parent = node.rpartition("/")[0] or None
    time = "2026-11-15T12:00:00+00:00"
    return NodeRecord(
        node, module, varied or {}, repeats or {}, parent, status, False, time, 0.5, error, metrics or {}, {}, "k"
    )


def runs(accuracies=((0.90, 0.91, 0.95), (0.60, 0.64, 0.61))):
    found = [record("prepare#0", repeats={"prepare": 0})]
    for epsilon, values in zip((2, 0.1), accuracies, strict=True):
        for i, value in enumerate(values):
            node, varied, repeats = f"private[epsilon={epsilon}]#{i}", {"private.epsilon": epsilon}, {"private": i}
            found.append(record(node, varied, repeats))
            inside = {**repeats, "again": 0}
            found.append(record(f"{node}/again#0", varied, inside, {"accuracy": value, "auc": value + 0.01}))
    return found


def compare(*expected, records=None):
    experiment = replace(EXPERIMENT, expected=expected)
    return Results(experiment, runs() if records is None else records).comparisons()


def test_the_table_has_one_row_per_node_and_metric_and_one_column_per_varied_name():
    table = Results(EXPERIMENT, runs()).table()
    fixed = ["node", "module", "status", "cached", "seconds", "error"]
    assert table.column_names == [*fixed, "private.epsilon", "private.repeat", "metric", "value"]
    assert table.schema.field("private.epsilon").type == pa.float64()
    assert table.num_rows == 1 + 6 + 6 * 2
    row = table.to_pylist()[2]
    assert (row["node"], row["metric"], row["value"]) == ("private[epsilon=2]#0/again#0", "accuracy", 0.90)


def test_a_node_without_metrics_keeps_its_row_and_its_error():
    failed = record("prepare#0", status="failed", error="ValueError: no")
    rows = Results(EXPERIMENT, [failed]).table().to_pylist()
    assert [(row["status"], row["error"], row["metric"], row["value"]) for row in rows] == [
        ("failed", "ValueError: no", None, None)
    ]


@given(st.permutations(runs()))
def test_the_order_in_which_runs_end_changes_nothing(shuffled):
    assert Results(EXPERIMENT, shuffled).table().equals(Results(EXPERIMENT, runs()).table())
    assert Results(EXPERIMENT, shuffled).summary().equals(Results(EXPERIMENT, runs()).summary())


def test_the_later_record_of_a_node_counts():
    first, second = record("prepare#0", status="failed", error="no"), record("prepare#0")
    assert Results(EXPERIMENT, [first, second]).counts() == {
        "all": 1,
        "done": 1,
        "failed": 0,
        "skipped": 0,
        "cached": 0,
    }


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30))
def test_quartiles_are_those_of_linear_interpolation(values):
    q1, median, q3 = statistics.quantiles(values, n=4, method="inclusive")
    found = describe(values)
    assert (found["q1"], found["median"], found["q3"]) == pytest.approx((q1, median, q3), abs=1e-9)
    assert (found["n"], found["min"], found["max"]) == (len(values), min(values), max(values))


def test_the_summary_goes_over_repeats_of_each_trial():
    rows = Results(EXPERIMENT, runs()).summary().to_pylist()
    assert [(row["private.epsilon"], row["metric"], row["n"]) for row in rows] == [
        (2, "accuracy", 3),
        (2, "auc", 3),
        (0.1, "accuracy", 3),
        (0.1, "auc", 3),
    ]
    assert (rows[0]["median"], rows[0]["q1"], rows[0]["q3"]) == pytest.approx((0.91, 0.905, 0.93))
    assert rows[2]["mean"] == pytest.approx(1.85 / 3)


def test_parameters_of_mixed_types_become_text_and_lists_become_json():
    experiment = Experiment("e", (Module("m", "s", trials=({"a": 1}, {"a": "x"}, {"a": [1, 2]})),))
    found = [record(f"m#{i}", {"m.a": value}) for i, value in enumerate((1, "x", [1, 2]))]
    assert Results(experiment, found).table()["m.a"].to_pylist() == ["1", "x", "[1, 2]"]


def test_a_value_within_the_tolerance_is_reproduced_and_one_beyond_it_differs():
    where = {"private.epsilon": 2}
    near, far = compare(Expected("again.accuracy", 0.93, 0.02, where), Expected("again.accuracy", 0.93, 0.0199, where))
    assert (near.ours, near.reproduced, near.reason) == (0.91, True, "")
    assert (far.ours, far.reproduced) == (0.91, False)


@pytest.mark.parametrize(("statistic", "ours"), [("median", 0.91), ("mean", 0.92), ("min", 0.90), ("max", 0.95)])
def test_the_printed_statistic_is_compared(statistic, ours):
    (found,) = compare(Expected("again.accuracy", 0.9, 1, {"private.epsilon": 2.0}, statistic))
    assert found.ours == pytest.approx(ours)


def test_filters_see_fixed_parameters_too():
    fits, not_this = compare(
        Expected("again.accuracy", 0.9, 1, {"private.clip": 3.0, "prepare.rows": 4000}),
        Expected("again.accuracy", 0.9, 1, {"private.clip": 4}),
    )
    assert fits.ours is not None
    assert not_this.ours is None


def test_what_has_no_run_is_not_reproduced_and_says_why():
    absent, unknown = compare(Expected("again.accuracy", 0.9, 1, {"private.epsilon": 3}), Expected("again.f1", 0.9, 1))
    assert (absent.ours, absent.reproduced) == (None, False)
    assert absent.reason == "No run of 'again' was made with private.epsilon = 3."
    assert unknown.reason == "No run measured 'again.f1'."


def test_what_failed_is_said_to_have_failed():
    lost = record("private[epsilon=2]#0/again#0", {"private.epsilon": 2}, status="skipped", error="x")
    (found,) = compare(Expected("again.accuracy", 0.9, 1, {"private.epsilon": 2}), records=[lost])
    assert found.reason == "Every run that should have measured it failed or was skipped."


def test_numbers_are_compared_by_value_and_text_exactly():
    assert same(0.1, 1 / 10)
    assert same(0.1 + 0.2, 0.3)
    assert same(2, 2.0)
    assert not same(1e-13, 2e-13)
    assert not same(0.1, 0.1001)
    assert not same("0.1", 0.1)
    assert not same(True, 1)
    assert not same(10**400, 1.5)
    assert same([1, "a"], [1, "a"])


@given(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.lists(st.integers()))
)
def test_every_value_is_itself(value):
    assert same(value, value)
    assert token(value) == token(value)


def test_the_table_leaves_as_pandas_polars_and_csv(tmp_path):
    results = Results(EXPERIMENT, runs())
    assert len(results.to_pandas()) == results.to_polars().height == results.table().num_rows
    results.to_csv(tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["value"]) for row in rows if row["metric"] == "accuracy"][:2] == [0.90, 0.91]
    with pytest.raises(DataError):
        results.to_csv(tmp_path / "absent" / "out.csv")


def test_failures_and_what_was_skipped_because_of_them_are_told_apart():
    failed = record("private[epsilon=2]#0", status="failed", error="x")
    skipped = record("private[epsilon=2]#0/again#0", status="skipped", error="y")
    results = Results(EXPERIMENT, [skipped, failed])
    assert (results.failures(), results.skipped()) == ([failed], [skipped])

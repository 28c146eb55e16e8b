"""What models get wrong in each group. Tests of chance fail less often than once in a million; draws are seeded."""

import json

import numpy as np
import pytest
from scipy import stats

from ziggurat.errors import DataError, ParameterError
from ziggurat.randomness import seeded
from ziggurat.utility import compare_groups
from ziggurat.utility.subgroups._errors import correct_by_holm

ROWS = 3000


def invent(harm=0.0, rows=ROWS, seed=1):
    """Everybody errs in one case of ten; the private model more often, by 5 points, and in group b by more."""
    draw = np.random.default_rng(seed)
    groups = draw.choice(["a", "b", "c"], rows, p=[0.7, 0.1, 0.2])
    truth = draw.integers(0, 2, rows)
    wrong = draw.random(rows) < 0.1
    more = draw.random(rows) < 0.05 + harm * (groups == "b")
    exact, private = (np.where(each, 1 - truth, truth) for each in (wrong, wrong | more))
    return truth, groups, private, exact


def compare(harm=0.0, **options):
    return compare_groups(*invent(harm), source=seeded("deals"), **options)


def test_errors_are_shares_of_each_group():
    truth, groups, private, exact = invent()
    found = compare()
    assert [each.group for each in found.groups] == ["a", "c", "b"]
    for each in found.groups:
        mine = groups == each.group
        assert each.rows == mine.sum()
        assert each.errors["exact"].rate == pytest.approx((exact != truth)[mine].mean())
        assert each.errors["private"].rate == pytest.approx((private != truth)[mine].mean())
        assert each.change.rate == pytest.approx(each.errors["private"].rate - each.errors["exact"].rate)
    rates = [each.errors["private"].rate for each in found.groups]
    assert found.gaps["private"] == pytest.approx(max(rates) - min(rates))


def test_a_group_that_privacy_costs_more_is_named_and_no_other():
    found = compare(harm=0.3)
    assert [each.group for each in found.harmed] == ["b"]
    assert found.harmed[0].beyond == pytest.approx(0.27, abs=0.05)
    assert "'b' (+0." in found.sentence


def test_where_privacy_costs_all_the_same_no_group_is_named():
    assert compare().harmed == ()
    assert "not shown beyond chance" in compare().sentence


@pytest.mark.statistical
def test_groups_are_named_falsely_no_more_often_than_stated():
    """Of 60 tables 5 % are 3; more than 16 has a chance of 1e-8."""
    alarms = sum(
        any(each.verdict for each in compare_groups(*invent(rows=400, seed=seed), source=seeded("deals")).groups)
        for seed in range(60)
    )
    assert alarms <= 16


def test_intervals_are_those_of_clopper_and_pearson_for_all_groups_and_models_together():
    found = compare()
    each = found.groups[0]
    hits = round(each.errors["exact"].rate * each.rows)
    wanted = stats.binomtest(hits, each.rows).proportion_ci(1 - 0.05 / 6, method="exact")
    assert (each.errors["exact"].low, each.errors["exact"].high) == pytest.approx((wanted.low, wanted.high))


def test_holm_is_that_of_the_paper():
    assert correct_by_holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert correct_by_holm([0.9, 0.8]) == [1.0, 1.0]
    assert correct_by_holm([]) == []


def test_about_small_groups_nothing_is_said():
    truth, groups, private, exact = invent()
    groups[:29], groups[29:34] = "tiny", None
    few = compare_groups(truth, [None if each == "None" else each for each in groups.tolist()], private, exact)
    assert "tiny" not in json.dumps(few.to_dict())
    assert (few.unsaid, few.unsaid_rows) == (2, 34)
    assert "2 groups with fewer than 30 rows" in few.sentence
    assert "missing" in [
        each.group for each in compare_groups(truth, [None] * 50 + ["x"] * 2950, private, exact).groups
    ]


def test_of_numbers_absolute_errors_are_told():
    draw = np.random.default_rng(1)
    truth, groups = draw.normal(size=600), np.repeat(["a", "b"], 300)
    off = draw.uniform(0, 0.2, 600)
    private = truth + off[::-1] + np.where(groups == "b", 2.0, 0.0)
    found = compare_groups(truth, groups, private, truth + off, by="sex")
    assert found.error == "mean absolute error"
    assert {each.group: each.errors["private"].rate for each in found.groups} == pytest.approx(
        {"a": 0.1, "b": 2.1}, abs=0.03
    )
    assert [each.group for each in found.harmed] == ["b"]


def test_one_group_is_no_comparison():
    truth, _, private, exact = invent()
    found = compare_groups(truth, ["all"] * ROWS, private, exact)
    assert found.harmed == ()
    assert "not two groups" in found.sentence
    assert found.to_dict()["gaps"] == {"exact": None, "private": None}


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_it_is_drawn_with_every_group(kind):
    drawn = compare(by="place").draw(kind)
    assert (
        drawn.startswith(b"\x89PNG") if kind == "png" else all(each in drawn for each in (b"Errors by place", b"(2,1"))
    )


def test_the_table_and_the_json_hold_every_group():
    found = compare()
    assert found.table.num_rows == 3
    assert json.loads(json.dumps(found.to_dict()))["groups"][0]["group"] == "a"


def test_what_cannot_be_compared_is_refused():
    truth, groups, private, exact = invent()
    with pytest.raises(DataError, match="for each of the rows"):
        compare_groups(truth, groups[:-1], private, exact)
    with pytest.raises(ParameterError, match="two names"):
        compare_groups(truth, groups, private, exact, names=("one", "one"))
    with pytest.raises(DataError, match="finite"):
        compare_groups(truth.astype(float), groups, np.full(ROWS, np.nan), exact)

"""Trials: a list, a grid or random draws become different parameter sets."""

import math
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ziggurat.errors import ExperimentError
from ziggurat.experiments.file._spot import Spot
from ziggurat.experiments.file._trials import Trials, trials
from ziggurat.randomness import seeded


def _trials(value: Any, seed: int = 1) -> Trials:
    spot = Spot(value, "'trials'", (), lambda path: f"file at {'.'.join(path)}: ")
    return trials(spot, seeded(seed), lambda name, spot: None)


def _random(count: int, seed: int = 1, **draws: Any) -> Trials:
    return _trials({"random": {"count": count, "draws": draws}}, seed)


def test_a_list_stays_as_it_is() -> None:
    assert _trials([{}, {"a": 1}, {"a": [1, {"b": None}]}]) == ({}, {"a": 1}, {"a": [1, {"b": None}]})


def test_a_grid_is_every_combination_in_order() -> None:
    found = _trials({"grid": {"a": [1, 2], "b": ["x", "y"]}})
    assert [tuple(each.values()) for each in found] == [(1, "x"), (1, "y"), (2, "x"), (2, "y")]


def test_draws_lie_where_they_should() -> None:
    draws: dict[str, Any] = {
        "u": {"uniform": [-1, 1]},
        "l": {"log_uniform": [1e-3, 1e3]},
        "i": {"integers": [-2, 3]},
        "c": {"choice": ["a", [1]]},
    }
    found = _random(2000, **draws)
    assert all(-1 <= each["u"] <= 1 and 1e-3 <= each["l"] <= 1e3 for each in found)
    assert {each["i"] for each in found} == set(range(-2, 4))
    assert sum(each["c"] == "a" for each in found) == pytest.approx(1000, abs=150)
    assert sum(each["u"] for each in found) == pytest.approx(0, abs=80)
    assert sum(math.log10(each["l"]) for each in found) == pytest.approx(0, abs=250)


def test_draws_come_from_the_seed_alone() -> None:
    draws: dict[str, Any] = {"a": {"uniform": [0, 1]}}
    assert _random(5, **draws) == _random(5, **draws) != _random(5, seed=2, **draws)


def test_published_draws_never_change() -> None:
    found = _random(2, a={"uniform": [0, 1]}, b={"integers": [0, 10**6]})
    assert found == ({"a": 0.8179094702490771, "b": 747830}, {"a": 0.8388013178167728, "b": 497723})


def test_more_trials_and_more_parameters_leave_the_draws_as_they_were() -> None:
    few = _random(3, a={"uniform": [0, 1]})
    many = _random(9, a={"uniform": [0, 1]}, b={"integers": [1, 6]})
    assert [each["a"] for each in many[:3]] == [each["a"] for each in few]


def test_drawn_trials_differ_even_if_all_are_asked_for() -> None:
    found = _random(60, i={"integers": [1, 20]}, c={"choice": ["x", "y", "z"]})
    assert len({(each["i"], each["c"]) for each in found}) == 60


@pytest.mark.parametrize(
    ("value", "where", "sentence"),
    [
        ([], "", "There are no trials here"),
        ({"grid": {}}, "grid", "There are no trials here"),
        ({"grid": {"a": []}}, "grid.a", "'a' has no values; list at least one"),
        ({"grid": {"a": 3}}, "grid.a", "'a' must be a list"),
        ({"grid": {"a": [1, 1]}}, "grid.a.1", "holds the same value twice"),
        ({"grid": {str(i): list(range(10)) for i in range(20)}}, "grid", "100,000,000,000,000,000,000 trials"),
        ([{"a": 1, "b": 2}, {"b": 2, "a": 1}], "1", "stands twice; drop one, or use 'repeats'"),
        ([3], "0", "Entry 1 of 'trials' must be an object"),
        ([{"a": math.inf}], "0.a", "must be text, a finite number"),
        ({}, "", "must be a list of parameter sets"),
        (None, "", "must be a list of parameter sets"),
        ({"grid": {"a": [1]}, "random": {}}, "", "must be a list of parameter sets"),
        ({"gird": {"a": [1]}}, "gird", "Unknown key 'gird'; did you mean 'grid'?"),
        ({"random": {"draws": {}}}, "random", "'random' needs 'count'"),
        ({"random": {"count": 0, "draws": {}}}, "random.count", "from 1 to 100,000"),
        ({"random": {"count": 1, "draws": {}}}, "random.draws", "nothing to draw"),
        ({"random": {"count": 1, "draws": {"a": 1}}}, "random.draws.a", "must be one draw"),
        (
            {"random": {"count": 1, "draws": {"a": {"unifrom": [0, 1]}}}},
            "random.draws.a.unifrom",
            "did you mean 'uniform'",
        ),
        ({"random": {"count": 1, "draws": {"a": {"uniform": [0]}}}}, "random.draws.a.uniform", "needs two ends"),
        ({"random": {"count": 1, "draws": {"a": {"uniform": [1, 1]}}}}, "random.draws.a.uniform.0", "must be below"),
        ({"random": {"count": 1, "draws": {"a": {"uniform": [0, 10**400]}}}}, "random.draws.a.uniform.1", "finite"),
        ({"random": {"count": 1, "draws": {"a": {"integers": [2, 1]}}}}, "random.draws.a.integers.0", "swap them"),
        ({"random": {"count": 1, "draws": {"a": {"integers": [0.5, 1]}}}}, "random.draws.a.integers.0", "whole number"),
        ({"random": {"count": 1, "draws": {"a": {"log_uniform": [0, 1]}}}}, "random.draws.a.log_uniform.0", "positive"),
        ({"random": {"count": 1, "draws": {"a": {"choice": []}}}}, "random.draws.a.choice", "has no values"),
        ({"random": {"count": 4, "draws": {"a": {"choice": [1, 2, 3]}}}}, "random.count", "only about 3 different"),
    ],
)
def test_what_cannot_be_tried_is_one_sentence(value: Any, where: str, sentence: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        _trials(value)
    assert str(caught.value).startswith(f"file at {where}: ")
    assert sentence in str(caught.value)


_TREES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=4)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["grid", "random", "count", "draws", "uniform", "log_uniform", "integers", "choice", "a"]),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(_TREES)
def test_anything_is_trials_or_an_experiment_error(value: Any) -> None:
    try:
        assert _trials(value)
    except ExperimentError:
        return


@settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
def test_no_draw_leaves_its_interval(one: float, other: float) -> None:
    lower, upper = sorted((one, other))
    assume(lower < upper)
    (trial,) = _random(1, a={"uniform": [lower, upper]})
    assert lower <= trial["a"] <= upper

"""The figures of document 002, chapter 8: what is published beside what is exact."""

import math
import os
import re

import numpy as np
import pytest

from ziggurat.errors import ExperimentError
from ziggurat.experiments import Cache, Results, catalogue, draw, expand, load, resolve, run_plan, steps
from ziggurat.experiments.steps.models._decide_ridge import proven_sensitivity, ridge

NAMES = tuple(f"002-fig-8-{number}" for number in range(1, 8))
PUBLISHED, EXACT = {"formula": "as-published"}, {"formula": "exact"}
REPRODUCED = {
    "002-fig-8-1": [True, False],
    "002-fig-8-2": [True],
    "002-fig-8-3": [True, True, True, False],
    "002-fig-8-4": [True],
    "002-fig-8-5": [True, False, False],
    "002-fig-8-6": [False, False],
    "002-fig-8-7": [True, True, True, False, False, False],
}
needs_data = pytest.mark.skipif("ZIGGURAT_DATA" not in os.environ, reason="set ZIGGURAT_DATA")


def toy(rows=400):
    made = steps.model_data("invented", columns=list("abcde"), rows=rows, seed=4)
    return steps.ridge_rows(made["features"], made["target"])["rows"]


@pytest.fixture(scope="module", params=NAMES)
def quick(request, tmp_path_factory):
    plan = expand(load(catalogue.path(request.param), quick=True))
    return Results(plan.experiment, run_plan(plan, Cache(tmp_path_factory.mktemp("cache")), progress=False))


# The files


def test_a_quick_run_needs_no_data_and_every_figure_of_it_is_drawn(quick):
    assert quick.counts()["done"] == quick.counts()["all"] > 10
    for figure in quick.experiment.figures:
        assert (b"#c1121f" in draw(figure, quick)) == (figure.reference is not None)


def test_what_is_printed_is_compared_and_what_cannot_be_compared_is_not(quick):
    name, compared = quick.experiment.name, quick.comparisons()
    assert [each.reproduced for each in compared] == REPRODUCED[name]
    assert all((each.ours is None) == (name == "002-fig-8-6") for each in compared)


def test_every_published_curve_is_said_to_be_no_guarantee(quick):
    experiment = quick.experiment
    names = [str(trial["name"]) for module in experiment.modules for trial in module.trials if "name" in trial]
    assert any(name.startswith("as published") for name in names)
    assert any(re.match("exact|order|one-sided", name) for name in names)
    said = experiment.description + experiment.reproduces.remark + "".join(x.remark for x in experiment.expected)
    assert re.search("not a guarantee", said, re.IGNORECASE)


def test_the_printed_sizes_of_section_8_4_come_with_the_remark_that_a_size_was_chosen():
    remarks = [each.remark for each in load(catalogue.path("002-fig-8-6")).expected]
    assert all("had been tried" in remark for remark in remarks)


@needs_data
def test_on_the_census_the_noise_that_is_spared_is_not_there(tmp_path):
    plan = expand(load(catalogue.path("002-fig-8-5")))
    found = Results(plan.experiment, run_plan(plan, Cache(tmp_path), progress=False))
    rows = [row for row in found.table().to_pylist() if row["metric"] == "rmse" and row["allowed.confidence"] == 0.6]
    error = {row["formula.name"]: row["value"] for row in rows}
    assert error["as published, k = 1"] < 0.8 * error["exact, k = 5"]


# The steps


def test_every_step_returns_what_it_declares():
    rows, setting = toy(), {**EXACT, "samples": 100}
    made = {
        "curve": steps.curve("a line", level=1),
        "at-risk-epsilon": steps.at_risk_epsilon(setting, 0.2),
        "at-risk-level": steps.at_risk_level(setting, 0.2),
        "samples-needed": steps.samples_needed(setting, 0.2),
        "sampling-confidence": steps.sampling_confidence("corrected"),
        "combined-risk": steps.combined_risk(setting, 0.5),
        "compensation-budget": steps.compensation_budget(setting, 0.2),
        "cheapest-promise": steps.cheapest_promise(setting),
        "ridge-error": steps.ridge_error(rows, 1.0, runs=3),
        "ridge-sensitivities": steps.ridge_sensitivities(rows, size=30, pairs=20),
        "sampled-sensitivity": steps.sampled_sensitivity({"formula": "corrected"}, [np.arange(1.0, 400.0)], 0.5),
    }
    for name, outputs in made.items():
        assert set(outputs) == set(resolve(name).outputs)


@pytest.mark.filterwarnings("error")
def test_published_epsilons_are_held_far_more_rarely_than_claimed_and_nobody_is_warned_in_an_experiment():
    for confidence in (0.1, 0.5, 0.9):
        claimed = steps.at_risk_epsilon(PUBLISHED, confidence)
        assert claimed["held"] == pytest.approx(math.exp(-0.5) * math.sinh(claimed["epsilon"] / 2), abs=1e-9)
        assert claimed["held"] < 0.4 * confidence
        assert steps.at_risk_epsilon(EXACT, confidence)["held"] >= confidence


def test_the_level_for_the_worked_example_is_the_printed_one_as_published_and_epsilon_itself_exactly():
    assert steps.at_risk_level(PUBLISHED, 0.6)["level"] == pytest.approx(0.7973, abs=5e-5)
    assert steps.at_risk_level({**PUBLISHED, "dimensions": 5}, 0.6)["level"] == pytest.approx(0.6712, abs=5e-5)
    assert steps.at_risk_level(EXACT, 0.6) == {"level": 0.4, "gain": 1.0}
    assert steps.at_risk_level(PUBLISHED, 0.2)["gain"] == pytest.approx(10)


@pytest.mark.parametrize(
    ("formula", "value"),
    [("tolerance", 0.9004), ("as-published", 0.7654), ("corrected", 0.7982), ("order-statistic", 0.84994)],
)
def test_what_15000_samples_are_worth(formula, value):
    assert steps.sampling_confidence(formula)["confidence"] == pytest.approx(value, abs=5e-5)


def test_the_combined_confidence_is_an_integral_and_not_theorem_5():
    # Uniform sensitivities up to 1, noise made for 1 at level 1: 0.5 + integral from 0.5 to 1 of e^(-s/2) sinh(1/4).
    exact = 0.5 + 2 * math.sinh(0.25) * (math.exp(-0.25) - math.exp(-0.5))
    sampled = steps.combined_risk({**EXACT, "samples": 40_000}, 0.5, quantile=0.9999)["confidence"]
    assert exact == pytest.approx(0.5870, abs=5e-5)
    assert sampled == pytest.approx(exact, abs=0.01)
    alike = {"samples": 10_000, "least": 0.9, "accuracy": 0.02}
    assert (
        steps.combined_risk({**PUBLISHED, **alike}, 0.5)["confidence"]
        > 3 * (steps.combined_risk({**EXACT, **alike}, 0.5)["confidence"])
    )


def test_the_health_centre_saves_nine_per_cent_and_not_half():
    exact, printed = (steps.cheapest_promise(setting) for setting in (EXACT, PUBLISHED))
    assert (exact["budget"], exact["plain"], printed["budget"]) == (67978.95, 74434.41, 37805.86)
    assert exact["epsilon"] == pytest.approx(0.2858, abs=5e-5)
    assert steps.compensation_budget(EXACT, exact["epsilon"])["budget"] == exact["budget"]


def test_ridge_is_that_of_scikit_learn_for_one_table_and_for_a_stack():
    from sklearn.linear_model import Ridge

    rows = toy()
    known = Ridge(alpha=0.01 * len(rows), fit_intercept=False).fit(rows[:, :-1], rows[:, -1]).coef_
    assert ridge(rows) == pytest.approx(known, abs=1e-9)
    assert ridge(np.stack([rows, rows])) == pytest.approx(np.stack([known, known]), abs=1e-9)


def test_no_pair_of_tables_moves_more_than_is_proven():
    rng = np.random.default_rng(3)
    for _ in range(200):
        size, columns = int(rng.integers(2, 9)), int(rng.integers(1, 4))
        rows = rng.normal(size=(size, columns)) * rng.choice([0.01, 1, 1], size=(size, 1))
        table = np.column_stack(
            [rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1), rng.integers(0, 2, size)]
        )
        other = table.copy()
        other[0] = [*(-table[0, :-1]), 1 - table[0, -1]]
        assert np.abs(ridge(table) - ridge(other)).sum() <= proven_sensitivity(size, columns)


def test_more_noise_makes_more_error_and_none_makes_that_without_privacy():
    rows = toy(2000)
    errors = [steps.ridge_error(rows, level, runs=200, seed=1)["rmse"] for level in (1.0, 10.0, 1e6)]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] == pytest.approx(steps.ridge_error(rows, 1.0, seed=1)["plain_rmse"], rel=1e-6)


def test_a_seed_decides_the_sampled_sensitivities_and_all_lie_below_what_is_proven():
    first, again, other = (steps.ridge_sensitivities(toy(), size=50, pairs=300, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(first["sensitivities"], again["sensitivities"])
    assert not np.array_equal(first["sensitivities"], other["sensitivities"])
    assert first["largest"] < first["proven"]


@pytest.mark.parametrize(
    "call",
    [
        lambda: steps.at_risk_epsilon({"formula": "hoped"}, 0.5),
        lambda: steps.sampling_confidence("hoped"),
        lambda: steps.combined_risk({"formula": "hoped", "samples": 9}, 0.5),
        lambda: steps.sampled_sensitivity({"formula": "hoped"}, [1.0, 2.0], 0.5),
    ],
)
def test_an_unknown_formula_is_refused(call):
    with pytest.raises(ExperimentError, match="must be"):
        call()

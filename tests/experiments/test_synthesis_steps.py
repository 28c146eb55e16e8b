"""Tables 4.2 to 4.5 of document 002: synthetic samples of a population, what they keep and whom they give away."""

import os

import numpy as np
import pyarrow as pa
import pytest

from ziggurat.attacks import Scenario
from ziggurat.data import read
from ziggurat.data.engines import DuckDBEngine
from ziggurat.errors import DataError, ExperimentError
from ziggurat.experiments import Cache, Results, catalogue, draw, expand, load, resolve, run_plan, steps
from ziggurat.experiments.steps.synthesis._risk import CASES, IN, MAYBE, _find, _IntruderSearch
from ziggurat.experiments.steps.synthesis._utility import _Yardstick

NAMES = tuple(f"002-table-4-{table}" for table in ("2", "3", "3-adult", "3-sd2011", "4", "5"))
RULES = {"income": "income > 70000", "age": "age < 26"}
SCENARIO = {
    "known": {"origin": "exact", "income": "same side", "age": {"within": 2}},
    "targets": "origin = '0' AND income > 150000",
}
needs_data = pytest.mark.skipif("ZIGGURAT_DATA" not in os.environ, reason="set ZIGGURAT_DATA")


@pytest.fixture(scope="module")
def people():
    return steps.synthesis_people("invented", rows=800, seed=3)["population"]


@pytest.fixture(scope="module")
def chosen(people):
    return steps.draw_samples(people.num_rows, share=0.25, samples=2, seed=5)["chosen"]


@pytest.fixture(scope="module", params=NAMES)
def quick(request, tmp_path_factory):
    plan = expand(load(catalogue.path(request.param), quick=True))
    return Results(plan.experiment, run_plan(plan, Cache(tmp_path_factory.mktemp("cache")), progress=False))


# The files


def test_a_quick_run_needs_no_data_and_every_figure_of_it_is_drawn(quick):
    assert quick.counts()["done"] == quick.counts()["all"] >= 6
    for figure in quick.experiment.figures:
        assert draw(figure, quick).startswith(b"<?xml")


def test_no_printed_value_is_compared_with_an_invented_population(quick):
    assert all(each.ours is None for each in quick.comparisons())


@pytest.mark.parametrize("name", NAMES)
def test_all_four_methods_are_run_on_five_copies_and_nothing_is_called_private(name):
    experiment = load(catalogue.path(name))
    inside = [module for outer in experiment.modules for module in (outer, *outer.modules)]
    made = [module for module in inside if module.step in ("synthesis-utility", "synthesis-risk", "synthesis-time")]
    assert made
    for module in made:
        assert module.parameters["copies"] == 5
        assert {trial["method"] for trial in module.trials} == {"linear", "cart", "forest", "network"}
    assert "is private" not in experiment.description


@pytest.mark.parametrize(("name", "mean"), [("002-table-4-2", "24.69"), ("002-table-4-3", "-192.21")])
def test_an_overlap_of_one_half_beside_an_impossible_mean_is_called_a_failure(name, mean):
    (failed,) = [
        each
        for each in load(catalogue.path(name)).expected
        if each.metric == "synthesis.age_overlap" and each.where["synthesis.method"] == "linear"
    ]
    assert failed.value == 0.5
    assert "failure" in failed.remark
    assert mean in failed.remark


def test_no_false_matches_without_a_claim_are_called_a_failure_of_the_measure():
    (failed,) = [
        each
        for each in load(catalogue.path("002-table-4-4")).expected
        if each.metric == "rates.false_match_rate" and each.value == 0
    ]
    assert "0 of 0" in failed.remark


@pytest.mark.parametrize("name", ["002-table-4-2", "002-table-4-3"])
def test_samples_of_one_per_cent_are_500_and_what_differs_from_the_document_is_said(name):
    experiment = load(catalogue.path(name))
    sample = next(module for module in experiment.modules if module.id == "sample")
    assert sample.repeats * next(each["samples"] for each in sample.trials if each["share"] == 0.01) == 500
    said = experiment.reproduces.remark
    assert "does not define its normalised KL" in said
    assert ("not replaced (section 3.3.3)" in said) == (name == "002-table-4-2")


def test_a_time_is_said_to_be_a_measurement_of_one_machine():
    expected = load(catalogue.path("002-table-4-5")).expected
    assert len(expected) == 8
    assert all("measurement of one machine" in each.remark for each in expected)


# The populations


@needs_data
@pytest.mark.parametrize(
    ("dataset", "rows", "last", "marked"),
    [
        ("acs2019", 23006, ["income", "age"], ("income", 70000, 0.2335)),
        ("adult_uci", 48842, ["hours", "age"], ("hours", 50, 0.1113)),
        ("sd2011", 5000, ["income", "age"], ("income", 2500, 0.0956)),
    ],
)
def test_a_population_ends_with_the_columns_to_synthesise_and_its_rule_marks_what_is_said(dataset, rows, last, marked):
    made = steps.synthesis_people(dataset)
    column, above, share = marked
    assert made["people"] == made["population"].num_rows == rows
    assert made["population"].column_names[-2:] == last
    values = made["population"][column].cast("float64").to_numpy()
    assert np.mean(values > above) == pytest.approx(share, abs=5e-5)


def test_samples_are_without_replacement_and_decided_by_the_seed():
    first, again, other = (steps.draw_samples(1000, share=0.1, samples=3, seed=seed)["chosen"] for seed in (1, 1, 2))
    assert first.shape == (3, 100)
    assert all(len(set(rows)) == 100 for rows in first.tolist())
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("share", [0.0, 1.5])
def test_samples_of_nobody_or_of_more_than_everybody_are_refused(share):
    with pytest.raises(ExperimentError, match="change it"):
        steps.draw_samples(100, share=share)


def test_an_unknown_population_suggests_the_nearest():
    with pytest.raises(DataError, match="did you mean 'sd2011'"):
        steps.synthesis_people("sd2012")


# Utility


@pytest.mark.parametrize("kind", ["partially", "fully"])
def test_copies_keep_the_means_and_a_seed_decides_them(people, chosen, kind):
    first, again = (
        steps.synthesis_utility(people, chosen, method="cart", kind=kind, partial=RULES, copies=3, seed=2)
        for _ in range(2)
    )
    assert first == again
    assert 0.7 < first["income_ratio"] < 1.4
    assert 0.9 < first["age_ratio"] < 1.1
    assert all(0 <= first[f"{name}_{what}"] <= 1 for name in RULES for what in ("overlap", "kl", "covered"))


def test_cells_hold_the_same_number_of_people_and_the_population_is_at_distance_0_from_itself(people):
    yardstick = _Yardstick(people, "income", ())
    assert yardstick.kl(people) == pytest.approx(1)
    assert set(yardstick._counts.tolist()) == {800 // 20}
    shifted = people.set_column(4, "income", pa.array(people["income"].to_numpy() * 3))
    assert yardstick.kl(shifted) < 0.9


def test_codes_for_missing_and_empty_cells_count_neither_for_means_nor_for_distributions():
    table = pa.table({"income": pa.array([-8.0, None, 10.0, 20.0])})
    assert _Yardstick(table, "income", [-8]).values(table).tolist() == [10, 20]
    assert _Yardstick(table, "income", [-8]).mean == 15


def test_missing_codes_are_synthesised_and_left_out(people):
    income = np.where(np.arange(people.num_rows) % 5 == 0, -8, people["income"].to_numpy())
    table = people.set_column(4, "income", pa.array(income))
    rows = steps.draw_samples(table.num_rows, share=0.5, samples=1)["chosen"]
    found = steps.synthesis_utility(table, rows, kind="fully", copies=2, missing={"income": [-8]})
    real = income[rows[0]]
    assert found["income_original_mean"] == pytest.approx(real[real != -8].mean())
    assert found["income_synthetic_mean"] > 0.6 * found["income_original_mean"]


@pytest.mark.parametrize(
    ("setting", "words"), [({"kind": "halfway"}, "'kind' must be"), ({"partial": {"age": "age < 26"}}, "each column")]
)
def test_what_cannot_be_synthesised_is_refused(people, chosen, setting, words):
    with pytest.raises(ExperimentError, match=words):
        steps.synthesis_utility(people, chosen, **setting)


# Time


def test_the_time_is_that_of_one_synthesis(people, chosen):
    assert 0 < steps.synthesis_time(people, chosen, method="linear", kind="fully", copies=2)["seconds"] < 60


# Risk


def by_hand(people, rows, copies, targets):
    """Equations 4.2 and 4.3 as they are printed, for the targets among everybody."""
    claims = right = 0
    for target in targets:
        chances = np.zeros(len(rows))
        for copy in copies:
            age = np.abs(copy["age"].to_numpy() - people["age"].to_numpy()[target]) <= 2
            match = age & (copy["income"].to_numpy() > 150000) & (copy["origin"].to_numpy() == "0")
            chances += match / max(match.sum(), 1) / len(copies)
        best = np.flatnonzero(np.isclose(chances, chances.max())) if chances.max() > 0 else []
        claims += len(best) == 1
        right += len(best) == 1 and rows[best[0]] == target
    return claims, right


def test_claims_are_those_of_the_printed_equations_for_targets_inside_and_outside_of_the_sample(people, chosen):
    wanted = (people["origin"].to_numpy() == "0") & (people["income"].to_numpy() > 150000)
    rows, draws = chosen[0], np.random.default_rng(4)
    sample = people.take(rows)
    noise = draws.uniform(0.5, 1.5, (3, len(rows)))
    incomes = [(sample["income"].to_numpy() * each).astype(np.int64) for each in noise]
    noisy = [sample.set_column(4, "income", pa.array(each)) for each in incomes]
    engine = DuckDBEngine()
    search = _IntruderSearch(people, rows, noisy, Scenario(**SCENARIO), "income", engine)
    found = _find(search, wanted, read(people.select(["origin", "income", "age"]), engine=engine))
    everybody = np.flatnonzero(wanted)
    inside = [target for target in everybody if target in set(rows.tolist())]
    for case, targets in ((IN, inside), (MAYBE, everybody)):
        claims, right = by_hand(people, rows, noisy, targets)
        assert [found[case][name] for name in ("targets", "claims", "right")] == [len(targets), claims, right]
    assert 0 < found[IN]["right"] == found[MAYBE]["right"]
    assert found[MAYBE]["claims"] > found[IN]["claims"]


def test_a_sample_without_targets_adds_none(people):
    poor = np.flatnonzero(people["income"].to_numpy() < 150000)[:150]
    some = poor[people["income"].to_numpy()[poor] > 70000].size
    found = steps.synthesis_risk(people, poor[None], SCENARIO, partial=RULES, copies=2)["counts"]
    assert some
    assert found[IN] == dict.fromkeys(("targets", "claims", "right", "expected"), 0.0)
    assert found[MAYBE]["targets"] > 0


def test_rates_are_of_all_samples_of_a_method_together():
    def run(method, right, claims, targets):
        one = {"targets": targets, "claims": claims, "right": right, "expected": 1.0}
        return {"parameters": {"synthesis.method": method}, "repeats": {}, "value": dict.fromkeys(CASES, one)}

    counts = [run("cart", 1, 2, 4), run("cart", 2, 6, 6), run("linear", 0, 0, 3)]
    cart, linear = (steps.match_rates(counts, method, IN) for method in ("cart", "linear"))
    assert (cart["true_match_rate"], cart["false_match_rate"], cart["expected_rate"]) == (0.3, 0.625, 0.2)
    assert (linear["true_match_rate"], linear["false_match_rate"], linear["claims"]) == (0, 0, 0)
    for method, case in (("cart", "never"), ("forest", IN)):
        with pytest.raises(ExperimentError, match="must be one of"):
            steps.match_rates(counts, method, case)


def test_a_scenario_without_targets_is_refused(people, chosen):
    with pytest.raises(ExperimentError, match="who the targets are"):
        steps.synthesis_risk(people, chosen, {"known": SCENARIO["known"], "targets": None}, partial=RULES)


def test_every_step_returns_what_it_declares(people, chosen):
    made = {
        "synthesis-people": steps.synthesis_people("invented", rows=10),
        "draw-samples": steps.draw_samples(100, share=0.1),
        "synthesis-risk": steps.synthesis_risk(people, chosen[:1], SCENARIO, partial=RULES, copies=2),
        "synthesis-time": steps.synthesis_time(people, chosen, partial=RULES, copies=2),
    }
    for name, outputs in made.items():
        assert set(outputs) == set(resolve(name).outputs)

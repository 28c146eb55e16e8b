"""The case studies as experiment files: they run without any data, and say what is printed beside ours."""

import pytest

from ziggurat.cli.experiments import catalogue_table
from ziggurat.experiments import Cache, Results, catalogue, draw, expand, load, run_plan

NAMES = ("digits", "heartbeats", "web-requests")
RHOS = [0.1, 0.3, 0.5, 0.7, 0.9, 1, "none"]
SCALES = {0.001, 0.01, 0.1, 0.5, 1, 5, 10, 50, 100, "none"}


def modules(name):
    waiting = list(load(catalogue.path(name)).modules)
    while waiting:
        found = waiting.pop()
        yield found
        waiting += found.modules


def module(name, wanted):
    return next(each for each in modules(name) if each.id == wanted)


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("digits", "web-requests")]


@pytest.fixture(scope="module", params=["heartbeats", *SLOW])
def quick(request, tmp_path_factory):
    plan = expand(load(catalogue.path(request.param), quick=True))
    return Results(plan.experiment, run_plan(plan, Cache(tmp_path_factory.mktemp("cache")), progress=False))


def test_a_quick_run_needs_no_data_and_no_run_of_it_fails(quick):
    assert quick.counts()["done"] == quick.counts()["all"] > 20
    assert all(value is not None for value in quick.summary()["median"].to_pylist())


def test_every_figure_of_a_quick_run_is_drawn_with_its_reference_line(quick):
    for figure in quick.experiment.figures:
        picture = draw(figure, quick)
        assert (b"#c1121f" in picture) == (figure.reference is not None)


def test_toy_data_are_compared_with_nothing_that_is_printed(quick):
    assert quick.comparisons()
    assert all(each.ours is None for each in quick.comparisons())


def test_the_case_studies_stand_in_the_list_under_their_documents():
    listed = {document: [entry.name for entry in group] for document, group in catalogue.entries().items()}
    assert {"heartbeats", "web-requests"} <= set(listed["001"])
    assert "digits" in listed["004"]
    table = catalogue_table(catalogue.entries())
    assert set(NAMES) <= {str(cell) for cell in table.columns[1].cells}


def test_web_requests_repeats_the_published_trials():
    (data,) = load(catalogue.path("web-requests")).modules[:1]
    assert (data.parameters["tokens"], data.parameters["validation_rows"]) == (500, 5000)
    ensemble, labels, scales = (module("web-requests", name) for name in ("ensemble", "labels", "labels-by-scale"))
    assert [trial["teachers"] for trial in ensemble.trials] == [100, 250]
    assert ensemble.parameters["hidden"] == [512, 128]
    assert [trial["rho"] for trial in labels.trials] == RHOS
    assert {trial["scale"] for trial in scales.trials} >= SCALES
    assert labels.repeats == scales.repeats == 10
    assert labels.parameters["queries"] - labels.modules[0].parameters["threshold_rows"] == 1000


def test_every_row_of_table_4_2_is_expected():
    expected = load(catalogue.path("web-requests")).expected
    rows = [each.where for each in expected if "labels-by-scale.scale" in each.where]
    assert len(rows) == 60
    assert {each["labels-by-scale.scale"] for each in rows} == SCALES
    assert {each["ensemble.teachers"] for each in rows} == {100, 250}


def test_heartbeats_repeats_the_published_trials():
    ensemble, labels = (module("heartbeats", name) for name in ("ensemble", "labels"))
    assert [trial["teachers"] for trial in ensemble.trials] == [200]
    assert [trial["rho"] for trial in labels.trials] == RHOS
    assert (labels.parameters["queries"], labels.parameters["delta"], labels.repeats) == (900, 1e-6, 10)
    printed = [each for each in load(catalogue.path("heartbeats")).expected if "labels.rho" in each.where]
    assert [each.where["labels.rho"] for each in printed] == RHOS


def test_digits_repeats_both_papers():
    for name, gamma in (("laplace-20", "0.05"), ("laplace-10", "0.1")):
        found = module("digits", name)
        assert found.parameters["options"] == {"gamma": gamma}
        assert [trial["queries"] for trial in found.trials] == [100, 1000]
    assert module("digits", "confident").parameters["options"] == {"threshold": 200, "sigma1": 150, "sigma2": 40}
    assert module("digits", "ensemble").parameters["teachers"] == 250


@pytest.mark.parametrize("name", NAMES)
def test_a_number_that_depends_on_the_votes_says_so_in_its_name(name):
    labellers = [each for each in modules(name) if each.step == "label-queries"]
    assert labellers
    for each in labellers:
        epsilons = {metric for metric in each.metrics if metric.startswith("epsilon")}
        private = {"epsilon_dependent_private", "epsilon_exact_private"}
        assert epsilons == private | {"epsilon_published", "epsilon_record"}

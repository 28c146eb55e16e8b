"""The shipped experiments: they load, they plan, they say where what they repeat is printed, and the small ones run."""

import json

import jsonschema
import pytest

from ziggurat.errors import ExperimentError
from ziggurat.experiments import Cache, Results, catalogue, expand, load, run_plan, schema_text

EXAMPLES = ("000-fig-5-2", "000-fig-5-2-torch", "000-fig-5-2-keras")
CASE_STUDIES = ("digits", "heartbeats", "web-requests")
GOLDEN = {
    ("sigma", "sigma", "exact"): 3.730631634815942,
    ("sigma", "sigma", "as-printed"): 4.844805262605389,
    ("exponential", "probability", 1): 0.13256042591339773,
    ("exponential", "probability", 0.001): 0.9999999965466055,
}


def ran(name, folder):
    plan = expand(load(catalogue.path(name), quick=True))
    return Results(plan.experiment, run_plan(plan, Cache(folder), progress=False))


@pytest.mark.parametrize("name", catalogue.names())
@pytest.mark.parametrize("quick", [True, False])
def test_every_shipped_experiment_loads_plans_and_is_named_after_its_file(name, quick):
    experiment = load(catalogue.path(name), quick=quick)
    assert experiment.name == name
    assert name in CASE_STUDIES or name.startswith(experiment.reproduces.document)
    assert experiment.title
    assert expand(experiment).nodes


@pytest.mark.parametrize("name", catalogue.names())
def test_every_shipped_experiment_fits_the_published_schema(name):
    jsonschema.validate(json.loads(catalogue.path(name).read_text()), json.loads(schema_text()))


def test_the_catalogue_is_grouped_by_document():
    groups = catalogue.entries()
    assert list(groups) == sorted(groups)
    assert {entry.name for group in groups.values() for entry in group} == set(catalogue.names())
    assert {entry.where for entry in groups["000"] if entry.name in EXAMPLES} == {"figure 5.2"}


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(ExperimentError, match="did you mean '000-fig-5-2'"):
        catalogue.path("000-fig-52")


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_has_the_structure_of_the_figure(name):
    prepare, control, generator = load(catalogue.path(name)).modules
    (private,) = generator.modules
    assert len(private.trials) == 2
    assert [each.id for each in private.modules] == ["again", "against-original", "similarity"]
    assert private.modules[0].step == control.step
    assert prepare.step == "prepare-data"


def test_the_variants_differ_in_their_steps_alone():
    first, *others = (load(catalogue.path(name)) for name in EXAMPLES)
    for other in others:
        assert [each.id for each in first.modules] == [each.id for each in other.modules]
        assert first.modules[0] == other.modules[0]
        assert first.figures == other.figures
    assert not first.expected


def test_the_formulas_of_003_come_out_as_computed_elsewhere(tmp_path):
    rows = ran("003-mechanisms", tmp_path).table().to_pylist()
    for (module, metric, value), golden in GOLDEN.items():
        (found,) = [
            row["value"]
            for row in rows
            if row["module"] == module
            and row["metric"] == metric
            and value in (row["sigma.formula"], row["exponential.sensitivity"])
            and row["sigma.epsilon"] in (1, None)
        ]
        assert found == pytest.approx(golden, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "reproduced"),
    [
        ("000-loss-and-delta", [False, False, False, True, True]),
        ("002-parallel-composition", [False, True, True]),
        ("003-mechanisms", [True, False, *[True] * 8, False, True, False, False]),
    ],
)
def test_the_report_will_say_reproduced_where_the_document_is_right_and_differs_where_not(name, reproduced, tmp_path):
    compared = ran(name, tmp_path).comparisons()
    assert [each.reproduced for each in compared] == reproduced
    assert all(each.ours is not None and each.expected.remark for each in compared)

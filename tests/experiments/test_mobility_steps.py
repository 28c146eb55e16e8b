"""The steps for mobility, and the figures of chapter 5 and appendix A of document 002 in small."""

import json

import numpy as np
import pytest

from ziggurat.errors import ExperimentError
from ziggurat.experiments import Cache, Figure, NodeRecord, Results, catalogue, draw, expand, load, run_plan, steps
from ziggurat.experiments.steps.mobility._data import pack, unpack

FIGURES = ("002-fig-5-3", "002-fig-5-4", *(f"002-fig-a-{number}" for number in range(1, 9)))


@pytest.fixture(scope="module")
def city():
    return steps.mobility_data("invented", people=120, held_out=0.5, seed=2)


@pytest.fixture(scope="module")
def found(city):
    return steps.find_communities(city["train"], "stlda", communities=3, iterations=30, chains=1, seed=1)


@pytest.fixture(scope="module")
def drawn(city, found):
    return steps.walk_communities(city["train"], found["model"], found["memberships"], count=50, length=4, seed=1)


def test_people_are_dealt_into_two_parts(city):
    train, held_out = unpack(city["train"]), unpack(city["held_out"])
    assert len(train) == len(held_out) == city["people"] // 2
    assert not set(train.owners.tolist()) & set(held_out.owners.tolist())
    assert len(train.codes) + len(held_out.codes) == city["visits"]
    assert len(json.dumps(city["behind"])) < 4096  # else it would not stand in the record of the run


def test_weekdays_and_weekends_are_all_visits():
    whole, *parts = (
        steps.mobility_data("invented", days=days, people=40, seed=2) for days in ("all", "weekdays", "weekends")
    )
    assert whole["visits"] == sum(part["visits"] for part in parts)
    assert set((unpack(parts[1]["train"]).minutes // 1440 % 7).tolist()) == {5, 6}
    with pytest.raises(ExperimentError, match="weekdays"):
        steps.mobility_data("invented", days="sundays")
    with pytest.raises(ExperimentError, match="no dataset"):
        steps.mobility_data("ez-link")


@pytest.mark.data
def test_the_visits_of_foursquare_are_those_of_the_document():
    found = steps.mobility_data("foursquare_nyc")
    assert (found["people"], found["places"], found["visits"]) == (1083, 5135, 147_938)
    assert found["held_out"]["codes"].size == 0


def test_commuters_may_mix_communities_have_twins_and_visit_little():
    size = {"communities": 4, "members": 50, "locations": 200, "seed": 3}
    plain = steps.commuter_data(**size)
    assert (plain["mix"].max(axis=1) == 1).all()
    mixed = steps.commuter_data(overlap=0.5, **size)["mix"]
    assert 0.4 < np.mean(mixed.max(axis=1) < 1) <= 0.5  # those with one visit mix nothing
    assert mixed.shape == plain["mix"].shape
    assert (mixed[plain["mix"] == 1] >= 0.5).all()  # at least every other visit is made at home
    assert np.diff(steps.commuter_data(visits=3, **size)["train"]["offsets"]).max() == 3
    places = unpack(steps.commuter_data(twins=True, theta=2, **size)["train"])
    who = np.repeat(np.arange(4).repeat(50), places.lengths)
    first, second, other = (np.bincount(places.codes[who == code]).argmax() for code in (0, 1, 2))
    assert first == second != other
    with pytest.raises(ExperimentError, match="in pairs"):
        steps.commuter_data(twins=True, overlap=0.5, **size)


def test_found_communities_are_judged_by_the_best_match():
    mix = np.eye(3)[[0, 0, 1, 1, 2, 2]]
    found = np.eye(4)[[2, 2, 0, 0, 1, 3]]
    judged = steps.judge_communities(mix, found)
    assert judged["accuracy"] == pytest.approx(5 / 6)
    assert judged["worst_jaccard"] == pytest.approx(0.5)
    assert judged["mixing_error"] == pytest.approx(1 / 6)
    assert judged["jaccards"].shape == (3, 4)
    cells = {name: judged[name] for name in ("jaccards", "people")}
    assert steps.confusion_cell(**cells, planted=0, found=0) == {"jaccard": 1.0, "people": 2.0}
    assert steps.confusion_cell(**cells, planted=0, found=9) == {"jaccard": 0.0, "people": 0.0}


def test_fewer_found_than_planted_communities_leave_some_without_a_match():
    judged = steps.judge_communities(np.eye(3)[[0, 1, 2]], np.eye(2)[[0, 1, 1]])
    assert judged["worst_jaccard"] == 0
    assert judged["accuracy"] == pytest.approx(2 / 3)


def test_louvain_finds_skewed_communities_without_being_told_how_many():
    pytest.importorskip("igraph")
    made = steps.commuter_data(2.0, communities=3, members=40, locations=100, seed=4)
    found = steps.find_communities(made["train"], "louvain", seed=1)
    assert steps.judge_communities(made["mix"], found["memberships"])["accuracy"] > 0.9
    graph = steps.commuter_graph(made["train"])
    assert 0.2 < graph["density"] < 1
    with pytest.raises(ExperimentError, match="louvain"):
        steps.find_communities(made["train"], "lda")


def test_walks_are_timed_if_the_model_is_and_say_who_is_in_no_community(drawn):
    walks = unpack(drawn["walks"])
    assert len(walks) == 150
    assert walks.minutes.max() < 1440
    assert drawn["community"].tolist() == np.repeat([0, 1, 2], 50).tolist()


def test_copies_of_records_have_a_low_average_and_are_caught_by_the_nearest_record(city):
    """What figure 5.3 measures cannot tell a copy from anything else; the nearest record can."""
    learned, other = unpack(city["train"]), unpack(city["held_out"])
    copied = {name: pack(part.take_first(4)) for name, part in (("copy", learned), ("fresh", other))}
    judged = {
        name: steps.compare_walks(walks, np.zeros(60, int), city["train"], city["held_out"], topic=0, bins=10)
        for name, walks in copied.items()
    }
    assert min(each["below_fifth"] for each in judged.values()) > 0.8
    assert judged["copy"]["closer"] > 0.9
    assert judged["fresh"]["closer"] < 0.1
    assert judged["copy"]["one_person"] > judged["fresh"]["one_person"]
    shares = [steps.similarity_bin(judged["copy"]["histogram"], below=end / 10)["share"] for end in range(1, 11)]
    assert sum(shares) == pytest.approx(1)


def test_walks_come_closer_to_those_they_were_made_from(city, drawn):
    parts = {name: city[name] for name in ("train", "held_out")}
    found = steps.closest_walks(drawn["walks"], **parts, records="days", distance="edit", most=60, seed=1)
    assert found["closer"] > 0.6
    assert found["median_learned"] <= found["median_control"]
    assert "closest to people learned from" in found["sentence"]


def test_topics_have_places_on_the_map_and_hours_on_the_clock(city, found):
    own = {"train": city["train"], "model": found["model"]}
    ranks = [steps.top_place(**own, topic=1, rank=rank) for rank in range(3)]
    assert [each["probability"] for each in ranks] == sorted((each["probability"] for each in ranks), reverse=True)
    west, south, east, north = city["behind"]["box"]
    assert all(west <= each["longitude"] <= east and south <= each["latitude"] <= north for each in ranks)
    spread = steps.topic_spread(**own, topic=1)
    assert 0 < spread["spread"] < 12
    for topic in (0, "all"):
        assert sum(steps.hour_share(**own, topic=topic, hour=hour)["share"] for hour in range(24)) == pytest.approx(
            100, abs=1.2
        )
    described = steps.topic_hours(**own, memberships=found["memberships"], topic=0)
    assert 0 <= described["unlike"] <= 1
    assert described["morning"] < 13 <= described["evening"]


def test_a_trajectory_is_classified_by_the_rule_that_is_named(city, found, drawn):
    own = {"walks": drawn["walks"], "community": drawn["community"], "model": found["model"]}
    rates = {rule: steps.classify_walks(**own, topic=0, classifier=rule) for rule in ("likelihood", "inner-product")}
    assert 0.3 < rates["likelihood"]["accuracy"] <= 1


@pytest.mark.parametrize("name", FIGURES)
def test_each_figure_says_what_is_printed_and_where(name):
    experiment = load(catalogue.path(name))
    assert experiment.reproduces.where == f"figure {name.removeprefix('002-fig-').replace('-', '.').upper()}"
    assert "rinted" in experiment.reproduces.remark


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_a_quick_run_needs_no_data_and_draws_its_figures(name, tmp_path, monkeypatch):
    pytest.importorskip("igraph")
    monkeypatch.delenv("ZIGGURAT_DATA", raising=False)
    plan = expand(load(catalogue.path(name), quick=True))
    results = Results(plan.experiment, run_plan(plan, Cache(tmp_path), progress=False))
    assert results.counts()["done"] == results.counts()["all"]
    for figure in results.experiment.figures:
        assert draw(figure, results).startswith(b"<?xml")


def test_a_map_has_a_panel_for_each_series_and_needs_nothing_behind_it():
    figure = Figure("m", "map", "place.longitude", "place.latitude", series="place.topic")
    record = {"status": "done", "cached": False, "started": "", "seconds": 0.0, "error": None, "outputs": {}, "key": ""}
    records = [
        NodeRecord(f"place[topic={topic}]#0", "place", {"place.topic": topic}, {}, None,
                   metrics={"longitude": 10.0 + topic, "latitude": 50.0}, **record)
        for topic in range(6)
    ]  # fmt: skip
    experiment = load(catalogue.path("002-fig-a-1"))
    picture = draw(figure, Results(experiment, records)).decode()
    assert all(f"topic {topic}" in picture for topic in range(6))


def test_only_a_map_has_something_behind_it_and_that_must_be_somebodys():
    held = json.loads(catalogue.path("002-fig-a-1").read_text())
    held["figures"][0]["behind"] = "nobody.behind"
    with pytest.raises(ExperimentError, match="no module 'nobody'"):
        load(json.dumps(held))
    held["figures"][0] |= {"behind": "data.behind", "kind": "scatter"}
    with pytest.raises(ExperimentError, match="Only a map"):
        load(json.dumps(held))

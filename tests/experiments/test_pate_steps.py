"""The steps of the case studies: whose rows go where, what leaves the student, what labels cost, what is learned."""

import math
import os

import numpy as np
import pytest

from ziggurat.errors import DataError, ExperimentError, ParameterError
from ziggurat.experiments import resolve, steps
from ziggurat.experiments.steps.cases import _web_requests, cut_parts
from ziggurat.experiments.steps.voting import _labelling, _pate
from ziggurat.pate import LaplaceNoisyMax, Votes
from ziggurat.privacy import compose, event_from_dict
from ziggurat.randomness import seeded

PARTS = ("teacher", "pool", "validation")
needs_data = pytest.mark.skipif("ZIGGURAT_DATA" not in os.environ, reason="set ZIGGURAT_DATA")
QUICKLY = {"epochs": 20, "batch": 16, "held_out": 0, "learning_rate": 0.01}


def web(**changes):
    sizes = {"public_rows": 300, "tokens": 60, "teacher_rows": 2000, "pool_rows": 500, "validation_rows": 400}
    return steps.web_request_data(**{"dataset": "invented", "malicious_share": 0.3, **sizes, "seed": 1, **changes})


def pool(data):
    return {name: data[name] for name in ("pool_features", "pool_labels", "classes")}


def judged(data):
    return {name: data[name] for name in ("validation_features", "validation_labels")}


@pytest.fixture(scope="module")
def requests():
    return web()


@pytest.fixture(scope="module")
def trained(requests):
    own = {name: requests[name] for name in ("teacher_features", "teacher_labels", "classes")}
    return steps.train_teachers(**own, **judged(requests), teachers=20, hidden=[16], training=QUICKLY, seed=2)


def labelled(requests, trained, **changes):
    given = {"queries": 300, "options": {"gamma": "0.5"}, "seed": 3, **changes}
    return steps.label_queries(trained["ensemble"], **pool(requests), **given)


def taught(requests, answers, **changes):
    given = {name: answers[name] for name in ("rows", "sent", "labels", "event")}
    settings = {"hidden": [16], "training": QUICKLY, "threshold_rows": 100, "seed": 4, **changes}
    return steps.train_student(**given, **pool(requests), **judged(requests), **settings)


# Data


def test_every_step_returns_what_it_declares(requests, trained):
    answers = labelled(requests, trained)
    made = {
        "web-request-data": requests,
        "heartbeat-data": steps.heartbeat_data("invented", teacher_rows=100, pool_rows=50, validation_rows=50),
        "digit-data": steps.digit_data("invented", teacher_rows=100, pool_rows=50, validation_rows=50),
        "train-teachers": trained,
        "label-queries": answers,
        "label-votes": steps.label_votes("invented", queries=20),
        "train-student": taught(requests, answers),
    }
    for name, outputs in made.items():
        assert set(outputs) == set(resolve(name).outputs)


def test_requests_are_vectors_of_norm_one_and_a_seed_decides_them(requests):
    for part in PARTS:
        norms = np.abs(requests[f"{part}_features"]).sum(axis=1)
        assert np.all(np.isclose(norms, 1, atol=1e-5) | (norms == 0))
        assert requests[f"{part}_features"].dtype == np.float32
    assert np.array_equal(web()["pool_features"], requests["pool_features"])
    assert not np.array_equal(web(seed=2)["pool_features"], requests["pool_features"])
    assert requests["origin"] == "invented"


def test_the_weights_are_logarithms_of_inverse_frequencies_in_the_public_sample_alone():
    words = _web_requests._Vocabulary(["/a?x=1", "/a/b", "/b"], 10)
    assert words.names == ["/", "1", "=", "?", "a", "b", "x"]
    (row,) = words.vectors(["/a/b/b/unheard-of"])
    shares = np.array([4 * math.log(3 / 3), 1 * math.log(3 / 2), 2 * math.log(3 / 2)])
    assert row[[0, 4, 5]] == pytest.approx(shares / shares.sum(), abs=1e-6)
    assert row[[1, 2, 3, 6, 7, 8, 9]].tolist() == [0] * 7


def test_requests_are_mixed_as_the_share_says_and_parts_that_do_not_fit_are_refused():
    urls = [f"/{number}" for number in range(1000)]
    labels = (np.arange(1000) < 300).astype(np.int64)
    mixed, chosen = _web_requests._mix(urls, labels, 0.05, 1)
    assert (len(mixed), int(chosen.sum())) == (736, 37)
    assert len(set(mixed)) == 736
    with pytest.raises(DataError, match="Every part needs rows; raise teacher"):
        steps.digit_data("invented", teacher_rows=0)
    with pytest.raises(DataError, match="The parts need 5 rows and there are 4; ask for fewer"):
        cut_parts(np.arange(4), {"teacher": 3, "pool": 2})
    with pytest.raises(DataError, match="'malicious_share' must lie between 0 and 1"):
        web(malicious_share=1)


@needs_data
def test_no_url_stands_twice_or_with_both_labels():
    urls, labels = _web_requests._distinct("web_requests", ("csic2010", "fwaf"))
    assert len(set(urls)) == len(urls) == len(labels)
    assert np.bincount(labels).tolist() == [116771, 53125]


@needs_data
def test_the_digits_are_divided_as_in_the_papers():
    data = steps.digit_data(teacher_rows=600)
    assert data["pool_labels"].shape == (9000,)
    assert data["pool_labels"][:3].tolist() == [7, 2, 1]
    assert data["validation_labels"].shape == (1000,)
    assert data["teacher_labels"][:3].tolist() == [5, 0, 4]


def test_all_beats_of_a_patient_stay_in_one_part_and_with_one_teacher():
    sizes = {"teacher_rows": 1500, "pool_rows": 200, "validation_rows": 200}
    data = steps.heartbeat_data("invented", unit="patient", **sizes, seed=1)
    units = np.array(data["teacher_units"])
    assert len(np.unique(units)) == 40
    partition = _pate._partition(len(units), 40, data["teacher_units"], 0)
    assert partition.spread(units) == 1
    with pytest.raises(ParameterError, match="use at most 40 teachers"):
        _pate._partition(len(units), 41, data["teacher_units"], 0)
    with pytest.raises(DataError, match="'unit' must be 'row' or 'patient'"):
        steps.heartbeat_data("invented", unit="beat", **sizes)


def test_beats_have_the_norm_asked_for():
    sizes = {"teacher_rows": 100, "pool_rows": 50, "validation_rows": 50}
    for norm in (1.0, 187.0):
        data = steps.heartbeat_data("invented", **sizes, norm=norm)
        assert np.abs(data["pool_features"]).sum(axis=1) == pytest.approx(norm, rel=1e-5)
        assert data["norm"] == norm


# Teachers


def test_teachers_come_back_from_their_artefact_as_they_were(requests, trained):
    first, again = (_pate.unpack_teachers(trained["ensemble"]).predict(requests["pool_features"]) for _ in range(2))
    assert first.shape == (20, 500)
    assert np.array_equal(first, again)
    assert all(isinstance(content, bytes) for content in trained["ensemble"].values())
    assert len(trained["manifest"]["teachers"]) == 20
    assert trained["ensemble_accuracy"] >= trained["teacher_accuracy"] > 0.8
    assert trained["rows_per_teacher"] == 100


# The student's own rows


@pytest.mark.parametrize(("how", "epsilon"), [({"rho": 0.1}, 0.2), ({"scale": 0.001}, 2000), ({"scale": "10"}, 0.2)])
def test_a_row_is_promised_twice_rho_or_two_over_the_scale(requests, trained, how, epsilon):
    assert labelled(requests, trained, **how)["student_epsilon"] == epsilon


@pytest.mark.statistical
def test_the_noise_on_a_row_has_the_stated_scale(requests, trained):
    made = labelled(requests, trained, rho=0.5)
    noise = np.abs(made["sent"] - requests["pool_features"][made["rows"]])
    # The mean of 18,000 magnitudes of scale 2 errs by 0.015; 6 of these are a false alarm below 1e-8.
    error = 2 / math.sqrt(noise.size)
    assert abs(noise.mean() - 2) < 6 * error
    assert min(abs(noise.mean() - wrong) for wrong in (1.9, 2.1)) > 3 * error


def test_without_noise_rows_leave_as_they_are_and_nothing_is_promised(requests, trained):
    made = labelled(requests, trained)
    assert np.array_equal(made["sent"], requests["pool_features"][made["rows"]])
    assert made["student_epsilon"] is None
    assert len(set(made["rows"].tolist())) == 300
    with pytest.raises(ExperimentError, match="'rho' or 'scale', not both"):
        labelled(requests, trained, rho=1, scale=1)
    with pytest.raises(ExperimentError, match="between 1 and the 500 rows"):
        labelled(requests, trained, queries=501)


def test_labels_of_well_protected_rows_are_hardly_better_than_a_coin(requests, trained):
    # A label is a function of an epsilon-DP report: true less false positive rate is at most tanh(epsilon/2), here
    # 0.1. The rates of 300 rows err by about 0.06 each.
    clear, hidden = labelled(requests, trained), labelled(requests, trained, rho=0.1)
    assert clear["label_balanced_accuracy"] > 0.9
    assert hidden["label_balanced_accuracy"] < 0.5 + math.tanh(0.1) / 2 + 0.1
    assert hidden["ensemble_balanced_accuracy"] < 0.5 + math.tanh(0.1) / 2 + 0.1


# Costs


@pytest.mark.parametrize(
    ("queries", "classes", "delta", "independent", "plateau"),
    [(1200, 2, "1e-5", 22.6226, 23.5129), (900, 5, "1e-6", 20.2696, 20.4078), (1000, 2, "1e-5", 20.1743, 20.7565)],
)
def test_queries_without_a_majority_cost_the_plateaus_of_the_documents(queries, classes, delta, independent, plateau):
    votes = Votes(np.full((queries, classes), 200 // classes))
    rule = LaplaceNoisyMax("0.05")
    told = _labelling.tell_accuracy(
        rule, votes, rule.release(votes, seeded(0)), np.zeros(queries, dtype=np.int64), delta
    )
    assert told["epsilon_published"] == pytest.approx(independent, abs=1e-4)
    assert told["epsilon_dependent_private"] == pytest.approx(plateau, abs=1e-4)
    assert told["epsilon_exact_private"] <= told["epsilon_record"] < told["epsilon_published"]


def test_the_event_proves_the_tight_epsilon_of_all_queries(requests, trained):
    made = labelled(requests, trained, aggregator="gumbel")
    proven = compose(event_from_dict(made["event"])).approximate("1e-5")
    assert float(proven.epsilon) == pytest.approx(made["epsilon_record"], rel=1e-6)
    assert made["answered"] == 300


def test_an_unknown_aggregator_or_option_is_refused_in_words():
    with pytest.raises(ExperimentError, match="did you mean 'laplace'"):
        _labelling.aggregator_of("laplase", {})
    with pytest.raises(ExperimentError, match="are not those it takes"):
        _labelling.aggregator_of("laplace", {"sigma": 1})


def test_balanced_accuracy_is_chance_for_one_class_named_always():
    truth = np.array([0] * 80 + [1] * 15 + [2] * 5)
    named = np.zeros(100, dtype=np.int64)
    assert _labelling.accuracy(named, truth) == 0.8
    assert _labelling.balanced_accuracy(named, truth) == pytest.approx(1 / 3)
    assert _labelling.accuracy(named[:0], truth[:0]) == _labelling.balanced_accuracy(named[:0], truth[:0]) == 0


@needs_data
def test_the_authors_votes_of_2018_cost_what_their_code_says_and_half_of_it_exactly():
    made = steps.label_votes(seed=1)
    assert made["epsilon_expected_published"] == pytest.approx(1.999, abs=2e-3)
    assert made["epsilon_expected_exact"] == pytest.approx(0.946, abs=1e-3)
    assert made["label_accuracy"] > 0.9


@needs_data
def test_the_student_of_2017_cost_what_is_printed_with_moments_up_to_eight():
    asked = {"queries": "student-2017", "aggregator": "laplace", "options": {"gamma": "0.1"}}
    made = steps.label_votes(**asked, moments=8, seed=1)
    assert made["epsilon_dependent_private"] == pytest.approx(2.0486, abs=1e-3)
    assert made["epsilon_expected_published"] == pytest.approx(1.4079, abs=1e-3)
    assert made["epsilon_exact_private"] == pytest.approx(0.795, abs=1e-3)


# The student


def test_a_student_of_good_labels_is_good_and_is_judged_beside_the_constant(requests, trained):
    found = taught(requests, labelled(requests, trained))
    assert found["balanced_accuracy"] > 0.85
    assert min(found["true_positive_rate"], found["true_negative_rate"]) > 0.8
    assert found["accuracy"] > found["constant_accuracy"] == pytest.approx(0.7, abs=0.06)
    assert np.sum(found["evaluation"]["confusion"]) == 400


def test_the_threshold_may_be_chosen_by_the_truth_and_rows_may_be_those_sent(requests, trained):
    answers = labelled(requests, trained, scale=0.01)
    wrong = {**answers, "labels": np.concatenate([answers["labels"][:200], 1 - answers["labels"][200:]])}
    kinds = [(answers, {}), (wrong, {"threshold_labels": "truth"}), (wrong, {}), (answers, {"features": "sent"})]
    by_teachers, by_truth, misled, protected = (taught(requests, given, **kind) for given, kind in kinds)
    assert by_truth["threshold"] != misled["threshold"] == 0.5  # no cut parts labels that are turned round
    assert protected["threshold"] != by_teachers["threshold"]
    with pytest.raises(ExperimentError, match="'features' is 'original' or 'sent'"):
        taught(requests, answers, features="noisy")


def test_labels_are_spread_over_the_rest_of_the_pool():
    data = steps.digit_data("invented", teacher_rows=800, pool_rows=300, validation_rows=200, seed=1)
    own = {name: data[name] for name in ("teacher_features", "teacher_labels", "classes")}
    made = steps.train_teachers(**own, **judged(data), teachers=20, hidden=[16], training=QUICKLY, seed=2)
    options = {"threshold": 19, "sigma1": 3, "sigma2": 2}
    asked = {"queries": 60, "aggregator": "confident", "options": options}
    accuracy = {"drop": 0.0, "spread": 0.0}
    for seed in (3, 4, 5, 6):
        answers = steps.label_queries(made["ensemble"], **pool(data), **asked, seed=seed)
        assert 0 < answers["answered"] < 60
        found = {kind: taught(data, answers, unlabelled=kind, threshold_rows=0) for kind in accuracy}
        accuracy = {kind: total + found[kind]["accuracy"] for kind, total in accuracy.items()}
    assert accuracy["spread"] > accuracy["drop"]
    assert found["drop"]["true_positive_rate"] is None

"""The step behind figure 2.2 of document 000: exact answers fall, sessions do not go beyond their bound."""

import pytest

from ziggurat.errors import ExperimentError
from ziggurat.experiments import catalogue, load, steps


def test_range_sums_have_the_health_of_everybody_where_nobody_may_be_asked_about_alone():
    found = steps.attack_questions("ranges", "no small sets", people=8, smallest=2, runs=3, seed=1)
    assert found == {"right": 1.0, "guessing": 0.5, "possible": 1.0, "asked": 13, "refused": 0.0, "refuted": 0}


@pytest.mark.parametrize("system", ["exact", "rounded", "fresh noise"])
def test_a_linear_program_has_almost_everybody_without_a_budget(system):
    found = steps.attack_questions("program", system, people=32, per_person=16, scale=1, base=3, seed=2)
    assert found["right"] >= 0.95
    assert found["asked"] == 512


def test_a_session_keeps_to_what_is_possible():
    found = steps.attack_questions("groups", "session", people=400, epsilon=1, seed=3)
    most = steps.attack_questions("possible", "session", epsilon=1)
    assert found["possible"] == most["right"] == pytest.approx(0.7310586)
    assert 0.6 < found["right"] < 0.85
    assert found["refuted"] == 0


def test_a_session_of_a_huge_epsilon_promises_nothing_and_keeps_nothing():
    """The control: the same attack on a session that spends 20 has everybody."""
    assert steps.attack_questions("groups", "session", people=100, epsilon=20, seed=3)["right"] == 1.0


def test_refused_questions_are_told():
    found = steps.attack_questions("differences", "no small sets", people=20, smallest=5, seed=4)
    assert found["refused"] == 1.0


def test_unknown_attacks_and_systems_are_refused_by_name():
    with pytest.raises(ExperimentError, match="ranges, differences"):
        steps.attack_questions("luck")
    with pytest.raises(ExperimentError, match="no small sets"):
        steps.attack_questions("ranges", "luck")


def test_the_experiment_compares_what_the_document_says():
    (expected,) = load(catalogue.path("000-fig-2-2")).expected
    assert expected.value == 1

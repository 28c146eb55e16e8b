"""Surveys, populations, decisions and verification from afar: the same on both sides, against a real service."""

from __future__ import annotations

import zipfile

import pytest

from ziggurat.errors import ParameterError, ServiceError, ZigguratError

SCHEMA = "unit: {person: member}\ncolumns:\n  member: {kind: text, role: identifier}\n  smokes: {kind: boolean}\n"


@pytest.fixture
def chief(service, side):
    chief = service.connect("chief", side)
    chief.make_people_budget("club", 2, person="member")
    assert chief.grant("club", "chief", 2).grant.epsilon == 2
    assert [each.population for each in chief.budgets()] == ["club"]
    assert len(chief.grants()) == 1
    return chief


@pytest.fixture
def survey(chief):
    return chief.publish_survey("habits", {"smokes": "1/2"}, population="club", schema=SCHEMA)


def test_a_survey_is_priced_published_once_and_listed(chief, survey):
    priced = chief.quote_survey("more", {"smokes": "1"}, population="club", schema=SCHEMA)
    assert (priced.fits, chief.quote_survey("x", {"smokes": 9}, population="club", schema=SCHEMA).fits) == (True, False)
    assert (survey.name, survey.population, survey.state, survey.epsilon) == ("habits", "club", "open", "1/2")
    again = chief.publish_survey("habits", {"smokes": "1/2"}, population="club", schema=SCHEMA)
    assert again.facts["entry"] == survey.facts["entry"]
    assert [each.name for each in chief.surveys()] == ["habits"]
    assert "columns" in chief.survey("habits").facts
    assert "epsilon 1/2" in repr(survey)


def test_people_are_invited_and_a_closed_survey_is_estimated_from(chief, survey):
    links = chief.invite("habits", 2)
    assert len({each.partition("#")[2] for each in links}) == 2
    assert chief.survey_reports("habits")["people"] == 0
    assert chief.close_survey("habits").state == "closed"
    with pytest.raises(ParameterError, match="Nobody answered"):
        chief.estimate_survey("habits", "0.9")


def test_a_survey_of_nobody_is_refused_as_it_is_there(chief):
    with pytest.raises(ZigguratError):
        chief.publish_survey("habits", {"smokes": "1/2"})
    with pytest.raises(ZigguratError):
        chief.publish_survey("habits", {"smokes": "1/2"}, population="nobody", schema=SCHEMA)


def test_a_promise_is_read_once_it_is_open(chief, survey, service, side):
    with pytest.raises(ServiceError):
        chief.promise("club")
    chief.open_population("club")
    assert service.connect("ben", side).promise("club")
    chief.open_population("club", False)
    with pytest.raises(ServiceError):
        chief.promise("club")


def test_decisions_keys_and_schemas_are_told(chief):
    told = chief.decide({"query": "count", "error": "10", "epsilon": ["0.1", "1"]})
    assert [each["epsilon"] for each in told["candidates"]] == ["0.1", "1"]
    assert told["recommended"] == "1"
    with pytest.raises(ParameterError):
        chief.decide({"query": "mean"})
    assert chief.release_schema()["$id"] == "ziggurat/release/1"
    assert "PUBLIC KEY" in chief.release_key()["text"]


def test_what_is_no_bundle_is_found_out(chief, tmp_path):
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as made:
        made.writestr("public/manifest.json", "{}")
    found = chief.verify_release(tmp_path / "b.zip")
    assert (found.sound, found.ours, bool(found.problems)) == (False, False, True)
    assert "problem" in repr(found)
    with pytest.raises(ZigguratError, match="one file"):
        chief.verify_release(tmp_path / "none.zip")


def test_models_that_are_not_there_are_not_told(chief):
    assert chief.models() == []
    for call in (chief.model, chief.remove_model):
        with pytest.raises(ServiceError, match="no model"):
            call("nothing")
    with pytest.raises(ZigguratError):
        chief.register_model("ages", "nothing", "ages")
    for call in (chief.quote_labels, chief.label):
        with pytest.raises(ServiceError):
            call("nobody", [{"age": 30}])
    with pytest.raises(ServiceError):
        chief.certificate("0123456789abcdef")
    with pytest.raises(ServiceError):
        chief.open_release("0123456789abcdef", True)

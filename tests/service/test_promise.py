"""What was promised about a population is told to everybody alike, from the ledger alone."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from ziggurat.service.catalogue import TableShelf


@pytest.fixture
def public(clinic):
    assert clinic("chief", "PUT", "/v1/populations/clinic", {"open": True}).status_code == 200
    return clinic


def told(served, **headers):
    answered = served.client.get("/v1/populations/clinic/promise", headers=headers)
    assert answered.status_code == 200, answered.text
    return answered.json()


def test_what_was_promised_and_spent_is_told_in_words(public):
    assert "nothing was spent" in " ".join(told(public)["sentences"])
    public.ask("ana", {**public.count, "epsilon": "0.5"})
    (promise,) = told(public)["promises"]
    assert (promise["epsilon"], promise["delta"]) == ("5", "1/100000")
    assert promise["spent"] == {"epsilon": "1/2", "delta": "0", "questions": 1}
    assert "one patient" in promise["protects"] or "one person" in promise["protects"]
    words = " ".join(told(public)["sentences"])
    assert "62.3 of 100" in words
    assert "right in 1 of 100, in at most 1.7" in words


def test_the_odds_are_those_of_bayes_and_never_too_good(public):
    public.ask("ana", {**public.count, "epsilon": "0.5"})
    for guess in told(public)["promises"][0]["guesses"]:
        before = float(Fraction(guess["before"]))
        bayes = 1 / (1 + math.exp(-0.5) * (1 - before) / before)
        assert bayes <= guess["after_at_most"] <= bayes * (1 + 1e-9)


def test_no_table_is_opened_to_tell_it(public, monkeypatch):
    before = told(public)

    def refuse(*_given, **_said):
        raise AssertionError("a table is opened")

    for name in ("open", "_read", "facts", "all", "file_of"):
        monkeypatch.setattr(TableShelf, name, refuse)
    monkeypatch.setattr("ziggurat.data.engines.DuckDBEngine.query", refuse, raising=False)
    assert told(public) == before
    with pytest.raises(AssertionError):  # the control: a question does open one
        public.house.desk.session(public.house.people.named("ana"), ["clinic"])


def test_everybody_is_told_the_same(public):
    stranger = told(public)
    for who in ("chief", "ana", "ben", "audrey"):
        assert told(public, Authorization=f"Bearer {public.keys[who]}") == stranger
    assert told(public, Authorization="Bearer wrong") == stranger


def test_it_stays_the_same_when_the_table_is_gone(public):
    before = told(public)
    assert public("chief", "DELETE", "/v1/tables/clinic").status_code == 200
    assert told(public) == before


def test_nobody_is_named_and_no_question_shown(public):
    public.ask("ana", public.count)
    public.house.ledger.record_unbounded("clinic", "a table of Mr Smith's cousins")
    words = str(told(public))
    for each in ("ana", "chief", "SELECT", "Smith"):
        assert each not in words
    assert told(public)["without_promise"] == 1
    assert "1 release left without such a promise" in words


def test_what_no_steward_opened_is_told_like_a_name_that_nobody_knows(clinic):
    closed = clinic.client.get("/v1/populations/clinic/promise")
    unknown = clinic.client.get("/v1/populations/nothing/promise")
    assert closed.status_code == unknown.status_code == 404
    assert closed.json()["error"]["message"].replace("clinic", "nothing") == unknown.json()["error"]["message"]


def test_what_was_opened_can_be_closed_again(public):
    assert public("chief", "PUT", "/v1/populations/clinic", {"open": False}).status_code == 200
    assert public.client.get("/v1/populations/clinic/promise").status_code == 404


def test_only_stewards_of_its_tables_open_a_population(clinic):
    clinic.add("sam", "steward")
    assert clinic("ana", "PUT", "/v1/populations/clinic", {"open": True}).status_code == 403
    assert clinic("sam", "PUT", "/v1/populations/clinic", {"open": True}).status_code == 404
    clinic("chief", "PUT", "/v1/tables/clinic/rights/sam", {"may": "steward"})
    assert clinic("sam", "PUT", "/v1/populations/clinic", {"open": True}).status_code == 200
    assert clinic.client.get("/v1/populations/clinic/promise").status_code == 200


def test_reports_of_a_survey_count_beside_the_rest_as_a_promise_of_their_own(public):
    budget = {"person": "patient_id", "name": "clinic-asked", "epsilon": "1"}
    public("chief", "POST", "/v1/populations/clinic/budgets", budget)
    public("chief", "POST", "/v1/grants", {"budget": "clinic-asked", "analyst": "chief", "epsilon": "1"})
    found = told(public)
    assert len(found["promises"]) == 2
    assert "2 promises side by side" in " ".join(found["sentences"])
    assert "which of two records is theirs" in " ".join(
        found["promises"][1]["sentences"] + found["promises"][0]["sentences"]
    )

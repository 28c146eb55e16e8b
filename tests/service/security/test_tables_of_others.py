"""What somebody may not see does not exist for them, and an account of others is taken over by nobody."""

from __future__ import annotations

import pytest

CALLS = (
    ("GET", "/v1/tables/{}", None),
    ("GET", "/v1/tables/{}/preview", None),
    ("DELETE", "/v1/tables/{}", None),
    ("GET", "/v1/tables/{}/rights", None),
    ("PUT", "/v1/tables/{}/rights/ana", {"may": "ask"}),
    ("DELETE", "/v1/tables/{}/rights/ana", None),
    ("POST", "/v1/budgets", {"table": "{}", "epsilon": "1"}),
    ("POST", "/v1/grants", {"budget": "{}", "analyst": "ana", "epsilon": "1"}),
    ("DELETE", "/v1/grants/{}/ana", None),
    ("GET", "/v1/history?table={}", None),
    ("POST", "/v1/quote", "ask"),
    ("POST", "/v1/ask", "ask"),
)
_VARY = ("x-request-number", "date")


def said_of(served, who, verb, path, body, name):
    """Everything that is told about a name: the status, the headers and the words, in which the name is left out."""
    if body == "ask":
        question = {**served.count, "sql": f"SELECT COUNT(*) AS n FROM {name}"}
        body = {"tables": [name], "question": question}
    filled = body and {key: name if value == "{}" else value for key, value in body.items()}
    told = served(who, verb, path.format(name), filled)
    headers = {key: value for key, value in told.headers.items() if key not in _VARY}
    return told.status_code, headers, told.text.replace(name, "NAME")


@pytest.mark.parametrize(("verb", "path", "body"), CALLS)
def test_a_table_of_others_and_one_that_is_not_there_are_told_alike(clinic, verb, path, body):
    clinic.add("stranger", "steward")
    absent = "zlinic"  # of the same length, so that headers say as much
    for who in ("stranger", "ben"):
        assert said_of(clinic, who, verb, path, body, "clinic") == said_of(clinic, who, verb, path, body, absent)
    seen = said_of(clinic, "chief", verb, path, body, "clinic")
    assert seen != said_of(clinic, "chief", verb, path, body, absent)  # the control: it is there


def test_lists_hold_nothing_of_others(clinic):
    clinic.add("stranger", "steward")
    for who in ("stranger", "ben"):
        assert clinic(who, "GET", "/v1/tables").json() == {"tables": []}
        assert clinic(who, "GET", "/v1/grants").json() == {"grants": []}
        assert clinic(who, "GET", "/v1/me").json()["tables"] == {}
    assert clinic("stranger", "GET", "/v1/budgets").json() == {"populations": []}


def test_what_an_analyst_paid_for_is_not_told_to_another(clinic):
    clinic("chief", "PUT", "/v1/tables/clinic/rights/ben", {"may": "ask"})
    clinic("chief", "POST", "/v1/grants", {"budget": "clinic", "analyst": "ben", "epsilon": "1"})
    assert clinic.ask("ana", clinic.count).status_code == 200
    assert clinic("ben", "GET", "/v1/history?table=clinic").json() == {"questions": []}
    told = clinic.ask("ben", clinic.count).json()
    assert (told["replayed"], told["left"]) == (False, "epsilon 0.9")


def test_a_request_of_another_is_not_repeated_by_its_key(clinic):
    clinic("chief", "PUT", "/v1/tables/clinic/rights/ben", {"may": "ask"})
    clinic("chief", "POST", "/v1/grants", {"budget": "clinic", "analyst": "ben", "epsilon": "1"})
    key = {"Idempotency-Key": "the-same-key"}
    first, second = clinic.ask("ana", clinic.count, **key), clinic.ask("ben", clinic.count, **key)
    assert "Idempotency-Replayed" not in second.headers
    assert first.json()["certificate"] != second.json()["certificate"]


def table(name, population=None):
    from ziggurat.data.generators import clinic_patients_schema

    schema = clinic_patients_schema().to_yaml()
    return {"name": name, "schema": schema, "address": "invented:clinic", "population": population}


def test_a_steward_brings_no_table_of_people_whose_account_others_look_after(clinic):
    """Whoever looks after a table of a population may grant what is left of its budget."""
    clinic.add("stranger", "steward")
    refused = clinic("stranger", "POST", "/v1/tables", table("mine", "clinic"))
    assert (refused.status_code, refused.json()["error"]["kind"]) == (409, "ConflictError")
    theft = {"budget": "clinic", "analyst": "ben", "epsilon": "1"}
    assert clinic("stranger", "POST", "/v1/grants", theft).status_code == 404
    assert clinic("stranger", "POST", "/v1/tables", table("mine")).status_code == 201
    assert clinic("stranger", "POST", "/v1/grants", theft).status_code == 404
    clinic.add("keeper", "steward")
    clinic("chief", "PUT", "/v1/tables/clinic/rights/keeper", {"may": "steward"})
    assert clinic("keeper", "POST", "/v1/tables", table("second", "clinic")).status_code == 201  # the control


def test_the_account_of_a_table_that_was_removed_is_taken_over_by_nobody(clinic):
    clinic.add("stranger", "steward")
    assert clinic("chief", "DELETE", "/v1/tables/clinic").status_code == 200
    assert clinic("stranger", "POST", "/v1/tables", table("clinic")).status_code == 409
    assert clinic("chief", "POST", "/v1/tables", table("clinic")).status_code == 201


def test_a_budget_takes_no_name_under_which_others_are_charged(served):
    """A budget of that name would make the tables of others pay from it, and be about its people."""
    for who in ("keeper", "stranger"):
        served.add(who, "steward")
    assert served("keeper", "POST", "/v1/tables", table("theirs")).status_code == 201
    assert served("stranger", "POST", "/v1/tables", table("mine")).status_code == 201
    budget = {"table": "mine", "name": "theirs", "epsilon": "1"}
    assert served("stranger", "POST", "/v1/budgets", budget).status_code == 409
    assert served.house.ledger.populations() == []


@pytest.mark.parametrize(("name", "population"), [("stolen", "side"), ("side", None), ("side", "stolen")])
def test_no_table_has_the_name_of_a_budget_of_others(clinic, name, population):
    """That budget would pay for it: its stewards would grant what its people bear, and it would use up theirs."""
    clinic.add("stranger", "steward")
    clinic("chief", "POST", "/v1/populations/club/budgets", {"name": "side", "epsilon": "1"})
    for who in ("stranger", "chief"):
        refused = clinic(who, "POST", "/v1/tables", table(name, population))
        assert (refused.status_code, refused.json()["error"]["kind"]) == (409, "ConflictError")
    assert clinic("stranger", "POST", "/v1/tables", table("stolen")).status_code == 201  # the control


def test_a_table_may_have_the_name_of_a_budget_of_its_own_people(clinic):
    clinic("chief", "POST", "/v1/populations/clinic/budgets", {"name": "visits", "epsilon": "1"})
    assert clinic("chief", "POST", "/v1/tables", table("visits", "clinic")).status_code == 201


def test_a_right_is_given_to_nobody_whom_it_does_not_fit(clinic):
    for who, may in (("audrey", "ask"), ("audrey", "steward"), ("ana", "steward")):
        assert clinic("chief", "PUT", f"/v1/tables/clinic/rights/{who}", {"may": may}).status_code == 422
    assert clinic("audrey", "GET", "/v1/tables").json() == {"tables": []}


def test_a_public_table_is_nothing_to_an_auditor(clinic):
    clinic("chief", "POST", "/v1/tables", {**table("known"), "public": True})
    assert [each["name"] for each in clinic("ben", "GET", "/v1/tables").json()["tables"]] == ["known"]
    assert clinic("audrey", "GET", "/v1/tables").json() == {"tables": []}
    assert clinic("audrey", "GET", "/v1/tables/known").status_code == 404


def test_a_right_that_was_taken_away_is_gone_for_the_next_question(clinic):
    assert clinic.ask("ana", clinic.count).status_code == 200
    assert clinic("chief", "DELETE", "/v1/tables/clinic/rights/ana").status_code == 200
    assert clinic.ask("ana", clinic.count).status_code == 404

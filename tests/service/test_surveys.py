"""Surveys over the wire: paid once, one report for each invitation, nothing that leads from a report to its sender."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest
from sqlalchemy import text

from ziggurat.cli.collect._answering import _read
from ziggurat.errors import ConflictError
from ziggurat.local import WholeRecord
from ziggurat.randomness import seeded
from ziggurat.service.store import invitations, reports, surveys

SCHEMA = """
unit: {person: member}
columns:
  member: {kind: text, role: identifier}
  smokes: {kind: category, categories: ["yes", "no"], categories_from: public, description: "Do you smoke?"}
  transport: {kind: category, categories: [bus, car, bicycle, feet, train], categories_from: public}
  age: {kind: integer, bounds: [0, 100], bounds_from: public}
"""
ASKED = {
    "name": "habits",
    "population": "club",
    "schema": SCHEMA,
    "reports": {"kind": "reports", "columns": {"smokes": "1", "transport": "1/2"}},
}


@pytest.fixture
def club(served):
    """A budget about people of whom nobody holds a table, and a grant of it for the chief steward."""
    made = served("chief", "POST", "/v1/populations/club/budgets", {"person": "member", "epsilon": "5"})
    assert made.status_code == 201, made.text
    grant = {"budget": "club", "analyst": "chief", "epsilon": "3"}
    assert served("chief", "POST", "/v1/grants", grant).status_code == 201
    return served


@pytest.fixture
def habits(club):
    """A survey that is open."""
    opened = club("chief", "POST", "/v1/surveys", ASKED)
    assert opened.status_code == 201, opened.text
    return club


def invite(served, count, name="habits"):
    made = served("chief", "POST", f"/v1/surveys/{name}/invitations", {"count": count})
    assert made.status_code == 201, made.text
    return made.json()["invitations"]


def send(served, invitation, report, name="habits"):
    return served.client.post(f"/v1/surveys/{name}/reports", json={"invitation": invitation, "report": report})


def answer(served, invitations, truths):
    """Have people answer, each on their own: the service is told reports alone."""
    told = served.client.get("/v1/surveys/habits").json()
    record = WholeRecord.from_dict(told)
    source = seeded("people")
    for invitation, truth in zip(invitations, truths, strict=True):
        import pyarrow as pa

        frame = pa.table({name: [value] for name, value in truth.items()})
        (report,) = record.privatize(frame, source).value.to_pylist()
        assert send(served, invitation, report).status_code == 201


def kept(served, table):
    with served.house.store.read() as connection:
        return [dict(row._mapping) for row in connection.execute(table.select())]


def left(served):
    return served.house.ledger.left("club", "chief")


def test_a_survey_is_described_to_everybody(habits):
    told = habits.client.get("/v1/surveys/habits").json()
    assert told["epsilon"] == "3/2"
    assert told["questions"]["smokes"] == "Do you smoke?"
    assert told["draws"]["smokes"]["draw"] == "exchange"
    assert "at most 82%" in told["meaning"], "e^1.5 / (1 + e^1.5)"
    assert str(WholeRecord.from_dict(told).guarantee()).startswith("1.5-differential privacy (one person")
    assert _read(told).epsilon == Fraction(3, 2), "as 'ziggurat collect answer' reads it"


def test_a_truth_value_is_shown_in_words(club):
    schema = SCHEMA.replace('kind: category, categories: ["yes", "no"], categories_from: public', "kind: boolean")
    told = club("chief", "POST", "/v1/surveys", {**ASKED, "schema": schema}).json()
    assert (told["words"], told["columns"]["smokes"]["categories"]) == ({"smokes": ["no", "yes"]}, [0, 1])


def test_the_name_of_a_survey_that_costs_too_much_stays_free(club):
    dear = {**ASKED, "reports": {"kind": "reports", "columns": {"smokes": "9"}}}
    assert club("chief", "POST", "/v1/surveys", dear).status_code == 402
    assert club("chief", "POST", "/v1/surveys", ASKED).status_code == 201


def test_a_survey_that_nobody_answered_says_so_once_it_is_closed(habits):
    assert "look tomorrow" in habits("chief", "GET", "/v1/surveys/habits/estimates").json()["error"]["message"]
    habits("chief", "POST", "/v1/surveys/habits/close")
    assert "Nobody answered" in habits("chief", "GET", "/v1/surveys/habits/estimates").json()["error"]["message"]


def test_a_survey_is_paid_for_once_when_it_is_opened(club):
    first = club("chief", "POST", "/v1/surveys", ASKED).json()
    assert left(club) == Fraction(3, 2)
    again = club("chief", "POST", "/v1/surveys", ASKED).json()
    assert (again["entry"], left(club)) == (first["entry"], Fraction(3, 2))
    answer(club, invite(club, 1), [{"smokes": "yes", "transport": "bus"}])
    assert left(club) == Fraction(3, 2), "reports cost nothing more"
    assert club.house.ledger.verify().ok


def test_a_survey_that_was_paid_for_before_a_kill_is_opened_without_paying_again(club, monkeypatch):
    def killed(*_given):
        raise RuntimeError

    monkeypatch.setattr(club.house.surveys, "open", killed)
    assert club("chief", "POST", "/v1/surveys", ASKED).status_code == 500
    monkeypatch.undo()
    assert left(club) == Fraction(3, 2)
    assert club.client.get("/v1/surveys/habits").status_code == 404
    assert club("chief", "POST", "/v1/surveys", ASKED).status_code == 201
    assert left(club) == Fraction(3, 2)


def test_a_survey_of_the_same_words_under_another_name_is_paid_for_again(habits):
    assert habits("chief", "POST", "/v1/surveys", {**ASKED, "name": "again"}).status_code == 201
    assert left(habits) == 0
    refused = habits("chief", "POST", "/v1/surveys", {**ASKED, "name": "more"})
    assert (refused.status_code, left(habits)) == (402, 0)
    assert habits.client.get("/v1/surveys/more").status_code == 404


def test_a_name_stands_for_one_survey_for_ever(habits):
    habits("chief", "POST", "/v1/surveys/habits/close")
    other = {**ASKED, "reports": {"kind": "reports", "columns": {"smokes": "1/10"}}}
    assert habits("chief", "POST", "/v1/surveys", other).status_code == 409
    assert habits("chief", "POST", "/v1/surveys", ASKED).json()["state"] == "closed"


def test_a_budget_about_adding_or_removing_does_not_pay(clinic):
    body = {"name": "ill", "table": "clinic", "reports": {"kind": "reports", "columns": {"sex": "1/2"}}}
    refused = clinic("chief", "POST", "/v1/surveys", body)
    assert refused.status_code == 422, refused.text
    assert "replac" in refused.json()["error"]["message"]


def test_a_survey_is_priced_before_it_is_opened(club):
    priced = club("chief", "POST", "/v1/surveys/quote", ASKED)
    assert priced.status_code == 200, priced.text
    assert left(club) == 3
    assert kept(club, surveys) == []


def test_estimates_hold_the_truth(habits):
    people = [{"smokes": "yes" if i % 4 == 0 else "no", "transport": "bus"} for i in range(120)]
    answer(habits, invite(habits, 120), people)
    habits("chief", "POST", "/v1/surveys/habits/close")
    told = habits("chief", "GET", "/v1/surveys/habits/estimates?confidence=0.9999").json()
    assert told["people"] == 120
    smoking = {each["category"]: each for each in told["columns"]["smokes"]["counts"]}["yes"]
    assert smoking["low"] <= 30 <= smoking["high"]
    shared = habits("chief", "GET", "/v1/surveys/habits/reports").json()
    assert WholeRecord.from_dict(shared).parts.keys() == shared["reports"].keys()


def test_an_invitation_brings_one_report(habits):
    (invitation,) = invite(habits, 1)
    report = {"smokes": "yes", "transport": "bus"}
    assert send(habits, invitation, report).status_code == 201
    assert send(habits, invitation, report).status_code == 409
    assert len(kept(habits, reports)) == 1


def test_of_many_who_try_one_invitation_at_once_one_report_is_taken(habits):
    from concurrent.futures import ThreadPoolExecutor

    (invitation,) = invite(habits, 1)
    book, survey = habits.house.surveys, habits.house.surveys.find("habits")

    def attempt(_number):
        try:
            book.take(survey, invitation, "{}")
        except ConflictError as error:
            return type(error).__name__
        return "taken"

    with ThreadPoolExecutor(8) as pool:
        came = list(pool.map(attempt, range(24)))
    assert sorted(came) == ["ConflictError"] * 23 + ["taken"]
    assert len(kept(habits, reports)) == 1


def test_who_has_no_invitation_to_this_survey_sends_nothing(habits):
    habits("chief", "POST", "/v1/surveys", {**ASKED, "name": "other"})
    (elsewhere,) = invite(habits, 1, "other")
    for given in ("made-up", elsewhere, "ä" * 20):
        assert send(habits, given, {"smokes": "yes", "transport": "bus"}).status_code == 403
    assert kept(habits, reports) == []


def test_a_closed_survey_takes_nothing_and_the_invitation_is_not_used_up(habits):
    (invitation,) = invite(habits, 1)
    assert habits("chief", "POST", "/v1/surveys/habits/close").json()["state"] == "closed"
    assert send(habits, invitation, {"smokes": "yes", "transport": "bus"}).status_code == 409
    assert [each["used"] for each in kept(habits, invitations)] == [False]
    assert habits("chief", "POST", "/v1/surveys/habits/invitations", {"count": 1}).status_code == 409


@pytest.mark.parametrize(
    "report",
    [
        {},
        {"smokes": "yes"},
        {"smokes": "yes", "transport": "bus", "name": "Ada Lovelace"},
        {"smokes": "perhaps", "transport": "bus"},
        {"smokes": True, "transport": "bus"},
        {"smokes": None, "transport": "bus"},
        {"smokes": 1, "transport": "bus"},
        {"smokes": ["yes"], "transport": "bus"},
        {"smokes": "yes" * 1_000, "transport": "bus"},
    ],
)
def test_a_report_that_cannot_have_been_drawn_is_refused_and_the_invitation_stays(habits, report):
    (invitation,) = invite(habits, 1)
    refused = send(habits, invitation, report)
    assert refused.status_code == 422
    assert "Lovelace" not in refused.text
    assert kept(habits, reports) == []
    assert send(habits, invitation, {"smokes": "yes", "transport": "bus"}).status_code == 201


@pytest.mark.parametrize(
    ("method", "column", "right", "wrong"),
    [
        ("unary", "transport", "a8", ["a", "a8a8", "zz", "", 7, None, "a8\n"]),
        ("hashing", "transport", str((5 << 31) + 1), [str(1 << 63), "-1", "x", str(5 << 31 | 999_999), 1.5, "9" * 30]),
        ("auto", "age", 55, [-1, 101, "x", 1.5, None, "1e9"]),
    ],
)
def test_reports_of_every_kind_are_checked(club, method, column, right, wrong):
    body = {**ASKED, "reports": {"kind": "reports", "columns": {column: "1"}, "method": method}}
    assert club("chief", "POST", "/v1/surveys", body).status_code == 201
    (invitation,) = invite(club, 1)
    for each in wrong:
        assert send(club, invitation, {column: each}).status_code == 422, each
    assert send(club, invitation, {column: right}).status_code == 201
    assert club("chief", "POST", "/v1/surveys/habits/close").status_code == 200
    told = club("chief", "GET", "/v1/surveys/habits/estimates").json()
    assert told["people"] == 1


def test_nothing_that_is_kept_leads_from_a_report_to_an_invitation(habits):
    given = invite(habits, 30)
    answer(habits, given, [{"smokes": "yes", "transport": "bus"}] * 30)
    today = datetime.now(UTC).date()
    stored, held = kept(habits, reports), kept(habits, invitations)
    assert all(set(each) == {"id", "survey", "day", "report"} for each in stored)
    assert {each["day"] for each in stored} <= {str(today), str(today - timedelta(days=1))}
    assert all(set(each) == {"digest", "survey", "used"} for each in held)
    texts = json.dumps([stored, held])
    assert not any(each in texts for each in given), "an invitation is kept as a hash"
    ids = {each["id"] for each in stored}
    assert not ids & {each["digest"] for each in held}


def test_reports_lie_in_an_order_that_says_nothing(habits):
    """In the file too: without row numbers of SQLite, which count in the order in which reports came."""
    given, came = invite(habits, 30), []
    for invitation in given:
        before = {each["id"] for each in kept(habits, reports)}
        send(habits, invitation, {"smokes": "yes", "transport": "bus"})
        came += [each["id"] for each in kept(habits, reports) if each["id"] not in before]
    with habits.house.store.read() as connection:
        lying = list(connection.execute(text("SELECT id FROM reports")).scalars())
        for table in ("reports", "invitations"):
            sql = connection.execute(
                text("SELECT sql FROM sqlite_master WHERE name = :table"), {"table": table}
            ).scalar()
            assert "WITHOUT ROWID" in sql
    assert lying == sorted(came)
    assert lying != came, "a chance of 1 in 30 factorial"


def test_while_a_survey_is_open_only_days_that_are_over_are_told(habits):
    answer(habits, invite(habits, 5), [{"smokes": "yes", "transport": "bus"}] * 5)
    early = habits("chief", "GET", "/v1/surveys/habits/estimates")
    assert early.status_code == 422, early.text
    with habits.house.store.write() as connection:
        connection.execute(reports.update().values(day="2026-01-01"))
    answer(habits, invite(habits, 1), [{"smokes": "yes", "transport": "bus"}])
    assert habits("chief", "GET", "/v1/surveys/habits/estimates").json()["people"] == 5
    habits("chief", "POST", "/v1/surveys/habits/close")
    assert habits("chief", "GET", "/v1/surveys/habits/estimates").json()["people"] == 6


def test_only_its_stewards_look_after_a_survey(habits):
    for who in ("ana", "audrey"):
        assert habits(who, "POST", "/v1/surveys", {**ASKED, "name": "mine"}).status_code == 403
        assert habits(who, "POST", "/v1/surveys/habits/invitations", {"count": 1}).status_code == 403
        assert habits(who, "GET", "/v1/surveys/habits/estimates").status_code == 403
        assert habits(who, "POST", "/v1/surveys/habits/close").status_code == 403
    habits.add("sam", "steward")
    assert habits("sam", "POST", "/v1/surveys", {**ASKED, "name": "mine"}).status_code == 403
    assert habits("sam", "POST", "/v1/surveys/habits/invitations", {"count": 1}).status_code == 404
    assert habits("sam", "GET", "/v1/surveys").json() == {"surveys": []}
    assert habits("chief", "GET", "/v1/surveys").json()["surveys"][0]["name"] == "habits"
    assert habits.client.get("/v1/surveys/habits/estimates").status_code == 401


def test_a_steward_of_a_table_surveys_its_people(clinic):
    clinic.add("sam", "steward")
    clinic("chief", "PUT", "/v1/tables/clinic/rights/sam", {"may": "steward"})
    budget = {"table": "clinic", "name": "clinic-asked", "epsilon": "1", "relation": "replace-one"}
    assert clinic("sam", "POST", "/v1/budgets", budget).status_code == 201
    grant = {"budget": "clinic-asked", "analyst": "sam", "epsilon": "1"}
    assert clinic("sam", "POST", "/v1/grants", grant).status_code == 201
    body = {"name": "ill", "table": "clinic", "reports": {"kind": "reports", "columns": {"sex": "1/2"}}}
    opened = clinic("sam", "POST", "/v1/surveys", body)
    assert opened.status_code == 201, opened.text
    assert opened.json()["population"] == "clinic"
    assert clinic("sam", "GET", "/v1/surveys/ill/estimates").status_code == 422

"""Surveys: stewards publish how answers are protected, people protect theirs themselves and send the report alone."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from pydantic import Field, FiniteFloat, StrictFloat, StrictInt, StrictStr, model_validator
from starlette.concurrency import run_in_threadpool

from ziggurat.data import Schema
from ziggurat.errors import BudgetExceededError, ParameterError, UnknownNameError
from ziggurat.randomness import seeded
from ziggurat.release import Purse
from ziggurat.release.config import ReportsSaid
from ziggurat.service._house import ServiceHouse
from ziggurat.service.access import Caller
from ziggurat.service.catalogue import read_schema
from ziggurat.service.surveys import (
    PublishedSurvey,
    SurveyPlan,
    check_report,
    describe_survey,
    make_record,
    make_survey_page,
    read_reports,
)
from ziggurat.service.web._calling import Calling, House
from ziggurat.service.web.routes._bodies import Body, ExactAmount, Name, TableName
from ziggurat.service.web.routes._calls import from_where
from ziggurat.service.web.routes._populations import require_steward_of

router = APIRouter(tags=["surveys"])

Sent = StrictStr | StrictInt | Annotated[FiniteFloat, StrictFloat] | None


class SurveyBody(Body):
    """A survey to be published: of whom, and how each answer is protected."""

    name: TableName = Field(description="What people call it; a name stands for one survey for ever.")
    table: TableName | None = Field(None, description="A table whose schema says what is public about the columns.")
    population: Name | None = Field(None, description="Where there is no table: whose account pays.")
    schema_text: str | None = Field(
        None, alias="schema", max_length=1 << 19, description="With a population: what is public, as YAML."
    )
    reports: ReportsSaid = Field(description="Columns with their epsilons, and the method.")

    @model_validator(mode="after")
    def _require_whom(self) -> SurveyBody:
        if (self.table is None) != (self.population is not None and self.schema_text is not None):
            raise ValueError("say a table, or a population and a schema")
        return self


class InvitationsBody(Body):
    """How many invitations to make: one for each person."""

    count: int = Field(ge=1, le=10_000)


class ReportBody(Body):
    """A report, drawn by the description of its survey, and the invitation that it comes with."""

    invitation: str = Field(min_length=1, max_length=200)
    report: dict[str, Sent] = Field(max_length=1000)


@router.post("/v1/surveys/quote")
def quote(body: SurveyBody, house: House, caller: Calling) -> dict[str, Any]:
    """Say what a survey would cost whoever answers it, how exact it would be, and whether it fits; for stewards."""
    population, schema = _about(house, caller, body)
    plan = SurveyPlan(make_record(schema, body.reports), "", body.name)
    found = _purse(house, caller, population).quote(plan)
    return {**found.to_dict(), "sentence": found.sentence}


@router.post("/v1/surveys", status_code=201)
def publish(body: SurveyBody, house: House, caller: Calling) -> dict[str, Any]:
    """Pay for a survey, once, and open it; whoever opens it pays out of a budget about replacing one. For stewards."""
    population, schema = _about(house, caller, body)
    record = make_record(schema, body.reports)
    told = describe_survey(body.name, population, schema, record)
    told["rehearsal"] = bool(house.settings.rehearse)
    said = body.model_dump(mode="json")
    begun = house.surveys.begin(caller.person, body.name, population, body.table or "", said, told)
    if begun.state != "opening":
        return {**begun.told, "entry": begun.entry}
    try:
        made = _purse(house, caller, population).release(SurveyPlan(begun.record, begun.identity, begun.name))
    except BudgetExceededError:
        house.surveys.forget(begun)
        raise
    opened = house.surveys.open(begun, None if made.entry is None else made.entry.seq)
    return {**opened.told, "entry": opened.entry, "certificate": made.certificate.to_dict()}


@router.get("/v1/surveys")
def surveys(house: House, caller: Calling) -> dict[str, Any]:
    """List the surveys that a steward looks after."""
    caller.require("read", ("steward",))
    held = {name for name, may in house.rights.of(caller.person).items() if may == "steward"}
    mine = [each for each in house.surveys.all() if caller.person.chief or each.table_name in held]
    return {"surveys": [{**each.told, "entry": each.entry, "made": each.made} for each in mine]}


@router.get("/v1/surveys/{name}")
def survey(name: TableName, request: Request, house: House) -> dict[str, Any]:
    """Say how answers to a survey are protected, and what that promises; open to everybody who knows its name."""
    request.app.state.rate.count(from_where(request))
    return house.surveys.find(name).told


@router.post("/v1/surveys/{name}/invitations", status_code=201)
def invite(name: TableName, body: InvitationsBody, house: House, caller: Calling) -> dict[str, Any]:
    """Make invitations, one for each person, which are shown this once; for the survey's stewards."""
    found = _mine(house, caller, name, "manage")
    page = f"{house.settings.address}/survey/{name}"
    made = house.surveys.invite(found, body.count)
    return {"invitations": made, "links": [f"{page}#{each}" for each in made]}


@router.post("/v1/surveys/{name}/reports", status_code=201)
def report(name: TableName, body: ReportBody, request: Request, house: House) -> dict[str, bool]:
    """Take the report that comes with an invitation, one for each; open to whoever holds one."""
    request.app.state.rate.count(from_where(request))
    found = house.surveys.find(name)
    house.surveys.take(found, body.invitation, check_report(found.record, body.report))
    return {"taken": True}


@router.post("/v1/surveys/{name}/close")
def close(name: TableName, house: House, caller: Calling) -> dict[str, Any]:
    """Take no more reports; for the survey's stewards."""
    _mine(house, caller, name, "manage")
    return house.surveys.close(name).told


@router.get("/v1/surveys/{name}/estimates")
async def estimates(
    name: TableName, house: House, caller: Calling, confidence: ExactAmount = "0.95", population: bool = False
) -> dict[str, Any]:
    """Estimate from the reports, with intervals; while a survey is open, from those of days that are over.

    With `population` the intervals are about those from whom the people were drawn at random.
    """
    found = _mine(house, caller, name, "read")

    def work() -> dict[str, Any]:
        record = found.record
        sent = read_reports(record, house.surveys.reports(found))
        if not sent.people and found.state == "closed":
            raise ParameterError("Nobody answered before the survey was closed; open one of another name.")
        if not sent.people:
            raise ParameterError("There are no reports yet, or only of today; look tomorrow, or close the survey.")
        told = record.estimate(sent, confidence, population=population)
        return {"survey": name, "people": sent.people, "columns": {each: part.to_dict() for each, part in told.items()}}

    return await run_in_threadpool(work)


@router.get("/v1/surveys/{name}/reports")
async def reports(name: TableName, house: House, caller: Calling) -> dict[str, Any]:
    """Give the reports in no order that says anything, with what is needed to estimate from them elsewhere."""
    found = _mine(house, caller, name, "read")

    def work() -> dict[str, Any]:
        sent = read_reports(found.record, house.surveys.reports(found))
        return {**found.told, "people": sent.people, "origin": sent.origin, "reports": sent.value.to_pydict()}

    return await run_in_threadpool(work)


@router.get("/survey/{name}", response_class=HTMLResponse)
def page(name: TableName) -> HTMLResponse:  # noqa: ARG001 - the page reads it off its own address
    """Show the page on which somebody answers a survey: their browser draws the report, and sends nothing else."""
    made = make_survey_page()
    return HTMLResponse(made.text, headers={"Content-Security-Policy": made.policy})


def _about(house: ServiceHouse, caller: Caller, body: SurveyBody) -> tuple[str, Schema]:
    """Whose account pays, and what is public; refuses whoever does not look after these people."""
    caller.require("manage", ("steward",))
    if body.table is not None:
        house.rights.require(caller.person, body.table, "steward")
        facts = house.shelf.facts(body.table)
        return facts.population, facts.schema
    caller.require_chief()
    require_steward_of(house, caller, str(body.population))
    return str(body.population), read_schema(str(body.schema_text))


def _mine(house: ServiceHouse, caller: Caller, name: str, scope: str) -> PublishedSurvey:
    caller.require(scope, ("steward",))
    found = house.surveys.find(name)
    held = house.rights.of(caller.person).get(found.table_name) if found.table_name else None
    ours = held == "steward" and house.shelf.facts(found.table_name).population == found.population
    if not ours and not caller.person.chief:
        raise UnknownNameError(f"There is no survey {name!r} that you look after.")
    return found


def _purse(house: ServiceHouse, caller: Caller, population: str) -> Purse:
    source = seeded(house.settings.rehearse) if house.settings.rehearse else None
    return Purse(house.ledger, population, caller.person.name, source)

"""Questions and workloads: priced, paid for, and answered at the end of a slot that no row chooses."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import JSONResponse
from pydantic import Field
from starlette.concurrency import run_in_threadpool

from ziggurat.errors import LimitError, UnavailableError, ZigguratError
from ziggurat.release import Release, Session
from ziggurat.release.config import QuestionSaid, WorkloadSaid
from ziggurat.release.questions import AnswerPlan
from ziggurat.service._house import ServiceHouse
from ziggurat.service.access import Caller
from ziggurat.service.asking import Repeated
from ziggurat.service.web._calling import Calling, House
from ziggurat.service.web._errors import tell_error
from ziggurat.service.web.routes._bodies import Body, TableName

router = APIRouter(prefix="/v1", tags=["questions"])

RepeatKey = Annotated[
    str | None,
    Header(alias="Idempotency-Key", description="The same for the same request sent again: it is done and paid once."),
]


OneQuestion = Annotated[QuestionSaid | WorkloadSaid, Field(discriminator="kind")]


class AskBody(Body):
    """A question, and the private tables that it is about."""

    tables: list[TableName] = Field(min_length=1, max_length=8)
    question: QuestionSaid | WorkloadSaid = Field(discriminator="kind")


class QuoteBody(AskBody):
    """A question to be priced."""

    group_size: int = Field(1_000, ge=1, le=1_000_000_000, description="For groups of how many errors are told.")
    also: list[OneQuestion] = Field(
        default_factory=list, max_length=100, description="Questions to be asked after it, priced together with it."
    )


@router.get("/session")
def session(
    house: House, caller: Calling, table: Annotated[list[TableName], Query(min_length=1, max_length=8)]
) -> dict[str, Any]:
    """Say which budget pays for questions about tables, what is left of it, and which tables they may be about."""
    caller.require("read", ("analyst", "steward"))
    found = house.desk.session(caller.person, table)
    return {
        "analyst": caller.person.name, "budget": found.budget, "left": str(found.left()),
        "remainder": found.remainder(), "rehearsal": found.rehearsal, "tables": list(found.tables),
    }  # fmt: skip


@router.post("/quote")
def quote(body: QuoteBody, house: House, caller: Calling) -> dict[str, Any]:
    """Say what a question would cost, how exact it would be and whether it fits; nothing is read or spent."""
    caller.require("read", ("analyst", "steward"))
    found = house.desk.quote(caller.person, body.tables, [body.question, *body.also], body.group_size)
    return {**found.to_dict(), "sentence": found.sentence}


@router.post("/ask")
async def ask(
    body: AskBody, request: Request, house: House, caller: Calling, repeat_key: RepeatKey = None
) -> JSONResponse:
    """Pay for a question and answer it, at the end of its slot; a question answered before costs nothing.

    With an Idempotency-Key a request that is sent again after a lost connection is told the same and pays once.
    """
    begun = house.slots.now()
    caller.require("spend", ("analyst", "steward"))
    if house.waiting >= house.settings.waiting:
        raise LimitError("Too many questions wait; nothing was spent, come back in a few seconds.")
    house.waiting += 1
    try:
        said = body.model_dump(mode="json")
        told = await run_in_threadpool(_begin, house, caller, repeat_key, said)
        if told is not None:
            return _tell_again(told)
        work, seconds = await run_in_threadpool(_prepare, house, caller, body, repeat_key)
        kept = await house.slots.keep(begun, seconds, work)
    finally:
        house.waiting -= 1
    request.app.state.metrics.note_doubled(kept.doubled)
    status, answered = kept.outcome
    return JSONResponse({**answered, "slot": kept.to_dict()}, status)


@router.get("/history")
def history(house: House, caller: Calling, table: TableName) -> dict[str, Any]:
    """List what whoever asks has paid for about a table, with the answers, so that nothing is bought twice."""
    caller.require("read", ("analyst", "steward"))
    past = house.desk.session(caller.person, [table]).history()
    return {
        "questions": [
            {
                "time": each.time, "question": each.question, "rehearsal": each.rehearsal,
                "event": each.event.to_dict(), "answer": None if each.answer is None else each.answer.to_dict(),
            }
            for each in past
        ]
    }  # fmt: skip


def _begin(house: ServiceHouse, caller: Caller, key: str | None, said: Any) -> Repeated | None:
    return None if key is None else house.repeats.begin(caller.person, key, said)


def _prepare(
    house: ServiceHouse, caller: Caller, body: AskBody, key: str | None
) -> tuple[Callable[[], tuple[int, dict[str, Any]]], float]:
    """Plan a question from public facts; what is refused here was never begun."""
    try:
        session = house.desk.session(caller.person, body.tables)
        plan = house.desk.plan(session, body.question)
        slots = [house.shelf.facts(name).slot or house.settings.slot for name in body.tables]
    except ZigguratError:
        if key is not None:
            house.repeats.forget(caller.person, key)
        raise
    return lambda: _answer(house, caller, session, plan, key), max(slots)


def _answer(
    house: ServiceHouse, caller: Caller, session: Session, plan: AnswerPlan[Any], key: str | None
) -> tuple[int, dict[str, Any]]:
    """Pay and answer, and keep what came of it before anybody is told; this runs to its end, whoever still waits."""
    try:
        status, told = 200, _tell(house.desk.ask(session, plan), session)
    except ZigguratError as error:
        status, told = tell_error(error)
    if key is not None:
        try:
            house.repeats.end(caller.person, key, status, json.dumps(told))
        except UnavailableError as error:
            status, told = tell_error(error)
    return status, told


def _tell(made: Release[Any], session: Session) -> dict[str, Any]:
    certificate = made.certificate
    return {
        "answer": made.output.to_dict(),
        "text": str(made.output),
        "sentence": certificate.sentence,
        "certificate": certificate.to_dict(),
        "replayed": made.replayed,
        "rehearsal": made.seeded,
        "left": session.remainder(),
    }


def _tell_again(told: Repeated) -> JSONResponse:
    found: dict[str, Any] = json.loads(told.body)
    return JSONResponse({**found, "slot": None}, told.status, headers={"Idempotency-Replayed": "true"})

"""Questions and workloads: priced, paid for, and answered at the end of a slot that no row chooses."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import JSONResponse
from pydantic import Field
from starlette.concurrency import run_in_threadpool

from ziggurat.errors import LedgerUseError
from ziggurat.release.config import QuestionSaid, WorkloadSaid
from ziggurat.release.questions import Past
from ziggurat.service._house import ServiceHouse
from ziggurat.service.access import Caller
from ziggurat.service.store import end_slot, seconds_to, utc_now
from ziggurat.service.web._asking import ask_question, send_told
from ziggurat.service.web._calling import Calling, House
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
    told = await ask_question(house, caller, body.tables, body.question, repeat_key, begun).answer()
    return send_told(told, request)


@router.get("/history")
async def history(house: House, caller: Calling, table: TableName) -> dict[str, Any]:
    """List what whoever asks has paid for about a table, with the answers, so that nothing is bought twice.

    An answer is here when its slot has ended; for the slot of a question that was just asked this waits.
    """
    caller.require("read", ("analyst", "steward"))
    past, seconds = await run_in_threadpool(_look_back, house, caller, table)
    if past and (left := seconds_to(end_slot(past[-1].time, past[-1].time, seconds))) > 0:
        await asyncio.sleep(left)
        past, _ = await run_in_threadpool(_look_back, house, caller, table)
    since = min((str(job.begun) for job in await run_in_threadpool(house.jobs.untold, caller.person)), default=None)
    return {"questions": [_show(each, _is_told(each, seconds, since)) for each in past]}


def _look_back(house: ServiceHouse, caller: Caller, table: str) -> tuple[list[Past], float]:
    """What somebody has paid for about a table, and how long the slots of its answers are."""
    try:
        past = house.desk.session(caller.person, [table]).history()
    except LedgerUseError:  # who was granted nothing has paid for nothing
        past = []
    return past, house.shelf.facts(table).slot or house.settings.slot


def _is_told(past: Past, seconds: float, since: str | None) -> bool:
    """Whether an answer may be seen: its slot has ended, and it is of no job whose slot has not."""
    if not past.answered or (since is not None and past.time >= since):
        return False
    return end_slot(past.time, past.answered, seconds) <= utc_now()


def _show(past: Past, told: bool) -> dict[str, Any]:
    answer = past.answer.to_dict() if told and past.answer is not None else None
    return {
        "time": past.time, "question": past.question, "rehearsal": past.rehearsal, "event": past.event.to_dict(),
        "answer": answer,
    }  # fmt: skip

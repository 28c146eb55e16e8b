"""Questions and workloads: priced, paid for, and answered at the end of a slot that no row chooses."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import JSONResponse
from pydantic import Field

from ziggurat.errors import LedgerUseError
from ziggurat.release.config import QuestionSaid, WorkloadSaid
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
def history(house: House, caller: Calling, table: TableName) -> dict[str, Any]:
    """List what whoever asks has paid for about a table, with the answers, so that nothing is bought twice."""
    caller.require("read", ("analyst", "steward"))
    try:
        past = house.desk.session(caller.person, [table]).history()
    except LedgerUseError:  # who was granted nothing has paid for nothing
        past = []
    return {
        "questions": [
            {
                "time": each.time, "question": each.question, "rehearsal": each.rehearsal,
                "event": each.event.to_dict(), "answer": None if each.answer is None else each.answer.to_dict(),
            }
            for each in past
        ]
    }  # fmt: skip

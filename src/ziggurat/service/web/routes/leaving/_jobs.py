"""Jobs: asked for, watched, cancelled, and gone on with where a gate stopped them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import Field
from starlette.concurrency import run_in_threadpool

from ziggurat.errors import AccessError, ZigguratError
from ziggurat.service._house import ServiceHouse
from ziggurat.service.access import Caller
from ziggurat.service.web._calling import Calling, House
from ziggurat.service.web.routes._bodies import Body, Name, TableName
from ziggurat.service.web.routes._questions import RepeatKey
from ziggurat.service.web.routes.leaving._job_views import SeenJob, see_job, see_jobs
from ziggurat.service.work import Job, JobFolder

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])

_LOOK_SECONDS, _STILL_SECONDS, _LONGEST_SECONDS = 0.5, 15.0, 600.0
Column = Annotated[str, Field(max_length=200)]


class RiskBody(Body):
    """Measure how exposed the people in a table are; the figures are exact, and for its stewards."""

    kind: Literal["risk"]
    table: TableName
    quasi_identifiers: list[Column] = Field(
        default_factory=list, max_length=64, description="By default by the schema."
    )
    sensitive: list[Column] = Field(default_factory=list, max_length=64, description="By default by the schema.")
    threshold: float = Field(0.2, gt=0, le=1, description="Which risk counts as high.")


class VerifyLedgerBody(Body):
    """Verify the whole ledger; for auditors and stewards."""

    kind: Literal["verify"]


class ProposalBody(Body):
    """Propose a schema for an upload; for whoever brought it."""

    kind: Literal["proposal"]
    upload: Name


class JobBody(Body):
    """Long work."""

    job: RiskBody | VerifyLedgerBody | ProposalBody = Field(discriminator="kind")


class GoOnBody(Body):
    """Why a release shall leave although the gate stopped it."""

    reason: str = Field(min_length=1, max_length=500)


@router.post("", status_code=202)
def begin(body: JobBody, house: House, caller: Calling, repeat_key: RepeatKey = None) -> JSONResponse:
    """Begin long work; with an Idempotency-Key a request that is sent again is the same job."""
    said = body.job
    if isinstance(said, RiskBody):
        return _begin_risk(said, house, caller, repeat_key)
    if isinstance(said, VerifyLedgerBody):
        caller.require("read", ("auditor", "steward"))
        return place_job(house, caller, "verify", "", {}, repeat_key)
    caller.require("manage", ("steward",))
    place = house.uploads.find(caller.person, said.upload)
    links = {f"table{place.suffix}": place}
    return place_job(house, caller, "proposal", "", {"upload": said.upload}, repeat_key, links=links)


@router.get("")
def jobs(house: House, caller: Calling) -> dict[str, Any]:
    """List the newest jobs of whoever asks, and those about tables that they look after."""
    caller.require("read")
    return {"jobs": [each.to_dict(house) for each in see_jobs(house, caller.person)]}


@router.get("/{job}")
def job(job: Name, house: House, caller: Calling) -> dict[str, Any]:
    """Say how far a job is, and what came of it."""
    caller.require("read")
    return see_job(house, caller.person, job).to_dict(house)


@router.get(
    "/{job}/events", response_class=StreamingResponse, responses={200: {"content": {"text/event-stream": {}}}}
)  # fmt: skip
async def events(job: Name, request: Request, house: House, caller: Calling) -> StreamingResponse:
    """Tell every change of a job as it happens (server-sent events), until it has ended, or for ten minutes."""
    caller.require("read")
    first = await run_in_threadpool(see_job, house, caller.person, job)
    return StreamingResponse(_tell_changes(first, request, house, caller), media_type="text/event-stream")


@router.post("/{job}/cancel")
def cancel(job: Name, house: House, caller: Calling) -> dict[str, Any]:
    """End a job; what was reserved for it stays spent. An analyst ends their own until it is begun."""
    seen = see_job(house, caller.person, job)
    spent = "manage" if caller.person.role == "steward" else "spend"
    caller.require("read" if seen.job.kind == "verify" else spent)
    seen.require_cancellable()
    house.jobs.cancel(job)
    return see_job(house, caller.person, job).to_dict(house)


@router.post("/{job}/go-on", status_code=202)
def go_on(job: Name, body: GoOnBody, house: House, caller: Calling) -> dict[str, Any]:
    """Let a release go on that a gate stopped, with a reason that stays for ever; for the stewards of its table."""
    caller.require("manage", ("steward",))
    if not see_job(house, caller.person, job).steward:
        raise AccessError("This is for the stewards of the table; ask one of them.")
    house.jobs.go_on(job, body.reason)
    return see_job(house, caller.person, job).to_dict(house)


def place_job(
    house: ServiceHouse,
    caller: Caller,
    kind: str,
    table: str,
    said: dict[str, Any],
    repeat_key: str | None,
    *,
    texts: dict[str, str] | None = None,
    links: Any = None,
    slot: float | None = None,
    open_to_all: bool = False,
) -> JSONResponse:
    """Put a job on the list, and answer with it."""
    folder = house.settings.folder
    made, again = house.jobs.place(
        caller.person, kind, table, said, lambda: JobFolder.make(folder, texts or {}, links or {}),
        repeat_key=repeat_key, slot=slot, open_to_all=open_to_all,
    )  # fmt: skip
    told = SeenJob(made, False).to_dict(house)
    headers = {"Location": f"/v1/jobs/{made.id}"}
    return JSONResponse(told, 202, headers=headers | ({"Idempotency-Replayed": "true"} if again else {}))


def _begin_risk(said: RiskBody, house: ServiceHouse, caller: Caller, repeat_key: str | None) -> JSONResponse:
    caller.require("manage", ("steward",))
    house.rights.require(caller.person, said.table, "steward")
    found = house.names.look_up_table(caller.person, said.table)
    request = said.model_dump(mode="json")
    return place_job(
        house, caller, "risk", said.table, request, repeat_key, texts=found.files, links=found.links
    )  # fmt: skip


async def _tell_changes(first: SeenJob, request: Request, house: ServiceHouse, caller: Caller) -> AsyncIterator[str]:
    """Tell a job whenever it changes; whoever may not see it any more is told nothing more."""
    seen, told, quiet, whole = first, "", 0.0, 0.0
    while True:
        said = json.dumps(await run_in_threadpool(seen.to_dict, house))
        if said != told:
            told, quiet = said, 0.0
            yield f"event: job\ndata: {said}\n\n"
        elif quiet >= _STILL_SECONDS:
            quiet = 0.0
            yield ": still\n\n"
        if seen.over or whole >= _LONGEST_SECONDS or await request.is_disconnected():
            return
        await asyncio.sleep(_LOOK_SECONDS)
        quiet, whole = quiet + _LOOK_SECONDS, whole + _LOOK_SECONDS
        try:
            seen = await run_in_threadpool(_look_again, house, caller, seen.job)
        except ZigguratError:
            return


def _look_again(house: ServiceHouse, caller: Caller, job: Job) -> SeenJob:
    person = house.people.with_id(caller.person.id)
    if not person.active:
        raise AccessError("This is for people who are let in.")
    return see_job(house, person, job.id)

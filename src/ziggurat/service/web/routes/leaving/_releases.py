"""Releases: priced, tried, run as jobs, listed, handed out and verified."""

from __future__ import annotations

import tempfile
from pathlib import Path
from threading import BoundedSemaphore
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import FileResponse, JSONResponse
from pydantic import Field
from starlette.concurrency import run_in_threadpool

from ziggurat.errors import LimitError, ParameterError, TooLargeError
from ziggurat.service._house import ServiceHouse
from ziggurat.service.access import Caller
from ziggurat.service.web._calling import Calling, House
from ziggurat.service.web.routes._bodies import Body, Name, TableName
from ziggurat.service.web.routes._questions import RepeatKey
from ziggurat.service.web.routes.leaving._jobs import place_job
from ziggurat.service.work import DescribedRelease, JobFolder

router = APIRouter(prefix="/v1/releases", tags=["releases"])

_verifying = BoundedSemaphore(4)
_ZIP = {"content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}}}
_DESCRIPTION = (
    "As a release file says it, with names for paths: a table is a table of the service, another file an upload. "
    "GET /v1/releases/schema has its JSON schema."
)


class DescribedBody(Body):
    """A release to be tried."""

    description: dict[str, Any] = Field(description=_DESCRIPTION)


class PlanBody(DescribedBody):
    """A release to be priced."""

    group_size: int = Field(1_000, ge=1, le=1_000_000_000, description="For groups of how many errors are told.")


class RunBody(DescribedBody):
    """A release to be run."""

    open: bool | None = Field(
        None, description="Whether everybody who may see the table may have the public part; stewards' are by default."
    )


class OpenReleaseBody(Body):
    """Who may have the public part."""

    open: bool


@router.post("/plan")
def plan(body: PlanBody, house: House, caller: Calling) -> dict[str, Any]:
    """Price a release with a guarantee, and say how exact it would be; no row is read, and nothing is spent."""
    from ziggurat.release.config import describe_release

    caller.require("read", ("analyst", "steward"))
    found = house.names.look_up(caller.person, body.description)
    if not found.guaranteed:
        raise ParameterError("Nothing bounds what this tells, so that it has no price; try it instead.")
    with tempfile.TemporaryDirectory(prefix="ziggurat-plan-") as place:
        outlook = describe_release(found.write(Path(place), house.settings.ledger_place), group_size=body.group_size)
    said = {name: value for name, value in outlook.to_dict().items() if name != "bundle"}
    return {**said, "sentences": outlook.sentences[:-1]}


@router.post("/try", status_code=202)
def attempt(body: DescribedBody, house: House, caller: Calling, repeat_key: RepeatKey = None) -> JSONResponse:
    """Measure, as a job, a release that nothing bounds, for the stewards of its table; nothing leaves or is noted."""
    caller.require("manage", ("steward",))
    found = house.names.look_up(caller.person, body.description)
    return _place("try", found, body.description, house, caller, repeat_key)


@router.post("", status_code=202)
def run(body: RunBody, house: House, caller: Calling, repeat_key: RepeatKey = None) -> JSONResponse:
    """Run a release as a job: paid once, whatever is killed meanwhile, and kept as a signed bundle."""
    caller.require("spend" if caller.person.role == "analyst" else "manage", ("analyst", "steward"))
    found = house.names.look_up(caller.person, body.description)
    return _place("release", found, body.description, house, caller, repeat_key, body.open)


@router.get("")
def releases(house: House, caller: Calling, table: Annotated[TableName | None, Query()] = None) -> dict[str, Any]:
    """List what has left and whoever asks may have, newest first."""
    caller.require("read")
    found = house.releases.all(caller.person, table)
    return {"releases": [each.to_dict() for each in found]}


@router.get("/schema")
def schema(caller: Calling) -> dict[str, Any]:
    """Give the JSON schema of descriptions of releases."""
    from ziggurat.release.config import json_schema

    caller.require("read")
    return json_schema()


@router.get("/key")
def key(house: House, caller: Calling) -> dict[str, str]:
    """Give the public key that signs the releases of this service, to verify them with."""
    caller.require("read")
    found = house.signing_key()
    return {
        "public_key": found.public_key, "fingerprint": found.fingerprint,
        "text": found.public_file.read_text(encoding="utf-8"),
    }  # fmt: skip


@router.post(
    "/verify",
    openapi_extra={"requestBody": {"required": True, "content": {"application/octet-stream": {"schema": {}}}}},
)
async def verify(request: Request, house: House, caller: Calling) -> dict[str, Any]:
    """Verify a bundle, sent as the body of the request, a .zip; nothing of it is unpacked or kept."""
    caller.require("read")
    if not _verifying.acquire(blocking=False):
        raise LimitError("Several bundles are being verified; come back in a few seconds.")
    try:
        return await _take_and_verify(request, house)
    finally:
        _verifying.release()


async def _take_and_verify(request: Request, house: ServiceHouse) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="ziggurat-verify-") as place:
        file, size = Path(place) / "bundle.zip", 0
        with file.open("wb") as opened:
            async for part in request.stream():
                size += len(part)
                if size > house.settings.longest_upload:
                    raise TooLargeError(f"The bundle is longer than {house.settings.longest_upload:,} bytes.")
                await run_in_threadpool(opened.write, part)
        return await run_in_threadpool(_verify, file, house)


@router.get("/{release}")
def release(release: Name, house: House, caller: Calling) -> dict[str, Any]:
    """Give the certificate of a release: what it promises, and what it cost."""
    caller.require("read")
    found = house.releases.find(caller.person, release)
    outcome = _folder(house, found.id).outcome_of_release()
    return {**found.to_dict(), **outcome}


@router.patch("/{release}")
def change(release: Name, body: OpenReleaseBody, house: House, caller: Calling) -> dict[str, Any]:
    """Let everybody who may see the table have the public part, or nobody but its stewards and who made it."""
    caller.require("manage", ("steward",))
    found = house.releases.find(caller.person, release)
    house.rights.require(caller.person, found.table, "steward")
    house.releases.set_open(found.id, body.open)
    return house.releases.find(caller.person, release).to_dict()


@router.get("/{release}/public", response_class=FileResponse, responses={200: _ZIP})
def public(release: Name, house: House, caller: Calling) -> FileResponse:
    """Download the public part, which verifies by itself."""
    caller.require("read")
    found = house.releases.find(caller.person, release)
    if not _folder(house, found.id).public.is_file():
        raise ParameterError("This is a rehearsal, which nobody is handed; run it without a seed.")
    return _send(_folder(house, found.id).public, f"{found.id}.public.zip")


@router.get("/{release}/bundle", response_class=FileResponse, responses={200: _ZIP})
def bundle(release: Name, house: House, caller: Calling) -> FileResponse:
    """Download the whole bundle, evidence included; for the stewards of its table."""
    caller.require("manage", ("steward",))
    found = house.releases.find(caller.person, release)
    house.rights.require(caller.person, found.table, "steward")
    return _send(_folder(house, found.id).bundle, f"{found.id}.zip")


def _place(
    kind: str,
    found: DescribedRelease,
    said: dict[str, Any],
    house: ServiceHouse,
    caller: Caller,
    repeat_key: str | None,
    open_to_all: bool | None = None,
) -> JSONResponse:
    if kind == "try" and found.guaranteed:
        raise ParameterError("A release with a guarantee is not tried for nothing; plan it, or pay for it.")
    steward = caller.person.role == "steward"
    facts = house.shelf.facts(found.table)
    return place_job(
        house, caller, kind, found.table, {"description": said}, repeat_key, texts=found.files, links=found.links,
        slot=None if steward else max(facts.slot or 0.0, house.settings.job_slot),
        open_to_all=steward if open_to_all is None else open_to_all,
    )  # fmt: skip


def _verify(file: Path, house: ServiceHouse) -> dict[str, Any]:
    from ziggurat.release.bundle import verify_bundle

    found = verify_bundle(file)
    problems = [{"file": each.file, "what": each.what, "field": each.field} for each in found.problems]
    return {
        "sound": found.sound, "problems": problems, "rehearsal": found.rehearsal,
        "signer": found.signer, "ours": found.public_key == house.signing_key().public_key,
        "parts": list(found.parts), "files": found.files, "bytes": found.bytes, "certificate": dict(found.certificate),
    }  # fmt: skip


def _folder(house: ServiceHouse, identity: str) -> JobFolder:
    return house.jobs.folder_of(identity)


def _send(file: Path, name: str) -> FileResponse:
    return FileResponse(file, media_type="application/zip", filename=name)

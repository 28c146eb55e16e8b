"""Models: published ones predict, served ones answer from where they lie; both for nothing, as often as one likes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from pydantic import Field
from starlette.concurrency import run_in_threadpool

from ziggurat.errors import ParameterError, ZigguratError
from ziggurat.plain import to_plain
from ziggurat.service._house import ServiceHouse
from ziggurat.service.access import Caller
from ziggurat.service.catalogue import ShelvedModel, open_rows
from ziggurat.service.web._calling import Calling, House
from ziggurat.service.web._errors import tell_error
from ziggurat.service.web.routes._bodies import Body, Name, TableName

router = APIRouter(prefix="/v1/models", tags=["models"])

Cell = bool | int | float | str | None
Rows = Annotated[
    list[dict[str, Cell]],
    Field(min_length=1, max_length=10_000, description="Rows, each by the names of its columns."),
]


class PublishedBody(Body):
    """A model that a release of this service let leave; for stewards of its table."""

    kind: Literal["published"]
    name: TableName
    release: Name


class BroughtBody(Body):
    """A folder that the operator put among the models of the service; for chief stewards."""

    kind: Literal["served", "teachers"]
    name: TableName
    table: TableName
    folder: TableName = Field(description="Its bare name in the folder 'models' of the service.")


class ModelBody(Body):
    """A model to be registered."""

    model: PublishedBody | BroughtBody = Field(discriminator="kind")


class RowsBody(Body):
    """What a model is asked."""

    rows: Rows


@router.post("", status_code=201)
def register(body: ModelBody, house: House, caller: Calling) -> dict[str, Any]:
    """Register a model under a name, which stands for it for ever."""
    said = body.model
    if isinstance(said, BroughtBody):
        caller.require_chief()
        house.shelf.facts(said.table)
        folder = house.models.brought(said.folder)
        made = house.models.place(caller.person, said.name, said.table, said.kind, folder)
        try:
            house.models.open(made)
        except ZigguratError:
            house.models.remove(said.name)
            raise
        return made.to_dict()
    caller.require("manage", ("steward",))
    found = house.releases.find(caller.person, said.release)
    house.rights.require(caller.person, found.table, "steward")
    if found.kind != "model":
        raise ParameterError("Only releases of the kind 'model' predict.")
    return house.models.publish(caller.person, said.name, found, house.jobs.folder_of(found.id).bundle).to_dict()


@router.get("")
def models(house: House, caller: Calling) -> dict[str, Any]:
    """List the models about tables that whoever asks may see."""
    caller.require("read")
    return {"models": [each.to_dict() for each in house.models.all(house.rights.of(caller.person))]}


@router.get("/{name}")
def model(name: TableName, house: House, caller: Calling) -> dict[str, Any]:
    """Say what is publicly known of a model: what it is asked, and what it promises."""
    caller.require("read")
    found = _find(house, caller, name)
    return {**found.to_dict(), "facts": house.models.open(found).describe()}


@router.delete("/{name}")
def remove(name: TableName, house: House, caller: Calling) -> dict[str, str]:
    """Forget a model; its folder stays. For the stewards of its table."""
    caller.require("manage", ("steward",))
    found = house.models.seen(name, house.rights.of(caller.person))
    house.rights.require(caller.person, found.table, "steward")
    house.models.remove(name)
    return {"removed": name}


@router.post("/{name}/predict")
def predict(name: TableName, body: RowsBody, house: House, caller: Calling) -> dict[str, Any]:
    """Predict by a published model: a function of what has left already, so that it costs nothing."""
    found = _find(house, caller, name, "published")
    opened = house.models.open(found)
    return {"predictions": opened.answer(open_rows(body.rows, opened.asked_schema))}


@router.post("/{name}/answer")
async def answer(name: TableName, body: RowsBody, house: House, caller: Calling) -> JSONResponse:
    """Answer by a served model: free, as often as one likes, and the same for the same question for ever.

    What is told leaves at the end of its slot, because the model may lie beside rows.
    """
    begun = house.slots.now()
    found = await run_in_threadpool(_find, house, caller, name, "served")
    slot = (await run_in_threadpool(house.shelf.facts, found.table)).slot or house.settings.slot
    with house.waiting.take(caller.person):
        kept = await house.slots.keep(begun, slot, _work(house, found, body))
    status, answered = kept.outcome
    return JSONResponse({**answered, "slot": kept.to_dict()}, status)


def _work(house: ServiceHouse, found: ShelvedModel, body: RowsBody) -> Callable[[], tuple[int, dict[str, Any]]]:
    def work() -> tuple[int, dict[str, Any]]:
        try:
            opened = house.models.open(found)
            answers = opened.answer(open_rows(body.rows, opened.asked_schema))
        except ZigguratError as error:
            return tell_error(error)
        return 200, {"answers": to_plain(answers), **opened.promise()}

    return work


def _find(house: ServiceHouse, caller: Caller, name: str, kind: str = "") -> ShelvedModel:
    """Find a model of a table that whoever asks may see; of that kind, if one is wanted."""
    caller.require("read")
    found = house.models.seen(name, house.rights.of(caller.person))
    if kind and found.kind != kind:
        other = {"served": "answer", "published": "predict"}.get(found.kind)
        raise ParameterError(f"{name!r} is {found.kind}" + (f"; use '{other}'." if other else ", and is not asked."))
    return found

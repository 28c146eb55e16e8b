"""Tables: brought by stewards as uploads or by address, described to whoever may ask about them, with who may."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Literal

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.concurrency import run_in_threadpool

from ziggurat.errors import AccessError, ConflictError
from ziggurat.service._house import ServiceHouse
from ziggurat.service.access import Caller
from ziggurat.service.catalogue import refuse_damaged, show_public
from ziggurat.service.web._calling import Calling, House
from ziggurat.service.web.routes._bodies import Body, Name, TableName

router = APIRouter(prefix="/v1", tags=["tables"])

_PUBLIC = ["name", "kind", "role", "values", "provenance", "description"]
# Codes for missing values may have been read off the cells, and nothing says whether: they are not shown.


class TableBody(Body):
    """A table to be registered."""

    name: TableName
    schema_text: str = Field(alias="schema", max_length=1 << 19, description="What is publicly known of it, as YAML.")
    address: str = Field(
        max_length=1000, description="upload:NAME, invented:NAME, open:NAME, postgresql://… or spark:…"
    )
    inside: str = Field("", max_length=200, description="The table of a database.")
    population: Name | None = Field(None, description="Whose account pays; by default one of the table's name.")
    public: bool = Field(False, description="That it is no secret, and can be joined for nothing.")
    slot: float | None = Field(None, gt=0, le=600, description="After how many seconds answers about it leave.")


class RightBody(Body):
    """What somebody may do with a table."""

    may: Literal["ask", "steward"]


@router.post("/uploads", status_code=201)
async def upload(request: Request, house: House, caller: Calling, filename: str) -> dict[str, Any]:
    """Send a file as the body of the request; `filename` says by its ending what it is. For stewards."""
    caller.require("manage", ("steward",))

    async def parts() -> AsyncIterator[bytes]:
        async for part in request.stream():
            yield part

    return (await house.uploads.take(caller.person, filename, parts())).to_dict()


@router.post("/uploads/{name}/proposal")
def propose(name: Name, house: House, caller: Calling) -> dict[str, Any]:
    """Propose a schema for an upload, with the reasons; what was learned from the rows is marked so."""
    from ziggurat.data import read, suggest_schema

    caller.require("manage", ("steward",))
    path = house.uploads.find(caller.person, name)
    with refuse_damaged(f"upload:{name}"):
        opened = read(path, unit="row", on_bad_cell="missing")
        found = suggest_schema(opened)
    return {"schema": found.schema.to_yaml(), "reasons": dict(found.reasons), "notes": list(opened.notes)}


@router.post("/tables", status_code=201)
def register(body: TableBody, house: House, caller: Calling) -> dict[str, Any]:
    """Register a table: a cell that cannot be read refuses it, and what else contradicts the schema is listed."""
    from ziggurat.data import check_table

    caller.require("manage", ("steward",))
    kind, _, name = body.address.partition(":")
    if kind == "upload":
        house.uploads.find(caller.person, name)
    elif kind not in ("invented", "open") and not caller.person.chief:
        raise AccessError("Tables of databases are registered by chief stewards; ask one, or send the table.")
    _require_account(house, body.name, body.population or body.name)
    _require_population(house, caller, body.population or body.name)
    made = house.shelf.place(
        caller.person, body.name, body.schema_text, body.address, inside=body.inside,
        population=body.population or "", public=body.public, slot=body.slot,
    )  # fmt: skip
    return {**made.to_dict(), "problems": [str(each) for each in check_table(house.shelf.open(made.name, made))]}


@router.get("/tables")
def tables(house: House, caller: Calling) -> dict[str, Any]:
    """List the tables that whoever asks may ask about, or looks after."""
    caller.require("read")
    held = house.rights.of(caller.person)
    return {"tables": [{**each.to_dict(), "may": held[each.name]} for each in house.shelf.all(held)]}


@router.get("/tables/{name}")
def table(name: TableName, house: House, caller: Calling) -> dict[str, Any]:
    """Say what is publicly known of a table: columns, kinds, bounds and categories; no cell and no count."""
    caller.require("read")
    house.rights.require(caller.person, name)
    facts, opened = house.shelf.facts(name), house.shelf.open(name)
    rows = opened.view(name).described.select(_PUBLIC).to_pylist()
    told = {"columns": [row for row in rows if row["name"] in facts.schema], "schema": show_public(opened).to_yaml()}
    return {**facts.to_dict(), **told}


@router.get("/tables/{name}/preview")
async def preview(name: TableName, house: House, caller: Calling) -> dict[str, Any]:
    """Show a steward what the columns hold: exact counts of rows and of missing cells, which are private."""
    caller.require("manage", ("steward",))
    house.rights.require(caller.person, name, "steward")
    found = await run_in_threadpool(lambda: house.shelf.open(name).preview())
    return {"rows": found.rows, "columns": [dict(each) for each in found.columns], "notes": list(found.notes)}


@router.delete("/tables/{name}")
def remove(name: TableName, house: House, caller: Calling) -> dict[str, str]:
    """Forget a table; its account in the ledger stays."""
    caller.require("manage", ("steward",))
    house.rights.require(caller.person, name, "steward")
    house.shelf.remove(name)
    return {"removed": name}


@router.get("/tables/{name}/rights")
def rights(name: TableName, house: House, caller: Calling) -> dict[str, Any]:
    """List who may do what with a table; for its stewards."""
    caller.require("manage", ("steward",))
    house.rights.require(caller.person, name, "steward")
    return {"rights": {house.people.with_id(who).name: may for who, may in house.rights.on(name).items()}}


@router.put("/tables/{name}/rights/{person}")
def give(name: TableName, person: Name, body: RightBody, house: House, caller: Calling) -> dict[str, str]:
    """Let somebody ask about a table, or look after it; for its stewards."""
    caller.require("manage", ("steward",))
    house.rights.require(caller.person, name, "steward")
    house.rights.give(house.people.named(person), name, body.may)
    return {"table": name, "person": person, "may": body.may}


@router.delete("/tables/{name}/rights/{person}")
def take(name: TableName, person: Name, house: House, caller: Calling) -> dict[str, str]:
    """Take away whatever somebody may do with a table; for its stewards."""
    caller.require("manage", ("steward",))
    house.rights.require(caller.person, name, "steward")
    if person == caller.person.name and not caller.person.chief:
        raise ConflictError("A steward does not take the table away from themselves; another one does.")
    house.rights.take(house.people.named(person), name)
    return {"table": name, "person": person}


def _require_account(house: ServiceHouse, name: str, population: str) -> None:
    """Refuse a name that the ledger has for a budget of other people: their budget would pay for the table."""
    for each in (name, population):
        if house.ledger.population(each) not in (each, population):
            raise ConflictError(f"There is a budget of the name {each!r} about other people; take another name.")
    if house.ledger.population(population) != population:
        raise ConflictError(f"{population!r} is the name of a budget, not of a population; take another name.")


def _require_population(house: ServiceHouse, caller: Caller, population: str) -> None:
    """Refuse to bring a table of people whose account others look after: who brings it, could grant what is theirs."""
    if caller.person.chief or not (house.shelf.about(population) or population in house.ledger.populations()):
        return
    held = house.rights.of(caller.person)
    if not any(held.get(each.name) == "steward" for each in house.shelf.about(population)):
        raise ConflictError(
            f"There is an account of the name {population!r} already; take another name, or ask a chief steward."
        )

"""What was promised and spent about a population, for everybody who knows its name, once its stewards say so."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter, Request
from pydantic import Field

from ziggurat.data import Unit
from ziggurat.errors import UnknownNameError
from ziggurat.privacy import Neighbours, Relation
from ziggurat.service._house import ServiceHouse
from ziggurat.service.access import Caller
from ziggurat.service.catalogue import tell_promise
from ziggurat.service.web._calling import Calling, House
from ziggurat.service.web.routes._bodies import Body, ExactAmount, Name
from ziggurat.service.web.routes._calls import from_where

router = APIRouter(prefix="/v1/populations", tags=["populations"])


class PeopleBudgetBody(Body):
    """A budget about people of whom no table is here, such as those who answer surveys."""

    name: Name | None = Field(None, description="By default that of the population.")
    person: str | None = Field(None, max_length=200, description="The column that tells them apart; else a row is one.")
    epsilon: ExactAmount
    delta: ExactAmount = "0"
    relation: Literal["add-or-remove-one", "replace-one"] = "replace-one"


class OpenPopulationBody(Body):
    """Whether everybody may read what was promised."""

    open: bool


@router.get("/{name}/promise")
def promise(name: Name, request: Request, house: House) -> dict[str, Any]:
    """Say what was promised and spent about a population, in plain words; open to everybody, and the same for all.

    It reads the ledger alone, so that it says nothing about whether whoever asks is one of these people.
    """
    request.app.state.rate.count(from_where(request))
    house.populations.require_open(name)
    return tell_promise(house.ledger, name)


@router.post("/{name}/budgets", status_code=201)
def make_budget(name: Name, body: PeopleBudgetBody, house: House, caller: Calling) -> dict[str, Any]:
    """Set what may be spent on people of whom there is no table, for surveys; for chief stewards."""
    caller.require_chief()
    unit = Unit("row") if body.person is None else Unit("person", body.person)
    whom = Neighbours(unit, Relation(body.relation))
    made = house.ledger.create_budget(body.name or name, body.epsilon, body.delta, whom, population=name)
    return {"budget": made.table, "epsilon": str(made.epsilon), "delta": str(made.delta), "protects": str(whom)}


@router.put("/{name}")
def set_open(name: Name, body: OpenPopulationBody, house: House, caller: Calling) -> dict[str, Any]:
    """Let everybody read what was promised about a population, or nobody; for stewards of one of its tables."""
    require_steward_of(house, caller, name)
    house.populations.set_open(name, body.open)
    return {"population": name, "open": body.open}


def require_steward_of(house: ServiceHouse, caller: Caller, population: str) -> None:
    """Refuse unless the caller looks after a table of a population, or after everything."""
    caller.require("manage", ("steward",))
    held = [name for name, may in house.rights.of(caller.person).items() if may == "steward"]
    ours = any(each.population == population for each in house.shelf.all(held))
    if not ours and not caller.person.chief:
        raise UnknownNameError(f"There is no population {population!r} that you look after.")

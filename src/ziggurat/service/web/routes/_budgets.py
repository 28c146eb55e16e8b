"""Budgets and grants: stewards set what may be spent on the people of a table, and give analysts pieces of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from fastapi import APIRouter
from pydantic import Field

from ziggurat.errors import ConflictError, LedgerUseError, UnknownNameError
from ziggurat.plain import to_plain
from ziggurat.privacy import Neighbours, Relation
from ziggurat.service._house import ServiceHouse
from ziggurat.service.access import Caller
from ziggurat.service.web._calling import Calling, House
from ziggurat.service.web.routes._bodies import Body, ExactAmount, Name, TableName

if TYPE_CHECKING:
    from ziggurat.ledger import GrantStatement

router = APIRouter(prefix="/v1", tags=["budgets and grants"])


class BudgetBody(Body):
    """A budget to be made: what everything that leaves about the people of a table may cost."""

    table: TableName = Field(description="A table of the population; its unit is what the budget protects.")
    name: Name | None = Field(None, description="By default that of the population.")
    epsilon: ExactAmount
    delta: ExactAmount = "0"
    relation: Literal["add-or-remove-one", "replace-one"] = "add-or-remove-one"


class GrantBody(Body):
    """A piece of a budget for an analyst."""

    budget: Name
    analyst: Name
    epsilon: ExactAmount
    delta: ExactAmount = "0"
    rule: Literal["sum", "zcdp", "gaussian"] | None = None


@router.get("/budgets")
def budgets(house: House, caller: Calling) -> dict[str, Any]:
    """State what was granted and spent on the people of tables one looks after; auditors and chief stewards see all."""
    caller.require("read", ("steward", "auditor"))
    if caller.person.role == "auditor" or caller.person.chief:
        whose = house.ledger.populations()
    else:
        held = [name for name, may in house.rights.of(caller.person).items() if may == "steward"]
        whose = sorted({each.population for each in house.shelf.all(held)})
    known = [name for name in whose if _is_known(house, name)]
    return {"populations": [to_plain(house.ledger.account(name)) for name in known]}


@router.post("/budgets", status_code=201)
def make_budget(body: BudgetBody, house: House, caller: Calling) -> dict[str, Any]:
    """Set what may be spent on the people of a table; it cannot be changed later. For its stewards."""
    caller.require("manage", ("steward",))
    house.rights.require(caller.person, body.table, "steward")
    facts = house.shelf.facts(body.table)
    if body.name not in (None, facts.population) and house.shelf.about(body.name or ""):
        raise ConflictError(f"There are tables of the population {body.name!r}; give the budget another name.")
    whom = Neighbours(facts.schema.unit, Relation(body.relation))
    made = house.ledger.create_budget(
        body.name or facts.population, body.epsilon, body.delta, whom, population=facts.population
    )  # fmt: skip
    return {"budget": made.table, "epsilon": str(made.epsilon), "delta": str(made.delta), "protects": str(whom)}


@router.post("/grants", status_code=201)
def make_grant(body: GrantBody, house: House, caller: Calling) -> dict[str, Any]:
    """Give an analyst a piece of a budget; for the stewards of a table that it is about."""
    _require_steward(house, caller, body.budget)
    house.people.named(body.analyst)
    made = house.ledger.grant(body.budget, body.analyst, body.epsilon, body.delta, body.rule)
    return {
        "budget": made.table, "analyst": made.analyst, "epsilon": str(made.epsilon), "delta": str(made.delta),
        "rule": made.rule,
    }  # fmt: skip


@router.delete("/grants/{budget}/{analyst}")
def close_grant(budget: Name, analyst: Name, house: House, caller: Calling) -> dict[str, str]:
    """End a grant; for the stewards of a table that it is about."""
    _require_steward(house, caller, budget)
    house.ledger.close_grant(budget, analyst)
    return {"closed": budget, "analyst": analyst}


@router.get("/grants")
def grants(house: House, caller: Calling) -> dict[str, Any]:
    """State what whoever asks has of every budget, and what is left of it."""
    caller.require("read")
    seen = {each.population for each in house.shelf.all(house.rights.of(caller.person))}
    found = []
    for population in house.ledger.populations() if caller.person.chief else sorted(seen):
        if not _is_known(house, population):
            continue
        for budget in house.ledger.account(population).budgets:
            found += [_show(each) for each in budget.grants if each.grant.analyst == caller.person.name]
    return {"grants": found}


def _show(statement: GrantStatement) -> dict[str, Any]:
    """State a grant to whoever has it; how many answers are not there yet would tell when one is, and is left out."""
    told: dict[str, Any] = to_plain(replace(statement, pending=0, expired=0))
    return told


def _require_steward(house: ServiceHouse, caller: Caller, budget: str) -> None:
    """Refuse unless the caller looks after a table of the population that a budget is about."""
    caller.require("manage", ("steward",))
    try:
        population = house.ledger.population(budget)
    except LedgerUseError:
        population = budget
    if caller.person.chief and _is_known(house, population):
        return
    held = [name for name, may in house.rights.of(caller.person).items() if may == "steward"]
    if not any(each.population == population for each in house.shelf.all(held)):
        raise UnknownNameError(f"There is no budget {budget!r} of a table that you look after.")


def _is_known(house: ServiceHouse, population: str) -> bool:
    return population in house.ledger.populations()

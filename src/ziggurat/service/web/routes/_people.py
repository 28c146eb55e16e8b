"""People and their keys: chief stewards add people, everybody makes and revokes their own keys."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter
from pydantic import Field

from ziggurat.errors import AccessError
from ziggurat.service._house import ServiceHouse
from ziggurat.service.access import Caller, Person
from ziggurat.service.web._calling import Calling, House
from ziggurat.service.web.routes._bodies import Body, Name

router = APIRouter(prefix="/v1/people", tags=["people and keys"])


class PersonBody(Body):
    """Somebody to be added."""

    name: Name
    role: Literal["steward", "analyst", "student", "auditor"]
    chief: bool = False
    password: str = Field("", max_length=1024)
    subject: str = Field("", max_length=300, description="What the provider of OpenID Connect calls them.")


class ChangeBody(Body):
    """What changes of somebody."""

    active: bool | None = None
    password: str | None = Field(None, max_length=1024)


class KeyBody(Body):
    """A key to be made."""

    label: str = Field(min_length=1, max_length=80, description="What it is for.")
    scopes: tuple[Literal["read", "spend", "manage"], ...] = ("read", "spend")
    days: float | None = Field(365, gt=0, le=36_500, description="For how long; null until it is revoked.")


@router.get("")
def everybody(house: House, caller: Calling) -> dict[str, Any]:
    """List everybody; for stewards."""
    caller.require("manage", ("steward",))
    return {"people": [each.to_dict() for each in house.people.all()]}


@router.post("", status_code=201)
def add(body: PersonBody, house: House, caller: Calling) -> dict[str, Any]:
    """Add somebody; for chief stewards."""
    caller.require_chief()
    if body.chief or body.password:
        caller.require_all()
    made = house.people.add(
        body.name, body.role, chief=body.chief, password=body.password, subject=body.subject
    )  # fmt: skip
    return made.to_dict()


@router.patch("/{name}")
def change(name: Name, body: ChangeBody, house: House, caller: Calling) -> dict[str, Any]:
    """Change one's own password, or, for chief stewards, anybody's; let somebody in or keep them out."""
    found = _whom(house, caller, name)
    if body.password is not None:
        caller.require_all()
    if body.active is not None:
        caller.require_chief()
        house.people.set_active(found, body.active)
    if body.password is not None:
        house.people.set_password(found, body.password)
    return house.people.named(name).to_dict()


@router.post("/{name}/link", status_code=201)
def link(name: Name, house: House, caller: Calling) -> dict[str, str]:
    """Make a link that signs somebody in once, within a day; for chief stewards."""
    caller.require_chief()
    caller.require_all()
    secret = house.links.make(house.people.named(name))
    return {"link": f"{house.settings.address}/#link={secret}", "secret": secret}


@router.get("/{name}/keys")
def keys(name: Name, house: House, caller: Calling) -> dict[str, Any]:
    """List somebody's keys: what is known of them, never the keys."""
    caller.require("read")
    return {"keys": [each.to_dict() for each in house.keys.of(_whom(house, caller, name))]}


@router.post("/{name}/keys", status_code=201)
def make_key(name: Name, body: KeyBody, house: House, caller: Calling) -> dict[str, Any]:
    """Make a key, which is shown this once; it can do no more than the key that asks for it, and for no longer."""
    found = _whom(house, caller, name)
    wider = [each for each in body.scopes if each not in caller.scopes]
    if wider:
        raise AccessError(f"The key that asks is not for {' and '.join(wider)}, so that it cannot make one that is.")
    latest = caller.until if found.id == caller.person.id else None
    made, secret = house.keys.make(found, body.label, body.scopes, body.days, latest)
    return {**made.to_dict(), "key": secret}


@router.delete("/{name}/keys/{key}")
def revoke(name: Name, key: Name, house: House, caller: Calling) -> dict[str, str]:
    """End a key, from the next request on; a key ends itself, and others that are for no more than it is."""
    found = _whom(house, caller, name)
    held = {each.id: each for each in house.keys.of(found)}
    if key in held and not set(held[key].scopes) <= set(caller.scopes):
        raise AccessError("The key that asks is for less than the one that it would end.")
    house.keys.revoke(found, key)
    return {"revoked": key}


def _whom(house: ServiceHouse, caller: Caller, name: str) -> Person:
    """Somebody themselves; anybody, if a chief steward asks."""
    if name != caller.person.name:
        caller.require_chief()
        return house.people.named(name)
    return caller.person

"""What stewards and auditors do with a server: people, keys, budgets, grants, and the entries of the ledger."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from typing import Any, Literal

from ziggurat.client._calls import ServerCalls, in_path
from ziggurat.client._effects import Steps, WireRequest
from ziggurat.client._exchange import exchange
from ziggurat.client._facts import ServedEntry, ServedKey, ServedPerson, ServedVerification
from ziggurat.client._operation import operation
from ziggurat.ledger import GrantStatement, PopulationStatement
from ziggurat.plain import from_plain
from ziggurat.privacy import Amount, exact

Role = Literal["steward", "analyst", "student", "auditor"]


class PeopleSteps(ServerCalls):
    """People and their keys."""

    @operation
    def me(self) -> Steps[ServedPerson]:
        """Say who asks, what the key is for, and which tables it may ask about."""
        return _read_person((yield from self._get("/v1/me")))

    @operation
    def people(self) -> Steps[list[ServedPerson]]:
        """List everybody; for stewards."""
        return [_read_person(each) for each in (yield from self._get("/v1/people"))["people"]]

    @operation
    def add_person(
        self, name: str, role: Role, *, chief: bool = False, password: str = "", subject: str = ""
    ) -> Steps[ServedPerson]:
        """Add somebody; for chief stewards.

        Parameters
        ----------
        name
            What grants call them.
        role
            steward, analyst, student or auditor.
        chief
            Of a steward: whether they may do everything.
        password
            For signing in by a browser; a link does as well.
        subject
            What their institution's OpenID Connect calls them.
        """
        body = {"name": name, "role": role, "chief": chief, "password": password, "subject": subject}
        return _read_person((yield from self._send("POST", "/v1/people", body)))

    @operation
    def change_person(
        self, name: str, *, active: bool | None = None, password: str | None = None
    ) -> Steps[ServedPerson]:
        """Change a password, or let somebody in or keep them out."""
        said = {"active": active, "password": password}
        body = {each: value for each, value in said.items() if value is not None}
        return _read_person((yield from self._send("PATCH", f"/v1/people/{in_path(name)}", body)))

    @operation
    def make_link(self, name: str) -> Steps[str]:
        """Make a link that signs somebody in once, within a day; for chief stewards."""
        return str((yield from self._send("POST", f"/v1/people/{in_path(name)}/link"))["link"])

    @operation
    def keys(self, person: str) -> Steps[list[ServedKey]]:
        """List somebody's keys: what is known of them, never the keys."""
        return [_read_key(each) for each in (yield from self._get(f"/v1/people/{in_path(person)}/keys"))["keys"]]

    @operation
    def make_key(
        self,
        person: str,
        label: str,
        scopes: tuple[Literal["read", "spend", "manage"], ...] = ("read", "spend"),
        days: float | None = 365,
    ) -> Steps[ServedKey]:
        """Make a key, which is told this once as its `secret`; it can do no more than the key that asks for it.

        Parameters
        ----------
        person
            Whose it is.
        label
            What it is for.
        scopes
            Of read, spend and manage.
        days
            For how long; None until it is revoked.
        """
        body = {"label": label, "scopes": list(scopes), "days": days}
        return _read_key((yield from self._send("POST", f"/v1/people/{in_path(person)}/keys", body)))

    @operation
    def revoke_key(self, person: str, key: str) -> Steps[None]:
        """End a key, by its id, from the next request on."""
        yield from self._send("DELETE", f"/v1/people/{in_path(person)}/keys/{in_path(key)}")


class BookSteps(ServerCalls):
    """Budgets, grants and the ledger."""

    @operation
    def budgets(self) -> Steps[list[PopulationStatement]]:
        """State what was granted and spent on the people of each population that the steward looks after."""
        told = yield from self._get("/v1/budgets")
        return [from_plain(PopulationStatement, each) for each in told["populations"]]

    @operation
    def make_budget(
        self,
        table: str,
        epsilon: Amount,
        delta: Amount = 0,
        *,
        name: str = "",
        relation: Literal["add-or-remove-one", "replace-one"] = "add-or-remove-one",
    ) -> Steps[PopulationStatement]:
        """Set what may be spent on the people of a table; it cannot be changed later. For its stewards.

        Parameters
        ----------
        table
            A table of the population; its unit is what the budget protects.
        epsilon, delta
            In all, exact.
        name
            What the budget is called; by default as the population.
        relation
            add-or-remove-one or replace-one.
        """
        body = {"table": table, **_amounts(epsilon, delta), "relation": relation}
        made = yield from self._send("POST", "/v1/budgets", body | ({"name": name} if name else {}))
        return next(each for each in (yield from self._accounts()) if _has_budget(each, made["budget"]))

    @operation
    def grant(
        self,
        budget: str,
        analyst: str,
        epsilon: Amount,
        delta: Amount = 0,
        rule: Literal["sum", "zcdp", "gaussian"] | None = None,
    ) -> Steps[GrantStatement]:
        """Give an analyst a piece of a budget; for the stewards of a table that it is about."""
        body = {"budget": budget, "analyst": analyst, **_amounts(epsilon, delta), "rule": rule}
        made = yield from self._send("POST", "/v1/grants", body)
        accounts = yield from self._accounts()
        held = [grant for account in accounts for each in account.budgets for grant in each.grants]
        mine = [each for each in held if (each.grant.table, each.grant.analyst) == (made["budget"], analyst)]
        return next(each for each in mine if not each.closed)

    @operation
    def close_grant(self, budget: str, analyst: str) -> Steps[None]:
        """End a grant; for the stewards of a table that it is about."""
        yield from self._send("DELETE", f"/v1/grants/{in_path(budget)}/{in_path(analyst)}")

    @operation
    def grants(self) -> Steps[list[GrantStatement]]:
        """State what whoever asks has of every budget, and what is left of it."""
        return [from_plain(GrantStatement, each) for each in (yield from self._get("/v1/grants"))["grants"]]

    @operation
    def entries(self, limit: int = 100, before: int | None = None) -> Steps[list[ServedEntry]]:
        """List the newest entries of the ledger, or those before one, without answers; for auditors."""
        told = yield from self._get("/v1/ledger/entries", limit=limit, before=before)
        return [from_plain(ServedEntry, each) for each in told["entries"]]

    @operation
    def head(self) -> Steps[tuple[int, str]]:
        """Give number and hash of the newest entry, to be kept elsewhere and compared later."""
        told = yield from self._get("/v1/ledger/head")
        return told["seq"], told["hash"]

    @operation
    def witness(self) -> Steps[dict[str, Any]]:
        """Say whether the ledger has a witness, and how much of it that has seen; for stewards and auditors."""
        found: dict[str, Any] = yield from self._get("/v1/ledger/witness")
        return found

    @operation
    def verify(self, whole: bool = False) -> Steps[ServedVerification]:
        """Have every hash recomputed and every rule replayed, from where it was verified last, or of the whole."""
        told = yield from self._send("POST", "/v1/ledger/verification", params={"whole": whole})
        made: ServedVerification = from_plain(ServedVerification, told)
        return made

    def _accounts(self) -> Steps[list[PopulationStatement]]:
        told = yield from self._get("/v1/budgets")
        return [from_plain(PopulationStatement, each) for each in told["populations"]]


def _amounts(epsilon: Amount, delta: Amount) -> dict[str, str]:
    return {"epsilon": str(exact(epsilon, "epsilon")), "delta": str(exact(delta, "delta"))}


def _has_budget(account: PopulationStatement, name: str) -> bool:
    return any(each.table == name for each in account.budgets)


def _read_person(told: Mapping[str, Any]) -> ServedPerson:
    return ServedPerson(**{**told, "scopes": tuple(told.get("scopes", ()))})


def _read_key(told: Mapping[str, Any]) -> ServedKey:
    rest = {name: each for name, each in told.items() if name != "key"}
    return ServedKey(**{**rest, "scopes": tuple(told["scopes"])}, secret=told.get("key", ""))


def make_first_key(secret: str) -> Steps[str]:
    """Come in as a browser does, by a link that works once, and make a key for this machine; gives the key."""
    told = yield from exchange(WireRequest("POST", "/v1/sign-in/link", body={"secret": secret}))
    person, csrf = told["person"]["name"], {"X-Ziggurat-Csrf": told["csrf"]}
    scopes = ["read", "spend", "manage"]
    body = {"label": f"ziggurat login on {socket.gethostname()}"[:80], "scopes": scopes}
    made = yield from exchange(WireRequest("POST", f"/v1/people/{in_path(person)}/keys", body=body, headers=csrf))
    yield from exchange(WireRequest("POST", "/v1/sign-out", headers=csrf))
    return str(made["key"])

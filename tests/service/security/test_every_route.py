"""Who may do what: every route of the application stands in one table here, and one that does not fails the test."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

ACTORS = ("chief", "keeper", "stranger", "ana", "ben", "stu", "audrey")
SCOPES = ("read", "spend", "manage")
COUNT = {"kind": "question", "sql": "SELECT COUNT(*) AS n FROM clinic", "epsilon": "1/1000", "rows_per_unit": 1}
ASK = {"tables": ["clinic"], "question": COUNT}
INVENTED = "name: people\nunit: row\ncolumns:\n  age:\n    kind: integer\n    bounds: [0, 120]\n"


@dataclass(frozen=True)
class Row:
    """What a route asks of whom: the scope, the status for each of `ACTORS` with every scope, and how it is called.

    Of the path, `{me}` is who asks; `before` makes what the call needs, and gives what it adds to the path's names.
    """

    scope: str | None
    statuses: str
    path: str = ""
    body: Any = None
    before: Callable[[Any, str], dict[str, str]] | None = None
    content: bytes | None = None


def of_all(status: int) -> str:
    return " ".join([str(status)] * len(ACTORS))


numbers = iter(range(10**6))


def a_table(served: Any, _who: str) -> dict[str, str]:
    name = f"gone{next(numbers)}"
    served.house.shelf.place(served.house.people.named("keeper"), name, served.schema, "invented:clinic")
    return {"name": name}


def a_key(served: Any, who: str) -> dict[str, str]:
    made, _ = served.house.keys.make(served.house.people.named(who), "to be revoked", ["read"])
    return {"key": made.id}


def a_right(served: Any, _who: str) -> dict[str, str]:
    person = served.house.people.add(f"analyst{next(numbers)}", "analyst")
    served.house.rights.give(person, "clinic", "ask")
    return {"person": person.name}


def a_grant(served: Any, _who: str) -> dict[str, str]:
    name = f"analyst{next(numbers)}"
    served.house.people.add(name, "analyst")
    served.house.ledger.grant("clinic", name, "1/1000")
    return {"analyst": name}


def an_upload(served: Any, who: str) -> dict[str, str]:
    place = served.house.uploads.folder / served.house.people.named(who).id
    place.mkdir(parents=True, exist_ok=True)
    name = f"{next(numbers):032x}.csv"
    (place / name).write_text("age\n30\n40\n")
    return {"upload": name}


def a_name(_served: Any, _who: str) -> dict[str, str]:
    return {"fresh": f"fresh{next(numbers)}"}


def a_table_without_budget(served: Any, who: str) -> dict[str, str]:
    return {"fresh": a_table(served, who)["name"]}


# The statuses are those of chief, keeper, stranger, ana, ben, stu and audrey, in this order.
STEWARD, CHIEF, NOBODY_ELSE = "200 200 404 403 403 403 403", "200 403 403 403 403 403 403", of_all(200)
UNKNOWN, LABELLED = "404 404 404 403 403 403 403", "404 404 404 404 404 404 403"
DESCRIBED = {"table": "clinic", "release": COUNT}
COARSE = {"table": "clinic", "release": {"kind": "anonymized table", "k": 2}}
SURVEY = {"name": "poll", "table": "nothing", "reports": {"kind": "reports", "columns": {"age": "1"}}}
ROUTES = {
    "GET /v1/me": Row(None, of_all(200)),
    "POST /v1/sign-out": Row(None, of_all(200)),
    "GET /metrics": Row("read", "200 200 200 403 403 403 200"),
    "GET /v1/people": Row("manage", "200 200 200 403 403 403 403"),
    "POST /v1/people": Row(
        "manage", "201 403 403 403 403 403 403", body={"name": "{fresh}", "role": "analyst"}, before=a_name
    ),
    "PATCH /v1/people/{name}": Row("manage", CHIEF, "/v1/people/stu", {"active": True}),
    "POST /v1/people/{name}/link": Row("all", "201 403 403 403 403 403 403", "/v1/people/stu/link"),
    "GET /v1/people/{name}/keys": Row("read", of_all(200), "/v1/people/{me}/keys"),
    "POST /v1/people/{name}/keys": Row(
        None, of_all(201), "/v1/people/{me}/keys", {"label": "another", "scopes": "{own}"}
    ),
    "DELETE /v1/people/{name}/keys/{key}": Row("read", of_all(200), "/v1/people/{me}/keys/{key}", before=a_key),
    "POST /v1/uploads": Row(
        "manage", "201 201 201 403 403 403 403", "/v1/uploads?filename=a.csv", content=b"age\n30\n40\n"
    ),
    "POST /v1/uploads/{name}/proposal": Row(
        "manage", "200 200 200 403 403 403 403", "/v1/uploads/{upload}/proposal", before=an_upload
    ),
    "POST /v1/tables": Row(
        "manage",
        "201 201 201 403 403 403 403",
        before=a_name,
        body={"name": "{fresh}", "schema": "{schema}", "address": "invented:clinic"},
    ),
    "GET /v1/tables": Row("read", of_all(200)),
    "GET /v1/tables/{name}": Row("read", "200 200 404 200 404 404 404", "/v1/tables/clinic"),
    "GET /v1/tables/{name}/preview": Row("manage", STEWARD, "/v1/tables/clinic/preview"),
    "DELETE /v1/tables/{name}": Row("manage", STEWARD, "/v1/tables/{name}", before=a_table),
    "GET /v1/tables/{name}/rights": Row("manage", STEWARD, "/v1/tables/clinic/rights"),
    "PUT /v1/tables/{name}/rights/{person}": Row("manage", STEWARD, "/v1/tables/clinic/rights/ana", {"may": "ask"}),
    "DELETE /v1/tables/{name}/rights/{person}": Row(
        "manage", STEWARD, "/v1/tables/clinic/rights/{person}", before=a_right
    ),
    "GET /v1/budgets": Row("read", "200 200 200 403 403 403 200"),
    "POST /v1/budgets": Row(
        "manage",
        "201 201 404 403 403 403 403",
        body={"table": "{fresh}", "epsilon": "1"},
        before=a_table_without_budget,
    ),
    "POST /v1/grants": Row(
        "manage",
        "201 201 404 403 403 403 403",
        body={"budget": "clinic", "analyst": "{fresh}", "epsilon": "1/1000"},
        before=lambda served, who: {"fresh": (served.house.people.add(f"new{next(numbers)}", "analyst")).name},
    ),
    "DELETE /v1/grants/{budget}/{analyst}": Row("manage", STEWARD, "/v1/grants/clinic/{analyst}", before=a_grant),
    "GET /v1/grants": Row("read", of_all(200)),
    "POST /v1/quote": Row("read", "409 409 404 200 404 403 403", body=ASK),
    "POST /v1/ask": Row("spend", "409 409 404 200 404 403 403", body=ASK),
    "GET /v1/history": Row("read", "200 200 404 200 404 403 403", "/v1/history?table=clinic"),
    "GET /v1/ledger/entries": Row("read", "200 403 403 403 403 403 200"),
    "GET /v1/ledger/head": Row("read", "200 200 200 403 403 403 200"),
    "GET /v1/ledger/witness": Row("read", "200 200 200 403 403 403 200"),
    "POST /v1/ledger/verification": Row("read", "200 200 200 403 403 403 200"),
    "GET /v1/session": Row("read", "409 409 404 200 404 403 403", "/v1/session?table=clinic"),
    "POST /v1/releases/plan": Row("read", "409 409 404 200 404 403 403", body={"description": DESCRIBED}),
    "POST /v1/releases/try": Row("manage", "202 202 404 403 403 403 403", body={"description": COARSE}),
    "POST /v1/releases": Row("manage", "202 202 404 202 404 403 403", body={"description": DESCRIBED}),
    "GET /v1/releases": Row("read", of_all(200)),
    "GET /v1/releases/schema": Row("read", of_all(200)),
    "GET /v1/releases/key": Row("read", of_all(200)),
    "POST /v1/releases/verify": Row("read", of_all(200), content=b"no zip"),
    "GET /v1/releases/{release}": Row("read", of_all(404), "/v1/releases/nothing"),
    "PATCH /v1/releases/{release}": Row("manage", UNKNOWN, "/v1/releases/nothing", {"open": True}),
    "GET /v1/releases/{release}/public": Row("read", of_all(404), "/v1/releases/nothing/public"),
    "GET /v1/releases/{release}/bundle": Row("manage", UNKNOWN, "/v1/releases/nothing/bundle"),
    "POST /v1/jobs": Row("manage", "202 202 404 403 403 403 403", body={"job": {"kind": "risk", "table": "clinic"}}),
    "GET /v1/jobs": Row("read", of_all(200)),
    "GET /v1/jobs/{job}": Row("read", of_all(404), "/v1/jobs/nothing"),
    "GET /v1/jobs/{job}/events": Row("read", of_all(404), "/v1/jobs/nothing/events"),
    "POST /v1/jobs/{job}/cancel": Row(None, of_all(404), "/v1/jobs/nothing/cancel"),
    "POST /v1/jobs/{job}/go-on": Row("manage", UNKNOWN, "/v1/jobs/nothing/go-on", {"reason": "it is right"}),
    "GET /v1/models": Row("read", of_all(200)),
    "POST /v1/models": Row("manage", UNKNOWN, body={"model": {"name": "m", "kind": "published", "release": "nothing"}}),
    "GET /v1/models/{name}": Row("read", of_all(404), "/v1/models/nothing"),
    "DELETE /v1/models/{name}": Row("manage", UNKNOWN, "/v1/models/nothing"),
    "POST /v1/models/{name}/predict": Row("read", of_all(404), "/v1/models/nothing/predict", {"rows": [{"age": 1}]}),
    "POST /v1/models/{name}/answer": Row("read", of_all(404), "/v1/models/nothing/answer", {"rows": [{"age": 1}]}),
    "POST /v1/labels/quote": Row("read", LABELLED, body={"teachers": "nothing", "rows": [{"age": 1}]}),
    "POST /v1/labels": Row("spend", LABELLED, body={"teachers": "nothing", "rows": [{"age": 1}]}),
    "POST /v1/decide": Row("read", of_all(200), body={"query": "count", "epsilon": ["1"]}),
    "POST /v1/surveys/quote": Row("manage", "404 404 404 403 403 403 403", body=SURVEY),
    "GET /v1/surveys": Row("read", "200 200 200 403 403 403 403"),
    "POST /v1/surveys": Row("manage", "404 404 404 403 403 403 403", body=SURVEY),
    "POST /v1/surveys/{name}/invitations": Row("manage", UNKNOWN, "/v1/surveys/nothing/invitations", {"count": 1}),
    "GET /v1/surveys/{name}/reports": Row("read", UNKNOWN, "/v1/surveys/nothing/reports"),
    "POST /v1/surveys/{name}/close": Row("manage", UNKNOWN, "/v1/surveys/nothing/close"),
    "GET /v1/surveys/{name}/estimates": Row("read", UNKNOWN, "/v1/surveys/nothing/estimates"),
    "POST /v1/populations/{name}/budgets": Row(
        "manage", CHIEF.replace("200", "201"), "/v1/populations/{fresh}/budgets", {"epsilon": "1"}, a_name
    ),
    "PUT /v1/populations/{name}": Row("manage", STEWARD, "/v1/populations/clinic", {"open": True}),
}
"""Every route that asks who calls."""

OPEN = {
    "GET /health", "GET /ready", "POST /v1/sign-in", "POST /v1/sign-in/link", "GET /v1/sign-in/oidc",
    "GET /v1/sign-in/oidc/callback", "GET /v1/surveys/{name}", "POST /v1/surveys/{name}/reports",
    "GET /survey/{name}", "GET /v1/populations/{name}/promise",
}  # fmt: skip
"""Routes for everybody."""


def routes_of(served: Any) -> dict[str, dict[str, Any]]:
    found = served.client.get("/openapi.json").json()["paths"]
    return {f"{verb.upper()} {path}": said for path, verbs in found.items() for verb, said in verbs.items()}


@pytest.fixture(scope="module")
def manned(shared):
    return man(shared)


def man(clinic):
    for name, role in (("keeper", "steward"), ("stranger", "steward"), ("stu", "student")):
        clinic.add(name, role)
    clinic.schema = clinic.house.shelf.facts("clinic").schema_text
    clinic.house.rights.give(clinic.house.people.named("keeper"), "clinic", "steward")
    return clinic


def call(served: Any, route: str, who: str, key: str | None = None, scopes: tuple[str, ...] = SCOPES) -> Any:
    row = ROUTES[route]
    verb, _, path = route.partition(" ")
    names = {"me": who, **(row.before(served, who) if row.before else {})}

    def fill(said: Any) -> Any:
        if isinstance(said, dict):
            return {name: fill(each) for name, each in said.items()}
        if said == "{own}":
            return [scopes[0]]
        if said == "{schema}":
            return served.schema
        return said.format(**names) if isinstance(said, str) and said.startswith("{") else said

    headers = {"Authorization": f"Bearer {key or served.keys[who]}"}
    return served.client.request(
        verb, (row.path or path).format(**names), json=None if row.body is None else fill(row.body),
        content=row.content, headers=headers,
    )  # fmt: skip


def test_every_route_stands_in_the_table(served):
    assert set(routes_of(served)) == set(ROUTES) | OPEN


def test_every_route_in_the_table_says_in_its_description_that_it_asks_who_calls(served):
    asks = {route for route, said in routes_of(served).items() if said.get("security")}
    assert asks == set(ROUTES)


@pytest.mark.parametrize("route", sorted(ROUTES))
def test_each_role_is_let_in_or_refused_as_the_table_says(manned, route):
    found = {who: call(manned, route, who).status_code for who in ACTORS}
    assert found == dict(zip(ACTORS, map(int, ROUTES[route].statuses.split()), strict=True))


@pytest.mark.parametrize("route", sorted(ROUTES))
def test_nobody_is_let_in_without_a_key(manned, route):
    served, row = manned, ROUTES[route]
    verb, _, path = route.partition(" ")
    for headers in ({}, {"Authorization": "Bearer zig_0_0"}, {"Authorization": "Basic YTpi"}):
        names = dict.fromkeys(("me", "key", "upload", "name", "analyst", "fresh", "budget", "person"), "clinic")
        told = served.client.request(verb, (row.path or path).format(**names), json=row.body, headers=headers)
        assert (told.status_code, told.json()["error"]["kind"]) == (401, "SignInError")
        assert told.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("route", sorted(ROUTES))
def test_a_key_is_for_its_scopes_alone(manned, route):
    """A key with every scope but the one that is needed is refused; one with this scope alone does what all do.

    What lets somebody in for everything needs a key for all.
    """
    wanted = dict(zip(ACTORS, map(int, ROUTES[route].statuses.split()), strict=True))
    who = next((each for each in ("chief", "ana") if wanted[each] < 300), "chief")
    person = manned.house.people.named(who)
    if ROUTES[route].scope == "all":
        for scope in SCOPES:
            _, others = manned.house.keys.make(person, "all but one", [each for each in SCOPES if each != scope])
            assert call(manned, route, who, others).status_code == 403
        return
    for scope in SCOPES if ROUTES[route].scope is None else (ROUTES[route].scope,):
        _, alone = manned.house.keys.make(person, "one scope", [scope])
        assert call(manned, route, who, alone, (scope,)).status_code == wanted[who]
    if ROUTES[route].scope is not None:
        _, others = manned.house.keys.make(person, "the others", [each for each in SCOPES if each != scope])
        refused = call(manned, route, who, others)
        assert (refused.status_code, refused.json()["error"]["kind"]) == (403, "AccessError")


def test_an_auditor_sees_neither_an_answer_nor_a_cell_on_any_route(clinic):
    """The answer is looked for in everything an auditor can get; the control finds it for whoever paid."""
    manned = man(clinic)
    answered = manned.ask("ana", {**COUNT, "epsilon": "1/7"}).json()
    number = str(answered["answer"]["estimates"]["n"][0][0])
    shown = {route: call(manned, route, "audrey").text for route in ROUTES}
    told = re.compile(rf"(?<![\d/]){number}(?!\d)")
    assert [route for route, text in shown.items() if told.search(text)] == []
    assert told.search(answered["text"]) or told.search(str(answered["answer"]))
    assert told.search(str([each.data for each in manned.house.ledger.history()]))

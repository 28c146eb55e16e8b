"""What a route may answer besides what it is for, put into the description of the routes, and nothing it cannot."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from ziggurat.service.web._errors import ERROR_SHAPE, ERRORS

_PAYING = ("/v1/ask", "/v1/quote", "/v1/grants", "/v1/jobs", "/v1/releases", "/v1/models", "/v1/labels", "/v1/surveys")
_EXTRAS = (*_PAYING, "/v1/tables", "/v1/uploads", "/v1/risk", "/v1/decide", "/v1/oidc")
_BY_SETTING, _BY_INVITATION = "/v1/sign-in/oidc", "/v1/surveys/{name}/reports"
_COMING_BACK = f"{_BY_SETTING}/callback"
_VERBS = ("get", "put", "post", "patch", "delete")
_FASTAPI_OWN = ("HTTPValidationError", "ValidationError")


def describe_errors(app: FastAPI) -> None:
    """Let the description of an application say of every route how it refuses."""
    usual = app.openapi

    def described() -> dict[str, Any]:
        known = app.openapi_schema is not None
        found = usual()
        if not known:
            _complete(found)
        return found

    app.openapi = described  # type: ignore[method-assign]


def _complete(found: dict[str, Any]) -> None:
    shapes = found.setdefault("components", {}).setdefault("schemas", {})
    for name in _FASTAPI_OWN:
        shapes.pop(name, None)
    shapes["ErrorShape"] = ERROR_SHAPE
    for path, verbs in found["paths"].items():
        for verb in set(_VERBS) & set(verbs):
            said = verbs[verb].setdefault("responses", {})
            said.pop("422", None)
            said.update({str(status): ERRORS[status] for status in _refusals(path, verb, verbs[verb])})


def _refusals(path: str, verb: str, operation: dict[str, Any]) -> list[int]:
    """Which refusals a route knows: by whether it asks who calls, takes a body, names things, changes or pays."""
    security, body = "security" in operation, "requestBody" in operation
    given = [each["in"] for each in operation.get("parameters", ()) if each["in"] != "cookie"]
    invited = path == _BY_INVITATION
    rules = {
        400: body,
        401: security or (path.startswith("/v1/sign-in") and path != _BY_SETTING),
        402: path.startswith(_PAYING) and verb != "get",
        403: security or invited or path == _COMING_BACK,
        404: "path" in given or path.startswith(_BY_SETTING) or (security and (body or "query" in given)),
        409: (security or invited) and verb != "get",
        413: True,
        422: body or bool(given),
        429: True,
        500: True,
        501: security and path.startswith(_EXTRAS),
        503: path != "/health",
    }
    return [status for status, may in rules.items() if may]

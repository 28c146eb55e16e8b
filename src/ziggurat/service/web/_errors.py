"""How errors leave: one shape, a true status code, a sentence of ours, and never the text of a foreign exception."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from ziggurat import errors

_STATUS: dict[type[errors.ZigguratError], int] = {
    errors.BudgetExceededError: 402,
    errors.PendingError: 409,
    errors.GateError: 409,
    errors.LedgerUseError: 409,
    errors.LedgerCorruptError: 503,
    errors.WitnessError: 503,
    errors.LedgerError: 503,
    errors.EngineError: 503,
    errors.MissingExtraError: 501,
}
_REFUSED = 422
_UPLOADED = r"/uploads/[0-9a-f]+/\.?(?=[0-9a-f]{32}\.)"
_PLACES = re.compile(rf"(?<=['\"])[^'\"]*{_UPLOADED}|[^\s'\"]*{_UPLOADED}")
_RETRY = {429: "5", 503: "5"}

ERRORS: dict[int | str, dict[str, Any]] = {
    status: {
        "description": words,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorShape"}}},
    }
    for status, words in {
        400: "The request is no HTTP, or no JSON.",
        401: "Nobody is signed in, or with what is wrong, ended or revoked.",
        402: "It costs more than is left; nothing was read or spent.",
        403: "Whoever asks may not do this.",
        404: "There is nothing of that name, or nothing that whoever asks may see.",
        409: "It contradicts what is there, or is being done right now.",
        413: "The request is longer than is taken.",
        422: "It cannot be done as asked; the message says what to change.",
        429: "Too much at once; Retry-After says when to come back.",
        500: "The service failed; its log has the number of the request.",
        501: "The service was installed without what this needs.",
        503: "The service cannot answer now; nothing was lost.",
    }.items()
}
"""What routes may answer besides what they are for, for their description."""

ERROR_SHAPE = {
    "title": "ErrorShape",
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["kind", "message", "status"],
            "properties": {
                "kind": {"type": "string", "description": "The name of the error in Python."},
                "message": {"type": "string", "description": "One sentence that says what to change."},
                "status": {"type": "integer"},
            },
        }
    },
}
"""The one shape of errors."""


def status_of(error: errors.ZigguratError) -> int:
    """Say which status an error has."""
    if isinstance(error, errors.ServiceError):
        return error.status
    found = (_STATUS[each] for each in type(error).__mro__ if each in _STATUS)
    return next(found, _REFUSED)


def error_body(kind: str, message: str, status: int) -> dict[str, Any]:
    """Write an error in the one shape; of a file it says what the file is called, and not where it lies."""
    return {"error": {"kind": kind, "message": _PLACES.sub("", message), "status": status}}


def tell_error(error: errors.ZigguratError) -> tuple[int, dict[str, Any]]:
    """Give the status and the body of an error of ours."""
    status = status_of(error)
    return status, error_body(type(error).__name__, str(error), status)


def answer_error(kind: str, message: str, status: int, more: Mapping[str, str] | None = None) -> JSONResponse:
    """Answer an error, with `more` headers."""
    headers = {**(more or {}), **({"Retry-After": _RETRY[status]} if status in _RETRY else {})}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return JSONResponse(error_body(kind, message, status), status, headers=headers)


def handle_errors(app: FastAPI) -> None:
    """Let every error leave in the one shape."""

    @app.exception_handler(errors.ZigguratError)
    async def ours(_request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, errors.ZigguratError)
        return answer_error(type(error).__name__, str(error), status_of(error))

    @app.exception_handler(RequestValidationError)
    async def malformed(_request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        return answer_error("ParameterError", _explain(error), _REFUSED)

    @app.exception_handler(HTTPException)
    async def plain(_request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        kind, words = _PLAIN.get(error.status_code, ("ServiceError", "The request cannot be answered."))
        return answer_error(kind, words, error.status_code, error.headers)


_PLAIN = {
    400: ("ParameterError", "The request could not be read."),
    404: ("UnknownNameError", "There is no such address; /docs lists them."),
    405: ("ParameterError", "This address is not asked this way; /docs says how."),
}


def _explain(error: RequestValidationError) -> str:
    first = error.errors()[0]
    named = ".".join(str(each) for each in first["loc"][1:]) or "the body"
    said = str(first["msg"]).removeprefix("Value error, ").rstrip(".")
    return f"{named[:200]!r}: {said[:1].lower()}{said[1:]}."


def place_of(error: BaseException) -> str:
    """Where it was raised: file and line, none of its words."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "" if trace is None else f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"

"""One request, sent until it is answered: when it is sent again, when not, and how errors come back as ours.

Promise: a request is sent again only if that cannot do it twice: it was never sent, it changes nothing the second time,
or it bears an Idempotency-Key, made once for the call, by which the server does it once. What is answered is never
asked for again, except where the answer is to come back later.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from secrets import randbelow, token_hex
from typing import Any

from ziggurat import errors
from ziggurat.client._effects import REPEAT_KEY, Lost, Pause, Reply, Steps, WireRequest
from ziggurat.client._facts import make_error

PATIENCE = 60.0
"""For how many seconds in all a call waits between its attempts."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 8.0
_LATER = (429, 502, 503, 504)


def exchange(request: WireRequest, patience: float = PATIENCE) -> Steps[Any]:
    """Send a request until it is answered or patience ends; gives the JSON of the answer, or raises what it says.

    Parameters
    ----------
    request
        What is asked for.
    patience
        For how many seconds in all to wait between attempts.
    """
    waited, pause = 0.0, _FIRST_PAUSE
    while True:
        got = yield request
        if not _may_try_again(request, got):
            return read_reply(got)
        seconds = max(_asked_to_wait(got), pause * (1 + randbelow(1_000) / 4_000))
        if waited + seconds > patience:
            return read_reply(got)
        yield Pause(seconds)
        waited, pause = waited + seconds, min(pause * 2, _LONGEST_PAUSE)


def once(request: WireRequest) -> WireRequest:
    """Give a request that is done once, however often it is sent."""
    return replace(request, headers={**request.headers, REPEAT_KEY: token_hex(16)})


def read_reply(got: Reply | Lost) -> Any:
    """Give the JSON that came back, or raise the error that it tells of, as the class that it is here.

    Parameters
    ----------
    got
        What came of a request.
    """
    if isinstance(got, Lost):
        raise errors.UnavailableError(_say_lost(got))
    told = _read_json(got)
    if 200 <= got.status < 300:
        return told
    if 300 <= got.status < 400:
        raise errors.ServiceError("The server sends elsewhere, where the key is not sent: connect to that address.")
    raise make_error(_error_in(told), got.status)


def _may_try_again(request: WireRequest, got: Reply | Lost) -> bool:
    if isinstance(got, Lost):
        return not got.sent or request.repeatable
    kind = _kind_of(_read_json(got)) if got.status >= 400 else ""
    if got.status == 429:
        return True  # it was counted before anything was done
    if kind == "PendingError":
        return REPEAT_KEY in request.headers
    return got.status in _LATER and request.repeatable and kind in ("", "UnavailableError")


def _asked_to_wait(got: Reply | Lost) -> float:
    said = "" if isinstance(got, Lost) else got.headers.get("retry-after", "")
    return float(said) if said.isdigit() else 0.0


def _say_lost(got: Lost) -> str:
    if not got.sent:
        return f"The server cannot be reached ({got.why}); nothing was sent to it. Check its address, or try later."
    return (
        f"The connection was lost before the answer came ({got.why}), so that nobody here knows whether it was done; "
        "look before you send it again."
    )


def _read_json(got: Reply) -> Any:
    if not got.content:
        return None
    try:
        return json.loads(got.content)
    except ValueError:
        if 200 <= got.status < 300:
            raise errors.ServiceError("What answered does not speak as Ziggurat does; check the address.") from None
        return None


def _error_in(told: Any) -> Mapping[str, Any]:
    found = told.get("error") if isinstance(told, dict) else None
    return found if isinstance(found, dict) else {}


def _kind_of(told: Any) -> str:
    return str(_error_in(told).get("kind", ""))

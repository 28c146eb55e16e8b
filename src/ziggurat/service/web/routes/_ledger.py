"""The ledger over the wire: entries, its head and verification, for stewards and auditors; no answer is among them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool

from ziggurat.errors import AccessError
from ziggurat.ledger import Entry
from ziggurat.service.web._calling import Calling, House

router = APIRouter(prefix="/v1/ledger", tags=["ledger"])

_WITHOUT = ("answer",)
_MOST = 1000


@router.get("/entries")
async def entries(
    house: House,
    caller: Calling,
    limit: Annotated[int, Query(ge=1, le=_MOST)] = 100,
    before: Annotated[int | None, Query(ge=1, le=2**53)] = None,
) -> dict[str, Any]:
    """List the newest entries, or those before one, without what was answered; for auditors and chief stewards."""
    caller.require("read", ("auditor", "steward"))
    if caller.person.role == "steward" and not caller.person.chief:
        raise AccessError("This is for auditors and chief stewards; ask one of them.")
    found = await run_in_threadpool(lambda: house.ledger.history(limit=limit, before=before))
    return {"entries": [_show(each, *house.ledger.about(each)) for each in found]}


@router.get("/head")
def head(house: House, caller: Calling) -> dict[str, Any]:
    """Give the number and hash of the newest entry, to be kept elsewhere and compared later.

    For stewards and auditors: whoever asks questions would see by it when their answers are there.
    """
    caller.require("read", ("auditor", "steward"))
    newest = house.ledger.head()
    return {"seq": newest.seq, "hash": newest.hash}


@router.get("/witness")
def witness(house: House, caller: Calling) -> dict[str, Any]:
    """Say who watches the ledger, and how much of it they have seen."""
    caller.require("read", ("auditor", "steward"))
    found = house.ledger.witness()
    return {"named": bool(found.where), "entries": found.entries, "seen": found.seen, "trouble": found.trouble}


@router.post("/verification")
async def verify(house: House, caller: Calling, whole: bool = False) -> dict[str, Any]:
    """Recompute hashes and replay rules, from where it was verified last, or of the whole ledger."""
    caller.require("read", ("auditor", "steward"))
    found = await run_in_threadpool(lambda: house.ledger.verify(whole=whole))
    problems = [str(each) for each in found.problems]
    return {"ok": found.ok, "problems": problems, "entries": found.entries, "notes": list(found.notes)}


def _show(entry: Entry, table: str, analyst: str) -> dict[str, Any]:
    data = {name: value for name, value in entry.data.items() if name not in _WITHOUT}
    told = {"seq": entry.seq, "time": entry.time, "kind": entry.kind, "hash": entry.hash, "data": data}
    return {**told, "table": table, "analyst": analyst}

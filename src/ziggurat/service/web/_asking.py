"""What is paid for on its way: begun once, planned from public facts, answered in its slot, kept before it is told.

Promise: once it was begun it runs to its end, whether somebody still waits or not: what was paid for is kept, and told
to whoever sends the request again with its Idempotency-Key. What failed before anything was paid is not kept, so that
sending it again asks anew.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import structlog
from fastapi import Request
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool

from ziggurat.errors import PendingError, UnavailableError, ZigguratError
from ziggurat.ledger import LedgerMark
from ziggurat.release import Release, Session
from ziggurat.release.config import QuestionSaid, WorkloadSaid
from ziggurat.service._house import ServiceHouse
from ziggurat.service.access import Caller
from ziggurat.service.asking import Kept, Repeated
from ziggurat.service.web._errors import error_body, place_of, tell_error

_UNAVAILABLE = 503


@dataclass(frozen=True)
class Told:
    """What is answered: a status, a body, whether it is told again, and how often its slot was doubled."""

    status: int
    body: dict[str, Any]
    again: bool = False
    doubled: int = 0


@dataclass(frozen=True)
class PaidWork:
    """What was planned from public facts: `pay` pays, under a mark, and tells what came of it, within its seconds."""

    pay: Callable[[LedgerMark | None], dict[str, Any]]
    seconds: float


@dataclass(frozen=True)
class Asked:
    """Something that costs, and that somebody sent.

    Attributes
    ----------
    house, caller
        What answers, and who asks.
    said
        What is asked, as JSON, which tells it from other requests.
    plan
        Plans it; what this refuses was never begun.
    key
        Under which it may be sent again.
    begun
        When it came, by the clock of the slots.
    """

    house: ServiceHouse
    caller: Caller
    said: Any
    plan: Callable[[], PaidWork]
    key: str | None = None
    begun: float = field(default=0.0)

    async def answer(self) -> Told:
        """Answer it, or say what it was answered before; runs to its end also if whoever waits goes away."""
        serving = asyncio.create_task(self._serve())
        _at_work.add(serving)
        serving.add_done_callback(_let_go)
        return await asyncio.shield(serving)

    async def _serve(self) -> Told:
        with self.house.waiting.take(self.caller.person):
            ready = await run_in_threadpool(self._prepare)
            if isinstance(ready, Repeated):
                return Told(ready.status, {**json.loads(ready.body), "slot": None}, again=True)
            planned, mark = ready
            kept: Kept[tuple[int, dict[str, Any]]] = await self.house.slots.keep(
                self.begun, planned.seconds, lambda: self._pay(planned, mark)
            )
        status, body = kept.outcome
        return Told(status, {**body, "slot": kept.to_dict()}, doubled=kept.doubled)

    def _prepare(self) -> Repeated | tuple[PaidWork, LedgerMark | None]:
        mark = None
        if self.key is not None:
            told = self.house.repeats.begin(self.caller.person, self.key, self.said, self.house.desk.mark())
            if isinstance(told, Repeated):
                return told
            mark = told.mark
        try:
            return self.plan(), mark
        except BaseException:
            self._forget()
            raise

    def _pay(self, planned: PaidWork, mark: LedgerMark | None) -> tuple[int, dict[str, Any]]:
        """Pay and answer, and keep what came of it; what fails is told in the slot too, because rows may decide it."""
        decided = True
        try:
            status, told = 200, planned.pay(mark)
        except ZigguratError as error:
            status, told = tell_error(error)
            decided = error.paid or (status != _UNAVAILABLE and not isinstance(error, PendingError))
        except Exception as error:  # noqa: BLE001 - its words may quote cells
            structlog.get_logger().error("failed", error=type(error).__name__, at=place_of(error))
            status, told = 500, error_body("ServiceError", "The service failed while it answered.", 500)
        if self.key is None:
            return status, told
        if not decided:
            self._forget()
            return status, told
        try:
            kept = self.house.repeats.end(self.caller.person, self.key, status, json.dumps(told))
        except UnavailableError as error:
            return tell_error(error)
        return kept.status, json.loads(kept.body)

    def _forget(self) -> None:
        if self.key is not None:
            with suppress(UnavailableError):  # the next one finds that nobody does it
                self.house.repeats.forget(self.caller.person, self.key)


def ask_question(
    house: ServiceHouse,
    caller: Caller,
    tables: Sequence[str],
    question: QuestionSaid | WorkloadSaid,
    key: str | None = None,
    begun: float = 0.0,
) -> Asked:
    """Ask a question about private tables.

    Parameters
    ----------
    house, caller
        What answers, and who asks.
    tables, question
        What is asked, of which private tables.
    key, begun
        As `Asked` has them.
    """

    def plan() -> PaidWork:
        session = house.desk.session(caller.person, tables)
        made = house.desk.plan(session, question)
        slots = [house.shelf.facts(name).slot or house.settings.slot for name in tables]
        return PaidWork(lambda mark: tell_release(house.desk.ask(session, made, mark), session), max(slots))

    return Asked(
        house, caller, {"tables": list(tables), "question": question.model_dump(mode="json")}, plan, key, begun
    )


def tell_release(made: Release[Any], session: Session) -> dict[str, Any]:
    """Write what was answered, with its certificate and what is left."""
    certificate = made.certificate
    return {
        "answer": made.output.to_dict(),
        "text": str(made.output),
        "sentence": certificate.sentence,
        "certificate": certificate.to_dict(),
        "replayed": made.replayed,
        "rehearsal": made.seeded,
        "left": session.remainder(),
    }


def send_told(told: Told, request: Request) -> JSONResponse:
    """Answer a request with what was told."""
    request.app.state.metrics.note_doubled(told.doubled)
    return JSONResponse(told.body, told.status, headers={"Idempotency-Replayed": "true"} if told.again else {})


_at_work: set[asyncio.Task[Told]] = set()


def _let_go(done: asyncio.Task[Told]) -> None:
    _at_work.discard(done)
    if not done.cancelled():
        done.exception()  # nobody may be there to hear it; asyncio would then write its words into a log

"""What is paid for on its way: begun once, planned from public facts, answered in its slot, kept before it is told.

Promise: once it was begun it runs to its end, whether somebody still waits or not: what was paid for is kept, and told
to whoever sends the request again with its Idempotency-Key, but to nobody before its slot ends. What failed before
anything was paid is not kept, so that sending it again asks anew, under the mark of before: nothing that may have been
paid under it is forgotten.
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
from ziggurat.service.access import Caller, Person
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
class PaidOutcome:
    """What came of paid work: a status, a body, and whether it is for ever or may be asked anew."""

    status: int
    body: dict[str, Any]
    decided: bool = True


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
            kept: Kept[PaidOutcome] = await self.house.slots.keep(
                self.begun, planned.seconds, lambda: self._pay(planned, mark)
            )
            status, body = await run_in_threadpool(self._keep, kept.outcome)
        return Told(status, {**body, "slot": kept.to_dict()}, doubled=kept.doubled)

    def _prepare(self) -> Repeated | tuple[PaidWork, LedgerMark | None]:
        if self.key is None:
            return self.plan(), None
        fresh = self.house.desk.mark()
        told = self.house.repeats.begin(self.caller.person, self.key, self.said, fresh)
        if isinstance(told, Repeated):
            return told
        try:
            return self.plan(), told.mark
        except BaseException:
            self._give_up(self.house.repeats.forget if told.mark == fresh else self.house.repeats.let_go)
            raise

    def _pay(self, planned: PaidWork, mark: LedgerMark | None) -> PaidOutcome:
        """Pay and answer; what fails is told in the slot too, because rows may decide it."""
        try:
            return PaidOutcome(200, planned.pay(mark))
        except ZigguratError as error:
            status, told = tell_error(error)
            decided = error.paid or (status != _UNAVAILABLE and not isinstance(error, PendingError))
            return PaidOutcome(status, told, decided)
        except Exception as error:  # noqa: BLE001 - its words may quote cells
            structlog.get_logger().error("failed", error=type(error).__name__, at=place_of(error))
            return PaidOutcome(500, error_body("ServiceError", "The service failed while it answered.", 500))

    def _keep(self, outcome: PaidOutcome) -> tuple[int, dict[str, Any]]:
        """Keep what came of it once its slot is over: whoever sends it again before is told that it is being done."""
        status, told = outcome.status, outcome.body
        if self.key is None:
            return status, told
        if not outcome.decided:
            self._give_up(self.house.repeats.let_go)
            return status, told
        try:
            kept = self.house.repeats.end(self.caller.person, self.key, status, json.dumps(told))
        except UnavailableError as error:
            return tell_error(error)
        return kept.status, json.loads(kept.body)

    def _give_up(self, how: Callable[[Person, str], None]) -> None:
        with suppress(UnavailableError):  # the next one finds that nobody does it
            how(self.caller.person, str(self.key))


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

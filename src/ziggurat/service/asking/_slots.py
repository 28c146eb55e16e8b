"""When answers leave: at a time that was fixed before anything was read.

Promise: what is told about work that reads private rows, its success as well as its failure, leaves at the end of the
slot that was chosen from public facts when it was planned, if it was done by then. So within the slot the time tells
nothing about the rows. Work that takes longer is told at the end of the first slot of double, fourfold, ... length in
which it was done: what that tells is how often the slot was doubled, which is not protected, and the answer says so.
What it cost stays spent either way.

Not promised: that the machine is otherwise idle. Whoever shares it may see by the speed of their own work that another
works hard.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Outcome = TypeVar("Outcome")
NOT_PROTECTED = (
    "It took longer than its slot, so that the time at which it was told may depend on the rows; the slot was doubled "
    "{times} times."
)


@dataclass(frozen=True)
class Kept(Generic[Outcome]):
    """What came of work in a slot.

    Attributes
    ----------
    outcome
        What it gave.
    seconds
        How long the slot was that it was given.
    doubled
        How often that was doubled because it was not done.
    """

    outcome: Outcome
    seconds: float
    doubled: int

    @property
    def not_protected(self) -> tuple[str, ...]:
        """What the time of the answer tells, in a sentence; nothing if it kept its slot."""
        return (NOT_PROTECTED.format(times=self.doubled),) if self.doubled else ()

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON."""
        return {"seconds": self.seconds, "doubled": self.doubled, "not_protected": list(self.not_protected)}


class Slots:
    """Does work elsewhere and tells what came of it when its slot ends.

    Parameters
    ----------
    executor
        Where work is done.
    clock, sleep
        What tells the time, and what waits; a test gives its own.
    """

    def __init__(
        self,
        executor: Executor | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._executor, self._clock, self._sleep = executor, clock, sleep

    async def keep(self, begun: float, seconds: float, work: Callable[[], Outcome]) -> Kept[Outcome]:
        """Do work, and give what came of it, or raise it, when the slot ends that began at `begun`.

        Parameters
        ----------
        begun
            By the clock, when the request came.
        seconds
            How long the slot is; public.
        work
            What is done; it is not ended if it takes longer, or if nobody waits for it any more.
        """
        running = asyncio.get_running_loop().run_in_executor(self._executor, work)
        doubled = 0
        while True:
            await self._until(begun + seconds * 2**doubled)
            await self._sleep(0)  # what is done becomes known to be, also where everything stood still meanwhile
            if running.done():
                return Kept(running.result(), seconds, doubled)
            doubled += 1

    async def _until(self, moment: float) -> None:
        left = moment - self._clock()
        while left > 0:
            await self._sleep(left)
            left = moment - self._clock()

    def now(self) -> float:
        """The time by the clock."""
        return self._clock()

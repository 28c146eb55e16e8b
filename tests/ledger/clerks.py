"""Processes that share a clerk, for the tests of it."""

import os
from collections.abc import Callable
from typing import Any

from ziggurat.ledger import Ledger
from ziggurat.ledger.sharing import _clerk


def keen(address: str) -> Ledger:
    ledger = Ledger.open(address)
    ledger._journal._desk.notice()
    return ledger


def granted(address: str, epsilon: object = 1) -> None:
    with Ledger.open(address) as ledger:
        ledger.create_budget("clinic", epsilon)
        ledger.grant("clinic", "ana", epsilon)


def begin(ledger: Ledger) -> _clerk.Clerk:
    """Make a process the clerk."""
    desk = ledger._journal._desk
    place = desk._find_place()
    assert place is not None, "This machine has no place for a clerk."
    assert desk._begin(place, ledger._journal._write_for_others)
    assert desk._clerk is not None
    return desk._clerk


def in_child(work: Callable[[], object]) -> int:
    child = os.fork()
    if child:
        return child
    try:
        work()
    except BaseException:  # noqa: BLE001 - a child must never return into pytest
        os._exit(1)
    os._exit(0)


def ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


class ClerkElsewhere:
    """A clerk in a child that does something else at one of its steps."""

    def __init__(self, address: str, rig: Callable[[], None]) -> None:
        ready, tell = os.pipe()
        stay, self.leave = os.pipe()

        def work() -> None:
            os.close(self.leave)
            ledger = keen(address)
            begin(ledger)
            rig()
            os.write(tell, b"!")
            os.read(stay, 1)
            ledger.close()

        self.child = in_child(work)
        os.close(stay)
        assert os.read(ready, 1) == b"!"

    def end(self) -> int:
        os.close(self.leave)
        return ended(self.child)


def alone(ledger: Ledger, work: Callable[[], Any]) -> Any:
    desk = ledger._journal._desk
    until, desk._until = desk._until, 0.0
    try:
        return work()
    finally:
        desk._until = until

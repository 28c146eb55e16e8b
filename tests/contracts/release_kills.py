"""Makes releases in processes that die at a given step: reads a line of JSON for each, and answers with its end.

Each release is made in a fork of this process, which has made one of every kind before, so that nothing is loaded anew.
"""

import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from release_kinds import BY_NAME, KINDS, Bench, prepare

from ziggurat.ledger import Ledger
from ziggurat.release import Purse
from ziggurat.release.bundle import _held, _writing
from ziggurat.release.config import ReleaseJournal, _running, run_config
from ziggurat.release.durable import _making

MANY_CALLS = 60

Wrapped = Callable[[Callable[..., Any]], Callable[..., Any]]


def die() -> None:
    """Leave no time for anything, as a power failure does."""
    os.kill(os.getpid(), signal.SIGKILL)


def before(call: Callable[..., Any]) -> Callable[..., Any]:
    """Die instead."""
    return lambda *given, **options: die()


def after(call: Callable[..., Any]) -> Callable[..., Any]:
    """Die as soon as it has been done."""

    def done(*given: Any, **options: Any) -> None:
        call(*given, **options)
        die()

    return done


def during(call: Callable[..., Any]) -> Callable[..., Any]:
    """Die once so many functions were called inside, or at the end."""

    def half_done(*given: Any, **options: Any) -> None:
        calls = iter(range(MANY_CALLS))
        sys.setprofile(lambda frame, event, _: next(calls, None) is None and die() if event == "call" else None)
        call(*given, **options)
        die()

    return half_done


def third(call: Callable[..., Any]) -> Callable[..., Any]:
    """Die instead of the third of its calls."""
    calls = []

    def counted(*given: Any, **options: Any) -> Any:
        calls.append(1)
        return die() if len(calls) == 3 else call(*given, **options)

    return counted


STEPS: dict[str, tuple[Any, str, Wrapped]] = {
    "after it is reserved": (Ledger, "reserve", after),
    "while it is made": (None, "run", during),
    "before it is written down": (Ledger, "_append", before),
    "after it is written down": (Ledger, "_append", after),
    "while the bundle is written": (_writing, "_write", third),
    "before the bundle has its name": (_writing, "_put", before),
    "after the bundle has its name": (_writing, "_put", after),
    "while a stopped release is put aside": (_held, "write_text", before),
    "before a release that was taken up is cleared away": (_running.shutil, "rmtree", before),
}

JOURNAL_STEPS: dict[str, tuple[Any, str, Wrapped]] = {
    "before it is begun": (ReleaseJournal, "begin", before),
    "after it is begun": (ReleaseJournal, "begin", after),
    "before it is reserved": (ReleaseJournal, "note_reserving", after),
    "before its reservation is noted": (Ledger, "reserve", after),
    "after its reservation is noted": (ReleaseJournal, "note_reserved", after),
    "while it is run": (_making, "run_paid", during),
    "before it is judged": (Purse, "_judge", before),
    "before it is kept": (ReleaseJournal, "keep", before),
    "while it is kept": (_held, "write_text", before),
    "after it is kept": (ReleaseJournal, "keep", after),
    "before the ledger is told": (Purse, "settle", before),
    "after the ledger is told": (Purse, "settle", after),
    "after that is noted": (ReleaseJournal, "note_committed", after),
    "while its bundle is written": (_writing, "_write", third),
    "before its bundle has its name": (_writing, "_put", before),
    "after its bundle has its name": (_writing, "_put", after),
    "after its bundle is noted": (ReleaseJournal, "note_bundled", after),
}


def release(kind: str, folder: str, step: str, by_file: bool, go_on: str = "", journal: str = "") -> None:
    """Make a release, by its plan or by a file, that ends at a step."""
    place, chosen = Path(folder), BY_NAME[kind]
    os.environ["ZIGGURAT_SETTINGS"] = str(place / "settings")
    owner, name, how = (JOURNAL_STEPS if journal else STEPS)[step]
    if by_file:
        setattr(owner, name, how(getattr(owner, name)))
        run_config(place / "release.yaml", go_on=go_on, journal=journal or None)
        return
    with Bench(chosen, place) as bench:
        plan = bench.plan()
        at: Any = type(plan) if owner is None else owner
        setattr(at, name, how(getattr(at, name)))
        bench.purse.release(plan).bundle(place / "out")


def warm(folder: Path) -> None:
    """Make a release of every kind, and let go of whatever runs beside."""
    os.environ["ZIGGURAT_SETTINGS"] = str(folder / "settings")
    for kind in KINDS:
        place = prepare(kind, folder / kind.name)
        with Bench(kind, place) as bench:
            bench.purse.release(bench.plan()).bundle(place / "out")


def serve() -> None:
    """Answer every line with the exit code of its release; minus nine if it was killed."""
    for line in sys.stdin:
        child = os.fork()
        if not child:
            try:
                release(**json.loads(line))
                os._exit(0)
            except BaseException as error:  # noqa: BLE001 - the child must not go on as a second server
                print(type(error).__name__, error, file=sys.stderr)  # noqa: T201
                os._exit(1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)  # noqa: T201


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        warm(Path(place))
    serve()

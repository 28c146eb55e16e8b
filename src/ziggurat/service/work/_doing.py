"""Do a job from its beginning to its end: take it, watch the process that does it, and write how it ended."""

from __future__ import annotations

import time
from threading import Event
from typing import Any

from ziggurat.errors import UnavailableError
from ziggurat.service._settings import ServiceSettings
from ziggurat.service.work._book import Job, JobBook
from ziggurat.service.work._child import memory_error
from ziggurat.service.work._folders import JobFolder
from ziggurat.service.work._watched import WatchedChild

_LOOK_SECONDS = 0.25
_GRACE_SECONDS = 10.0


class JobHand:
    """Does jobs, one after the other, for one process.

    Promise: what came of a job is on the disk before its row says how it ended, and the row says it once. A job whose
    process dies is given back and goes on; so is one whose worker is told to stop. `doing` names those at hand.

    Parameters
    ----------
    book, settings
        The jobs, and how the service was started.
    worker
        What this process is called.
    stopping
        Set when this process is to end.
    """

    def __init__(self, book: JobBook, settings: ServiceSettings, worker: str, stopping: Event) -> None:
        self._book, self._settings, self._worker, self._stopping = book, settings, worker, stopping
        self.doing: set[str] = set()

    def do(self, identity: str, turn: int) -> bool:
        """Take a job and do it, if it is free and its turn has come; whether it was."""
        self.doing.add(identity)
        try:
            return self._do(identity, turn)
        finally:
            self.doing.discard(identity)

    def _do(self, identity: str, turn: int) -> bool:
        job = self._book.claim(identity, turn, self._worker)
        if job is None:
            return False
        folder = self._book.folder_of(identity)
        outcome = folder.outcome(job.round)
        if outcome is None:
            outcome = self._watch(job, folder)
        if outcome is not None:
            self._end(job, outcome)
        return True

    def _watch(self, job: Job, folder: JobFolder) -> dict[str, Any] | None:
        """Let a process do it; None if the job is given back, or is another's by now."""
        folder.set_task({"kind": job.kind, "round": job.round, "go_on": job.go_on, "request": job.request})
        child, begun = WatchedChild(folder, self._settings), time.monotonic()
        try:
            mine = self._look_after(job, child)
            outcome = folder.outcome(job.round) if mine else None
            if outcome is None and mine and (child.starved or self._is_late(begun)):
                error = memory_error(self._settings.job_bytes) if child.starved else _late_error()
                outcome = {"state": "failed", "error": error}
                folder.keep_outcome(job.round, outcome)
        finally:
            child.close()
        if outcome is None and mine:
            self._give_back(job, died=not self._stopping.is_set())
        return outcome

    def _look_after(self, job: Job, child: WatchedChild) -> bool:
        """Watch a process until it has ended, or has to; whether the job is still this one's."""
        asked, begun = 0.0, time.monotonic()
        while not child.ended(_LOOK_SECONDS):
            if self._stopping.is_set():
                child.kill()  # as if the machine had gone down: the next worker goes on where it was
                return True
            try:
                seen = self._book.note(job, "" if job.slot else child.step)
            except UnavailableError:
                continue
            if seen is None:
                return False
            if seen.cancelled and not asked:
                asked = time.monotonic()
                child.ask_to_stop()
            if self._is_late(begun) or (asked and time.monotonic() - asked > _GRACE_SECONDS):
                child.kill()
        return True

    def _is_late(self, begun: float) -> bool:
        return time.monotonic() - begun > self._settings.job_hours * 3600

    def _give_back(self, job: Job, *, died: bool) -> None:
        """Give a job back; one that was cancelled ends so, and says what it has cost."""
        if self._book.hand_back(job, died=died):
            return
        now = self._book.get(job.id)
        if now.cancelled and now.state == "running":
            self._book.hand_back(now, died=died)

    def _end(self, job: Job, outcome: dict[str, Any]) -> None:
        while True:
            try:
                self._book.end(job, outcome["state"], outcome.get("error"), outcome.get("made"))
                return
            except UnavailableError:
                if self._stopping.wait(1):
                    return


def _late_error() -> dict[str, Any]:
    return {
        "kind": "EngineError",
        "message": "The job took longer than jobs may take and was ended; what was reserved for it stays spent.",
    }

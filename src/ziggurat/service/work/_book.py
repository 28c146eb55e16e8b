"""The list of jobs: who asked for what, how far it is, and which process does it.

Promise: one process does a job at a time. It takes the job by one change of its row, which only one of several can
make; a job whose process has been silent is taken from it the same way, and what that process says of it later is not
heard.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.exc import IntegrityError

from ziggurat.errors import ConflictError, LimitError, ParameterError, UnknownNameError
from ziggurat.service.access import Person
from ziggurat.service.store import ServiceStore, end_slot, jobs, releases, utc_now, workers
from ziggurat.service.work._folders import JobFolder

FINAL = ("done", "failed", "stopped", "cancelled")
"""States in which nobody works at a job any more; one that was stopped goes on if a steward says so."""

SILENT_SECONDS = 15.0
MOST_DEATHS = 3
MOST_OPEN = 50
"""How many jobs of one person wait or run at once."""
_DIED = {
    "kind": "EngineError",
    "message": f"The job died {MOST_DEATHS} times in a row and is not tried again; what was reserved for it stays "
    "spent.",
}
_STEP = 300


@dataclass(frozen=True)
class Job:
    """What is known of a job.

    Attributes
    ----------
    id, kind, person, table, request
        What it is called, what it does, who asked for it by their id, about which table, and in which words.
    state, step
        How far it is: waiting, running or one of `FINAL`; and what it does right now, in words.
    go_on, round
        Why it goes on although a gate stopped it, and how often it did.
    turn, deaths, worker
        How often it was given back, how often it died, and which process does it now.
    slot
        How many seconds it takes at least, so that its end tells less about rows.
    open
        Whether everybody who may see the table may have what it releases.
    error
        Why it failed, in the words of an error.
    """

    id: str
    kind: str
    person: str
    table: str
    request: dict[str, Any]
    state: str
    step: str
    cancelled: bool
    go_on: str
    round: int
    turn: int
    deaths: int
    slot: float | None
    open: bool
    error: dict[str, Any] | None
    worker: str
    made: str
    begun: str | None
    ended: str | None

    @property
    def told(self) -> str | None:
        """When its end may be told; None if it has not ended."""
        if self.ended is None or not self.slot or self.begun is None:
            return self.ended
        return end_slot(self.begun, self.ended, self.slot)

    @property
    def shown(self) -> Job:
        """The job as it may be told now: one of an analyst runs until its slot ends, however soon it was done."""
        told = self.told
        if told is None or told == self.ended:
            return self
        if told > utc_now():
            return replace(self, state="running", error=None, ended=None)
        return replace(self, ended=told)

    def to_dict(self) -> dict[str, Any]:
        """Give what whoever may see the job may know without looking into its folder."""
        names = ("id", "kind", "table", "request", "state", "step", "cancelled", "error", "made", "begun", "ended")
        return {name: getattr(self, name) for name in names}


class JobBook:
    """The jobs of a service, kept in its database, with a folder for each.

    Parameters
    ----------
    store
        Where they are listed.
    folder
        Where their folders lie.
    """

    def __init__(self, store: ServiceStore, folder: Path) -> None:
        self._store, self._folder = store, folder

    def folder_of(self, identity: str) -> JobFolder:
        """Where a job lies."""
        return JobFolder(self._folder, identity)

    def place(
        self,
        person: Person,
        kind: str,
        table: str,
        request: dict[str, Any],
        make: Callable[[], JobFolder],
        *,
        repeat_key: str | None = None,
        slot: float | None = None,
        open_to_all: bool = False,
    ) -> tuple[Job, bool]:
        """Ask for work; gives the job, and whether it was asked for before under the same key.

        Parameters
        ----------
        person, kind, table, request
            Who asks for what, about which table.
        make
            Makes the folder; nothing is made for a request that is repeated.
        repeat_key
            What a request bears that may be sent again: it is one job.
        slot, open_to_all
            As of a `Job`.
        """
        key = None if repeat_key is None else hashlib.sha256(f"{person.id} {repeat_key}".encode()).hexdigest()
        found = self._repeated(key, kind, request)
        if found is not None:
            return found, True
        self._require_room(person)
        folder = make()
        row = {
            "id": folder.id, "kind": kind, "person": person.id, "table_name": table, "request": _write(request),
            "state": "waiting", "made": utc_now(), "slot": slot, "open": open_to_all, "repeat_key": key,
        }  # fmt: skip
        taken = False
        with self._store.write() as connection:
            try:
                connection.execute(jobs.insert().values(**row))
            except IntegrityError:
                taken = True
        if not taken:
            return self.get(folder.id), False
        folder.remove()
        found = self._repeated(key, kind, request)
        if found is None:
            raise ConflictError("The job could not be kept; send the request again.")
        return found, True

    def get(self, identity: str) -> Job:
        """Find a job."""
        with self._store.read() as connection:
            row = connection.execute(select(jobs).where(jobs.c.id == identity)).first()
        if row is None:
            raise UnknownNameError("There is no such job.")
        return _job(row)

    def all(self, person: Person, tables: Iterable[str], limit: int = 100) -> list[Job]:
        """The newest jobs of somebody, and those about tables that they look after; newest first."""
        mine = (jobs.c.person == person.id) | jobs.c.table_name.in_(sorted(tables))
        wanted = select(jobs) if person.chief else select(jobs).where(mine)
        with self._store.read() as connection:
            return [_job(row) for row in connection.execute(wanted.order_by(jobs.c.made.desc()).limit(limit))]

    def untold(self, person: Person) -> list[Job]:
        """The jobs of somebody that were begun, and whose end is not told before their slot ends."""
        slotted = (jobs.c.person == person.id) & jobs.c.slot.is_not(None) & jobs.c.begun.is_not(None)
        with self._store.read() as connection:
            newest = select(jobs).where(slotted).order_by(jobs.c.begun.desc()).limit(2 * MOST_OPEN)
            found = [_job(row) for row in connection.execute(newest)]
        return [job for job in found if job.shown.state not in FINAL]

    def waiting(self) -> list[tuple[str, int]]:
        """The jobs that nobody does, oldest first, and whose turn it is."""
        with self._store.read() as connection:
            wanted = select(jobs.c.id, jobs.c.turn).where(jobs.c.state == "waiting").order_by(jobs.c.made)
            return [(row.id, row.turn) for row in connection.execute(wanted)]

    def cancel(self, identity: str) -> Job:
        """End a job: at once if nobody does it yet, else as soon as who does it sees that."""
        with self._store.write() as connection:
            this = jobs.c.id == identity
            ended = {"state": "cancelled", "cancelled": True, "ended": utc_now(), "step": ""}
            at_once = connection.execute(
                update(jobs).where(this & (jobs.c.state == "waiting")).values(**ended)
            ).rowcount
            if not at_once:
                told = update(jobs).where(this & (jobs.c.state == "running")).values(cancelled=True)
                at_once = connection.execute(told).rowcount
        found = self.get(identity)
        if not at_once and found.state != "cancelled":
            raise ConflictError(f"The job has ended ({found.state}), so that nothing is left to cancel.")
        return found

    def go_on(self, identity: str, reason: str) -> Job:
        """Let a job go on that a gate stopped, for a reason that certificate and ledger keep."""
        if not reason.strip() or not reason.isprintable() or len(reason) > 500:
            raise ParameterError("Say why it shall leave all the same, in printable text of at most 500 characters.")
        values: dict[str, Any] = {
            "state": "waiting", "go_on": reason.strip(), "round": jobs.c.round + 1, "turn": jobs.c.turn + 1,
            "deaths": 0, "worker": "", "ended": None,
        }  # fmt: skip
        with self._store.write() as connection:
            wanted = (jobs.c.id == identity) & (jobs.c.state == "stopped")
            done = connection.execute(update(jobs).where(wanted).values(**values)).rowcount
        if not done:
            raise ConflictError(f"No gate has stopped the job: it is {self.get(identity).state}.")
        return self.get(identity)

    def claim(self, identity: str, turn: int, worker: str) -> Job | None:
        """Take a job, if nobody else has; None if somebody has, or if its turn is over."""
        values = {"state": "running", "worker": worker, "step": ""}
        with self._store.write() as connection:
            wanted = (jobs.c.id == identity) & (jobs.c.turn == turn) & (jobs.c.state == "waiting")
            done = connection.execute(update(jobs).where(wanted).values(**values)).rowcount
            if done:
                begun = (jobs.c.id == identity) & jobs.c.begun.is_(None)
                connection.execute(update(jobs).where(begun).values(begun=utc_now()))
        return self.get(identity) if done else None

    def note(self, job: Job, step: str) -> Job | None:
        """Write what is being done right now; gives the job as it is, or None if it was taken away."""
        with self._store.write() as connection:
            held = connection.execute(update(jobs).where(_held(job)).values(step=step[:_STEP])).rowcount
        return self.get(job.id) if held else None

    def hand_back(self, job: Job, *, died: bool) -> bool:
        """Give a job back to be done again; whether it was one's own, and is to be done again."""
        with self._store.write() as connection:
            return _give_back(connection, job, died=died)

    def end(
        self, job: Job, state: str, error: dict[str, Any] | None = None, made: dict[str, Any] | None = None
    ) -> bool:
        """Write how a job ended, and what it has released, at once; whether it was one's own.

        `made` is what the list of releases says of what it has released.
        """
        ended = utc_now()
        values = {"state": state, "ended": ended, "step": "", "error": None if error is None else _write(error)}
        told = replace(job, ended=ended).told
        with self._store.write() as connection:
            held = connection.execute(update(jobs).where(_held(job)).values(**values)).rowcount
            if held and made is not None:
                row = {"id": job.id, "job": job.id, "person": job.person, "table_name": job.table, "open": job.open}
                connection.execute(releases.insert().values(**row, **made, made=told))
        return bool(held)

    def take_over(self, worker: str = "", doing: Container[str] = ()) -> list[str]:
        """Give back the jobs of processes that have been silent; gives the names of the jobs.

        A living `worker` that has lost sight of jobs of its own says which it is `doing`; its others are given back.
        Whether it does one is looked up after the list was read: what it has taken meanwhile is not given back.
        """
        ago = write_time(datetime.now(UTC) - timedelta(seconds=SILENT_SECONDS))
        silent = workers.c.beat.is_(None) | (workers.c.beat < ago) | (jobs.c.worker == worker)
        joined = jobs.outerjoin(workers, jobs.c.worker == workers.c.name)
        wanted = select(jobs).select_from(joined).where((jobs.c.state == "running") & silent)
        with self._store.read() as connection:
            found = [_job(row) for row in connection.execute(wanted)]
        if all(each.worker == worker and each.id in doing for each in found):
            return []
        with self._store.write() as connection:
            found = [_job(row) for row in connection.execute(wanted)]
            left = [each for each in found if each.worker != worker or each.id not in doing]
            return [each.id for each in left if _give_back(connection, each, died=True)]

    def _require_room(self, person: Person) -> None:
        open_yet = (jobs.c.person == person.id) & jobs.c.state.in_(("waiting", "running"))
        with self._store.read() as connection:
            count = connection.execute(select(func.count()).select_from(jobs).where(open_yet)).scalar_one()
        if count + sum(job.ended is not None for job in self.untold(person)) >= MOST_OPEN:
            raise LimitError(f"{MOST_OPEN} of your jobs are not done yet; wait for one, or cancel one.")

    def _repeated(self, key: str | None, kind: str, request: dict[str, Any]) -> Job | None:
        if key is None:
            return None
        with self._store.read() as connection:
            row = connection.execute(select(jobs).where(jobs.c.repeat_key == key)).first()
        if row is None:
            return None
        if (row.kind, row.request) != (kind, _write(request)):
            raise ConflictError("Another request had this Idempotency-Key; send a new one.")
        return _job(row)


def _give_back(connection: Any, job: Job, *, died: bool) -> bool:
    """Let the next turn begin; one that was cancelled, or died too often, ends instead."""
    values: dict[str, Any] = {"state": "waiting", "worker": "", "step": "", "turn": job.turn + 1}
    values["deaths"] = job.deaths + died
    if job.cancelled:
        values |= {"state": "cancelled", "ended": utc_now()}
    elif values["deaths"] >= MOST_DEATHS:
        values |= {"state": "failed", "ended": utc_now(), "error": _write(_DIED)}
    mine = _held(job) & (jobs.c.cancelled == job.cancelled)
    return bool(connection.execute(update(jobs).where(mine).values(**values)).rowcount)


def _held(job: Job) -> Any:
    """The row of a job, as long as the process that has it has it."""
    whose = (jobs.c.worker == job.worker) & (jobs.c.turn == job.turn)
    return (jobs.c.id == job.id) & (jobs.c.state == "running") & whose


def write_time(moment: datetime) -> str:
    """Write a time as the database keeps it."""
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def _write(said: dict[str, Any]) -> str:
    return json.dumps(said, sort_keys=True)


def _job(row: Any) -> Job:
    error = None if row.error is None else json.loads(row.error)
    names = (
        "id", "kind", "person", "state", "step", "go_on", "round", "turn", "deaths", "slot", "worker", "made", "begun",
        "ended",
    )  # fmt: skip
    same = {name: getattr(row, name) for name in names}
    return Job(
        **same, table=row.table_name, request=json.loads(row.request), cancelled=bool(row.cancelled),
        open=bool(row.open), error=error,
    )  # fmt: skip

"""What somebody may know of a job: whoever asked for it how it ended, the stewards of its table everything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ziggurat.errors import ConflictError, UnknownNameError
from ziggurat.service._house import ServiceHouse
from ziggurat.service.access import Person
from ziggurat.service.work import FINAL, Job

_STEWARDS = ("evidence", "verdict")


@dataclass(frozen=True)
class SeenJob:
    """A job, and whether whoever asks looks after its table."""

    job: Job
    steward: bool

    def to_dict(self, house: ServiceHouse) -> dict[str, Any]:
        """Give it as JSON, with what came of it once it has ended."""
        shown = self.job.shown
        found = {**shown.to_dict(), "person": house.people.with_id(shown.person).name, "result": None}
        if shown.state not in FINAL:
            return found
        outcome = house.jobs.folder_of(shown.id).outcome(shown.round) or {}
        result = outcome.get("result")
        if result is not None and not self.steward:
            result = {name: value for name, value in result.items() if name not in _STEWARDS}
        return {**found, "result": result}

    def require_cancellable(self) -> None:
        """Refuse to end, for whoever asked for it, what is told at the end of a slot.

        Whether it could still be ended would tell how long it takes.
        """
        if not self.steward and self.job.slot and self.job.begun is not None and not self.over:
            raise ConflictError("The job is being done, and its end is told when its slot is over; a steward ends it.")

    @property
    def over(self) -> bool:
        """Whether nobody works at it any more, as far as may be told."""
        return self.job.shown.state in FINAL


def see_job(house: ServiceHouse, person: Person, identity: str) -> SeenJob:
    """Find a job that somebody may see: their own, as long as they may see its table, or one of a table of theirs."""
    job = house.jobs.get(identity)
    may = house.rights.of(person).get(job.table)
    if may is not None and house.shelf.facts(job.table).made > job.made:
        may = None  # the table of that name is another one by now
    steward = (person.chief and (may is not None or not job.table)) or (person.role == "steward" and may == "steward")
    own = job.person == person.id and (may is not None or not job.table)
    if not (steward or own):
        raise UnknownNameError("There is no such job.")
    return SeenJob(job, steward or (own and not job.table))


def see_jobs(house: ServiceHouse, person: Person) -> list[SeenJob]:
    """The newest jobs that somebody may see."""
    held = house.rights.of(person)
    since = {each.name: each.made for each in house.shelf.all(held)}
    tables = [name for name, may in held.items() if may == "steward" and person.role == "steward"]
    found = house.jobs.all(person, tables)
    seen = [job for job in found if not job.table or (job.table in since and since[job.table] <= job.made)]
    return [SeenJob(job, job.table in tables or not job.table) for job in seen]

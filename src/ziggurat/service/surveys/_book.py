"""Surveys, invitations and reports, kept in the database so that no report leads back to its sender.

Promise: an invitation gives one report, whoever tries it at the same time. Of an invitation only a hash is kept, and
that it was used, but not when; of a report only the day, under a random name by which it is ordered. So nothing in
these tables says which invitation brought which report. What the database writes for itself (versions of rows, its log,
copies of it) may say more to whoever reads that; what a report itself tells is bounded by its epsilon all the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, select, update
from sqlalchemy.exc import IntegrityError

from ziggurat.errors import AccessError, ConflictError, ParameterError, UnknownNameError
from ziggurat.local import WholeRecord
from ziggurat.service.access import Person, digest_secret, make_name, make_secret
from ziggurat.service.store import ServiceStore, invitations, reports, surveys, utc_now

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")


@dataclass(frozen=True)
class PublishedSurvey:
    """A survey, as it is kept.

    Attributes
    ----------
    name, identity
        What people call it, and what no other survey ever has.
    population, table_name
        Whose account paid, and the table whose stewards look after it; empty if chief stewards do.
    request, description
        What its steward said, and what everybody may know, as JSON.
    state
        "opening" until it is paid for, then "open", then "closed".
    entry
        Of the ledger, that says it was paid for.
    person, made
        Who opened it, and when.
    """

    name: str
    identity: str
    population: str
    table_name: str
    request: str
    description: str
    state: str
    entry: int | None
    person: str
    made: str

    @property
    def record(self) -> WholeRecord:
        """How its reports are made, and estimated from."""
        return WholeRecord.from_dict(self.told)

    @property
    def told(self) -> dict[str, Any]:
        """What everybody may know of it."""
        found: dict[str, Any] = json.loads(self.description)
        return {**found, "state": self.state}


class SurveyBook:
    """The surveys of a service; a name stands for one survey for ever."""

    def __init__(self, store: ServiceStore) -> None:
        self._store = store

    def begin(
        self, person: Person, name: str, population: str, table: str, request: Any, description: Any
    ) -> PublishedSurvey:
        """Write down a survey before it is paid for, or find it again if it was begun by the same words."""
        if not _NAME.fullmatch(name):
            raise ParameterError("The name of a survey begins with a letter; letters, digits and _ follow, up to 64.")
        said = json.dumps(request, sort_keys=True)
        made = PublishedSurvey(
            name, make_name(), population, table, said, json.dumps(description), "opening", None, person.id, utc_now()
        )  # fmt: skip
        with self._store.write() as connection:
            try:
                with connection.begin_nested():
                    connection.execute(surveys.insert().values(**vars(made)))
                return made
            except IntegrityError:
                held = connection.execute(select(surveys).where(surveys.c.name == name)).one()
        found = PublishedSurvey(**held._mapping)
        if (found.person, found.request) != (person.id, said):
            raise ConflictError(f"There is a survey {name!r} already; take another name.")
        return found

    def open(self, survey: PublishedSurvey, entry: int | None) -> PublishedSurvey:
        """Let people answer, now that it is paid for."""
        with self._store.write() as connection:
            mine = (surveys.c.name == survey.name) & (surveys.c.state == "opening")
            connection.execute(update(surveys).where(mine).values(state="open", entry=entry))
        return self.find(survey.name)

    def forget(self, survey: PublishedSurvey) -> None:
        """Give the name of a survey free again that was refused before it was paid for."""
        with self._store.write() as connection:
            mine = (surveys.c.name == survey.name) & (surveys.c.identity == survey.identity)
            connection.execute(delete(surveys).where(mine & (surveys.c.state == "opening")))

    def close(self, name: str) -> PublishedSurvey:
        """Take no more reports; this cannot be undone."""
        with self._store.write() as connection:
            mine = (surveys.c.name == name) & (surveys.c.state == "open")
            connection.execute(update(surveys).where(mine).values(state="closed"))
        return self.find(name)

    def find(self, name: str) -> PublishedSurvey:
        """Find a survey that is open or was; one that is not paid for does not exist."""
        with self._store.read() as connection:
            wanted = (surveys.c.name == name) & (surveys.c.state != "opening")
            row = connection.execute(select(surveys).where(wanted)).first()
        if row is None:
            raise UnknownNameError(f"There is no survey {name!r}.")
        return PublishedSurvey(**row._mapping)

    def all(self) -> list[PublishedSurvey]:
        """Every survey that is open or was, by name."""
        with self._store.read() as connection:
            wanted = select(surveys).where(surveys.c.state != "opening").order_by(surveys.c.name)
            return [PublishedSurvey(**row._mapping) for row in connection.execute(wanted)]

    def invite(self, survey: PublishedSurvey, count: int) -> list[str]:
        """Make invitations, which are shown this once: each is good for one report."""
        made = [make_secret() for _ in range(count)]
        rows = [{"digest": digest_secret(each), "survey": survey.name, "used": False} for each in made]
        with self._store.write() as connection:
            _require_open(connection, survey.name)
            connection.execute(invitations.insert(), rows)
        return made

    def take(self, survey: PublishedSurvey, invitation: str, report: str) -> None:
        """Take a report, and end the invitation that brought it, both or neither."""
        mine = (invitations.c.digest == digest_secret(invitation)) & (invitations.c.survey == survey.name)
        with self._store.write() as connection:
            _require_open(connection, survey.name)
            known = connection.execute(select(invitations.c.digest).where(mine)).first()
            if known is None:
                raise AccessError("This invitation is not one to this survey; ask for another one.")
            fresh = update(invitations).where(mine & invitations.c.used.is_(False)).values(used=True)
            if not connection.execute(fresh).rowcount:
                raise ConflictError("This invitation was used: a report came with it before, and is kept.")
            row = {"id": make_name() + make_name(), "survey": survey.name, "day": utc_now()[:10], "report": report}
            connection.execute(reports.insert().values(**row))

    def reports(self, survey: PublishedSurvey) -> list[str]:
        """Give the reports in the order of their random names; of an open survey, those of days that are over.

        So nobody who looks again and again learns when a report came, but for its day.
        """
        wanted = select(reports.c.report).where(reports.c.survey == survey.name)
        if survey.state == "open":
            wanted = wanted.where(reports.c.day < utc_now()[:10])
        with self._store.read() as connection:
            return list(connection.execute(wanted.order_by(reports.c.id)).scalars())

    def of(self, populations: Iterable[str]) -> list[PublishedSurvey]:
        """The surveys of some populations."""
        held = set(populations)
        return [each for each in self.all() if each.population in held]


def _require_open(connection: Any, name: str) -> None:
    state = connection.execute(select(surveys.c.state).where(surveys.c.name == name)).scalar()
    if state != "open":
        raise ConflictError("The survey is closed; nothing was taken.")

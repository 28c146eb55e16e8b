"""Everything that a process of the service needs, opened once: store, people, tables, ledger, desk and slots."""

from __future__ import annotations

import os
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from secrets import token_hex
from typing import TYPE_CHECKING

from sqlalchemy import delete

from ziggurat.errors import DataError, UnavailableError
from ziggurat.ledger import Ledger
from ziggurat.service._settings import ServiceSettings
from ziggurat.service.access import Browsers, KeyRing, OneTimeLinks, OpenIdProvider, PeopleBook, Rights
from ziggurat.service.asking import AskDesk, Repeats, Slots, WaitingRoom
from ziggurat.service.catalogue import ModelShelf, PopulationBook, ReleaseShelf, TableShelf, UploadFolder
from ziggurat.service.store import ServiceStore, utc_now, workers
from ziggurat.service.surveys import SurveyBook
from ziggurat.service.work import JobBook, ReleaseNames

if TYPE_CHECKING:
    from ziggurat.release.bundle import ReleaseKey

FIRST_STEWARD = "steward"
"""What the first person of a service is called."""

CALLBACK = "/v1/sign-in/oidc/callback"
"""Where a provider of OpenID Connect sends browsers back to."""


class ServiceHouse:
    """What one process of the service works with; the database and the ledger are shared with all others.

    Parameters
    ----------
    settings
        What it was started with.
    kind
        What it does: "answers" or "jobs".
    """

    def __init__(self, settings: ServiceSettings, kind: str = "answers") -> None:
        self.settings, self.kind = settings, kind
        settings.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.worker = f"{socket.gethostname()[:40]}-{os.getpid()}-{token_hex(4)}"
        self.store = ServiceStore(settings.database_url)
        self.store.migrate()
        self.ledger = Ledger.open(settings.ledger_place)
        self.people, self.keys = PeopleBook(self.store), KeyRing(self.store)
        self.links, self.rights = OneTimeLinks(self.store), Rights(self.store)
        self.browsers = Browsers(self.store, settings.session_hours)
        self.provider = _open_provider(settings, self.store)
        self.uploads = UploadFolder(settings.folder, settings.longest_upload)
        self.shelf = TableShelf(self.store, self.uploads, settings.memory)
        self.models = ModelShelf(self.store, settings.folder)
        self.jobs = JobBook(self.store, settings.folder)
        self.releases = ReleaseShelf(self.store, self.rights)
        self.names = ReleaseNames(
            self.shelf, self.uploads, self.models, self.people, self.rights, settings.rehearse
        )  # fmt: skip
        self.populations, self.surveys = PopulationBook(self.store), SurveyBook(self.store)
        self.desk = AskDesk(self.ledger, self.shelf, self.rights, settings.rehearse)
        self.executor = ThreadPoolExecutor(settings.threads, thread_name_prefix="answers")
        self.slots = Slots(self.executor)
        self.repeats = Repeats(self.store, self.worker)
        self.waiting = WaitingRoom(settings.waiting)
        self._begun = utc_now()

    def beat(self) -> None:
        """Say that this process lives; others take over what is left of one that has been silent."""
        row = {"name": self.worker, "kind": self.kind, "begun": self._begun, "beat": utc_now()}
        with self.store.write() as connection:
            connection.execute(delete(workers).where(workers.c.name == self.worker))
            connection.execute(workers.insert().values(**row))

    def signing_key(self) -> ReleaseKey:
        """Find the key that signs releases, made where there is none; of two processes that make it, one does."""
        from ziggurat.release.bundle import release_key

        try:
            return release_key(self.settings.release_key, create=True)
        except DataError:
            return release_key(self.settings.release_key)

    def close(self) -> None:
        """Let go of everything, after what is being done is done."""
        self.executor.shutdown(wait=True)
        with suppress(UnavailableError), self.store.write() as connection:
            connection.execute(delete(workers).where(workers.c.name == self.worker))
        self.ledger.close()
        self.store.close()


def _open_provider(settings: ServiceSettings, store: ServiceStore) -> OpenIdProvider | None:
    if not settings.oidc_issuer:
        return None
    back = settings.address.rstrip("/") + CALLBACK
    secret = settings.oidc_secret.get_secret_value()
    return OpenIdProvider(store, settings.oidc_issuer, settings.oidc_client, secret, back)


def welcome(settings: ServiceSettings) -> str | None:
    """Prepare folder, database and ledger; give the secret of a link for the first steward where there is nobody yet.

    A ledger that nobody watches gets the witness that the settings name: from then on it has a receipt of every entry
    before anything is spent, and without it nothing is spent. One that is watched keeps its witness; another one is
    named by `ziggurat ledger witness`.

    Parameters
    ----------
    settings
        What the service is started with.
    """
    settings.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    store = ServiceStore(settings.database_url)
    try:
        store.migrate()
        with Ledger.open(settings.ledger_place) as ledger:
            if settings.witness and not ledger.witness().where:
                ledger.name_witness(settings.witness)
        people = PeopleBook(store)
        known = people.all()
        first = people.add(FIRST_STEWARD, "steward", chief=True) if not known else known[0]
        alone = len(known) < 2 and first.chief and not KeyRing(store).of(first)
        return OneTimeLinks(store).make(first) if alone else None
    finally:
        store.close()

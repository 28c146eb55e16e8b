"""Open the database of a service, bring it up to date, and read and write it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, create_engine, delete, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import QueuePool

from ziggurat.errors import UnavailableError
from ziggurat.service.store._records import workers

if TYPE_CHECKING:
    from sqlalchemy.engine.interfaces import DBAPIConnection

_PATIENCE = 30
_SCHEMA = "ziggurat_service"  # others may have a table of people in the same database
_MIGRATING = 0x5A494747  # the lock under which one process brings PostgreSQL up to date


def utc_now() -> str:
    """The time in UTC, as this database keeps it: texts that sort."""
    return utc_in()


def utc_in(seconds: float = 0) -> str:
    """The time in UTC after so many seconds."""
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat(timespec="microseconds").replace("+00:00", "Z")


def parse_time(text: str) -> datetime:
    """Read a time of this database."""
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def seconds_to(moment: str) -> float:
    """How many seconds are left until a time of this database; below zero once it is over."""
    return (parse_time(moment) - datetime.now(UTC)).total_seconds()


def end_slot(begun: str, ended: str, seconds: float) -> str:
    """When something may be told that began and ended then: at the end of its slot, doubled until it had ended."""
    first, last = parse_time(begun), parse_time(ended)
    while first + timedelta(seconds=seconds) < last:
        seconds *= 2
    return (first + timedelta(seconds=seconds)).isoformat(timespec="microseconds").replace("+00:00", "Z")


class ServiceStore:
    """What a service remembers beside its ledger.

    Every change is one transaction: a kill at any moment leaves it done or not begun. Failures of the database raise
    `UnavailableError`, whose message quotes nothing.

    Parameters
    ----------
    url
        As SQLAlchemy says it.
    """

    def __init__(self, url: str) -> None:
        self.url = make_url(url)
        options: dict[str, Any] = {"pool_pre_ping": not self.in_file}
        if self.in_file:
            keep_to_owner(Path(str(self.url.database)))
            options |= {"connect_args": {"timeout": _PATIENCE}, "poolclass": QueuePool, "pool_size": 20}
        self.engine = create_engine(self.url, **options)
        if self.in_file:
            event.listen(self.engine, "connect", _prepare_file)
            event.listen(self.engine, "begin", _begin_file)
        else:
            event.listen(self.engine, "connect", _prepare_server)

    @property
    def in_file(self) -> bool:
        """Whether it is a file of SQLite."""
        return self.url.get_backend_name() == "sqlite"

    def migrate(self) -> None:
        """Bring the database up to date; of several processes that do so at once, one does."""
        from alembic import command
        from alembic.config import Config

        config = Config()
        config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
        with self.write() as connection:
            if not self.in_file:
                connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _MIGRATING})
                # "IF NOT EXISTS" would need the right to make one also where there is one.
                if connection.execute(text("SELECT to_regnamespace(:name)"), {"name": _SCHEMA}).scalar() is None:
                    connection.execute(text(f"CREATE SCHEMA {_SCHEMA}"))
            config.attributes["connection"] = connection
            command.upgrade(config, "head")

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Change something, whole or not at all."""
        with _withheld(), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Read what is there."""
        with _withheld(), self.engine.connect() as connection:
            yield connection.execution_options(reading=True)

    def close(self) -> None:
        """Let go of the database."""
        self.engine.dispose()


def keep_to_owner(database: Path) -> None:
    """Make the file of a database that its owner alone reads, and so whatever SQLite writes beside it.

    It takes who may read those from the file itself, as it is when they are made: later would be too late.
    """
    try:
        database.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        database.touch(mode=0o600)
        database.chmod(0o600)
    except OSError:
        raise UnavailableError(
            f"The database {str(database)!r} cannot be written; check the folder it lies in."
        ) from None


def forget_workers(store: ServiceStore, begins: str) -> None:
    """Forget processes whose names begin so, because they are known to be gone."""
    with store.write() as connection:
        connection.execute(delete(workers).where(workers.c.name.startswith(begins, autoescape=True)))


@contextmanager
def _withheld() -> Iterator[None]:
    try:
        yield
    except SQLAlchemyError:
        error = UnavailableError("The database of the service cannot be reached or used; nothing was changed.")
        try:
            raise error from None
        finally:
            error.__context__ = None  # not even that leads to what the database said, which quotes what was written


def _prepare_file(connection: DBAPIConnection, _record: Any) -> None:
    connection.isolation_level = None
    cursor = connection.cursor()
    for each in ("journal_mode=WAL", "synchronous=FULL", f"busy_timeout={_PATIENCE * 1000}", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {each}")
    cursor.close()


def _prepare_server(connection: DBAPIConnection, _record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute(f"SET search_path TO {_SCHEMA}")
    cursor.close()
    connection.commit()


def _begin_file(connection: Connection) -> None:
    """Writers wait their turn before they read, so that what they saw still holds when they write."""
    reading = connection.get_execution_options().get("reading")
    connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")

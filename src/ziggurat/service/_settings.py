"""Where a service keeps what it keeps, and how much it lets anybody ask at once; all of it has a default."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from ziggurat.errors import ParameterError

PREFIX = "ZIGGURAT_SERVICE_"
"""What the names of environment variables begin with that set these."""

_LEAST_MEMORY = 2 * 10**9
LOOPBACK = ("127.0.0.1", "::1", "localhost")
"""Addresses that nobody else reaches."""


class ServiceSettings(BaseModel):
    """What a service is started with.

    Each may be said by an environment variable of its name with the prefix `ZIGGURAT_SERVICE_`, such as
    `ZIGGURAT_SERVICE_FOLDER`; a word of the command line goes before it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    folder: Path = Field(Path("ziggurat-service"), description="Where everything is kept that no database keeps.")
    database: SecretStr = Field(
        SecretStr(""), description="postgresql://… for people, tables, jobs and ledger; by default files in the folder."
    )
    ledger: SecretStr = Field(SecretStr(""), description="Another ledger than the one in the database.")
    witness: str = Field("", description="Where receipts of the ledger go: a folder, postgresql:// or https://.")
    host: str = Field("127.0.0.1", description="The address it listens at.")
    port: int = Field(8470, ge=0, le=65535)
    workers: int = Field(1, ge=1, le=64, description="Processes that answer requests.")
    job_workers: int = Field(1, ge=0, le=64, description="Processes that do long work; 0 if others do.")
    tls_cert: str = Field("", description="The certificate, with its chain.")
    tls_key: str = Field("", description="Its private key.")
    allow_plain: bool = Field(False, description="Listen beyond this machine without TLS, because a proxy has it.")
    public_url: str = Field("", description="How people reach it, for links.")
    slot: float = Field(
        1.0, gt=0, le=600, description="After how many seconds an answer leaves, however soon it was ready."
    )
    threads: int = Field(8, ge=1, le=256, description="How many questions a process answers at once.")
    waiting: int = Field(400, ge=1, description="How many more may wait before others are sent away.")
    requests_per_minute: int = Field(600, ge=1, description="Of one key, in one process.")
    longest_body: int = Field(1 << 20, ge=1024, description="Bytes of a request that is no upload.")
    longest_upload: int = Field(1 << 30, ge=1024, description="Bytes of an uploaded table.")
    memory: str = Field("2GB", description="What the engine of a process may use.")
    job_memory: str = Field("8GB", description="What the process of a job may use; 0 for as much as there is.")
    job_hours: float = Field(48, gt=0, description="How long a job may take before it is ended.")
    job_slot: float = Field(30, gt=0, le=86_400, description="After how many seconds an analyst's job is told.")
    session_hours: float = Field(12, gt=0, description="How long a browser stays signed in.")
    oidc_issuer: str = Field("", description="An OpenID Connect provider, by its address.")
    oidc_client: str = ""
    oidc_secret: SecretStr = SecretStr("")
    rehearse: str = Field("", description="A seed for tests and rehearsals: nothing that leaves may be published.")

    @classmethod
    def read(cls, given: Mapping[str, Any] | None = None, environment: Mapping[str, str] | None = None) -> Self:
        """Put together what was said, what the environment says and the defaults.

        Parameters
        ----------
        given
            What was said, by name; what is None was not.
        environment
            By default that of the process.
        """
        said = os.environ if environment is None else environment
        found: dict[str, Any] = {
            name: said[PREFIX + name.upper()] for name in cls.model_fields if PREFIX + name.upper() in said
        }
        found |= {name: each for name, each in (given or {}).items() if each is not None}
        try:
            made = cls(**found)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            named = ".".join(map(str, first["loc"]))
            raise ParameterError(f"The setting {named!r} of the service: {first['msg']}.") from None
        made.require_safe()
        if 0 < made.job_bytes < _LEAST_MEMORY:
            raise ParameterError(
                "A job needs 2GB or more, because libraries hang where memory is scarce; 0 is no limit."
            )
        return made

    def tell_environment(self) -> None:
        """Hand the settings to processes that this one starts."""
        for name in type(self).model_fields:
            value = getattr(self, name)
            os.environ[PREFIX + name.upper()] = (
                value.get_secret_value() if isinstance(value, SecretStr) else str(value)
            )  # fmt: skip

    def require_safe(self) -> None:
        """Refuse to listen where others could read along, unless somebody said so."""
        if bool(self.tls_cert) != bool(self.tls_key):
            raise ParameterError("TLS needs both: a certificate and its private key.")
        if self.host not in LOOPBACK and not (self.tls_cert or self.allow_plain):
            raise ParameterError(
                f"Listening at {self.host} lets keys and answers be read along the way: give --tls-cert and --tls-key, "
                "or say --allow-plain if a proxy in front of it has TLS."
            )

    @property
    def database_url(self) -> str:
        """Where people, tables and jobs are kept, as SQLAlchemy says it."""
        said = self.database.get_secret_value()
        if not said:
            return f"sqlite:///{self.folder.absolute() / 'service.db'}"
        for each in ("postgresql://", "postgres://"):
            if said.startswith(each):
                return "postgresql+psycopg://" + said.removeprefix(each)
        raise ParameterError("The database of a service is PostgreSQL: give postgresql://server/database.")

    @property
    def ledger_place(self) -> str:
        """Where budgets are kept."""
        said = self.ledger.get_secret_value() or self.database.get_secret_value()
        return said or str(self.folder.absolute() / "ledger.db")

    @property
    def queue_url(self) -> str:
        """Where the queue of jobs is kept, beside people and tables."""
        if self.database.get_secret_value():
            return self.database_url.replace("postgresql+psycopg://", "postgresql://", 1)
        return f"sqlite:///{self.queue_file}"

    @property
    def queue_file(self) -> Path:
        """Where the queue is kept without PostgreSQL."""
        return self.folder.absolute() / "jobs.db"

    @property
    def release_key(self) -> Path:
        """The private half of the key that signs releases."""
        return self.folder.absolute() / "keys" / "release"

    @property
    def job_bytes(self) -> int:
        """How many bytes the process of a job may use; 0 for as many as there are."""
        return parse_bytes(self.job_memory)

    @property
    def address(self) -> str:
        """How it is reached."""
        scheme = "https" if self.tls_cert else "http"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return self.public_url or f"{scheme}://{host}:{self.port}"


def parse_bytes(text: str) -> int:
    """Read an amount of memory, such as 8GB or 512 MiB."""
    units = {"": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}
    found = re.fullmatch(r"(\d{1,15})\s*([a-z]*)", text.strip().lower())
    if found is None or found[2] not in units:
        raise ParameterError("An amount of memory is a number with KB, MB, GB, KiB, MiB or GiB, such as 8GB.")
    return int(found[1]) * units[found[2]]

"""`ziggurat serve`: start a server, and tell the first steward how to come in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from ziggurat.cli._options import Rehearse, with_records
from ziggurat.errors import MissingExtraError, ParameterError

if TYPE_CHECKING:
    from ziggurat.service import ServiceSettings

Text = str | None
Number = float | None
Whole = int | None
_SECRET = "Others on this machine may see options: better by the environment."  # noqa: S105 - a sentence


@dataclass(frozen=True)
class ServeOptions:
    """The settings of a service; what is not given is in the environment, or has its default."""

    folder: Annotated[Text, typer.Option(help="Where everything is kept; by default ./ziggurat-service.")] = None
    database: Annotated[
        Text,
        typer.Option(help=f"postgresql://… for people, tables, jobs and ledger; else files in the folder. {_SECRET}"),
    ] = None
    ledger: Annotated[Text, typer.Option(help="Another ledger than the one in the database.")] = None
    witness: Annotated[Text, typer.Option(help="Where receipts go: a folder, postgresql:// or https://.")] = None
    host: Annotated[Text, typer.Option(help="The address it listens at; by default 127.0.0.1, this machine.")] = None
    port: Annotated[Whole, typer.Option(help="Its port; by default 8470, 0 for any that is free.")] = None
    workers: Annotated[Whole, typer.Option(help="Processes that answer requests; by default 1.")] = None
    job_workers: Annotated[Whole, typer.Option(help="Processes that do long work; 0 if others do.")] = None
    job_memory: Annotated[Text, typer.Option(help="What a job may use, 2GB at least; by default 8GB.")] = None
    job_hours: Annotated[Number, typer.Option(help="How long a job may take; by default 48.")] = None
    job_slot: Annotated[Number, typer.Option(help="When an analyst's job is told, in seconds; by default 30.")] = None
    tls_cert: Annotated[Text, typer.Option(help="The certificate, with its chain, as PEM.")] = None
    tls_key: Annotated[Text, typer.Option(help="Its private key.")] = None
    allow_plain: Annotated[
        bool | None, typer.Option("--allow-plain", help="Listen beyond this machine without TLS: a proxy has it.")
    ] = None
    public_url: Annotated[Text, typer.Option(help="How people reach it, for links.")] = None
    slot: Annotated[
        Number, typer.Option(help="After how many seconds an answer leaves, however soon it is ready; by default 1.")
    ] = None
    threads: Annotated[Whole, typer.Option(help="How many questions a process answers at once; by default 8.")] = None
    waiting: Annotated[Whole, typer.Option(help="How many more may wait before others are sent away.")] = None
    requests_per_minute: Annotated[Whole, typer.Option(help="Of one key, in one process; by default 600.")] = None
    longest_body: Annotated[Whole, typer.Option(help="Bytes of a request that is no upload; by default 1 MiB.")] = None
    longest_upload: Annotated[Whole, typer.Option(help="Bytes of an uploaded table; by default 1 GiB.")] = None
    memory: Annotated[Text, typer.Option(help="What the engine of a process may use; by default 2GB.")] = None
    session_hours: Annotated[Number, typer.Option(help="How long a browser stays signed in; by default 12.")] = None
    oidc_issuer: Annotated[Text, typer.Option(help="An OpenID Connect provider, by its address.")] = None
    oidc_client: Annotated[Text, typer.Option(help="What the provider calls this service.")] = None
    oidc_secret: Annotated[Text, typer.Option(help=f"What the provider gave it. {_SECRET}")] = None
    rehearse: Rehearse = ""


@with_records
def serve(given: ServeOptions) -> None:
    """Serve tables, questions and releases to people with keys; stop with Ctrl-C.

    Everything is kept in one folder, or in PostgreSQL. The first start prints a link, once, by which the first steward
    comes in; from a terminal:

      ziggurat serve --folder privacy

      ziggurat login 'http://127.0.0.1:8470/#link=…'

      ziggurat server register clinic patients.csv --schema patients.yaml

      ziggurat ledger budget clinic --epsilon 2 --server http://127.0.0.1:8470

    Nothing listens beyond this machine without TLS. Every setting is also a variable of the environment, such as
    ZIGGURAT_SERVICE_FOLDER. Logs are lines of JSON on standard error, without data.
    """
    try:
        from ziggurat.service import ServiceSettings, run_service, welcome
    except ModuleNotFoundError as error:
        raise MissingExtraError(_missing(error)) from None
    settings = ServiceSettings.read({**asdict(given), "rehearse": given.rehearse or None})
    settings = settings.model_copy(update={"port": _find_port(settings.host, settings.port)})
    try:
        secret = welcome(settings)
    except ModuleNotFoundError as error:
        raise MissingExtraError(_missing(error)) from None
    for line in _say(settings, secret):
        typer.echo(line)
    _serve_until_stopped(lambda: run_service(settings))


def _serve_until_stopped(run: Callable[[], None]) -> None:
    """Serve; Ctrl-C and SIGTERM are how it is meant to end, so that they end it well."""
    try:
        run()
    except KeyboardInterrupt:
        typer.echo("Stopped.", err=True)
    raise typer.Exit(0)


def _say(settings: ServiceSettings, secret: str | None) -> list[str]:
    lines = [f"Ziggurat serves at {settings.address}, and keeps everything in {str(settings.folder)!r}."]
    if settings.rehearse:
        lines.append("This is a rehearsal: noise is seeded, so that nothing that leaves may be published.")
    if secret is not None:
        lines += [
            "Nobody has a key yet. The first steward comes in, once and within a day, by this command in a terminal:",
            f"  ziggurat login '{settings.address}/#link={secret}'",
        ]
    return [*lines, "Stop it with Ctrl-C."]


def _find_port(host: str, port: int) -> int:
    """Find a port that is free, or see that the one that was said is, before anything is promised about it."""
    import socket

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as opened:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server binds it
        try:
            opened.bind((host, port))
        except OSError:
            raise ParameterError(
                f"Nothing can listen at {host}, port {port}: it may be taken, or is none of this machine's; say "
                "another --port, or 0 for any that is free."
            ) from None
        return int(opened.getsockname()[1])


def _missing(error: ModuleNotFoundError) -> str:
    return f"Serving needs {error.name}; add it with: pip install 'ziggurat[service]'."

"""The commands of `ziggurat witness`."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    short_help="Keep receipts of ledgers that others write: serve.",
    help="A witness for ledgers on other machines: it keeps a signed receipt of every entry, and forgets none.\n\n"
    "  ziggurat witness serve --folder /srv/receipts\n\n"
    "Where the ledger is: 'ziggurat ledger witness https://server:8474'.",
)


@app.callback()
def _keep_group() -> None:
    pass


@app.command()
def serve(
    folder: Annotated[str, typer.Option(help="Where the receipts are kept, a folder for each ledger.")],
    host: Annotated[str, typer.Option(help="Where to listen; beyond this machine only with TLS.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Where to listen; 0 takes any that is free.", min=0, max=65535)] = 8474,
    token_file: Annotated[
        str, typer.Option(help="Where the SHA-256 of the token is kept; by default token.sha256 in the folder.")
    ] = "",
    tls_cert: Annotated[str, typer.Option(help="The PEM file of the certificate, with its chain.")] = "",
    tls_key: Annotated[str, typer.Option(help="The PEM file of its private key.")] = "",
    without_tls: Annotated[
        bool, typer.Option("--without-tls", help="Listen beyond this machine unencrypted, behind what encrypts.")
    ] = False,
    workers: Annotated[int, typer.Option(help="How many processes serve.", min=1, max=64)] = 1,
) -> None:
    """Serve a witness: ledgers elsewhere send it receipts, and it takes only what follows.

    The first start prints the token, once, and the command that names this witness where the ledger is. Kill it
    whenever you like: what it acknowledged is on the disk.
    """
    from ziggurat.service.witness import ServedWitness

    ServedWitness(folder, host, port, token_file, tls_cert, tls_key, without_tls, workers).serve(_tell)


def _tell(line: str) -> None:
    typer.echo(line)

"""`ziggurat login` and `logout`: which server later commands mean, and as whom."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

Url = Annotated[
    str, typer.Argument(metavar="URL", help="The address of the server, or the link of a steward that works once.")
]


def login(
    url: Url,
    key_file: Annotated[
        str,
        typer.Option(help="A file that holds the key and nothing else; - for standard input. Else it is asked for."),
    ] = "",
    ca_file: Annotated[str, typer.Option(help="The certificates of whoever vouches for the server, as PEM.")] = "",
    allow_plain: Annotated[
        bool, typer.Option("--allow-plain", help="Send the key by http:// to another machine: the way is secret else.")
    ] = False,
) -> None:
    """Sign in at a server, so that later commands know it and its key.

    Both are kept in the user's settings folder, in a file that only its owner reads. With a link (what 'ziggurat serve'
    printed, or a steward sent) a key is made for this machine first:

      ziggurat login 'http://127.0.0.1:8470/#link=…'

      ziggurat login https://privacy.example.org --key-file key.txt

    Afterwards, for instance: ziggurat ask clinic "SELECT COUNT(*) AS n FROM clinic" --epsilon 0.1 --server URL. Of
    several servers the commands mean the one that --server or ZIGGURAT_SERVER says.
    """
    from ziggurat.client import connect, follow_link, store_place

    address, _, secret = url.partition("/#link=")
    if secret:
        place = follow_link(address, secret, ca_file=ca_file, allow_plain=allow_plain)
    else:
        key = _read_key(key_file)
        with connect(address, key, ca_file=ca_file, allow_plain=allow_plain) as server:
            place = server.place
    with connect(place.address, place.key, ca_file=ca_file, allow_plain=allow_plain) as server:
        me = server.me()
    kept = store_place(place)
    typer.echo(f"You are {me.name} ({me.role}) at {place.address}; the key is in {str(kept)!r}, for your eyes only.")


def logout(url: Url) -> None:
    """Forget a server and its key on this machine; 'ziggurat server revoke-key' ends the key itself."""
    from ziggurat.client import forget_place

    forget_place(url)
    typer.echo(f"The key for {url} is forgotten here.")


def _read_key(file: str) -> str:
    from ziggurat.client import read_key_file

    if file == "-":
        return sys.stdin.readline().strip()
    if file:
        return read_key_file(file)
    asked: str = typer.prompt("The key", hide_input=True)
    return asked
